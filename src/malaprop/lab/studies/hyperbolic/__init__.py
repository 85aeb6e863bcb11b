"""hyperbolic-2019: Feyisetan, Diethe and Drake, hierarchical representations for private text."""

from malaprop.lab.studies.hyperbolic.texts import table3, table6
from malaprop.lab.studies.hyperbolic.words import fig3, is_within_four_errors, table4, words

__all__ = ["fig3", "is_within_four_errors", "table3", "table4", "table6", "words"]

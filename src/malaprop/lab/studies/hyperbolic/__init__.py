"""hyperbolic-2019: Feyisetan, Diethe and Drake, hierarchical representations for private text."""

from malaprop.lab.studies.hyperbolic.texts import table3, table6
from malaprop.lab.studies.hyperbolic.words import (
    fig3,
    fig4,
    is_within_four_errors,
    table1,
    table4,
    words,
)

__all__ = ["fig3", "fig4", "is_within_four_errors", "table1", "table3", "table4", "table6", "words"]

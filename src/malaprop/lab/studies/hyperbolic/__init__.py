"""hyperbolic-2019: Feyisetan, Diethe and Drake, hierarchical representations for private text."""

from malaprop.lab.studies.hyperbolic.texts import table3, table6
from malaprop.lab.studies.hyperbolic.words import fig3, is_within_four_errors, table4, words
from malaprop.lab.studies.study import read_study

STUDY = read_study(
    "hyperbolic",
    fig3=fig3,
    words=words,
    table3=table3,
    table4=table4,
    table6=table6,
    is_within_four_errors=is_within_four_errors,
)

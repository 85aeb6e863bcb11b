"""tem-2021: Carvalho et al., the truncated exponential mechanism."""

from malaprop.lab.studies.study import Study
from malaprop.lab.studies.tem.laws import EXPONENT_WORDS, THEOREM3
from malaprop.lab.studies.tem.reviews import EXPONENT, FIG1A, FIG1B

STUDY = Study(name="tem", items=(FIG1A, FIG1B, THEOREM3, EXPONENT, EXPONENT_WORDS))

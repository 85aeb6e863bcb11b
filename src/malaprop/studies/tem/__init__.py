"""tem-2021: Carvalho et al., the truncated exponential mechanism."""

from malaprop.studies.framework.items import Study
from malaprop.studies.tem.figures import EXPONENT, FIG1A, FIG1B
from malaprop.studies.tem.laws import EXPONENT_WORDS, THEOREM3

STUDY = Study(name="tem", items=(FIG1A, FIG1B, THEOREM3, EXPONENT, EXPONENT_WORDS))

"""hyperbolic-2019: Feyisetan, Diethe and Drake, hierarchical representations for private text."""

from malaprop.lab.studies.hyperbolic.mechanisms import FIG3
from malaprop.lab.studies.hyperbolic.protocols import TABLE3, TABLE6
from malaprop.lab.studies.hyperbolic.words import FIG5, TABLE4
from malaprop.lab.studies.study import Study

STUDY = Study(name="hyperbolic", items=(FIG3, FIG5, TABLE3, TABLE4, TABLE6))

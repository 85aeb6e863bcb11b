"""hyperbolic-2019: Feyisetan, Diethe and Drake, hierarchical representations for private text."""

from malaprop.studies.framework.items import Study
from malaprop.studies.hyperbolic.authors import TABLE3
from malaprop.studies.hyperbolic.density import FIG3
from malaprop.studies.hyperbolic.euclidean import TABLE4
from malaprop.studies.hyperbolic.utility import TABLE6
from malaprop.studies.hyperbolic.words import FIG5

STUDY = Study(name="hyperbolic", items=(FIG3, FIG5, TABLE3, TABLE4, TABLE6))

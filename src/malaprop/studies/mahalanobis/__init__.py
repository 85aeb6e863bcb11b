"""mahalanobis-2020: Xu et al., text perturbation with a regularized Mahalanobis metric."""

from malaprop.studies.framework.items import Study
from malaprop.studies.mahalanobis.classifying import FIG6, FIG7
from malaprop.studies.mahalanobis.density import TABLE5
from malaprop.studies.mahalanobis.lambda_grid import GRID
from malaprop.studies.mahalanobis.words import (
    FIG2,
    FIG3,
    FIG4,
    FIG5,
    TABLE1,
    TABLE2,
    TABLE3,
    TABLE4,
)

STUDY = Study(
    name="mahalanobis",
    items=(TABLE1, TABLE2, TABLE3, TABLE4, FIG2, FIG3, FIG4, FIG5, TABLE5, FIG6, FIG7, GRID),
)

"""nadp-2023: Bollegala et al., a neighbourhood-aware mechanism for static word embeddings."""

from malaprop.studies.framework.items import Study
from malaprop.studies.nadp.clear import CLEAR
from malaprop.studies.nadp.neighbours import TABLE1
from malaprop.studies.nadp.skew import FIG3, FIG4
from malaprop.studies.nadp.utility_claims import FIG2

STUDY = Study(name="nadp", items=(FIG2, FIG3, FIG4, TABLE1, CLEAR))

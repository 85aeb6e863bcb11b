"""nadp-2023: Bollegala et al., a neighbourhood-aware mechanism for static word embeddings."""

from malaprop.lab.studies.nadp.utility import FIG2
from malaprop.lab.studies.nadp.words import CLEAR, FIG3, FIG4, TABLE1
from malaprop.lab.studies.study import Study

STUDY = Study(name="nadp", items=(FIG2, FIG3, FIG4, TABLE1, CLEAR))

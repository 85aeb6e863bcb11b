"""nadp-2023: Bollegala et al., a neighbourhood-aware mechanism for static word embeddings."""

from malaprop.studies.framework.items import Study
from malaprop.studies.nadp.clear import CLEAR

STUDY = Study(name="nadp", items=(CLEAR,))

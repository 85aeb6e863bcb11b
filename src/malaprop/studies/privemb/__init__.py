"""privemb-2021: Feyisetan and Kasiviswanathan, private release of text embedding vectors."""

from malaprop.studies.framework.items import Study
from malaprop.studies.privemb.dimensions import FIG4
from malaprop.studies.privemb.linear import FIG3
from malaprop.studies.privemb.other_vectors import FIG5, FIG6, FIG7
from malaprop.studies.privemb.preservation import FIG1, FIG2
from malaprop.studies.privemb.projections import LEMMA4
from malaprop.studies.privemb.texts import TABLE1

STUDY = Study(name="privemb", items=(FIG1, FIG2, FIG3, TABLE1, FIG4, FIG5, FIG6, FIG7, LEMMA4))

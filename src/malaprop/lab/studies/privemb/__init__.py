"""privemb-2021: Feyisetan and Kasiviswanathan, private release of text embedding vectors."""

from malaprop.lab.studies.privemb.models import FIG3, FIG4, FIG5, FIG6, FIG7, TABLE1
from malaprop.lab.studies.privemb.preservation import FIG1, FIG2, LEMMA4
from malaprop.lab.studies.study import Study

STUDY = Study(name="privemb", items=(FIG1, FIG2, FIG3, TABLE1, FIG4, FIG5, FIG6, FIG7, LEMMA4))

"""privemb-2021: Feyisetan and Kasiviswanathan, private release of text embedding vectors."""

from malaprop.studies.framework.items import Study
from malaprop.studies.privemb.linear import FIG3, FIG4, FIG7
from malaprop.studies.privemb.preservation import FIG1, FIG2, on_fasttext
from malaprop.studies.privemb.projections import LEMMA4
from malaprop.studies.privemb.texts import TABLE1

STUDY = Study(
    name="privemb",
    items=(
        FIG1,
        FIG2,
        FIG3,
        TABLE1,
        FIG4,
        on_fasttext(FIG1, "fig5"),
        on_fasttext(FIG2, "fig6"),
        FIG7,
        LEMMA4,
    ),
)

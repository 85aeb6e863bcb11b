"""Table 5: the two data sets, and how unevenly their words lie."""

import re
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.random import Generator

from malaprop.lexicon.lexicon import Lexicon
from malaprop.lexicon.search.listed import nearest_words
from malaprop.measure import density
from malaprop.studies.framework.claims import Claim
from malaprop.studies.framework.items import Figure, Item, crossed
from malaprop.studies.framework.lines import Setting
from malaprop.studies.framework.run import Run

SETS = ("disaster-tweets", "sms-spam")
_WORD = re.compile(r"[a-z]+")
_FEW = 50


def table5(run: Run, setting: Setting, rng: Generator) -> Iterator[Figure]:
    """Count records and words, and compare distances to the nearest word of the vocabulary."""
    records = [_WORD.findall(text.lower()) for text in run.data(setting["data"]).texts]
    vocabulary = {word for record in records for word in record}
    lengths = np.array([len(record) for record in records], dtype=np.float64)
    lexicon = run.lexicon().subset(vocabulary)
    lies = density(lexicon).to_dict()
    yield Figure("records", len(records))
    yield Figure("words_per_record", float(lengths.mean()))
    yield Figure("words_per_record_sd", float(lengths.std(ddof=1)))
    yield Figure("vocabulary", len(vocabulary))
    yield Figure("vocabulary_in_lexicon", len(lexicon))
    yield Figure("largest_over_smallest", lies["largest_over_smallest"])
    yield Figure("sparsest_over_densest", lies["sparsest_over_densest"])
    yield Figure("records_with_sparse_word", _rareness(lexicon, records))


def _rareness(lexicon: Lexicon, records: Sequence[Sequence[str]]) -> float:
    """Return the mean share of records that contain one of the 50 words in sparsest regions."""
    nearest = nearest_words(lexicon, 2)
    vectors = lexicon.vectors.astype(np.float64)
    apart = np.linalg.norm(vectors[nearest[:, 0]] - vectors[nearest[:, -1]], axis=1)
    sparse = [lexicon.words[i] for i in np.argsort(-apart, kind="stable")[:_FEW]]
    sets = [set(record) for record in records]
    return float(np.mean([np.mean([word in record for record in sets]) for word in sparse]))


TABLE5 = Item(
    name="table5",
    grid=lambda run: crossed(data=SETS),
    cell=table5,
    key="table5",
    measures=(
        "records",
        "words_per_record",
        "words_per_record_sd",
        "vocabulary",
        "vocabulary_in_lexicon",
        "largest_over_smallest",
        "sparsest_over_densest",
        "records_with_sparse_word",
    ),
    claims=(
        Claim(
            text="words lie unevenly: the sparsest are over twice as far apart as the densest",
            whose="reading",
            measure="sparsest_over_densest",
            about=lambda setting: True,
            holds=lambda line, results: float(line.ours or 0.0) > 2.0,
        ),
        Claim(
            text="words in sparse regions are rare: fewer than 1 % of records have one",
            whose="reading",
            measure="records_with_sparse_word",
            about=lambda setting: True,
            holds=lambda line, results: float(line.ours or 0.0) < 0.01,
        ),
    ),
)

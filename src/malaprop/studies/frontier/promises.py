"""What a mechanism promises, and how often the words of the lexicon stay."""

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.random import Generator

from malaprop.core.channel import Channel
from malaprop.core.guarantee import Guarantee, Kind
from malaprop.lexicon.lexicon import Lexicon
from malaprop.lexicon.search.listed import nearest_words
from malaprop.measure.chosen_words import word_ids
from malaprop.measure.words.kept import Kept
from malaprop.measure.words.statistics import statistics_of
from malaprop.studies.framework.items import Figure
from malaprop.studies.framework.measuring import mean_of
from malaprop.studies.framework.run import Run

KEPT_RUNS: Final = 100
"""How often a word is drawn for N_w where there is no law."""
NEAREST_OF: Final = 300
"""How many words the median loss between a word and its nearest one is over."""


def lexicon_words(run: Run) -> int:
    """Return how many words of the lexicon N_w is measured for."""
    return run.pick(quick=20, full=100)


def kept_words(run: Run, channel: Channel, rng: Generator) -> Iterator[Figure]:
    """Measure N_w of words spread over the lexicon: exactly if there is a law, else by runs."""
    lexicon = channel.lexicon
    ids = word_ids(lexicon, min(lexicon_words(run), len(lexicon)))
    values = statistics_of(channel, ids, Kept(), KEPT_RUNS, rng)
    yield mean_of("kept_of_lexicon", values)
    yield Figure("kept_of_lexicon_p95", float(np.percentile(values, 95)))
    yield Figure("kept_of_lexicon_max", float(values.max()))


def promised(lexicon: Lexicon, guarantee: Guarantee) -> Iterator[Figure]:
    """State the guarantee, and its bound between a word and its nearest one, the median."""
    delta = f", δ = {guarantee.delta:.2g}" if guarantee.delta else ""
    yield Figure("guarantee", f"{guarantee.kind.value}, {guarantee.metric}{delta}")
    if guarantee.kind is not Kind.METRIC:
        return
    euclidean = guarantee.in_metric("euclidean")
    if euclidean.kind is Kind.METRIC:
        yield Figure("euclidean_epsilon", euclidean.epsilon)
        guarantee = euclidean
    ids = word_ids(lexicon, min(NEAREST_OF, len(lexicon)))
    near = nearest_words(lexicon, 2)[ids]
    others = np.where(near[:, 0] == ids, near[:, 1], near[:, 0])
    if guarantee.metric == "euclidean":
        gaps = lexicon.vectors[ids].astype(np.float64) - lexicon.vectors[others]
        apart = np.linalg.norm(gaps, axis=1)
    else:
        rows = lexicon.distances(ids)
        apart = rows[np.arange(len(ids)), others]
    yield Figure("loss_of_nearest", guarantee.epsilon * float(np.median(apart)))

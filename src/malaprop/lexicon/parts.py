"""Parts of a lexicon: some of its words, and those nearest to any vector."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from malaprop.core.arrays import Ids
from malaprop.core.errors import LexiconError, MetricError, ParameterError
from malaprop.core.metrics.graph import graph_of
from malaprop.core.space import MetricSpace
from malaprop.lexicon.search.poincare import search_on


def rows_of(space: MetricSpace, words: Iterable[str]) -> list[int]:
    """Return the ids of those words that a lexicon has, in its order."""
    if graph_of(space.metric) is not None:
        raise MetricError(
            "Some words of a word graph make another graph: take the subset first, then use "
            "with_graph()."
        )
    wanted = set(words)
    ids = [i for i, word in enumerate(space.words) if word in wanted]
    if not ids:
        raise LexiconError("None of these words is in the lexicon.")
    return ids


def nearest_to(space: MetricSpace, vectors: Any, k: int) -> Ids:
    """Return the ids of the `k` words nearest to each vector; ties go to the lowest id."""
    if str(space.metric) not in ("euclidean", "poincare"):
        raise MetricError(
            "The words nearest to any vector are found by euclidean or poincare distance; this "
            f"lexicon measures {space.metric} ones."
        )
    if k < 1:
        raise ParameterError(f"The number of nearest words must be 1 or more. Got {k}.")
    queries, columns = np.asarray(vectors, dtype=np.float64), space.vectors.shape[1]
    if queries.ndim != 2 or queries.shape[1] != columns:
        raise ParameterError(
            f"Vectors must be a matrix with {columns} columns, the lexicon's dimension. "
            f"Got shape {queries.shape}."
        )
    return search_on(space).nearest(queries, k)

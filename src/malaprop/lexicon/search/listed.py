"""The nearest words of every word, from what a lexicon carries or from a search made once."""

from weakref import WeakKeyDictionary

import numpy as np

from malaprop.core.arrays import Ids
from malaprop.core.metrics.euclidean import Euclidean
from malaprop.core.space import MetricSpace
from malaprop.lexicon.lexicon import Lexicon
from malaprop.lexicon.search.exact import NearestSearch
from malaprop.lexicon.tables.values import tables_of

# For lexicons of our own class only: their vectors cannot change.
_searched: "WeakKeyDictionary[Lexicon, Ids]" = WeakKeyDictionary()


def nearest_words(space: MetricSpace, k: int) -> Ids:
    """Return ids of the `k` nearest words of each word by Euclidean distance: (words, k).

    A word is the first of its own nearest, unless a lower one shares its vector. Ties go to the
    lowest id.
    """
    k = min(k, len(space))
    table = tables_of(space).nearest
    if table is not None and type(space.metric) is Euclidean and k <= table.listed.shape[1]:
        return table.listed[:, :k].astype(np.int64)
    if type(space) is not Lexicon:
        return NearestSearch(space.vectors).nearest(space.vectors, k)
    kept = _searched.get(space)
    if kept is None or kept.shape[1] < k:
        kept = _searched[space] = NearestSearch(space.vectors).nearest(space.vectors, k)
    return kept[:, :k]

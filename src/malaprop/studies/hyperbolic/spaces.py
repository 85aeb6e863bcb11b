"""Euclidean spaces of the hierarchy's words, and what an ε of hyperbolic distance means there."""

from typing import Final

import numpy as np

from malaprop.lexicon.lexicon import Lexicon
from malaprop.studies.framework.not_at_hand import GLOVE_200, VECTORS
from malaprop.studies.framework.run import DEFAULT_LEXICON, Run

TRAINED: Final = {
    "Euclidean, 50 dimensions": "glove-6b-50d",
    "Euclidean, 100 dimensions": "glove-6b-100d",
    "Euclidean, 200 dimensions": GLOVE_200,
    "Euclidean, 300 dimensions": DEFAULT_LEXICON,
}
"""GloVe's vectors, trained with so many dimensions."""
COMPONENTS: Final = {
    "50 principal components": 50,
    "100 principal components": 100,
    "200 principal components": 200,
}
"""The control: those of 300 dimensions, reduced after training."""
_AT_ONCE = 512


def euclidean(run: Run, space: str, words: tuple[str, ...]) -> Lexicon:
    """Return the vectors of a space for those of the words that have one, centred."""
    name = TRAINED.get(space, DEFAULT_LEXICON)

    def make() -> Lexicon:
        lexicon = run.lexicon(name, VECTORS.get(name, ""))
        known = run.lexicon().subset(words).words  # the same words in every space
        size = COMPONENTS.get(space) or lexicon.vectors.shape[1]
        return reduced(lexicon.subset(known), size)

    return run.once(("euclidean", space), make)


def reduced(lexicon: Lexicon, dimension: int) -> Lexicon:
    """Return the leading principal components of a lexicon's vectors, centred."""
    vectors = lexicon.vectors.astype(np.float64)
    vectors -= vectors.mean(axis=0)
    if dimension >= vectors.shape[1]:
        return Lexicon(lexicon.words, vectors)
    _, directions = np.linalg.eigh(vectors.T @ vectors)
    return Lexicon(lexicon.words, vectors @ directions[:, -dimension:])


def largest_ratio(hierarchy: Lexicon, other: Lexicon, every: int = 1) -> float:
    """Return the largest hyperbolic distance of two words over their Euclidean one.

    A mechanism that promises ε times the former promises ε times this ratio times the latter, and
    no less. `every` leaves out words in one of the two places: then it is a lower bound.
    """
    common = [word for word in other.words if word in hierarchy.index]
    curved, flat = hierarchy.subset(common), other.subset(common)
    largest = 0.0
    for begin in range(0, len(common), _AT_ONCE * every):
        ids = np.arange(begin, min(begin + _AT_ONCE, len(common)))
        lengths = flat.distances(ids)
        lengths[lengths == 0.0] = np.inf  # a word and itself
        largest = max(largest, float((curved.distances(ids) / lengths).max()))
    return largest

"""How similar two words are: the yardstick of utility, not of privacy."""

from functools import cached_property

import numpy as np

from malaprop.core.arrays import Floats, Ids
from malaprop.core.space import MetricSpace

_COMMON = 3  # principal components that all words have in common
_FEWEST = 16  # dimensions below which there is nothing to spare


class Similarity:
    """Cosines of word vectors, less their mean and first three principal components.

    Those are what all words have in common; without them a cosine tells related words from
    unrelated ones much better (Mu and Viswanath 2018). Below 16 dimensions, plain cosines.

    >>> from malaprop import Lexicon
    >>> axes = Lexicon(["east", "north", "west"], [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    >>> Similarity(axes).to_all(np.array([0])).tolist()
    [[1.0, 0.0, -1.0]]
    """

    def __init__(self, space: MetricSpace) -> None:
        self._space = space

    @cached_property
    def _units(self) -> Floats:
        vectors = self._space.vectors.astype(np.float64)
        if vectors.shape[1] >= _FEWEST:
            vectors -= vectors.mean(axis=0)
            _, axes = np.linalg.eigh(vectors.T @ vectors)
            common = axes[:, -_COMMON:]
            vectors -= (vectors @ common) @ common.T
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(vectors / np.where(lengths > 0.0, lengths, 1.0))

    def to_all(self, ids: Ids) -> Floats:
        """Return the similarity of some words with all words: (len(ids), words)."""
        return np.asarray(self._units[ids] @ self._units.T)

    def between(self, ids: Ids, others: Ids) -> Floats:
        """Return the similarity of each word with the word at the same place of `others`."""
        return np.asarray(np.einsum("ij,ij->i", self._units[ids], self._units[others]))

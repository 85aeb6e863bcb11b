"""How similar two words are: the yardstick of utility, not of privacy."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

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
    >>> Similarity(axes).to_some(0, np.array([0, 1, 2])).tolist()
    [1.0, 0.0, -1.0]
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

    @cached_property
    def _short_units(self) -> NDArray[np.float32]:
        return self._units.astype(np.float32)

    def expected(self, ids: Ids, probabilities: Floats) -> Floats:
        """Return the mean similarity of each word with all words: one row of probabilities each.

        It is right to six digits: sums in float32 take half the time.
        """
        means = probabilities.astype(np.float32) @ self._short_units
        return np.asarray(np.einsum("ij,ij->i", self._units[ids], means))

    def between(self, ids: Ids, others: Ids) -> Floats:
        """Return the similarity of each word with the word at the same place of `others`."""
        return np.asarray(np.einsum("ij,ij->i", self._units[ids], self._units[others]))

    def of_texts(self, ids: Ids, others: Ids, lengths: Ids) -> Floats:
        """Return the similarity of texts and others of the same lengths, text by text.

        It is the cosine of the sums of their words' vectors, each of length 1. Texts without words
        are left out.
        """
        from scipy.sparse import csr_array

        sizes = lengths[lengths > 0]
        ends, ones = np.concatenate([[0], np.cumsum(sizes)]), np.ones(len(ids))
        shape = (len(sizes), len(self._units))
        first, second = (
            csr_array((ones, words, ends), shape=shape) @ self._units for words in (ids, others)
        )
        dots = np.einsum("ij,ij->i", first, second)
        norms = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
        return np.asarray(dots / np.where(norms > 0.0, norms, 1.0))

    def to_some(self, word: int, others: Ids) -> Floats:
        """Return the similarity of a word with some words."""
        return np.asarray(self._units[others] @ self._units[word])

"""Decoders: from a noisy vector to a word, independent of the word that went in."""

from numpy.random import Generator

from malaprop.core.channel import Decoder, Floats
from malaprop.core.space import Ids, MetricSpace
from malaprop.lexicon.search import NearestSearch


class Nearest(Decoder):
    """The word whose vector is nearest to the noisy one, exactly; ties go to the lowest id."""

    def __init__(self, space: MetricSpace) -> None:
        self._search = NearestSearch(space.vectors)

    def decode(self, vectors: Floats, rng: Generator) -> Ids:
        """The nearest word to each vector; no randomness is used."""
        return self._search.nearest(vectors)

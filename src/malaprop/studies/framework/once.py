"""A table noised once, drawn only for the words that a task asks for."""

from typing import Any

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Floats, Ids
from malaprop.core.channel import VectorChannel
from malaprop.measure.tasking.corpus import Corpus
from malaprop.measure.tasking.sources import Source
from malaprop.measure.tasks import Subject


def drawn_once(channel: VectorChannel[Any]) -> Subject:
    """Return a channel's noisy vectors, drawn once for each word that is asked for.

    That is a substitution cipher: all places of a word share one vector. The law is that of
    `subject_of(channel, once=True)`, which draws for all words of the lexicon.
    """
    title = f"vectors drawn once for each word: {channel!r}"
    return Subject(title, channel.lexicon, lambda rng: _GrowingTable(channel, rng))


class _GrowingTable(Source):
    def __init__(self, channel: VectorChannel[Any], rng: Generator) -> None:
        super().__init__(channel.lexicon, rng)
        self._channel = channel
        self._table: Floats | None = None
        self._known = np.zeros(len(channel.lexicon), dtype=bool)

    def vectors(self, ids: Ids) -> Floats:
        """Return the noisy vector of each word."""
        return self._with(ids)[ids]

    def centroids(self, corpus: Corpus) -> Floats:
        """Return the mean noisy vector of each text's words."""
        return corpus.means(self._with(corpus.ids))

    def _with(self, ids: Ids) -> Floats:
        """Return the table, with noise drawn for these words."""
        asked = np.unique(ids)
        new = asked[~self._known[asked]]
        noisy = self._channel.release_words(new, self._rng)
        if self._table is None:
            self._table = np.zeros((len(self._known), noisy.shape[1]))
        self._table[new], self._known[new] = noisy, True
        return self._table

    def _words(self, ids: Ids) -> Ids:
        distinct, places = np.unique(ids, return_inverse=True)
        words: Ids = self._channel.decoder.decode(self.vectors(distinct), self._rng)[places]
        return words

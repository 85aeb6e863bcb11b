"""What a task draws from: vectors, words and texts, with the noise of one repetition.

A task asks for a vector for each word, for the centroids of texts, or for private texts. It does
not know what is behind them: no noise, a channel, a privatizer, or nothing but chance.
"""

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from malaprop.core.arrays import Floats, Ids
from malaprop.core.channel import Channel, Decoder, VectorChannel
from malaprop.core.noise.noise import Noise
from malaprop.core.space import MetricSpace, blocks
from malaprop.measure.tasking.corpus import Corpus
from malaprop.pipeline.privatizer import Privatizer

_COUNTED = 500  # texts whose words are drawn again, to count those that stay


class Source(ABC):
    """One repetition of something that turns words into private words or vectors."""

    def __init__(self, space: MetricSpace, rng: Generator) -> None:
        self.space, self._rng = space, rng
        self._same = self._drawn = 0

    @property
    def kept(self) -> float | None:
        """The share of drawn words that are the words themselves; None if no word was drawn."""
        return self._same / self._drawn if self._drawn else None

    def words(self, ids: Ids) -> Ids:
        """Return a private word for each word."""
        drawn = self._words(ids)
        self._count(ids, drawn)
        return drawn

    def vectors(self, ids: Ids) -> Floats:
        """Return a private vector for each word, each place by itself."""
        return np.asarray(self.space.vectors[self.words(ids)], dtype=np.float64)

    def centroids(self, corpus: Corpus) -> Floats:
        """Return the mean private vector of each text's words."""
        return corpus.means(self.space.vectors, self.words(corpus.ids))

    def texts(self, corpus: Corpus) -> list[str]:
        """Return the private texts."""
        return corpus.rebuilt(self.words(corpus.ids))

    def _count(self, ids: Ids, drawn: Ids) -> None:
        self._same += int((ids == drawn).sum())
        self._drawn += len(ids)

    @abstractmethod
    def _words(self, ids: Ids) -> Ids: ...


class WordsOfChannel(Source):
    """The words of a channel, drawn anew for each place."""

    def __init__(self, channel: Channel, rng: Generator) -> None:
        super().__init__(channel.lexicon, rng)
        self._channel = channel

    def _words(self, ids: Ids) -> Ids:
        return self._channel.substitute(ids, self._rng)


class VectorsOfChannel(WordsOfChannel):
    """The noisy vectors of a channel, drawn anew for each place."""

    def __init__(self, channel: VectorChannel[Noise], rng: Generator) -> None:
        super().__init__(channel, rng)
        self._noisy = channel

    def vectors(self, ids: Ids) -> Floats:
        """Return a noisy vector for each word."""
        return self._noisy.release_words(ids, self._rng)

    def centroids(self, corpus: Corpus) -> Floats:
        """Return the mean noisy vector of each text's words."""
        places = np.repeat(np.arange(len(corpus)), corpus.counts)
        sums: Floats | None = None
        for block in blocks(len(places), row_cells=self.space.vectors.shape[1]):
            noisy, some = self.vectors(corpus.ids[block]), places[block]
            if sums is None:
                sums = np.zeros((len(corpus), noisy.shape[1]))
            firsts = np.flatnonzero(np.diff(some, prepend=-1))
            sums[some[firsts]] += np.add.reduceat(noisy, firsts, axis=0)
        if sums is None:
            return np.zeros((len(corpus), self.space.vectors.shape[1]))
        return sums / np.maximum(corpus.counts, 1)[:, None]


class Table(Source):
    """A fixed vector for each word: as it is, random, or with noise that was drawn once."""

    def __init__(
        self,
        space: MetricSpace,
        rng: Generator,
        table: NDArray[np.floating[Any]],
        decoder: Decoder | None = None,
    ) -> None:
        """Hold a table; a decoder finds words for its vectors. Without one, words stay."""
        super().__init__(space, rng)
        self._table, self._decoder = table, decoder

    def vectors(self, ids: Ids) -> Floats:
        """Return the table's vector of each word."""
        return np.asarray(self._table[ids], dtype=np.float64)

    def centroids(self, corpus: Corpus) -> Floats:
        """Return the mean vector of each text's words."""
        return corpus.means(self._table)

    @cached_property
    def _swapped(self) -> Ids | None:
        if self._decoder is None:
            return None
        return self._decoder.decode(self._table.astype(np.float64), self._rng)

    def _words(self, ids: Ids) -> Ids:
        return ids if self._swapped is None else self._swapped[ids]


class RandomTable(Table):
    """A random vector and a random other word for each word: equal words stay equal, no more."""

    def __init__(self, space: MetricSpace, rng: Generator) -> None:
        super().__init__(space, rng, rng.normal(size=space.vectors.shape))
        self._permuted = rng.permutation(len(space))

    def _words(self, ids: Ids) -> Ids:
        return self._permuted[ids]


class WordTable(Source):
    """A fixed word for each word, drawn once: a substitution cipher."""

    def __init__(self, space: MetricSpace, rng: Generator, swapped: Ids) -> None:
        super().__init__(space, rng)
        self._swapped = swapped

    def _words(self, ids: Ids) -> Ids:
        return self._swapped[ids]


class RandomWords(Source):
    """Words drawn evenly from the lexicon, whatever the word was."""

    def _words(self, ids: Ids) -> Ids:
        return self._rng.integers(len(self.space), size=len(ids))


class PrivateTexts(Source):
    """The texts of a privatizer; for single words, the words of its channel.

    Private texts do not say which words stayed: these are counted in further draws, of some texts.
    """

    def __init__(self, privatizer: Privatizer, rng: Generator) -> None:
        super().__init__(privatizer.lexicon, rng)
        self._privatizer = privatizer.drawing_from(rng)

    def _words(self, ids: Ids) -> Ids:
        return self._privatizer.channel.substitute(ids, self._rng)

    def texts(self, corpus: Corpus) -> list[str]:
        """Return the private texts."""
        private = self._privatizer.texts(corpus.texts)
        again = self._privatizer.word_draws(corpus.texts[:: -(-len(corpus) // _COUNTED)])
        self._count(again.secret, again.drawn)
        return private

    def centroids(self, corpus: Corpus) -> Floats:
        """Return the centroids of the private texts."""
        return corpus.again(self.texts(corpus)).means(self.space.vectors)

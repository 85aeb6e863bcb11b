"""What a task draws from: vectors, words and texts, with the noise of one repetition.

A task asks for a vector for each word, for the centroids of texts, or for private texts. It does
not know what is behind them: no noise, a channel, a privatizer, or nothing but chance.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from malaprop.privacy.arrays import Floats, Ids, blocks
from malaprop.privacy.channel import Channel, Decoder, VectorChannel
from malaprop.privacy.errors import ParameterError
from malaprop.privacy.metrics import MetricSpace, checked_space
from malaprop.privacy.noise import Noise
from malaprop.privatizer import Privatizer
from malaprop.text.parser import Secrets, Templates, TextParser
from malaprop.text.policy import Policy

_COUNTED = 500  # texts whose words are drawn again, to count those that stay


class CorpusReader:
    """Reads texts for one lexicon; words that it lacks count as what they map to."""

    def __init__(self, space: MetricSpace) -> None:
        self._parser = TextParser(space.words, Policy(kinds="words"))

    def __call__(self, texts: Sequence[str]) -> "Corpus":
        """Return texts whose words are looked up when they are needed."""
        return Corpus(texts, self._parser)


class Corpus:
    """Texts, and the ids of their words, looked up once for all repetitions.

    >>> from malaprop import Lexicon
    >>> corpus = CorpusReader(Lexicon(["cold", "hot"], [[0.0], [1.0]]))(["Hot, cold!", "..."])
    >>> corpus.ids.tolist(), corpus.counts.tolist()
    ([1, 0], [2, 0])
    """

    def __init__(self, texts: Sequence[str], parser: TextParser) -> None:
        self.texts = list(texts)
        self.parser = parser

    def __len__(self) -> int:
        return len(self.texts)

    @cached_property
    def _parsed(self) -> tuple[Templates, Secrets]:
        return self.parser.parse(self.texts)

    @property
    def ids(self) -> Ids:
        return self._parsed[1].ids

    @cached_property
    def counts(self) -> Ids:
        """How many words each text has."""
        return np.asarray(self._parsed[0].slot_counts, dtype=np.int64)

    def rebuilt(self, drawn: Ids) -> list[str]:
        """Return the texts with other words in the places of theirs."""
        return self._parsed[0].fill(drawn)

    def means(self, table: NDArray[np.floating[Any]], words: Ids | None = None) -> Floats:
        """Return the mean row of a table over each text's words; 0 for a text without words."""
        from scipy.sparse import csr_matrix

        ids = self.ids if words is None else words
        ends = np.concatenate([[0], np.cumsum(self.counts)])
        shares = np.repeat(1.0 / np.maximum(self.counts, 1), self.counts)
        return np.asarray(csr_matrix((shares, ids, ends), (len(self), len(table))) @ table)


class Source:
    """One repetition of something that turns words into private words or vectors."""

    def __init__(
        self, space: MetricSpace, rng: Generator, draw: Callable[[Ids], Ids] | None = None
    ) -> None:
        """Draw words with `draw`; without it, words stay, unless a subclass has its own way."""
        self.space, self._rng, self._draw = space, rng, draw
        self._same = self._drawn = 0

    @property
    def kept(self) -> float | None:
        """The share of drawn words that are the words themselves; None if no word was drawn."""
        return self._same / self._drawn if self._drawn else None

    def words(self, ids: Ids) -> Ids:
        drawn = self._words(ids)
        self._count(ids, drawn)
        return drawn

    def vectors(self, ids: Ids) -> Floats:
        """Return a private vector for each word, each place by itself."""
        return np.asarray(self.space.vectors[self.words(ids)], dtype=np.float64)

    def centroids(self, corpus: Corpus) -> Floats:
        return corpus.means(self.space.vectors, self.words(corpus.ids))

    def texts(self, corpus: Corpus) -> list[str]:
        return corpus.rebuilt(self.words(corpus.ids))

    def _count(self, ids: Ids, drawn: Ids) -> None:
        self._same += int((ids == drawn).sum())
        self._drawn += len(ids)

    def _words(self, ids: Ids) -> Ids:
        return ids if self._draw is None else self._draw(ids)


class _VectorsOfChannel(Source):
    """The noisy vectors of a channel, drawn anew for each place."""

    def __init__(self, channel: VectorChannel[Noise], rng: Generator) -> None:
        super().__init__(channel.lexicon, rng, lambda ids: channel.substitute(ids, rng))
        self._noisy = channel

    def vectors(self, ids: Ids) -> Floats:
        return self._noisy.release_words(ids, self._rng)

    def centroids(self, corpus: Corpus) -> Floats:
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
        words: Decoder | Ids | None = None,
    ) -> None:
        """Hold a table, and a word for each of its vectors or what finds one; else words stay."""
        super().__init__(space, rng)
        self._table, self._swapped = table, words

    def vectors(self, ids: Ids) -> Floats:
        return np.asarray(self._table[ids], dtype=np.float64)

    def centroids(self, corpus: Corpus) -> Floats:
        return corpus.means(self._table)

    def _words(self, ids: Ids) -> Ids:
        if isinstance(self._swapped, Decoder):
            self._swapped = self._swapped.decode(self._table.astype(np.float64), self._rng)
        return ids if self._swapped is None else self._swapped[ids]


class _PrivateTexts(Source):
    """The texts of a privatizer; for single words, the words of its channel.

    Private texts do not say which words stayed: these are counted in further draws, of some texts.
    """

    def __init__(self, privatizer: Privatizer, rng: Generator) -> None:
        drawing = self._privatizer = privatizer.drawing_from(rng)
        super().__init__(privatizer.lexicon, rng, lambda ids: drawing.channel.substitute(ids, rng))

    def texts(self, corpus: Corpus) -> list[str]:
        private = self._privatizer.texts(corpus.texts)
        again = self._privatizer.word_draws(corpus.texts[:: -(-len(corpus) // _COUNTED)])
        self._count(again.secret, again.drawn)
        return private

    def centroids(self, corpus: Corpus) -> Floats:
        return Corpus(self.texts(corpus), corpus.parser).means(self.space.vectors)


@dataclass(frozen=True)
class Subject:
    """Something that begins a repetition: `begin(rng)` returns a source with its own noise."""

    title: str
    space: MetricSpace
    begin: Callable[[Generator], Source]
    noisy: bool = True


def subject_of(value: Any, *, once: bool = False, release: str | None = None) -> Subject:
    """Return what to run tasks on: a lexicon, a channel, a privatizer, or a subject.

    A lexicon stands for its vectors without noise. With `once`, a channel draws for each word once
    and keeps the draw for all its places: a table, which is a substitution cipher. `release` is
    `vectors` (with noise, the default where a channel has them) or `words`.
    """
    if release not in (None, "vectors", "words"):
        raise ParameterError(f"`release` must be vectors or words. Got {release!r}.")
    if isinstance(value, Subject):
        return value
    if isinstance(value, Channel):
        return _of_channel(value, once, release)
    if not isinstance(value, Privatizer):
        return unprotected(checked_space(value, "A task"))
    if once or release == "vectors":
        raise ParameterError(
            "A privatizer releases texts, with the draws that it was made for: leave out `once` "
            "and `release`, or give its channel."
        )
    title = f"private texts by {value.mechanism!r}"
    return Subject(title, value.lexicon, lambda rng: _PrivateTexts(value, rng))


def unprotected(space: MetricSpace) -> Subject:
    """Return a lexicon's own vectors and words."""
    return Subject("no noise", space, lambda rng: Table(space, rng, space.vectors), False)


def random_table(space: MetricSpace) -> Subject:
    """Return a floor: for each word a random vector, and a random word. Equal words stay equal.

    What needs no more than that, such as a linear model of words, does as well as ever.
    """

    def begin(rng: Generator) -> Source:
        return Table(space, rng, rng.normal(size=space.vectors.shape), rng.permutation(len(space)))

    return Subject("a random table", space, begin)


def random_subject(space: MetricSpace) -> Subject:
    """Return a floor: for each place a word drawn evenly from the lexicon."""

    def begin(rng: Generator) -> Source:
        return Source(space, rng, lambda ids: rng.integers(len(space), size=len(ids)))

    return Subject("random words", space, begin)


def _of_channel(channel: Channel, once: bool, release: str | None) -> Subject:
    noisy = channel if isinstance(channel, VectorChannel) and release != "words" else None
    if release == "vectors" and noisy is None:
        raise ParameterError(
            "This channel draws words, and has no noisy vectors: leave out `release`."
        )
    space = channel.lexicon
    every = np.arange(len(space))

    def begin(rng: Generator) -> Source:
        if noisy is not None:
            if not once:
                return _VectorsOfChannel(noisy, rng)
            return Table(space, rng, noisy.release_words(every, rng), noisy.decoder)
        if not once:
            return Source(space, rng, lambda ids: channel.substitute(ids, rng))
        return Source(space, rng, channel.substitute(every, rng).__getitem__)

    released = "words" if noisy is None else "vectors"
    title = f"{released} drawn {'once for each word' if once else 'for each place'}: {channel!r}"
    return Subject(title, space, begin)

"""Texts with slots: which words are replaced, and by what. The others stay in clear."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from malaprop.core.arrays import Floats, Ids
from malaprop.core.channel import Channel
from malaprop.core.space import MetricSpace
from malaprop.lexicon.bigrams import BigramModel
from malaprop.lexicon.lexicon import Lexicon
from malaprop.measure.attacking.function_words import FUNCTION_WORDS
from malaprop.measure.tasking.corpus import Corpus, CorpusReader
from malaprop.measure.tasking.sources import Source
from malaprop.measure.tasking.subjects import Subject

STOP_WORDS_KEPT: Final = "stop words kept"
RARE_TRANSITIONS: Final = "rare transitions"
ALL_WORDS: Final = "all words"
NO_WORDS: Final = "no words"
ONCE: Final = "a table noised once"
RARE: Final = 1e-3
"""A word is a slot if it follows the word before it with a smaller probability."""
Flags = NDArray[np.bool_]
_WORD = re.compile(r"[^\W\d_]+")


class WordIds:
    """The ids of words in a lexicon; a word that it lacks has the id of what it maps to."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self._read = CorpusReader(lexicon)
        self._mapped: dict[str, int] = {}

    def __call__(self, words: Sequence[str]) -> Ids:
        """Return the id of each word."""
        index, mapped = self.lexicon.index, self._mapped
        others = [w for w in dict.fromkeys(words) if w not in index and w not in mapped]
        corpus = self._read(others)
        ends = np.cumsum(corpus.counts)
        for word, end, count in zip(others, ends.tolist(), corpus.counts.tolist(), strict=True):
            mapped[word] = int(corpus.ids[end - 1]) if count else 0
        return np.array([index[w] if w in index else mapped[w] for w in words], dtype=np.int64)


class SlotTexts:
    """Texts cut into words, in small letters, and what stands between them."""

    def __init__(self, texts: Sequence[str], ids: WordIds) -> None:
        words = [_WORD.findall(text) for text in texts]
        self._between = [_WORD.split(text) for text in texts]
        self.counts = np.array([len(row) for row in words], dtype=np.int64)
        self.flat = [word.lower() for row in words for word in row]
        self.ids, self._lexicon = ids, ids.lexicon

    @cached_property
    def known(self) -> Flags:
        """Which words the lexicon has."""
        return np.array([word in self._lexicon.index for word in self.flat], dtype=bool)

    @cached_property
    def content(self) -> Flags:
        """Which words are no stop words."""
        return np.array([word not in FUNCTION_WORDS for word in self.flat], dtype=bool)

    def transitions(self, model: BigramModel, words: Lexicon) -> Floats:
        """Return how likely each word is after the one before it; 0 where one is unknown."""
        chances = np.zeros(len(self.flat))
        seconds = np.array([words.index.get(word, -1) for word in self.flat], dtype=np.int64)
        firsts = np.roll(seconds, 1)
        firsts[(np.cumsum(self.counts) - self.counts)[self.counts > 0]] = model.start
        both = (firsts >= 0) & (seconds >= 0)
        chances[both] = model.probabilities(firsts[both], seconds[both])
        return chances

    def replaced(self, slots: Flags, drawn: Ids) -> list[str]:
        """Return all words, with other ones in the slots."""
        flat = list(self.flat)
        for place, word in zip(np.flatnonzero(slots).tolist(), drawn.tolist(), strict=True):
            flat[place] = self._lexicon.words[word].lower()
        return flat

    def joined(self, flat: Sequence[str]) -> list[str]:
        """Return texts of other words, with what stands between them as it was."""
        texts, begin = [], 0
        for count, between in zip(self.counts.tolist(), self._between, strict=True):
            own = flat[begin : begin + count]
            begin += count
            texts.append("".join(a + b for a, b in zip(between, [*own, ""], strict=True)))
        return texts


@dataclass(frozen=True)
class Protocol:
    """Which words are replaced.

    `stop words kept` is the paper's rule in Table III, `rare transitions` its rule in Table VI.
    With both, words that the lexicon lacks stay in clear. `all words` is ours: every word is
    replaced, and what the lexicon lacks goes in as what it maps to.
    """

    name: str
    model: BigramModel | None = None
    words: Lexicon | None = None
    """The words of the model."""

    def slots(self, texts: SlotTexts) -> Flags:
        """Return which words of the texts are replaced."""
        if self.name in (ALL_WORDS, NO_WORDS):
            return np.full(len(texts.flat), self.name == ALL_WORDS, dtype=bool)
        if self.name == STOP_WORDS_KEPT:
            return texts.known & texts.content
        if self.model is None or self.words is None:
            raise ValueError("rare transitions need a bigram model and its words")
        rare: Flags = texts.transitions(self.model, self.words) < RARE
        return texts.known & rare


@dataclass(eq=False)
class Replacer:
    """Replaces words of texts by draws from a channel; counts what stays."""

    ids: WordIds
    channel: Channel | None
    """None for words drawn evenly from the lexicon."""
    protocol: Protocol
    once: bool = False
    """Whether each word has one draw for all its places: a substitution cipher."""
    words: int = 0
    replaced: int = 0
    same: int = 0

    def words_of(self, texts: SlotTexts, rng: Generator) -> list[str]:
        """Return all words of texts, with drawn words in the slots."""
        slots = self.protocol.slots(texts)
        ids = self.ids([texts.flat[place] for place in np.flatnonzero(slots).tolist()])
        drawn = self._drawn(ids, rng)
        self.words += len(slots)
        self.replaced += len(ids)
        self.same += int((drawn == ids).sum())
        return texts.replaced(slots, drawn)

    def _drawn(self, ids: Ids, rng: Generator) -> Ids:
        own, places = np.unique(ids, return_inverse=True) if self.once else (ids, None)
        if self.channel is None:
            drawn = rng.integers(0, len(self.ids.lexicon), len(own))
        else:
            drawn = self.channel.substitute(own, rng)
        return drawn if places is None else drawn[places]

    @property
    def kept(self) -> float:
        """The share of the words in slots that stay."""
        return self.same / max(1, self.replaced)

    @property
    def in_clear(self) -> float:
        """The share of all words that are not in slots."""
        return 1.0 - self.replaced / max(1, self.words)


class _SlotSource(Source):
    """A repetition of private texts with slots, for tasks on other vectors."""

    def __init__(
        self,
        space: MetricSpace,
        rng: Generator,
        replacer: Replacer,
        cut: dict[int, SlotTexts],
        index: Mapping[str, int],
    ) -> None:
        super().__init__(space, rng)
        self._replacer, self._cut, self._index = replacer, cut, index

    def centroids(self, corpus: Corpus) -> Floats:
        """Return the mean vector of each private text's words, of those that have one."""
        from scipy.sparse import csr_matrix

        if id(corpus) not in self._cut:  # the task holds its corpora as long as it runs
            self._cut[id(corpus)] = SlotTexts(corpus.texts, self._replacer.ids)
        texts = self._cut[id(corpus)]
        flat = self._replacer.words_of(texts, self._rng)
        ids = np.array([self._index.get(word, -1) for word in flat], dtype=np.int64)
        known = ids >= 0
        rows = np.repeat(np.arange(len(corpus)), texts.counts)[known]
        shape = (len(corpus), len(self.space))
        sums = csr_matrix((np.ones(len(rows)), (rows, ids[known])), shape) @ self.space.vectors
        sizes = np.maximum(np.bincount(rows, minlength=len(corpus)), 1)
        return np.asarray(sums / sizes[:, None])

    def _words(self, ids: Ids) -> Ids:
        raise NotImplementedError("slots are places in texts, not words")


def subject(space: Lexicon, replacer: Replacer) -> Subject:
    """Return private texts to run tasks on, whose words are looked up in `space`."""
    cut: dict[int, SlotTexts] = {}
    return Subject(
        "texts with slots",
        space,
        lambda rng: _SlotSource(space, rng, replacer, cut, space.index),
        noisy=replacer.protocol.name != NO_WORDS,
    )

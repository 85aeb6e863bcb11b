"""Texts with slots: which words are replaced, and by what. The others stay in clear."""

import re
from collections.abc import Sequence
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
RARE: Final = 1e-3
"""A word is a slot if it follows the word before it with a smaller probability."""
Flags = NDArray[np.bool_]
_WORD = re.compile(r"[^\W\d_]+")


class SlotTexts:
    """Texts cut into words and what stands between them, and the words' ids in a lexicon."""

    def __init__(self, texts: Sequence[str], lexicon: Lexicon) -> None:
        self.words = [_WORD.findall(text) for text in texts]
        self._between = [_WORD.split(text) for text in texts]
        self._lexicon = lexicon

    @cached_property
    def flat(self) -> list[str]:
        """All words of all texts, in small letters."""
        return [word.lower() for row in self.words for word in row]

    @cached_property
    def ids(self) -> Ids:
        """The id of each word; words that the lexicon lacks have that of what they map to."""
        index, own = self._lexicon.index, dict.fromkeys(self.flat)
        others = [word for word in own if word not in index]
        corpus = CorpusReader(self._lexicon)(others)
        ends = np.cumsum(corpus.counts)
        mapped = {
            word: int(corpus.ids[end - 1]) if count else 0
            for word, end, count in zip(others, ends, corpus.counts, strict=True)
        }
        return np.array([index.get(w, mapped.get(w, 0)) for w in self.flat], dtype=np.int64)

    @cached_property
    def known(self) -> Flags:
        """Which words the lexicon has."""
        return np.array([word in self._lexicon.index for word in self.flat], dtype=bool)

    def transitions(self, model: BigramModel, words: Lexicon) -> Floats:
        """Return how likely each word is after the one before it; 0 where one is unknown."""
        chances = np.zeros(len(self.flat))
        seconds = np.array([words.index.get(word, -1) for word in self.flat], dtype=np.int64)
        firsts = np.roll(seconds, 1)
        lengths = [len(row) for row in self.words if row]
        firsts[np.cumsum([0, *lengths[:-1]])[: len(lengths)]] = model.start
        both = (firsts >= 0) & (seconds >= 0)
        chances[both] = model.probabilities(firsts[both], seconds[both])
        return chances

    def replaced(self, slots: Flags, drawn: Ids) -> list[str]:
        """Return the texts with other words in the slots, in small letters."""
        flat = list(self.flat)
        for place, word in zip(np.flatnonzero(slots).tolist(), drawn.tolist(), strict=True):
            flat[place] = self._lexicon.words[word].lower()
        texts, begin = [], 0
        for row, between in zip(self.words, self._between, strict=True):
            own = flat[begin : begin + len(row)]
            begin += len(row)
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
        if self.name == ALL_WORDS:
            return np.ones(len(texts.flat), dtype=bool)
        if self.name == STOP_WORDS_KEPT:
            return texts.known & np.array([w not in FUNCTION_WORDS for w in texts.flat], dtype=bool)
        if self.model is None or self.words is None:
            raise ValueError("rare transitions need a bigram model and its words")
        return texts.known & (texts.transitions(self.model, self.words) < RARE)


@dataclass(eq=False)
class Replacer:
    """Replaces words of texts by draws from a channel; counts what stays."""

    lexicon: Lexicon
    channel: Channel | None
    """None for words drawn evenly from the lexicon."""
    protocol: Protocol
    once: bool = False
    """Whether each word has one draw for all its places: a substitution cipher."""
    words: int = 0
    replaced: int = 0
    same: int = 0

    def texts(self, texts: SlotTexts, rng: Generator) -> list[str]:
        """Return texts with drawn words in their slots."""
        slots = self.protocol.slots(texts)
        ids = texts.ids[slots]
        drawn = self._drawn(ids, rng)
        self.words += len(slots)
        self.replaced += len(ids)
        self.same += int((drawn == ids).sum())
        return texts.replaced(slots, drawn)

    def _drawn(self, ids: Ids, rng: Generator) -> Ids:
        own, places = np.unique(ids, return_inverse=True) if self.once else (ids, None)
        if self.channel is None:
            drawn = rng.integers(0, len(self.lexicon), len(own))
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

    def __init__(self, space: MetricSpace, rng: Generator, replacer: Replacer) -> None:
        super().__init__(space, rng)
        self._replacer = replacer

    def texts(self, corpus: Corpus) -> list[str]:
        """Return the private texts."""
        return self._replacer.texts(SlotTexts(corpus.texts, self._replacer.lexicon), self._rng)

    def centroids(self, corpus: Corpus) -> Floats:
        """Return the mean vector of each private text's words."""
        return corpus.again(self.texts(corpus)).means(self.space.vectors)

    def _words(self, ids: Ids) -> Ids:
        raise NotImplementedError("slots are places in texts, not words")


def subject(space: MetricSpace, replacer: Replacer) -> Subject:
    """Return private texts to run tasks on, whose words are looked up in `space`."""
    return Subject("texts with slots", space, lambda rng: _SlotSource(space, rng, replacer))

"""Bigram models of the user's own public corpora."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

import numpy as np

from malaprop.core.arrays import Ids
from malaprop.core.errors import DataError, ParameterError
from malaprop.core.parameters import several_texts, type_name
from malaprop.lexicon.bigrams import BigramModel, words_digest
from malaprop.lexicon.bigrams.model import Counts
from malaprop.lexicon.lexicon import Lexicon
from malaprop.measure.attacking.sketches import sketch_of, text_hashes
from malaprop.text import Policy, TextParser

_BATCH = 8192  # texts parsed together
_PENDING = 1 << 22  # pairs that wait to be counted: 32 MB


def train_model(
    texts: Iterable[str], lexicon: Lexicon, *, sources: Mapping[str, str] | None = None
) -> BigramModel:
    """Count the words and the pairs of words of a public corpus, as a bigram model.

    Words are mapped to the lexicon's as `Privatizer` maps them. The corpus must be public: the
    model holds its counts, and must not be trained on the texts that are attacked or decoded.
    `sources` is a note on where the corpus comes from, stored with the model.

    >>> tiny = Lexicon(["cold", "so", "hot"], [[0.0], [4.0], [9.0]])
    >>> model = train_model(["So cold!", "So hot.", "so so cold"], tiny)
    >>> model.unigrams.tolist(), model.totals.tolist()
    ([2, 4, 1], [0, 4, 0, 3])
    """
    several_texts(texts, "train_model")
    if not isinstance(lexicon, Lexicon):
        raise ParameterError(f"`train_model` takes a Lexicon. Got {type_name(lexicon)}.")
    counting = _Counting(len(lexicon))
    parser = TextParser(lexicon.words, Policy())
    for batch in _batches(texts):
        parsed = parser.parse(batch)
        counting.add(parsed.ids, np.asarray(parsed.slot_counts, dtype=np.int64))
    return counting.model(words_digest(lexicon.words), dict(sources or {}))


def _batches(texts: Iterable[str]) -> Iterator[list[str]]:
    remaining = iter(texts)
    while batch := list(islice(remaining, _BATCH)):
        for text in batch:
            if not isinstance(text, str):
                raise ParameterError(f"A text must be a string. Got {type_name(text)}.")
        yield batch


_NONE: Ids = np.empty(0, dtype=np.int64)


class _Counting:
    """Counts of words and of pairs, so far."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._unigrams = np.zeros(size, dtype=np.int64)
        self._keys, self._counts = _NONE, _NONE
        self._pending: list[Ids] = []
        self._waiting = 0
        self._sketch: Counts = np.empty(0, dtype=np.uint64)

    def add(self, ids: Ids, lengths: Ids) -> None:
        """Count the words of some texts."""
        self._unigrams += np.bincount(ids, minlength=self._size)
        befores = np.empty_like(ids)
        befores[1:] = ids[:-1]
        starts = (np.cumsum(lengths) - lengths)[lengths > 0]
        befores[starts] = self._size  # the start of a text
        self._pending.append(befores * (self._size + 1) + ids)
        self._waiting += len(ids)
        if self._waiting >= _PENDING:
            self._settle()
        self._sketch = sketch_of(np.concatenate([self._sketch, text_hashes(ids, lengths)]))

    def _settle(self) -> None:
        keys, counts = np.unique(np.concatenate([_NONE, *self._pending]), return_counts=True)
        merged, places = np.unique(np.concatenate([self._keys, keys]), return_inverse=True)
        self._counts = np.bincount(
            places, np.concatenate([self._counts, counts]), len(merged)
        ).astype(np.int64)
        self._keys, self._pending, self._waiting = merged, [], 0

    def model(self, words: str, sources: Mapping[str, str]) -> BigramModel:
        """Return the model of all that was counted."""
        if not self._unigrams.any():
            raise DataError("The corpus has no words: a model needs some to count.")
        self._settle()
        size = self._size + 1
        firsts, nexts = self._keys // size, self._keys % size
        return BigramModel(
            words=words,
            unigrams=self._unigrams,
            totals=np.bincount(firsts, self._counts, size).astype(np.int64),
            offsets=np.searchsorted(firsts, np.arange(size + 1)),
            nexts=nexts.astype(np.uint16 if size <= 1 << 16 else np.uint32),
            counts=self._counts,
            sketch=self._sketch,
            sources=sources,
        )

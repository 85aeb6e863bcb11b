"""Whether private texts still tell who wrote them: Koppel's method, static and adaptive."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Ids
from malaprop.core.randomness import seeded_rng
from malaprop.datasets.values import LabelledTexts
from malaprop.lexicon.lexicon import Lexicon
from malaprop.measure.attacking.labels import TESTED, split, with_random_words
from malaprop.measure.attacking.learners import koppel, plain
from malaprop.measure.tasking.corpus import CorpusReader
from malaprop.measure.tasking.subjects import random_table
from malaprop.studies.framework.items import Figure
from malaprop.studies.framework.measuring import over_both, there_or_missing
from malaprop.studies.framework.run import Run
from malaprop.studies.framework.splitting import SPLITS
from malaprop.studies.frontier.sampling import noise_draws

Private = Callable[[Sequence[str]], list[str]]
"""Draws private texts."""
_MEASURES: Final = tuple(
    name + ending
    for name in ("attribution", "attribution_adaptive")
    for ending in ("", "_no_marks")
)
_FEWEST = 7  # texts of an author
_SHARED = TESTED / (1.0 - TESTED)


def attributed(run: Run, private: Private, noisy: bool = True) -> Iterator[Figure]:
    """Identify authors with attackers who learn from clean texts, or from private ones.

    They read punctuation, which no mechanism changes, or (`_no_marks`) they do not.
    """
    return there_or_missing(_MEASURES, _attributed(run, private, noisy))


def _attributed(run: Run, private: Private, noisy: bool) -> Iterator[Figure]:
    texts, labels = _authors_of(run)
    draws = [private(texts) for _ in range(noise_draws(run) if noisy else 1)]
    for marks, ending in ((True, ""), (False, "_no_marks")):
        clean = [plain(text, punctuation=marks) for text in texts]
        read = [[plain(text, punctuation=marks) for text in each] for each in draws]
        for name, known in (("attribution", [clean] * len(read)), ("attribution_adaptive", read)):
            table = [_hits(of, seen, labels) for of, seen in zip(known, read, strict=True)]
            yield from over_both(name + ending, table, shared=_SHARED)


def majority_author(run: Run) -> Iterator[Figure]:
    """Return how often the author of most texts is right."""

    def counted() -> Iterator[Figure]:
        counts = np.bincount(_authors_of(run)[1])
        yield Figure("attribution", float(counts.max() / counts.sum()))

    return there_or_missing(["attribution"], counted())


def untouched(texts: Sequence[str]) -> list[str]:
    """Return texts as they are."""
    return list(texts)


def with_any_words(lexicon: Lexicon, rng: Generator) -> Private:
    """Return what draws any word for each place."""
    return lambda texts: [with_random_words(text, lexicon.words, rng) for text in texts]


def with_one_word_each(lexicon: Lexicon, rng: Generator) -> Private:
    """Return what draws any word for each word, the same in all its places: a cipher."""
    read = CorpusReader(lexicon)
    return lambda texts: random_table(lexicon).begin(rng).texts(read(texts))


def _hits(known: Sequence[str], read: Sequence[str], labels: Ids) -> list[float]:
    """Return the share of texts whose author is named, for each split."""
    shares = []
    for number in range(SPLITS):
        train, test = split(labels, seeded_rng(number))
        predict = koppel([known[i] for i in train], labels[train], seeded_rng(number))
        shares.append(float(np.mean(predict([read[i] for i in test]) == labels[test])))
    return shares


def _authors_of(run: Run) -> tuple[list[str], Ids]:
    data: LabelledTexts = run.data("sotu")
    return run.once("authors", lambda: _beginnings(data, run.pick(quick=15, full=100)))


def _beginnings(data: LabelledTexts, words: int) -> tuple[list[str], Ids]:
    """Return the beginnings of texts by authors with enough of them."""
    counts = Counter(data.labels)
    usual = (name for name, times in counts.items() if times >= _FEWEST)
    names = {name: k for k, name in enumerate(usual)}
    rows = [(t, names[a]) for t, a in zip(data.texts, data.labels, strict=True) if a in names]
    beginnings = [" ".join(text.split()[:words]) for text, _ in rows]
    return beginnings, np.array([label for _, label in rows], dtype=np.int64)

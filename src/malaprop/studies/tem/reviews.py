"""IMDB's reviews in Appendix C's four parts, and how each part is made private."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Ids
from malaprop.core.randomness import seeded_rng
from malaprop.datasets.values import LabelledTexts
from malaprop.lexicon.lexicon import Lexicon
from malaprop.measure.attacking.learners import Regression, plain, regression
from malaprop.measure.tasking.corpus import Corpus, CorpusReader
from malaprop.measure.tasking.sources import Source
from malaprop.measure.tasks.splits import class_numbers
from malaprop.studies.framework.run import Run

PARTS = ("TR1", "TR2", "TE1", "TE2")
WEAKNESS = 100.0
"""Of the regularization: 20 epochs of fastText learn training texts by heart."""


@dataclass(frozen=True, eq=False)
class Part:
    """Reviews of one part."""

    corpus: Corpus = field(repr=False)
    labels: Ids = field(repr=False)

    @cached_property
    def clean(self) -> list[str]:
        """The reviews as they are, in small letters and without punctuation."""
        return _plain(self.corpus.texts, punctuation=False)

    @cached_property
    def exempt(self) -> float:
        """The share of words that stay whatever is drawn: those that are no place for a draw."""
        drawn = (np.full(len(self.corpus.ids), word) for word in (0, 1))
        first, second = (_plain(self.corpus.rebuilt(ids), punctuation=False) for ids in drawn)
        pairs = zip(" ".join(first).split(), " ".join(second).split(), strict=True)
        return float(np.mean([one == other for one, other in pairs]))

    def clean_form(self, punctuation: bool) -> list[str]:
        """Return the reviews as they are, with punctuation if that is wanted."""
        return _plain(self.corpus.texts, punctuation=True) if punctuation else self.clean

    def private(self, source: Source, punctuation: bool) -> list[str]:
        """Return the reviews with private words."""
        return _plain(source.texts(self.corpus), punctuation=punctuation)


def _plain(texts: list[str], punctuation: bool) -> list[str]:
    return [plain(text, punctuation=punctuation) for text in texts]


def vocabulary(run: Run) -> Lexicon:
    """Return the lexicon's most frequent words."""
    lexicon, size = run.lexicon(), run.pick(quick=2000, full=8000)
    if len(lexicon) <= size:
        return lexicon
    return run.once("vocabulary", lambda: lexicon.subset(lexicon.words[:size]))


def parts_of(run: Run, trial: int) -> dict[str, Part]:
    """Return the four parts of a trial, the same for all mechanisms."""
    return run.once(("parts", trial), lambda: _cut(run, trial))


def _cut(run: Run, trial: int) -> dict[str, Part]:
    data: LabelledTexts = run.data("imdb")
    size, words = run.pick(quick=(250, 60), full=(2000, 60))
    classes = class_numbers(data.labels, len(data))
    rng = seeded_rng(1000 * run.seed + trial)
    reader, chosen = CorpusReader(vocabulary(run)), _places(classes, size, rng)
    return {
        name: Part(reader([_first(data.texts[i], words) for i in places]), classes[places])
        for name, places in zip(PARTS, chosen, strict=True)
    }


def _places(classes: Ids, size: int, rng: Generator) -> list[Ids]:
    """Draw four parts without a common review, each with as many of either class."""
    each = min(size // 2, int(np.bincount(classes).min()) // len(PARTS))
    drawn = [rng.permutation(np.flatnonzero(classes == label)) for label in (0, 1)]
    return [
        np.concatenate([own[part * each : (part + 1) * each] for own in drawn])
        for part in range(len(PARTS))
    ]


def _first(text: str, words: int) -> str:
    return " ".join(text.split()[:words])


def classifier(texts: list[str], labels: Ids, weakness: float = WEAKNESS) -> Regression:
    """Train the classifier of reviews: logistic regression on words and pairs of words."""
    return regression(texts, labels, characters=False, weakness=weakness)

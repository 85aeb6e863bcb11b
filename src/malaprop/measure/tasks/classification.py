"""A classifier trained on private texts: how often it is right."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Ids
from malaprop.core.errors import ParameterError
from malaprop.core.parameters import several_texts
from malaprop.core.progress import Progress, report, stage
from malaprop.core.randomness import checked_rng, secure_rng
from malaprop.lexicon.lexicon import Lexicon
from malaprop.measure.tasks.copies import Rewrite, private_copies, random_words
from malaprop.measure.tasks.models import model_named
from malaprop.measure.tasks.result import Estimate, TaskResult
from malaprop.measure.tasks.splits import Split, class_numbers, random_splits
from malaprop.pipeline.privatizer import Privatizer
from malaprop.text import Policy

RUNS = 5
"""How many noise draws, each with a split of its own, a figure is an average of."""
TEST = 0.25
"""The share of texts to test on."""

_BothTests = dict[str, Estimate]


class Classification:
    """Texts with labels, and a model that learns to tell them apart.

    The model is trained on private texts, and tested on clean ones and on private ones. Three
    bounds stand beside the accuracy: the model trained and tested on clean texts (`unprotected`),
    the same model where each word is any word of the lexicon (`random_words`), and the share of
    the class that is most frequent in the training part (`majority`).

    There are `runs` runs. Each has noise of its own and a random split of its own, stratified by
    class, with a share of `test` to test on. All mechanisms get the same splits. With `split`, the
    places to train on and to test on, the runs differ in their noise alone.

    `model` is `ngrams` or `centroids`. `policy` is that of the privatizer: it says what random
    words leave as it is. `rng` draws splits and random words.
    """

    name = "classification"

    def __init__(
        self,
        texts: Sequence[str],
        labels: Sequence[object],
        lexicon: Lexicon,
        *,
        model: str = "ngrams",
        runs: int = RUNS,
        test: float = TEST,
        split: tuple[Sequence[int] | Ids, Sequence[int] | Ids] | None = None,
        policy: Policy | None = None,
        rng: Generator | None = None,
    ) -> None:
        rng = secure_rng() if rng is None else checked_rng(rng)
        if runs < 1:
            raise ParameterError(f"`runs` must be 1 or more. Got {runs}.")
        if not 0.0 < test < 1.0:
            raise ParameterError(f"`test` must be a share between 0 and 1. Got {test!r}.")
        self.texts, self.runs = list(several_texts(texts, "classification")), runs
        self._classes = class_numbers(labels, len(self.texts))
        self._model = model_named(model, lexicon)
        self._fixed = split is not None
        self._splits = (
            random_splits(self._classes, test, runs, rng)
            if split is None
            else [_given(split, len(self.texts))] * runs
        )
        self._random = random_words(lexicon, policy or Policy(), rng)

    @property
    def classes(self) -> int:
        """How many different labels there are."""
        return int(self._classes.max()) + 1

    @property
    def about_runs(self) -> str:
        """What the runs differ in."""
        split = self._splits[0]
        draws = "one noise draw" if self.runs == 1 else f"{self.runs} noise draws"
        sizes = f"{len(split.train):,} texts to train on and {len(split.test):,} to test on"
        if self._fixed:
            return f"{draws}, one split: {sizes}"
        each = "with a random split" if self.runs == 1 else "each with a random split of its own"
        return f"{draws}, {each}: {sizes}"

    @cached_property
    def majority(self) -> Estimate:
        """The accuracy of always naming the most frequent class of the training part."""
        values = [self._most_frequent(split) for split in self._splits]
        return Estimate.of(values, shared=self._shared)

    @cached_property
    def unprotected(self) -> Estimate:
        """The accuracy with clean texts, trained and tested on."""
        rights = [
            self._accuracies(split, self._clean, self._clean)[0] for split in self._distinct_splits
        ]
        return self._estimate(rights if len(rights) == self.runs else rights * self.runs)

    @cached_property
    def random_words(self) -> _BothTests:
        """The accuracies of the model trained on random words: `clean` and `private`."""
        return self._scores(private_copies(self._random, self.texts, self.runs))

    def __call__(
        self, private: Privatizer | Rewrite, progress: Progress | None = None
    ) -> tuple[TaskResult, TaskResult]:
        """Return the results with a privatizer's texts: tested on clean texts, and on private ones.

        Anything that returns a private text for each text will do for a privatizer.
        """
        copies = private_copies(private, self.texts, self.runs, stage(progress, 0, 2))
        return self.of_copies(copies, stage(progress, 1, 2))

    def of_copies(
        self, copies: Sequence[list[str]], progress: Progress | None = None
    ) -> tuple[TaskResult, TaskResult]:
        """Return the results with private copies of the texts, one for each run.

        Draw the copies with `private_copies`, if several models or measures share them.
        """
        if len(copies) != self.runs or any(len(copy) != len(self.texts) for copy in copies):
            raise ParameterError("There must be one private copy of all texts for each run.")
        scores = self._scores(copies, progress)
        return self._result("clean", scores), self._result("private", scores)

    def _result(self, tested: str, scores: _BothTests) -> TaskResult:
        return TaskResult(
            task=self.name,
            measure="accuracy",
            model=self._model.name,
            tested=tested,
            score=scores[tested],
            floors={"random_words": self.random_words[tested], "majority": self.majority},
            ceiling=self.unprotected,
            runs=self.about_runs,
        )

    def _scores(self, copies: Sequence[list[str]], progress: Progress | None = None) -> _BothTests:
        """Return the accuracies of models trained on each copy: `clean` and `private`."""
        pairs = []
        for done, (split, copy) in enumerate(zip(self._splits, copies, strict=True), 1):
            rows = self._model.features(copy)
            pairs.append(self._accuracies(split, rows, self._clean, rows))
            report(progress, done, self.runs)
        on_clean, on_private = zip(*pairs, strict=True)
        return {"clean": self._estimate(on_clean), "private": self._estimate(on_private)}

    def _accuracies(self, split: Split, train: Any, *tests: Any) -> list[float]:
        """Train on the training part of some rows, test on the test part of others."""
        known, truth = self._classes[split.train], self._classes[split.test]
        guesses = self._model.predictions(
            train[split.train], known, *(rows[split.test] for rows in tests)
        )
        return [float(np.mean(each == truth)) for each in guesses]

    def _most_frequent(self, split: Split) -> float:
        most = np.bincount(self._classes[split.train]).argmax()
        return float(np.mean(self._classes[split.test] == most))

    def _estimate(self, values: Sequence[float]) -> Estimate:
        return Estimate.of(values, shared=self._shared, tested=len(self._splits[0].test))

    @property
    def _shared(self) -> float:
        return 0.0 if self._fixed else self._splits[0].shared

    @property
    def _distinct_splits(self) -> list[Split]:
        return self._splits[:1] if self._fixed else self._splits

    @cached_property
    def _clean(self) -> Any:
        return self._model.features(self.texts)


def classify(
    private: Privatizer,
    texts: Sequence[str],
    labels: Sequence[object],
    *,
    model: str = "ngrams",
    runs: int = RUNS,
    test: float = TEST,
    rng: Generator | None = None,
    progress: Progress | None = None,
) -> tuple[TaskResult, TaskResult]:
    """Return how often a classifier is right that was trained on private texts.

    The first result is for clean texts to test on, the second for private ones. `Classification`
    prepares the same for several mechanisms.
    """
    task = Classification(
        texts,
        labels,
        private.lexicon,
        model=model,
        runs=runs,
        test=test,
        policy=private.policy,
        rng=rng,
    )
    return task(private, progress)


def _given(split: tuple[Sequence[int] | Ids, Sequence[int] | Ids], texts: int) -> Split:
    train, test = (np.asarray(part, dtype=np.int64) for part in split)
    both = np.concatenate([train, test])
    if not len(train) or not len(test) or both.min() < 0 or both.max() >= texts:
        raise ParameterError("`split` must name places of texts to train on and to test on.")
    if len(np.unique(both)) < len(both):
        raise ParameterError("`split` must not name a text twice.")
    return Split(train=train, test=test)

"""Sentiment of single words: can a linear model tell praise from blame?"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Ids
from malaprop.core.errors import ParameterError
from malaprop.core.space import MetricSpace
from malaprop.datasets.values import LabelledTexts
from malaprop.measure.tasking.base import Problem, Task
from malaprop.measure.tasking.known_words import known_rows
from malaprop.measure.tasking.labelled import check_options, shares_right
from malaprop.measure.tasking.sources import Source
from malaprop.measure.tasks.models import require_sklearn
from malaprop.measure.tasks.splits import class_numbers, random_splits


@dataclass(frozen=True, kw_only=True)
class SentimentWords(Task, name="sentiment-words"):
    """How often a linear SVM on word vectors tells positive from negative words (privemb-2021).

    Both lists are cut to the same length, at random in each split. `measures` has the area under
    the ROC curve, too.
    """

    test: float = field(default=0.2, metadata={"help": "the share to test on"})

    measure = "accuracy"
    model = "linear SVM"
    kind = LabelledTexts
    default = ("opinion-words",)

    def __post_init__(self) -> None:
        check_options(self.test, "private", None)

    def prepare(self, space: MetricSpace) -> "WordsWithClasses":
        """Look up the words; those that the lexicon lacks are left out."""
        require_sklearn()
        sets: tuple[LabelledTexts, ...] = self.sets()
        words = [word for data in sets for word in data.texts]
        labels = [label for data in sets for label in data.labels]
        places, ids = known_rows(space, [(word,) for word in words], "words")
        classes = class_numbers([labels[place] for place in places], len(places))
        if classes.max() != 1:
            raise ParameterError(f"The task {self.name} is for two labels.")
        return WordsWithClasses(
            items=2 * int(np.bincount(classes).min()),
            covered=len(places) / len(words),
            ids=np.concatenate(ids),
            classes=classes,
            test=self.test,
        )


@dataclass(frozen=True, kw_only=True)
class WordsWithClasses(Problem):
    """Words of two classes."""

    ids: Ids
    classes: Ids
    test: float

    @property
    def majority(self) -> float:
        """One half: there are as many words of either class."""
        return 0.5

    @property
    def divided(self) -> bool:
        """The words, and the split, are drawn."""
        return True

    @property
    def shared(self) -> float:
        """The size of the test part over that of the training part."""
        return self.test / (1.0 - self.test)

    def score(self, source: Source, rng: Generator) -> Mapping[str, float]:
        """Train on as many words of either class; return accuracy and area under the curve."""
        from sklearn.metrics import roc_auc_score  # type: ignore[import-untyped]
        from sklearn.pipeline import make_pipeline  # type: ignore[import-untyped]
        from sklearn.preprocessing import StandardScaler  # type: ignore[import-untyped]
        from sklearn.svm import LinearSVC  # type: ignore[import-untyped]

        size = self.items // 2
        chosen = np.concatenate(
            [rng.permutation(np.flatnonzero(self.classes == each))[:size] for each in (0, 1)]
        )
        classes, rows = self.classes[chosen], source.vectors(self.ids[chosen])
        split = random_splits(classes, self.test, 1, rng)[0]
        machine = make_pipeline(StandardScaler(), LinearSVC(C=0.01, dual=False))
        machine.fit(rows[split.train], classes[split.train])
        truth = classes[split.test]
        scores = machine.decision_function(rows[split.test])
        return shares_right((scores > 0).astype(np.int64), truth) | {
            "auc": float(roc_auc_score(truth, scores))
        }

"""A classifier trained on private texts: how often it is right."""

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from malaprop.centroids import Centroids
from malaprop.lexicon.lexicon import Lexicon
from malaprop.privacy.arrays import Ids
from malaprop.privacy.errors import (
    DataError,
    MissingExtraError,
    ParameterError,
    entry,
    several_texts,
)
from malaprop.privacy.estimate import Estimate
from malaprop.privacy.progress import Progress, report
from malaprop.privacy.randomness import checked_rng, secure_rng
from malaprop.privatizer import Privatizer
from malaprop.text.missing import is_missing
from malaprop.text.parser import TextParser
from malaprop.text.policy import Policy

Rewrite = Callable[[list[str]], list[str]]
"""Anything that returns a private text for each text: fresh noise with every call."""


def private_copies(
    private: Privatizer | Rewrite,
    texts: Sequence[str],
    number: int,
    progress: Progress | None = None,
) -> list[list[str]]:
    """Return several private copies of some texts, each with noise of its own."""
    rewrite = private.texts if isinstance(private, Privatizer) else private
    copies = []
    for done in range(number):
        copies.append(rewrite(list(texts)))
        report(progress, done + 1, number)
    return copies


def random_words(lexicon: Lexicon, policy: Policy, rng: Generator) -> Rewrite:
    """Return what replaces each word by any word of the lexicon, all equally likely.

    What else a policy shows stays: the number of words, punctuation, public pieces. A number is
    replaced by a word, too.
    """
    words_only = Policy(
        unknown=policy.unknown,
        punctuation=policy.punctuation,
        placeholder=policy.placeholder,
        keep=policy.keep,
        markup=policy.markup,
        kinds="words",
    )
    parser = TextParser(lexicon.words, words_only)

    def rewrite(texts: list[str]) -> list[str]:
        templates, secrets = parser.parse(texts)
        return templates.fill(rng.integers(0, len(lexicon), size=len(secrets.ids)))

    return rewrite


_BUCKETS = 1 << 18  # of hashed n-grams
_FEATURES = 20_000  # n-grams of words, and as many of characters: the most frequent ones
_ITERATIONS = 1000
_TOKEN = r"\w+|[^\w\s]"  # noqa: S105  a pattern of words and marks


def require_sklearn(purpose: str = "Training a classifier") -> None:
    """Raise an error that names the extra, unless scikit-learn is installed."""
    try:
        import sklearn  # type: ignore[import-untyped]  # noqa: F401
    except ImportError:
        raise MissingExtraError("scikit-learn", "evaluate", purpose) from None


def trained(rows: Any, classes: Ids, *steps: Any) -> Any:
    """Return a classifier of scikit-learn that was trained on rows: the last of the steps."""
    from sklearn.pipeline import make_pipeline  # type: ignore[import-untyped]

    with warnings.catch_warnings():
        # What is not quite fitted, or has rare classes, has the score that it has.
        warnings.simplefilter("ignore")
        return make_pipeline(*steps).fit(rows, classes)


def text_regression(
    texts: Sequence[str], labels: Ids, *, characters: bool = True, weakness: float = 10.0
) -> Any:
    """Return a logistic regression on n-grams of words, and of characters, trained on texts.

    `weakness` is C, the inverse of the regularisation's strength: with a large one, the training
    texts are learnt by heart.
    """
    from sklearn.feature_extraction.text import (  # type: ignore[import-untyped]
        TfidfVectorizer,
    )
    from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]
    from sklearn.pipeline import make_union

    common = {"max_features": _FEATURES, "sublinear_tf": True, "lowercase": False}
    parts = [TfidfVectorizer(ngram_range=(1, 2), token_pattern=_TOKEN, **common)]
    if characters:
        parts.append(TfidfVectorizer(analyzer="char", ngram_range=(2, 4), **common))
    model = LogisticRegression(C=weakness, max_iter=300)
    try:
        return trained(texts, labels, make_union(*parts), model)
    except ValueError:  # its message could quote the texts
        raise DataError("The texts have no words to learn from.") from None


@dataclass(frozen=True)
class TextModel:
    """A way to turn texts into rows of numbers, and a classifier for these.

    Features depend on each text alone, so that they are computed once for all splits; what is
    learnt from the training texts is in the classifier.
    """

    name: str
    features: Callable[[list[str]], Any]
    """Returns a row of numbers for each text."""
    steps: Callable[[], list[Any]]
    """Returns what `trained` trains on these rows."""

    def predictions(self, train: Any, classes: Ids, *tests: Any) -> list[Ids]:
        """Train a classifier on some rows, and return the classes that it gives to others."""
        fitted = trained(train, classes, *self.steps())
        return [fitted.predict(rows) for rows in tests]


models: Mapping[str, str] = {
    "centroids": "logistic regression on the mean of the word vectors of the lexicon",
    "ngrams": "logistic regression on words and pairs of words (hashed TF-IDF)",
}
"""The models, and what each is."""


def model_named(name: str, lexicon: Lexicon) -> TextModel:
    """Return the model of that name for a lexicon; otherwise raise an error that suggests one.

    `ngrams` is what fastText does without subwords: a linear model of hashed word n-grams.
    """
    require_sklearn()
    entry("model", name, models)
    from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler  # type: ignore[import-untyped]

    if name == "centroids":
        centroids = Centroids(lexicon)
        return TextModel(
            name,
            lambda texts: centroids.of(texts)[0],
            lambda: [StandardScaler(), LogisticRegression(C=0.1, max_iter=_ITERATIONS)],
        )
    hashing = HashingVectorizer(
        ngram_range=(1, 2), n_features=_BUCKETS, alternate_sign=False, norm=None
    )
    return TextModel(
        name,
        hashing.transform,
        lambda: [
            TfidfTransformer(sublinear_tf=True),
            LogisticRegression(C=10.0, max_iter=_ITERATIONS),
        ],
    )


def plain_value(value: Any) -> Any:
    """Return figures, in mappings of any depth, as plain values for JSON."""
    if isinstance(value, Mapping):
        return {name: plain_value(each) for name, each in value.items()}
    if isinstance(value, tuple):
        return list(value)
    return value.to_dict() if isinstance(value, Estimate) else value


_FEWEST_TEXTS = 20
_FEWEST_OF_CLASS = 5
_MOST_CLASSES = 100  # beyond that, it is no column of classes, and models grow large


@dataclass(frozen=True, kw_only=True, eq=False)
class Split:
    """The places of the texts to train on and to test on."""

    train: Ids
    test: Ids

    @property
    def shared(self) -> float:
        """The size of the test part over that of the training part."""
        return len(self.test) / len(self.train)


def random_splits(classes: Ids, test: float, number: int, rng: Generator) -> list[Split]:
    """Return random splits with the same share of each class in both parts.

    A class of one text is in the training part only.
    """
    members = [np.flatnonzero(classes == each) for each in np.unique(classes)]
    tested = [min(len(each) - 1, max(1, round(len(each) * test))) for each in members]
    splits = []
    for _ in range(number):
        chosen = [rng.permutation(each)[:size] for each, size in zip(members, tested, strict=True)]
        places = np.sort(np.concatenate(chosen))
        splits.append(Split(train=np.setdiff1d(np.arange(len(classes)), places), test=places))
    return splits


def class_numbers(labels: Sequence[object], texts: int) -> Ids:
    """Return the class of each label as a number; refuse labels that no model can learn.

    Labels are the owner's data: no message shows one.
    """
    if len(labels) != texts:
        raise DataError(f"There must be a label for each text. Got {len(labels)} for {texts}.")
    for place, label in enumerate(labels, 1):
        if is_missing_label(label):
            raise DataError(f"Text {place:,} has no label: leave it out, or give it one.")
    if texts < _FEWEST_TEXTS:
        raise DataError(
            f"A classifier needs {_FEWEST_TEXTS} texts or more with labels. Got {texts}."
        )
    _, classes, sizes = np.unique(
        np.array([str(label) for label in labels]), return_inverse=True, return_counts=True
    )
    if len(sizes) < 2:
        raise DataError("All labels are the same: there is nothing to tell apart.")
    if len(sizes) > _MOST_CLASSES:
        raise DataError(
            f"There are {len(sizes):,} different labels, and a classifier takes up to "
            f"{_MOST_CLASSES}: name a column of classes."
        )
    if np.count_nonzero(sizes >= _FEWEST_OF_CLASS) < 2:
        raise DataError(
            f"Fewer than two of the {len(sizes):,} different labels occur {_FEWEST_OF_CLASS} times "
            "or more: name a column of classes."
        )
    return np.asarray(classes, dtype=np.int64)


def is_missing_label(label: object) -> bool:
    """Return whether there is no label: None, NaN, or nothing but whitespace."""
    return is_missing(label) or (isinstance(label, str) and not label.strip())


RUNS = 5
"""How many noise draws, each with a split of its own, a figure is an average of."""
TEST = 0.25
"""The share of texts to test on."""
_STEPS = (8, 4, 2)  # models also learn from each 8th, 4th and 2nd of their training texts


class Scores(NamedTuple):
    """The accuracies of a model."""

    accuracy: dict[str, Estimate]
    """By what it was tested on: `clean` and `private` texts."""
    by_texts: dict[str, Estimate]
    """On clean texts, by how many texts it was trained on."""


class Classification:
    """Texts with labels, and a model that learns to tell them apart.

    The model is trained on private texts, and tested on clean ones and on private ones. Three
    bounds stand beside the accuracy: the model trained and tested on clean texts (`unprotected`),
    the same model where each word is any word of the lexicon (`random_words`), and the share of
    the class that is most frequent in the training part (`majority`).

    There are `runs` runs. Each has noise of its own and a random split of its own, stratified by
    class, with a share of `test` to test on. All mechanisms get the same splits.

    `model` is `ngrams` or `centroids`. `policy` is that of the privatizer: it says what random
    words leave as it is. `rng` draws splits and random words.
    """

    def __init__(
        self,
        texts: Sequence[str],
        labels: Sequence[object],
        lexicon: Lexicon,
        *,
        model: str = "ngrams",
        runs: int = RUNS,
        test: float = TEST,
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
        self._splits = random_splits(self._classes, test, runs, rng)
        self._random = random_words(lexicon, policy or Policy(), rng)
        self.classes = int(self._classes.max()) + 1
        """How many different labels there are."""
        self.trained = len(self._splits[0].train)
        """How many texts a model is trained on."""
        self._shared = self._splits[0].shared
        self._steps = [step for step in _STEPS if self._can_learn_from(step)]

    @property
    def about_runs(self) -> str:
        draws = "one noise draw" if self.runs == 1 else f"{self.runs} noise draws"
        own = "with a random split" if self.runs == 1 else "each with a random split of its own"
        tested = len(self._splits[0].test)
        return f"{draws}, {own}: {self.trained:,} texts to train on and {tested:,} to test on"

    @cached_property
    def majority(self) -> Estimate:
        """The accuracy of always naming the most frequent class of the training part."""
        values = []
        for split in self._splits:
            most = np.bincount(self._classes[split.train]).argmax()
            values.append(float(np.mean(self._classes[split.test] == most)))
        return Estimate.of_runs(values, shared=self._shared)

    @cached_property
    def unprotected(self) -> Scores:
        """The accuracies with clean texts, trained and tested on."""
        return self._scored([self._clean] * self.runs, self._steps)

    @cached_property
    def random_words(self) -> dict[str, Estimate]:
        """The accuracies of the model trained on random words: `clean` and `private`."""
        copies = private_copies(self._random, self.texts, self.runs)
        return self._scored(map(self._model.features, copies), []).accuracy

    def scores(self, copies: Sequence[list[str]], progress: Progress | None = None) -> Scores:
        """Return the accuracies of models trained on private copies of the texts, one for each run.

        Draw the copies with `private_copies`: several models can share them. Tested on private
        texts, a model has the copy of its own run.
        """
        if len(copies) != self.runs or any(len(copy) != len(self.texts) for copy in copies):
            raise ParameterError("There must be one private copy of all texts for each run.")
        return self._scored(map(self._model.features, copies), self._steps, progress)

    def _scored(
        self, copies: Iterable[Any], steps: Sequence[int], progress: Progress | None = None
    ) -> Scores:
        """Train on the training part of each copy's rows, and on every so many texts of it."""
        runs = []
        for done, (split, rows) in enumerate(zip(self._splits, copies, strict=True), 1):
            tests = [self._clean[split.test], rows[split.test]]
            rights = self._rights(split, split.train, rows, *tests)
            for step in steps:
                rights += self._rights(split, split.train[::step], rows, tests[0])
            runs.append(rights)
            report(progress, done, self.runs)
        clean, private, *fewer = [
            Estimate.of_runs(values, shared=self._shared, tested=len(self._splits[0].test))
            for values in zip(*runs, strict=True)
        ]
        sizes = [str(len(self._splits[0].train[::step])) for step in (*steps, 1)]
        by_texts = dict(zip(sizes, (*fewer, clean), strict=True))
        return Scores({"clean": clean, "private": private}, by_texts)

    def _rights(self, split: Split, train: Ids, rows: Any, *tests: Any) -> list[float]:
        guesses = self._model.predictions(rows[train], self._classes[train], *tests)
        return [float(np.mean(each == self._classes[split.test])) for each in guesses]

    def _can_learn_from(self, step: int) -> bool:
        """Whether every so many of the training texts are enough, and of two classes or more."""
        parts = [split.train[::step] for split in self._splits]
        classes = min(len(np.unique(self._classes[part])) for part in parts)
        return len(parts[0]) >= _FEWEST_TEXTS and classes > 1

    @cached_property
    def _clean(self) -> Any:
        return self._model.features(self.texts)

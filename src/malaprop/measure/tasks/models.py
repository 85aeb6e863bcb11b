"""Models that classify texts: features of texts, and a linear classifier on them.

Features depend on each text alone, so that they are computed once for all splits. What is learnt
from the training texts is in the classifier.
"""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from malaprop.core.arrays import Ids
from malaprop.core.errors import MissingExtraError, ParameterError
from malaprop.core.suggest import did_you_mean
from malaprop.lexicon.lexicon import Lexicon
from malaprop.pipeline.centroids import Centroids

_BUCKETS = 1 << 18  # of hashed n-grams
_ITERATIONS = 1000
_registry: "dict[str, type[TextModel]]" = {}

models: "Mapping[str, type[TextModel]]" = MappingProxyType(_registry)
"""The models, by name."""


class TextModel(ABC):
    """A way to turn texts into numbers, and a classifier for these."""

    name: ClassVar[str] = ""
    summary: ClassVar[str] = ""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        _registry[cls.name] = cls

    @abstractmethod
    def __init__(self, lexicon: Lexicon) -> None: ...

    @abstractmethod
    def features(self, texts: list[str]) -> Any:
        """Return a row of numbers for each text."""

    @abstractmethod
    def classifier(self) -> Any:
        """Return a new classifier of scikit-learn for these rows."""

    def predictions(self, train: Any, classes: Ids, *tests: Any) -> list[Ids]:
        """Train a classifier on some rows, and return the classes that it gives to others."""
        with warnings.catch_warnings():
            # What is not quite fitted, or has rare classes, has the score that it has.
            warnings.simplefilter("ignore")
            fitted = self.classifier().fit(train, classes)
        return [fitted.predict(rows) for rows in tests]


class CentroidModel(TextModel):
    """Logistic regression on the mean of a text's word vectors, each dimension standardized."""

    name = "centroids"
    summary = "logistic regression on the mean of the word vectors of the lexicon"

    def __init__(self, lexicon: Lexicon) -> None:
        self._centroids = Centroids(lexicon)

    def features(self, texts: list[str]) -> Any:
        """Return the centroid of each text."""
        return self._centroids.of(texts)[0]

    def classifier(self) -> Any:
        """Return a logistic regression."""
        from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]
        from sklearn.pipeline import make_pipeline  # type: ignore[import-untyped]
        from sklearn.preprocessing import StandardScaler  # type: ignore[import-untyped]

        return make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=_ITERATIONS))


class NgramModel(TextModel):
    """Logistic regression on words and pairs of words, hashed and weighted by TF-IDF.

    It is what fastText does without subwords: a linear model of hashed word n-grams.
    """

    name = "ngrams"
    summary = "logistic regression on words and pairs of words (hashed TF-IDF)"

    def __init__(self, lexicon: Lexicon) -> None:
        pass

    def features(self, texts: list[str]) -> Any:
        """Return the hashed counts of the words and pairs of words of each text."""
        from sklearn.feature_extraction.text import (  # type: ignore[import-untyped]
            HashingVectorizer,
        )

        hashing = HashingVectorizer(
            ngram_range=(1, 2),
            n_features=_BUCKETS,
            alternate_sign=False,
            norm=None,
        )
        return hashing.transform(texts)

    def classifier(self) -> Any:
        """Return a logistic regression on TF-IDF."""
        from sklearn.feature_extraction.text import (
            TfidfTransformer,
        )
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline

        return make_pipeline(
            TfidfTransformer(sublinear_tf=True), LogisticRegression(C=10.0, max_iter=_ITERATIONS)
        )


def model_named(name: str, lexicon: Lexicon) -> TextModel:
    """Return the model of that name for a lexicon; otherwise raise an error that suggests one."""
    require_sklearn()
    cls = models.get(name)
    if cls is None:
        hint = did_you_mean(name, models, cutoff=0.4)
        raise ParameterError(f"Unknown model {name!r}.{hint} There are: {', '.join(models)}.")
    return cls(lexicon)


def require_sklearn() -> None:
    """Raise an error that names the extra, unless scikit-learn is installed."""
    try:
        import sklearn  # type: ignore[import-untyped]  # noqa: F401
    except ImportError:
        raise MissingExtraError("scikit-learn", "evaluate", "Training a classifier") from None

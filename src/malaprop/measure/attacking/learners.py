"""What attackers on labels train: a regression on n-grams, and Koppel's random subspaces.

All of it needs scikit-learn, the extra `evaluate`, which is imported when it is used.
"""

import re
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy import sparse

from malaprop.core.arrays import Floats, Ids
from malaprop.core.errors import DataError, MissingExtraError

Predictor = Callable[[Sequence[str]], Ids]
"""From texts to labels."""

_FEATURES = 20_000  # n-grams of words, and as many of characters: the most frequent ones
_STEPS = 300  # of the solver, at most
_GRAM = 4  # characters
_GRAMS = 100_000  # the most frequent ones, as in Koppel et al. 2011
_SUBSPACES = 100
_PART = 0.4  # of the n-grams, in each subspace
_MARKS = re.compile(r"[^\w\s]|_")
_TOKEN = r"\w+|[^\w\s]"  # noqa: S105  a pattern of words and marks


def require_sklearn() -> None:
    """Raise an error that names the extra unless scikit-learn is installed."""
    try:
        import_module("sklearn")
    except ImportError:
        raise MissingExtraError("scikit-learn", "evaluate", "An attack on labels") from None


def _sklearn(module: str) -> Any:
    require_sklearn()
    return import_module(f"sklearn.{module}")


def plain(text: str, *, punctuation: bool) -> str:
    """Return a text in small letters, and without punctuation if that is not wanted.

    >>> plain("Well, it's COLD!", punctuation=False)
    'well it s cold'
    """
    lowered = text.lower()
    return lowered if punctuation else " ".join(_MARKS.sub(" ", lowered).split())


def regression(
    texts: Sequence[str], labels: Ids, *, characters: bool = True, weakness: float = 10.0
) -> "Regression":
    """Train a logistic regression on n-grams of words, and of characters.

    `weakness` is C, the inverse of the regularisation's strength: with a large one, the training
    texts are learnt by heart.
    """
    extraction, linear = _sklearn("feature_extraction.text"), _sklearn("linear_model")
    common = {"max_features": _FEATURES, "sublinear_tf": True, "lowercase": False}
    parts = [extraction.TfidfVectorizer(ngram_range=(1, 2), token_pattern=_TOKEN, **common)]
    if characters:
        parts.append(extraction.TfidfVectorizer(analyzer="char", ngram_range=(2, 4), **common))
    features = _sklearn("pipeline").make_union(*parts)
    model = linear.LogisticRegression(C=weakness, max_iter=_STEPS)
    try:
        matrix = features.fit_transform(texts)
    except ValueError:  # its message could quote the texts
        raise DataError("The texts have no words to learn from.") from None
    with warnings.catch_warnings():  # that it has not converged, which matters little here
        warnings.simplefilter("ignore")
        model.fit(matrix, labels)
    return Regression(features, model)


class Regression:
    """A trained regression: labels of texts, and their probabilities."""

    def __init__(self, features: Any, model: Any) -> None:
        self._features, self._model = features, model

    def __call__(self, texts: Sequence[str]) -> Ids:
        """Return the likeliest label of each text."""
        return np.asarray(self._model.predict(self._features.transform(texts)), dtype=np.int64)

    def probabilities(self, texts: Sequence[str]) -> Floats:
        """Return the probability of each label, a row for each text."""
        return np.asarray(self._model.predict_proba(self._features.transform(texts)))


def grams(text: str) -> list[str]:
    """Return the character 4-grams of a text that contain no space, and its shorter words.

    >>> grams("the cats")
    ['the', 'cats']
    """
    pieces = []
    for word in text.split():
        pieces += [word[i : i + _GRAM] for i in range(max(1, len(word) - _GRAM + 1))]
    return pieces


def koppel(texts: Sequence[str], labels: Ids, rng: Generator) -> Predictor:
    """Train Koppel's method: the most similar author in most of 100 random subspaces.

    An author is the counts of 4-grams of all of the author's texts. In each subspace, of 40 % of
    the 4-grams, a text votes for the author of the largest cosine. Koppel, Schler and Argamon,
    "Authorship attribution in the wild", Language Resources and Evaluation 45 (2011).
    """
    counts = [Counter(grams(text)) for text in texts]
    total: Counter[str] = Counter()
    for count in counts:
        total.update(count)
    if not total:
        raise DataError("The texts have no words to learn from.")
    columns = {gram: column for column, (gram, _) in enumerate(total.most_common(_GRAMS))}
    authors = np.zeros((int(labels.max()) + 1, len(columns)))
    for label, row in zip(labels.tolist(), counts, strict=True):
        for gram, times in row.items():
            if gram in columns:
                authors[label, columns[gram]] += times
    masks = rng.random((_SUBSPACES, len(columns))) < _PART

    def predicted(others: Sequence[str]) -> Ids:
        return _votes(_matrix([Counter(grams(text)) for text in others], columns), authors, masks)

    return predicted


def _matrix(counts: Sequence[Counter[str]], columns: dict[str, int]) -> Any:
    """Return counts as a sparse matrix, a row for each text."""
    cells = [
        (row, columns[gram], count)
        for row, own in enumerate(counts)
        for gram, count in own.items()
        if gram in columns
    ]
    rows, places, values = np.array(cells, dtype=np.int64).reshape(-1, 3).T
    return sparse.csr_matrix((values.astype(float), (rows, places)), (len(counts), len(columns)))


def _votes(texts: Any, authors: Floats, masks: Any) -> Ids:
    """Return the author with the most votes of all subspaces, for each text.

    A text's own length in a subspace does not matter for which author is the most similar one.
    """
    votes = np.zeros((texts.shape[0], len(authors)))
    rows = np.arange(texts.shape[0])
    for mask in masks:
        own = authors * mask
        lengths = np.maximum(np.linalg.norm(own, axis=1), 1e-12)
        votes[rows, np.asarray(texts @ (own / lengths[:, None]).T).argmax(axis=1)] += 1
    return np.asarray(votes.argmax(axis=1), dtype=np.int64)

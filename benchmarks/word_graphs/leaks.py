"""What the metric gives away: the words it protects least, topics, parts of speech, rare words.

The posterior of a word: who sees an output y and knows how often words occur believes in w with
probability π(w)·p(y|w) / Σ_v π(v)·p(y|v). A word's exposure is the mean of that belief in the
true word over its outputs, Σ_y p(y|w)·posterior(w|y): how sure of it an observer is on average.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from ground import Ground
from laws import Curve
from wordlists import WordLists

from malaprop.mechanisms.balance import Balance
from malaprop.privacy.arrays import Floats, Ids

_BLOCK = 256
_TOPICS = 50


def exposure(curve: Curve, law: Balance, prior: Floats) -> tuple[Floats, Floats]:
    """Each word's mean posterior, and its largest one over all outputs."""
    size = len(prior)
    whole = np.zeros(size)
    for ids in _blocks(size):
        whole += prior[ids] @ _rows(curve, law, ids)
    mean, most = np.empty(size), np.empty(size)
    seen = np.maximum(whole, 1e-300)
    for ids in _blocks(size):
        chances = _rows(curve, law, ids)
        belief = chances * (prior[ids][:, None] / seen)
        mean[ids] = (chances * belief).sum(axis=1)
        most[ids] = np.where(chances > 0, belief, 0).max(axis=1)
    return mean, most


def _blocks(size: int) -> list[Ids]:
    return [np.arange(s, min(s + _BLOCK, size)) for s in range(0, size, _BLOCK)]


def _rows(curve: Curve, law: Balance, ids: Ids) -> Any:
    return curve.rows(law, curve.levels[ids], ids)


def topics(ground: Ground) -> Ids:
    """A topic for each word: 50 clusters of directions."""
    from sklearn.cluster import KMeans

    return np.asarray(KMeans(_TOPICS, n_init=1, random_state=0).fit_predict(ground.units))


def kept_traits(curve: Curve, law: Balance, lists: WordLists, topic: Any) -> dict[str, float]:
    """Shares of outputs *other than the word itself* that have a trait of it; and by chance."""
    ground = curve.ground
    ids, weights = ground.sample, law.weights / law.weights.sum()
    chances = curve.rows(law, curve.levels[ids], ids)
    chances[np.arange(len(ids)), ids] = 0.0
    moved = chances.sum(axis=1)
    traits = {
        "topic": topic[ids][:, None] == topic,
        "part of speech": (lists.parts[ids][:, None] & lists.parts) > 0,
        "function word or not": lists.function[ids][:, None] == lists.function,
    }
    rare = np.arange(len(ground)) >= len(ground) // 2
    traits["rarer half or not"] = rare[ids][:, None] == rare
    found = {}
    for name, same in traits.items():
        found[name] = float(((chances * same).sum(axis=1) / moved).mean())
        found[f"{name}, by chance"] = float((same @ weights).mean())
    return found


def by_rank(values: Floats, parts: int = 5) -> list[tuple[str, float]]:
    """Means over words of like frequency."""
    edges = np.linspace(0, len(values), parts + 1).astype(int)
    return [(f"{a + 1:,} to {b:,}", float(values[a:b].mean())) for a, b in pairwise(edges)]

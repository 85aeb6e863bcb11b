"""More of a few graphs and of the baselines: sentiment, and Zipf's prior instead of an even one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from ground import Ground
from laws import Curve, at_success
from sentiment import LawOfWords, Reviews
from tem import Tem
from variants import Variant, build
from wordlists import WordLists

from malaprop.privacy.arrays import Ids

SHARES = (0.5, 0.25, 0.1, 0.05)
_BLOCK = 128


def graph_rows(
    ground: Ground, variant: Variant, lists: WordLists, points: list[dict[str, Any]]
) -> Iterator[tuple[float, float, LawOfWords]]:
    """For each share of words kept: the share, ε, and the law's rows."""
    curve = Curve(ground, build(ground, variant, lists))
    for share in SHARES:
        epsilon = at_success(points, share).get("epsilon")
        if epsilon is None:
            continue
        law = curve.law(epsilon)

        def rows(ids: Ids, law: Any = law) -> Any:
            return curve.rows(law, curve.levels[ids], ids)

        yield law.kept, epsilon, rows


def tem_rows(
    ground: Ground, metric: str, points: list[dict[str, Any]]
) -> Iterator[tuple[float, float, LawOfWords]]:
    """The same of TEM; ε is the exponent there, since the audit does not matter to the rows."""
    tem = Tem(ground, metric)
    for share in SHARES:
        exponent = np.float32(at_success(points, share)["exponent"])

        def rows(ids: Ids, exponent: Any = exponent) -> Any:
            weights = np.exp(-exponent * tem.distances(ids))
            return weights / weights.sum(axis=1, keepdims=True)

        yield share, float(exponent), rows


def more(
    name: str,
    laws: Iterator[tuple[float, float, LawOfWords]],
    ground: Ground,
    reviews: Reviews,
) -> dict[str, Any]:
    """Sentiment (means of two draws) and Zipf's prior."""
    points = []
    for kept, epsilon, rows in laws:
        both = np.mean([reviews.accuracy(rows, seed) for seed in (0, 1)], axis=0)
        found = {"kept": kept, "epsilon": epsilon, "centroid": both[0], "terms": both[1]}
        points.append(found | zipf(ground, rows))
        print(name, {k: round(float(v), 3) for k, v in points[-1].items()}, flush=True)
    return {"name": name, "points": points}


def zipf(ground: Ground, rows: LawOfWords) -> dict[str, float]:
    """Bayes success under Zipf's prior, over all words; similarity and near words over a sample."""
    prior, best = ground.zipf.astype(np.float32), np.zeros(len(ground), dtype=np.float32)
    for start in range(0, len(ground), _BLOCK):
        ids = np.arange(start, min(start + _BLOCK, len(ground)))
        np.maximum(best, (rows(ids) * prior[ids][:, None]).max(axis=0), out=best)
    words, times = np.unique(ground.common, return_counts=True)
    cos, top = [], []
    for some in np.array_split(words, max(1, len(words) // _BLOCK)):
        chances = rows(some)
        similar = ground.units[some] @ ground.units.T
        cos.append(np.einsum("ij,ij->i", chances, similar))
        top.append(np.take_along_axis(chances, ground.near[some], axis=1).sum(axis=1))
    return {
        "zipf_success": float(best.sum(dtype=np.float64)),
        "zipf_cos": float(np.average(np.concatenate(cos), weights=times)),
        "zipf_top": float(np.average(np.concatenate(top), weights=times)),
    }

"""Shares of recovered words, and how sure they are."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from malaprop.core.arrays import Floats, Ids
from malaprop.core.space import blocks
from malaprop.measure.attacking.result import Group
from malaprop.measure.intervals import clopper_pearson

_RESAMPLES = 1000
FEW = 20
"""With fewer texts, runs of words are resampled."""
_RUN = 25  # words
_OCCURRENCES = (("once", 1, 1), ("twice", 2, 2), ("3 or 4 times", 3, 4), ("5 to 9 times", 5, 9))
_MANY = ("10 times or more", 10, np.iinfo(np.int64).max)

Flags = NDArray[np.bool_]


def share(hits: Flags) -> float:
    """Return the share of hits; 0 if there are none to count."""
    return float(hits.mean()) if hits.size else 0.0


def group(name: str, of: Flags, hits: Flags, kept: Flags) -> Group:
    """Return the shares among some words; hits may have a row for each draw of the noise."""
    return Group(
        name=name, words=int(of.sum()), score=share(hits[..., of]), kept=share(kept[..., of])
    )


def by_occurrence(same: Ids, hits: Flags, kept: Flags) -> tuple[Group, ...]:
    """Return the shares by how often a word occurs in its text; `same` labels equal words."""
    _, places, counts = np.unique(same, return_inverse=True, return_counts=True)
    times = counts[places] if len(same) else same
    groups = []
    for name, low, high in (*_OCCURRENCES, _MANY):
        chosen = (times >= low) & (times <= high)
        if chosen.any():
            groups.append(group(name, chosen, hits, kept))
    return tuple(groups)


def interval(hits: Flags, lengths: Ids, rng: Generator) -> tuple[float, float]:
    """Return a 95 % interval of the share of hits, by bootstrap over texts.

    `hits` has a row for each draw of the noise, or is one row. Draws are independent from text to
    text, so a text is resampled with all its draws: the interval then covers both what texts differ
    in and the noise. With fewer than 20 texts, runs of 25 words are resampled instead: neighbours
    share a context. A bootstrap over fewer than 20 runs, or over texts that are all alike, knows
    too little of what else could be: the interval is then no narrower than Clopper and Pearson's
    for as many independent words.
    """
    lengths, each = lengths[lengths > 0], np.atleast_2d(hits).mean(axis=0)
    if len(lengths) < FEW:
        lengths = np.diff(np.unique([*range(0, len(each), _RUN), *np.cumsum(lengths)]), prepend=0)
        lengths = lengths[lengths > 0]
    sums = np.add.reduceat(each, np.cumsum(lengths) - lengths)
    shares = []
    for part in blocks(_RESAMPLES, row_cells=len(lengths)):
        chosen = rng.integers(0, len(lengths), size=(part.stop - part.start, len(lengths)))
        shares.append(sums[chosen].sum(axis=1) / lengths[chosen].sum(axis=1))
    low, high = np.percentile(np.concatenate(shares), [2.5, 97.5])
    if len(lengths) < FEW or low == high:
        exact = clopper_pearson(each.sum(), len(each))
        low, high = min(low, exact[0]), max(high, exact[1])
    return float(low), float(high)


def interval_of_repeats(
    tested: Sequence[Ids], hits: Sequence[Flags], rng: Generator
) -> tuple[float, float]:
    """Return a 95 % interval of a share of hits over repeated splits, each with its own noise.

    `tested[r]` are the texts that repetition r tested, and `hits[r]` whether each was right. Texts
    and repetitions are resampled: a text is drawn, or not, in all repetitions alike.
    """
    size = 1 + max(int(places.max()) for places in tested)

    def resampled() -> float:
        weights = np.bincount(rng.integers(0, size, size), minlength=size)
        right = total = 0
        for r in rng.integers(0, len(tested), len(tested)).tolist():
            own = weights[tested[r]]
            right += int(own[hits[r]].sum())
            total += int(own.sum())
        return right / total if total else float(np.mean(hits[0]))

    return _percentiles(resampled)


def area(inside: Floats, outside: Floats) -> float:
    """Return the area under the curve: how often a member scores higher than another text."""
    from scipy.stats import rankdata

    ranks = rankdata(np.concatenate([inside, outside]))[: len(inside)]
    least = len(inside) * (len(inside) + 1) / 2
    return float((ranks.sum() - least) / (len(inside) * len(outside)))


def interval_of_areas(
    scores: Sequence[tuple[Floats, Floats]], rng: Generator
) -> tuple[float, float]:
    """Return a 95 % interval of the mean area: bootstrap over texts and repetitions."""

    def resampled() -> float:
        chosen = rng.integers(0, len(scores), len(scores)).tolist()
        return float(np.mean([area(*(_again(part, rng) for part in scores[r])) for r in chosen]))

    return _percentiles(resampled)


def _again(values: Floats, rng: Generator) -> Floats:
    return values[rng.integers(0, len(values), len(values))]


def _percentiles(resampled: Callable[[], float]) -> tuple[float, float]:
    low, high = np.percentile([resampled() for _ in range(_RESAMPLES)], [2.5, 97.5])
    return float(low), float(high)

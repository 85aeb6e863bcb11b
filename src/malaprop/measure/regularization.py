"""λ of the Mahalanobis mechanism by a grid: the best of one figure under a bound on another.

At one nominal ε, a larger λ weakens the guarantee in Euclidean distance. So each row of the result
has both ε: a λ that looks better may just be less private.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Ids
from malaprop.core.channel import Channel
from malaprop.core.errors import ParameterError
from malaprop.core.mechanism import Mechanism
from malaprop.core.progress import Progress, report
from malaprop.core.randomness import checked_rng, secure_rng
from malaprop.core.space import MetricSpace
from malaprop.measure.chosen_words import word_ids
from malaprop.measure.searching import SURE, share_of
from malaprop.measure.words.statistic import registry
from malaprop.measure.words.statistics import statistics_of
from malaprop.pipeline.choosing import mechanism_of_name

GRID = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""The λ that are tried by default."""
_WORDS = 256
_RUNS = 64


@dataclass(frozen=True, kw_only=True)
class LambdaRow:
    """What one λ does at the nominal ε."""

    regularization: float
    epsilon: float
    """The nominal ε, per unit of the Mahalanobis norm."""
    euclidean: float
    """The same guarantee per unit of Euclidean distance, ε/√λ_min(A)."""
    kept: float
    """The mean share of words that stay as they are."""
    similarity: float
    """The expected similarity of a word and its replacement."""
    within: bool
    """Whether the bound is kept to, the error of the sample counted in."""

    def to_dict(self) -> dict[str, Any]:
        """Return the row as plain values for JSON."""
        return vars(self).copy()


@dataclass(frozen=True, kw_only=True)
class LambdaChoice:
    """The best λ of a grid, and all rows of the grid."""

    regularization: float
    target: str
    rows: tuple[LambdaRow, ...]
    skipped: tuple[float, ...] = ()
    """λ at which the mechanism cannot be bound: the covariance is singular."""

    @property
    def best(self) -> LambdaRow:
        """The row of the best λ."""
        return next(row for row in self.rows if row.regularization == self.regularization)

    def to_dict(self) -> dict[str, Any]:
        """Return the choice as plain values for JSON."""
        return {
            "lambda": self.regularization,
            "epsilon": self.best.epsilon,
            "euclidean_epsilon": self.best.euclidean,
            "target": self.target,
            "grid": [row.to_dict() for row in self.rows],
            "skipped": list(self.skipped),
        }


def best_lambda(
    lexicon: MetricSpace,
    epsilon: float,
    *,
    kept: float | None = None,
    similarity: float | None = None,
    grid: Sequence[float] = GRID,
    clusters: int = 1,
    words: Sequence[str] | int | None = None,
    rng: Generator | None = None,
    progress: Progress | None = None,
) -> LambdaChoice:
    """Return the best λ of a grid for the Mahalanobis mechanism at one nominal ε.

    - `kept`: at most this share of words stays; the λ with the largest expected similarity.
    - `similarity`: at least this expected similarity; the λ at which fewest words stay.

    Both figures are estimated on up to 256 words (or `words`), with 64 draws each, and the bound
    holds with a one-sided confidence of 95 %. They describe; the guarantee is what the rows'
    `euclidean` says, and it differs between the rows.

    >>> from malaprop import Lexicon, seeded_rng
    >>> cloud = seeded_rng(1).normal(size=(40, 3)) * [9, 3, 1]
    >>> cloud = Lexicon([f"w{i}" for i in range(40)], cloud)
    >>> choice = best_lambda(cloud, 1.0, kept=0.5, grid=(0.0, 0.5, 0.9), rng=seeded_rng(2))
    >>> [round(row.euclidean, 2) for row in choice.rows]
    [1.0, 1.39, 2.82]
    """
    chosen = check_grid(grid, kept, similarity)
    name, bound = ("similarity", similarity) if kept is None else ("kept", kept)
    bound = share_of(name, bound)
    search = _Grid(lexicon, name, bound, words, secure_rng() if rng is None else checked_rng(rng))
    rows, skipped = [], []
    for place, value in enumerate(chosen):
        row = search.row(epsilon, value, clusters)
        if row is None:
            skipped.append(value)
        else:
            rows.append(row)
        report(progress, place + 1, len(chosen))
    best = search.best(rows)
    return LambdaChoice(
        regularization=best.regularization,
        target=search.target,
        rows=tuple(rows),
        skipped=tuple(skipped),
    )


class _Grid:
    """Measures one λ after the other under a bound."""

    def __init__(
        self,
        lexicon: MetricSpace,
        name: str,
        bound: float,
        words: Sequence[str] | int | None,
        rng: Generator,
    ) -> None:
        self._lexicon, self._name, self._bound, self._rng = lexicon, name, bound, rng
        self._ids: Ids = word_ids(lexicon, min(_WORDS, len(lexicon)) if words is None else words)

    @property
    def target(self) -> str:
        if self._name == "kept":
            return f"the largest similarity with at most {self._bound:g} of words kept"
        return f"the fewest words kept with a similarity of at least {self._bound:g}"

    def row(self, epsilon: float, value: float, clusters: int) -> LambdaRow | None:
        make: Any = mechanism_of_name("mahalanobis")
        made: Mechanism = make(epsilon=epsilon, regularization=value, clusters=clusters)
        try:
            channel = made.on(self._lexicon)
        except ParameterError:
            if value < 1.0:
                raise
            return None  # the covariance alone is singular
        kept, most = self._mean(channel, "kept", SURE)
        similarity, least = self._mean(channel, "similarity", -SURE)
        within = most <= self._bound if self._name == "kept" else least >= self._bound
        return LambdaRow(
            regularization=value,
            epsilon=channel.guarantee.epsilon,
            euclidean=channel.guarantee.in_metric("euclidean").epsilon,
            kept=kept,
            similarity=similarity,
            within=within,
        )

    def _mean(self, channel: Channel, name: str, deviations: float) -> tuple[float, float]:
        """Return the mean of a statistic, and its end on the unsafe side."""
        values = statistics_of(channel, self._ids, registry[name], _RUNS, self._rng)
        mean = float(np.mean(values))
        if len(values) < 2:
            return mean, mean
        return mean, mean + deviations * float(values.std(ddof=1)) / math.sqrt(len(values))

    def best(self, rows: Sequence[LambdaRow]) -> LambdaRow:
        within = [row for row in rows if row.within]
        if not within:
            shown = [getattr(row, self._name) for row in rows]
            reached = (min if self._name == "kept" else max)(shown, default=math.nan)
            raise ParameterError(
                f"No λ of the grid keeps to the bound ({self.target}): the nearest reaches "
                f"{reached:.4g}. Use another ε."
            )
        if self._name == "kept":
            return max(within, key=lambda row: row.similarity)
        return min(within, key=lambda row: row.kept)


def check_grid(grid: Sequence[float], kept: float | None, similarity: float | None) -> list[float]:
    """Return the numbers of a grid in order; refuse others, and a bound that is none."""
    if (kept is None) == (similarity is None):
        raise ParameterError("Choosing λ takes one bound: kept, or similarity.")
    share_of(*(("similarity", similarity) if kept is None else ("kept", kept)))
    values = [float(value) for value in grid]
    if not values or not all(0.0 <= value <= 1.0 for value in values):
        raise ParameterError("The grid of λ must have numbers from 0 to 1, at least one.")
    return sorted(set(values))

"""Laws on a graph over a range of ε, and what they give: one row of figures for each ε."""

from __future__ import annotations

from typing import Any

import numpy as np
from ground import Ground
from numpy.typing import NDArray

from malaprop.mechanisms.balance import Balance, Product, approach, balance, plain, solve
from malaprop.privacy.arrays import Floats, Ids
from malaprop.privacy.word_graph import WordGraph

GRID = (2.4, 1.9, 1.5, 1.25, 1.05, 0.9, 0.75)
_MARGIN = 1e-4
_SLOPE = 0.04
"""How far t is below ε: with a balance, and as a share of ε without, as in the package."""
LEAST = 0.045
"""Where the share of words kept is below it, smaller ε are left out."""


class DenseLevels:
    """K as a whole matrix in float32: fast to multiply with, good to explore with, not to ship."""

    def __init__(self, graph: WordGraph) -> None:
        self._steps = graph.unit * np.arange(256)
        self.levels = graph.levels(np.arange(graph.size))
        self._kernel = np.empty(self.levels.shape, dtype=np.float32)
        self._exponent = -1.0

    def __call__(self, exponent: float, exact: bool) -> Product:
        """The map for one t; there is one at a time."""
        if exponent != self._exponent:
            table = np.exp(-exponent * self._steps).astype(np.float32)
            for start in range(0, len(self.levels), 64):
                rows = slice(start, start + 64)
                np.take(table, self.levels[rows], mode="clip", out=self._kernel[rows])
            self._exponent = exponent
        return lambda x: (self._kernel @ np.asarray(x, dtype=np.float32)).astype(np.float64)


class Curve:
    """The laws of one graph, from large ε to small ones."""

    def __init__(self, ground: Ground, graph: WordGraph) -> None:
        self.ground, self.graph = ground, graph
        self.kernel = DenseLevels(graph)
        self.levels = self.kernel.levels
        steps = graph.unit * np.arange(graph.last + 1)
        self._steps = steps
        self._counts: Floats | None = None
        self.sampled = self.levels[ground.sample][:, : len(ground)]
        self.similar = ground.units[ground.sample] @ ground.units.T
        self._start = np.ones(graph.size)

    def law(self, epsilon: float) -> Balance:
        """The law that keeps most words; call it with ever smaller ε."""
        exponent = epsilon - _MARGIN
        found = solve(self.kernel, exponent, self._start, 5e-6)
        if found is None:
            exponent = epsilon * (1.0 - _SLOPE)
            found = approach(self.kernel, exponent, self._start)
        else:
            self._start = found
        law = balance(self.graph, self.kernel, epsilon, exponent, found)
        if law.form != "spread":
            return law
        return max([law, self.plain(epsilon)], key=lambda one: one.kept)

    def plain(self, epsilon: float) -> Balance:
        """ν = 1, audited: TEM on the graph."""
        if self._counts is None:
            last = self.graph.last + 1
            rows = (row[: len(self.ground)] for row in self.levels)
            self._counts = np.stack([np.bincount(r, minlength=last) for r in rows]).astype(float)
        counts = self._counts
        return plain(self.graph, epsilon, lambda t: counts @ np.exp(-t * self._steps))

    def rows(self, law: Balance, levels: NDArray[np.uint8], ids: Ids) -> Any:
        """Pr[y|w] for the words `ids`, whose levels are given."""
        table = np.exp(-law.exponent * self.graph.unit * np.arange(256)).astype(np.float32)
        near = table[levels]
        if law.scale is not None:
            near *= law.scale[ids].astype(np.float32)[:, None]
            near += (law.rest / law.weights.sum())[ids].astype(np.float32)[:, None]
        near *= law.weights.astype(np.float32)
        return near / near.sum(axis=1, keepdims=True)

    def figures(self, epsilon: float, law: Balance) -> dict[str, Any]:
        """What a law gives, over the sample."""
        ground, ids = self.ground, self.ground.sample
        chances = self.rows(law, self.sampled, ids)
        unit, near = self.graph.unit, ground.near[ids]
        steps = self.sampled * unit
        one = np.take_along_axis(steps, near[:, :1], axis=1)
        five = np.take_along_axis(steps, near[:, :5], axis=1)
        return {
            "epsilon": epsilon,
            "exponent": law.exponent,
            "form": law.form,
            "loss": law.loss(self.graph),
            "kept": law.kept,
            "random_share": float(law.rest.mean()),
            "worst": float(chances[np.arange(len(ids)), ids].max()),
            "cos": float(np.einsum("ij,ij->i", chances, self.similar).mean()),
            "top": float(np.take_along_axis(chances, near, axis=1).sum(axis=1).mean()),
            **odds("one", epsilon * one),
            **odds("five", epsilon * five),
            **odds("random", epsilon * steps[np.arange(len(ids)), ground.pairs]),
        }

    def points(self, grid: tuple[float, ...] = GRID) -> list[dict[str, Any]]:
        """Figures for each ε of a falling list, until hardly a word is kept."""
        found = []
        for epsilon in grid:
            law = self.law(epsilon)
            found.append(self.figures(epsilon, law))
            if law.kept < LEAST:
                break
        return found


def odds(name: str, nats: Any) -> dict[str, float]:
    """ε·d: mean, median and 95th percentile."""
    return {
        f"{name}_mean": float(np.mean(nats)),
        f"{name}_median": float(np.median(nats)),
        f"{name}_95": float(np.percentile(nats, 95)),
    }


def at_success(points: list[dict[str, Any]], wanted: float, by: str = "kept") -> dict[str, float]:
    """The figures where a share of words is kept, between the two nearest points; or nothing."""
    rows = sorted(points, key=lambda p: p[by])
    known = np.array([p[by] for p in rows])
    if not known[0] - 0.01 <= wanted <= known[-1] + 0.01:  # as good as there
        return {}
    names = [k for k, v in rows[0].items() if isinstance(v, float)]
    return {k: float(np.interp(wanted, known, [p[k] for p in rows])) for k in names}

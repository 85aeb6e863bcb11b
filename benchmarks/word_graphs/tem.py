"""The baseline: TEM with its exponent audited over all pairs, on two metrics of the vectors.

`raw`: Euclidean distance of GloVe's vectors. `chord`: that of the yardstick's directions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from ground import Ground
from laws import odds

from malaprop.privacy.arrays import Floats, Ids

METRICS = ("raw", "chord")
SHARES = (0.002, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75)
"""Of words kept: where TEM is measured."""
_BLOCK = 256


class Tem:
    """TEM on one metric, for a list of exponents at once."""

    def __init__(self, ground: Ground, metric: str) -> None:
        self.ground, self.metric = ground, metric
        points = ground.lexicon.vectors if metric == "raw" else ground.units
        self._points = points.astype(np.float32)
        self._squares = np.einsum("ij,ij->i", self._points, self._points)
        self._sampled = self.distances(ground.sample)
        self.exponents = self._exponents()

    def _exponents(self) -> list[float]:
        """t at which about a share of the words is kept, and where neighbours have given odds."""
        found = []
        for share in SHARES:
            low, high = 0.01, 40.0
            for _ in range(12):
                t = (low * high) ** 0.5
                kept = (1.0 / np.exp(np.float32(-t) * self._sampled).sum(axis=1)).mean()
                low, high = (t, high) if kept < share else (low, t)
            found.append(t)
        return found

    def distances(self, ids: Ids) -> Any:
        """Distances from words to all words; a word is at 0 from itself."""
        found = self._points[ids] @ self._points.T
        found *= -2.0
        found += self._squares
        found += self._squares[ids][:, None]
        np.sqrt(np.maximum(found, 0.0, out=found), out=found)
        found[np.arange(len(ids)), ids] = 0.0
        return found

    def _blocks(self) -> Iterator[tuple[Ids, Any]]:
        for start in range(0, len(self.ground), _BLOCK):
            ids = np.arange(start, min(start + _BLOCK, len(self.ground)))
            yield ids, self.distances(ids)

    def masses(self) -> Floats:
        """Z(w) for each exponent: (exponents, words)."""
        found = np.empty((len(self.exponents), len(self.ground)))
        for ids, rows in self._blocks():
            for k, t in enumerate(self.exponents):
                found[k, ids] = np.exp(np.float32(-t) * rows).sum(axis=1, dtype=np.float64)
        return found

    def losses(self, masses: Floats) -> Floats:
        """L(t) = t + the largest |ln Z(w) − ln Z(w')| / d(w, w'), over all pairs."""
        logs = np.log(masses).astype(np.float32)
        steep = np.zeros(len(logs))
        for ids, rows in self._blocks():
            rows[np.arange(len(ids)), ids] = np.inf
            np.divide(1.0, rows, out=rows)
            for k, log in enumerate(logs):
                steep[k] = max(steep[k], (np.abs(log[ids][:, None] - log) * rows).max())
        return np.array(self.exponents) + steep

    def points(self) -> list[dict[str, Any]]:
        """Figures for each exponent, as of a graph."""
        masses = self.masses()
        losses = self.losses(masses)
        ground, ids = self.ground, self.ground.sample
        rows = self._sampled
        similar = ground.units[ids] @ ground.units.T
        near = ground.near[ids]
        one = np.take_along_axis(rows, near[:, :1], axis=1)
        five = np.take_along_axis(rows, near[:, :5], axis=1)
        pairs = rows[np.arange(len(ids)), ground.pairs]
        found = []
        for t, loss, mass in zip(self.exponents, losses, masses, strict=True):
            chances = np.exp(np.float32(-t) * rows) / mass[ids][:, None].astype(np.float32)
            found.append(
                {
                    "epsilon": float(loss),
                    "exponent": t,
                    "form": "TEM",
                    "loss": float(loss),
                    "kept": float((1.0 / mass).mean()),
                    "worst": float((1.0 / mass).max()),
                    "cos": float(np.einsum("ij,ij->i", chances, similar).mean()),
                    "top": float(np.take_along_axis(chances, near, axis=1).sum(axis=1).mean()),
                    **odds("one", loss * one),
                    **odds("five", loss * five),
                    **odds("random", loss * pairs),
                }
            )
        return found

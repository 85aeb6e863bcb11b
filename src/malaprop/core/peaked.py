"""Laws whose loss from w to w' is largest at the output w: whole lexicons can be audited.

For these, the exact loss is a search over n² pairs, not over n² pairs and n outputs.
"""

import math
from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from malaprop.core.arrays import Floats, Ids
from malaprop.core.errors import ParameterError
from malaprop.core.guarantee import Guarantee
from malaprop.core.law import ClosedLoss, Law
from malaprop.core.loss import (
    NOTHING,
    Allowed,
    Worst,
    allowed_by,
    largest_ratio,
    log_ratio,
    normalised,
    rounding,
)
from malaprop.core.progress import Progress, report
from malaprop.core.proofs import proof_of
from malaprop.core.space import blocks

_METHOD = "all pairs, in closed form: the law is one whose loss from w to w' is largest at w"


@dataclass(frozen=True, eq=False)
class PeakedLaw(Law):
    """A law of the distances alone whose loss from w to w' is largest at the output w.

    A subclass needs a proof of that, and is marked with `proved`.
    """

    @abstractmethod
    def weights_at(self, distances: Floats) -> Floats:
        """Return ln of the unnormalised probabilities, from whole rows of distances."""

    def log_weights(self, ids: Ids) -> Floats:
        """Return the log-weights of whole rows."""
        return self.weights_at(self.space.distances(ids))

    @property
    def outputs_are_best_guesses(self) -> bool:
        """Whether the law is proved to be peaked.

        Pr[y | w]/Pr[y | w'] is largest at y = w, and 1 or more somewhere, so no word w' explains w
        better than w does.
        """
        return bool(proof_of(self))

    def closed_loss(self, guarantee: Guarantee, progress: Progress | None) -> ClosedLoss:
        """Compute the worst loss over all pairs, at the output w."""
        worst, metric = peak_loss(self, allowed_by(guarantee), progress)
        return ClosedLoss(worst=worst, proved=metric, method=_METHOD)


def require_exponent(exponent: float) -> None:
    """Refuse an exponent for which weights would not fall with the distance."""
    if not 0.0 < exponent < math.inf:
        raise ParameterError(f"The exponent of a law must be finite and above 0. Got {exponent}.")


def peak_loss(law: Law, allowed: Allowed, progress: Progress | None = None) -> tuple[Worst, bool]:
    """Return the worst pair at the output y = w, and whether the proof's assumptions look true.

    Those are that distances satisfy the triangle inequality, and that each w can stay w.

    Without a proof that the law is peaked, the result is a lower bound: an excess found is real,
    but a larger one may have been missed.
    """
    size = len(law.space)
    staying, metric = np.empty(size), True
    steps = blocks(size, row_cells=size)
    for done, block in enumerate(steps, 1):
        ids = np.arange(size)[block]
        rows, distances = _rows(law, ids)
        staying[block] = rows[np.arange(len(ids)), ids]
        metric = metric and _is_metric(distances, ids)
        report(progress, done, 2 * len(steps))
    worst = NOTHING
    for done, block in enumerate(steps, 1 + len(steps)):
        ids = np.arange(size)[block]
        rows, distances = _rows(law, ids)
        loss, bound = log_ratio(staying, rows), allowed(distances)
        ratio, row, word = largest_ratio(loss, bound, rounding(size))
        if ratio > worst.ratio:
            worst = Worst(
                ratio=ratio,
                loss=float(loss[row, word]),
                bound=float(bound[row, word]),
                pair=(word, int(ids[row])),
                output=word,
            )
        report(progress, done, 2 * len(steps))
    return worst, metric and bool(np.isfinite(staying).all())


def _rows(law: Law, ids: Ids) -> tuple[Floats, Floats]:
    """Return the log-probabilities and the distances of words `ids`."""
    distances = law.space.distances(ids)
    # Distances take the most time: compute them once.
    of_distances = isinstance(law, PeakedLaw) and type(law).log_weights is PeakedLaw.log_weights
    weights = law.weights_at(distances) if of_distances else law.log_weights(ids)  # type: ignore[attr-defined]
    return normalised(weights), distances


def _is_metric(distances: Floats, ids: Ids) -> bool:
    """Whether the triangle inequality holds between the first word, the others, and all words."""
    first, legs = distances[0], distances[0, ids][:, None]
    slack = 1e-9 * float(first.max())
    return bool((np.abs(distances - first).max(axis=1) <= legs[:, 0] + slack).all())

"""The audit of channels on paths: all outputs of all pairs, or all gaps in closed form.

Neither uses the formula of the balanced weights: both read the chances that the lags give, which
are what is drawn.
"""

import math
from dataclasses import replace

import numpy as np

from malaprop.core.arrays import Floats
from malaprop.core.loss import NOTHING, Worst, rounding, worst_of_law
from malaprop.core.paths.channel import ANY_TWO_VALUES, PathChannel
from malaprop.core.paths.law import PathLaw
from malaprop.core.progress import Progress
from malaprop.core.proofs import is_proved, proof_of
from malaprop.measure.finding import TOLERANCE, Audit

_SMALL = 300  # the most points for which all outputs of all pairs are computed
_ROUNDING = 2.0**-44  # nats; a dozen operations on numbers of up to 10³ nats


def audit_path(channel: PathChannel, progress: Progress | None = None) -> Audit:
    """Compute the worst loss of a channel on a path, and whether its guarantee is true."""
    size, reason = len(channel.path), _unproved(channel)
    worst, methods = NOTHING, []
    if size <= _SMALL:
        rows = channel.log_probabilities(np.arange(size))
        if not _is_law(rows, size):
            return _verdict(channel, NOTHING, "its rows are not the logarithms of a law", False)
        worst = _worst_pair(channel, rows, progress)
        methods.append("all outputs of all pairs")
    if is_proved(channel.law) and size > 1:
        by_gap = worst_gap(channel.law, channel.guarantee.epsilon)
        worst = max(worst, by_gap, key=lambda one: one.ratio)
        methods.append(f"all {size - 1:,} gaps of the path, in closed form")
    method = "; ".join(methods) + ("; but " if reason and methods else "") + reason
    return _verdict(channel, worst, method, not reason)


def _worst_pair(channel: PathChannel, rows: Floats, progress: Progress | None) -> Worst:
    """Compute every output of every pair: n³ steps."""
    bound = channel.guarantee.epsilon * channel.path.distances(np.arange(len(rows)))
    # The differences of rare outputs' log-probabilities have lost the last digits.
    rarest = float(np.abs(rows[np.isfinite(rows)]).max())
    slack = rounding(len(rows)) + 2.0**-51 * rarest
    return worst_of_law(rows, bound, slack=slack, progress=progress)


def worst_gap(law: PathLaw, epsilon: float) -> Worst:
    """Return the worst pair of neighbours of a path; losses add up along it.

    Outputs beyond both neighbours have a loss of exactly t·gap, one way or the other. What is left
    are the neighbours themselves.
    """
    weights, gaps = law.side_weights, law.path.gaps
    nats = law.rate * gaps
    at_left, at_right = weights.own[:-1] - weights.left[:-1], weights.own[1:] - weights.right[1:]
    losses = np.stack([nats + at_left, nats + at_right, -nats - at_left, -nats - at_right])
    computed = losses - _ROUNDING
    if len(gaps) > 1:  # without any rounding: there only the distances differ
        losses, computed = np.vstack([losses, nats]), np.vstack([computed, nats])
    ratios = computed / (epsilon * gaps)
    case, gap = divmod(int(ratios.argmax()), len(gaps))
    # The loss from a point to its right neighbour, or back, and the output that shows it.
    pairs = {0: (0, 1, 0), 1: (1, 0, 1), 2: (1, 0, 0), 3: (0, 1, 1)}
    beyond = (0, 1, -1) if gap else (1, 0, 2)
    first, second, output = (gap + place for place in pairs.get(case, beyond))
    return Worst(
        ratio=max(0.0, float(ratios[case, gap])),
        loss=float(losses[case, gap]),
        bound=float(epsilon * gaps[gap]),
        pair=(first, second),
        output=output,
    )


def _is_law(rows: Floats, size: int) -> bool:
    """Whether each row has a chance for each point, and they add up to 1."""
    if rows.shape != (size, size) or np.isnan(rows).any():
        return False
    return bool((np.abs(np.exp(rows).sum(axis=1) - 1.0) <= TOLERANCE).all())


def _unproved(channel: PathChannel) -> str:
    """Say why what the channel states need not be what it draws; empty if it is proved."""
    guarantee = channel.guarantee
    if not proof_of(channel) or not is_proved(channel.law):
        return "nothing proves that it draws from the law that it states"
    plain = guarantee.pairs == ANY_TWO_VALUES and guarantee.words == 1 and not guarantee.kinds
    if not is_proved(guarantee) or not plain or math.isfinite(guarantee.cap):
        return "its guarantee is not that of a value on a path"
    return ""


def _verdict(channel: PathChannel, worst: Worst, method: str, exact: bool) -> Audit:
    holds = worst.ratio <= 1.0 + TOLERANCE
    first, second = worst.pair
    result = Audit(
        worst_ratio=worst.ratio,
        at_most=worst.ratio if exact else math.inf,
        pair=None if first == second else (_point(first), _point(second)),
        output=_point(worst.output),
        holds=holds if exact or not holds else None,
        loss=worst.loss,
        allowed=worst.bound,
        method=method,
        guarantee=channel.guarantee,
    )
    return result if result.pair or exact else replace(result, worst_ratio=math.nan, output=None)


def _point(number: int) -> str:
    return f"point {number}"

"""Laws: the probability of each replacement of each word, a value to draw from and to audit.

The exact loss of a law is the largest log-ratio between two words, over all pairs and outputs:

    loss(w, w') = max over y of ln Pr[y|w] − ln Pr[y|w']

For a general law that is a search over n² pairs and n outputs. For a `PeakedLaw`, a proof says that
the maximum is attained at y = w.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.random import Generator

from malaprop.privacy.arrays import Floats, Ids, blocks, checked_ids
from malaprop.privacy.errors import ParameterError
from malaprop.privacy.guarantee import Guarantee, Kind, proof_of, proved, rounded_up
from malaprop.privacy.metrics import UNITS, MetricSpace, Path
from malaprop.privacy.progress import Progress, report
from malaprop.privacy.sampling import DEEPEST, Cuts, LawRows, exponentials, full_rows

Allowed = Callable[[Floats], Floats]
"""From distances to the losses that are allowed there, in nats."""
LossRows = Callable[[Ids], Floats]
"""From ids of words w to a row each: the losses against all words w', in nats."""


@dataclass(frozen=True, kw_only=True)
class Worst:
    """The pair of words and the output with the largest loss, relative to what is allowed."""

    ratio: float
    """The loss over what is allowed; infinite if nothing is allowed, or w' cannot give y."""
    loss: float
    """ln Pr[y|w] − ln Pr[y|w'], or the pair's δ."""
    bound: float
    pair: tuple[int, int]
    """w and w'."""
    output: int | None = None
    """y; None if outputs are vectors, or for a δ."""


NOTHING = Worst(ratio=0.0, loss=0.0, bound=0.0, pair=(0, 0), output=0)
"""The worst of an empty set of pairs."""


def allowed_by(guarantee: Guarantee) -> Allowed:
    """Return what a guarantee allows between two words, from their distances, in nats."""
    # For `none`, compare with what the promise would have been.
    if guarantee.kind is Kind.METRIC or (guarantee.kind is Kind.NONE and not guarantee.delta):
        return lambda d: guarantee.epsilon * np.minimum(d, guarantee.cap)
    return lambda d: np.where(d <= guarantee.radius, guarantee.epsilon, math.inf)


def rounding(size: int) -> float:
    """Bound the rounding error of a loss that was computed from `size` log-weights."""
    # Sums of `size` positive terms, a logarithm, and log-weights of up to 10³ nats.
    return float((size + 1024) * 2.0**-51)


def worst_of_law(
    law: Floats, bound: Floats, *, slack: float, progress: Progress | None = None
) -> Worst:
    """Return the worst pair of a law, ln Pr[y|w] in rows, given what is allowed for each pair.

    `slack` is subtracted from each loss: it bounds what rounding may have added.
    """
    worst = NOTHING
    for other in range(len(law)):
        ratios = _log_ratio(law, law[other])
        found = largest_ratio(ratios.max(axis=1)[None], bound[other][None], slack)
        word = found.pair[1]
        if found.ratio > worst.ratio and word != other:
            worst = replace(found, pair=(word, other), output=int(ratios[word].argmax()))
        report(progress, other + 1, len(law))
    return worst


def excess_delta(log_p: Floats, log_q: Floats, epsilon: float) -> float:
    """Return the exact δ between two laws at ε: Σ_y max(0, Pr[y|w] − e^ε·Pr[y|w'])."""
    return float(np.maximum(np.exp(log_p) - np.exp(log_q + epsilon), 0.0).sum())


def worst_delta(deltas: Iterable[tuple[float, int, int]], allowed: float) -> Worst:
    """Return the pair of the largest δ, given each pair's, and the δ that is allowed."""
    delta, first, second = max(deltas, key=lambda pair: pair[0], default=(0.0, 0, 0))
    ratio = delta / allowed if allowed else math.inf if delta else 0.0
    return Worst(ratio=ratio, loss=delta, bound=allowed, pair=(first, second))


def normalised(log_weights: Floats) -> Floats:
    """Return ln of the probabilities that are drawn from these weights, which it overwrites.

    A row that cannot be normalised becomes NaN.
    """
    with np.errstate(invalid="ignore"):
        log_weights -= log_weights.max(axis=1, keepdims=True)
        log_weights -= np.log(np.exp(log_weights).sum(axis=1, keepdims=True))
    return log_weights


def _log_ratio(log_p: Floats, log_q: Floats) -> Floats:
    """Return ln p − ln q, or −∞ where p is 0: an output that cannot occur reveals nothing."""
    with np.errstate(invalid="ignore"):
        ratios = log_p - log_q
    if np.isneginf(np.min(log_p)):
        ratios[np.broadcast_to(np.isneginf(log_p), ratios.shape)] = -math.inf
    return ratios


def largest_ratio(loss: Floats, bound: Floats, slack: float) -> Worst:
    """Return the largest loss/bound, the pair being its row and its column."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = (loss - slack) / bound
    if np.isnan(ratio.max()):  # ∞/∞: a pair that is not covered
        ratio = np.nan_to_num(ratio, nan=0.0, posinf=math.inf)
    at = divmod(int(ratio.argmax()), loss.shape[1])
    return Worst(ratio=float(ratio[at]), loss=float(loss[at]), bound=float(bound[at]), pair=at)


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """The worst pair of a channel, and how much it proves."""

    worst: Worst | None
    """None if nothing is known, for the reason that `doubt` gives."""
    method: str
    exact: bool = True
    """Whether it is proved that no pair is worse."""
    attained: bool = True
    """Whether the loss is one that occurs, not an upper bound."""
    doubt: str = ""
    """Why what was computed need not be what is drawn; empty if it is."""
    tolerance: float = 1e-9
    """How far the rounding of distances may push a ratio above 1."""


@dataclass(frozen=True, eq=False)
class Law(ABC):
    """The law of a word's replacement, on the words of a lexicon.

    A subclass is a frozen dataclass. It states the log-weights; draws and audits derive from them.

    >>> from malaprop import Guarantee, Kind, LawChannel, Lexicon, audit
    >>> class Even(Law):
    ...     def log_weights(self, ids):
    ...         return np.zeros((len(ids), len(self.space)))
    >>> tiny = Lexicon(["cold", "cool", "hot"], [[0.0], [1.0], [9.0]])
    >>> promise = Guarantee(kind=Kind.METRIC, epsilon=1.0, metric="euclidean")
    >>> audit(LawChannel(Even(tiny), promise)).holds
    True
    """

    space: MetricSpace

    symmetric: ClassVar[bool] = False
    """Whether the log-weight of y for w is that of w for y, so that rows give columns, too."""

    @abstractmethod
    def log_weights(self, ids: Ids) -> Floats:
        """Return ln of the unnormalised probability of each output: (len(ids), words)."""

    def log_probabilities(self, ids: Any) -> Floats:
        """Return ln Pr[y | w] for each word w of `ids` and each word y: (len(ids), words)."""
        weights = self.log_weights(checked_ids(ids, len(self.space)))
        logs: Floats = np.subtract(weights, weights.max(axis=1, keepdims=True), dtype=np.float64)
        # Row by row and in place: fresh memory takes longer than the sums.
        for row in logs:
            row -= np.log(np.exp(row).sum())
        return logs

    def staying(self, ids: Ids) -> Floats:
        """Return Pr[w | w] for each word w of `ids`; a figure to state, not to draw with."""
        return np.asarray(np.exp(self.log_probabilities(ids)[np.arange(len(ids)), ids]))

    def log_likelihoods(self, outputs: Ids) -> Floats | None:
        """Return ln Pr[y | w] for each output y and each word w: (len(outputs), words).

        These are columns of the law, as an observer needs them. None unless the law has a form
        for them that is cheaper than all of its rows.
        """
        return next(self.log_likelihood_parts(outputs, len(outputs)), None)

    def near_likelihoods(self, outputs: Ids) -> tuple[Ids, Ids, Floats] | None:
        """Return words that may well stand behind each output y, row after row; few for some.

        Return how many each output has, the words, and ln Pr[y | w] up to a term for each y. None
        if the law has no cheap form for them.
        """
        return None

    def log_likelihood_parts(self, outputs: Ids, count: int) -> Iterator[Floats]:
        """Yield `log_likelihoods` for `count` outputs at a time, if the law has a form for them."""
        return iter(())

    def likelihood_parts(self, outputs: Ids, count: int) -> Iterator[Floats]:
        """Yield Pr[y | w] for `count` outputs at a time, if the law has a form for them."""
        return map(np.exp, self.log_likelihood_parts(outputs, count))

    @property
    def outputs_are_best_guesses(self) -> bool:
        """Whether it is proved that no word gives an output more often than the output itself.

        Then Pr[y | w] ≤ Pr[y | y], and who takes all words for equally likely guesses what is seen.
        """
        return False

    def rows(self, ids: Ids, draws: Ids | None = None) -> LawRows:
        """Return the rows to draw from, which follow the law that `log_weights` states.

        `draws` says how many draws each row is for, one by default. It may change how the rows are
        represented, not their law.
        """
        return full_rows(self.log_weights(ids))

    @property
    def identity(self) -> tuple[object, ...]:
        """Numbers that determine the law beside mechanism and lexicon: a verified exponent."""
        return ()

    def closed_loss(self, guarantee: Guarantee, progress: Progress | None) -> Evidence | None:
        """Compute the worst loss on a whole lexicon, if a proof gives a closed form."""
        return None


def law_numerics(space: MetricSpace, spread: float, resting: int | None = None) -> str:
    """Say what floating-point numbers add to the loss of an exactly drawn word.

    `spread` is the largest difference of two log-weights. `resting` is the size of the rest of a
    row, by default the lexicon's size. docs/proofs/sampling.md bounds the error of a drawn
    log-probability, for all words except a set of total probability below 2⁻¹⁰⁰.
    """
    members = len(space) + (len(space) if resting is None else resting)
    magnitudes = min(spread / math.log(2.0), DEEPEST) + 2.0
    drawn = 8.0 * magnitudes * members * 2.0**-53
    distances = 4.0 * min(spread, 690.0) * space.metric.relative_error(space.vectors.shape[1])
    rare = ", except with probability 2⁻¹⁰⁰" if spread > 69.0 else ""
    added = rounded_up(2.0 * drawn + distances, digits=1)
    return f"float64; adds less than {added} to the loss of a word{rare}"


def require_exponent(exponent: float) -> None:
    """Refuse an exponent for which weights would not fall with the distance."""
    if not 0.0 < exponent < math.inf:
        raise ParameterError(f"The exponent of a law must be finite and above 0. Got {exponent}.")


@dataclass(frozen=True, eq=False)
class PeakedLaw(Law):
    """A law of the distances alone whose loss from w to w' is largest at the output w.

    A subclass needs a proof of that, and is marked with `proved`. Whole lexicons can be audited:
    the exact loss is a search over n² pairs, not over n² pairs and n outputs.
    """

    @abstractmethod
    def weights_at(self, distances: Floats) -> Floats:
        """Return ln of the unnormalised probabilities, from whole rows of distances."""

    def log_weights(self, ids: Ids) -> Floats:
        return self.weights_at(self.space.distances(ids))

    @property
    def outputs_are_best_guesses(self) -> bool:
        """Whether the law is proved to be peaked.

        Pr[y | w]/Pr[y | w'] is largest at y = w, and 1 or more somewhere, so no word w' explains w
        better than w does.
        """
        return bool(proof_of(self))

    def closed_loss(self, guarantee: Guarantee, progress: Progress | None) -> Evidence:
        worst, metric = peak_loss(self, allowed_by(guarantee), progress)
        method = "all pairs, in closed form: the law is one whose loss from w to w' is largest at w"
        return Evidence(worst=worst, exact=metric, method=method if metric else LOWER_BOUND)


LOWER_BOUND = "all pairs, at the output w only: a lower bound, with no proof that it is the worst"
"""What a computation at y = w is without a proof."""


def peak_loss(law: Law, allowed: Allowed, progress: Progress | None = None) -> tuple[Worst, bool]:
    """Return the worst pair at the output y = w, and whether the proof's assumptions look true.

    Those are that distances satisfy the triangle inequality, and that each w can stay w.

    Without a proof that the law is peaked, the result is a lower bound: an excess found is real,
    but a larger one may have been missed.
    """
    size = len(law.space)
    # Distances take the most time: compute them once.
    of_distances = isinstance(law, PeakedLaw) and type(law).log_weights is PeakedLaw.log_weights

    def rows_of(ids: Ids) -> tuple[Floats, Floats]:
        distances = law.space.distances(ids)
        weights = law.weights_at(distances) if of_distances else law.log_weights(ids)  # type: ignore[attr-defined]
        return normalised(weights), distances

    staying, metric = np.empty(size), True
    steps = [np.arange(size)[block] for block in blocks(size, row_cells=size)]
    for done, ids in enumerate(steps, 1):
        rows, distances = rows_of(ids)
        staying[ids] = rows[np.arange(len(ids)), ids]
        metric = metric and _is_metric(distances, ids)
        report(progress, done, 2 * len(steps))
    worst = NOTHING
    for done, ids in enumerate(steps, 1 + len(steps)):
        rows, distances = rows_of(ids)
        loss, bound = _log_ratio(staying, rows), allowed(distances)
        found = largest_ratio(loss, bound, rounding(size))
        if found.ratio > worst.ratio:
            row, word = found.pair
            worst = replace(found, pair=(word, int(ids[row])), output=word)
        report(progress, done, 2 * len(steps))
    return worst, metric and bool(np.isfinite(staying).all())


def _is_metric(distances: Floats, ids: Ids) -> bool:
    """Whether the triangle inequality holds between the first word, the others, and all words."""
    first = distances[0]
    slack = 1e-9 * float(first.max())
    return bool((np.abs(distances - first).max(axis=1) <= first[ids] + slack).all())


_SLACK = 1.0 + 1e-12  # relative rounding error of a lag that was computed elsewhere
_USUAL = 70.0  # nats; longer walks are rarer than 2⁻¹⁰⁰


class SideWeights(NamedTuple):
    """ln of the factors of e^(−t·d) in the law, for each output; equal if the law is balanced."""

    left: Floats
    """For outputs to the left of the input."""
    own: Floats
    """For the input itself: the chance to keep it."""
    right: Floats
    """For outputs to the right of the input."""


@proved("docs/proofs/kinds.md")
@dataclass(frozen=True, eq=False)
class PathLaw:
    """Laplace noise in nats on a path, rounded to its points at cuts that each gap's lag sets.

    With the lags −ln((1 + q)/2), q = e^(−t·gap), it is Pr[y|x] = ν(y)·e^(−t·d(x, y)), where
    ν = (1 − q_l·q_r)/((1 + q_l)(1 + q_r)) and q_l, q_r belong to the gaps beside y, 0 at an end.

    >>> law = PathLaw.balanced(Path.even(3), rate=1.0)
    >>> np.exp(law.log_probabilities([0])).round(4)
    array([[0.7311, 0.17  , 0.0989]])
    """

    path: Path
    rate: float
    """t, nats per step."""
    lags: Floats
    """For each gap, how many nats before its far end a walk already counts as arrived there."""

    def __post_init__(self) -> None:
        lags = np.array(self.lags, dtype=np.float64)
        bounds = np.minimum(math.log(2.0), self.rate * self.path.gaps / 2.0) * _SLACK
        if lags.shape != bounds.shape or not ((lags >= 0.0) & (lags <= bounds)).all():
            raise ParameterError(
                "The lags of a law on a path must lie between 0 and half of their gap, in nats."
            )
        lags.flags.writeable = False
        object.__setattr__(self, "lags", lags)

    @classmethod
    def balanced(cls, path: Path, rate: float) -> Self:
        """Make the law whose loss is exactly rate·d."""
        # −ln((1 + q)/2) without cancellation; between 0 and ln 2
        lags = -np.log1p(np.expm1(-rate * path.gaps) / 2.0)
        return cls(path, rate, np.minimum(lags, math.log(2.0)))

    @cached_property
    def side_weights(self) -> SideWeights:
        """The factors of e^(−t·d) that these lags give: what is drawn, not what should be."""
        nats = self.rate * self.path.gaps
        # From one cut to the next, in nats: to the right past points 0 … n − 2, to the left past
        # points 1 … n − 1; beyond the last cut all is left.
        before, after = np.append(0.0, self.lags), np.append(self.lags, 0.0)
        stay_right = np.append(nats - self.lags, math.inf)
        stay_left = np.append(math.inf, nats - self.lags)
        half = math.log(2.0)
        return SideWeights(
            left=after - half + np.log(-np.expm1(-(stay_left + after))),
            own=np.log((np.expm1(-stay_left) + np.expm1(-stay_right)) / -2.0),
            right=before - half + np.log(-np.expm1(-(stay_right + before))),
        )

    def log_probabilities(self, ids: Any) -> Floats:
        points = self.path.checked(ids)
        weights, every = self.side_weights, np.arange(len(self.path))
        rows = np.where(every < points[:, None], weights.left, weights.right)
        rows[np.arange(len(points)), points] = weights.own[points]
        rows -= self.rate * self.path.distances(points)
        return rows

    def draw(self, ids: Ids, rng: Generator) -> Ids:
        nats, right = exponentials(len(ids), rng)
        return self.cuts.walk(ids, nats * (UNITS / self.rate), right)

    @cached_property
    def cuts(self) -> Cuts:
        """Where walks pass on from point to point, in units of the path."""
        places = self.path.positions
        length = int(places[-1] - places[0])
        left = (places[-1] - places)[::-1] + 4 * (length + 1)  # out of any walk's reach
        positions = np.concatenate([places - places[0], left])
        # A cut lies between the middle of its gap and the point itself: this keeps their order.
        before = np.minimum(self.lags * (UNITS / self.rate), np.diff(places) / 2.0)
        both = np.concatenate([[0.0], before, [0.0], before[::-1]])
        up = np.ceil(both)
        return Cuts(positions, positions - up.astype(np.int64), up - both, float(length + 1))

    @property
    def numerics(self) -> str:
        """What floating-point numbers add to the loss of a value; see docs/proofs/kinds.md."""
        if len(self.path) == 1:
            return "nothing is drawn: there is one value only"
        return path_numerics(self.rate, self.path.length, float(self.path.gaps.min()))

    def __reduce__(self) -> tuple[type["PathLaw"], tuple[Path, float, Floats]]:
        return type(self), (self.path, self.rate, self.lags)  # without the cuts


def path_numerics(rate: float, length: float, gap: float) -> str:
    """Say what floating-point numbers add on paths up to so long, with gaps from `gap` steps on."""

    def added(walked: float) -> float:
        # 2·(1 + 2h·(1 + 2/(t·g)))·16·2⁻⁵³, and a hundredth for terms of second order
        return 2.02 * 16.0 * 2.0**-53 * (1.0 + 2.0 * walked + 4.0 * walked / (rate * gap))

    bound, rare = added(rate * length), ""
    if rate * length > _USUAL and bound > 1e-9:
        bound, rare = added(_USUAL), ", except with probability 2⁻¹⁰⁰"
    return f"float64; adds less than {rounded_up(bound, digits=1)} to the loss of a value{rare}"

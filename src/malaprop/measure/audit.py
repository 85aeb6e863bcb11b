"""The exact audit: the worst loss of a channel over all pairs of words and all outputs.

The audit reads the law or the noise that a channel states, which is what the channel draws from. It
says that a guarantee `holds` only if it has computed every pair, and if the classes of all parts
are marked as proved. A pair that exceeds the guarantee is a finding in any case. The audit trusts
the proofs in docs/proofs/ and the lexicon's metric.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from types import MethodType

import numpy as np

from malaprop.measure.neighbourhoods import nearest_other_words
from malaprop.privacy.arrays import Floats, Ids, blocks
from malaprop.privacy.channel import (
    ANY_TWO_VALUES,
    Channel,
    LawChannel,
    PathChannel,
    VectorChannel,
    checked_channel,
)
from malaprop.privacy.errors import ParameterError
from malaprop.privacy.estimate import word_ids
from malaprop.privacy.gaussian_noise import spherical_delta
from malaprop.privacy.guarantee import (
    ANY_TWO_WORDS,
    EACH_WORD,
    Guarantee,
    Kind,
    is_proved,
    proof_of,
)
from malaprop.privacy.law import (
    NOTHING,
    Allowed,
    Law,
    LossRows,
    PathLaw,
    Worst,
    allowed_by,
    excess_delta,
    normalised,
    peak_loss,
    rounding,
    worst_of_law,
)
from malaprop.privacy.metrics import NAMED, DistanceRows
from malaprop.privacy.noise import ExponentialDensity, GaussianDensity, Noise
from malaprop.privacy.progress import Progress, report
from malaprop.privacy.sampling import LawRows, Rest
from malaprop.privacy.word_graph import Steps

# The result of an audit.


TOLERANCE = 1e-9
"""How far the rounding of distances may push a ratio above 1."""


@dataclass(frozen=True, kw_only=True)
class Audit:
    """The result of an audit; `str()` says it in words."""

    worst_ratio: float
    """The worst loss over what the guarantee allows for that pair: at most 1 if it is true.

    For a guarantee with a δ, it is the worst true δ over the δ allowed. NaN if nothing is known.
    """
    at_most: float
    """An upper bound on the worst ratio: the ratio itself, or infinite if nothing is proved."""
    pair: tuple[str, str] | None
    """The two words that are easiest to tell apart."""
    output: str | None
    """The output that tells them apart best; None if outputs are vectors."""
    holds: bool | None
    """Whether the guarantee is true; None if that is undecided."""
    loss: float
    """The loss of that pair in nats, or its δ."""
    allowed: float
    """What the guarantee allows for that pair."""
    method: str
    """How it was computed."""
    guarantee: Guarantee

    def __str__(self) -> str:
        verdict = {True: "holds", False: "FAILS", None: "not decided"}[self.holds]
        lines = [f"verdict      {verdict}", f"method       {self.method}"]
        if self.pair is not None:
            what = "δ" if self.guarantee.delta else "loss"
            at = "" if self.output is None else f", at the output {self.output}"
            told = f"{what} {self.loss:.6g} where {self.allowed:.6g} is allowed"
            lines += [
                f"worst pair   {self.pair[0]} and {self.pair[1]}{at}",
                f"worst ratio  {self.worst_ratio:.6g}: {told}",
            ]
        return "\n".join([*lines, f"guarantee    {self.guarantee}"])

    @property
    def fails(self) -> bool:
        """Whether the guarantee is shown to be false."""
        return self.holds is False

    def to_dict(self) -> dict[str, object]:
        """Return the result as plain values for JSON; `null` for what is unknown or infinite."""
        numbers = ("worst_ratio", "at_most", "loss", "allowed")
        finite = {
            name: value if math.isfinite(value := getattr(self, name)) else None for name in numbers
        }
        return {
            "holds": self.holds,
            **finite,
            "pair": None if self.pair is None else list(self.pair),
            "output": self.output,
            "method": self.method,
            "guarantee": str(self.guarantee),
        }


def audit_result(
    channel: Channel,
    worst: Worst,
    *,
    exact: bool,
    method: str,
    tolerance: float = TOLERANCE,
    words: bool = True,
) -> Audit:
    """Turn a worst loss into a verdict: "holds" only if it is `exact`, so that none is larger."""
    names, holds = channel.lexicon.words, worst.ratio <= 1.0 + tolerance
    decided = exact or not holds
    if channel.guarantee.kind is Kind.NONE:
        decided, method = False, f"{method}; compared with ε·d, since nothing is promised"
    first, second = worst.pair
    return Audit(
        worst_ratio=worst.ratio,
        at_most=worst.ratio if exact else math.inf,
        pair=None if first == second else (names[first], names[second]),
        output=names[worst.output] if words else None,
        holds=holds if decided else None,
        loss=worst.loss,
        allowed=worst.bound,
        method=method,
        guarantee=channel.guarantee,
    )


def delta_finding(
    channel: Channel, worst: tuple[float, int, int] | None, method: str, unproved: str = ""
) -> Audit:
    """Turn a worst δ into a verdict: "holds" only if nothing is `unproved`."""
    if worst is None:
        return undecided_audit(channel, "no pair of words is covered")
    delta, first, second = worst
    words, allowed = channel.lexicon.words, channel.guarantee.delta
    ratio = delta / allowed if allowed else math.inf if delta else 0.0
    result = Audit(
        worst_ratio=ratio,
        at_most=math.inf if unproved else ratio,
        pair=(words[first], words[second]),
        output=None,
        holds=delta <= allowed * (1.0 + TOLERANCE),
        loss=delta,
        allowed=allowed,
        method=method,
        guarantee=channel.guarantee,
    )
    if channel.guarantee.kind is Kind.NONE:
        return replace(result, holds=None, method=f"{method}; nothing is promised")
    if result.holds and unproved:
        return replace(result, holds=None, method=f"{method}; but {unproved}")
    return result


def undecided_audit(channel: Channel, reason: str) -> Audit:
    """Return an audit without a verdict, and the reason as its method."""
    return Audit(
        worst_ratio=math.nan,
        at_most=math.inf,
        pair=None,
        output=None,
        holds=None,
        loss=math.nan,
        allowed=math.nan,
        method=reason,
        guarantee=channel.guarantee,
    )


# Which pairs of words a guarantee covers, what it allows between them, and what exceeds it.


def coverage(channel: Channel) -> Floats | None:
    """Return what the guarantee allows between any two words, in nats; infinite if not covered.

    None if that is unknown, because the neighbourhoods or the metric are.
    """
    rows = allowance(channel)
    if rows is None:
        return None
    allowed = rows(np.arange(len(channel.lexicon)))
    if not (allowed >= 0.0).all():  # NaN, or a user's function that is not a metric
        return None
    return np.minimum(allowed, allowed.T)  # a pair is covered either way round


def covers_any(bound: Floats) -> bool:
    """Whether the allowed loss is finite for some pair of different words."""
    return bool(np.isfinite(bound[~np.eye(len(bound), dtype=np.bool_)]).any())


def allowance(channel: Channel) -> LossRows | None:
    """Return a function from ids to rows of `coverage`; None if those are unknown."""
    guarantee = channel.guarantee
    if guarantee.kind is Kind.NEIGHBOURHOOD:
        return _within(channel)
    distances = _distances(channel, guarantee.metric)
    if distances is None:
        return None
    statements: list[tuple[Allowed, DistanceRows]]
    statements = [(allowed_by(guarantee), distances)]
    for name, _ in guarantee.equivalents:  # each of them is a promise as well
        further = _distances(channel, name)
        if further is None:
            return None
        statements.append((allowed_by(guarantee.in_metric(name)), further))

    def rows(ids: Ids) -> Floats:
        return np.asarray(np.min([allowed(far(ids)) for allowed, far in statements], axis=0))

    return rows


def _within(channel: Channel) -> LossRows | None:
    """Return what is allowed in public neighbourhoods, up to the guarantee's radius."""
    guarantee, neighbourhoods = channel.guarantee, channel.neighbourhoods
    distances = _distances(channel, guarantee.metric)
    if neighbourhoods is None or distances is None:
        return None
    allowed = allowed_by(guarantee)
    return lambda ids: np.where(neighbourhoods.covers(ids), allowed(distances(ids)), math.inf)


def _distances(channel: Channel, name: str) -> DistanceRows | None:
    """Return distances to all words in the named metric; None if it is unknown."""
    lexicon = channel.lexicon
    if name in NAMED:  # not the lexicon's own metric, which may just have the same name
        return NAMED[name].on(lexicon.vectors)
    if name == str(lexicon.metric):
        real = name != Steps.name or is_proved(lexicon.metric)
        return lexicon.metric.on(lexicon.vectors) if real else None
    metrics = channel.noise.metrics if isinstance(channel, VectorChannel) else {}
    return metrics[name].on(lexicon.vectors) if name in metrics else None


def worse(
    worst: Worst, loss: Floats, bound: Floats, *, slack: float = 0.0, first: int = 0
) -> Worst:
    """Return `worst`, or a worse pair among rows of losses that start at the word `first`.

    `slack` is subtracted from each loss: it bounds what rounding may have added.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.nan_to_num((loss - slack) / bound, nan=0.0, posinf=math.inf, neginf=0.0)
    row, other = divmod(int(ratio.argmax()), ratio.shape[1])
    if ratio[row, other] <= worst.ratio:
        return worst
    return Worst(
        ratio=float(ratio[row, other]),
        loss=float(loss[row, other]),
        bound=float(bound[row, other]),
        pair=(first + row, other),
        output=0,
    )


# The audit of channels that add noise to vectors.
#
# The loss of the vectors is known in closed form, for any number of words and dimensions. It
# decides: decoding is post-processing, so words reveal no more.


_BLURRED = 1e-6  # a rounding error, as a share or in nats, that could hide an excess
_METHOD = "the noisy vectors of all pairs, in closed form; words tell no more"

UNPROVED = "what it draws is not proved: a part of it has no proof, or is derived from one that has"


def draws_its_noise(channel: VectorChannel[Noise]) -> bool:
    """Whether all parts are proved: the channel, its noise, its decoder and its lexicon."""
    parts = (channel.noise, channel.decoder, channel.lexicon, channel.lexicon.metric)
    return bool(proof_of(channel)) and all(is_proved(part) for part in parts)


def audit_vectors(channel: VectorChannel[Noise], progress: Progress | None) -> Audit:
    """Compare the loss of noisy vectors with what a guarantee without δ allows."""
    guarantee, allowed = channel.guarantee, allowance(channel)
    if guarantee.kind not in (Kind.METRIC, Kind.NONE) or guarantee.delta or allowed is None:
        return undecided_audit(
            channel, "there is no exact computation for this channel's guarantee"
        )
    noise = channel.noise.density(channel.lexicon) if draws_its_noise(channel) else None
    if not isinstance(noise, ExponentialDensity):
        return undecided_audit(channel, UNPROVED)
    if not noise.is_sane:
        return undecided_audit(
            channel, "its parameters do not describe noise: a scale must be above 0"
        )
    share, nats = noise.rounding
    tolerance = TOLERANCE + share
    worst = _worst_vectors(noise.loss(), allowed, nats, len(channel.lexicon), progress)
    if worst is None:
        return undecided_audit(channel, "its losses, or the distances of words, are not numbers")
    result = audit_result(
        channel, worst, exact=True, method=_METHOD, tolerance=tolerance, words=False
    )
    if worst.ratio > 1.0 + tolerance:
        loose = "only an upper bound of the loss is known, and it exceeds the guarantee"
        return result if noise.is_attained else undecided_audit(channel, loose)
    if max(share, nats) > _BLURRED:
        return undecided_audit(
            channel, "its shape is so narrow that float64 cannot compute its loss"
        )
    return result


def _worst_vectors(
    loss: LossRows, allowed: LossRows, slack: float, size: int, progress: Progress | None
) -> Worst | None:
    """Return the worst pair; None if a loss is NaN, or an allowed loss is NaN or below 0."""
    worst, steps = NOTHING, blocks(size, row_cells=size)
    for done, block in enumerate(steps, 1):
        ids = np.arange(size)[block]
        losses_here, bounds = loss(ids), allowed(ids)
        if np.isnan(losses_here).any() or not (bounds >= 0.0).all():
            return None
        worst = worse(worst, losses_here, bounds, slack=slack, first=int(ids[0]))
        report(progress, done, len(steps))
    return worst


# The exact δ of pairs of words with Gaussian noise.


def unproved(channel: VectorChannel[Noise], sigmas: Floats, covers: Floats) -> str:
    """Say why the stated σ prove nothing about what is released; empty if they do."""
    if not draws_its_noise(channel):
        return UNPROVED
    # Rounding is post-processing only if both words are rounded alike. And for two different σ, δ
    # comes from noncentral χ² laws, for which no error bound is proved.
    if (np.isfinite(covers) & (sigmas[:, None] != sigmas)).any():
        return (
            "it covers words of different σ, whose grids differ: that may exceed the δ of the noise"
        )
    return ""


def worst_gaussians(density: GaussianDensity, covers: Floats) -> tuple[float, int, int] | None:
    """Return the largest δ of all covered pairs, and the pair.

    For words of the same σ, δ grows with the distance: the farthest pair stands for all of them.
    """
    centres, sigmas = density.centres, density.sigmas
    worst: tuple[float, int, int] | None = None
    for i, j in _candidates(centres, sigmas, covers):
        distance = float(np.linalg.norm(centres[i] - centres[j]))
        delta = _delta(covers[i, j], sigmas[i], sigmas[j], distance, centres.shape[1])
        if worst is None or delta > worst[0]:
            worst = (delta, i, j)
    return worst


def _candidates(centres: Floats, sigmas: Floats, covers: Floats) -> list[tuple[int, int]]:
    """Return pairs that include the worst: all of different σ, the farthest of each σ and ε."""
    farthest: dict[tuple[float, float], tuple[float, int, int]] = {}
    candidates = []
    for i in range(len(centres)):
        others = np.flatnonzero(np.isfinite(covers[i, :i]))
        distances = np.linalg.norm(centres[others] - centres[i], axis=1)
        same = sigmas[others] == sigmas[i]
        candidates += [(i, int(j)) for j in others[~same]]
        for epsilon in np.unique(covers[i, others[same]]):
            here = same & (covers[i, others] == epsilon)
            k = int(np.where(here, distances, -1.0).argmax())
            key, entry = (
                (float(sigmas[i]), float(epsilon)),
                (float(distances[k]), i, int(others[k])),
            )
            farthest[key] = max(farthest.get(key, entry), entry)
    return candidates + [(i, j) for _, i, j in farthest.values()]


def _delta(epsilon: float, sigma: float, other: float, distance: float, dimension: int) -> float:
    if sigma > 0.0 and other > 0.0:
        try:
            return spherical_delta(epsilon, sigma, other, distance, dimension)
        except ParameterError:  # the two σ are too close to compute with, so nothing is shown
            return 0.0
    return 0.0 if sigma == other and distance == 0.0 else 1.0


# Checks that a channel draws from the law that it states, and that it is a law.
#
# Users' own laws pass too, as long as they do not draw in a way of their own.


_AGREE = 1e-9  # relative difference between drawn and stated that rounding may cause
_RARE = 2.0**-900  # a probability that may be taken for 0
_TRIED = 64  # words of a rest whose tries are looked at


def draws_its_law(channel: LawChannel[Law]) -> bool:
    """Whether the channel provably draws from its law's log-weights."""
    law = channel.law
    # `Law.rows` itself derives rows from log-weights.
    derived = _is_own(law.rows, Law.rows, law)
    return bool(proof_of(channel)) and (derived or is_proved(law))


def _is_own(method: object, function: Callable[..., object], law: Law) -> bool:
    """Whether a law's method is the one of its base class; an instance's field may hide it."""
    return type(method) is MethodType and method == MethodType(function, law)


def law_defect(law: Law) -> str:
    """Say why the log-weights of a small lexicon are not the law of its draws; empty if they are.

    Rows are computed together and one by one: that must make no difference.
    """
    ids = np.arange(len(law.space))
    weights = law.log_weights(ids)
    if not _are_weights(weights, len(ids)):
        return "its log-weights are not numbers, or have no maximum"
    stated = np.exp(normalised(weights))
    asked = [(ids, stated), *((ids[w : w + 1], stated[w : w + 1]) for w in ids)]
    drawn = all(_is_drawn(law.rows(words), rows) for words, rows in asked)
    if not drawn or not all(_decides_by_weights(law, word) for word in np.array_split(ids, 4)):
        return "it does not draw from its log-weights, or its draws depend on the other words"
    return ""


def _are_weights(weights: Floats, rows: int) -> bool:
    """Whether the rows can be normalised: −∞ is a weight of 0, but not in all of a row."""
    if type(weights) is not np.ndarray or weights.dtype != np.float64 or weights.ndim != 2:
        return False
    return len(weights) == rows and bool(np.isfinite(weights.max(axis=1)).all())


def _is_drawn(rows: LawRows, law: Floats) -> bool:
    """Whether `draw` would draw from these rows with the probabilities of `law`."""
    if len(rows.sizes) != len(law) or rows.sizes.sum() != len(rows.words):
        return False
    drawn = np.zeros(law.shape)
    cells = np.repeat(np.arange(len(law)) * law.shape[1], rows.sizes) + rows.words
    np.add.at(drawn.reshape(-1), cells, rows.weights)  # a word may occur twice
    if rows.rest is not None:
        rests = [_rest_weights(rows.rest, number, law.shape[1]) for number in range(len(law))]
        if any(rest is None for rest in rests):
            return False
        drawn += np.array(rests)
    if not (drawn >= 0.0).all() or not (rows.weights < 2.0).all():
        return False
    drawn /= drawn.sum(axis=1, keepdims=True)
    return np.allclose(drawn, law, rtol=_AGREE, atol=_RARE)


def _rest_weights(rest: Rest, row: int, size: int) -> Floats | None:
    """Return the weights of a rest; None if one exceeds its bound, and is drawn too rarely."""
    weights = rest.weights(np.full(len(rest.words), row), rest.words.astype(np.int64))
    if not (weights <= rest.bounds[row] * (1.0 + _AGREE)).all():
        return None
    totals: Floats = np.bincount(rest.words, weights, minlength=size).astype(np.float64)
    return totals


def _decides_by_weights(law: Law, ids: Ids) -> bool:
    """Whether tries in the first word's row are decided by the weights of its rest, for some words.

    Draws say what they compare a weight with, and get a number on the same side of it.
    """
    rest = law.rows(ids[:1]).rest if len(ids) else None
    if rest is None:
        return True
    words = rest.words[:: max(1, len(rest.words) // _TRIED)].astype(np.int64)
    row = np.zeros(len(words), dtype=np.int64)
    own = rest.weights(row, words)
    return all(
        np.array_equal(rest.weights(row, words, compared) > compared, own > compared)
        for compared in (0.999 * own, 1.001 * own, np.zeros_like(own))
    )


# The audit of channels on paths: all outputs of all pairs, or all gaps in closed form.
#
# Neither uses the formula of the balanced weights: both read the chances that the lags give, which
# are what is drawn.


_SMALL_PATH = 300  # the most points for which all outputs of all pairs are computed
_ROUNDING = 2.0**-44  # nats; a dozen operations on numbers of up to 10³ nats


def audit_path(channel: PathChannel, progress: Progress | None = None) -> Audit:
    """Compute the worst loss of a channel on a path, and whether its guarantee is true."""
    size, reason = len(channel.path), _unproved(channel)
    worst, methods = NOTHING, []
    if size <= _SMALL_PATH:
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


_CUBED = 1_000  # the most words for which all outputs of all pairs are computed,
_PAIRED = 300  # the δ of all pairs of laws,
_GAUSSIANS = 2_000  # and the δ of all pairs of Gaussians
_LOWER = "all pairs, at the output w only: a lower bound, with no proof that it is the worst"


def audit(channel: Channel | PathChannel, *, progress: Progress | None = None) -> Audit:
    """Compute the worst loss of a channel, and whether its guarantee is true.

    TEM, permute-and-flip and balanced are audited on whole lexicons, other laws of words on up to
    1,000 words. Channels of numbers and dates are audited on paths of any length. Gaussian noise is
    audited by the exact δ of its pairs. Other noise is audited by the loss of its vectors in closed
    form: words reveal no more. `progress(done, total)` is called at intervals.

    >>> from malaprop import Lexicon, TEM
    >>> line = Lexicon(["a", "b", "c"], [[0.0], [1.0], [3.0]])
    >>> result = audit(TEM(epsilon=2.0, exponent="half").on(line))
    >>> result.holds, result.pair, round(result.worst_ratio, 6)
    (True, ('c', 'b'), 0.55944)
    """
    if isinstance(channel, PathChannel):
        return audit_path(channel, progress)
    result = _computed(checked_channel(channel), progress)
    reason = _misstated(channel)
    if result.holds and reason:
        return replace(
            result, holds=None, at_most=math.inf, method=f"{result.method}; but {reason}"
        )
    return result


def _misstated(channel: Channel) -> str:
    """Say why a guarantee may not mean what it says; empty if it does."""
    guarantee, neighbourhoods = channel.guarantee, channel.neighbourhoods
    if not is_proved(guarantee):
        return "its guarantee is not a plain value, so it may say one thing and show another"
    if guarantee.words != 1:
        return f"its guarantee is for {guarantee.words} words, and a channel draws one"
    if guarantee.kinds or guarantee.per != EACH_WORD:
        return "its guarantee is for texts, and a channel draws a word"
    covered = ANY_TWO_WORDS
    if guarantee.kind is Kind.NEIGHBOURHOOD and neighbourhoods is not None:
        if not is_proved(neighbourhoods):
            return "nothing proves that its neighbourhoods are those of the guarantee"
        covered = neighbourhoods.pairs
    return "" if guarantee.pairs == covered else f"it was computed for {covered}"


def _computed(channel: Channel, progress: Progress | None) -> Audit:
    if isinstance(channel, LawChannel):
        return _audit_law(channel, progress)
    if isinstance(channel, VectorChannel):
        density = channel.noise.density(channel.lexicon)
        if isinstance(density, GaussianDensity) and channel.guarantee.kind is not Kind.METRIC:
            return _audit_gaussians(channel, density)
        return audit_vectors(channel, progress)
    return undecided_audit(channel, "there is no exact computation for this channel")


def _audit_law(channel: LawChannel[Law], progress: Progress | None) -> Audit:
    guarantee, size = channel.guarantee, len(channel.lexicon)
    if not draws_its_law(channel):
        return undecided_audit(
            channel, "it does not draw from its log-weights, so those prove nothing"
        )
    if size <= _CUBED and (reason := law_defect(channel.law)):
        return undecided_audit(channel, reason)
    if guarantee.delta:
        return _audit_delta(channel)
    if size <= _CUBED:
        return _audit_all_outputs(channel, progress)
    of_the_lexicon = guarantee.metric == str(channel.lexicon.metric) and not guarantee.equivalents
    if not of_the_lexicon or guarantee.kind is Kind.NEIGHBOURHOOD:
        return undecided_audit(channel, f"only {_CUBED} words can be audited with this guarantee")
    return _audit_closed_form(channel, progress)


def _audit_all_outputs(channel: LawChannel[Law], progress: Progress | None) -> Audit:
    """Compute every output of every pair: n³ steps."""
    bound = coverage(channel)
    if bound is None:
        return undecided_audit(
            channel, f"distances in the guarantee's metric are unknown: {channel.guarantee.metric}"
        )
    if channel.guarantee.kind in (Kind.BOUNDED, Kind.NEIGHBOURHOOD) and not covers_any(bound):
        return undecided_audit(channel, "no pair of words is covered")
    law = normalised(channel.law.log_weights(np.arange(len(channel.lexicon))))
    worst = worst_of_law(law, bound, slack=rounding(len(law)), progress=progress)
    return audit_result(channel, worst, exact=True, method="all outputs of all pairs")


def _audit_closed_form(channel: LawChannel[Law], progress: Progress | None) -> Audit:
    """Use the closed form of a law's loss, which needs a proof of the law and of the metric.

    Samples of a user's function do not prove the triangle inequality.
    """
    law = channel.law
    vouched = is_proved(law) and is_proved(law.space.metric)
    closed = law.closed_loss(channel.guarantee, progress) if vouched else None
    if closed is None:
        worst, _ = peak_loss(law, allowed_by(channel.guarantee), progress)
        return audit_result(channel, worst, exact=False, method=_LOWER)
    if closed.worst is None:
        return undecided_audit(channel, "its rows do not have the form that the proof is about")
    method = closed.method if closed.proved else _LOWER
    result = audit_result(channel, closed.worst, exact=closed.proved, method=method)
    return result if result.holds or closed.attained else replace(result, holds=None)


def _audit_delta(channel: LawChannel[Law]) -> Audit:
    size = len(channel.lexicon)
    covers = coverage(channel) if size <= _PAIRED else None
    if covers is None:
        return undecided_audit(
            channel, f"with a δ, only {_PAIRED} words and known pairs can be audited"
        )
    law = normalised(channel.law.log_weights(np.arange(size)))
    pairs = ((i, j) for i, j in np.argwhere(np.isfinite(covers)) if i != j)
    deltas = ((excess_delta(law[i], law[j], covers[i, j]), i, j) for i, j in pairs)
    return delta_finding(channel, max(deltas, default=None), "the exact δ of all covered pairs")


def _audit_gaussians(channel: VectorChannel[Noise], density: GaussianDensity) -> Audit:
    """Use the exact δ between spherical Gaussians, which bounds that of the decoded words."""
    covers = coverage(channel) if len(channel.lexicon) <= _GAUSSIANS else None
    if covers is None:
        return undecided_audit(channel, f"only {_GAUSSIANS} words and known pairs can be audited")
    worst = worst_gaussians(density, covers)
    method = "the exact δ of all covered pairs of Gaussians"
    return delta_finding(channel, worst, method, unproved(channel, density.sigmas, covers))


# The exact audit of some words: their pairs, and each with its nearest word.
#
# It is quick on any lexicon, and it can show that a guarantee is false. It cannot show that one is
# true: the worst pair may be another.


MOST = 500
"""Words that are audited at most: the time grows with the square of their number."""
_PAIRED_WORDS = 100  # and of laws with a δ


def audit_words(
    channel: Channel, words: Sequence[str] | int, *, progress: Progress | None = None
) -> Audit:
    """Compute the worst loss over the pairs of some words, and of each with its nearest word.

    It `holds` only if the words are all words of the lexicon, which is `malaprop.audit`. Otherwise
    the verdict is FAILS, or not decided.

    >>> from malaprop import Lexicon, TEM
    >>> line = Lexicon(["a", "b", "c", "d"], [[0.0], [1.0], [3.0], [9.0]])
    >>> result = audit_words(TEM(epsilon=2.0).on(line), ["a"])
    >>> result.holds, result.pair, result.worst_ratio <= 1.0
    (None, ('a', 'b'), True)
    """
    size = len(checked_channel(channel).lexicon)
    chosen = np.unique(word_ids(channel.lexicon, words))
    if len(chosen) == size:
        return audit(channel, progress=progress)
    most = _PAIRED_WORDS if channel.guarantee.delta and isinstance(channel, LawChannel) else MOST
    if len(chosen) > most:
        raise ParameterError(
            f"Some words are audited exactly up to {most}, or all of the lexicon. Got "
            f"{len(chosen):,}."
        )
    ids = np.union1d(chosen, nearest_other_words(channel, chosen)[0])
    result = _computed_for_words(channel, ids, progress)
    part = f"{len(chosen):,} of {size:,} words and their nearest: a sample, not a whole audit"
    return replace(
        result,
        holds=None if result.holds else result.holds,
        at_most=math.inf,
        method=f"{result.method}; {part}",
    )


def _computed_for_words(channel: Channel, ids: Ids, progress: Progress | None) -> Audit:
    rows = allowance(channel)
    if rows is None:
        return undecided_audit(
            channel, f"distances in the guarantee's metric are unknown: {channel.guarantee.metric}"
        )
    bound = rows(ids)[:, ids]
    if not (bound >= 0.0).all():
        return undecided_audit(channel, "the distances of words are not numbers")
    bound = np.minimum(bound, bound.T)  # a pair is covered either way round
    if isinstance(channel, LawChannel):
        return _audit_laws(channel, ids, bound, progress)
    if isinstance(channel, VectorChannel):
        return _audit_noise(channel, ids, bound)
    return undecided_audit(channel, "there is no exact computation for this channel")


def _audit_laws(
    channel: LawChannel[Law], ids: Ids, bound: Floats, progress: Progress | None
) -> Audit:
    if not draws_its_law(channel):
        return undecided_audit(
            channel, "it does not draw from its log-weights, so those prove nothing"
        )
    law = normalised(channel.law.log_weights(ids))
    if np.isnan(law).any():
        return undecided_audit(channel, "its rows are not the logarithms of a law")
    if channel.guarantee.delta:
        pairs = ((i, j) for i, j in np.argwhere(np.isfinite(bound)) if i != j)
        deltas = ((excess_delta(law[i], law[j], bound[i, j]), i, j) for i, j in pairs)
        return _with_delta(channel, max(deltas, default=None), ids, "the exact δ of covered pairs")
    worst = worst_of_law(law, bound, slack=rounding(law.shape[1]), progress=progress)
    return audit_result(channel, _named(worst, ids), exact=False, method="all outputs of pairs")


def _audit_noise(channel: VectorChannel[Noise], ids: Ids, bound: Floats) -> Audit:
    density = channel.noise.density(channel.lexicon)
    if isinstance(density, GaussianDensity) and channel.guarantee.kind is not Kind.METRIC:
        some = replace(density, centres=density.centres[ids], sigmas=density.sigmas[ids])
        method = "the exact δ of covered pairs of Gaussians"
        doubt = unproved(channel, some.sigmas, bound)
        return _with_delta(channel, worst_gaussians(some, bound), ids, method, doubt)
    if channel.guarantee.delta:
        return undecided_audit(
            channel, "there is no exact computation for this channel's guarantee"
        )
    if not isinstance(density, ExponentialDensity) or not draws_its_noise(channel):
        return undecided_audit(channel, UNPROVED)
    if not density.is_sane:
        return undecided_audit(
            channel, "its parameters do not describe noise: a scale must be above 0"
        )
    share, nats = density.rounding
    worst = _named(worse(NOTHING, density.loss()(ids)[:, ids], bound, slack=nats), ids)
    result = audit_result(
        channel,
        worst,
        exact=False,
        method="the noisy vectors of pairs, in closed form; words tell no more",
        tolerance=TOLERANCE + share,
        words=False,
    )
    return result if density.is_attained else replace(result, holds=None)


def _named(worst: Worst, ids: Ids) -> Worst:
    """Replace places among the words audited by ids of the lexicon."""
    first, second = worst.pair
    return replace(worst, pair=(int(ids[first]), int(ids[second])))


def _with_delta(
    channel: Channel,
    worst: tuple[float, int, int] | None,
    ids: Ids,
    method: str,
    doubt: str = "",
) -> Audit:
    if worst is not None:
        delta, first, second = worst
        worst = (delta, int(ids[first]), int(ids[second]))
    return delta_finding(channel, worst, method, doubt)

"""The exact audit: the worst loss of a channel over all pairs of words and all outputs.

The audit reads the law or the noise that a channel states, which is what the channel draws from. It
says that a guarantee `holds` only if it has computed every pair, and if the classes of all parts
are marked as proved. A pair that exceeds the guarantee is a finding in any case. The audit trusts
the proofs in docs/proofs/ and the lexicon's metric.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import MethodType

import numpy as np

from malaprop.measure.neighbourhoods import nearest_other_words
from malaprop.privacy.arrays import Floats, Ids
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
from malaprop.privacy.gaussian_noise import deltas_of_pairs
from malaprop.privacy.guarantee import (
    ANY_TWO_WORDS,
    EACH_WORD,
    Guarantee,
    Kind,
    is_proved,
    proof_of,
)
from malaprop.privacy.law import (
    LOWER_BOUND,
    NOTHING,
    Evidence,
    Law,
    LossRows,
    PathLaw,
    Worst,
    allowed_by,
    excess_delta,
    normalised,
    peak_loss,
    rounding,
    worst_delta,
    worst_of_law,
)
from malaprop.privacy.metrics import NAMED, DistanceRows
from malaprop.privacy.noise import ExponentialDensity, GaussianDensity, Noise
from malaprop.privacy.progress import Progress
from malaprop.privacy.sampling import LawRows, Rest
from malaprop.privacy.word_graph import Steps

MOST = 500
"""Words of a sample that are audited at most: the time grows with the square of their number."""
_TOLERANCE = Evidence.tolerance
_CUBED = 1_000  # the most words for which all outputs of all pairs are computed,
_PAIRED, _PAIRED_OF_SAMPLE = 300, 100  # the δ of all pairs of laws, and of those of a sample,
_GAUSSIANS = 2_000  # and the δ of all pairs of Gaussians
_SMALL_PATH = 300  # the most points for which all outputs of all pairs are computed
_UNPROVED = (
    "what it draws is not proved: a part of it has no proof, or is derived from one that has"
)
_BLURRED = 1e-6  # a rounding error, as a share or in nats, that could hide an excess


@dataclass(frozen=True, kw_only=True)
class Audit:
    """The result of an audit; `str()` says it in words."""

    worst_ratio: float = math.nan
    """The worst loss over what the guarantee allows for that pair: at most 1 if it is true.

    For a guarantee with a δ, it is the worst true δ over the δ allowed. NaN if nothing is known.
    """
    at_most: float = math.inf
    """An upper bound on the worst ratio: the ratio itself, or infinite if nothing is proved."""
    pair: tuple[str, str] | None = None
    """The two words that are easiest to tell apart."""
    output: str | None = None
    """The output that tells them apart best; None if outputs are vectors."""
    holds: bool | None = None
    """Whether the guarantee is true; None if that is undecided."""
    loss: float = math.nan
    """The loss of that pair in nats, or its δ."""
    allowed: float = math.nan
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
    if not isinstance(channel, PathChannel):
        checked_channel(channel)
    return _audit(channel, None, progress)


def audit_words(
    channel: Channel, words: Sequence[str] | int, *, progress: Progress | None = None
) -> Audit:
    """Compute the worst loss over the pairs of some words, and of each with its nearest word.

    It is quick on any lexicon, and it can show that a guarantee is false. It `holds` only if the
    words are all words of the lexicon, which is `malaprop.audit`. Otherwise the worst pair may be
    another, and the verdict is FAILS, or not decided.

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
    of_laws = channel.guarantee.delta and isinstance(channel, LawChannel)
    most = _PAIRED_OF_SAMPLE if of_laws else MOST
    if len(chosen) > most:
        raise ParameterError(
            f"Some words are audited exactly up to {most}, or all of the lexicon. Got "
            f"{len(chosen):,}."
        )
    ids = np.union1d(chosen, nearest_other_words(channel.lexicon, chosen)[0])
    result = _audit(channel, ids, progress)
    part = f"{len(chosen):,} of {size:,} words and their nearest: a sample, not a whole audit"
    return replace(
        result,
        holds=None if result.holds else result.holds,
        at_most=math.inf,
        method=f"{result.method}; {part}",
    )


class _UndecidedError(Exception):
    """Why the loss of a channel cannot be computed."""


def _audit(channel: Channel | PathChannel, ids: Ids | None, progress: Progress | None) -> Audit:
    guarantee = channel.guarantee
    try:
        if isinstance(channel, PathChannel):
            evidence = _of_path(channel, progress)
        elif isinstance(channel, LawChannel):
            evidence = _of_law(channel, ids, progress)
        elif isinstance(channel, VectorChannel):
            evidence = _of_noise(channel, ids, progress)
        else:
            unknown = "there is no exact computation for this channel"
            return Audit(method=unknown, guarantee=guarantee)
    except _UndecidedError as undecided:
        return Audit(method=str(undecided), guarantee=guarantee)
    worst, method, doubt = evidence.worst, evidence.method, evidence.doubt
    if worst is None:
        return Audit(method=doubt, guarantee=guarantee)
    holds: bool | None = worst.ratio <= 1.0 + evidence.tolerance
    if guarantee.kind is Kind.NONE:
        compared = "" if guarantee.delta else "compared with ε·d, since "
        holds, method = None, f"{method}; {compared}nothing is promised"
    elif holds:
        doubt = doubt or _misstated(channel)
        method += f"; but {doubt}" if doubt else ""
        holds = True if evidence.exact and not doubt else None
    elif not evidence.attained:
        holds = None
    first, second = worst.pair if ids is None else (int(ids[place]) for place in worst.pair)
    return Audit(
        worst_ratio=worst.ratio,
        at_most=worst.ratio if evidence.exact and not doubt else math.inf,
        pair=None if first == second else (_name(channel, first), _name(channel, second)),
        output=None if worst.output is None else _name(channel, worst.output),
        holds=holds,
        loss=worst.loss,
        allowed=worst.bound,
        method=method,
        guarantee=guarantee,
    )


def _name(channel: Channel | PathChannel, place: int) -> str:
    return f"point {place}" if isinstance(channel, PathChannel) else channel.lexicon.words[place]


def _misstated(channel: Channel | PathChannel) -> str:
    """Say why a guarantee may not mean what it says; empty if it does."""
    guarantee = channel.guarantee
    if not is_proved(guarantee):
        return "its guarantee is not a plain value, so it may say one thing and show another"
    if guarantee.words != 1:
        return f"its guarantee is for {guarantee.words} words, and a channel draws one"
    if guarantee.kinds or guarantee.per != EACH_WORD:
        return "its guarantee is for texts, and a channel draws a word"
    covered = ANY_TWO_WORDS
    if isinstance(channel, PathChannel):
        covered = ANY_TWO_VALUES
        if math.isfinite(guarantee.cap):
            return "its guarantee is not that of a value on a path"
    elif guarantee.kind is Kind.NEIGHBOURHOOD and channel.neighbourhoods is not None:
        if not is_proved(channel.neighbourhoods):
            return "nothing proves that its neighbourhoods are those of the guarantee"
        covered = channel.neighbourhoods.pairs
    return "" if guarantee.pairs == covered else f"it was computed for {covered}"


def _of_law(channel: LawChannel[Law], ids: Ids | None, progress: Progress | None) -> Evidence:
    """Compute every output of every pair, n³ steps; on large lexicons use the closed form."""
    law, guarantee, size = channel.law, channel.guarantee, len(channel.lexicon)
    # `Law.rows` itself derives rows from log-weights; an instance's field may hide it.
    derived = type(law.rows) is MethodType and law.rows == MethodType(Law.rows, law)
    if not proof_of(channel) or not (derived or is_proved(law)):
        raise _UndecidedError("it does not draw from its log-weights, so those prove nothing")
    if ids is None:
        if size <= _CUBED and (defect := _law_defect(law)):
            raise _UndecidedError(defect)
        if guarantee.delta and size > _PAIRED:
            raise _UndecidedError(f"with a δ, only {_PAIRED} words can be audited")
        if size > _CUBED:
            return _of_closed_form(channel, progress)
    words = np.arange(size) if ids is None else ids
    bound = _allowed_between(channel, words)
    weights = law.log_weights(words)
    if not _are_weights(weights, len(words)):
        raise _UndecidedError(_NO_WEIGHTS)
    rows, all_ = normalised(weights), "all " if ids is None else ""
    if guarantee.delta:
        pairs = ((i, j) for i, j in np.argwhere(np.isfinite(bound)).tolist() if i != j)
        deltas = ((excess_delta(rows[i], rows[j], bound[i, j]), i, j) for i, j in pairs)
        worst = worst_delta(deltas, guarantee.delta)
        return Evidence(worst=worst, method=f"the exact δ of {all_}covered pairs")
    worst = worst_of_law(rows, bound, slack=rounding(rows.shape[1]), progress=progress)
    return Evidence(worst=worst, method=f"all outputs of {all_}pairs")


def _of_closed_form(channel: LawChannel[Law], progress: Progress | None) -> Evidence:
    """Use the closed form of a law's loss, which needs a proof of the law and of the metric.

    Samples of a user's function do not prove the triangle inequality.
    """
    law, guarantee = channel.law, channel.guarantee
    of_the_lexicon = guarantee.metric == str(channel.lexicon.metric) and not guarantee.equivalents
    if not of_the_lexicon or guarantee.kind is Kind.NEIGHBOURHOOD:
        raise _UndecidedError(f"only {_CUBED} words can be audited with this guarantee")
    vouched = is_proved(law) and is_proved(law.space.metric)
    closed = law.closed_loss(guarantee, progress) if vouched else None
    if closed is not None:
        return closed
    worst, _ = peak_loss(law, allowed_by(guarantee), progress)
    return Evidence(worst=worst, exact=False, method=LOWER_BOUND)


def _of_noise(
    channel: VectorChannel[Noise], ids: Ids | None, progress: Progress | None
) -> Evidence:
    """Use the loss of the noisy vectors, which is known in closed form for any number of words.

    It decides: decoding is post-processing, so words reveal no more.
    """
    parts = (channel.noise, channel.decoder, channel.lexicon, channel.lexicon.metric)
    proved = bool(proof_of(channel)) and all(is_proved(part) for part in parts)
    unproved = "" if proved else _UNPROVED
    density = channel.noise.density(channel.lexicon)
    if isinstance(density, GaussianDensity) and channel.guarantee.kind is not Kind.METRIC:
        return _of_gaussians(channel, density, ids, unproved)
    guarantee, allowed = channel.guarantee, allowance(channel)
    if guarantee.kind not in (Kind.METRIC, Kind.NONE) or guarantee.delta or allowed is None:
        raise _UndecidedError("there is no exact computation for this channel's guarantee")
    if unproved or not isinstance(density, ExponentialDensity):
        raise _UndecidedError(_UNPROVED)
    if not density.is_sane:
        raise _UndecidedError("its parameters do not describe noise: a scale must be above 0")
    words = np.arange(len(channel.lexicon)) if ids is None else ids
    worst = density.worst(words, slice(None) if ids is None else ids, allowed, progress)
    if worst is None:
        raise _UndecidedError("its losses, or the distances of words, are not numbers")
    share, nats = density.rounding
    tolerance = _TOLERANCE + share
    if worst.ratio > 1.0 + tolerance and not density.is_attained:
        raise _UndecidedError(
            "only an upper bound of the loss is known, and it exceeds the guarantee"
        )
    if worst.ratio <= 1.0 + tolerance and max(share, nats) > _BLURRED:
        raise _UndecidedError("its shape is so narrow that float64 cannot compute its loss")
    pairs = "all pairs" if ids is None else "pairs"
    method = f"the noisy vectors of {pairs}, in closed form; words tell no more"
    return Evidence(worst=worst, method=method, tolerance=tolerance)


def _of_gaussians(
    channel: VectorChannel[Noise], density: GaussianDensity, ids: Ids | None, unproved: str
) -> Evidence:
    """Use the exact δ between spherical Gaussians, which bounds that of the decoded words."""
    if ids is None and len(channel.lexicon) > _GAUSSIANS:
        raise _UndecidedError(f"only {_GAUSSIANS} words can be audited with this guarantee")
    words = np.arange(len(channel.lexicon)) if ids is None else ids
    covers = _allowed_between(channel, words)
    density = density.spherical
    some = replace(density, centres=density.centres[words], sigmas=density.sigmas[words])
    # Rounding is post-processing only if both words are rounded alike. And for two different σ, δ
    # comes from noncentral χ² laws, for which no error bound is proved.
    if not unproved and (np.isfinite(covers) & (some.sigmas[:, None] != some.sigmas)).any():
        unproved = (
            "it covers words of different σ, whose grids differ: that may exceed the δ of the noise"
        )
    pairs = "all covered pairs" if ids is None else "covered pairs"
    return Evidence(
        worst=worst_delta(deltas_of_pairs(some, covers), channel.guarantee.delta),
        method=f"the exact δ of {pairs} of Gaussians",
        exact=not unproved,
        doubt=unproved,
    )


def _of_path(channel: PathChannel, progress: Progress | None) -> Evidence:
    """Compute all outputs of all pairs, and all gaps in closed form.

    Neither uses the formula of the balanced weights: both read the chances that the lags give,
    which are what is drawn.
    """
    law, path, epsilon = channel.law, channel.path, channel.guarantee.epsilon
    worst, methods, size = NOTHING, list[str](), len(path)
    if size <= _SMALL_PATH:
        rows = channel.log_probabilities(np.arange(size))
        wrong = rows.shape != (size, size) or np.isnan(rows).any()
        if wrong or not (np.abs(np.exp(rows).sum(axis=1) - 1.0) <= _TOLERANCE).all():
            raise _UndecidedError("its rows are not the logarithms of a law")
        # The differences of rare outputs' log-probabilities have lost the last digits.
        slack = rounding(size) + 2.0**-51 * float(np.abs(rows[np.isfinite(rows)]).max())
        bound = epsilon * path.distances(np.arange(size))
        worst = worst_of_law(rows, bound, slack=slack, progress=progress)
        methods.append("all outputs of all pairs")
    if is_proved(law) and size > 1:
        worst = max(worst, worst_gap(law, epsilon), key=lambda one: one.ratio)
        methods.append(f"all {size - 1:,} gaps of the path, in closed form")
    doubt = ""
    if not proof_of(channel) or not is_proved(law):
        doubt = "nothing proves that it draws from the law that it states"
        if worst is NOTHING:
            raise _UndecidedError("; but ".join([*methods, doubt]))
    return Evidence(worst=worst, method="; ".join(methods), exact=not doubt, doubt=doubt)


def worst_gap(law: PathLaw, epsilon: float) -> Worst:
    """Return the worst pair of neighbours of a path; losses add up along it.

    Outputs beyond both neighbours have a loss of exactly t·gap, one way or the other. What is left
    are the neighbours themselves.
    """
    weights, gaps = law.side_weights, law.path.gaps
    nats = law.rate * gaps
    at_left, at_right = weights.own[:-1] - weights.left[:-1], weights.own[1:] - weights.right[1:]
    losses = np.stack([nats + at_left, nats + at_right, -nats - at_left, -nats - at_right])
    computed = losses - 2.0**-44  # a dozen operations on numbers of up to 10³ nats
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


def allowance(channel: Channel) -> LossRows | None:
    """Return a function from ids to rows of what is allowed between words, in nats.

    It is infinite for pairs that are not covered. None if neighbourhoods or metric are unknown.
    """
    guarantee, groups = channel.guarantee, channel.neighbourhoods
    in_groups = guarantee.kind is Kind.NEIGHBOURHOOD
    # Each statement in another metric is a promise as well.
    promises = [guarantee, *(guarantee.in_metric(name) for name, _ in guarantee.equivalents)]
    metrics = [_distances(channel, promise.metric) for promise in promises]
    known = [distances for distances in metrics if distances is not None]
    if len(known) < len(promises) or (in_groups and groups is None):
        return None
    allowed = list(zip(map(allowed_by, promises), known, strict=True))

    def rows(ids: Ids) -> Floats:
        least = np.min([at(distances(ids)) for at, distances in allowed], axis=0)
        return (
            np.where(groups.covers(ids), least, math.inf)
            if in_groups and groups is not None
            else least
        )

    return rows


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


def _allowed_between(channel: Channel, words: Ids) -> Floats:
    """Return what the guarantee allows between any two of the words, either way round."""
    rows = allowance(channel)
    if rows is None:
        raise _UndecidedError(
            f"distances in the guarantee's metric are unknown: {channel.guarantee.metric}"
        )
    bound = rows(words)[:, words]
    if not (bound >= 0.0).all():  # NaN, or a user's function that is not a metric
        raise _UndecidedError("the distances of words are not numbers")
    bound = np.minimum(bound, bound.T)
    of_all = channel.guarantee.kind is Kind.METRIC
    if not of_all and not np.isfinite(bound[~np.eye(len(bound), dtype=np.bool_)]).any():
        raise _UndecidedError("no pair of words is covered")
    return bound


# Checks that a channel draws from the law that it states, and that it is a law.
#
# Users' own laws pass too, as long as they do not draw in a way of their own.

_NO_WEIGHTS = "its log-weights are not numbers, or have no maximum"
_AGREE = 1e-9  # relative difference between drawn and stated that rounding may cause
_RARE = 2.0**-900  # a probability that may be taken for 0
_TRIED = 64  # words of a rest whose tries are looked at


def _law_defect(law: Law) -> str:
    """Say why the log-weights of a small lexicon are not the law of its draws; empty if they are.

    Rows are computed together and one by one: that must make no difference.
    """
    ids = np.arange(len(law.space))
    weights = law.log_weights(ids)
    if not _are_weights(weights, len(ids)):
        return _NO_WEIGHTS
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

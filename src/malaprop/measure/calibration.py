"""From a target that a person understands to ε.

The figure behind each target grows or falls with ε. So a search finds the largest ε at which
the figure is still on the safe side of the target, with the error of a sample included.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.random import Generator

from malaprop.lexicon.lexicon import Lexicon
from malaprop.measure.bayes import (
    bayes_success,
    belief_over,
    estimated_success,
    success_by_occurrences,
)
from malaprop.measure.neighbourhoods import normalised
from malaprop.measure.profile import context_curve
from malaprop.measure.targets import TARGETS, Target, check_target
from malaprop.measure.word_statistics import (
    Similarity,
    candidate_lower_bound,
    each_draw,
    law_batches,
    statistics_of,
)
from malaprop.privacy.arrays import Floats
from malaprop.privacy.channel import Channel, LawChannel, checked_channel
from malaprop.privacy.errors import ParameterError, several_texts, type_name
from malaprop.privacy.estimate import (
    MOST,
    SMALLEST,
    Estimate,
    clopper_pearson,
    even_sample,
    search_epsilon,
    shares_noise,
    word_ids,
)
from malaprop.privacy.mechanism import Mechanism
from malaprop.privacy.metrics import MetricSpace
from malaprop.privacy.progress import Progress, report
from malaprop.privacy.randomness import checked_rng, secure_rng, seeded_rng
from malaprop.privatizer import Privatizer
from malaprop.recipe import mechanism_named


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """The largest ε that keeps to a target, or the smallest that reaches one."""

    epsilon: float
    """ε; a channel with it does not exceed the target."""
    target: str
    figures: tuple[tuple[float, Estimate], ...]
    """ε and the figure, for each ε that was tried, in ascending order. The end of its one-sided
    interval, `unsafe`, must keep to the target."""
    normalised: Mapping[str, float]
    """Figures that can be compared between lexicons and metrics."""
    exact: bool = False
    """Whether the figure was computed from a law, for all words or all that were listed."""

    @property
    def figure(self) -> Estimate:
        return next(figure for epsilon, figure in self.figures if epsilon == self.epsilon)

    @property
    def value(self) -> float:
        return self.figure.value

    @property
    def curve(self) -> tuple[tuple[float, float], ...]:
        """Each ε that was tried, with its figure."""
        return tuple((epsilon, figure.value) for epsilon, figure in self.figures)

    @property
    def bounds(self) -> tuple[float, ...]:
        """For each point of the curve, the figure on the unsafe side of its error."""
        return tuple(figure.unsafe for _, figure in self.figures)

    def to_dict(self) -> dict[str, Any]:
        return {
            "epsilon": self.epsilon,
            "target": self.target,
            "value": self.value,
            "exact": self.exact,
            "normalised": dict(self.normalised),
            "curve": [
                {"epsilon": epsilon, "value": figure.value, "bound": figure.unsafe}
                for epsilon, figure in self.figures
            ],
        }


def mechanism_at(mechanism: Any) -> Callable[[float], Mechanism]:
    """Return what makes the mechanism with a given ε."""
    if isinstance(mechanism, str):
        mechanism = mechanism_named(mechanism)
    if isinstance(mechanism, Mechanism):
        given = mechanism
        return lambda epsilon: replace(given, epsilon=epsilon)
    if isinstance(mechanism, type) and issubclass(mechanism, Mechanism):
        cls = mechanism
        return lambda epsilon: cls(epsilon=epsilon)
    raise ParameterError(
        "The 'mechanism' to calibrate must be a mechanism, its class or its name. "
        f"Got {type(mechanism).__name__}."
    )


def calibrate(
    mechanism: type[Mechanism] | Mechanism | str,
    lexicon: MetricSpace,
    *,
    kept: float | None = None,
    worst: float | None = None,
    success: float | None = None,
    context: bool = False,
    sample: Sequence[str] | None = None,
    occurrences: int = 1,
    prior: Any = None,
    candidates: float | None = None,
    similarity: float | None = None,
    like: Channel | None = None,
    words: Sequence[str] | int | None = None,
    rng: Generator | None = None,
    progress: Progress | None = None,
) -> Calibration:
    """Return the largest ε at which a mechanism keeps to one target on a lexicon.

    - `kept`: the mean share of words that stay as they are. With `worst=0.05`, that of the word
      which only 5 % of words exceed; with `worst=0`, that of the worst word, hyperbolic-2019's
      radius of high protection (§VI-C). On a sample, that is the worst word of the sample.
    - `success`: how often an observer without context guesses a word right, with a `prior`, and
      over `occurrences` draws; see `bayes_success`. With `context=True`, what share of the words
      of a public text an observer recovers who knows which words follow which: on `sample`, public
      texts like those to privatize, or else on film reviews, where that was measured.
    - `candidates`: how many inputs explain an output within a factor of 2, at least. For noise
      with a known density, a lower bound from draws takes the place of that number, so ε may be
      smaller than necessary: see `malaprop.measure.word_statistics.candidate_lower_bound`.
    - `similarity`: the expected similarity of a word and its replacement, at most.
    - `like`: a channel on the same words; at most as many of them stay as with that one. For noise,
      the lower end of an estimate is the target.

    `mechanism` is a class, a registered name, or a mechanism whose other parameters are kept. On
    lexicons of up to 10,000 words a figure is computed for all words, on larger ones for 256 of
    them (or for `words`, a number above 1), with a one-sided confidence of 95 %. With a list of
    `words`, the figure is about these words, which are then no sample of the lexicon.

    >>> from malaprop import Lexicon, TEM
    >>> line = Lexicon(["cold", "cool", "hot"], [[0.0], [1.0], [3.0]])
    >>> calibration = calibrate(TEM, line, kept=0.6)
    >>> round(calibration.value, 2), calibration.exact
    (0.6, True)
    """
    target, bound = check_target(
        kept=kept,
        worst=worst,
        success=success,
        context=context,
        sample=sample,
        occurrences=occurrences,
        prior=prior,
        candidates=candidates,
        similarity=similarity,
        like=like,
        words=words,
    )
    make, noise = mechanism_at(mechanism), secure_rng() if rng is None else checked_rng(rng)
    if context and sample is None:
        return _interpolated(make(1.0), lexicon, bound)
    if context:
        return _with_context(make, lexicon, bound, sample, noise, progress)
    search = _Search(lexicon, words, noise)
    figure: Callable[[Channel], Estimate]
    facts: dict[str, str] = {}
    match target.name:
        case "kept":
            figure = partial(search.mean, name="kept", worst=worst)
            facts["whose"] = "on average" if worst is None else f"for all but {worst:.3g} of words"
        case "success":
            figure = partial(search.success, bound=bound, occurrences=occurrences, prior=prior)
            facts["times"] = "" if occurrences == 1 else f" that occurs {occurrences} times"
            facts["prior"] = belief_over(lexicon, prior).source
        case "candidates":
            figure = partial(search.candidates, least=bound)
        case "like":
            bound, figure = search.kept_by(bound), partial(search.mean, name="kept")
        case _:
            figure = partial(search.mean, name=target.name)
    laws = set()

    def at(epsilon: float) -> Estimate:
        channel = make(epsilon).on(lexicon)
        if isinstance(channel, LawChannel):
            laws.add(epsilon)
        return figure(channel)

    text, compared = target.text.format(bound=bound, **facts), partial(normalised, lexicon)
    found = searched(at, target, bound, text, compared, progress=progress)
    return replace(found, exact=search.whole and found.epsilon in laws and found.figure.is_exact)


def searched(
    figure: Callable[[float], Estimate],
    target: Target,
    bound: float,
    text: str,
    compared: Callable[[float], Mapping[str, float]],
    **options: Any,
) -> Calibration:
    """Return the ε of a target, whose normalised figures are `compared`: see `search_epsilon`."""
    epsilon, tried = search_epsilon(figure, partial(target.is_met, bound=bound), text, **options)
    return Calibration(
        epsilon=epsilon,
        target=text,
        figures=tuple(sorted(tried.items())),
        normalised=compared(epsilon),
    )


SURE: Final = 1.6448536269514722
"""One-sided 95 % of a normal law, in standard deviations."""
_FEW: Final = 30  # words or batches: fewer say little about their own spread
_WORDS: Final = 256  # of a large lexicon,
_LOOKS: Final = (200, 1_000)  # trials: many only where few do not decide
_RUNS: Final = 16  # draws of each word where the law is unknown, in each of several batches
_SLOW_RUNS: Final = 4
_BATCHES: Final = 8
_NOISE_WORDS: Final = 128  # whose candidates are counted from draws,
_COUNTS: Final = 4  # batches where candidates are counted for the whole of some words
_RIVALS: Final = 4  # inputs that are compared with a word, for each candidate that is asked for
_CELLS: Final = 1 << 27  # draws of all words, times words of the lexicon, that take a second
_LEAST_DRAWS, _MOST_DRAWS = 32, 2_048  # of each word whose candidates are counted from draws


class _Search:
    """Figures of channels on some words of a lexicon, with the same draws for each ε."""

    def __init__(
        self, lexicon: MetricSpace, words: Sequence[str] | int | None, rng: Generator
    ) -> None:
        self._lexicon, self._seed = lexicon, int(rng.integers(2**32))
        ids = word_ids(lexicon, words)
        if isinstance(words, int) and len(ids) == 1 < len(lexicon):
            raise ParameterError("A sample of 1 word tells nothing of the others: take 2 or more.")
        if words is None and len(ids) < len(lexicon):
            ids = word_ids(lexicon, _WORDS)
        self._ids = ids
        listed = words is not None and not isinstance(words, int)
        self.whole = listed or len(ids) == len(lexicon)
        self._similarity = Similarity(lexicon)  # which is the same for each ε

    def _rng(self) -> Generator:
        """Return the generator of a figure's draws, the same for each ε.

        So the curve is smooth, and an ε has one chance, not many, to meet the target by luck.
        """
        return seeded_rng(self._seed)

    def mean(self, channel: Channel, name: str, worst: float | None = None) -> Estimate:
        batches = self._batches(channel, name)
        values, drawn = batches.mean(axis=0), len(batches) > 1
        if worst is not None:
            whole = self.whole and isinstance(channel, LawChannel)
            return tail(values, worst, whole, _runs(channel) * _BATCHES if drawn else None)
        mean = float(values.mean())
        unsafe = mean + margin(batches, self.whole)
        if name == "kept" and drawn:
            unsafe = max(unsafe, highest_share(mean, len(values) * _runs(channel) * _BATCHES))
        return Estimate.one_sided(mean, unsafe)

    def kept_by(self, like: Any) -> float:
        """Return the lower end of the share of the words that another channel keeps."""
        model = checked_channel(like)
        if tuple(model.lexicon.words) != tuple(self._lexicon.words):
            raise ParameterError("The 'like' parameter must be a channel on the same words.")
        batches = self._batches(model, "kept")
        return max(0.0, float(batches.mean()) - margin(batches, whole=True))

    def candidates(self, channel: Channel, least: float) -> Estimate:
        """Return the mean number of candidates of the words; for noise, a bound from below."""
        ids, whole, rng = self._ids, self.whole, self._rng()
        if isinstance(channel, LawChannel):
            batches = law_batches(channel, ids, rng)
        else:
            if len(ids) > _NOISE_WORDS:
                ids, whole = ids[even_sample(len(ids), _NOISE_WORDS)], False
            count = _COUNTS if whole or len(ids) < _FEW else 1  # words tell the error, if many
            cheap = _CELLS // (len(self._lexicon) * len(ids))
            draws = min(_MOST_DRAWS, max(_LEAST_DRAWS, cheap))
            rivals = math.ceil(_RIVALS * least)
            batches = np.stack(
                [
                    candidate_lower_bound(channel, ids, rng, rivals=rivals, draws=draws)
                    for _ in range(count)
                ]
            )
        mean = float(batches.mean())
        # The word itself always explains its output, so nothing below 1 is possible.
        return Estimate.one_sided(max(1.0, mean), max(1.0, mean - margin(batches, whole)))

    def success(self, channel: Channel, bound: float, occurrences: int, prior: Any) -> Estimate:
        """Return how often an observer guesses right; with more trials if few do not decide."""
        large = isinstance(channel, LawChannel) and len(channel.lexicon) > MOST
        if isinstance(channel, LawChannel) and large and occurrences == 1:
            estimate = estimated_success(channel, prior, rng=self._rng())
            if estimate is not None:
                return Estimate.one_sided(estimate.value, estimate.high)
        for trials in _LOOKS:
            look: dict[str, Any] = {"prior": prior, "trials": trials, "rng": self._rng()}
            if large:
                times = [occurrences]
                found = success_by_occurrences(channel, times, most=trials, **look)[occurrences]
            else:
                found = bayes_success(channel, occurrences=occurrences, **look).success
            if not found.low <= bound <= found.high:  # more trials would hardly change the answer
                break
        # For a law the value is exact or a simulation; for noise it is a lower bound, and the
        # interval's end an upper one: 97.5 % sure at each of two looks.
        return Estimate.one_sided(found.value, found.high)

    def _batches(self, channel: Channel, name: str) -> Floats:
        """Return a statistic of the words: one row from a law, or several rows from draws."""
        ids, rng = self._ids, self._rng()
        if isinstance(channel, LawChannel):
            return statistics_of(channel, ids, name, _RUNS, rng)[None]
        runs = _runs(channel)
        values = each_draw(channel, ids, name, runs * _BATCHES, rng, self._similarity)
        return np.asarray(values.reshape(len(ids), _BATCHES, runs).mean(axis=2).T)


def _runs(channel: Channel) -> int:
    """Return how many draws of each word a batch has: few where words share no noise, and each
    draw takes long on a large lexicon. Their errors are then independent.
    """
    slow = len(channel.lexicon) >= SMALLEST and not shares_noise(channel)
    return _SLOW_RUNS if slow else _RUNS


def margin(batches: Floats, whole: bool) -> float:
    """Return the margin of a mean: for the choice of words, unless `whole`, and for the draws.

    Words may share noise, so their differences do not show the error of draws. Batches do.
    """
    from scipy.special import stdtrit

    square, least = 0.0, math.inf
    if not whole:
        least = batches.shape[1]
        square += float(batches.mean(axis=0).var(ddof=1)) / least
    if len(batches) > 1:
        square += float(batches.mean(axis=1).var(ddof=1)) / len(batches)
        least = min(least, len(batches))
    sure = SURE if least >= _FEW else float(stdtrit(least - 1, 0.95))  # Student's t, one-sided
    return sure * math.sqrt(square)


def highest_share(share: float, draws: int) -> float:
    """Return the upper end of a share of draws, which holds even if the share is tiny or 0."""
    return float(clopper_pearson(np.rint(share * draws), draws, 0.9)[1])


def tail(values: Floats, worst: float, whole: bool, runs: int | None = None) -> Estimate:
    """Return the share that a share of words exceeds, with an upper bound for a sample.

    The bound is the order statistic that lies above the true quantile with 95 % confidence. If each
    value comes from `runs` draws, the upper bound of that statistic takes its place.
    """
    ordered = np.sort(values)
    place = min(len(ordered) - 1, math.ceil((1.0 - worst) * len(ordered)) - 1)
    value = float(ordered[max(place, 0)])
    if whole:
        return Estimate.exact(value)
    further = SURE * math.sqrt(len(ordered) * worst * (1.0 - worst))
    highest = float(ordered[min(len(ordered) - 1, place + math.ceil(further))])
    return Estimate.one_sided(value, highest if runs is None else highest_share(highest, runs))


# From the share of words that an observer recovers with context to ε.

_TEXTS: Final = 1000  # of a sample, at most
_WITH_CONTEXT: Final = "an observer with context recovers at most {:g} of the words of {}"


def _with_context(
    make: Callable[[float], Mechanism],
    lexicon: MetricSpace,
    success: float,
    sample: Any,
    rng: Generator,
    progress: Progress | None,
) -> Calibration:
    """Return the largest ε at which an observer with context recovers at most a share of words.

    The sample is attacked at each ε that is tried, and the upper end of the 95 % interval must keep
    to the share.
    """
    texts = list(several_texts(sample, "sample"))
    if not texts or not all(isinstance(each, str) for each in texts):
        raise ParameterError("`sample` takes one text or more, all of them strings.")
    if not isinstance(lexicon, Lexicon):
        raise ParameterError(f"A `sample` needs a Lexicon. Got {type_name(lexicon)}.")
    places = np.linspace(0, len(texts) - 1, min(len(texts), _TEXTS)).astype(np.int64)
    texts = [texts[i] for i in places]
    seed = int(rng.integers(2**63))  # the same noise at each ε, so that the curve is smooth

    def recovered(epsilon: float) -> Estimate:
        from malaprop.measure.adversaries import attack

        privatizer = Privatizer(lexicon, make(epsilon), rng=seeded_rng(seed))
        result: Any = attack("context", privatizer, texts, rng=seeded_rng(seed))
        return Estimate.one_sided(result.score, result.interval[1])

    text = _WITH_CONTEXT.format(success, f"{len(texts):,} public texts")
    target, compared = TARGETS["success"], partial(normalised, lexicon)
    return searched(recovered, target, success, text, compared, progress=progress)


def _interpolated(mechanism: Mechanism, lexicon: MetricSpace, success: float) -> Calibration:
    """Return the same by stored figures of film reviews, with the usual parameters."""
    curve = context_curve(mechanism, lexicon)
    if not curve:
        raise ParameterError(
            "What an observer recovers with context was measured for balanced, tem and laplace on "
            "english, with their usual parameters: for others, give public texts as `sample`."
        )
    told, epsilons = curve[0], [figure.epsilon for figure in curve]
    upper = np.maximum.accumulate([figure.upper for figure in curve])
    if not upper[0] <= success <= upper[-1]:
        raise ParameterError(
            f"The share of {success:g} is beyond what was measured on {told.sample}: "
            f"{upper[0]:.3g} (ε = {epsilons[0]:g}) to {upper[-1]:.3g} "
            f"(ε = {epsilons[-1]:g}). Give public texts as `sample`."
        )
    epsilon = float(np.interp(success, upper, epsilons))
    shares = [figure.context for figure in curve]
    value = float(np.interp(epsilon, epsilons, shares))
    points = sorted([*zip(epsilons, shares, strict=True), (epsilon, value)])
    return Calibration(
        epsilon=epsilon,
        target=_WITH_CONTEXT.format(success, f"{told.sample}, from bigrams of {told.prior}"),
        figures=tuple(
            (each, Estimate.one_sided(share, float(np.interp(each, epsilons, upper))))
            for each, share in points
        ),
        normalised=normalised(lexicon, epsilon),
    )


# λ of the Mahalanobis mechanism by a grid: the best of one figure under a bound on another.
#
# At one nominal ε, a larger λ weakens the guarantee in Euclidean distance. So each row of the
# result has both ε: a λ that looks better may just be less private.

GRID = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""The λ that are tried by default."""
_LAMBDA_RUNS: Final = 64


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
        return next(row for row in self.rows if row.regularization == self.regularization)

    def to_dict(self) -> dict[str, Any]:
        return {
            "lambda": self.regularization,
            "epsilon": self.best.epsilon,
            "euclidean_epsilon": self.best.euclidean,
            "target": self.target,
            "grid": [vars(row).copy() for row in self.rows],
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
    noise = secure_rng() if rng is None else checked_rng(rng)
    ids = word_ids(lexicon, min(_WORDS, len(lexicon)) if words is None else words)
    make: Any = mechanism_named("mahalanobis")
    rows, skipped = [], []
    for place, value in enumerate(chosen, 1):
        made: Mechanism = make(epsilon=epsilon, regularization=value, clusters=clusters)
        try:
            channel = made.on(lexicon)
        except ParameterError:
            if value < 1.0:
                raise
            skipped.append(value)  # the covariance alone is singular
        else:
            means, margins = {}, {}
            for name in ("kept", "similarity"):
                values = statistics_of(channel, ids, name, _LAMBDA_RUNS, noise)
                error = float(values.std(ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else 0
                means[name], margins[name] = float(np.mean(values)), SURE * error
            rows.append(
                LambdaRow(
                    regularization=value,
                    epsilon=channel.guarantee.epsilon,
                    euclidean=channel.guarantee.in_metric("euclidean").epsilon,
                    **means,
                    within=means["similarity"] - margins["similarity"] >= similarity
                    if similarity is not None
                    else means["kept"] + margins["kept"] <= (kept or 0.0),
                )
            )
        report(progress, place, len(chosen))
    within = [row for row in rows if row.within]
    if similarity is None:
        target = f"the largest similarity with at most {kept:g} of words kept"
        reached = min((row.kept for row in rows), default=math.nan)
        best = max(within, key=lambda row: row.similarity, default=None)
    else:
        target = f"the fewest words kept with a similarity of at least {similarity:g}"
        reached = max((row.similarity for row in rows), default=math.nan)
        best = min(within, key=lambda row: row.kept, default=None)
    if best is None:
        raise ParameterError(
            f"No λ of the grid keeps to the bound ({target}): the nearest reaches {reached:.4g}. "
            "Use another ε."
        )
    return LambdaChoice(
        regularization=best.regularization,
        target=target,
        rows=tuple(rows),
        skipped=tuple(skipped),
    )


def check_grid(grid: Sequence[float], kept: float | None, similarity: float | None) -> list[float]:
    """Return the numbers of a grid in order; refuse others, and a bound that is none."""
    if (kept is None) == (similarity is None):
        raise ParameterError("Choosing λ takes one bound: kept, or similarity.")
    name, bound = ("similarity", similarity) if kept is None else ("kept", kept)
    TARGETS[name].bound(bound)
    values = [float(value) for value in grid]
    if not values or not all(0.0 <= value <= 1.0 for value in values):
        raise ParameterError("The grid of λ must have numbers from 0 to 1, at least one.")
    return sorted(set(values))

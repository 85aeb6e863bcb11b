"""From a target that a person understands to ε.

The figure behind each target grows or falls with ε. So a search finds the largest ε at which
the figure is still on the safe side of the target, with the error of a sample included.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Self

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
from malaprop.measure.profile import ContextCurve, context_curve
from malaprop.measure.word_statistics import (
    candidate_lower_bound,
    law_batches,
    registry,
    statistics_of,
)
from malaprop.privacy.arrays import Floats, Ids
from malaprop.privacy.channel import Channel, LawChannel, checked_channel
from malaprop.privacy.errors import MalapropError, ParameterError, several_texts, type_name
from malaprop.privacy.estimate import MOST, clopper_pearson, even_sample, word_ids
from malaprop.privacy.mechanism import Mechanism
from malaprop.privacy.metrics import MetricSpace
from malaprop.privacy.progress import Progress, report
from malaprop.privacy.randomness import checked_rng, secure_rng, seeded_rng
from malaprop.privatizer import Privatizer
from malaprop.recipe import mechanism_of_name

# The search for the ε at which a figure meets a target, and its result.


SURE = 1.6448536269514722
"""One-sided 95 % of a normal law, in standard deviations."""
_LEAST, _MOST = 1e-3, 1e3  # the range of ε that is searched, as multiples of the first one
_STEPS = 24  # the most channels that are tried
_CLOSE = 0.002  # relative width of the last interval of ε


@dataclass(frozen=True)
class Figure:
    """A figure at some ε: its value, and the value on the unsafe side of its error."""

    value: float
    unsafe: float

    @property
    def is_exact(self) -> bool:
        """Whether it has no error."""
        return self.unsafe == self.value

    def __str__(self) -> str:
        error = "" if self.is_exact else f" ({_shown(self.unsafe)} with its error)"
        return f"{_shown(self.value)}{error}"


def _shown(value: float) -> str:
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:,.0f}"


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """The largest ε that keeps to a target, or the smallest that reaches one."""

    epsilon: float
    """ε; a channel with it does not exceed the target."""
    target: str
    """What was asked for."""
    value: float
    """The figure at this ε."""
    curve: tuple[tuple[float, float], ...]
    """ε and the figure, for each ε that was tried, in ascending order."""
    bounds: tuple[float, ...]
    """For each point of the curve, the figure on the unsafe side of its error: that must keep to
    the target. It is the figure itself if that is exact."""
    normalised: Mapping[str, float]
    """Figures that can be compared between lexicons and metrics."""
    exact: bool
    """Whether the figure was computed from a law, for all words or all that were listed."""

    @classmethod
    def of_search(
        cls,
        epsilon: float,
        tried: Mapping[float, Figure],
        *,
        target: str,
        normalised: Mapping[str, float],
        exact: bool = False,
    ) -> Self:
        """Return the result of a search that chose an ε among those that were tried."""
        figures = [(each, tried[each]) for each in sorted(tried)]
        return cls(
            epsilon=epsilon,
            target=target,
            value=tried[epsilon].value,
            curve=tuple((each, figure.value) for each, figure in figures),
            bounds=tuple(figure.unsafe for _, figure in figures),
            normalised=normalised,
            exact=exact,
        )

    @property
    def figure(self) -> Figure:
        """The figure at this ε, with its error."""
        at = [epsilon for epsilon, _ in self.curve].index(self.epsilon)
        return Figure(self.value, self.bounds[at])

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values for JSON."""
        return {
            "epsilon": self.epsilon,
            "target": self.target,
            "value": self.value,
            "exact": self.exact,
            "normalised": dict(self.normalised),
            "curve": [
                {"epsilon": epsilon, "value": value, "bound": bound}
                for (epsilon, value), bound in zip(self.curve, self.bounds, strict=True)
            ],
        }


def mechanism_at(mechanism: Any) -> Callable[[float], Mechanism]:
    """Return what makes the mechanism with a given ε."""
    if isinstance(mechanism, str):
        mechanism = mechanism_of_name(mechanism)
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


def share_of(name: str, value: Any) -> float:
    """Return a target between 0 and 1; refuse anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 < value < 1.0:
        raise ParameterError(
            f"The target '{name}' must lie between 0 and 1, both excluded. Got {value!r}."
        )
    return float(value)


def largest_epsilon(
    figure: Callable[[float], Figure],
    met: Callable[[Figure], bool],
    target: str,
    *,
    start: float = 1.0,
    progress: Progress | None = None,
) -> tuple[float, dict[float, Figure]]:
    """Return the largest ε that keeps to a target, and the figures of all that were tried."""
    search = _Bisection(figure, met, target, progress)
    low, high = search.bracket(start)
    low, _ = search.narrow(low, high)
    return low, search.tried


def smallest_epsilon(
    figure: Callable[[float], Figure],
    met: Callable[[Figure], bool],
    target: str,
    *,
    start: float = 1.0,
    progress: Progress | None = None,
) -> tuple[float, dict[float, Figure]]:
    """Return the smallest ε that reaches a target, and the figures of all that were tried."""
    search = _Bisection(figure, lambda value: not met(value), target, progress, reaches=True)
    low, high = search.bracket(start)
    _, high = search.narrow(low, high)
    return high, search.tried


class _Bisection:
    """Looks for the ε up to which something is true of a figure."""

    def __init__(
        self,
        figure: Callable[[float], Figure],
        below: Callable[[Figure], bool],
        target: str,
        progress: Progress | None,
        *,
        reaches: bool = False,
    ) -> None:
        self._figure, self._below, self._target = figure, below, target
        self._progress, self._reaches = progress, reaches
        self.tried: dict[float, Figure] = {}

    def is_below(self, epsilon: float) -> bool:
        self.tried[epsilon] = self._figure(epsilon)
        report(self._progress, min(len(self.tried), _STEPS - 1), _STEPS)
        return self._below(self.tried[epsilon])

    def narrow(self, low: float, high: float) -> tuple[float, float]:
        """Bisect until both ends are close."""
        while high > low * (1.0 + _CLOSE) and len(self.tried) < _STEPS:
            middle = math.sqrt(low * high)
            low, high = (middle, high) if self.is_below(middle) else (low, middle)
        report(self._progress, _STEPS, _STEPS)
        return low, high

    def bracket(self, start: float) -> tuple[float, float]:
        """Return an ε of which it is true, and one twice as large of which it is not."""
        epsilon = start
        if self.is_below(epsilon):
            while epsilon < _MOST * start:
                if not self.is_below(2.0 * epsilon):
                    return epsilon, 2.0 * epsilon
                epsilon *= 2.0
            raise self._too_high(epsilon)
        while epsilon > _LEAST * start:
            epsilon /= 2.0
            try:
                if self.is_below(epsilon):
                    return epsilon, 2.0 * epsilon
            except MalapropError:
                break  # the mechanism serves no smaller ε
        raise self._too_low(min(self.tried))

    def _too_high(self, epsilon: float) -> ParameterError:
        value = f"the figure is {self.tried[epsilon]} there"
        if self._reaches:
            return ParameterError(
                f"The target ({self._target}) is out of reach: up to ε = {epsilon:.4g}, the "
                f"largest that is searched, nothing meets it; {value}."
            )
        return ParameterError(
            f"Every ε up to {epsilon:.4g}, the largest that is searched, meets the target "
            f"({self._target}): {value}."
        )

    def _too_low(self, epsilon: float) -> ParameterError:
        value = f"{self.tried[epsilon]}"
        if self._reaches:
            return ParameterError(
                f"Every ε down to {epsilon:.4g}, the smallest that is searched, meets the target "
                f"({self._target}): the figure is {value} there."
            )
        return ParameterError(
            f"The target ({self._target}) is out of reach: the figure is {value} at "
            f"ε = {epsilon:.4g}, the smallest that is searched."
        )


# From the share of words that an observer recovers with context to ε.


_TEXTS = 1000  # of a sample, at most


def require_success_alone(
    success: float | None, occurrences: int, others: Iterable[object], *, context: bool
) -> None:
    """Refuse targets and options that say nothing about an observer with context."""
    if not context:
        raise ParameterError("A `sample` goes with `context=True`.")
    if success is None or occurrences != 1 or any(value is not None for value in others):
        raise ParameterError(
            "`context=True` goes with the target `success` alone: an observer with context knows "
            "how frequent words are, and sees them once."
        )


def calibrate_context(
    make: Callable[[float], Mechanism],
    lexicon: MetricSpace,
    success: float,
    sample: Sequence[str] | None,
    rng: Generator | None,
    progress: Progress | None,
) -> Calibration:
    """Return the largest ε at which an observer with context recovers at most a share of words.

    On a sample, the texts are attacked at each ε that is tried, and the upper end of the 95 %
    interval must keep to the share. Without one, stored figures of film reviews are interpolated.
    """
    rng = secure_rng() if rng is None else checked_rng(rng)
    if sample is not None:
        return _on_sample(make, lexicon, success, sample, rng, progress)
    curve = context_curve(make(1.0), lexicon)
    if curve is None:
        raise ParameterError(
            "What an observer recovers with context was measured for balanced, tem and laplace on "
            "english, with their usual parameters: for others, give public texts as `sample`."
        )
    return _on_stored(curve, lexicon, success)


def _target(success: float, where: str) -> str:
    return f"an observer with context recovers at most {success:g} of the words of {where}"


def _on_stored(curve: ContextCurve, lexicon: MetricSpace, success: float) -> Calibration:
    """Interpolate: the largest ε at which the upper end of the interval keeps to the share."""
    upper = np.maximum.accumulate(curve.upper)
    if not upper[0] <= success <= upper[-1]:
        raise ParameterError(
            f"The share of {success:g} is beyond what was measured on {curve.sample}: "
            f"{upper[0]:.3g} (ε = {curve.epsilons[0]:g}) to {upper[-1]:.3g} "
            f"(ε = {curve.epsilons[-1]:g}). Give public texts as `sample`."
        )
    epsilon = float(np.interp(success, upper, curve.epsilons))
    figure = curve.at(epsilon)
    value = success if figure is None else figure.context
    points = sorted([*zip(curve.epsilons, curve.context, strict=True), (epsilon, value)])
    return Calibration(
        epsilon=epsilon,
        target=f"{_target(success, curve.sample)}, from bigrams of {curve.prior}",
        value=value,
        curve=tuple(points),
        bounds=tuple(np.interp([each for each, _ in points], curve.epsilons, upper).tolist()),
        normalised=normalised(lexicon, epsilon),
        exact=False,
    )


def _on_sample(
    make: Callable[[float], Mechanism],
    lexicon: MetricSpace,
    success: float,
    sample: Sequence[str],
    rng: Generator,
    progress: Progress | None,
) -> Calibration:
    texts = _checked(sample)
    if not isinstance(lexicon, Lexicon):
        raise ParameterError(f"A `sample` needs a Lexicon. Got {type_name(lexicon)}.")
    seed = int(rng.integers(2**63))  # the same noise at each ε, so that the curve is smooth

    def figure(epsilon: float) -> Figure:
        from malaprop.measure.adversaries import attack

        privatizer = Privatizer(lexicon, make(epsilon), rng=seeded_rng(seed))
        result: Any = attack("context", privatizer, texts, rng=seeded_rng(seed))
        return Figure(result.score, result.interval[1])

    target = _target(success, f"{len(texts):,} public texts")
    epsilon, tried = largest_epsilon(
        figure, lambda each: each.unsafe <= success, target, progress=progress
    )
    return Calibration.of_search(
        epsilon,
        tried,
        target=target,
        normalised=normalised(lexicon, epsilon),
        exact=False,
    )


def _checked(sample: Any) -> list[str]:
    """Return up to 1,000 texts, spread evenly over the sample."""
    texts = list(several_texts(sample, "sample"))
    if not texts or not all(isinstance(text, str) for text in texts):
        raise ParameterError("`sample` takes one text or more, all of them strings.")
    chosen = np.linspace(0, len(texts) - 1, min(len(texts), _TEXTS)).astype(np.int64)
    return [texts[i] for i in chosen]


# How far figures of a search for ε may be off: for the choice of words, and for the draws.


FEW: Final = 30
"""Words or batches: fewer say little about their own spread."""


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
    sure = SURE if least >= FEW else float(stdtrit(least - 1, 0.95))  # Student's t, one-sided
    return sure * math.sqrt(square)


def highest_share(share: float, draws: int) -> float:
    """Return the upper end of a share of draws, which holds even if the share is tiny or 0."""
    return float(clopper_pearson(np.rint(share * draws), draws, 0.9)[1])


def tail(values: Floats, worst: float, whole: bool, runs: int | None = None) -> Figure:
    """Return the share that a share of words exceeds, with an upper bound for a sample.

    The bound is the order statistic that lies above the true quantile with 95 % confidence. If each
    value comes from `runs` draws, the upper bound of that statistic takes its place.
    """
    ordered = np.sort(values)
    place = min(len(ordered) - 1, math.ceil((1.0 - worst) * len(ordered)) - 1)
    value = float(ordered[max(place, 0)])
    if whole:
        return Figure(value, value)
    further = SURE * math.sqrt(len(ordered) * worst * (1.0 - worst))
    upper = min(len(ordered) - 1, place + math.ceil(further))
    highest = float(ordered[upper])
    return Figure(value, highest if runs is None else highest_share(highest, runs))


_WORDS = 256  # of a large lexicon,
_LOOKS = (200, 1_000)  # trials: many only where few do not decide
_RUNS = 16  # draws of each word where the law is unknown, in each of several batches
_BATCHES = 8
_NOISE_WORDS = 128  # whose candidates are counted from draws,
_COUNTS = 4  # batches where candidates are counted for the whole of some words
_RIVALS = 4  # inputs that are compared with a word, for each candidate that is asked for
_CELLS = 1 << 27  # draws of all words, times words of the lexicon, that take a second
_LEAST_DRAWS, _MOST_DRAWS = 32, 2_048  # of each word whose candidates are counted from draws


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
    check_target(
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
    if context:
        return calibrate_context(
            mechanism_at(mechanism), lexicon, share_of("success", success), sample, rng, progress
        )
    search = _Search(
        mechanism_at(mechanism), lexicon, words, secure_rng() if rng is None else checked_rng(rng)
    )
    goal = _goal(
        search,
        kept=kept,
        worst=worst,
        success=success,
        occurrences=occurrences,
        prior=prior,
        candidates=candidates,
        similarity=similarity,
        like=like,
    )
    return search.run(goal, progress)


_TARGETS = ("kept", "success", "candidates", "similarity", "like")


def check_target(
    *, context: bool = False, sample: object = None, occurrences: int = 1, **given: Any
) -> None:
    """Refuse targets and options of `calibrate` that no lexicon makes sense of."""
    if context or sample is not None:
        others = (value for name, value in given.items() if name != "success")
        require_success_alone(given.get("success"), occurrences, others, context=context)
    named = [name for name in _TARGETS if given.get(name) is not None]
    if len(named) != 1:
        raise ParameterError(
            f"Calibrating takes one target of {', '.join(_TARGETS)}. "
            f"Got {', '.join(named) or 'none'}."
        )
    worst = given.get("worst")
    if worst is not None and not (named == ["kept"] and _is_share(worst)):
        raise ParameterError("`worst` goes with `kept` only, and is a share of 0 or more, below 1.")
    if named != ["success"]:
        _require_usual("prior", given.get("prior") is None)
        _require_usual("occurrences", occurrences == 1)
    if named == ["candidates"]:
        _least_candidates(given["candidates"])
    elif named != ["like"]:
        share_of(named[0], given[named[0]])


def _require_usual(name: str, usual: bool) -> None:
    if not usual:
        raise ParameterError(f"`{name}` goes with `success` only: leave it out.")


@dataclass(frozen=True, kw_only=True)
class _Goal:
    """A figure of a channel, and the bound that it must keep to: from below if it falls with ε."""

    text: str
    bound: float
    figure: Callable[[Channel], Figure]
    rises: bool = True

    def met(self, figure: Figure) -> bool:
        return figure.unsafe <= self.bound if self.rises else figure.unsafe >= self.bound


def _goal(search: "_Search", **targets: Any) -> _Goal:
    given, worst = [name for name in _TARGETS if targets[name] is not None], targets["worst"]
    if given == ["kept"]:
        bound = share_of("kept", targets["kept"])
        whose = "on average" if worst is None else f"for all but {worst:.3g} of words"
        return _Goal(
            text=f"at most {bound:g} of words stay as they are, {whose}",
            bound=bound,
            figure=lambda channel: search.figure(channel, "kept", worst),
        )
    if given == ["success"]:
        return _success_goal(search, **targets)
    if given == ["like"]:
        model = checked_channel(targets["like"])
        if tuple(model.lexicon.words) != tuple(search.lexicon.words):
            raise ParameterError("The 'like' parameter must be a channel on the same words.")
        bound = search.surely_kept(model)
        return _Goal(
            text=f"as many words stay as with the other mechanism, {bound:.4g}",
            bound=bound,
            figure=lambda channel: search.figure(channel, "kept", None),
        )
    if given == ["candidates"]:
        least = _least_candidates(targets["candidates"])
        return _Goal(
            text=f"at least {least:g} inputs explain an output within a factor of 2",
            bound=least,
            figure=lambda channel: search.candidates(channel, least),
            rises=False,
        )
    bound = share_of("similarity", targets["similarity"])
    return _Goal(
        text=f"an expected similarity of at most {bound:g}",
        bound=bound,
        figure=lambda channel: search.figure(channel, "similarity", None),
    )


def _is_share(value: Any) -> bool:
    return isinstance(value, int | float) and 0.0 <= value < 1.0


def _least_candidates(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise ParameterError(f"The target 'candidates' must be finite, and above 0. Got {value!r}.")
    return float(value)


def _success_goal(search: "_Search", **targets: Any) -> _Goal:
    bound, occurrences = share_of("success", targets["success"]), targets["occurrences"]

    def figure(channel: Channel) -> Figure:
        if occurrences == 1 and isinstance(channel, LawChannel) and len(channel.lexicon) > MOST:
            estimate = estimated_success(channel, targets["prior"], rng=search.rng())
            if estimate is not None:
                return Figure(estimate[0], estimate[1][1])
        for trials in _LOOKS:
            value, (low, high) = _tried(
                channel, occurrences, targets["prior"], trials, search.rng()
            )
            if not low <= bound <= high:  # more trials would hardly change the answer
                break
        # For a law the value is exact or a simulation; for noise it is a lower bound, and the
        # interval's end an upper one: 97.5 % sure at each of two looks.
        return Figure(value, high)

    times = "" if occurrences == 1 else f" that occurs {occurrences} times"
    text = f"an observer without context guesses at most {bound:g} of words right{times}"
    text += f" (prior: {belief_over(search.lexicon, targets['prior']).source})"
    return _Goal(text=text, bound=bound, figure=figure)


def _tried(
    channel: Channel, occurrences: int, prior: Any, trials: int, rng: Generator
) -> tuple[float, tuple[float, float]]:
    """Return the success and its interval, from so many trials unless it can be computed soon."""
    if isinstance(channel, LawChannel) and len(channel.lexicon) > MOST:
        (tried,) = success_by_occurrences(
            channel, [occurrences], prior=prior, trials=trials, most=trials, rng=rng
        )
        return tried.value, tried.interval
    chance = bayes_success(channel, prior, occurrences, rng=rng, trials=trials)
    return chance.value, chance.interval


class _Search:
    """The search for ε: one channel per ε, and a figure of each."""

    def __init__(
        self,
        make: Callable[[float], Mechanism],
        lexicon: MetricSpace,
        words: Sequence[str] | int | None,
        rng: Generator,
    ) -> None:
        self._make, self.lexicon = make, lexicon
        self._seed = int(rng.integers(2**32))
        ids = word_ids(lexicon, words)
        if isinstance(words, int) and len(ids) == 1 < len(lexicon):
            raise ParameterError("A sample of 1 word tells nothing of the others: take 2 or more.")
        if words is None and len(ids) < len(lexicon):
            ids = word_ids(lexicon, _WORDS)
        self._ids = ids
        listed = words is not None and not isinstance(words, int)
        self._whole = listed or len(ids) == len(lexicon)
        self._lawful = False

    def rng(self) -> Generator:
        """Return the generator of a figure's draws, the same for each ε.

        So the curve is smooth, and an ε has one chance, not many, to meet the target by luck.
        """
        return seeded_rng(self._seed)

    def figure(self, channel: Channel, name: str, worst: float | None) -> Figure:
        """Return the mean of a statistic over the words, or that of the worst words."""
        batches = self._batches(channel, name)
        values = batches.mean(axis=0)
        if worst is not None:
            whole = self._whole and isinstance(channel, LawChannel)
            return tail(values, worst, whole, _RUNS * _BATCHES if len(batches) > 1 else None)
        mean, unsafe = float(values.mean()), float(values.mean()) + margin(batches, self._whole)
        if name == "kept" and len(batches) > 1:
            unsafe = max(unsafe, highest_share(mean, len(values) * _RUNS * _BATCHES))
        return Figure(mean, unsafe)

    def surely_kept(self, channel: Channel) -> float:
        """Return the lower end of the mean share of the words that stay, given the same words."""
        batches = self._batches(channel, "kept")
        return max(0.0, float(batches.mean()) - margin(batches, whole=True))

    def candidates(self, channel: Channel, least: float) -> Figure:
        """Return the mean number of candidates of the words; for noise, a bound from below."""
        ids, whole = self._ids, self._whole
        if isinstance(channel, LawChannel):
            batches = law_batches(channel, ids, self.rng())
        else:
            if len(ids) > _NOISE_WORDS:
                ids, whole = ids[even_sample(len(ids), _NOISE_WORDS)], False
            count = _COUNTS if whole or len(ids) < FEW else 1  # words tell the error, if many
            cheap = _CELLS // (len(self.lexicon) * len(ids))
            draws = min(_MOST_DRAWS, max(_LEAST_DRAWS, cheap))
            rng, rivals = self.rng(), math.ceil(_RIVALS * least)
            batches = np.stack(
                [
                    candidate_lower_bound(channel, ids, rng, rivals=rivals, draws=draws)
                    for _ in range(count)
                ]
            )
        mean = float(batches.mean())
        # The word itself always explains its output, so nothing below 1 is possible.
        return Figure(max(1.0, mean), max(1.0, mean - margin(batches, whole)))

    def _batches(self, channel: Channel, name: str) -> Floats:
        """Return a statistic of the words: one row from a law, or several rows from draws."""
        rng = self.rng()
        return np.stack(
            [
                statistics_of(channel, self._ids, registry[name], _RUNS, rng)
                for _ in range(1 if isinstance(channel, LawChannel) else _BATCHES)
            ]
        )

    def run(self, goal: _Goal, progress: Progress | None) -> Calibration:
        """Bisect between an ε that keeps to the target and one that does not."""

        def figure(epsilon: float) -> Figure:
            channel = self._make(epsilon).on(self.lexicon)
            self._lawful = isinstance(channel, LawChannel)
            return goal.figure(channel)

        epsilon, tried = largest_epsilon(figure, goal.met, goal.text, progress=progress)
        return Calibration.of_search(
            epsilon,
            tried,
            target=goal.text,
            normalised=normalised(self.lexicon, epsilon),
            exact=self._lawful and self._whole and tried[epsilon].is_exact,
        )


# λ of the Mahalanobis mechanism by a grid: the best of one figure under a bound on another.
#
# At one nominal ε, a larger λ weakens the guarantee in Euclidean distance. So each row of the
# result has both ε: a λ that looks better may just be less private.


GRID = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""The λ that are tried by default."""
_LAMBDA_RUNS = 64


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
        values = statistics_of(channel, self._ids, registry[name], _LAMBDA_RUNS, self._rng)
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

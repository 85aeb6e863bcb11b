"""From a target that a person understands to ε.

The figure behind each target grows or falls with ε. So a search finds the largest ε at which
the figure is still on the safe side of the target, counting the error of a sample in.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Floats
from malaprop.core.channel import Channel, LawChannel, checked_channel
from malaprop.core.errors import MalapropError, ParameterError
from malaprop.core.mechanism import Mechanism
from malaprop.core.progress import Progress, report
from malaprop.core.randomness import checked_rng, secure_rng
from malaprop.core.space import MetricSpace
from malaprop.measure.bayes import bayes_success, estimated_success
from malaprop.measure.chosen_words import MOST, word_ids
from malaprop.measure.figures import nearest_distances
from malaprop.measure.words.statistic import registry
from malaprop.measure.words.statistics import statistics_of
from malaprop.pipeline.choosing import chosen_mechanism

_LEAST, _MOST = 1e-3, 1e3  # the range of ε that is searched
_STEPS = 24  # the most channels that are tried
_CLOSE = 0.002  # relative width of the last interval of ε
_WORDS = 256  # of a large lexicon
_RUNS = 64  # draws of each word where the law is unknown
_SURE = 1.6448536269514722  # one-sided 95 %


@dataclass(frozen=True)
class Figure:
    """A figure at some ε: its value, and the value on the unsafe side of its error."""

    value: float
    unsafe: float


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """The largest ε that keeps to a target."""

    epsilon: float
    """ε; a channel with it does not exceed the target."""
    target: str
    """What was asked for."""
    value: float
    """The figure at this ε."""
    curve: tuple[tuple[float, float], ...]
    """ε and the figure, for each ε that was tried, in ascending order."""
    normalised: Mapping[str, float]
    """Figures that can be compared between lexicons and metrics."""
    exact: bool
    """Whether the figure was computed from a law and for all words."""

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values for JSON."""
        return {
            "epsilon": self.epsilon,
            "target": self.target,
            "value": self.value,
            "exact": self.exact,
            "normalised": dict(self.normalised),
            "curve": [{"epsilon": epsilon, "value": value} for epsilon, value in self.curve],
        }


def calibrate(
    mechanism: type[Mechanism] | Mechanism | str,
    lexicon: MetricSpace,
    *,
    kept: float | None = None,
    worst: float | None = None,
    success: float | None = None,
    occurrences: int = 1,
    prior: Any = None,
    candidates: float | None = None,
    similarity: float | None = None,
    like: Channel | None = None,
    words: int | None = None,
    rng: Generator | None = None,
    progress: Progress | None = None,
) -> Calibration:
    """Return the largest ε at which a mechanism keeps to one target on a lexicon.

    - `kept`: the mean share of words that stay as they are. With `worst=0.05`, that of the word
      which only 5 % of words exceed; with `worst=0`, that of the worst word, hyperbolic-2019's
      radius of high protection (§VI-C).
    - `success`: how often an observer without context guesses a word right, with a `prior`, and
      over `occurrences` draws; see `bayes_success`.
    - `candidates`: how many inputs explain an output within a factor of 2, at least.
    - `similarity`: the expected similarity of a word and its replacement.
    - `like`: a channel; as many words stay as with that one.

    `mechanism` is a class, a registered name, or a mechanism whose other parameters are kept. On
    lexicons of up to 10,000 words a figure is computed for all words, on larger ones for 256 of
    them (or for `words`), with a one-sided confidence of 95 %.

    >>> from malaprop import Lexicon, TEM
    >>> line = Lexicon(["cold", "cool", "hot"], [[0.0], [1.0], [3.0]])
    >>> found = calibrate(TEM, line, kept=0.6)
    >>> round(found.value, 2), found.exact
    (0.6, True)
    """
    search = _Search(
        _maker(mechanism), lexicon, words, secure_rng() if rng is None else checked_rng(rng)
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


@dataclass(frozen=True, kw_only=True)
class _Goal:
    """A figure of a channel, and the bound that it must keep to: from below if it falls with ε."""

    text: str
    bound: float
    figure: Callable[[Channel], Figure]
    rises: bool = True

    def met(self, figure: Figure) -> bool:
        return figure.unsafe <= self.bound if self.rises else figure.unsafe >= self.bound


def _maker(mechanism: Any) -> Callable[[float], Mechanism]:
    """Return what makes the mechanism with a given ε."""
    if isinstance(mechanism, str):
        mechanism = chosen_mechanism(mechanism, 1.0)
    if isinstance(mechanism, Mechanism):
        given = mechanism
        return lambda epsilon: replace(given, epsilon=epsilon)
    if isinstance(mechanism, type) and issubclass(mechanism, Mechanism):
        cls = mechanism
        return lambda epsilon: cls(epsilon=epsilon)
    raise ParameterError(
        "The 'mechanism' parameter of calibrate must be a mechanism, its class or its name. "
        f"Got {type(mechanism).__name__}."
    )


def _goal(search: "_Search", **targets: Any) -> _Goal:
    named = ("kept", "success", "candidates", "similarity", "like")
    given = [name for name in named if targets[name] is not None]
    if len(given) != 1:
        raise ParameterError(
            f"Calibrating takes one target of {', '.join(named)}. Got {', '.join(given) or 'none'}."
        )
    worst = targets["worst"]
    if worst is not None and not (given == ["kept"] and 0.0 <= worst < 1.0):
        raise ParameterError("`worst` goes with `kept` only, and is a share of 0 or more, below 1.")
    if given == ["kept"]:
        bound = _share("kept", targets["kept"])
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
        bound = search.figure(model, "kept", None).value
        return _Goal(
            text=f"as many words stay as with the other mechanism, {bound:.4g}",
            bound=bound,
            figure=lambda channel: search.figure(channel, "kept", None),
        )
    if given == ["candidates"]:
        least = float(targets["candidates"])
        return _Goal(
            text=f"at least {least:g} inputs explain an output within a factor of 2",
            bound=least,
            figure=lambda channel: search.figure(channel, "candidates", None, rises=False),
            rises=False,
        )
    return _Goal(
        text=f"an expected similarity of {targets['similarity']:g}",
        bound=_share("similarity", targets["similarity"]),
        figure=lambda channel: search.figure(channel, "similarity", None),
    )


def _success_goal(search: "_Search", **targets: Any) -> _Goal:
    bound, occurrences = _share("success", targets["success"]), targets["occurrences"]

    def figure(channel: Channel) -> Figure:
        if occurrences == 1 and isinstance(channel, LawChannel) and len(channel.lexicon) > MOST:
            estimate = estimated_success(channel, targets["prior"], rng=search.rng)
            if estimate is not None:
                return Figure(estimate[0], estimate[1][1])
        found = bayes_success(
            channel, prior=targets["prior"], occurrences=occurrences, rng=search.rng
        )
        # For a law the value is exact or a simulation; for noise it is a lower bound.
        return Figure(found.value, found.interval[1])

    times = "" if occurrences == 1 else f" that occurs {occurrences} times"
    text = f"an observer without context guesses at most {bound:g} of words right{times}"
    return _Goal(text=text, bound=bound, figure=figure)


def _share(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 < value < 1.0:
        raise ParameterError(
            f"The target '{name}' must lie between 0 and 1, both excluded. Got {value!r}."
        )
    return float(value)


class _Search:
    """The search for ε: one channel per ε, and a figure of each."""

    def __init__(
        self,
        make: Callable[[float], Mechanism],
        lexicon: MetricSpace,
        words: int | None,
        rng: Generator,
    ) -> None:
        self._make, self._lexicon, self.rng = make, lexicon, rng
        ids = word_ids(lexicon, words)
        if words is None and len(ids) < len(lexicon):
            ids = word_ids(lexicon, _WORDS)
        self._ids = ids
        self._lawful = False

    def figure(
        self, channel: Channel, name: str, worst: float | None, rises: bool = True
    ) -> Figure:
        """Return the mean of a statistic over the words, or that of the worst words."""
        values = statistics_of(channel, self._ids, registry[name], _RUNS, self.rng)
        whole = len(self._ids) == len(self._lexicon) and isinstance(channel, LawChannel)
        if worst is not None:
            return _tail(values, worst, whole)
        mean = float(values.mean())
        margin = 0.0
        if not whole and len(values) > 1:
            margin = _SURE * float(values.std(ddof=1)) / math.sqrt(len(values))
        return Figure(mean, mean + margin if rises else mean - margin)

    def run(self, goal: _Goal, progress: Progress | None) -> Calibration:
        """Bisect between an ε that keeps to the target and one that does not."""
        tried: dict[float, Figure] = {}

        def met(epsilon: float) -> bool:
            channel = self._make(epsilon).on(self._lexicon)
            self._lawful = isinstance(channel, LawChannel)
            tried[epsilon] = goal.figure(channel)
            report(progress, min(len(tried), _STEPS - 1), _STEPS)
            return goal.met(tried[epsilon])

        low, high = self._bracket(met, goal, tried)
        while high > low * (1.0 + _CLOSE) and len(tried) < _STEPS:
            middle = math.sqrt(low * high)
            low, high = (middle, high) if met(middle) else (low, middle)
        report(progress, _STEPS, _STEPS)
        return Calibration(
            epsilon=low,
            target=goal.text,
            value=tried[low].value,
            curve=tuple((epsilon, tried[epsilon].value) for epsilon in sorted(tried)),
            normalised=self._normalised(low),
            exact=self._lawful and len(self._ids) == len(self._lexicon),
        )

    def _bracket(
        self, met: Callable[[float], bool], goal: _Goal, tried: dict[float, Figure]
    ) -> tuple[float, float]:
        """Return an ε that keeps to the target, and a larger one that does not."""
        epsilon = 1.0
        if met(epsilon):
            while epsilon < _MOST:
                if not met(2.0 * epsilon):
                    return epsilon, 2.0 * epsilon
                epsilon *= 2.0
            raise ParameterError(
                f"Every ε up to {epsilon:.4g}, the largest that is searched, meets the target "
                f"({goal.text}): the figure is {tried[epsilon].value:.4g} there."
            )
        while epsilon > _LEAST:
            epsilon /= 2.0
            try:
                if met(epsilon):
                    return epsilon, 2.0 * epsilon
            except MalapropError:
                break  # the mechanism serves no smaller ε
        last = min(tried)
        raise ParameterError(
            f"The target ({goal.text}) is out of reach: the figure is {tried[last].value:.4g} at "
            f"ε = {last:.4g}, the smallest that is searched."
        )

    def _normalised(self, epsilon: float) -> dict[str, float]:
        _, nearest, _ = nearest_distances(self._lexicon)
        return {
            "epsilon_times_median_nearest_distance": epsilon * nearest,
            "radius_of_a_factor_of_2": math.log(2.0) / epsilon,
            "radius_of_a_factor_of_10": math.log(10.0) / epsilon,
        }


def _tail(values: Floats, worst: float, whole: bool) -> Figure:
    """Return the value that a share of words exceeds, with an upper bound for a sample.

    The bound is the order statistic that lies above the true quantile with 95 % confidence.
    """
    ordered = np.sort(values)
    place = min(len(ordered) - 1, math.ceil((1.0 - worst) * len(ordered)) - 1)
    value = float(ordered[max(place, 0)])
    if whole:
        return Figure(value, value)
    margin = _SURE * math.sqrt(len(ordered) * worst * (1.0 - worst))
    upper = min(len(ordered) - 1, place + math.ceil(margin))
    return Figure(value, float(ordered[upper]))

"""From a target that a person understands to ε.

The figure behind each target grows or falls with ε. So a search finds the largest ε at which
the figure is still on the safe side of the target, counting the error of a sample in.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from numpy.random import Generator

from malaprop.core.channel import Channel, LawChannel, checked_channel
from malaprop.core.errors import ParameterError
from malaprop.core.mechanism import Mechanism
from malaprop.core.progress import Progress
from malaprop.core.randomness import checked_rng, secure_rng
from malaprop.core.space import MetricSpace
from malaprop.measure.bayes import (
    bayes_success,
    checked_occurrences,
    estimated_success,
    success_by_occurrences,
)
from malaprop.measure.calibration_figures import FiguresOfWords
from malaprop.measure.chosen_words import MOST
from malaprop.measure.context_calibration import calibrate_context, require_success_alone
from malaprop.measure.figures import normalised
from malaprop.measure.priors import belief_over
from malaprop.measure.searching import (
    Calibration,
    Figure,
    bounds_of,
    curve_of,
    largest_epsilon,
    maker_of,
    share_of,
)

_LOOKS = (200, 1_000)  # trials: many only where few do not decide
Targets = Mapping[str, Any]
"""The targets of a calibration, and what goes with them; None for those that are not given."""


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
    - `candidates`: how many inputs explain an output within a factor of 2, at least. For noise,
      only those count that draws make sure of, so ε may be smaller than necessary: see
      `malaprop.measure.sure_candidates`.
    - `similarity`: the expected similarity of a word and its replacement, at most.
    - `like`: a channel; as many words stay as with that one, at most. For noise, that is the lower
      end of an estimate.

    `mechanism` is a class, a registered name, or a mechanism whose other parameters are kept. On
    lexicons of up to 10,000 words a figure is computed for all words, on larger ones for 256 of
    them (or for `words`, a number of them), with a one-sided confidence of 95 %. With a list of
    `words`, the figure is about these words, and not a sample of the lexicon.

    >>> from malaprop import Lexicon, TEM
    >>> line = Lexicon(["cold", "cool", "hot"], [[0.0], [1.0], [3.0]])
    >>> calibration = calibrate(TEM, line, kept=0.6)
    >>> round(calibration.value, 2), calibration.exact
    (0.6, True)
    """
    if context or sample is not None:
        others = (kept, worst, prior, candidates, similarity, like, words)
        require_success_alone(success, occurrences, others, context=context)
        return calibrate_context(
            maker_of(mechanism), lexicon, share_of("success", success), sample, rng, progress
        )
    make = maker_of(mechanism)
    figures = FiguresOfWords(lexicon, words, secure_rng() if rng is None else checked_rng(rng))
    targets = {
        "kept": kept,
        "worst": worst,
        "success": success,
        "occurrences": occurrences,
        "prior": prior,
        "candidates": candidates,
        "similarity": similarity,
        "like": like,
    }
    return _calibrated(make, figures, _goal(figures, targets), progress)


@dataclass(frozen=True, kw_only=True)
class _Goal:
    """A figure of a channel, and the bound that it must keep to: from below if it falls with ε."""

    text: str
    bound: float
    figure: Callable[[Channel], Figure]
    rises: bool = True

    def met(self, figure: Figure) -> bool:
        return figure.unsafe <= self.bound if self.rises else figure.unsafe >= self.bound


def _calibrated(
    make: Callable[[float], Mechanism],
    figures: FiguresOfWords,
    goal: _Goal,
    progress: Progress | None,
) -> Calibration:
    """Bisect between an ε that keeps to the target and one that does not."""
    lawful = False

    def figure(epsilon: float) -> Figure:
        nonlocal lawful
        channel = make(epsilon).on(figures.lexicon)
        lawful = isinstance(channel, LawChannel)
        return goal.figure(channel)

    epsilon, tried = largest_epsilon(figure, goal.met, goal.text, progress=progress)
    return Calibration(
        epsilon=epsilon,
        target=goal.text,
        value=tried[epsilon].value,
        curve=curve_of(tried),
        bounds=bounds_of(tried),
        normalised=normalised(figures.lexicon, epsilon),
        exact=lawful and figures.are_whole and tried[epsilon].is_exact,
    )


def _goal(figures: FiguresOfWords, targets: Targets) -> _Goal:
    given = [name for name in _GOALS if targets[name] is not None]
    if len(given) != 1:
        raise ParameterError(
            f"Calibrating takes one target of {', '.join(_GOALS)}. "
            f"Got {', '.join(given) or 'none'}."
        )
    if targets["worst"] is not None and given != ["kept"]:
        raise ParameterError(_WORST)
    return _GOALS[given[0]](figures, targets)


_WORST: Final = "`worst` goes with `kept` only, and is a share of 0 or more, below 1."


def _kept_goal(figures: FiguresOfWords, targets: Targets) -> _Goal:
    bound, worst = share_of("kept", targets["kept"]), targets["worst"]
    if not (worst is None or (isinstance(worst, int | float) and 0.0 <= worst < 1.0)):
        raise ParameterError(_WORST)
    whose = "on average" if worst is None else f"for all but {worst:.3g} of words"
    return _Goal(
        text=f"at most {bound:g} of words stay as they are, {whose}",
        bound=bound,
        figure=lambda channel: figures.figure(channel, "kept", worst),
    )


def _candidates_goal(figures: FiguresOfWords, targets: Targets) -> _Goal:
    least = targets["candidates"]
    if isinstance(least, bool) or not isinstance(least, int | float) or not 0 < least < math.inf:
        raise ParameterError(
            f"The target 'candidates' must be a finite number above 0. Got {least!r}."
        )
    return _Goal(
        text=f"at least {least:g} inputs explain an output within a factor of 2",
        bound=float(least),
        figure=lambda channel: figures.candidates(channel, float(least)),
        rises=False,
    )


def _similarity_goal(figures: FiguresOfWords, targets: Targets) -> _Goal:
    bound = share_of("similarity", targets["similarity"])
    return _Goal(
        text=f"an expected similarity of at most {bound:g}",
        bound=bound,
        figure=lambda channel: figures.figure(channel, "similarity", None),
    )


def _like_goal(figures: FiguresOfWords, targets: Targets) -> _Goal:
    model = checked_channel(targets["like"])
    if tuple(model.lexicon.words) != tuple(figures.lexicon.words):
        raise ParameterError("The 'like' parameter must be a channel on a lexicon of these words.")
    bound = figures.surely_kept(model)
    return _Goal(
        text=f"as many words stay as with the other mechanism, {bound:.4g}",
        bound=bound,
        figure=lambda channel: figures.figure(channel, "kept", None),
    )


def _success_goal(figures: FiguresOfWords, targets: Targets) -> _Goal:
    bound, prior = share_of("success", targets["success"]), targets["prior"]
    occurrences = checked_occurrences(targets["occurrences"])

    def figure(channel: Channel) -> Figure:
        if occurrences == 1 and isinstance(channel, LawChannel) and len(channel.lexicon) > MOST:
            estimate = estimated_success(channel, prior, rng=figures.rng())
            if estimate is not None:
                return Figure(estimate[0], estimate[1][1])
        for trials in _LOOKS:
            value, (low, high) = _tried(channel, occurrences, prior, trials, figures.rng())
            if not low <= bound <= high:  # more trials would hardly change the answer
                break
        # For a law the value is exact or a simulation; for noise it is a lower bound, and the
        # interval's end an upper one: 97.5 % sure at each of two looks.
        return Figure(value, high)

    times = "" if occurrences == 1 else f" that occurs {occurrences} times"
    text = f"an observer without context guesses at most {bound:g} of words right{times}"
    if prior is not None:
        text += f" (prior: {belief_over(figures.lexicon, prior).source})"
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


_GOALS: Final[Mapping[str, Callable[[FiguresOfWords, Targets], _Goal]]] = {
    "kept": _kept_goal,
    "success": _success_goal,
    "candidates": _candidates_goal,
    "similarity": _similarity_goal,
    "like": _like_goal,
}

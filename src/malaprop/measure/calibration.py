"""From a target that a person understands to ε.

The figure behind each target grows or falls with ε. So a search finds the largest ε at which
the figure is still on the safe side of the target, with the error of a sample included.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Floats
from malaprop.core.channel import Channel, LawChannel, checked_channel
from malaprop.core.errors import ParameterError
from malaprop.core.mechanism import Mechanism
from malaprop.core.progress import Progress
from malaprop.core.randomness import checked_rng, secure_rng, seeded_rng
from malaprop.core.space import MetricSpace
from malaprop.measure.bayes import bayes_success, estimated_success, success_by_occurrences
from malaprop.measure.chosen_words import MOST, word_ids
from malaprop.measure.context_calibration import calibrate_context, require_success_alone
from malaprop.measure.figures import normalised
from malaprop.measure.margins import FEW, highest_share, margin, tail
from malaprop.measure.priors import belief_over
from malaprop.measure.searching import Calibration, Figure, largest_epsilon, maker_of, share_of
from malaprop.measure.words.candidates import candidate_lower_bound, law_batches
from malaprop.measure.words.statistic import registry
from malaprop.measure.words.statistics import statistics_of
from malaprop.pipeline.spreading import spread

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
      smaller than necessary: see `malaprop.measure.words.candidates.candidate_lower_bound`.
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
            maker_of(mechanism), lexicon, share_of("success", success), sample, rng, progress
        )
    search = _Search(
        maker_of(mechanism), lexicon, words, secure_rng() if rng is None else checked_rng(rng)
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
                ids, whole = ids[spread(len(ids), _NOISE_WORDS)], False
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

"""The best guess of an observer who knows the mechanism and sees what comes out.

Given a prior π over words, the best guess at an output y is the word with the largest
π(w)·Pr[y | w]. It is right with probability Σ_y max_w π(w)·Pr[y | w], the Bayes success. The
observer here looks at one word at a time and knows no context: context raises the success, see
docs/attacks.md.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from malaprop.core.arrays import Floats, Ids
from malaprop.core.channel import Channel, LawChannel, checked_channel
from malaprop.core.errors import ParameterError
from malaprop.core.progress import Progress
from malaprop.core.randomness import checked_rng, secure_rng
from malaprop.measure.chosen_words import MOST
from malaprop.measure.exact_success import best_guesses_of
from malaprop.measure.intervals import bootstrap_interval, clopper_pearson
from malaprop.measure.noise_guesses import noise_bounds
from malaprop.measure.priors import belief_over, prior_over
from malaprop.measure.several_draws import best_guesses, has_columns, promising_guesses
from malaprop.pipeline.guessing import guesses_outputs, largest_posteriors
from malaprop.pipeline.spreading import sample, spread

_TRIALS = 2_000
_DEAR_TRIALS = 200  # where each word that is weighed takes a row of a large law
_SEVERAL = 400  # likewise, for one number of draws
_NOISE_TRIALS = 256  # of an attack on noise
_SAMPLES = 1_000
_STAYING = 1_000  # words whose chance to stay is known at once
_DEAR = 1_000  # words from which draws of noise take long
_DRAWS = 1 << 17  # from a channel whose law is unknown


@dataclass(frozen=True, kw_only=True)
class BayesSuccess:
    """How often the best guess is right."""

    value: float
    """The success: exact for one draw from a law, else an estimate."""
    interval: tuple[float, float]
    """95 % interval; of no width if `exact`. For noise on vectors it bounds the best guess."""
    prior_success: float
    """How often the best guess without any output is right: the largest prior probability."""
    occurrences: int
    reused: bool
    prior: str
    """What the observer believes before, in a few words."""
    exact: bool = False
    per_word: Floats | None = None
    """For each word, how often it is guessed if it went in. Of noise, an estimate from draws (NaN
    for a word that was not drawn), on 1,000 words at most. None for several draws, and for noise on
    more words: then `statistics(…).kept` is what an observer achieves who guesses the output."""
    candidates: float | None = None
    """How many words have at least half the posterior probability of the best guess, on average
    over outputs; None where the law is unknown."""

    @property
    def leakage(self) -> float:
        """Min-entropy leakage in bits: log₂ of the success over the success without an output."""
        return math.log2(self.value / self.prior_success) if self.value > 0.0 else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values for JSON, without the single words."""
        return {
            "success": self.value,
            "interval": list(self.interval),
            "exact": self.exact,
            "prior": self.prior,
            "prior_success": self.prior_success,
            "leakage_bits": self.leakage,
            "occurrences": self.occurrences,
            "reused": self.reused,
            "candidates": self.candidates,
        }


def bayes_success(
    channel: Channel,
    prior: Any = None,
    occurrences: int = 1,
    reused: bool = False,
    rng: Generator | None = None,
    *,
    trials: int = _TRIALS,
    progress: Progress | None = None,
) -> BayesSuccess:
    """Return how often an observer without context guesses a word right.

    `prior`: see `malaprop.measure.priors`. A word that occurs `occurrences` times has as many
    draws, or one that is `reused` for all of them (which hides no more than one draw does, and
    lets others find the places of equal words). For one draw from a law the result is exact. For
    several it is an estimate from `trials` trials; from 400 at most, with promising words only, on
    more than 10,000 words of a law without cheap columns: then the interval bounds the best guess.
    For noise on vectors, whose law of words is
    unknown, the value is what an observer achieves who learns from draws, a lower bound of the best
    guess, and the interval bounds the best guess. Up to 1,000 words and for one draw, the guess is
    learned from half of 131,072 draws and tried on the others; otherwise, see
    `malaprop.measure.noise_guesses`.

    >>> from malaprop import Lexicon, TEM
    >>> line = Lexicon(["cold", "cool", "hot"], [[0.0], [1.0], [3.0]])
    >>> guess = bayes_success(TEM(epsilon=2.0, gamma=2.0, exponent="half").on(line))
    >>> round(guess.value, 4), guess.exact
    (0.7058, True)
    """
    space = checked_channel(channel).lexicon
    if isinstance(occurrences, bool) or not isinstance(occurrences, int) or occurrences < 1:
        raise ParameterError("The 'occurrences' parameter must be a whole number of 1 or more.")
    if trials < 1:
        raise ParameterError(f"The 'trials' parameter must be 1 or more. Got {trials}.")
    before = belief_over(space, prior)
    belief = before.chances
    noise = secure_rng() if rng is None else checked_rng(rng)
    draws = 1 if reused else occurrences
    facts: dict[str, Any] = {
        "prior": before.source,
        "prior_success": float(belief.max()),
        "occurrences": occurrences,
        "reused": reused,
    }
    if not isinstance(channel, LawChannel):
        return _learned(channel, belief, draws, trials, noise, facts)
    if draws == 1:
        return _exact(channel, belief, noise, facts, progress, even=prior is None)
    (tried,) = _tried(channel, belief, [draws], trials, noise, progress, most=_SEVERAL)
    return BayesSuccess(value=tried.value, interval=tried.interval, **facts)


def _exact(
    channel: LawChannel[Any],
    belief: Floats,
    rng: Generator,
    facts: dict[str, Any],
    progress: Progress | None,
    *,
    even: bool,
) -> BayesSuccess:
    size = len(belief)
    best = best_guesses_of(channel, belief, rng, progress, even=even)
    value = min(1.0, float(best.chances.sum()))
    by_word = np.bincount(best.words, weights=best.chances, minlength=size)
    return BayesSuccess(
        value=value,
        interval=(value, value),
        exact=True,
        per_word=np.divide(by_word, belief, out=np.zeros(size), where=belief > 0.0),
        candidates=best.candidates,
        **facts,
    )


@dataclass(frozen=True, kw_only=True)
class OccurrenceSuccess:
    """How often a word that occurs several times, with as many draws, is guessed right."""

    occurrences: int
    value: float
    interval: tuple[float, float]
    at_least: bool = False
    """Whether a better observer may exceed `value`."""
    bounds: bool = False
    """Whether `interval` bounds the best guess: from below by an attack, from above by what is
    proved of vectors. Otherwise it is the error of `value`."""


def success_by_occurrences(
    channel: Channel,
    occurrences: Sequence[int],
    *,
    prior: Any = None,
    trials: int = _TRIALS,
    most: int = _DEAR_TRIALS,
    rng: Generator | None = None,
    progress: Progress | None = None,
) -> tuple[OccurrenceSuccess, ...]:
    """Estimate the best guess for several numbers of occurrences, from the same trials.

    On more than 10,000 words, unless the law has a cheap form for columns, it is what an observer
    achieves who weighs promising words only, from `most` trials at most. So it is for noise
    on vectors, whose law of words is unknown, with bounds on the best guess as the interval: see
    `malaprop.measure.noise_guesses`.
    """
    belief = prior_over(channel.lexicon, prior)
    noise = secure_rng() if rng is None else checked_rng(rng)
    if not isinstance(channel, LawChannel):
        return _bounded(channel, belief, sorted(occurrences), min(trials, most), noise)
    times = sorted(occurrences)
    return _tried(channel, belief, times, trials, noise, progress, most=most)


def _bounded(
    channel: Channel, belief: Floats, occurrences: Sequence[int], trials: int, rng: Generator
) -> tuple[OccurrenceSuccess, ...]:
    bounds = noise_bounds(channel, belief, occurrences, rng, trials=trials, seen=trials)
    return tuple(
        OccurrenceSuccess(
            occurrences=times, value=each.value, interval=each.interval, at_least=True, bounds=True
        )
        for times, each in zip(occurrences, bounds, strict=True)
    )


def estimated_success(
    channel: LawChannel[Any], prior: Any = None, *, samples: int = _SAMPLES, rng: Generator
) -> tuple[float, tuple[float, float]] | None:
    """Estimate the success for one draw, in less time than the exact value takes.

    It is the mean of the largest posterior probability over drawn outputs; or, if all words are
    equally likely and the best guess is what comes out, the mean chance that a word stays, over
    words spread evenly. None for other laws without a cheap form for columns.
    """
    if prior is None and guesses_outputs(channel):
        size = len(channel.lexicon)
        stays = channel.law.staying(
            spread(size, _STAYING) if has_columns(channel) else sample(size)
        )
        return float(stays.mean()), bootstrap_interval(stays, rng)
    posterior = largest_posteriors(channel, prior_over(channel.lexicon, prior), samples, rng)
    if posterior is None:
        return None
    low, high = bootstrap_interval(posterior, rng)
    return float(posterior.mean()), (max(0.0, low), min(1.0, high))


def _tried(
    channel: LawChannel[Any],
    belief: Floats,
    occurrences: Sequence[int],
    trials: int,
    rng: Generator,
    progress: Progress | None,
    *,
    most: int,
) -> tuple[OccurrenceSuccess, ...]:
    """Draw words and replacements; count right best guesses from the first few replacements.

    Where all words cannot be weighed quickly, promising ones are, in `most` trials or fewer.
    """
    promising = len(belief) > MOST and not has_columns(channel)
    trials = min(trials, most) if promising else trials
    draws, last = max(occurrences), np.array(occurrences) - 1
    truth = rng.choice(len(belief), size=trials, p=belief)
    drawn = channel.substitute(np.repeat(truth, draws), rng).reshape(trials, draws)
    if promising:
        tried = promising_guesses(channel, belief, drawn, last, truth)
        guesses, possible = tried.words, tried.unbeaten.sum(axis=0)
    else:
        guesses = best_guesses(channel, belief, drawn, last, progress)
        possible = (guesses == truth[:, None]).sum(axis=0)
    right = (guesses == truth[:, None]).sum(axis=0)
    lows, highs = clopper_pearson(right, trials)[:, 0], clopper_pearson(possible, trials)[:, 1]
    return tuple(
        OccurrenceSuccess(
            occurrences=times,
            value=float(right[place] / trials),
            interval=(float(lows[place]), float(highs[place])),
            at_least=promising,
        )
        for place, times in enumerate(occurrences)
    )


def _learned(
    channel: Channel,
    belief: Floats,
    draws: int,
    trials: int,
    rng: Generator,
    facts: dict[str, Any],
) -> BayesSuccess:
    """Learn the best guess at each output from half of the draws, and try it on the others."""
    size = len(belief)
    if draws > 1 or size > _DEAR:
        tries = min(trials, _NOISE_TRIALS)
        (bounds,) = noise_bounds(
            channel, belief, [draws], rng, trials=tries, seen=min(trials, _SAMPLES)
        )
        return BayesSuccess(value=bounds.value, interval=bounds.interval, **facts)
    truth = rng.choice(size, size=_DRAWS, p=belief)
    drawn = channel.substitute(truth, rng)
    half = _DRAWS // 2
    rule = _best_guesses(truth[:half], drawn[:half], size)
    right = rule[drawn[half:]] == truth[half:]
    hits = int(right.sum())
    low, _ = clopper_pearson(hits, half).tolist()
    # The best guess in hindsight is right more often than the best one; one draw changes that by
    # at most 1/N (McDiarmid's inequality).
    hindsight = _best_guesses(truth, drawn, size)
    high = float((hindsight[drawn] == truth).mean()) + math.sqrt(math.log(40.0) / (2 * _DRAWS))
    return BayesSuccess(
        value=hits / half,
        interval=(low, min(1.0, high)),
        per_word=_shares(right, truth[half:], size),
        **facts,
    )


def _shares(right: NDArray[np.bool_], truth: Ids, size: int) -> Floats:
    """Return how often each word was guessed right; NaN for one that never went in."""
    tried = np.bincount(truth, minlength=size)
    hits = np.bincount(truth, weights=right, minlength=size)
    return np.asarray(np.divide(hits, tried, out=np.full(size, np.nan), where=tried > 0))


def _best_guesses(truth: Ids, drawn: Ids, size: int) -> Ids:
    """Return the most frequent true word of each output; the output itself where there is none."""
    pairs, counts = np.unique(drawn * size + truth, return_counts=True)
    outputs, words = pairs // size, pairs % size
    order = np.lexsort((words == outputs, counts, outputs))  # ties go to the output itself
    rule = np.arange(size)
    rule[outputs[order]] = words[order]  # the last one of each output stays
    return rule

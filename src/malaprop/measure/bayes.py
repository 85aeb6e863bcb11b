"""The best guess of an observer who knows the mechanism and sees what comes out.

Given a prior π over words, the best guess at an output y is the word with the largest
π(w)·Pr[y | w]. It is right with probability Σ_y max_w π(w)·Pr[y | w], the Bayes success. The
observer here looks at one word at a time and knows no context: context raises the success, see
docs/explanation/attacks.md.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from malaprop.lexicon.bigrams import public_counts
from malaprop.privacy import metrics
from malaprop.privacy.arrays import Floats, Ids, blocks
from malaprop.privacy.best_guess import (
    best_guesses,
    best_guesses_of,
    columns_of,
    largest_posteriors,
    likely_candidates,
    logs_of,
)
from malaprop.privacy.channel import Channel, LawChannel, VectorChannel, checked_channel
from malaprop.privacy.errors import ParameterError
from malaprop.privacy.estimate import MOST, Estimate, clopper_pearson, even_sample, sample
from malaprop.privacy.metrics import MetricSpace
from malaprop.privacy.noise import ExponentialDensity, GaussianDensity
from malaprop.privacy.progress import Progress
from malaprop.privacy.randomness import checked_rng, secure_rng

Scores = NDArray[np.float32]

_SHIFT: Final = 2.7  # Zipf's law as Mandelbrot corrected it


class Belief(NamedTuple):
    """What an observer believes: the probability of each word, and where that comes from."""

    chances: Floats
    source: str


def belief_over(space: MetricSpace, prior: Any) -> Belief:
    """Return the probability of each word of a lexicon, before anything is seen.

    `prior` is None for equal chances, "frequency" for those of public word frequencies, a number
    for each word, or a mapping from words to numbers (words that it lacks get none). "frequency"
    takes the counts of a trillion words of the web that ship for `english`, if they cover half of
    the words or more. For other lexicons it is Zipf's law over their order, 1/(rank + 2.7):
    lexicons list frequent words first.

    >>> from malaprop import Lexicon
    >>> line = Lexicon(["cold", "cool", "hot"], [[0.0], [1.0], [3.0]])
    >>> belief_over(line, {"cool": 3, "hot": 1}).chances.tolist()
    [0.0, 0.75, 0.25]
    """
    size, source, given = len(space), "given", prior
    if prior is None:
        return Belief(np.full(size, 1.0 / size), "all words equally likely")
    if isinstance(prior, str):
        if prior != "frequency":
            raise ParameterError(
                f"The 'prior' parameter must be None, 'frequency', or numbers. Got {prior!r}."
            )
        given, source = public_counts(space.words), "by how often words occur on the web"
        if given is None:
            given = 1.0 / (np.arange(1.0, size + 1.0) + _SHIFT)
            source = (
                "by Zipf's law over the order of the lexicon, most of whose words have no public "
                "count"
            )
    elif isinstance(prior, Mapping):
        given = [float(prior.get(word, 0.0)) for word in space.words]
    weights = np.asarray(given, dtype=np.float64)
    good = weights.shape == (size,) and bool(np.isfinite(weights).all())
    if not good or weights.min() < 0.0 or not weights.sum() > 0.0:
        raise ParameterError(
            f"A prior must give each of the lexicon's {size:,} words a finite number of 0 or more, "
            "and some word more than 0."
        )
    return Belief(weights / weights.sum(), source)


_BAYES_TRIALS: Final = 2_000
_DEAR_TRIALS: Final = 200  # where each word that is weighed takes a row of a large law
_SEVERAL: Final = 400  # likewise, for one number of draws
_NOISE_TRIALS: Final = 256  # of an attack on noise
_SAMPLES: Final = 1_000
_STAYING: Final = 1_000  # words whose chance to stay is known at once
_DEAR: Final = 1_000  # words from which draws of noise take long
_PRIOR_DRAWS: Final = 1 << 17  # from a channel whose law is unknown
BEST_GUESS: Final = "the best guess"
"""What an interval is `over` if it bounds the best guess: from below by an attack, from above by
what is proved of vectors. Otherwise it is the error of the value."""


@dataclass(frozen=True, kw_only=True)
class BayesSuccess:
    """How often the best guess is right."""

    success: Estimate
    """Exact for one draw from a law, else an estimate, or a lower bound: see `bayes_success`."""
    prior_success: float
    """How often the best guess without any output is right: the largest prior probability."""
    occurrences: int
    reused: bool
    prior: str
    """What the observer believes before, in a few words."""
    per_word: Floats | None = None
    """For each word, how often it is guessed if it went in. Of noise, an estimate from draws (NaN
    for a word that was not drawn), on 1,000 words at most. None for several draws, and for noise on
    more words: then `statistics(…).kept` is what an observer achieves who guesses the output."""
    candidates: float | None = None
    """How many words have at least half the posterior probability of the best guess, on average
    over outputs; None where the law is unknown."""

    @property
    def value(self) -> float:
        return self.success.value

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval; of no width if `exact`. For noise on vectors it bounds the best guess."""
        return self.success.interval

    @property
    def exact(self) -> bool:
        return self.success.is_exact

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
    trials: int = _BAYES_TRIALS,
    progress: Progress | None = None,
) -> BayesSuccess:
    """Return how often an observer without context guesses a word right.

    `prior`: see `malaprop.measure.bayes.belief_over`. A word that occurs `occurrences` times
    has as many draws, or one that is `reused` for all of them (which hides no more than one draw
    does, and lets others find the places of equal words). For one draw from a law the result is
    exact. For several it is an estimate from `trials` trials; on more than 10,000 words of a law
    without cheap columns from 400 at most, with promising words only, and the interval bounds the
    best guess. For noise on vectors, whose law of words is unknown, the value is what an observer
    achieves who learns from draws, a lower bound of the best guess, and the interval bounds that.
    Up to 1,000 words and for one draw, the guess is learned from half of 131,072 draws and tried on
    the others; otherwise, see `success_by_occurrences`.

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
    belief, draws = before.chances, 1 if reused else occurrences
    noise = secure_rng() if rng is None else checked_rng(rng)
    per_word = candidates = None
    if isinstance(channel, LawChannel) and draws == 1:
        words, chances, candidates = best_guesses_of(
            channel, belief, noise, progress, even=prior is None
        )
        success = Estimate.exact(min(1.0, float(chances.sum())))
        by_word = np.bincount(words, weights=chances, minlength=len(belief))
        per_word = np.divide(by_word, belief, out=np.zeros(len(belief)), where=belief > 0.0)
    elif draws == 1 and len(belief) <= _DEAR:
        success, per_word = _learned(channel, belief, noise)
    else:
        most = _SEVERAL if isinstance(channel, LawChannel) else _NOISE_TRIALS
        success = success_by_occurrences(
            channel,
            [draws],
            prior=prior,
            trials=trials,
            most=most,
            seen=min(trials, _SAMPLES),
            rng=noise,
            progress=progress,
        )[draws]
    return BayesSuccess(
        success=success,
        prior_success=float(belief.max()),
        occurrences=occurrences,
        reused=reused,
        prior=before.source,
        per_word=per_word,
        candidates=candidates,
    )


def success_by_occurrences(
    channel: Channel,
    occurrences: Sequence[int],
    *,
    prior: Any = None,
    trials: int = _BAYES_TRIALS,
    most: int = _DEAR_TRIALS,
    seen: int | None = None,
    rng: Generator | None = None,
    progress: Progress | None = None,
) -> dict[int, Estimate]:
    """Estimate the best guess for several numbers of occurrences, from the same trials.

    On more than 10,000 words, unless the law has a cheap form for columns, it is what an observer
    achieves who weighs promising words only, from `most` trials at most. Where noise is added to
    vectors, the law of words is unknown, and the interval bounds the best guess. From below: what
    an attack achieves that learns from draws, likewise. From above: who sees the noisy vectors, in
    as many trials as `seen`, guesses at least as well as who sees the words that they become.
    """
    belief, times = belief_over(channel.lexicon, prior).chances, sorted(occurrences)
    noise = secure_rng() if rng is None else checked_rng(rng)
    if isinstance(channel, LawChannel):
        partly, over = len(belief) > MOST and not columns_of(channel.law).cheap, ""
    else:
        partly, over = True, BEST_GUESS
    trials = min(trials, most) if partly else trials
    draws, last = times[-1], np.array(times) - 1
    truth = noise.choice(len(belief), size=trials, p=belief)
    drawn = channel.substitute(np.repeat(truth, draws), noise).reshape(trials, draws)
    highs = None
    if not isinstance(channel, LawChannel):
        if draws == 1 and belief.min() == belief.max():
            guesses = drawn  # a rule would guess the output itself, but for few words
        else:
            guesses = guesses_by(learned_scores(channel, belief, noise), belief, drawn, last)
        highs = vector_bounds(channel, belief, times, noise, trials=seen or trials)
    elif partly:
        guesses, possible = likely_candidates(channel, belief, drawn, last, truth)
        highs = clopper_pearson(possible.sum(axis=0), trials)[:, 1]
    else:
        guesses = best_guesses(channel, belief, drawn, last, progress)
    hits = (guesses == truth[:, None]).sum(axis=0)
    lows, own_highs = clopper_pearson(hits, trials).T
    found = np.stack([hits / trials, lows, own_highs if highs is None else highs], axis=1)
    bound: Any = "at least" if partly else ""
    return {
        # By chance, the guess may have done better than the bound on all guesses.
        time: Estimate(value=value, low=low, high=max(value, high), over=over, bound=bound)
        for time, (value, low, high) in zip(times, found.tolist(), strict=True)
    }


def estimated_success(
    channel: LawChannel[Any], prior: Any = None, *, samples: int = _SAMPLES, rng: Generator
) -> Estimate | None:
    """Estimate the success for one draw, in less time than the exact value takes.

    It is the mean of the largest posterior probability over drawn outputs; or, if all words are
    equally likely and the best guess is what comes out, the mean chance that a word stays, over
    words spread evenly. None for other laws without a cheap form for columns.
    """
    if prior is None and channel.law.outputs_are_best_guesses:
        size, cheap = len(channel.lexicon), columns_of(channel.law).cheap
        stays = channel.law.staying(even_sample(size, _STAYING) if cheap else sample(size))
        return Estimate.of_sample(stays, rng)
    belief = belief_over(channel.lexicon, prior).chances
    posterior = largest_posteriors(channel, belief, samples, rng)
    return None if posterior is None else Estimate.of_sample(posterior, rng).within(0.0, 1.0)


def _learned(channel: Channel, belief: Floats, rng: Generator) -> tuple[Estimate, Floats]:
    """Learn the best guess at each output from half of the draws, and try it on the others."""
    size, half = len(belief), _PRIOR_DRAWS // 2
    truth = rng.choice(size, size=_PRIOR_DRAWS, p=belief)
    drawn = channel.substitute(truth, rng)
    right = _best_guesses(truth[:half], drawn[:half], size)[drawn[half:]] == truth[half:]
    # The best guess in hindsight is right more often than the best one; one draw changes that by
    # at most 1/N (McDiarmid's inequality).
    hindsight = float((_best_guesses(truth, drawn, size)[drawn] == truth).mean())
    high = hindsight + math.sqrt(math.log(40.0) / (2 * _PRIOR_DRAWS))
    hits = int(right.sum())
    success = Estimate(
        value=hits / half,
        low=float(clopper_pearson(hits, half)[0]),
        high=min(1.0, high),
        over=BEST_GUESS,
        bound="at least",
    )
    tried = np.bincount(truth[half:], minlength=size)
    found = np.bincount(truth[half:], weights=right, minlength=size)
    return success, np.divide(found, tried, out=np.full(size, np.nan), where=tried > 0)


def _best_guesses(truth: Ids, drawn: Ids, size: int) -> Ids:
    """Return the most frequent true word of each output; the output itself where there is none."""
    pairs, counts = np.unique(drawn * size + truth, return_counts=True)
    outputs, words = pairs // size, pairs % size
    order = np.lexsort((words == outputs, counts, outputs))  # ties go to the output itself
    rule = np.arange(size)
    rule[outputs[order]] = words[order]  # the last one of each output stays
    return rule


# A guess at a word from several outputs, where the law of words is unknown.
#
# The observer takes Pr[y | w] for m(y)·g(d(w, y))/c(w): m is how often y comes out of any word, g
# how much more often words at that distance do, and c makes up for words with many others around
# them. m does not matter for a guess. g and c are learned from draws. On a small lexicon, the
# observer learns the whole law instead. Any such guess is an attack, so that its success, measured
# on other draws, is a lower bound of the best guess.

_SMALL: Final = 1_000  # words of a lexicon up to which the whole law is learned,
_DRAWS: Final = 1 << 17  # from so many draws in all
_UNSEEN: Final = 0.1  # draws of an output that a word never gave
_PAIRS: Final = 1_024  # words and their outputs from which g is learned
_BASE: Final = 256  # outputs whose distances to all words say how usual a distance is
_BINS: Final = 16
_CROWD: Final = 512  # outputs from which c is estimated
_STEPS: Final = 4_096  # of a table of g


def guesses_by(scores: Callable[[Ids], Scores], belief: Floats, drawn: Ids, last: Ids) -> Ids:
    """Return the guess of each trial after its draw number `last`: (trials, len(last)).

    `scores` is about ln Pr[y | w] of outputs y, but for a constant: (outputs, words).
    """
    logs = logs_of(belief).astype(np.float32)
    guesses = np.empty((len(drawn), len(last)), dtype=np.int64)
    for trial, outputs in enumerate(drawn):
        distinct, places = np.unique(outputs, return_inverse=True)
        guesses[trial] = (np.cumsum(scores(distinct)[places], axis=0)[last] + logs).argmax(axis=1)
    return guesses


def learned_scores(channel: Channel, belief: Floats, rng: Generator) -> Callable[[Ids], Scores]:
    """Learn from draws of a channel how to weigh words, given outputs; see `guesses_by`."""
    space, size = channel.lexicon, len(belief)
    if size <= _SMALL:
        words = np.repeat(np.arange(size), _DRAWS // size)
        pairs = channel.substitute(words, rng) * size + words
        counts = np.bincount(pairs, minlength=size * size).reshape(size, size)
        columns = np.log(counts + _UNSEEN).astype(np.float32)
        return lambda outputs: columns[outputs]
    truth = rng.choice(size, size=_PAIRS, p=belief)
    drawn = channel.substitute(truth, rng)
    moved, usual = np.empty(len(truth)), []
    for block in blocks(len(truth), row_cells=size):
        rows = space.distances(drawn[block])
        moved[block] = rows[np.arange(len(rows)), truth[block]]
        if block.start < _BASE:
            usual.append(rows[:, ::4].ravel())
    table, step, same = _gains(moved, np.concatenate(usual), size)
    crowding = np.zeros(size, dtype=np.float32)  # ln c of each word, not known yet

    def scores(outputs: Ids) -> Scores:
        rows = space.distances(outputs)
        rows *= 1.0 / step
        gains = table[np.minimum(rows, _STEPS - 1.0).astype(np.int32)]
        gains[np.arange(len(outputs)), outputs] = same
        gains -= crowding
        return gains

    # The sum of Pr[y | w] over outputs y must be 1 for each word w.
    some, sums = drawn[:_CROWD], np.zeros(size)
    for block in blocks(len(some), row_cells=size):
        gains = np.exp(scores(some[block]))
        gains[np.arange(len(gains)), some[block]] = 0.0  # the word itself is added for all alike
        sums += gains.sum(axis=0)
    crowding += np.log(sums / len(some) + np.exp(same) / size).astype(np.float32)
    return scores


def _gains(moved: Floats, usual: Floats, size: int) -> tuple[NDArray[np.float32], float, float]:
    """Return ln g as a table by distance, its step, and ln g of the word itself.

    g is the share of moves at a distance, over the share of all words at that distance.
    """
    away, usual = moved[moved > 0.0], usual[usual > 0.0]
    stays = (len(moved) - len(away) + 0.5) / (len(moved) + 1.0)
    same = float(np.log(stays * size))
    largest = float(usual.max(initial=1.0))
    step = largest / (_STEPS - 1)
    if len(away) < 2 * _BINS:  # hardly any word moves: nothing can be said about distances
        return np.zeros(_STEPS, dtype=np.float32), step, same
    edges = np.unique(np.quantile(away, np.linspace(0.0, 1.0, _BINS + 1)))
    inner = edges[1:-1]
    bins = np.searchsorted(inner, away)
    moves = np.bincount(bins, minlength=len(inner) + 1)
    words = np.bincount(np.searchsorted(inner, usual), minlength=len(inner) + 1) + 0.5
    gains = np.log((moves + 0.5) / len(moved)) - np.log(words / len(usual))
    means = np.bincount(bins, weights=away, minlength=len(inner) + 1) / np.maximum(moves, 1)
    return np.interp(step * np.arange(_STEPS), means, gains).astype(np.float32), step, same


# How likely noisy vectors are for each word, from the stated density of the noise.

_CUT: Final = 1e-3  # releases in the ball so near its end may have been cut off there


class VectorLikelihoods:
    """ln of the density of each word at noisy vectors, but for a constant."""

    def __init__(self, density: ExponentialDensity | GaussianDensity) -> None:
        self._density: Any = density
        self._is_gaussian = isinstance(density, GaussianDensity)
        self._metric = density.metric if isinstance(density, ExponentialDensity) else "euclidean"
        self.slow = self._metric == "manhattan"
        """Whether `of_all` orders words by another norm, since their own takes long."""
        roots = density.roots if isinstance(density, ExponentialDensity) else ()
        if isinstance(density, GaussianDensity) and density.widths is not None:
            roots = (np.diag(density.widths),)
        self._inverses: list[Any] = [np.linalg.inv(root) for root in roots] or [None]
        self._shifts = [float(np.linalg.slogdet(root)[1]) for root in roots]
        self._centres = [_mapped(density.centres, inverse) for inverse in self._inverses]

    def of_all(self, noisy: Floats) -> Scores:
        """Return them for all words, in float32: (vectors, words)."""
        return np.asarray(self._scores(noisy, slice(None), _squares), dtype=np.float32)

    def of_some(self, noisy: Floats, words: Ids) -> Floats:
        """Return them for some words, in float64: (vectors, words)."""
        from scipy.spatial.distance import cdist

        if self._metric == "manhattan":
            centres = self._density.centres[words]
            return np.asarray(-self._density.rate * cdist(noisy, centres, "cityblock"))
        return np.asarray(self._scores(noisy, words, partial(cdist, metric="sqeuclidean")))

    def untold(self, noisy: Floats, words: Ids) -> NDArray[np.bool_]:
        """Whether the density says nothing about vectors of some words, one word for each."""
        density = self._density
        if self._is_gaussian:
            return np.asarray(density.sigmas[words] == 0.0)  # released without noise
        if not density.in_ball:
            return np.zeros(len(noisy), dtype=np.bool_)
        far = 2.0 * np.arctanh(np.minimum(np.linalg.norm(noisy, axis=1), metrics.EDGE))
        return np.asarray(far >= metrics.REACH - _CUT)

    def _scores(self, noisy: Floats, words: Any, squares: Callable[..., Any]) -> Any:
        density = self._density
        if self._metric == "poincare":
            return -density.rate * _in_the_ball(noisy, density.centres[words])
        if not self._is_gaussian and density.in_ball and not self.slow:
            noisy = metrics.log0(noisy)  # the chart that the density is stated in
        parts = [
            self._from_squares(squares(_mapped(noisy, inverse), centres[words]), words, part)
            for part, (inverse, centres) in enumerate(
                zip(self._inverses, self._centres, strict=True)
            )
        ]
        return parts[0] if len(parts) == 1 else np.logaddexp.reduce(parts, axis=0)

    def _from_squares(self, squares: Any, words: Any, part: int) -> Any:
        """Turn squared distances to `words` into scores, for one part of a mixture."""
        density, kind = self._density, squares.dtype.type
        if self._is_gaussian:
            sigmas, bare = density.sigmas[words], density.sigmas[words] == 0.0
            wide = np.where(bare, 1.0, sigmas)
            squares *= (-0.5 / wide**2).astype(kind)
            squares -= (density.centres.shape[1] * np.log(wide)).astype(kind)
            squares[:, bare] = -np.inf  # such a word gives no other vector
            return squares
        scores = np.sqrt(squares, out=squares)
        scores *= kind(-density.rate)
        if density.chances is not None:
            scores += (density.chances[words, part] - self._shifts[part]).astype(kind)
        return scores


def vector_likelihoods(channel: Channel) -> VectorLikelihoods | None:
    """Return the likelihoods of a channel's vectors; None if they cannot be evaluated."""
    if type(channel) is not VectorChannel:  # a subclass may draw in another way
        return None
    density: Any = channel.noise.density(channel.lexicon)
    if isinstance(density, GaussianDensity):
        return VectorLikelihoods(density)
    if not isinstance(density, ExponentialDensity) or not density.is_sane:
        return None
    known = density.metric in ("euclidean", "manhattan")
    in_the_ball = density.metric == "poincare" and density.in_ball
    return VectorLikelihoods(density) if known or in_the_ball else None


def _mapped(vectors: Floats, inverse: Any) -> Floats:
    return vectors if inverse is None else np.asarray(vectors @ inverse)


def _squares(noisy: Floats, centres: Floats) -> Scores:
    middle = centres.mean(axis=0)
    one, other = (noisy - middle).astype(np.float32), (centres - middle).astype(np.float32)
    squares: Scores = one @ (np.float32(-2.0) * other.T)
    squares += np.einsum("ij,ij->i", one, one)[:, None]
    squares += np.einsum("ij,ij->i", other, other)
    return np.maximum(squares, 0.0, out=squares)


def _in_the_ball(noisy: Floats, centres: Floats) -> Floats:
    """Return distances in the Poincaré ball; in float64, since much is cancelled at its edge."""
    squares = (noisy**2).sum(axis=1)[:, None] + (centres**2).sum(axis=1) - 2.0 * noisy @ centres.T
    scale = metrics.conformal(noisy)[:, None] * metrics.conformal(centres)
    return np.asarray(2.0 * np.arcsinh(np.sqrt(np.maximum(squares, 0.0) / scale)))


# What an observer achieves who sees noisy vectors: a bound on all who see the words they become.
#
# Words are computed from the vectors, so that they tell no more. The best guess at vectors is the
# word of the largest density, which is known. A trial counts as right unless some other word is
# found with a larger density than the true word's, so that whatever is left out can only raise the
# bound.


_RIVALS: Final = 64  # words to compare with where they are chosen by another norm


def vector_bounds(
    channel: Channel, belief: Floats, occurrences: Sequence[int], rng: Generator, *, trials: int
) -> Floats:
    """Return the upper ends of 95 % intervals for the best guess at so many noisy vectors.

    They are 1 if the density of the noise is unknown. It is the one before rounding to a fine grid.
    """
    likelihoods = vector_likelihoods(channel)
    if likelihoods is None or not isinstance(channel, VectorChannel):
        return np.ones(len(occurrences))
    logs = logs_of(belief)
    truth = rng.choice(len(belief), size=trials, p=belief)
    most, last = max(occurrences), np.array(occurrences) - 1
    few = min(_RIVALS if likelihoods.slow else 1, len(logs) - 1)
    count = np.zeros(len(last), dtype=np.int64)
    for block in blocks(trials, row_cells=len(belief) * most):
        each = np.repeat(truth[block], most)
        noisy = channel.release_words(each, rng)
        untold = likelihoods.untold(noisy, each).reshape(-1, most)
        sure = np.logical_or.accumulate(untold, axis=1)[:, last]
        scores = likelihoods.of_all(noisy).reshape(-1, most, len(logs))
        noisy = noisy.reshape(-1, most, noisy.shape[1])
        for trial, word in enumerate(truth[block]):
            totals = np.cumsum(scores[trial], axis=0)[last] + logs
            totals[:, word] = -np.inf
            best = totals.argmax(axis=1)
            if few > 1:
                best = np.argpartition(-totals, few - 1, axis=1)[:, :few]
            words = np.union1d(best, word)
            exact = np.cumsum(likelihoods.of_some(noisy[trial], words), axis=0)[last] + logs[words]
            # Whether no rival beats the true word.
            count += sure[trial] | (exact[:, np.searchsorted(words, word)] >= exact.max(axis=1))
    return np.asarray(clopper_pearson(count, trials)[:, 1])

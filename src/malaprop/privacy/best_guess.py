"""The best guess of an observer who knows the mechanism: from one output, from several; and the
share of words kept.

All figures are about public words, never about a user's text: a figure taken from the text would
give away something of it. So fixed seeds do no harm here.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from time import monotonic
from typing import Any, Final

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from malaprop.privacy.arrays import Floats, Ids, blocks
from malaprop.privacy.channel import Channel, LawChannel
from malaprop.privacy.errors import LexiconError, MalapropError
from malaprop.privacy.estimate import Estimate, draw_often, even_sample, sample, shares_noise
from malaprop.privacy.law import Law
from malaprop.privacy.mechanism import Mechanism
from malaprop.privacy.progress import Progress, each_in_threads, report, stage
from malaprop.privacy.randomness import secure_rng, seeded_rng

# Columns of a law: how likely an output is for each word, as an observer needs it.
#
# Some laws have a cheap form for columns. A symmetric one needs the masses of all rows first, that
# is a pass over the whole law. What was computed for one figure serves the next.

_COUNT: Final = 32  # columns at a time: 8 MB on a large lexicon, which stay in a processor's cache
_ROWS: Final = 64  # rows of weights at a time: the products of fewer read all vectors more often


class PosteriorCache:
    """ln Pr[y | w] of all words w, for outputs y."""

    def __init__(self, law: Law) -> None:
        self._law, self._size = law, len(law.space)
        self._masses: Floats | None = None
        self._own: Floats | None = None

    def prepare(self, progress: Progress | None = None) -> bool:
        """Return whether there are columns; sum up all rows if that takes their masses."""
        if self.cheap:
            return True
        if not self._law.symmetric:
            return False
        if self._masses is None:
            self._sum_up(progress)
        return True

    @property
    def cheap(self) -> bool:
        """Whether columns take no pass over the whole law, or none any more."""
        first = np.zeros(1, dtype=np.int64)
        return self._masses is not None or self._law.log_likelihoods(first) is not None

    def parts(self, outputs: Ids, count: int = _COUNT) -> Iterator[Floats]:
        """Yield the columns of `count` outputs at a time: (outputs, words)."""
        if self._masses is None:
            yield from self._law.log_likelihood_parts(outputs, count)
            return
        for start in range(0, len(outputs), _ROWS):
            weights = self._law.log_weights(outputs[start : start + _ROWS])
            weights -= self._masses
            for first in range(0, len(weights), count):
                yield weights[first : first + count]

    def at(self, outputs: Ids) -> Floats:
        return np.concatenate(list(self.parts(outputs)))

    def staying(self, progress: Progress | None = None) -> Floats:
        """Return Pr[w | w] of all words; call `prepare` first."""
        if self._own is not None:
            return self._own
        return _stay(self._law, np.arange(self._size), progress)

    def _sum_up(self, progress: Progress | None) -> None:
        masses, own = np.empty(self._size), np.empty(self._size)

        def of_block(block: slice) -> None:
            ids = np.arange(self._size)[block]
            weights = self._law.log_weights(ids)
            stays = weights[np.arange(len(ids)), ids]
            masses[block] = np.log(np.exp(weights, out=weights).sum(axis=1))
            own[block] = np.exp(stays - masses[block])

        steps = blocks(self._size, row_cells=self._size)
        for done, _ in enumerate(each_in_threads(of_block, steps), 1):
            report(progress, done, len(steps))
        self._masses, self._own = masses, own


@lru_cache(maxsize=1)
def columns_of(law: Law) -> PosteriorCache:
    """Return the columns of the law in use, with what was computed before."""
    return PosteriorCache(law)


def log_chances(channel: LawChannel[Any], words: Ids, outputs: Ids) -> Floats:
    """Return ln Pr[y | w] of each word w for the outputs y in its row: (words, outputs of each).

    Each row of the law is computed once, however often its word is named.
    """
    needed, which = np.unique(words, return_inverse=True)
    chances = np.empty(outputs.shape)
    for block in blocks(len(needed), row_cells=len(channel.lexicon)):
        chosen = np.flatnonzero((which >= block.start) & (which < block.stop))
        rows = channel.log_probabilities(needed[block])
        chances[chosen] = rows[(which[chosen] - block.start)[:, None], outputs[chosen]]
    return chances


# The best guess by the law of a channel: at each output, or from several draws of a word.
#
# All words are weighed where that is quick, from columns of the law or from all of its rows. On a
# large lexicon, only the most promising words of each trial are weighed. That is an attack, too, so
# its success is a lower bound. An upper one is how often no promising word beats the true word.

_OUTPUTS: Final = 200  # outputs whose candidates are counted
_FACTOR: Final = 2.0
_TOGETHER: Final = 256  # outputs whose columns are computed together,
_COLUMNS: Final = 8  # and weighed at once, in a processor's cache
_TOTALS: Final = 512  # rows from which the sum of weights of every word is estimated
_PROMISING: Final = 4  # words weighed for each trial and number of draws


def best_guesses_of(
    channel: LawChannel[Any],
    belief: Floats,
    rng: Generator,
    progress: Progress | None,
    *,
    even: bool,
) -> tuple[Ids, Floats, float]:
    """Return the best guess at each output of a law, and how likely both are together.

    The sum of the latter is the success. Return also the mean number of candidates: see
    `_mean_candidates`. If all words are equally likely (`even`) and the output itself is then the
    best guess, only the chances to stay are needed. Otherwise all columns are weighed, or all rows
    if columns are not cheap.
    """
    every = np.arange(len(belief))
    outputs = channel.substitute(rng.choice(len(belief), size=_OUTPUTS, p=belief), rng)
    columns = columns_of(channel.law)
    guesses_outputs = even and channel.law.outputs_are_best_guesses
    if guesses_outputs and columns.prepare(stage(progress, 0, 2)):
        words, chances = every, columns.staying(stage(progress, 1, 2)) * belief
    elif columns.cheap:
        words, chances = _by_columns(channel, belief, progress)
    else:
        first = np.zeros(1, dtype=np.int64)
        guesses, scores, joint = _by_rows(channel, belief, every[:, None], first, outputs, progress)
        return guesses[:, 0], np.exp(scores[:, 0]), _mean_candidates(joint.T)
    return words, chances, _mean_candidates(columns.at(outputs) + logs_of(belief))


def _mean_candidates(scores: NDArray[Any]) -> float:
    """Return how many words have at least half the posterior probability of the best guess.

    It is the mean over outputs; `scores` are those of all words at each: (outputs, words).
    """
    near = scores >= scores.max(axis=1, keepdims=True) - math.log(_FACTOR)
    return float(near.sum(axis=1).mean())


def _by_columns(
    channel: LawChannel[Any], belief: Floats, progress: Progress | None
) -> tuple[Ids, Floats]:
    """Return the best guess at each output, and how likely both are."""
    size, logs, row = len(belief), logs_of(belief), 0
    chances, words = np.empty(size), np.empty(size, dtype=np.int64)
    steps = blocks(size, row_cells=1, budget=_TOGETHER)
    for done, block in enumerate(steps, 1):
        for part in columns_of(channel.law).parts(np.arange(size)[block], _COLUMNS):
            part += logs
            best = part.argmax(axis=1)
            words[row : row + len(best)] = best
            chances[row : row + len(best)] = np.exp(part[np.arange(len(best)), best])
            row += len(best)
        report(progress, done, len(steps))
    return words, chances


def _by_rows(
    channel: LawChannel[Any],
    belief: Floats,
    drawn: Ids,
    last: Ids,
    watched: Ids,
    progress: Progress | None,
) -> tuple[Ids, Floats, NDArray[np.float32]]:
    """Go through all rows once: the best guess of each trial after its draw number `last`.

    Return it with its score, ln of prior times likelihood, and the scores of all words at the
    `watched` outputs: (words, watched).
    """
    size, shape = len(belief), (len(drawn), len(last))
    best, guesses = np.full(shape, -np.inf), np.zeros(shape, dtype=np.int64)
    joint = np.full((size, len(watched)), -np.inf, dtype=np.float32)
    possible = np.flatnonzero(belief > 0.0)
    steps = blocks(len(possible), row_cells=max(size, drawn.size))
    for done, block in enumerate(steps, 1):
        ids = possible[block]
        rows, prior = channel.log_probabilities(ids), np.log(belief[ids])[:, None]
        joint[ids] = rows[:, watched] + prior
        scores = np.cumsum(rows[:, drawn], axis=2)[..., last] + prior[..., None]
        top = scores.argmax(axis=0)
        score = np.take_along_axis(scores, top[None], axis=0)[0]
        better = score > best
        best[better], guesses[better] = score[better], ids[top[better]]
        report(progress, done, len(steps))
    return guesses, best, joint


def best_guesses(
    channel: LawChannel[Any], belief: Floats, drawn: Ids, last: Ids, progress: Progress | None
) -> Ids:
    """Return the best guess of each trial after its draw number `last`: (trials, len(last)).

    `drawn` has a row of outputs for each trial, and `belief` is the prior.
    """
    columns = columns_of(channel.law)
    if not columns.cheap:
        return _by_rows(channel, belief, drawn, last, drawn[:0, 0], progress)[0]
    guesses, logs = np.empty((len(drawn), len(last)), dtype=np.int64), logs_of(belief)
    # A graph is searched for many outputs at once.
    for block in blocks(len(drawn), row_cells=drawn.shape[1], budget=_TOGETHER):
        outputs, places = np.unique(drawn[block], return_inverse=True)
        seen = columns.at(outputs)
        for trial, rows in enumerate(places.reshape(-1, drawn.shape[1]), block.start):
            scores = logs.copy()
            for draw, row in enumerate(rows[: last[-1] + 1]):
                scores += seen[row]
                if draw in last:
                    guesses[trial, last == draw] = scores.argmax()
        report(progress, block.stop, len(drawn))
    return guesses


def likely_candidates(
    channel: LawChannel[Any], belief: Floats, drawn: Ids, last: Ids, truth: Ids
) -> tuple[Ids, NDArray[np.bool_]]:
    """Return the best of the most promising words, for each trial and number of draws.

    Return also whether none of them is better than the true word. Where one is, the best guess of
    all words is wrong; so the share of these trials bounds the best guess from above.
    """
    trials, words = _promising(channel, belief, drawn, last)
    logs = logs_of(belief)
    scores, own = (
        np.cumsum(log_chances(channel, some, outputs), axis=1)[:, last] + logs[some][:, None]
        for some, outputs in ((words, drawn[trials]), (truth, drawn))
    )
    guesses, best = np.empty((len(drawn), len(last)), dtype=np.int64), np.empty(own.shape)
    for place in range(len(last)):
        order = np.lexsort((scores[:, place], trials))
        guesses[trials[order], place] = words[order]  # the last one of each trial stays
        best[trials[order], place] = scores[order, place]
    return guesses, own >= best


def _promising(channel: LawChannel[Any], belief: Floats, drawn: Ids, last: Ids) -> tuple[Ids, Ids]:
    """Return pairs of a trial and a word to weigh for it."""
    size, count = len(belief), drawn.shape[1]
    logs, law = logs_of(belief), channel.law
    totals = _totals(channel) if law.symmetric else np.zeros(size)
    pairs = []
    for block in blocks(len(drawn), row_cells=size * count):
        outputs, places = np.unique(drawn[block], return_inverse=True)
        # How promising each word is at each output: its weight, or how near it is.
        weights = law.log_weights(outputs) if law.symmetric else -law.space.distances(outputs)
        rows = np.asarray(weights)[places.reshape(-1, count)]
        hopes = np.cumsum(rows, axis=1)[:, last] - (last + 1)[:, None] * totals + logs
        words = np.argpartition(-hopes, min(_PROMISING, size) - 1, axis=2)[..., :_PROMISING]
        trials = np.arange(block.start, block.start + len(words))
        pairs.append(np.unique(trials[:, None] * size + words.reshape(len(words), -1)))
    chosen = np.concatenate(pairs)
    return chosen // size, chosen % size


def _totals(channel: LawChannel[Any]) -> Floats:
    """Estimate ln of the sum of each word's weights, from some rows of a symmetric law."""
    size = len(channel.lexicon)
    ids, sums, top = even_sample(size, _TOTALS), np.zeros(size), 0.0
    for block in blocks(len(ids), row_cells=size):
        weights = np.exp(channel.law.log_weights(ids[block]))
        sums += weights.sum(axis=0)
        top = max(top, float(weights.max()))
    # The words themselves weigh most, and most of them are not among the sampled rows.
    return np.asarray(np.log(top + sums * (size / len(ids))))


def logs_of(belief: Floats) -> Floats:
    """Return the logarithms of probabilities; −∞ for 0."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(belief))


# The best guess at an output among the words near it: a lower bound of the best guess of all.
#
# With all n words equally likely, the best guess is right with probability (1/n)·Σ_y max_w Pr[y |
# w]: the mean of max_w Pr[y | w] over outputs y that are spread evenly, not drawn. To consider
# fewer words w is an attack, too, and its success a lower bound. The word y itself is always
# considered, so the bound is never below the share of words that stay. For TEM it is the value
# itself: with Pr[y | w] = exp(−t·d(w, y))/Z(w), the triangle inequality gives Z(y) ≤ exp(t·d(w,
# y))·Z(w), so no word explains y better than y does.


_NEAR: Final = 64  # words considered at an output of a law
_CELLS: Final = 1 << 24  # probabilities computed in all: 500 rows of 33,000 words, half a second
_FEW: Final = 4  # words considered at an output of noise, the word itself included
_RUNS: Final = 128  # draws of each of them
_DEAR_RUNS: Final = 16  # where each draw is decoded on its own
_CHEAP: Final = 1_000  # words of a lexicon up to which decoding is cheap


def nearby_chances(channel: Channel, outputs: Ids, rng: Generator) -> Floats:
    """Return max Pr[y | w] over words w near each output y: computed from a law, or estimated.

    For a symmetric law, row y says how large Pr[y | w] could be at most if w were as concentrated
    as can be, so words that cannot win are left out. Those with the best prospects come first.
    """
    if not isinstance(channel, LawChannel):
        return _by_draws(channel, outputs, rng)
    law, size = channel.law, len(channel.lexicon)
    stay, words, places, prospects = [], [], [], []
    for block in blocks(len(outputs), row_cells=size):
        own = outputs[block]
        rows = channel.log_probabilities(own)
        here = np.arange(len(own))
        stays = rows[here, own]
        order = rows if law.symmetric else -channel.lexicon.distances(own)
        order[here, own] = -np.inf
        near = np.argpartition(-order, min(_NEAR, size - 1) - 1, axis=1)[:, :_NEAR]
        hopes = np.take_along_axis(order, near, axis=1)
        if law.symmetric:
            hopes = hopes - 2.0 * stays[:, None]  # ln w(y, w)/w(y, y), against ln Pr[y | y]
        row, column = np.nonzero(hopes > (0.0 if law.symmetric else -np.inf))
        stay.append(np.exp(stays))
        words.append(near[row, column])
        places.append(row + block.start)
        prospects.append(hopes[row, column])
    first = np.argsort(-np.concatenate(prospects), kind="stable")[: _CELLS // size]
    best, compared = np.concatenate(stay), np.concatenate(places)[first]
    chances = np.exp(log_chances(channel, np.concatenate(words)[first], outputs[compared][:, None]))
    np.maximum.at(best, compared, chances[:, 0])
    return best


def _by_draws(channel: Channel, outputs: Ids, rng: Generator) -> Floats:
    """Estimate max Pr[y | w] over the few nearest words w of each output y, from draws.

    One half of the draws chooses the word, the other half measures it: on average the result is
    not above the truth.
    """
    nearest = _nearest_words(channel, outputs, _FEW)
    words, which = np.unique(nearest, return_inverse=True)
    cheap = len(channel.lexicon) <= _CHEAP or shares_noise(channel)
    drawn = draw_often(channel, words, _RUNS if cheap else _DEAR_RUNS, rng)
    right = drawn[which.reshape(nearest.shape)] == outputs[:, None, None]
    half = right.shape[2] // 2
    chosen = right[:, :, :half].sum(axis=2).argmax(axis=1)  # ties go to the word itself
    return np.asarray(right[np.arange(len(outputs)), chosen, half:].mean(axis=1))


def _nearest_words(channel: Channel, outputs: Ids, count: int) -> Ids:
    """Return each output and its nearest other words, `count` in all: (outputs, words)."""
    size, parts = len(channel.lexicon), []
    count = min(count, size)
    for block in blocks(len(outputs), row_cells=size):
        own = outputs[block]
        rows = channel.lexicon.distances(own)
        rows[np.arange(len(own)), own] = -np.inf
        near = np.argpartition(rows, count - 1, axis=1)[:, :count]
        order = np.take_along_axis(rows, near, axis=1).argsort(axis=1)
        parts.append(np.take_along_axis(near, order, axis=1))
    return np.concatenate(parts)


# How often an observer who sees one word, without context, guesses it right, all words being
# equally likely.

NO_CHANCE_OF_GUESSING = (
    "an observer who knows the context or how frequent words are, or sees a word several times, "
    "guesses more: malaprop attack measures how much"
)
"""What belongs beside the share of words that stay."""
UNIFORM = "an observer without context, to whom all words are equally likely"
"""Who guesses single words, where nothing else is said about what the observer knows."""
_SAMPLES: Final = 256  # outputs: the standard error of a share is then 3 % at most
_OUTPUTS_TOGETHER: Final = 4  # blocks of outputs whose columns are computed together
_WEIGHED: Final = 2  # columns that are weighed at once, in a processor's cache
_SMALL: Final = 1_000  # words up to which all outputs count, and the share is exact


class BestGuess(Estimate):
    """The share of single words that an observer without context guesses right.

    >>> print(BestGuess.exact(0.342)), print(replace(BestGuess.exact(0.342), bound="at least"))
    about 34%
    at least 34%
    (None, None)
    """

    @property
    def share(self) -> float:
        return self.value

    @property
    def at_least(self) -> bool:
        """Whether the share is that of a guess that a better observer may exceed."""
        return self.bound == "at least"

    def __format__(self, spec: str) -> str:
        return f"{self.bound or 'about'} {self.share:{spec or '.0%'}}"


def best_guess_of(channel: Channel, kept: float = 0.0) -> BestGuess:
    """Return how often the best guess is right, exactly, as an estimate or as a lower bound.

    Up to 1,000 words of a law, it is exact. On more, it is an estimate from 256 outputs if the law
    has a cheap form for them, or from 128 words if the best guess is what comes out. Otherwise,
    and for noise on vectors, it is what an observer achieves who considers the nearest words only,
    at 128 outputs. The outputs are always the same ones.

    `kept` is the share of words that stay, if known: to guess what comes out is right as often, so
    no estimate is below it.
    """
    size, rng = len(channel.lexicon), seeded_rng(0)
    if isinstance(channel, LawChannel):
        if size <= _SMALL:
            law = np.exp(channel.log_probabilities(np.arange(size)))
            return BestGuess.exact(min(1.0, float(law.max(axis=0).sum()) / size))
        largest = largest_posteriors(channel, np.full(size, 1.0 / size), _SAMPLES, rng)
        if largest is not None:
            return _no_less(kept, BestGuess.of_sample(largest, rng, over="outputs"))
        if channel.law.outputs_are_best_guesses:
            stays = channel.law.staying(sample(size))
            return _no_less(kept, BestGuess.of_sample(stays, rng, over="words"))
    chances = nearby_chances(channel, sample(size), rng)
    achieved = BestGuess.of_sample(chances, rng, over="outputs")
    return replace(_no_less(kept, achieved), bound="at least")


def _no_less(kept: float, guess: BestGuess) -> BestGuess:
    return replace(guess, value=max(kept, guess.value), high=max(kept, guess.high))


def largest_posteriors(
    channel: LawChannel[Law], chances: Floats, samples: int, rng: Generator
) -> Floats | None:
    """Return the probability of the best guess at some drawn outputs, given prior `chances`.

    Its mean is how often the best guess is right. None if the law has no cheap form for columns.
    """
    truth = rng.choice(len(chances), size=samples, p=chances)
    steps = blocks(samples, row_cells=len(chances))
    groups = [
        steps[:1],
        *(steps[i : i + _OUTPUTS_TOGETHER] for i in range(1, len(steps), _OUTPUTS_TOGETHER)),
    ]
    largest: list[Floats] = []
    for group in groups:
        outputs = np.concatenate([channel.substitute(truth[block], rng) for block in group])
        for columns in channel.law.likelihood_parts(outputs, _WEIGHED):
            joint = columns * chances
            largest.append(joint.max(axis=1) / joint.sum(axis=1))
        if not largest:
            return None
    return np.concatenate(largest)


# How many words a channel keeps as they are, and the ε that would keep fewer.
#
# A share is not the chance that an observer guesses a word: context and repetition raise that.

A_THIRD = 1.0 / 3.0
LITTLE_PROTECTION, NEXT_TO_NONE = 0.5, 0.8
"""Shares of words kept from which ε protects little, and next to nothing."""
LITTLE_LEFT = 0.01

_WORDS = 128  # at most, for each ε that is tried
_DRAWS = 4  # per word, where the law is not known in closed form
_SEARCH_CELLS = 1 << 21  # at most so many distances for each ε that is tried
_CLOSE = 0.1  # of the log odds of a share: 0.02 of a share of a third
_FAR = 8.0  # factor between two bounds from which their ratio is halved
_SECONDS = 3.0  # after that there is no suggestion


@dataclass(frozen=True)
class KeptShare:
    """How many words a mechanism keeps, and what to do about it.

    `third` is about the ε with which the mechanism would keep a third of the words, and `guessed`
    the share that an observer without context guesses right. They are computed only if ε protects
    little, and `third` only if the law is known in closed form.
    """

    share: float
    third: float | None = None
    guessed: BestGuess | None = None

    @property
    def warning(self) -> str:
        """What a user should know about this ε, in plain words; usually empty."""
        kept = f"{self.share:.0%} of words are expected to stay as they are"
        if self.guessed is not None:
            kept += f", and {UNIFORM}, guesses {self.guessed} of them right"
        if self.share >= NEXT_TO_NONE:
            return f"THIS EPSILON PROTECTS NEXT TO NOTHING: {kept}. {self._remedy}"
        if self.share >= LITTLE_PROTECTION:
            return f"this epsilon protects little: {kept}. {self._remedy}"
        if self.share <= LITTLE_LEFT:
            return (
                f"this epsilon leaves next to nothing of the text: {self.share:.2%} of words are "
                "expected to stay. Take a larger one if the text is to be of use"
            )
        return ""

    @property
    def _remedy(self) -> str:
        smaller = "" if self.third is None else f": about {self.third:.3g} would keep a third"
        return (
            f"Take a smaller one{smaller}. Anyone who knows the context, or sees a word several "
            "times, guesses more words than are kept"
        )


def kept_share(mechanism: Mechanism, channel: Channel) -> KeptShare:
    """Compute the share of words that a mechanism keeps; `channel` is it on its lexicon."""
    share = unchanged_share(channel)
    if share < LITTLE_PROTECTION:
        return KeptShare(share)
    third = None
    if isinstance(channel, LawChannel):
        third = epsilon_for_kept_share(mechanism, channel, A_THIRD)
    return KeptShare(share, third, best_guess_of(channel, share))


def unchanged_share(channel: Channel, rng: Generator | None = None) -> float:
    """Return the expected share of words that stay unchanged: the mean of Pr[w | w].

    It is taken over up to 128 words, evenly spread over the lexicon. For each, it is exact if the
    law is known in closed form, and otherwise comes from 4 draws.
    """
    ids = sample(len(channel.lexicon))
    if isinstance(channel, LawChannel):
        return float(np.mean(_stay(channel.law, ids)))
    tries = np.repeat(ids, _DRAWS)
    return float(np.mean(channel.substitute(tries, rng or secure_rng()) == tries))


def epsilon_for_kept_share(
    mechanism: Mechanism, channel: LawChannel[Law], share: float
) -> float | None:
    """Estimate the ε with which a mechanism would keep a share of words, if it is below its own.

    `channel` is the mechanism on its lexicon. The share that it keeps grows with ε. Return None if
    there is no such ε, or none is found within three seconds.
    """
    lexicon = channel.lexicon
    ids = even_sample(len(lexicon), max(8, min(_WORDS, _SEARCH_CELLS // len(lexicon))))

    def excess(epsilon: float) -> float:
        bound: Channel = channel
        if epsilon != mechanism.epsilon:
            bound = replace(mechanism, epsilon=epsilon).on(lexicon)
        if not isinstance(bound, LawChannel):
            raise LexiconError("The mechanism's law is not known at another ε.")
        return _log_odds(float(np.mean(_stay(bound.law, ids)))) - _log_odds(share)

    try:
        return _root(excess, mechanism.epsilon)
    except MalapropError:  # at another ε the mechanism may ask for what is not there
        return None


def _root(rising: Callable[[float], float], start: float) -> float | None:
    """Find roughly where a rising function of a positive number is 0, below `start`."""
    high, above = start, rising(start)
    if above <= 0.0:
        return None
    low, below, factor = start, above, 2.0
    end = monotonic() + _SECONDS
    while monotonic() < end:
        if below > 0.0:  # no lower bound yet: take ever larger steps down
            tried, factor = low / factor, factor**1.5
        elif high > _FAR * low:
            tried = math.sqrt(low) * math.sqrt(high)
        else:  # false position, but well inside the bounds
            tried = low + (high - low) * min(0.9, max(0.1, below / (below - above)))
        value = rising(tried)
        if abs(value) <= _CLOSE:
            return tried
        if value > 0.0:
            high, above = tried, value
        if value < 0.0 or below > 0.0:
            low, below = tried, value
    return None


def _log_odds(share: float) -> float:
    share = min(max(share, 1e-12), 1.0 - 1e-12)
    return math.log(share) - math.log1p(-share)


def _stay(law: Law, ids: Ids, progress: Progress | None = None) -> Floats:
    chances, steps = np.empty(len(ids)), blocks(len(ids), row_cells=len(law.space))
    for done, block in enumerate(steps, 1):
        chances[block] = law.staying(ids[block])
        report(progress, done, len(steps))
    return chances


# How many words an observer recovers from several draws of each, all words being equally likely,
# and without what context tells beyond the draws.

_SEVERAL_WORDS = 16  # evenly spread over the lexicon: a share may be off by some 0.08
_RIVALS = 6  # the nearest words: others seldom make three draws or more likelier
_TRIALS = 64  # of each word
_TIED = 1e-9  # nats
_SEVERAL_CELLS = 1 << 22  # of rows computed together: 32 MB


def best_guess_of_several(channel: Channel, draws: Sequence[int]) -> tuple[tuple[int, float], ...]:
    """Return each number of draws, 3 or more, with the share of words recovered from so many.

    Nothing if the law of the channel is not known in closed form.
    """
    if not draws or not isinstance(channel, LawChannel):
        return ()
    words = even_sample(len(channel.lexicon), _SEVERAL_WORDS)
    together = max(1, _SEVERAL_CELLS // ((_RIVALS + 1) * len(channel.lexicon)))
    shares = []
    for start in range(0, len(words), together):
        candidates = _nearest_words(channel, words[start : start + together], _RIVALS + 1)
        rows = channel.log_probabilities(candidates.ravel()).reshape(*candidates.shape, -1)
        for word, laws in zip(candidates[:, 0].tolist(), rows, strict=True):
            rng, sums = np.random.default_rng(word), np.cumsum(np.exp(laws[0]))
            shares.append([_recovered(laws, sums, k, rng) for k in draws])
    return tuple(zip(draws, np.mean(shares, axis=0).tolist(), strict=True))


def _recovered(laws: Floats, sums: Floats, draws: int, rng: Generator) -> float:
    """Return the share of trials in which the first of some laws explains all draws of it best.

    The draws are for an estimate: users' words are never drawn like this. Of equally likely laws
    the observer picks one at random.
    """
    places = np.searchsorted(sums, rng.random((_TRIALS, draws)) * sums[-1])
    drawn = np.minimum(places, len(sums) - 1)
    with np.errstate(invalid="ignore"):
        scores = laws[:, drawn].sum(axis=2)
    best = scores >= scores.max(axis=0) - _TIED
    return float(np.mean(best[0] / best.sum(axis=0)))

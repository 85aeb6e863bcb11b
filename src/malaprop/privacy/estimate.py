"""A figure with its error; intervals; an even sample of words; the search for an ε at which a
figure meets a target.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, Self

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from malaprop.privacy.arrays import Floats, Ids, blocks, distinct
from malaprop.privacy.channel import Channel, VectorChannel
from malaprop.privacy.errors import MalapropError, ParameterError
from malaprop.privacy.metrics import MetricSpace
from malaprop.privacy.noise import AdditiveNoise, Noise
from malaprop.privacy.progress import Progress, in_threads, report

LEVEL = 0.95
Error = tuple[float | None, float | None]
"""One standard error and its degrees of freedom, each None if it is not known."""


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A figure with its error: the one type for statistics, attacks, tasks, studies and pages.

    >>> guess = Estimate.of_share(42, 100, over="words")
    >>> f"{guess:.0%}", f"{Estimate.exact(0.5):.2f}", f"{replace(guess, bound='at least'):.0%}"
    ('42% (32% to 52%)', '0.50', 'at least 42%')
    """

    value: float
    low: float
    """The lower end of a 95 % interval: `value` itself if there is no error, or none is known."""
    high: float
    over: str = ""
    """What the interval covers, such as "words", "draws" or "texts and their noise"."""
    bound: Literal["", "at least", "at most"] = ""
    """Whether `value` bounds the figure, by what one attack achieves, and does not estimate it."""
    values: tuple[float, ...] = field(default=(), repr=False)
    """The figure of each run, if it is a mean over several."""
    errors: tuple[Error, ...] = field(default=(), repr=False)
    """Independent parts of the error, for sums and differences of figures: see `chance_margin`."""

    @classmethod
    def exact(cls, value: float) -> Self:
        return cls(value=value, low=value, high=value)

    @classmethod
    def of_runs(
        cls,
        values: Sequence[float],
        *,
        shared: float = 0.0,
        tested: int = 0,
        between: tuple[float, float] = (0.0, 1.0),
        over: str = "",
    ) -> Self:
        """Return the mean of several runs.

        The interval is Student's. Runs on random splits of the same texts share most of their
        training texts, so that the plain one is too narrow. Give `shared` as the size of the test
        part over that of the training part: the variance of the mean is then s²·(1/n + shared)
        (Nadeau and Bengio 2003). The interval is cut off at `between`, the range of the figure.

        One run, or runs that all agree, say nothing of how sure a figure is. If it is a share of
        `tested` texts, the interval is then Clopper and Pearson's, over these texts.

        >>> Estimate.of_runs([0.7, 0.8]).value
        0.75
        """
        runs = tuple(map(float, values))
        mean, spread = float(np.mean(values)), spread_of(values)
        if not spread:
            low, high = clopper_pearson(mean * tested, tested) if tested else (mean, mean)
            return cls(value=mean, low=float(low), high=float(high), over=over, values=runs)
        from scipy.stats import t

        root = (1.0 / len(runs) + shared) ** 0.5
        margin = float(t.ppf(0.5 + LEVEL / 2.0, len(runs) - 1)) * spread * root
        least, most = between
        return cls(
            value=mean,
            low=max(least, mean - margin),
            high=min(most, mean + margin),
            over=over,
            values=runs,
            errors=((spread * root, len(runs) - 1),),
        )

    @classmethod
    def of_share(cls, hits: int, trials: int, *, over: str = "") -> Self:
        """Return a share of trials, with Clopper and Pearson's interval."""
        low, high = clopper_pearson(hits, trials).tolist()
        return cls(value=hits / trials, low=low, high=high, over=over)

    @classmethod
    def of_sample(cls, values: Floats, rng: Generator, *, over: str = "") -> Self:
        """Return the mean over a sample, such as of words, with its bootstrap interval."""
        ((low, high),) = bootstrap_intervals(values[:, None], rng).tolist()
        return cls(value=float(values.mean()), low=low, high=high, over=over)

    @classmethod
    def of_errors(cls, value: float, *errors: Error, over: str = "") -> Self:
        """Return a figure with independent errors, and Welch's interval: see `chance_margin`.

        >>> f"{Estimate.of_errors(2.0, (0.3, 4), (0.4, 4)):.2f}"
        '2.00 (0.83 to 3.17)'
        """
        margin = chance_margin(errors)
        return cls(value=value, low=value - margin, high=value + margin, over=over, errors=errors)

    @classmethod
    def one_sided(cls, value: float, unsafe: float) -> Self:
        """Return a figure with the end of a one-sided 95 % interval, above or below it."""
        return cls(value=value, low=min(value, unsafe), high=max(value, unsafe))

    @property
    def unsafe(self) -> float:
        """The end of the interval that is farther from the value: of a one-sided one, its end."""
        return self.high if self.high - self.value >= self.value - self.low else self.low

    @property
    def interval(self) -> tuple[float, float]:
        return self.low, self.high

    @property
    def is_exact(self) -> bool:
        """Whether there is no error, or none is known."""
        return self.low == self.value == self.high

    @property
    def spread(self) -> float:
        """The standard deviation between runs; 0 for one run."""
        return spread_of(self.values)

    def within(self, least: float, most: float) -> Self:
        """Return the figure with its interval cut off at the range of what is possible."""
        return replace(self, low=max(least, self.low), high=min(most, self.high))

    def to_dict(self) -> dict[str, Any]:
        return {
            "value": self.value,
            "spread": self.spread,
            "interval": [self.low, self.high],
            "values": list(self.values),
        }

    def __format__(self, spec: str) -> str:
        """Return value and interval, each by the format of a number: `.3f`, `.0%`."""
        spec = spec or ".4g"
        if self.bound:
            return f"{self.bound} {self.value:{spec}}"
        error = "" if self.is_exact else f" ({self.low:{spec}} to {self.high:{spec}})"
        return f"{self.value:{spec}}{error}"

    def __str__(self) -> str:
        return format(self)


def spread_of(values: Sequence[float]) -> float:
    """Return the standard deviation between runs; 0 for one run, and for runs that all agree.

    >>> spread_of([0.7, 0.7, 0.7]), spread_of([0.7])
    (0.0, 0.0)
    """
    # Not by numpy alone: the mean of equal numbers may be rounded to another one.
    return 0.0 if len(values) < 2 or min(values) == max(values) else float(np.std(values, ddof=1))


# Which words of a lexicon a figure is computed for.

_WORDS = 128  # sampled words: the standard error of a share is then 4 % at most
_CELLS = 1 << 25  # at most so many distances for a figure: fewer words of a large lexicon


def sample(size: int) -> Ids:
    """Return the words that figures are computed from: up to 128, fewer of a large lexicon."""
    return even_sample(size, max(32, min(_WORDS, _CELLS // size)))


def even_sample(size: int, count: int) -> Ids:
    """Return up to `count` ids, evenly spread over 0 … size − 1, frequent words and rare ones.

    >>> even_sample(10, 4).tolist()
    [0, 3, 6, 9]
    """
    return distinct(np.linspace(0, size - 1, min(size, count)).round().astype(np.int64))


MOST, SOME = 10_000, 1_000
"""By default all words of a lexicon with up to `MOST`, and `SOME` of a larger one."""


def word_ids(space: MetricSpace, words: Sequence[str] | int | None) -> Ids:
    """Return the ids of some words: the named ones, or a number of them, spread evenly.

    >>> from malaprop import Lexicon
    >>> line = Lexicon(["cold", "cool", "hot"], [[0.0], [1.0], [3.0]])
    >>> word_ids(line, ["hot"]).tolist(), word_ids(line, 2).tolist(), word_ids(line, None).tolist()
    ([2], [0, 2], [0, 1, 2])
    """
    size = len(space)
    if words is None:
        return even_sample(size, size if size <= MOST else SOME)
    if isinstance(words, int) and not isinstance(words, bool):
        if words < 1:
            raise ParameterError(f"A sample must have 1 word or more. Got {words}.")
        return even_sample(size, int(words))
    if isinstance(words, str) or not isinstance(words, Iterable):
        raise ParameterError("The 'words' parameter must be a list of words, or a number of them.")
    index = {word: i for i, word in enumerate(space.words)}
    if not (chosen := list(words)):
        raise ParameterError("A sample must have 1 word or more. Got none.")
    for place, word in enumerate(chosen, 1):
        if word not in index:  # by its place: the list may be a file of the user's text
            raise ParameterError(
                f"Entry {place:,} of the 'words' parameter is not in the lexicon: name words of "
                "it, or a number of them."
            )
    return np.array([index[word] for word in chosen], dtype=np.int64)


# Confidence intervals for shares and means.

_RESAMPLES = 2_000


def clopper_pearson(successes: Any, trials: Any, level: float = LEVEL) -> Floats:
    """Return exact intervals for the chance behind some numbers of successes: (…, 2).

    >>> clopper_pearson(0, 100).round(4).tolist()
    [0.0, 0.0362]
    """
    from scipy.stats import beta

    successes, trials = np.asarray(successes, np.float64), np.asarray(trials, np.float64)
    tail = (1.0 - level) / 2.0
    low = np.where(successes > 0, beta.ppf(tail, successes, trials - successes + 1), 0.0)
    high = np.where(successes < trials, beta.ppf(1 - tail, successes + 1, trials - successes), 1.0)
    return np.stack([low, high], axis=-1)


def bootstrap_intervals(values: Floats, rng: Generator) -> Floats:
    """Return 95 % intervals of the means of columns, by the bootstrap over rows: (columns, 2).

    Rows are drawn with replacement 2,000 times, the same ones for all columns. The interval is
    where 95 % of the means lie. A single row gives an interval of no width: all that is known.

    >>> from malaprop import seeded_rng
    >>> shares = np.array([0.0] * 90 + [1.0] * 10)
    >>> [round(end, 2) for end in bootstrap_intervals(shares[:, None], seeded_rng(1))[0].tolist()]
    [0.05, 0.16]
    """
    size, tail = len(values), 50.0 * (1.0 - LEVEL)
    means = []
    for part in blocks(_RESAMPLES, row_cells=size):
        rows = part.stop - part.start
        drawn = rng.integers(size, size=(rows, size)) + size * np.arange(rows)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=rows * size).reshape(rows, size)
        means.append(counts @ values / size)
    return np.percentile(np.concatenate(means), [tail, 100.0 - tail], axis=0).T


def widened(intervals: Floats, middles: Floats, errors: Floats, freedom: int) -> Floats:
    """Return 95 % intervals that include a further error, independent of theirs: (…, 2).

    `errors` are standard errors with so many degrees of freedom.

    >>> widened(np.array([[1.0, 3.0]]), np.array([2.0]), np.array([1.0]), 7).round(2).tolist()
    [[-0.57, 4.57]]
    """
    from scipy.special import stdtrit

    far = stdtrit(freedom, (1.0 + LEVEL) / 2.0) * errors
    low = middles - np.hypot(middles - intervals[:, 0], far)
    return np.stack([low, middles + np.hypot(intervals[:, 1] - middles, far)], axis=1)


def joint_error(parts: Iterable[Error]) -> tuple[float, float | None]:
    """Return the error of a sum of independent figures, and its degrees of freedom.

    `parts` are standard errors with their degrees of freedom; one without an error is exact. The
    degrees are those of Welch and Satterthwaite; None if those of a part are not known.

    >>> error, freedom = joint_error([(3.0, 4), (4.0, 4), (None, None)])
    >>> error, round(freedom, 2)
    (5.0, 7.42)
    """
    uncertain = [(error, freedom) for error, freedom in parts if error]
    error = math.hypot(*(each for each, _ in uncertain))
    lost = 0.0
    for each, freedom in uncertain:
        if not freedom:
            return error, None
        lost += (each / error) ** 4 / freedom
    return error, 1.0 / lost if lost else None


def chance_margin(parts: Iterable[Error], level: float = LEVEL) -> float:
    """Return how far a sum of figures may lie from its mean by chance: in 95 % of repetitions.

    It is Welch's: Student's law with the degrees of freedom of `joint_error`. Infinite if those are
    not known, and 0 if all figures are exact.

    >>> round(chance_margin([(1.0, 1)]), 2), round(chance_margin([(1.0, 1e9)]), 2)
    (12.71, 1.96)
    """
    from scipy.special import stdtrit

    error, freedom = joint_error(parts)
    if not error:
        return 0.0
    return math.inf if freedom is None else float(stdtrit(freedom, (1.0 + level) / 2.0)) * error


# The ε at which a figure meets a target.

_LEAST, _MOST = 1e-3, 1e3  # the range of ε that is searched, as multiples of the first one
_STEPS = 24  # the most ε that are tried
_CLOSE = 0.002  # relative width of the last interval of ε


def bisect(
    below: Callable[[float], bool], low: float, high: float, *, steps: int, close: float = 0.0
) -> tuple[float, float]:
    """Bring two positive numbers close together, the first below and the second above a threshold.

    >>> bisect(lambda x: x < 3.0, 1.0, 16.0, steps=2)
    (2.0, 4.0)
    """
    for _ in range(steps):
        if high <= low * (1.0 + close):
            break
        middle = math.sqrt(low * high)
        low, high = (middle, high) if below(middle) else (low, middle)
    return low, high


def search_epsilon(
    figure: Callable[[float], Estimate],
    met: Callable[[Estimate], bool],
    target: str,
    *,
    smallest: bool = False,
    start: float = 1.0,
    progress: Progress | None = None,
) -> tuple[float, dict[float, Estimate]]:
    """Return the largest ε that keeps to a target, and the figures of all that were tried.

    That is for a target that small ε meet; return the `smallest` ε if large ones do.
    """
    tried: dict[float, Estimate] = {}

    def below(epsilon: float) -> bool:
        tried[epsilon] = figure(epsilon)
        report(progress, min(len(tried), _STEPS - 1), _STEPS)
        return met(tried[epsilon]) != smallest

    def bracket() -> float | None:
        """Return an ε below the one that is looked for, twice which is above it."""
        epsilon, up = start, below(start)
        while _LEAST * start < epsilon < _MOST * start:
            other = 2.0 * epsilon if up else epsilon / 2.0
            try:
                if below(other) != up:
                    return min(epsilon, other)
            except MalapropError:
                if up:
                    raise
                return None  # the mechanism serves no smaller ε
            epsilon = other
        return None

    low = bracket()
    if low is None:
        raise _beyond(tried, target, up=max(tried) > start, met=met(tried[start]))
    low, high = bisect(below, low, 2.0 * low, steps=_STEPS - len(tried), close=_CLOSE)
    report(progress, _STEPS, _STEPS)
    return high if smallest else low, tried


def _beyond(tried: Mapping[float, Estimate], target: str, *, up: bool, met: bool) -> ParameterError:
    """Return the error of a search in which all ε meet a target, or none does."""
    end, which = (max(tried), "largest") if up else (min(tried), "smallest")
    value, unsafe = (
        f"{number:.4g}" if abs(number) < 1e4 else f"{number:,.0f}"
        for number in (tried[end].value, tried[end].unsafe)
    )
    figure = value if tried[end].is_exact else f"{value} ({unsafe} with its error)"
    if met:
        return ParameterError(
            f"Every ε {'up' if up else 'down'} to {end:.4g}, the {which} that is searched, meets "
            f"the target ({target}): the figure is {figure} there."
        )
    return ParameterError(
        f"The target ({target}) is out of reach: the figure is {figure} at ε = {end:.4g}, the "
        f"{which} that is searched."
    )


# Many draws of many words.
#
# With additive noise, y = w + z, the nearest word to y maximises z·v − ‖v − w‖²/2 over words v. The
# products z·v serve every word w, so words that share noise z need a matrix product only once, and
# an addition and a maximum for each draw after that: 8 µs instead of 220 µs with 33,000 words in
# 300 dimensions.

SMALLEST: Final = 1_000
"""Words of a lexicon below which each draw has noise of its own: that is fast enough there."""
TOGETHER: Final = 128
"""Words that share noise. More would save little, and tie the errors of more words together."""
_PRODUCTS: Final = 1 << 21  # z·v that are held at a time
_ROWS: Final = 8  # words whose scores are compared in one step: they fit the cache

Scores = NDArray[np.float32]


def draw_often(
    channel: Channel,
    ids: Ids,
    runs: int,
    rng: Generator,
    progress: Progress | None = None,
    *,
    budget: int = 1 << 62,
) -> Ids:
    """Draw `runs` replacements of each word: (words, runs), with shared noise where that is faster.

    Otherwise words are drawn together as long as their noisy vectors have `budget` cells.
    """
    if isinstance(channel, VectorChannel) and shares_noise(channel):
        return shared_draws(channel, ids, runs, rng, progress)
    drawn = np.empty((len(ids), runs), dtype=np.int64)
    steps = blocks(len(ids), row_cells=runs * channel.lexicon.vectors.shape[1], budget=budget)
    for done, block in enumerate(steps, 1):
        drawn[block] = channel.substitute(np.repeat(ids[block], runs), rng).reshape(-1, runs)
        report(progress, done, len(steps))
    return drawn


def shares_noise(channel: Channel) -> bool:
    """Whether the draws of several words may share noise: it is added, and the nearest word wins.

    The noise must not depend on the word.
    """
    if not isinstance(channel, VectorChannel) or len(channel.lexicon) < SMALLEST:
        return False
    noise: Any = channel.noise
    return (
        isinstance(noise, AdditiveNoise)
        and noise.is_independent
        and type(noise).release_words is Noise.release_words
        and channel.decoder.sites() is not None
    )


def shared_draws(
    channel: VectorChannel[Any], ids: Ids, runs: int, rng: Generator, progress: Progress | None
) -> Ids:
    """Draw `runs` replacements of each word: (words, runs); see `shares_noise`.

    The runs of one word are independent of each other. Words come in groups of 128, and run i of
    all words of a group has the same noise, so their errors are not independent. Scores are
    compared in float32: of two words as near to the sixth digit, either may win.
    """
    sites = channel.decoder.sites()
    if sites is None:
        raise ValueError("the decoder does not take the nearest word")
    places = sites - sites.mean(axis=0)  # smaller products, with smaller rounding errors
    flat, squares = places.astype(np.float32), np.einsum("ij,ij->i", places, places)
    drawn = np.empty((len(ids), runs), dtype=np.int64)
    step = max(1, _PRODUCTS // len(flat))
    for start in range(0, len(ids), TOGETHER):
        group = ids[start : start + TOGETHER]
        halves = 0.5 * (squares[group, None] + squares) - places[group] @ places.T
        handicaps = halves.astype(np.float32)  # ‖v − w‖²/2
        for first in range(0, runs, step):
            some = slice(first, min(first + step, runs))
            origin = np.zeros((some.stop - first, flat.shape[1]))
            noise = channel.noise.release(origin, rng).astype(np.float32)
            drawn[start : start + len(group), some] = _winners(noise @ flat.T, handicaps)
            report(progress, start * runs + len(group) * some.stop, len(ids) * runs)
    return drawn


def _winners(products: Scores, handicaps: Scores) -> Ids:
    """Return the word with the best score for each word and run: (words, runs)."""

    def best(rows: slice) -> Ids:
        scores = np.empty((rows.stop - rows.start, products.shape[1]), dtype=np.float32)
        won = np.empty((len(scores), len(products)), dtype=np.int64)
        for run, product in enumerate(products):
            np.subtract(product, handicaps[rows], out=scores)
            scores.argmax(axis=1, out=won[:, run])
        return won

    size = len(handicaps)
    parts = [slice(start, min(start + _ROWS, size)) for start in range(0, size, _ROWS)]
    return np.concatenate(in_threads(best, parts))

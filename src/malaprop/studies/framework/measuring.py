"""What cells measure often: means with errors, shares of words kept, ε at an equal share kept."""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from malaprop.core.arrays import Floats
from malaprop.core.channel import Channel, VectorChannel
from malaprop.core.noise.gaussian import WordGaussian
from malaprop.core.randomness import seeded_rng
from malaprop.measure.chosen_words import word_ids
from malaprop.measure.intervals import joint_error
from malaprop.measure.tasks.result import Estimate
from malaprop.studies.framework.items import Figure
from malaprop.studies.framework.run import MissingDataError
from malaprop.studies.framework.spreads import NOISE, SPLITS

_STEPS = 14  # of a bisection over ε
_SEED = 20


def mean_of(measure: str, values: ArrayLike) -> Figure:
    """Return the mean of some values, with its standard error."""
    array = np.asarray(values, dtype=np.float64)
    if len(array) < 2:
        return Figure(measure, float(array.mean()))
    error = float(array.std(ddof=1)) / math.sqrt(len(array))
    return Figure(measure, float(array.mean()), error, freedom=len(array) - 1)


def there_or_missing(measures: Iterable[str], figures: Iterable[Figure]) -> Iterator[Figure]:
    """Yield the figures, or for each measure one that names the data set that is missing.

    So a cell still measures the rest. Errors that name no data set are raised.
    """
    try:
        yield from list(figures)
    except MissingDataError as missing:
        if not missing.data:
            raise
        yield from (Figure(name, None, missing=missing.data) for name in measures)


def over_both(measure: str, table: ArrayLike, shared: float) -> Iterator[Figure]:
    """Return the mean of (noise draws × splits) twice: with its error over draws, and over splits.

    Each draw is scored on the same splits. `shared` is as in `estimated`.
    """
    array = np.asarray(table, dtype=np.float64)
    yield mean_of(measure, array.mean(axis=1))
    by_split = array.mean(axis=0)
    error = float(by_split.std(ddof=1)) * math.sqrt(1.0 / len(by_split) + shared)
    own = {"spread": SPLITS}
    yield Figure(measure, float(array.mean()), error, own, freedom=len(by_split) - 1)


def jointly(measure: str, table: ArrayLike, shared: float) -> Iterator[Figure]:
    """Return the mean of (noise draws × splits) with its error over both, then over each alone.

    The joint error is the root of the sum of both squares. This is cautious: what a draw changes on
    a single split counts in both. A single row has no noise, and only an error over splits.
    """
    draws, splits = over_both(measure, table, shared)
    if draws.error is None or splits.error is None:
        yield replace(splits, setting={})
        return
    error, freedom = joint_error((each.error, each.freedom) for each in (draws, splits))
    known = draws.freedom if freedom is None else round(freedom, 2)  # without any error, the least
    yield replace(draws, error=error, freedom=known)
    yield replace(draws, setting={"spread": NOISE})
    yield splits


def bootstrapped(
    measure: str, values: Floats, of: Callable[[Any], float], rng: Generator, times: int = 100
) -> Figure:
    """Return a figure of some values, with the standard error of resampling them."""
    again = [of(rng.choice(values, size=len(values))) for _ in range(times)]
    return Figure(measure, of(values), float(np.std(again, ddof=1)), freedom=len(values) - 1)


def estimated(measure: str, estimate: Estimate, shared: float = 0.0) -> Figure:
    """Return a task's estimate as a figure, with its standard error.

    `shared` is the size of the test part over that of the training part, where runs differ in
    their split: they share training texts, and the plain error would be too small.
    """
    runs = len(estimate.values)
    if runs < 2:
        return Figure(measure, estimate.value)
    error = estimate.spread * math.sqrt(1.0 / runs + shared)
    return Figure(measure, estimate.value, error, freedom=runs - 1)


def share_kept(channel: Channel, words: int, rng: Generator, draws: int = 1) -> float:
    """Return the share of words that come out as they went in, words spread over the lexicon."""
    ids = np.repeat(word_ids(channel.lexicon, min(words, len(channel.lexicon))), draws)
    return float(np.mean(channel.substitute(ids, rng) == ids))


def share_in_clear(channel: Channel) -> float:
    """Return the share of words that get no noise at all."""
    if isinstance(channel, VectorChannel) and isinstance(channel.noise, WordGaussian):
        return float(np.mean(channel.noise.sigmas == 0.0)) if channel.noise.bare is None else 0.0
    return 0.0


def both_shares(channel: Channel, words: int, rng: Generator) -> Iterator[Figure]:
    """Measure what belongs beside every figure of utility: the shares kept and in clear."""
    yield Figure("kept", share_kept(channel, words, rng))
    yield Figure("share_in_clear", share_in_clear(channel))


def floor_shares(floor: str, words: int) -> Iterator[Figure]:
    """State both shares of a floor over so many words; they follow from what it is.

    Random words and vectors do not depend on the word, so that they are its own, or nearest to it,
    by chance alone. The most frequent answer releases nothing.
    """
    shares = {"no noise": (1.0, 1.0), "majority": (0.0, 0.0)}
    kept, clear = shares.get(floor, (1.0 / words, 0.0))
    yield Figure("kept", kept)
    yield Figure("share_in_clear", clear)


def epsilon_for_kept(
    bind: Callable[[float], Channel],
    kept: float,
    words: int,
    between: tuple[float, float] = (0.05, 2000.0),
    draws: int = 1,
) -> float:
    """Return the ε at which this share of words stays, by bisection with the same noise.

    Each ε is tried with the same random numbers, so that the share grows smoothly with ε. To tell
    small shares apart, take several `draws` of each word.
    """
    low, high = map(math.log, between)
    for _ in range(_STEPS):
        middle = (low + high) / 2.0
        if share_kept(bind(math.exp(middle)), words, seeded_rng(_SEED), draws) < kept:
            low = middle
        else:
            high = middle
    return math.exp((low + high) / 2.0)

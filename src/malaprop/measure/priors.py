"""What an observer believes about a word before seeing its replacement."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from malaprop.core.arrays import Floats
from malaprop.core.errors import ParameterError
from malaprop.core.space import MetricSpace
from malaprop.lexicon.bigrams.frequencies import public_counts

FREQUENCY = "frequency"
_SHIFT = 2.7  # Zipf's law as Mandelbrot corrected it


_WEB = "by how often words occur on the web"
_ZIPF = "by Zipf's law over the order of the lexicon, most of whose words have no public count"


@dataclass(frozen=True)
class Belief:
    """What an observer believes: the probability of each word, and where that comes from."""

    chances: Floats
    source: str


def prior_over(space: MetricSpace, prior: Any) -> Floats:
    """Return the probability of each word of a lexicon, before anything is seen.

    `prior` is None for equal chances, "frequency" for those of public word frequencies, a number
    for each word, or a mapping from words to numbers (words that it lacks get none). "frequency"
    takes the counts of a trillion words of the web that ship for `english`, if they cover half of
    the words or more. For other lexicons it is Zipf's law over their order, 1/(rank + 2.7):
    lexicons list frequent words first.

    >>> from malaprop import Lexicon
    >>> line = Lexicon(["cold", "cool", "hot"], [[0.0], [1.0], [3.0]])
    >>> prior_over(line, None).round(3).tolist(), prior_over(line, {"cool": 3, "hot": 1}).tolist()
    ([0.333, 0.333, 0.333], [0.0, 0.75, 0.25])
    """
    return belief_over(space, prior).chances


def belief_over(space: MetricSpace, prior: Any) -> Belief:
    """Return the probability of each word, as `prior_over` does, and say where it comes from."""
    size = len(space)
    if prior is None:
        return Belief(np.full(size, 1.0 / size), "all words equally likely")
    if isinstance(prior, str):
        weights, source = _frequencies(space, prior)
    elif isinstance(prior, Mapping):
        weights, source = np.array([float(prior.get(word, 0.0)) for word in space.words]), "given"
    else:
        weights, source = np.asarray(prior, dtype=np.float64), "given"
    return Belief(_normalised(np.asarray(weights, dtype=np.float64), size), source)


def _frequencies(space: MetricSpace, prior: str) -> tuple[Floats, str]:
    if prior != FREQUENCY:
        raise ParameterError(
            f"The 'prior' parameter must be None, {FREQUENCY!r}, or numbers. Got {prior!r}."
        )
    counts = public_counts(space.words)
    if counts is not None:
        return counts, _WEB
    ranks: Floats = np.arange(1.0, len(space) + 1.0)
    return 1.0 / (ranks + _SHIFT), _ZIPF


def _normalised(weights: Floats, size: int) -> Floats:
    good = weights.shape == (size,) and bool(np.isfinite(weights).all())
    if not good or weights.min() < 0.0 or not weights.sum() > 0.0:
        raise ParameterError(
            f"A prior must give each of the lexicon's {size:,} words a finite number of 0 or more, "
            "and some word more than 0."
        )
    return np.asarray(weights / weights.sum())

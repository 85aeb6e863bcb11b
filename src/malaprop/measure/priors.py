"""What an observer believes about a word before seeing its replacement."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from malaprop.core.arrays import Floats
from malaprop.core.errors import ParameterError
from malaprop.core.space import MetricSpace

FREQUENCY = "frequency"
_SHIFT = 2.7  # Zipf's law as Mandelbrot corrected it


def prior_over(space: MetricSpace, prior: Any) -> Floats:
    """Return the probability of each word of a lexicon, before anything is seen.

    `prior` is None for equal chances, "frequency" for those of public word frequencies, a number
    for each word, or a mapping from words to numbers (words that it lacks get none). "frequency"
    is Zipf's law over the lexicon's order, 1/(rank + 2.7): lexicons list frequent words first.

    >>> from malaprop import Lexicon
    >>> line = Lexicon(["cold", "cool", "hot"], [[0.0], [1.0], [3.0]])
    >>> prior_over(line, None).round(3).tolist(), prior_over(line, {"cool": 3, "hot": 1}).tolist()
    ([0.333, 0.333, 0.333], [0.0, 0.75, 0.25])
    """
    size = len(space)
    if prior is None:
        return np.full(size, 1.0 / size)
    if isinstance(prior, str):
        if prior != FREQUENCY:
            raise ParameterError(
                f"The 'prior' parameter must be None, {FREQUENCY!r}, or numbers. Got {prior!r}."
            )
        weights = 1.0 / (np.arange(size) + 1.0 + _SHIFT)
    elif isinstance(prior, Mapping):
        weights = np.array([float(prior.get(word, 0.0)) for word in space.words])
    else:
        weights = np.asarray(prior, dtype=np.float64)
    return _normalised(np.asarray(weights, dtype=np.float64), size)


def _normalised(weights: Floats, size: int) -> Floats:
    good = weights.shape == (size,) and bool(np.isfinite(weights).all())
    if not good or weights.min() < 0.0 or not weights.sum() > 0.0:
        raise ParameterError(
            f"A prior must give each of the lexicon's {size:,} words a finite number of 0 or more, "
            "and some word more than 0."
        )
    return np.asarray(weights / weights.sum())

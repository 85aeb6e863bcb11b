"""The error that draws cause in the mean of a statistic over words.

Words may share noise: then their errors are equal rather than independent, and do not average out
over words. The runs are independent in any case. So the error is told from groups of runs, each
with all words.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from malaprop.core.arrays import Floats
from malaprop.measure.words.statistic import Draws, MeanStatistic, Statistic
from malaprop.pipeline.spreading import spread

GROUPS: Final = 8
_WORDS: Final = 512  # that tell the error of more words, too: it is no smaller for fewer words


def draw_errors(draws: Draws, wanted: Sequence[Statistic]) -> Mapping[str, float]:
    """Return the standard errors of means over words that draws cause, for each statistic.

    They have 7 degrees of freedom. The error of a mean of draws is that of the means of groups of
    runs. Other statistics, such as the number of different outputs, depend on the number of runs:
    their error is computed by the jackknife, which leaves out one group after the other.
    """
    some = draws.of_words(spread(len(draws.ids), _WORDS))
    groups = [slice(first, None, GROUPS) for first in range(GROUPS)]
    partial = [some.without(group) for group in groups]
    return {
        statistic.name: (
            _of_groups(statistic.each(some), groups)
            if isinstance(statistic, MeanStatistic)
            else _by_jackknife([float(statistic.sampled(part).mean()) for part in partial])
        )
        for statistic in wanted
    }


def _of_groups(values: Floats, groups: Sequence[slice]) -> float:
    means = values.mean(axis=0)
    return float(np.std([means[group].mean() for group in groups], ddof=1)) / math.sqrt(GROUPS)


def _by_jackknife(means: Sequence[float]) -> float:
    return float(np.std(means)) * math.sqrt(GROUPS - 1)

"""Statistics of words: what a channel does to single words, one file per statistic.

A statistic is computed exactly from the law of a channel, or estimated from draws. Each one
describes; none is a guarantee.
"""

from malaprop.measure.words import (
    candidates,
    distinct,
    entropy,
    hartley,
    kept,
    likely,
    min_entropy,
    moved,
    similarity,
)
from malaprop.measure.words.statistic import Statistic, registry
from malaprop.measure.words.statistics import Summary, WordStatistics, statistics

__all__ = [
    "Statistic",
    "Summary",
    "WordStatistics",
    "candidates",
    "distinct",
    "entropy",
    "hartley",
    "kept",
    "likely",
    "min_entropy",
    "moved",
    "registry",
    "similarity",
    "statistics",
]

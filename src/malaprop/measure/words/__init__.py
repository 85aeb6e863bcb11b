"""Statistics of words: what a channel does to single words. A new one needs only a file here.

A statistic is computed exactly from the law of a channel, or estimated from draws. Each one
describes; none is a guarantee.
"""

import importlib
import pkgutil

from malaprop.measure.words.statistic import Statistic, registry
from malaprop.measure.words.statistics import Summary, WordStatistics, statistics

__all__ = ["Statistic", "Summary", "WordStatistics", "registry", "statistics"]

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

"""What a statistic of words is, and what it is computed from: rows of a law, or draws."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Floats, Ids
from malaprop.core.channel import LawChannel
from malaprop.core.law import Law
from malaprop.core.progress import Progress
from malaprop.core.space import MetricSpace
from malaprop.measure.similarity import Similarity

_registry: dict[str, "Statistic"] = {}
registry = MappingProxyType(_registry)
"""All statistics by name, in the order in which they are shown."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """What statistics depend on besides the channel."""

    runs: int
    """R: the number of runs that "distinct outputs in R runs" speaks of, and of draws."""
    least: float
    """η: outputs with a larger probability count as likely."""
    factor: float
    """γ: inputs whose probabilities for an output differ by a factor of at most this."""


@dataclass(frozen=True, kw_only=True)
class Rows:
    """Whole rows of a law: the probability of each output, for some words."""

    space: MetricSpace
    ids: Ids
    log_probabilities: Floats
    similarity: Similarity
    options: Options

    @cached_property
    def probabilities(self) -> Floats:
        """Pr[y | w]: (words, outputs)."""
        return np.exp(self.log_probabilities)

    @cached_property
    def distances(self) -> Floats:
        """Distances to all words, in the lexicon's metric."""
        return self.space.distances(self.ids)


@dataclass(frozen=True, kw_only=True)
class Draws:
    """Draws for some words: (words, runs)."""

    space: MetricSpace
    ids: Ids
    drawn: Ids
    similarity: Similarity
    options: Options

    @cached_property
    def shares(self) -> list[tuple[Ids, Floats]]:
        """For each word its distinct outputs, and the share of draws of each."""
        pairs = (np.unique(row, return_counts=True) for row in self.drawn)
        return [(outputs, counts / self.drawn.shape[1]) for outputs, counts in pairs]

    def of_words(self, rows: Ids) -> "Draws":
        """Return the draws of some of the words."""
        return replace(self, ids=self.ids[rows], drawn=self.drawn[rows])

    def without(self, runs: slice) -> "Draws":
        """Return the draws without some runs; η stands for as many draws as before."""
        drawn = np.delete(self.drawn, runs, axis=1)
        least = self.options.least * self.drawn.shape[1] / drawn.shape[1]
        return replace(self, drawn=drawn, options=replace(self.options, least=least))


class Statistic(ABC):
    """A number for each word. Defining a subclass with a `name` registers it."""

    name: ClassVar[str]
    title: ClassVar[str]
    """What it is, in a few words."""
    worst: ClassVar[Literal["high", "low"]]
    """Which end of the scale protects a word least."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "name" in vars(cls):
            _registry[cls.name] = cls()

    def applies(self, space: MetricSpace) -> bool:
        """Whether the statistic says anything on a lexicon; it is left out where it does not."""
        return True

    def bounds(self, size: int, runs: int) -> tuple[float, float]:
        """Return the least and the largest value that is possible with so many words and runs."""
        return 0.0, math.inf

    @abstractmethod
    def exact(self, rows: Rows) -> Floats:
        """Compute the statistic from rows of a law."""

    @abstractmethod
    def sampled(self, draws: Draws) -> Floats:
        """Estimate the statistic from draws."""


class MeanStatistic(Statistic):
    """A statistic that is the mean of a number for each draw."""

    @abstractmethod
    def each(self, draws: Draws) -> Floats:
        """Return the number for each draw: (words, runs)."""

    def sampled(self, draws: Draws) -> Floats:
        """Average the numbers of each word's draws."""
        return np.asarray(self.each(draws).mean(axis=1))


class ColumnStatistic(Statistic):
    """A statistic that compares what other words make of the same output."""

    @abstractmethod
    def of_law(
        self,
        channel: LawChannel[Law],
        ids: Ids,
        options: Options,
        rng: Generator,
        progress: Progress | None,
    ) -> Floats:
        """Compute the statistic from all rows of a law."""

    def exact(self, rows: Rows) -> Floats:
        """Raise: some rows are not enough."""
        raise NotImplementedError(f"{self.name} needs all rows of a law.")


def per_word(draws: Draws, of_shares: Any) -> Floats:
    """Apply a function of outputs and shares to each word of some draws."""
    return np.array([of_shares(outputs, shares) for outputs, shares in draws.shares], np.float64)

"""How well a task was done: a value over several runs, beside its bounds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from malaprop.measure.intervals import LEVEL, clopper_pearson


def spread_of(values: Sequence[float]) -> float:
    """Return the standard deviation between runs; 0 for one run, and for runs that all agree.

    >>> spread_of([0.7, 0.7, 0.7]), spread_of([0.7])
    (0.0, 0.0)
    """
    # Not by numpy alone: the mean of equal numbers may be rounded to another one.
    alike = len(values) < 2 or min(values) == max(values)
    return 0.0 if alike else float(np.std(values, ddof=1))


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A figure over several runs: its mean, its spread and a 95 % interval of the mean."""

    value: float
    """The mean over the runs."""
    spread: float
    """The standard deviation between runs; 0 for one run."""
    interval: tuple[float, float]
    """A 95 % interval of the mean."""
    values: tuple[float, ...] = field(default=(), repr=False)
    """The figure of each run."""

    @classmethod
    def of(
        cls,
        values: Sequence[float],
        *,
        shared: float = 0.0,
        tested: int = 0,
        between: tuple[float, float] = (0.0, 1.0),
    ) -> "Estimate":
        """Summarize the values of several runs.

        The interval is Student's. Runs on random splits of the same texts share most of their
        training texts, so that the plain one is too narrow. Give `shared` as the size of the test
        part over that of the training part: the variance of the mean is then s²·(1/n + shared)
        (Nadeau and Bengio 2003). The interval is cut off at `between`, the range of the figure.

        One run, or runs that all agree, say nothing of how sure a figure is. If it is a share of
        `tested` texts, the interval is then Clopper and Pearson's, over these texts.

        >>> Estimate.of([0.7, 0.8]).value
        0.75
        """
        mean, spread = float(np.mean(values)), spread_of(values)
        if not spread:
            low, high = clopper_pearson(mean * tested, tested) if tested else (mean, mean)
            alone = (float(low), float(high))
            return cls(value=mean, spread=0.0, interval=alone, values=tuple(map(float, values)))
        from scipy.stats import t

        sure = float(t.ppf(0.5 + LEVEL / 2.0, len(values) - 1))
        margin = sure * spread * (1.0 / len(values) + shared) ** 0.5
        low, high = between
        return cls(
            value=mean,
            spread=spread,
            interval=(max(low, mean - margin), min(high, mean + margin)),
            values=tuple(map(float, values)),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the figure as plain values for JSON."""
        return {
            "value": self.value,
            "spread": self.spread,
            "interval": list(self.interval),
            "values": list(self.values),
        }


@dataclass(frozen=True, kw_only=True)
class TaskResult:
    """How well private texts serve a task, beside what useless and what clean texts reach."""

    task: str
    """The name of the task, such as `classification`."""
    measure: str
    """What is measured, such as `accuracy`."""
    model: str
    """The model that does the task; empty if none is trained."""
    tested: str
    """Which texts the model is tested on: `clean` or `private`; empty if there is no choice."""
    score: Estimate
    """The figure with private texts."""
    floors: Mapping[str, Estimate]
    """What is reached without useful text, by name: `random_words`, `majority`."""
    ceiling: Estimate
    """What is reached with clean texts: the figure without protection."""
    runs: str
    """What the runs differ in, and what the intervals therefore cover."""

    @property
    def value(self) -> float:
        """The mean figure with private texts."""
        return self.score.value

    @property
    def spread(self) -> float:
        """The standard deviation between runs."""
        return self.score.spread

    @property
    def interval(self) -> tuple[float, float]:
        """A 95 % interval of the mean figure."""
        return self.score.interval

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values for JSON."""
        return {
            "task": self.task,
            "measure": self.measure,
            "model": self.model,
            "tested": self.tested,
            **self.score.to_dict(),
            "floors": {name: floor.to_dict() for name, floor in self.floors.items()},
            "unprotected": self.ceiling.to_dict(),
            "runs": self.runs,
        }

    def __str__(self) -> str:
        low, high = self.interval
        floors = ", ".join(f"{name} {floor.value:.3f}" for name, floor in self.floors.items())
        return (
            f"{self.measure} {self.value:.3f} ({low:.3f} to {high:.3f}); "
            f"unprotected {self.ceiling.value:.3f}; {floors}"
        )

"""Counts that tasks collect and the driver adds up.

Spark adds up what a task of a job's last stage has gathered once for each partition: when that
partition's first attempt succeeds. Attempts that fail, or come second, do not count, nor is
anything of what they drew in the output. All drawing is done in the last stage, on purpose:
further up, a partition that is lost and computed again would count again.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from pyspark import Accumulator, AccumulatorParam, SparkContext

MOST_KEYS: Final = 1_000  # as in a single file: objects may be maps from data to data


@dataclass
class Tally:
    """What a task has seen and done."""

    treated: Counter[str] = field(default_factory=Counter)
    """How the tokens of the texts were treated."""
    seen: Counter[str] = field(default_factory=Counter)
    """`rows`, `texts`, `missing`, `faulty`, and `prepared`: how often a lexicon was opened."""
    present: set[str] = field(default_factory=set)
    """The columns asked for that some record has."""
    others: dict[str, None] = field(default_factory=dict)
    """The columns that pass unchanged, in the order in which they were seen."""

    def add(self, other: "Tally") -> "Tally":
        """Add another tally to this one."""
        self.treated.update(other.treated)
        self.seen.update(other.seen)
        self.present |= other.present
        for name in other.others:
            if len(self.others) < MOST_KEYS:
                self.others[name] = None
        return self


class _Adding(AccumulatorParam[Tally]):
    def zero(self, value: Tally) -> Tally:
        return Tally()

    def addInPlace(self, value1: Tally, value2: Tally) -> Tally:  # noqa: N802  Spark's name
        return value1.add(value2)


def tally_of(context: SparkContext) -> "Accumulator[Tally]":
    """Return an accumulator of tallies."""
    return context.accumulator(Tally(), _Adding())

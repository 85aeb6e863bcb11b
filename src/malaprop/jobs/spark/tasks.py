"""What runs in the Python processes of the executors.

A process opens the lexicon once and prepares the mechanism once, for all its tasks. It also takes a
key for its noise from the operating system once: tasks, and further attempts at them, draw one
after the other from that process's generator, which gives out no number twice.
"""

import math
import os
import traceback
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

from malaprop._version import __version__
from malaprop.core.errors import MalapropError
from malaprop.core.guarantee import Guarantee
from malaprop.core.mechanism import Mechanism
from malaprop.jobs.spark.counting import Tally
from malaprop.jobs.spark.shipping import Shipment
from malaprop.pipeline.formats.faults import Faults, FlawError
from malaprop.pipeline.formats.layout import Layout
from malaprop.pipeline.outputs.journal import Drawn
from malaprop.pipeline.privatizer import Privatizer
from malaprop.pipeline.rewriting import FileCounts, Rewriting
from malaprop.pipeline.streaming import copy_streams
from malaprop.pipeline.workers import WorkerPool
from malaprop.text import Policy

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, kw_only=True)
class Kit:
    """What an executor makes a privatizer from; `promise` is the guarantee of the driver's."""

    shipment: Shipment
    mechanism: Mechanism
    policy: Policy
    promise: Guarantee
    version: str = __version__


@dataclass(frozen=True, kw_only=True)
class TaskPlan:
    """What a task needs to know.

    `names` are those of the columns, and `absent` stands where a file lacks one that is asked for.
    """

    kit: Kit
    layout: Layout
    names: tuple[str, ...]
    absent: str


def keeps(guarantee: Guarantee, promise: Guarantee) -> bool:
    """Whether an executor's guarantee is the driver's: one report must be true of both.

    Numbers that are computed from vectors may differ in their last digits, from one processor to
    another.
    """
    facts = ("kind", "epsilon", "metric", "lexicon", "per", "pairs", "texts", "public")
    numbers = ("delta", "cap", "radius", "zcdp")
    return all(getattr(guarantee, name) == getattr(promise, name) for name in facts) and all(
        math.isclose(getattr(guarantee, name), getattr(promise, name), rel_tol=1e-9)
        for name in numbers
    )


# The key is the kit alone: another table, or other columns of it, need no other privatizer.
@lru_cache(maxsize=1)
def _prepared(kit: Kit) -> Privatizer:
    if kit.version != __version__:
        raise MalapropError(
            f"An executor has malaprop {__version__}, the driver {kit.version}: install the same "
            "version on all machines."
        )
    privatizer = Privatizer(kit.shipment.open(), kit.mechanism, **kit.policy.options())
    if not keeps(privatizer.guarantee, kit.promise):
        raise MalapropError(
            "The mechanism does not promise at an executor what it does at the driver: install "
            "the same versions of malaprop and of what it needs on all machines."
        )
    return privatizer


class UnnumberedFaults(Faults):
    """Faults without numbers: a task does not know where in a file its records are."""

    def meet(self, record: int, flaw: FlawError, name: str = "") -> None:
        """Count a fault, or raise. Spark reads one encoding, so none is recommended."""
        super().meet(record, FlawError(flaw.reason), "a record")


class TaskCopy(Protocol):
    """A copy whose records come from Spark and go back to it."""

    left_out: int
    """How many records were left out and are not among those written."""

    @property
    def present(self) -> set[str]:
        """The columns asked for that are there."""

    def taken(self) -> "pa.RecordBatch":
        """Return the rows that were written last."""


class TaskStream(Rewriting):
    """The records of a task on their way through the loop."""

    def __init__(self, copy: Any, number: int = 0) -> None:
        super().__init__(copy)
        self.copy: TaskCopy = copy
        self.number = number


class Task(ABC):
    """Privatizes the batches of one partition, and counts."""

    def __init__(self, plan: TaskPlan) -> None:
        self.plan = plan
        self.tally = Tally()

    def run(self, batches: Iterable["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
        """Yield private batches. Errors do not contain a word of the data."""
        try:
            opened = _prepared.cache_info().misses
            self._privatizer = _prepared(self.plan.kit)
            self.tally.seen["prepared"] += _prepared.cache_info().misses - opened
            yield from self._private(batches)
        except (MalapropError, MemoryError) as error:
            raise error.with_traceback(None) from None
        except Exception as error:
            frame = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{os.path.basename(frame.filename)}:{frame.lineno}"
            kind = type(error).__name__
            raise MalapropError(
                f"internal error in a task: {kind} at {place}; please report it"
            ) from None

    @abstractmethod
    def streams(self, batches: Iterable["pa.RecordBatch"]) -> Iterator[TaskStream]:
        """Yield the records of a partition as streams, one after the other."""

    def _private(self, batches: Iterable["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
        """Yield the private rows of a partition."""
        pool = WorkerPool(lambda _, texts: Drawn(*self._privatizer.batch(texts)), size=1)
        for step in copy_streams(self.streams(batches), pool):
            self.tally.treated.update(step.counts)
            if step.finished:
                self.tally.add(_tally_of(step.stream.counts, step.stream.copy))
            else:
                yield step.stream.copy.taken()


def _tally_of(counts: FileCounts, copy: TaskCopy) -> Tally:
    seen = {"rows": counts.records + copy.left_out, "texts": counts.cells}
    seen |= {"missing": counts.missing, "faulty": counts.faulty}
    return Tally(
        seen=Counter(seen), present=copy.present, others=dict.fromkeys(counts.other_columns)
    )

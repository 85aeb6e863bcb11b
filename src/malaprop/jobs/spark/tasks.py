"""What runs in the Python processes of the executors.

A process opens the lexicon once and prepares the mechanism once, for all tasks that it is given. So
does it take a key for its noise from the operating system: tasks, and further attempts at them,
draw one after the other from that process's generator, which gives out no number twice.
"""

import math
import os
import traceback
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from malaprop._version import __version__
from malaprop.core.errors import MalapropError
from malaprop.core.guarantee import Guarantee
from malaprop.core.mechanism import Mechanism
from malaprop.jobs.spark.counting import Tally
from malaprop.jobs.spark.shipping import Shipment
from malaprop.pipeline.formats.copying import matched
from malaprop.pipeline.formats.layout import Layout
from malaprop.pipeline.privatizer import Privatizer
from malaprop.text.policy import Policy

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, kw_only=True)
class Kit:
    """What a privatizer is made from at an executor; `promise` is what the driver's promises."""

    shipment: Shipment
    mechanism: Mechanism
    policy: Policy
    promise: Guarantee
    version: str = __version__


@dataclass(frozen=True, kw_only=True)
class Plan:
    """All that a task needs to know.

    `names` are those of the columns, and `absent` stands where a file lacks one that is asked for.
    """

    kit: Kit
    layout: Layout
    names: tuple[str, ...]
    absent: str


def keeps(found: Guarantee, promise: Guarantee) -> bool:
    """Whether what an executor promises is the driver's: one report must be true of both.

    Numbers that are computed from vectors may differ in their last digits, from one processor to
    another.
    """
    facts = ("kind", "epsilon", "metric", "lexicon", "pairs", "texts", "public")
    numbers = ("delta", "cap", "radius", "zcdp")
    return all(getattr(found, name) == getattr(promise, name) for name in facts) and all(
        math.isclose(getattr(found, name), getattr(promise, name), rel_tol=1e-9) for name in numbers
    )


# By what it is made from alone: another table, or other columns of it, need no other privatizer.
@lru_cache(maxsize=1)
def _prepared(kit: Kit) -> Privatizer:
    if kit.version != __version__:
        raise MalapropError(
            f"An executor has malaprop {__version__}, the driver {kit.version}: install the same "
            "version on all machines."
        )
    with kit.shipment.opened() as lexicon:
        privatizer = Privatizer(
            lexicon,
            kit.mechanism,
            unknown=kit.policy.unknown,
            punctuation=kit.policy.punctuation,
            placeholder=kit.policy.placeholder,
        )
    if not keeps(privatizer.guarantee, kit.promise):
        raise MalapropError(
            "The mechanism does not promise at an executor what it does at the driver: install "
            "the same versions of malaprop and of what it needs on all machines."
        )
    return privatizer


class Task(ABC):
    """Privatizes the batches of one partition, and counts."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.tally = Tally()

    def run(self, batches: Iterable["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
        """Yield private batches. What goes wrong is told without a word of the data."""
        try:
            opened = _prepared.cache_info().misses
            self._privatizer = _prepared(self.plan.kit)
            self.tally.seen["prepared"] += _prepared.cache_info().misses - opened
            yield from self.private(batches)
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
    def private(self, batches: Iterable["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
        """Yield the private rows of a partition."""

    def drawn(self, texts: list[str]) -> list[str]:
        """The private texts of some texts."""
        private, counts = self._privatizer.texts(texts)
        self.tally.treated.update(counts)
        self.tally.seen["texts"] += len(texts)
        return matched(len(texts), private)

"""Tasks, and what a task is once it knows the lexicon.

A task in `malaprop.measure.tasks` registers itself by being defined with a name.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any, ClassVar

from numpy.random import Generator

from malaprop.core.errors import DataError, ParameterError
from malaprop.core.parameters import type_name
from malaprop.core.space import MetricSpace
from malaprop.core.suggest import did_you_mean
from malaprop.measure.tasking.sources import Source

_registry: "dict[str, type[Task]]" = {}

registry: "Mapping[str, type[Task]]" = MappingProxyType(_registry)
"""All tasks, by name."""


@dataclass(frozen=True, kw_only=True)
class Problem(ABC):
    """A task on a lexicon: all that does not depend on the noise."""

    items: int
    """How many rows are scored."""
    covered: float = 1.0
    """Their share of all rows."""

    @property
    def majority(self) -> float | None:
        """The score of the commonest answer; None if the task has no such thing."""
        return None

    @property
    def divided(self) -> bool:
        """Whether `score` draws a split, so that it differs without noise, too."""
        return False

    @property
    def shared(self) -> float:
        """The size of the test part over that of the training part; 0 without a split."""
        return 0.0

    @abstractmethod
    def score(self, source: Source, rng: Generator) -> Mapping[str, float]:
        """Return the measures of one repetition; `rng` draws splits, and nothing else."""


@dataclass(frozen=True, kw_only=True)
class Task(ABC):
    """Something to do with words or texts, and how well it goes; its fields are its options."""

    data: Any = field(
        default=None,
        metadata={"help": "the name of a data set or several, or values as `load` returns them"},
    )

    name: ClassVar[str] = ""
    """The name in the registry."""
    measure: ClassVar[str] = ""
    """The measure that is the score."""
    model: ClassVar[str] = ""
    """The model that is trained; empty if none is."""
    kind: ClassVar[type[Any]]
    """The kind of data that it takes, such as `WordPairs`."""
    default: ClassVar[tuple[str, ...]] = ()
    """The data sets that it takes if none is named."""

    def __init_subclass__(cls, *, name: str = "", **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.name = name
        if name:
            _registry[name] = cls

    @abstractmethod
    def prepare(self, space: MetricSpace) -> Problem:
        """Return the task on a lexicon: read the data, map the words."""

    def sets(self) -> tuple[Any, ...]:
        """Return the data that the task was given, or load what it names."""
        from malaprop.datasets import load

        given = self.default if self.data is None else self.data
        several = given if isinstance(given, tuple | list) else (given,)
        if not several:
            raise ParameterError(f"The task {self.name} needs `data`: the name of a data set.")
        values = tuple(load(value) if isinstance(value, str) else value for value in several)
        for value in values:
            if not isinstance(value, self.kind):
                raise DataError(
                    f"The task {self.name} takes {self.kind.__name__}. Got {type_name(value)}."
                )
        return values

    @property
    def set_names(self) -> tuple[str, ...]:
        """The names of the data sets."""
        given = self.default if self.data is None else self.data
        several = given if isinstance(given, tuple | list) else (given,)
        return tuple(getattr(value, "name", value) for value in several)


def task_with(name: str, options: Mapping[str, Any]) -> Task:
    """Return the task of that name with its options; refuse options that it does not have."""
    cls = registry.get(name)
    if cls is None:
        hint = did_you_mean(name, registry, cutoff=0.4)
        raise ParameterError(
            f"Unknown task {name!r}.{hint} There are: {', '.join(sorted(registry))}."
        )
    known = [option.name for option in fields(cls)]
    for option in options:
        if option not in known:
            hint = did_you_mean(option, known)
            raise ParameterError(
                f"The task {name} has no option {option!r}.{hint} It has: {', '.join(known)}."
            )
    return cls(**options)

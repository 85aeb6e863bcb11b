"""Items: a paper's tables and figures, as grids of cells that are measured one by one."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from numpy.random import Generator

from malaprop.core.errors import ParameterError
from malaprop.studies.framework.claims import Claim
from malaprop.studies.framework.lines import Setting, Value

if TYPE_CHECKING:
    from malaprop.studies.framework.run import Run


@dataclass(frozen=True)
class Figure:
    """A number that a cell measures, with one standard error."""

    measure: str
    value: Value
    error: float | None = None
    setting: Setting = field(default_factory=lambda: MappingProxyType({}))
    """What this figure adds to the setting of its cell, such as the bin of a histogram."""
    missing: str = ""
    """The data set that this figure lacks, if the cell has other figures; empty if none."""
    freedom: float | None = None
    """The degrees of freedom of the error: 4 for five repeats. Without them, it decides nothing."""


Cell = Callable[["Run", Setting, Generator], Iterable[Figure]]
"""Measures one setting. It draws from the generator only, so a seed repeats it."""


@dataclass(frozen=True, kw_only=True)
class Item:
    """A table or a figure of a paper."""

    name: str
    """`fig2`, `table3`: Table III is `table3`."""
    grid: Callable[["Run"], Iterable[Setting]]
    """The settings of its cells, fewer in a quick run."""
    cell: Cell
    """Measures one of them."""
    key: str
    """What seeds and keeps the cells, with study and setting: another key draws other figures.

    Items with the same function have the same key, and share what it measured.
    """
    measures: tuple[str, ...]
    """The figures of a cell that this item shows."""
    claims: tuple[Claim, ...] = ()
    spread: Callable[[Setting, str], str] | None = None
    """What the error of a measure is over, if the grid's `spread` does not fit every measure."""
    revision: int = 1
    """Raise it when `cell` measures something else: what was kept is then measured again."""


@dataclass(frozen=True, kw_only=True)
class Study:
    """A paper's tables and figures. Its own figures stand in `paper.json` beside the study."""

    name: str
    items: tuple[Item, ...]

    def chosen(self, names: Sequence[str] | None) -> tuple[Item, ...]:
        """Return the items of these names, all by default."""
        if names is None:
            return self.items
        known = {item.name: item for item in self.items}
        if missing := [name for name in names if name not in known]:
            raise ParameterError(
                f"The study {self.name} has no item {missing[0]!r}. There are: {', '.join(known)}."
            )
        return tuple(known[name] for name in names)


def crossed(**values: Sequence[Any]) -> Iterator[dict[str, Any]]:
    """Yield the settings that combine all values; those that are None are left out.

    >>> list(crossed(mechanism=["tem"], epsilon=[1, 2]))
    [{'mechanism': 'tem', 'epsilon': 1}, {'mechanism': 'tem', 'epsilon': 2}]
    """
    for combination in product(*values.values()):
        setting = dict(zip(values, combination, strict=True))
        yield {name: value for name, value in setting.items() if value is not None}

"""The texts and pairs that all mechanisms share, and how often noise is drawn."""

from collections.abc import Mapping
from typing import Any, Final

from malaprop.studies.framework.run import Run

_ROWS: Final[Mapping[str, tuple[int, int]]] = {
    "mr": (60, 450),
    "attacked": (25, 200),
    "men": (100, 700),
    "stsb": (40, 250),
}
"""How many rows of a data set are used, about: in a quick run, and in a full one."""


def noise_draws(run: Run) -> int:
    """Return how often noise is drawn for each figure."""
    return run.pick(quick=2, full=5)


def rows_of(run: Run, name: str) -> int:
    """Return how many rows of a data set are used, about; `attacked` are reviews."""
    quick, full = _ROWS[name]
    return run.pick(quick=quick, full=full)


def some_rows(run: Run, name: str) -> Any:
    """Return rows of a data set, spread over it."""
    data = run.data(name)
    if name == "stsb":
        data = data.part("test")
    step = max(1, len(data) // rows_of(run, name))
    return run.once(("some", name), lambda: data.rows(range(0, len(data), step)))

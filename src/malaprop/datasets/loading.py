"""Load a data set by its name."""

from typing import Any


def load(name: str) -> Any:
    """Return a data set of the catalogue as a frozen value."""
    raise NotImplementedError

"""Checks of parameters that are no real numbers: whole numbers and choices."""

from numbers import Real
from typing import Any

from malaprop.core.errors import ParameterError


def require_whole(owner: object, name: str, least: int) -> None:
    """Check that a parameter is a whole number, `least` or more, and make it an int."""
    value: Any = getattr(owner, name)
    real = isinstance(value, Real) and not isinstance(value, bool)
    if not real or not least <= value < 2**63 or value != int(value):
        shown = repr(value) if isinstance(value, Real) else f"a {type(value).__name__}"
        raise ParameterError(
            f"The '{name}' parameter of {type(owner).__name__} must be a whole number, {least} or "
            f"more. Got {shown}."
        )
    object.__setattr__(owner, name, int(value))


def require_choice(owner: object, name: str, known: tuple[Any, ...]) -> None:
    """Check that a parameter is one of a few values, and of their type."""
    value = getattr(owner, name)
    if not any(type(value) is type(choice) and value == choice for choice in known):
        raise ParameterError(
            f"The '{name}' parameter of {type(owner).__name__} must be one of "
            f"{', '.join(map(str, known))}. Got {value!r}."
        )

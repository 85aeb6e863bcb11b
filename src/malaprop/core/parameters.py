"""Checks of parameters: whole numbers, choices, and the range that float64 can handle."""

from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any, Final

from malaprop.core.errors import ParameterError

COMPUTABLE: Final = (
    "between 1e-30 and 1e+30: beyond that, float64 cannot compute with it and a lexicon's distances"
)


def is_computable(value: float) -> bool:
    """Return whether ε, times or over distances of any float32 vectors, stays within float64.

    So does its square: 10³⁰ · 10³⁹ is 10⁶⁹, and the square of that is 10¹³⁸.
    """
    return 1e-30 <= value <= 1e30


def type_name(value: object) -> str:
    """Return the name of a value's type, for a message that must not show the value."""
    return type(value).__name__


def several_texts(texts: Any, name: str) -> Iterable[Any]:
    """Return several texts as they are; refuse what yields something else, such as a table.

    A table or a dictionary would yield the names of its columns, and a string its letters. `name`
    is that of the call, or of its parameter.

    >>> list(several_texts(("cold", "hot"), "texts"))
    ['cold', 'hot']
    """
    for kinds, remedy in _NO_TEXTS.items():
        if isinstance(texts, kinds):
            raise ParameterError(f"`{name}` takes several texts, not {remedy}.")
    if any(hasattr(type(texts), columns) for columns in ("columns", "column_names")):
        raise ParameterError(
            f"`{name}` takes several texts, and {type_name(texts)} is a table: pass the column "
            'that holds them, as in table["text"].'
        )
    if not isinstance(texts, Iterable):
        raise ParameterError(f"`{name}` takes several texts, in a list. Got {type_name(texts)}.")
    return texts


_NO_TEXTS: Final[dict[type | tuple[type, ...], str]] = {
    str: "one string: put it into a list",
    (bytes, bytearray, memoryview): "bytes: decode them, and put the string into a list",
    Mapping: "a dictionary, which yields its keys: pass its values, as in d.values()",
    (set, frozenset): "a set, which has no order: pass a list",
}


def require_whole(owner: object, name: str, least: int) -> None:
    """Check that a parameter is a whole number, `least` or more, and make it an int."""
    value: Any = getattr(owner, name)
    real = isinstance(value, Real) and not isinstance(value, bool)
    if not real or not least <= value < 2**63 or value != int(value):
        shown = repr(value) if isinstance(value, Real) else type(value).__name__
        raise ParameterError(
            f"The '{name}' parameter of {type(owner).__name__} must be a whole number, {least} or "
            f"more. Got {shown}."
        )
    object.__setattr__(owner, name, int(value))


def require_choice(owner: object, name: str, known: tuple[Any, ...]) -> None:
    """Check that a parameter is one of the `known` values, and of the same type."""
    value = getattr(owner, name)
    if not any(type(value) is type(choice) and value == choice for choice in known):
        raise ParameterError(
            f"The '{name}' parameter of {type(owner).__name__} must be one of "
            f"{', '.join(map(str, known))}. Got {value!r}."
        )

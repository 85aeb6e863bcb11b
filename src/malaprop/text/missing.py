"""Texts that are missing: they stay as they are, at their places."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np

from malaprop.privacy.errors import ParameterError, several_texts

MaybeText = str | float | None
"""A text, or what stands for a missing one: None, or NaN."""
_Result = TypeVar("_Result")


def is_missing(value: Any) -> bool:
    """Whether a value stands for a missing text: None, NaN, or pandas' NA or NaT.

    >>> is_missing(None), is_missing(float("nan")), is_missing(""), is_missing(0.0)
    (True, True, False, False)
    """
    if value is None:
        return True
    if isinstance(value, float | np.floating):
        return bool(value != value)  # only NaN differs from itself
    # By name: pandas need not be installed, and its NA answers no question.
    kind = type(value)
    return kind.__name__ in ("NAType", "NaTType") and kind.__module__.startswith("pandas.")


def map_non_null(
    texts: Iterable[Any], name: str, convert: Callable[[list[str]], list[_Result]]
) -> list[Any]:
    """Convert the texts that are there, all at once; leave missing ones at their places.

    Anything else is refused before any text is converted. `name` is that of the method called.
    """
    return map_beside(texts, None, name, lambda there, _: convert(there))


def map_beside(
    texts: Iterable[Any],
    entities: Iterable[object] | None,
    name: str,
    convert: Callable[[list[str], list[object] | None], list[_Result]],
) -> list[Any]:
    """Convert texts as `map_non_null` does, together with the entities of each, if there are any.

    >>> map_beside(["a", None, "b"], [[1], None, []], "many", lambda texts, entities: entities)
    [[1], None, []]
    """
    results = list(several_texts(texts, name))
    beside = None if entities is None else list(several_texts(entities, name))
    if beside is not None and len(beside) != len(results):
        raise ParameterError(
            f"`entities` must have a list for each of the {len(results):,} texts, which may be "
            f"empty. Got {len(beside):,}."
        )
    places = [place for place, text in enumerate(results) if not is_missing(text)]
    for place in places:
        if not isinstance(results[place], str):
            kind = type(results[place]).__name__
            raise ParameterError(f"A text must be a string, None or NaN. Got {kind}.")
    if len(places) == len(results):
        return convert(results, beside)
    there = None if beside is None else [beside[place] for place in places]
    converted = convert([results[place] for place in places], there)
    for place, result in zip(places, converted, strict=True):
        results[place] = result
    return results

"""Spans: the user says which parts of a text are private, and everything else is public."""

from collections.abc import Iterable
from operator import index

import numpy as np

from malaprop.core.errors import ParameterError
from malaprop.text.public.segments import Segment

Span = tuple[int, int]
"""The places where a span starts and ends: `text[start:end]`."""
ORIGIN = "spans"
"""What made the text outside the spans public."""


def cut_spans(text: str, spans: Iterable[Span]) -> list[Segment]:
    """Cut a text at the spans to protect: they are private, the rest is public.

    A span is a pair of places, `text[start:end]`. Spans may come in any order, and may touch, but
    not overlap. Each stays a segment of its own.

    >>> [each.text for each in cut_spans("Ann has flu", [(8, 11), (0, 3)]) if not each.public]
    ['Ann', 'flu']
    """
    segments: list[Segment] = []
    end = 0
    for start, after in _checked(spans, len(text)):
        if end < start:
            segments.append(Segment(text[end:start], True, ORIGIN))
        segments.append(Segment(text[start:after], False))
        end = after
    if end < len(text):
        segments.append(Segment(text[end:], True, ORIGIN))
    return segments


def _checked(spans: Iterable[Span], length: int) -> list[Span]:
    try:
        ordered = sorted((_place(start), _place(after)) for start, after in spans)
    except (TypeError, ValueError):
        raise ParameterError(
            "The `spans` parameter must hold pairs of whole numbers, (start, end)."
        ) from None
    end = 0
    for start, after in ordered:
        if not 0 <= start < after <= length:
            raise ParameterError(
                "A span must be a pair (start, end) with 0 <= start < end <= the length of the "
                f"text, {length}. Got ({start}, {after})."
            )
        if start < end:
            raise ParameterError(f"Spans must not overlap. Two of them share place {start}.")
        end = after
    return ordered


def _place(number: object) -> int:
    """Return a whole number; refuse True and False, which are 1 and 0 to Python."""
    if isinstance(number, bool | np.bool_):
        raise TypeError("a place is a number")
    return index(number)  # type: ignore[arg-type]  # it raises a TypeError for what is no number

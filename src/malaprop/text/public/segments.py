"""Segments: a text cut into what was declared public, and the rest.

Public segments are shown as they are. All others are private. Each is cut into words by
itself, and the words of all of them are drawn as those of one text.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple


class Segment(NamedTuple):
    """A part of a text, whether it was declared public, and what made it public."""

    text: str
    public: bool
    origin: str = ""


Cut = Callable[[str], list[Segment]]
"""Cuts a text into segments."""


def tidied(segments: Iterable[Segment]) -> list[Segment]:
    """Leave out empty segments, and join private ones that are neighbours.

    Public neighbours stay apart, because each is counted.

    >>> tidied([Segment("a", False), Segment("", True), Segment("b", False)])
    [Segment(text='ab', public=False, origin='')]
    """
    tidy: list[Segment] = []
    private: list[str] = []
    for segment in segments:
        if not segment.public:
            private.append(segment.text)
            continue
        if segment.text:
            _flush(private, tidy)
            tidy.append(segment)
    _flush(private, tidy)
    return tidy


def _flush(private: list[str], tidy: list[Segment]) -> None:
    if text := "".join(private):
        tidy.append(Segment(text, False))
    private.clear()


def cut_at(text: str, pieces: Iterable[tuple[int, int]]) -> list[Segment]:
    """Cut a text into the public pieces between the given places, and the private rest.

    The pieces are in order and do not overlap.

    >>> [segment.text for segment in cut_at("to [NAME], now", [(3, 9)])]
    ['to ', '[NAME]', ', now']
    """
    segments: list[Segment] = []
    end = 0
    for first, after in pieces:
        if end < first:
            segments.append(Segment(text[end:first], False))
        segments.append(Segment(text[first:after], True))
        end = after
    if end < len(text):
        segments.append(Segment(text[end:], False))
    return segments

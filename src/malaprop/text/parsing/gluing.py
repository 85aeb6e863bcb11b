"""Glues chunks that must be parsed together: parts of a value, and what vanishes beside a word.

A value such as "3 May" goes beyond a chunk. A chunk of invisible characters alone leaves two spaces
where one is shown. In both cases glue replaces the space, so that chunks become one.

Not the whole text is cut for that. In each value of several chunks there are two that say that they
may be joined (`forms.joining`), and the others are near them: those of a date are at most one chunk
away, and of the groups of a bank account number the third and the fourth say so, with two before
them and up to six after them.
"""

from collections.abc import Callable, Iterator, Sequence

LINE = "\n"
PADDED_LINE = f" {LINE} "
"""Makes a line feed a chunk of its own, so that lines share their other chunks."""

GLUE = "\0"
"""Replaces the spaces inside a value, so that it is part of one chunk."""

_BEFORE, _AFTER = 2, 6  # how far a value goes beyond two of its chunks that may be joined


def chunks_of(text: str) -> list[str]:
    """Split a text at its spaces; line feeds are chunks of their own.

    >>> chunks_of("a b\\nc")
    ['a', 'b', '\\n', 'c']
    """
    return text.replace(LINE, PADDED_LINE).split(" ")


def glue_values(text: str, joined: Sequence[int], cut: Callable[[str], list[str]]) -> str:
    """Replace the spaces inside values; `cut` finds them.

    `joined` are the places of chunks that the next chunk may continue.

    >>> from malaprop.text.forms.grammar import cut
    >>> glue_values("on 3 May, 2023 we", [1, 2], cut).replace(GLUE, "_")
    'on 3_May,_2023 we'
    """
    chunks, parts, done = chunks_of(text), list[str](), 0
    for begin, end in _stretches(joined, len(chunks)):
        parts += [*chunks[done:begin], _with_glued_values(" ".join(chunks[begin:end]), cut)]
        done = end
    return " ".join([*parts, *chunks[done:]]).replace(PADDED_LINE, LINE)


def glue_to_previous(text: str, places: Sequence[int]) -> str:
    """Replace the spaces before the chunks at some places."""
    chunks = chunks_of(text)
    for place in places:
        chunks[place] = GLUE + chunks[place]
    return " ".join(chunks).replace(f" {GLUE}", GLUE).replace(PADDED_LINE, LINE)


def _stretches(joined: Sequence[int], length: int) -> Iterator[tuple[int, int]]:
    """Yield where stretches of chunks begin and end that hold whole values."""
    begin = end = 0
    for place in joined:
        if place - _BEFORE > end:
            if end:
                yield begin, end
            begin = place - _BEFORE
        end = min(place + 2 + _AFTER, length)
    if end:
        yield begin, end


def _with_glued_values(text: str, cut: Callable[[str], list[str]]) -> str:
    return "".join(
        token.replace(" ", GLUE) if " " in token and not token.isspace() else token
        for token in cut(text)
    )

"""How much of a stranger's file is held in memory: what is beyond these limits is refused.

Files that people use are far below them. What a header declares is checked against them, and
against the length of the file, before anything is allocated.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Protocol

from malaprop.core.errors import LexiconError

LINE = 1 << 20
"""Bytes of a line of text, its end included."""
DIMENSIONS = 16_384
"""Numbers of a vector; the widest that are in use have 12,288."""
WORD = 4096
"""Characters of a word; the longest of GloVe's have 1,000. A row with a longer one is faulty."""
WORDS = 1 << 24
"""Words of a lexicon."""
CHARACTERS = 1 << 28
"""Characters of all its words together."""
FAULTY = 1_000_000
"""Faulty rows, or blank lines, beyond the good ones, after which a file is read no further."""
HEADER = 1 << 20
"""Bytes of the header of a `.safetensors` file."""
NOTE = 1 << 24
"""Bytes of a JSON file; the longest that is written has less than 1 % of them."""


def edges(words: int) -> int:
    """The most edges of a word graph; those that are made have fewer than 8 a word."""
    return (1 << 22) + 16 * words


class Lines(Protocol):
    """What lines are read from."""

    def readline(self, size: int, /) -> bytes:
        """Read a line, or so many bytes of it."""


def line(stream: Lines, name: str) -> bytes:
    """Read a line with its end; nothing at the end of the file."""
    content = stream.readline(LINE + 1)
    if len(content) > LINE:
        raise LexiconError(
            f"{name} has a line of more than {LINE:,} bytes, which no row of a lexicon has: it is "
            "damaged, or no text"
        )
    return content


def whole(path: Path, limit: int) -> bytes:
    """Read a whole file. Raises OSError, or ValueError if it is too long."""
    if not path.is_file():  # a pipe or a device has no end
        raise FileNotFoundError(errno.ENOENT, "No such file", str(path))
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size > limit:
            raise ValueError(f"more than {limit:,} bytes")
        return file.read(size)


def check_dimension(dimension: int, name: str) -> None:
    """Refuse vectors that are too wide."""
    if dimension > DIMENSIONS:
        raise LexiconError(
            f"{name} has, or says that it has, vectors of more than {DIMENSIONS:,} numbers, which "
            "is the most that a lexicon can have: reduce them first"
        )


def check_words(words: int, characters: int, name: str) -> None:
    """Refuse more words, or more characters in them, than can be held."""
    if words > WORDS or characters > CHARACTERS:
        raise LexiconError(
            f"{name} has more than {WORDS:,} words, or more than {CHARACTERS:,} characters in "
            "them: take the first ones only"
        )

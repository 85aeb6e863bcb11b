"""From bytes to text, without losing the place where the bytes are not text.

The byte order mark of a file is taken off before decoding and given back as it was: it is part
of no text and of no column's name, and the copy has one exactly if the original has.
"""

import codecs
import io
from collections.abc import Callable, Iterator
from functools import partial
from typing import BinaryIO, Final

from malaprop.core.errors import DataError
from malaprop.pipeline.formats.faults import LONGEST_RECORD, REMEDY
from malaprop.pipeline.formats.packing import refuse_packed

_CHUNK: Final = 2**16
_LONGEST_START: Final = 6

# For each encoding, the byte order marks that a file may start with, and the codec for the rest.
_MARKS: Final[dict[str, dict[bytes, str]]] = {
    "utf-8": {codecs.BOM_UTF8: "utf-8"},
    "utf-8-sig": {codecs.BOM_UTF8: "utf-8"},
    "utf-16": {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"},
    "utf-16-le": {codecs.BOM_UTF16_LE: "utf-16-le"},
    "utf-16-be": {codecs.BOM_UTF16_BE: "utf-16-be"},
    "utf-32": {codecs.BOM_UTF32_LE: "utf-32-le", codecs.BOM_UTF32_BE: "utf-32-be"},
    "utf-32-le": {codecs.BOM_UTF32_LE: "utf-32-le"},
    "utf-32-be": {codecs.BOM_UTF32_BE: "utf-32-be"},
}
_WIDE: Final = ("utf-16", "utf-32")
# Without a mark these would write one, with every batch.
_UNMARKED: Final = {"utf-8-sig": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}


class _CountedBytes(io.BufferedIOBase):
    """Counts the bytes that are read from a source; closing it leaves the source open."""

    name = "the input"  # asked for by the type of io.TextIOWrapper

    def __init__(self, source: BinaryIO) -> None:
        # A pipe's read() waits until all is there; read1() takes what has arrived.
        self._read: Callable[[int], bytes] = getattr(source, "read1", source.read)
        self._ahead = b""
        self.consumed = 0

    def readable(self) -> bool:
        return True

    def read1(self, size: int = -1, /) -> bytes:
        if self._ahead:
            ahead, self._ahead = self._ahead, b""
            return ahead
        return self._fetch(_CHUNK)

    def read(self, size: int | None = -1, /) -> bytes:
        """Read everything that is left: `read` is used only for a document that is a whole file."""
        return b"".join(iter(self.read1, b""))

    def take_mark(self, marks: dict[bytes, str], *, wide: bool) -> bytes:
        """Remove the longest mark that the source starts with, if any, and return it."""
        while len(self._ahead) < _LONGEST_START and (more := self._fetch(_LONGEST_START)):
            self._ahead += more
        if not wide:  # letters of two bytes could begin like that
            refuse_packed(self._ahead)
        mark = max(filter(self._ahead.startswith, marks), key=len, default=b"")
        self._ahead = self._ahead[len(mark) :]
        return mark

    def _fetch(self, size: int) -> bytes:
        try:
            chunk = self._read(size)
        except OSError as error:
            raise DataError(f"the input cannot be read: {error.strerror}") from None
        self.consumed += len(chunk)
        return chunk


class Overlong(str):
    """Stands for a line that is too long to hold in memory: only its line end."""

    __slots__ = ()


class DecodedText:
    """The text of a source, by lines or as a whole.

    `mark` is the byte order mark that the source has, or nothing; `codec` decodes and encodes
    what follows it. With `lenient`, bytes that are not text become half surrogates, which no
    text has otherwise; written again with `errors`, they are those bytes. In encodings of two
    or four bytes a unit, that is not possible.
    """

    def __init__(
        self, source: BinaryIO, encoding: str, newline: str, *, lenient: bool = False
    ) -> None:
        self._encoding = codecs.lookup(encoding).name
        self._bytes = _CountedBytes(source)
        marks = _MARKS.get(self._encoding, {})
        self.mark = self._bytes.take_mark(marks, wide=self._encoding.startswith(_WIDE))
        self.codec = marks.get(self.mark, _UNMARKED.get(self._encoding, self._encoding))
        self._wide = self.codec.startswith(_WIDE)
        self.errors = "surrogateescape" if lenient and not self._wide else "strict"
        self._text = io.TextIOWrapper(
            self._bytes, encoding=self.codec, errors=self.errors, newline=newline
        )
        self._ends = ("\n",) if newline == "\n" else ("\n", "\r")

    @property
    def consumed(self) -> int:
        """The number of bytes that are read so far."""
        return self._bytes.consumed

    def lines(self) -> Iterator[str]:
        """Yield the lines with their line ends."""
        return map(self._bounded, self.pieces())

    def pieces(self) -> Iterator[str]:
        """Yield the lines; those that are too long, in pieces."""
        return iter(partial(self._decoded, partial(self._text.readline, LONGEST_RECORD)), "")

    def blocks(self, size: int) -> Iterator[str]:
        r"""Yield blocks of lines: up to `size` characters, or a single longer line.

        Only \n ends a line here. Where a block ends follows from the lines alone.
        """
        size = min(size, LONGEST_RECORD)  # so that no line of several is too long
        rest = ""
        while block := rest + self._decoded(partial(self._text.read, size - len(rest))):
            end = block.rfind("\n") + 1 if len(block) == size else len(block)
            rest = block[end:] if end else ""
            yield block[:end] if end else self._bounded(self._to_end(block))

    def _to_end(self, begun: str) -> str:
        return begun + self._decoded(partial(self._text.readline, LONGEST_RECORD - len(begun)))

    def _bounded(self, line: str) -> str:
        """Return a line; skip one that is too long, and return its end alone."""
        if len(line) < LONGEST_RECORD or line.endswith(self._ends):
            return line
        last = line[-2:]
        while not last.endswith(self._ends) and (more := next(self.pieces(), "")):
            last = (last + more)[-2:]
        return Overlong(last[len(last.rstrip("\r\n")) :])

    def whole(self) -> str:
        """Return everything that is left."""
        text = self._decoded(partial(self._text.read, LONGEST_RECORD + 1))
        return text if len(text) <= LONGEST_RECORD else Overlong()

    def _decoded(self, read: Callable[[], str]) -> str:
        try:
            return read()
        except UnicodeError as error:
            raise self._undecodable(error) from None

    def _undecodable(self, error: UnicodeError) -> DataError:
        place = "the input"
        if isinstance(error, UnicodeDecodeError):
            # The decoder's buffer ends where reading has got to.
            place = f"byte {self.consumed - len(error.object) + error.start} of the input"
        remedy = REMEDY if not self._wide else ""
        return DataError(
            f"{place} cannot be read as {self._encoding}: name the file's encoding with "
            f"`encoding` (such as utf-8, utf-16, cp1252 or latin-1){remedy}"
        )

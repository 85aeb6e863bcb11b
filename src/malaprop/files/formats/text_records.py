"""Records of text files: decoded pieces, batch by batch."""

import codecs
import io
from abc import abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import BinaryIO, ClassVar, Final, NamedTuple

from malaprop.files.compression import refuse_packed
from malaprop.files.formats.file_format import (
    BATCH_RECORDS,
    LONGEST_RECORD,
    PLACEHOLDER,
    REMEDY,
    TOO_LONG,
    Copy,
    Layout,
    RecordError,
    check_text,
    has_lone_surrogates,
)
from malaprop.privacy.errors import DataError

# From bytes to text, without losing the place where the bytes are not text.
#
# The byte order mark of a file is taken off before decoding and given back as it was: it is part of
# no text and of no column's name, and the copy has one exactly if the original has.


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


# The copy of a file of text: each record is a row of pieces, some of which are replaced.


class Record(NamedTuple):
    """One record: `pieces[i]` for i in `cells` are texts to privatize, the others stay."""

    pieces: list[str]
    cells: list[int]
    counts: bool = True  # False for a blank line, which is copied and is not a record
    faulty: bool = False


@dataclass(kw_only=True)
class TextBatch:
    """Consecutive records, their pieces in one list."""

    pieces: list[str] = field(default_factory=list)
    cells: list[int] = field(default_factory=list)
    records: int = 0
    rows: int = 0
    characters: int = 0

    @property
    def texts(self) -> list[str]:
        """The texts to privatize."""
        return [self.pieces[cell] for cell in self.cells]

    def add(self, record: Record) -> None:
        """Append a record."""
        start = len(self.pieces)
        self.pieces += record.pieces
        self.cells += [start + cell for cell in record.cells]
        self.records += record.counts
        self.rows += 1
        # Where a batch ends must not depend on `on_error`.
        self.characters += 0 if record.faulty else sum(map(len, record.pieces))

    def rebuild(self, rendered: Iterable[str]) -> str:
        """Return the text of the batch with `rendered` in place of its cells."""
        pieces = self.pieces.copy()
        for cell, text in zip(self.cells, rendered, strict=True):
            pieces[cell] = text
        return "".join(pieces)


class TextCopy(Copy[TextBatch]):
    """The copy of a file of text; a format says what its batches are."""

    # What ends a line, as for `open`: "\n" means \n and \r\n, "" means a lone \r as well.
    newline: ClassVar[str] = "\n"

    def __init__(
        self, source: BinaryIO, target: BinaryIO, layout: Layout, size: int | None = None
    ) -> None:
        super().__init__(source, target, layout, size)
        lenient = layout.on_error != "fail"
        self._text = DecodedText(source, layout.encoding, self.newline, lenient=lenient)
        self._written = 0
        target.write(self._text.mark)

    def render(self, text: str) -> str:
        """Return a private text as it is written to the file; it depends on that text alone."""
        return text

    def check(self, raw: str, record: Record) -> None:
        """Refuse a record whose bytes or texts are not valid text."""
        if isinstance(raw, Overlong):
            raise RecordError(TOO_LONG)
        if has_lone_surrogates(raw):
            raise RecordError(f"cannot be read as {self._text.codec}")
        for cell in record.cells:
            check_text(record.pieces[cell])

    @staticmethod
    def sound(block: str) -> bool:
        """Whether `check` would accept all lines of a block; looks at all of them at once."""
        return not (isinstance(block, Overlong) or "\0" in block or has_lone_surrogates(block))

    def masked(self, record: Record) -> Record:
        """Return what replaces a record with a flaw."""
        if self.layout.on_error == "skip":
            return Record([], [], faulty=True)
        pieces = record.pieces.copy()
        for cell in record.cells:
            pieces[cell] = self.render(PLACEHOLDER)
        return Record(pieces, [], faulty=True)

    @property
    def consumed(self) -> int:
        """The number of bytes of the source that are read so far."""
        return self._text.consumed

    def write(self, batch: TextBatch, private: list[str]) -> None:
        """Write a batch with `private` in place of its texts."""
        self.target.write(self._encoded(batch.rebuild(map(self.render, private)), batch.records))
        self._written += batch.records

    def _encoded(self, text: str, records: int) -> bytes:
        try:
            return text.encode(self._text.codec, self._text.errors)
        except UnicodeError:
            first, last = self._written + 1, self._written + records
            raise DataError(
                f"a private text among records {first} to {last} cannot be written as "
                f'{self._text.codec}: convert the input to UTF-8, then use `encoding="utf-8"`'
            ) from None


class RecordCopy(TextCopy):
    """The copy of a file of text that is read record by record."""

    @abstractmethod
    def records(self, text: DecodedText) -> Iterator[Record]:
        """Yield the records and blank lines; their pieces make up the whole text."""

    def batches(self) -> Generator[TextBatch, None, None]:
        """Yield the records of the source, batch by batch."""
        batch = TextBatch()
        for record in self.records(self._text):
            batch.add(record)
            if batch.rows >= BATCH_RECORDS or batch.characters >= self.batch_characters:
                yield batch
                batch = TextBatch()
        if batch.rows:
            yield batch

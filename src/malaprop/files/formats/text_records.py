"""Records of text files: decoded pieces, batch by batch."""

import codecs
import io
from abc import abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import BinaryIO, ClassVar, Final, NamedTuple

from malaprop.files.compression import CountedBytes, Unpacked
from malaprop.files.formats.file_format import (
    BATCH_RECORDS,
    LONGEST_RECORD,
    PLACEHOLDER,
    REMEDY,
    TOO_LONG,
    Owners,
    Pair,
    Reader,
    RecordError,
    Writer,
    check_text,
    has_lone_surrogates,
)
from malaprop.privacy.errors import DataError

# From bytes to text, without losing the place where the bytes are not text.
#
# The byte order mark of a file is taken off before decoding and given back as it was: it is part of
# no text and of no column's name, and the copy has one exactly if the original has.

_CHUNK: Final = 2**16
# The first bytes of packed files. None of them begins a text in any encoding of single bytes.
_PACKED: Final = (b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"PK\x03\x04", b"\xfd7zXZ")
_LONGEST_START: Final = 6

# The byte order marks that a file may start with, and the codec for the rest.
_MARKS: Final = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
}
_WIDE: Final = ("utf-16", "utf-32")


class _MarkedBytes(CountedBytes):
    _ahead = b""

    def read1(self, size: int = -1, /) -> bytes:
        ahead, self._ahead = self._ahead, b""
        return ahead or self.read(_CHUNK)

    def take_mark(self, marks: dict[bytes, str], *, wide: bool) -> bytes:
        """Remove the longest mark that the source starts with, if any, and return it."""
        while len(self._ahead) < _LONGEST_START and (more := self.read(_LONGEST_START)):
            self._ahead += more
        # Letters of two bytes could begin like that.
        if not wide and self._ahead.startswith(_PACKED):
            raise DataError(
                "the input is compressed: name a file that ends in .gz or .zst, or unpack it on "
                "its way, as in  zcat FILE | malaprop privatize - --format csv"
            )
        mark = max(filter(self._ahead.startswith, marks), key=len, default=b"")
        self._ahead = self._ahead[len(mark) :]
        return mark


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

    def __init__(self, source: BinaryIO, encoding: str, newline: str, *, lenient: bool) -> None:
        self._encoding = codecs.lookup(encoding).name
        self._bytes = _MarkedBytes(source)
        kind = self._encoding.removesuffix("-sig")
        marks = {mark: codec for mark, codec in _MARKS.items() if codec.startswith(kind)}
        self.mark = self._bytes.take_mark(marks, wide=kind.startswith(_WIDE))
        # Without a mark, the first one: utf-16 itself would write a mark with every batch.
        self.codec = marks.get(self.mark) or next(iter(marks.values()), kind)
        self._wide = self.codec.startswith(_WIDE)
        self.errors = "surrogateescape" if lenient and not self._wide else "strict"
        self._text = io.TextIOWrapper(
            self._bytes, encoding=self.codec, errors=self.errors, newline=newline
        )
        self._ends = ("\n",) if newline == "\n" else ("\n", "\r")

    @property
    def consumed(self) -> int:
        return self._bytes.consumed

    def lines(self) -> Iterator[str]:
        """Yield the lines with their line ends."""
        return map(self._bounded, self.pieces())

    def pieces(self) -> Iterator[str]:
        """Yield the lines; those that are too long, in pieces."""
        return iter(partial(self._decoded, self._text.readline, LONGEST_RECORD), "")

    def blocks(self, size: int) -> Iterator[str]:
        r"""Yield blocks of lines: up to `size` characters, or a single longer line.

        Only \n ends a line here. Where a block ends follows from the lines alone.
        """
        size = min(size, LONGEST_RECORD)  # so that no line of several is too long
        rest = ""
        while block := rest + self._decoded(self._text.read, size - len(rest)):
            end = block.rfind("\n") + 1 if len(block) == size else len(block)
            rest = block[end:] if end else ""
            if not end:
                block += self._decoded(self._text.readline, LONGEST_RECORD - len(block))
            yield block[:end] if end else self._bounded(block)

    def whole(self, limit: int | None = None) -> str:
        """Return the whole text, up to a number of characters, which is that of a record."""
        limit = limit or LONGEST_RECORD
        text = self._decoded(self._text.read, limit + 1)
        return text if len(text) <= limit else Overlong()

    def _bounded(self, line: str) -> str:
        """Return a line; skip one that is too long, and return its end alone."""
        if len(line) < LONGEST_RECORD or line.endswith(self._ends):
            return line
        last = line[-2:]
        while not last.endswith(self._ends) and (more := next(self.pieces(), "")):
            last = (last + more)[-2:]
        return Overlong(last[len(last.rstrip("\r\n")) :])

    def _decoded(self, read: Callable[[int], str], size: int) -> str:
        try:
            return read(size)
        except UnicodeError as error:
            place = "the input"
            if isinstance(error, UnicodeDecodeError):
                # The decoder's buffer ends where reading has got to.
                place = f"byte {self.consumed - len(error.object) + error.start} of the input"
            raise DataError(
                f"{place} cannot be read as {self._encoding}: name the file's encoding with "
                "`encoding` (such as utf-8, utf-16, cp1252 or latin-1)"
                f"{'' if self._wide else REMEDY}"
            ) from None


class Record(NamedTuple):
    """One record: `pieces[i]` for i in `cells` are texts to privatize, the others stay."""

    pieces: list[str]
    cells: list[int]
    counts: bool = True  # False for a blank line, which is copied and is not a record
    faulty: bool = False
    label: str = ""

    @classmethod
    def cut(
        cls, raw: str, texts: Iterable[tuple[str, tuple[int, int]]], label: str = ""
    ) -> "Record":
        """Cut the characters of a record at its texts, each with its start and its end there."""
        pieces: list[str] = []
        end = 0
        for text, (start, stop) in texts:
            pieces += [raw[end:start], text]
            end = stop
        return cls([*pieces, raw[end:]], list(range(1, len(pieces), 2)), True, False, label)


@dataclass(kw_only=True)
class TextBatch:
    """Consecutive records, their pieces in one list."""

    pieces: list[str] = field(default_factory=list)
    cells: list[int] = field(default_factory=list)
    records: int = 0
    rows: int = 0
    characters: int = 0
    ends: list[int] = field(default_factory=list)
    """Where the pieces of each row end; none if every row is a text and its line end."""
    numbers: list[int] = field(default_factory=list)
    """How many records there are up to each row."""
    labels: list[str] = field(default_factory=list)

    @cached_property
    def texts(self) -> list[str]:
        return [self.pieces[cell] for cell in self.cells]

    def add(self, record: Record) -> None:
        start = len(self.pieces)
        self.pieces += record.pieces
        self.cells += [start + cell for cell in record.cells]
        self.records += record.counts
        self.rows += 1
        self.ends.append(len(self.pieces))
        self.numbers.append(self.records)
        self.labels.append(record.label)
        # Where a batch ends must not depend on `on_error`.
        self.characters += 0 if record.faulty else sum(map(len, record.pieces))

    def owners(self) -> Owners:
        """Return the row of each text, and the number and the label of each row."""
        if not self.ends:
            rows = range(len(self.cells))
            return Owners(rows, range(1, len(rows) + 1), [""] * len(rows))
        return Owners(
            [bisect_right(self.ends, cell) for cell in self.cells], self.numbers, self.labels
        )

    def without(self, rows: Collection[int]) -> "TextBatch":
        """Return the batch without some rows; for its writer alone."""
        ends = self.ends or range(2, len(self.pieces) + 1, 2)
        left = TextBatch(records=self.records)
        cells, start = set(self.cells), 0
        for row, end in enumerate(ends):
            if row not in rows:
                left.cells += [
                    len(left.pieces) + cell - start for cell in range(start, end) if cell in cells
                ]
                left.pieces += self.pieces[start:end]
            start = end
        return left


class TextReader(Reader[TextBatch]):
    """Reads a file of text; a format says what its batches are."""

    drops = True
    # What ends a line, as for `open`: "\n" means \n and \r\n, "" means a lone \r as well.
    newline: ClassVar[str] = "\n"

    def open(self) -> None:
        # In a part, bytes that are not text are a flaw of their record: nobody knows where in the
        # file they are.
        lenient = self.part or self.layout.on_error != "fail"
        self.text = DecodedText(self.source, self.layout.encoding, self.newline, lenient=lenient)

    @property
    def consumed(self) -> int:
        source = self.source
        return source.consumed if isinstance(source, Unpacked) else self.text.consumed

    def writer(self, target: BinaryIO) -> "_TextWriter":
        target.write(self.text.mark)
        return _TextWriter(self, target)

    def render(self, text: str) -> str:
        """Return a private text as it is written to the file; it depends on that text alone."""
        return text

    def stand_in(self, raw: str) -> Record:
        """Return a record with only the columns asked for, in place of one that cannot be read."""
        raise NotImplementedError

    def screened(
        self,
        number: int,
        raw: str,
        record: Record | None,
        flaw: RecordError | None = None,
        name: str = "",
    ) -> Record:
        """Return a record, or what replaces it if it has a flaw: that one, or one of its bytes.

        `number` and `name` are what messages call it. One that cannot be read is None.
        """
        if isinstance(raw, Overlong):
            flaw = RecordError(TOO_LONG)
        elif flaw is None and has_lone_surrogates(raw):
            flaw = RecordError(f"cannot be read as {self.text.codec}")
        if record and not flaw:
            try:
                for cell in record.cells:
                    check_text(record.pieces[cell])
            except RecordError as found:
                flaw = found
            else:
                return record
        self.faults.meet(number, flaw or RecordError("cannot be read"), name)
        if self.layout.on_error == "skip":
            return Record([], [], faulty=True)
        record = record or self.stand_in(raw)
        pieces = record.pieces.copy()
        for cell in record.cells:
            pieces[cell] = self.render(PLACEHOLDER)
        return Record(pieces, [], faulty=True)


class _TextWriter(Writer[TextBatch, list[str]]):
    def __init__(self, reader: TextReader, target: BinaryIO) -> None:
        self._reader, self._target = reader, target
        self._written = 0

    def write(self, batch: TextBatch, private: list[str]) -> None:
        pieces = batch.pieces.copy()
        for cell, text in zip(batch.cells, map(self._reader.render, private), strict=True):
            pieces[cell] = text
        first, self._written = self._written + 1, self._written + batch.records
        codec = self._reader.text.codec
        try:
            self._target.write("".join(pieces).encode(codec, self._reader.text.errors))
        except UnicodeError:
            raise DataError(
                f"a private text among records {first} to {self._written} cannot be written as "
                f'{codec}: convert the input to UTF-8, then use `encoding="utf-8"`'
            ) from None


class RecordReader(TextReader):
    @abstractmethod
    def records(self) -> Iterator[Record]:
        """Yield the records and blank lines; their pieces make up the whole text."""

    def batches(self) -> Generator[TextBatch, None, None]:
        batch = TextBatch()
        for record in self.records():
            batch.add(record)
            if batch.rows >= BATCH_RECORDS or batch.characters >= self.batch_characters:
                yield batch
                batch = TextBatch()
        if batch.rows:
            yield batch

    def pairs(self) -> Iterator[Pair]:
        for record in self.records():
            if record.counts:
                texts = [record.pieces[cell] for cell in record.cells]
                yield from ((text, record.label) for text in texts or [""])

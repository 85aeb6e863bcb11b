"""The copy of a file of text: each record is a row of pieces, some of which are replaced."""

from abc import abstractmethod
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, ClassVar, NamedTuple

from malaprop.core.errors import DataError
from malaprop.pipeline.formats.copying import BATCH_RECORDS, Copy
from malaprop.pipeline.formats.decoding import DecodedText, Overlong
from malaprop.pipeline.formats.faults import (
    PLACEHOLDER,
    TOO_LONG,
    FlawError,
    check_text,
    has_half_pairs,
)
from malaprop.pipeline.formats.layout import Layout


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
            raise FlawError(TOO_LONG)
        if has_half_pairs(raw):
            raise FlawError(f"cannot be read as {self._text.codec}")
        for cell in record.cells:
            check_text(record.pieces[cell])

    @staticmethod
    def sound(block: str) -> bool:
        """Whether `check` would accept all lines of a block; looks at all of them at once."""
        return not (isinstance(block, Overlong) or "\0" in block or has_half_pairs(block))

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

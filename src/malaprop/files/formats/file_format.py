"""What a format is: a reader of records, and a writer that takes them back; layout, faults.

A format is a `Reader` with a `name`. It registers itself by being defined, and so appears in the
library, on the command line and in the tests.
"""

import codecs
import re
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import (
    Any,
    BinaryIO,
    ClassVar,
    Final,
    Generic,
    Literal,
    NamedTuple,
    Self,
    TypeVar,
    cast,
    get_args,
)

from malaprop.files.compression import Packed, Packing, Unpacked
from malaprop.privacy.errors import DataError, MalapropError, ParameterError, did_you_mean
from malaprop.report.file_counts import FaultyRecord, FileCounts

OnError = Literal["fail", "skip", "mask"]
PLACEHOLDER: Final = "[masked]"
# A record is held in memory as a whole, split into tokens: a hundred times its size. This is
# twice a novel of a thousand pages.
LONGEST_RECORD: Final = 2**23
TOO_LONG: Final = f"is longer than {LONGEST_RECORD:,} characters"
_MOST_LISTED: Final = 1_000
REMEDY: Final = '; to go on without such records, use `on_error="skip"` (or mask)'

# A batch ends with the record that reaches one of these (of plain text, before the line that would
# exceed it), so that memory depends on the longest record and not on the number of records.
BATCH_CHARACTERS: Final = 2**20
BATCH_RECORDS: Final = 32_768
# Small files have smaller batches, so that there are some for each worker: about this many, but
# none so small that sending it to a worker takes longer than the work.
_PARTS: Final = 16
SMALLEST_BATCH: Final = 2**16
BATCH_RULES: Final = (BATCH_CHARACTERS, BATCH_RECORDS, _PARTS, SMALLEST_BATCH)

Pair = tuple[str, str]
"""A text and its label; an absent one is empty."""


class Owners(NamedTuple):
    """Which row of a batch each text belongs to, and what each row is labelled with."""

    rows: Sequence[int]
    """Of each text."""
    numbers: Sequence[int]
    """How many records of the batch there are up to each row;"""
    labels: Sequence[str]
    """and what stands in its column of labels; empty if nothing does."""


def owners_of(batch: Any) -> Owners:
    """Return the owners of a batch's texts; without rows in it, each text is one by itself."""
    if hasattr(batch, "owners"):
        owners: Owners = batch.owners()
        return owners
    count = len(batch.texts)
    return Owners(range(count), [batch.records] * count, [""] * count)


_registry: "dict[str, type[AnyReader]]" = {}
registry: "Mapping[str, type[AnyReader]]" = MappingProxyType(_registry)
"""The readers of all formats, by the formats' names."""


class RecordError(Exception):
    """A record cannot be processed: `reason` says why, and `remedy` what to do about it."""

    def __init__(self, reason: str, remedy: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.remedy = remedy


class Faults:
    """The records of a file that cannot be processed, counted; the first thousand are listed.

    A fault is named by the number of its record and by its kind, never by what the record holds.
    A part of a file has no numbers, and nobody can choose its encoding: no remedy is named.
    """

    def __init__(self, on_error: OnError, *, part: bool = False) -> None:
        self.on_error = on_error
        self.count = 0
        self.listed: list[FaultyRecord] = []
        self._part = part

    def meet(self, record: int, flaw: RecordError, name: str = "") -> None:
        """Count a record that has a flaw; with `on_error="fail"`, raise.

        `name` is what the message calls the record, if not by its number alone.
        """
        if self.on_error == "fail":
            called = "a record" if self._part else name or f"record {record}"
            remedy = f": {flaw.remedy}" if flaw.remedy and not self._part else ""
            raise DataError(f"{called} {flaw.reason}{remedy}{REMEDY}")
        self.count += 1
        if self.count <= _MOST_LISTED:
            self.listed.append(FaultyRecord(record, flaw.reason))


def check_text(text: str) -> None:
    """Refuse a text with a NUL or half of a surrogate pair, or one that is too long."""
    if "\0" in text:
        raise RecordError(
            "holds a NUL character", "name the file's encoding with `encoding` if it is another one"
        )
    if has_lone_surrogates(text):
        raise RecordError("holds half of a surrogate pair, which is not a character")
    if len(text) > LONGEST_RECORD:
        raise RecordError(TOO_LONG)


def has_lone_surrogates(text: str) -> bool:
    if text.isascii():
        return False
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


def label_text(value: object) -> str:
    """Return a label as text; None is an absent one."""
    if isinstance(value, dict | list):
        raise RecordError("has a label that is neither a text nor a number")
    return "" if value is None else str(value)


@dataclass(frozen=True, kw_only=True)
class Layout:
    """How to read a file, and which of its columns hold the text to privatize.

    - `format`: one of `FORMATS`;
    - `columns`: the names of the columns to privatize; `txt` has none, all others need one; of
      `json` and `jsonl` also routes such as `msg.text` or `turns[].text`;
    - `encoding`: of the text formats, for reading and for writing;
    - `document`: for `txt`, whether each line is a document or the whole file is one;
    - `delimiter`: of `csv` and `tsv`; None is a comma for the one and a tab for the other;
    - `on_error`: what happens at a record that cannot be processed: `fail` stops everything; `skip`
      leaves the record out; `mask` replaces its texts by `[masked]`;
    - `label`: a column that is read beside the texts, by `Reader.pairs` and `owners` of a batch.

    >>> import io
    >>> source = io.BytesIO(b"id,note\\n007,abc\\n")
    >>> [batch.texts for batch in Layout(format="csv", columns=("note",)).open(source).batches()]
    [['abc']]
    """

    format: str
    columns: tuple[str, ...] = ()
    encoding: str = "utf-8"
    document: Literal["line", "file"] = "line"
    delimiter: str | None = None
    on_error: OnError = "fail"
    label: str | None = None

    def __post_init__(self) -> None:
        if self.format not in registry:
            raise ParameterError(
                f"format must be one of {', '.join(registry)}, got {self.format!r}: name it "
                "with `format`"
            )
        self._check_columns()
        self._check_document()
        self._check_delimiter()
        _check_encoding(self.encoding)
        if self.on_error not in get_args(OnError):
            raise ParameterError(
                f"on_error must be one of {', '.join(get_args(OnError))}, got {self.on_error!r}"
            )

    @property
    def kind(self) -> "type[AnyReader]":
        return registry[self.format]

    def open(self, source: BinaryIO, size: int | None = None, *, part: bool = False) -> "AnyReader":
        return self.kind(source, self, size, part=part)

    def _check_columns(self) -> None:
        if isinstance(self.columns, str):
            raise ParameterError("columns must be a tuple of names, not one string")
        if self.label is not None and not self.kind.has_columns:
            names = ", ".join(name for name, kind in registry.items() if kind.has_columns)
            raise ParameterError(f"a {self.format} file has no column for labels: use {names}")
        if self.columns and not self.kind.has_columns:
            raise ParameterError(
                f"a {self.format} file has no columns: leave out `columns`, or privatize it by "
                "itself"
            )
        if self.kind.has_columns and not self.columns:
            raise ParameterError(
                f"a {self.format} file needs the columns to privatize: name them with `columns`"
            )
        if self.label in self.columns:
            raise ParameterError(
                "the label cannot be the text itself: name another column as `label`"
            )

    def _check_document(self) -> None:
        if self.document not in ("line", "file"):
            raise ParameterError(f"document must be 'line' or 'file', got {self.document!r}")
        if self.document == "file" and self.kind.has_columns:
            raise ParameterError(
                f"only a txt file can be one document, this is {self.format}: its records are "
                "the documents"
            )

    def _check_delimiter(self) -> None:
        if self.delimiter is None:
            return
        if not self.kind.separator:
            raise ParameterError(f"a {self.format} file has no delimiter: leave out `delimiter`")
        if len(self.delimiter) != 1 or self.delimiter in '"\r\n':
            raise ParameterError(
                "delimiter must be one character that is neither a quote nor a line end, got "
                f'{self.delimiter!r}; for tabs use `format="tsv"`'
            )


def _check_encoding(encoding: str) -> None:
    """Refuse encodings that Python does not know, and codecs that are not for text (base64)."""
    try:
        codecs.getincrementaldecoder(encoding)
        known = "a\n".encode(encoding).decode(encoding) == "a\n"
    except (LookupError, ValueError):
        known = False
    if not known:
        raise ParameterError(
            f"unknown text encoding {encoding!r}: `encoding` takes names such as utf-8, "
            "utf-16, latin-1 or cp1252"
        )


_BatchT = TypeVar("_BatchT")
_PrivateT = TypeVar("_PrivateT")


class Reader(ABC, Generic[_BatchT]):
    """A source that is read in batches of records, from start to end.

    A batch has `texts` to privatize, in order, and knows of how many `records` they are. It carries
    all that its writer needs, so that what is no text goes to the target untouched.
    `size` is that of the source in bytes, where it is known: the batches of a small file are
    smaller, so that there are some for each worker. A `part` of a file, as a task on a cluster has,
    does not know the numbers of its records, nor what other parts hold. A subclass with a `name` is
    a format:

        class CsvReader(DelimitedReader, name="csv"):
            suffixes = (".csv",)
            separator = ","
    """

    name: ClassVar[str] = ""
    """The name of the format."""
    suffixes: ClassVar[tuple[str, ...]] = ()
    """How the names of such files end."""
    has_columns: ClassVar[bool] = True
    """Whether records have columns, so that those to privatize must be named."""
    separator: ClassVar[str] = ""
    """The character between two fields, unless the layout names another one."""
    packable: ClassVar[bool] = True
    """Whether such files may be packed as a whole (`.gz`, `.zst`)."""
    seeks: ClassVar[bool] = False
    """Whether the source must be seekable: it is not read from start to end."""
    public: ClassVar[tuple[str, ...]] = ()
    """What such a file shows of a text, because it is of that format."""
    drops: ClassVar[bool] = False
    """Whether a batch can be written without some of its rows: it has `owners` and `without`."""
    spark: ClassVar[Literal["", "table", "lines", "files"]] = ""
    """What Spark may give a task of it: rows of a table, any lines, or whole files alone."""

    def __init_subclass__(cls, *, name: str = "", **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if name:
            cls.name = name
            _registry[name] = cls

    def __init__(
        self, source: BinaryIO, layout: Layout, size: int | None = None, *, part: bool = False
    ) -> None:
        self.source, self.layout, self.part = source, layout, part
        self.batch_characters = batch_characters(size)
        self.faults = Faults(layout.on_error, part=part)
        self.present = set(layout.columns)
        """The columns asked for that some record has;"""
        self.missing = 0
        """how many records lack one of them."""
        self.columns: Iterable[str] = ()
        """The columns read so far."""
        self.open()

    def open(self) -> None:
        """Read what stands before the records."""

    @property
    @abstractmethod
    def consumed(self) -> int:
        """The number of bytes of the source that are read so far."""

    @property
    def other_columns(self) -> tuple[str, ...]:
        """The columns read so far that were not asked for."""
        others = (name for name in self.columns if name not in self.layout.columns)
        return tuple(dict.fromkeys(others))

    @property
    def left_out(self) -> tuple[tuple[str, int], ...]:
        """What the format drops of the records read so far, such as attachments, and how many."""
        return ()

    @abstractmethod
    def batches(self) -> Generator[_BatchT, None, None]:
        """Yield the records, batch by batch."""

    def pairs(self) -> Iterator[Pair]:
        """Yield each text with the label of its record; a record without text has an empty one."""
        raise NotImplementedError

    @abstractmethod
    def writer(self, target: BinaryIO) -> "Writer[_BatchT, list[str]]":
        """Return what writes the batches to a target; call it before they are read."""


class Writer(ABC, Generic[_BatchT, _PrivateT]):
    """Writes the batches of a reader to a target, in the order in which they were read."""

    @abstractmethod
    def write(self, batch: _BatchT, private: _PrivateT) -> None:
        """Write a batch with `private` in place of its texts, or of its vectors."""

    def finish(self) -> None:
        """Write the end of the file; call it once all batches are written."""

    def abandon(self) -> None:
        """Give up without writing anything more."""


AnyReader = Reader[Any]


def batch_characters(size: int | None) -> int:
    """Return how many characters make up a batch of a file of `size` bytes, if that is known.

    It depends on the size alone, so that a resumed run has the same batches.
    """
    if size is None:
        return BATCH_CHARACTERS
    return min(max(size // _PARTS, SMALLEST_BATCH), BATCH_CHARACTERS)


def without_refused(
    batch: Any,
    private: Sequence[str | None],
    refused: Mapping[int, str],
    faults: Faults,
    before: int = 0,
) -> tuple[Any, list[str | None]]:
    """Return a batch and its texts without the rows that were refused, or with them masked.

    Counts them as faults; `before` is how many records come before the batch.
    """
    owners = owners_of(batch)
    for row, reason in refused.items():
        faults.meet(before + owners.numbers[row], RecordError(reason))
    pairs = list(zip(private, owners.rows, strict=True))
    if faults.on_error == "mask":
        return batch, [PLACEHOLDER if row in refused else text for text, row in pairs]
    return batch.without(refused.keys()), [text for text, row in pairs if row not in refused]


_NONE_REFUSED: Final[Mapping[int, str]] = MappingProxyType({})


class FileCopy:
    """A reader and its writer: a copy in the making; what reads may run ahead of what writes.

    >>> import io
    >>> layout, target = Layout(format="csv", columns=("note",)), io.BytesIO()
    >>> with FileCopy(layout.open(io.BytesIO(b"id,note\\n007,abc\\n")), target) as copy:
    ...     for batch in copy.batches():
    ...         copy.write(batch, [text.upper() for text in batch.texts])
    ...     copy.finish()
    FileCounts(records=1, cells=1, missing=0, other_columns=('id',), faulty=0, left_out=())
    >>> target.getvalue()
    b'id,note\\n007,ABC\\n'

    Everything but the texts stays as it is: byte for byte in files of text, value for value in
    Parquet. `name` is what errors call the source, if there are several. When an error leaves the
    context, what was written to the target is worthless.
    """

    def __init__(self, reader: AnyReader, target: BinaryIO, name: str = "") -> None:
        self.reader, self.name = reader, name
        self._writer = reader.writer(target)
        self._reading = reader.batches()
        self._records = self._cells = self.batches_read = 0
        self._ended = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._reading.close()  # a reader may have to put something back
        if not self._ended:
            self._writer.abandon()

    def batches(self) -> Iterator[Any]:
        with naming(self.name):
            for batch in self._reading:
                self.batches_read += 1
                yield batch

    def write(
        self, batch: Any, private: Sequence[str | None], refused: Mapping[int, str] = _NONE_REFUSED
    ) -> None:
        """Write a batch with these texts: as many as it has.

        A missing one would leave a true text in its place, or shift all that follow. None is the
        text of a row that was refused: `refused` says why, row by row.
        """
        expected = len(batch.texts)
        if len(private) != expected:
            raise MalapropError(
                f"the transform was given {expected} texts and returned {len(private)}: it must "
                "return one for each"
            )
        written, texts = batch, private
        if refused:
            with naming(self.name):
                faults = self.reader.faults
                written, texts = without_refused(batch, private, refused, faults, self._records)
        if None in texts:
            raise MalapropError("the transform has returned no text where it must return one")
        with naming():
            self._writer.write(written, cast(list[str], texts))
        self._records += batch.records
        self._cells += expected - private.count(None)

    def finish(self) -> FileCounts:
        """Write the end of the file, once all batches are written; return what was in it."""
        with naming(self.name):
            self._writer.finish()
        self._ended = True
        reader = self.reader
        return FileCounts(
            records=self._records,
            cells=self._cells,
            missing=reader.missing,
            other_columns=reader.other_columns,
            faulty=reader.faults.count,
            faults=tuple(reader.faults.listed),
            left_out=reader.left_out,
        )


@contextmanager
def naming(source: str = "") -> Iterator[None]:
    """Have errors about a source name it, and drop their context.

    `from None` hides what the libraries have raised but keeps a reference to it, and through it
    to the data that they failed on.
    """
    try:
        yield
    except MalapropError as error:
        if source and isinstance(error, DataError | ParameterError):
            error.args = (f"{source}: {error}",)
        error.__context__ = None
        raise


# The format of a file, and how it is packed, as its name tells.

_ENDINGS: Final[dict[str, Packing]] = {".gz": "gzip", ".zst": "zstd"}
_ARCHIVES: Final = (".tar", ".tgz", ".7z", ".rar")
_SHEETS: Final = (".xlsx", ".xls", ".xlsm", ".xlsb", ".ods", ".numbers")
_DOCUMENTS: Final = (".docx", ".doc", ".pdf", ".odt", ".rtf", ".pages", ".pptx", ".epub")
_MAILS: Final = (".msg", ".pst", ".ost")
_FOREIGN: Final = {
    **dict.fromkeys(_ARCHIVES, "Malaprop writes no archives"),
    **dict.fromkeys(_SHEETS, "Malaprop writes no spreadsheets, but they can import .csv"),
    **dict.fromkeys(_DOCUMENTS, "Malaprop writes no such files, but their programs open .txt"),
    **dict.fromkeys(_MAILS, "Malaprop writes no such files, but mail programs open .eml"),
}
"""Endings of files that are no text, and what to do instead."""
_OFFICE: Final = "export the document to .txt, as with  soffice --headless --convert-to txt FILE"
_PANDOC: Final = "convert the document to Markdown, as with  pandoc FILE -t markdown -o NOTES.md"
_HINTS: Final = {
    **dict.fromkeys(_ARCHIVES, "unpack the archive and name the files in it"),
    **dict.fromkeys(_SHEETS, "save each sheet as .csv, and name the columns with `columns`"),
    **dict.fromkeys(_DOCUMENTS, _OFFICE),
    **dict.fromkeys((".docx", ".odt", ".epub"), _PANDOC),
    ".pdf": "write its text to a .txt file, as with  pdftotext FILE NOTES.txt",
    ".pages": "export the document to .txt",
    ".msg": "save the mail as .eml, or convert it with  msgconvert FILE",
    **dict.fromkeys((".pst", ".ost"), "convert it to .mbox with  readpst -o MAILS FILE"),
}
# Programs that write the content of files that are packed otherwise.
_UNPACKERS: Final = {".bz2": "bzcat", ".xz": "xzcat", ".zip": "unzip -p", ".lz4": "lz4cat"}


def compression_of(path: Path | str) -> Packing | None:
    """Return how a file of this name is packed, if it is.

    >>> compression_of("notes.csv.gz")
    'gzip'
    """
    return _ENDINGS.get(Path(path).suffix.lower())


def _without_packing(path: Path | str) -> Path:
    return Path(path).with_suffix("") if compression_of(path) else Path(path)


def unpacked(source: BinaryIO, name: Path | str) -> BinaryIO:
    """Return a stream of the unpacked content of a source; its name says how it is packed."""
    kind = compression_of(name)
    return cast(BinaryIO, Unpacked(source, kind)) if kind else source


def packed(target: BinaryIO, name: Path | str) -> "Packed | None":
    """Return a stream that packs what is written to a target, if the target's name says so."""
    kind = compression_of(name)
    return Packed(target, kind) if kind else None


def format_of(path: Path | str) -> str:
    """Return the format that the ending of a file's name says; of a packed file, that inside.

    >>> format_of("notes.NDJSON"), format_of("notes.csv.gz")
    ('jsonl', 'csv')
    """
    inside = _without_packing(path)
    name = _format_with(inside.suffix)
    if name is None and (hint := way_out(inside)):
        raise ParameterError(f"{path}: {inside.suffix.lower()} files are not read: {hint}")
    if name is None:
        raise ParameterError(
            f"the name {str(path)!r} does not tell the file's format: {_hint(inside, path)}"
        )
    check_packing(path, name)
    return name


def check_ending(source: str, target: str, format_: str, *, named: bool) -> None:
    """Refuse an output whose ending says something else than the format that is written.

    `named` tells whether the user named the format. Then all endings are fine except those of
    other programs' files, and those, too, if the input has the same one.
    """
    suffix = _without_packing(target).suffix.lower()
    said = _format_with(suffix)
    if suffix in ("", ".") or said == format_:
        return
    if named and (suffix not in _FOREIGN or suffix == _without_packing(source).suffix.lower()):
        return
    if said:
        raise ParameterError(
            f"the output has the format of the input, {format_}: {target} says {said}"
        )
    packed = " (also packed: .gz, .zst)" if registry[format_].packable else ""
    other = "" if suffix in _FOREIGN else f', or name the format with `format="{format_}"`'
    raise ParameterError(
        f"the output has the format of the input, {format_}, and {target} ends in {suffix}: name "
        f"a file that ends in {' or '.join(registry[format_].suffixes)}{packed}, or in nothing"
        f"{other}.{' ' if suffix in _FOREIGN else ''}{_FOREIGN.get(suffix, '')}"
    )


def format_named(path: Path | str) -> str | None:
    """Return the format that the ending of a file's name says, or None if it says none."""
    name = _format_with(_without_packing(path).suffix)
    return None if name and compression_of(path) and not registry[name].packable else name


def way_out(path: Path | str) -> str:
    """Say how to convert a file of another program, as its ending says; empty if nothing is known.

    >>> way_out("visits.XLSX")
    'save each sheet as .csv, and name the columns with `columns`'
    """
    return _HINTS.get(Path(path).suffix.lower(), "")


def _format_with(suffix: str) -> str | None:
    return next((name for name in registry if suffix.lower() in registry[name].suffixes), None)


def _hint(inside: Path, path: Path | str) -> str:
    suffix = inside.suffix.lower()
    if suffix in _UNPACKERS:
        content = _format_with(inside.with_suffix("").suffix) or "FORMAT"
        return (
            "of compressed files .gz and .zst are read, others through a pipe:  "
            f"{_UNPACKERS[suffix]} FILE | malaprop privatize - --format {content}"
        )
    known = [name for name in registry if registry[name].packable or not compression_of(path)]
    return f"name it with `format` ({', '.join(known)})"


def check_packing(path: Path | str, format_: str) -> None:
    """Refuse a file that is packed in a way that its format, or Malaprop, does not support."""
    suffix = Path(path).suffix.lower()
    if compression_of(path) and not registry[format_].packable:
        raise ParameterError(
            f"{str(path)!r} ends in {suffix}, but {format_.capitalize()} is compressed inside: "
            f"name a file that ends in {registry[format_].suffixes[0]}"
        )
    if suffix in _UNPACKERS:
        raise ParameterError(
            f"{str(path)!r} ends in {suffix}: files are packed as .gz or .zst, or not at all"
        )


# How messages name the columns of a file.
#
# The names of columns are not text, unless a file has no header: then its first line is taken for
# one, and a message that quotes it would quote the text. So names are shown only if all of them
# look like names: a letter or underscore, then letters, digits and `_ - . : / [ ]`, no spaces, at
# most 40 characters, no name twice. A line of data shows only if each of its fields is such a word.

_NAME: Final = re.compile(r"[^\W\d][\w\-.:/\[\]]{0,39}")
_MOST_SHOWN: Final = 20
UNSHOWN: Final = "not shown, as this may be text"
_INSIDE: Final = (
    "; texts inside structs and lists of Parquet cannot be named: put them into a column of their "
    "own"
)


def list_columns(columns: Iterable[str], wanted: str, noun: str = "column") -> str:
    """Say how many columns there are, and which; suggest the one that may have been meant.

    >>> list_columns(["id", "text"], "txt")
    "2 columns: id, text. Did you mean 'text'?"
    >>> list_columns(["Mary had a lamb", "42"], "txt")
    '2 columns (not shown, as this may be text)'
    """
    names = list(columns)
    count = f"{len(names):,} {noun}" + "s" * (len(names) != 1)
    if not names:
        return count
    if len(set(names)) < len(names) or not all(map(_NAME.fullmatch, names)):
        return f"{count} ({UNSHOWN})"
    shown = ", ".join(names[:_MOST_SHOWN])
    more = f" and {len(names) - _MOST_SHOWN:,} more" if len(names) > _MOST_SHOWN else ""
    hint = did_you_mean(wanted, names)
    return f"{count}: {shown}{more}" + (f".{hint}" if hint else "")


def no_such_column(name: str, place: str, columns: Iterable[str]) -> ParameterError:
    """Return the error for a column that a table lacks; a route into a column is named as one."""
    names = list(columns)
    inside = place != "header" and any(name.startswith((f"{c}.", f"{c}[]")) for c in names)
    return ParameterError(
        f"no column is named {name!r} in the {place}, which has {list_columns(names, name)}"
        f"{_INSIDE if inside else ''}"
    )

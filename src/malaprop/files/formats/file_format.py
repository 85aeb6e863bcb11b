"""What a format is: a reader of records, a writer of them; layout, faults, the registry."""

import codecs
import re
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import (
    Any,
    BinaryIO,
    ClassVar,
    Final,
    Generic,
    Literal,
    Protocol,
    TypeVar,
    get_args,
)

from malaprop.privacy.errors import DataError, ParameterError, did_you_mean
from malaprop.report.file_counts import FaultyRecord

# Records that cannot be processed: what is wrong with them, and what becomes of them.
#
# A fault is named by the number of its record and by its kind, never by what the record holds.


OnError = Literal["fail", "skip", "mask"]
PLACEHOLDER: Final = "[masked]"
# A record is held in memory as a whole, split into tokens: a hundred times its size. This is
# twice a novel of a thousand pages.
LONGEST_RECORD: Final = 2**23
TOO_LONG: Final = f"is longer than {LONGEST_RECORD:,} characters"
_MOST_LISTED: Final = 1_000
REMEDY: Final = '; to go on without such records, use `on_error="skip"` (or mask)'


class RecordError(Exception):
    """A record cannot be processed: `reason` says why, and `remedy` what to do about it."""

    def __init__(self, reason: str, remedy: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.remedy = remedy


class Faults:
    """The faults of a file, counted; the first thousand are listed."""

    def __init__(self, on_error: OnError) -> None:
        self.on_error = on_error
        self.count = 0
        self.listed: list[FaultyRecord] = []

    def meet(self, record: int, flaw: RecordError, name: str = "") -> None:
        """Count a record that has a flaw; with `on_error="fail"`, raise.

        `name` is what the message calls the record, if not by its number alone.
        """
        if self.on_error == "fail":
            remedy = f": {flaw.remedy}" if flaw.remedy else ""
            raise DataError(f"{name or f'record {record}'} {flaw.reason}{remedy}{REMEDY}")
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
    """Whether a text has surrogates, which valid Unicode never has."""
    if text.isascii():
        return False
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


# The base of all formats, and their registry.
#
# A copy reads its source in batches, and writes each batch to its target with private texts in the
# place of the true ones. Everything else in the file goes from source to target untouched.
#
# A copy that is defined with a `name` registers itself as the format of that name, and so appears
# in the library, on the command line and in the tests.


_registry: "dict[str, type[AnyCopy]]" = {}

registry: "Mapping[str, type[AnyCopy]]" = MappingProxyType(_registry)
"""The copies of all formats, by the formats' names."""

# A batch ends with the record that reaches one of these (of plain text, before the line that would
# exceed it), so that memory depends on the longest record and not on the number of records.
BATCH_CHARACTERS: Final = 2**20
BATCH_RECORDS: Final = 32_768
# Small files have smaller batches, so that there are some for each worker: about this many, but
# none so small that sending it to a worker takes longer than the work.
_PARTS: Final = 16
SMALLEST_BATCH: Final = 2**16
BATCH_RULES: Final = (BATCH_CHARACTERS, BATCH_RECORDS, _PARTS, SMALLEST_BATCH)


def batch_characters(size: int | None) -> int:
    """Return how many characters make up a batch of a file of `size` bytes, if that is known.

    It depends on the size alone, so that a resumed run has the same batches.
    """
    if size is None:
        return BATCH_CHARACTERS
    return min(max(size // _PARTS, SMALLEST_BATCH), BATCH_CHARACTERS)


class AnyBatch(Protocol):
    """Consecutive records; `texts` are their cells to privatize, in order."""

    @property
    def texts(self) -> list[str]:
        """The texts to privatize."""

    @property
    def records(self) -> int:
        """The number of records."""


BatchT = TypeVar("BatchT", bound=AnyBatch)


@dataclass(frozen=True, kw_only=True)
class CopySummary:
    """What is copied from source to target unchanged.

    `missing` counts the records that lack a column that was asked for; `columns` names all
    columns that were not asked for.
    """

    missing: int = 0
    columns: tuple[str, ...] = ()


class Copy(ABC, Generic[BatchT]):
    """A copy in progress of one file, from a source to a target.

    `size` is that of the source in bytes, where it is known. A subclass with a `name` is a format:

        class CsvCopy(DelimitedCopy, name="csv"):
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

    def __init_subclass__(cls, *, name: str = "", **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if name:
            cls.name = name
            _registry[name] = cls

    def __init__(
        self, source: BinaryIO, target: BinaryIO, layout: "Layout", size: int | None = None
    ) -> None:
        self.source = source
        self.target = target
        self.layout = layout
        self.batch_characters = batch_characters(size)
        self.faults = Faults(layout.on_error)

    @property
    @abstractmethod
    def consumed(self) -> int:
        """The number of bytes of the source that are read so far."""

    @abstractmethod
    def batches(self) -> Generator[BatchT, None, None]:
        """Yield the records of the source, batch by batch."""

    @abstractmethod
    def write(self, batch: BatchT, private: list[str]) -> None:
        """Write a batch with `private` in place of its texts."""

    @abstractmethod
    def finish(self) -> CopySummary:
        """Write the end of the file; call it once all batches are written."""

    def abandon(self) -> None:
        """Give up without writing anything more."""


AnyCopy = Copy[Any]


# How to read a file: its format, the columns that hold text, its encoding.


@dataclass(frozen=True, kw_only=True)
class Layout:
    """How to read a file, and which of its columns hold the text to privatize.

    - `format`: one of `FORMATS`;
    - `columns`: the names of the columns to privatize; `txt` has none, all others need one; of
      `jsonl` also routes such as `msg.text` or `turns[].text`;
    - `encoding`: of the text formats, for reading and for writing;
    - `document`: for `txt`, whether each line is a document or the whole file is one;
    - `delimiter`: of `csv` and `tsv`; None is a comma for the one and a tab for the other;
    - `on_error`: what happens at a record that cannot be processed: `fail` stops everything; `skip`
      leaves the record out; `mask` replaces its texts by `[masked]`.

    >>> Layout(format="csv", columns=("note",)).separator
    ','
    """

    format: str
    columns: tuple[str, ...] = ()
    encoding: str = "utf-8"
    document: Literal["line", "file"] = "line"
    delimiter: str | None = None
    on_error: OnError = "fail"

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
    def kind(self) -> type[AnyCopy]:
        """The class that copies files of the format."""
        return registry[self.format]

    @property
    def separator(self) -> str:
        """The character between two fields: the delimiter given, or the format's own."""
        return self.delimiter or self.kind.separator

    def _check_columns(self) -> None:
        if isinstance(self.columns, str):
            raise ParameterError("columns must be a tuple of names, not one string")
        if self.columns and not self.kind.has_columns:
            raise ParameterError(
                f"a {self.format} file has no columns: leave out `columns`, or privatize it by "
                "itself"
            )
        if self.kind.has_columns and not self.columns:
            raise ParameterError(
                f"a {self.format} file needs the columns to privatize: name them with `columns`"
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


# How messages name the columns of a file.
#
# The names of columns are not text, unless a file has no header: then its first line is taken for
# one, and a message that quotes it would quote the text. So names are shown only if all of them
# look like names: a letter or underscore, then letters, digits and `_ - . : / [ ]`, no spaces, at
# most 40 characters, no name twice. A line of data shows only if each of its fields is such a word.


_NAME: Final = re.compile(r"[^\W\d][\w\-.:/\[\]]{0,39}")
_MOST_SHOWN: Final = 20
UNSHOWN: Final = "not shown, as this may be text"


def is_inside(wanted: str, columns: Iterable[str]) -> bool:
    """Whether a name is a route into one of the columns, as in JSON lines.

    >>> is_inside("turns[].text", ["id", "turns"])
    True
    """
    return any(wanted.startswith((f"{name}.", f"{name}[]")) for name in columns)


INSIDE: Final = (
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

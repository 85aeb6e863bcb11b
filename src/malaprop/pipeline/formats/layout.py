"""How a file is to be read: its format, the columns that hold text, its encoding."""

import codecs
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, get_args

from malaprop.core.errors import ParameterError
from malaprop.pipeline.formats.faults import OnError
from malaprop.pipeline.formats.packing import packing_of, without_packing

Format = Literal["txt", "csv", "tsv", "jsonl", "parquet"]
FORMATS: Final[tuple[Format, ...]] = get_args(Format)

_SUFFIXES: Final[dict[str, Format]] = {
    ".txt": "txt",
    ".text": "txt",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
}
_HINTS: Final = {
    ".json": "of JSON only JSON lines are read, a record a line: convert it to .jsonl",
    **dict.fromkeys((".tar", ".tgz", ".7z", ".rar"), "unpack the archive and name the files in it"),
    **dict.fromkeys((".xlsx", ".xls", ".ods"), "export the table to .csv"),
    **dict.fromkeys((".docx", ".pdf", ".odt", ".rtf"), "export the document to .txt"),
}
# What writes the content of files that are packed otherwise.
_UNPACKERS: Final = {".bz2": "bzcat", ".xz": "xzcat", ".zip": "unzip -p", ".lz4": "lz4cat"}
_DELIMITERS: Final[dict[Format, str]] = {"csv": ",", "tsv": "\t"}


@dataclass(frozen=True, kw_only=True)
class Layout:
    """How to read a file, and which of its columns hold the text to privatize.

    - `format`: one of `FORMATS`;
    - `columns`: the names of the columns to privatize; `txt` has none, all others need one; of
      `jsonl` also routes such as `msg.text` or `turns[].text`;
    - `encoding`: of the text formats, for reading and for writing;
    - `document`: for `txt`, whether each line is a document or the whole file is one;
    - `delimiter`: of `csv` and `tsv`; None is a comma for the one and a tab for the other;
    - `on_error`: what a record that cannot be processed does: `fail` stops everything; `skip`
      leaves it out; `mask` puts `[masked]` in the place of its texts.

    >>> Layout(format="csv", columns=("note",)).separator
    ','
    """

    format: Format
    columns: tuple[str, ...] = ()
    encoding: str = "utf-8"
    document: Literal["line", "file"] = "line"
    delimiter: str | None = None
    on_error: OnError = "fail"

    def __post_init__(self) -> None:
        if self.format not in FORMATS:
            raise ParameterError(
                f"format must be one of {', '.join(FORMATS)}, got {self.format!r}: name it "
                "with --format"
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
    def separator(self) -> str:
        """The character between two fields: the delimiter given, or the format's own."""
        return self.delimiter or _DELIMITERS.get(self.format, ",")

    def _check_columns(self) -> None:
        if isinstance(self.columns, str):
            raise ParameterError("columns must be a tuple of names, not one string")
        if self.format == "txt" and self.columns:
            raise ParameterError(
                "a txt file has no columns: leave out --column, or privatize it by itself"
            )
        if self.format != "txt" and not self.columns:
            raise ParameterError(
                f"a {self.format} file needs the columns to privatize: name them with --column"
            )

    def _check_document(self) -> None:
        if self.document not in ("line", "file"):
            raise ParameterError(f"document must be 'line' or 'file', got {self.document!r}")
        if self.document == "file" and self.format != "txt":
            raise ParameterError(
                f"only a txt file can be one document, this is {self.format}: its records are "
                "the documents"
            )

    def _check_delimiter(self) -> None:
        if self.delimiter is None:
            return
        if self.format not in _DELIMITERS:
            raise ParameterError(f"a {self.format} file has no delimiter: leave out --delimiter")
        if len(self.delimiter) != 1 or self.delimiter in '"\r\n':
            raise ParameterError(
                "delimiter must be one character that is no quote and no line end, got "
                f"{self.delimiter!r}; for tabs use --format tsv"
            )


def _check_encoding(encoding: str) -> None:
    """Refuse what Python does not know, and codecs that are no encodings of text (base64)."""
    try:
        codecs.getincrementaldecoder(encoding)
        known = "a\n".encode(encoding).decode(encoding) == "a\n"
    except (LookupError, ValueError):
        known = False
    if not known:
        raise ParameterError(
            f"unknown text encoding {encoding!r}: --encoding takes names such as utf-8, "
            "utf-16, latin-1 or cp1252"
        )


def format_of(path: Path | str) -> Format:
    """Return the format that the ending of a file's name stands for; of a packed file, inside.

    >>> format_of("notes.NDJSON"), format_of("notes.csv.gz")
    ('jsonl', 'csv')
    """
    inside = without_packing(path)
    suffix = inside.suffix.lower()
    if suffix not in _SUFFIXES:
        raise ParameterError(
            f"the name {str(path)!r} does not tell the file's format: {_hint(inside, path)}"
        )
    check_packing(path, _SUFFIXES[suffix])
    return _SUFFIXES[suffix]


def _hint(inside: Path, path: Path | str) -> str:
    """Say what to do about a file whose format is not told by its name, or by the one inside."""
    suffix = inside.suffix.lower()
    if suffix in _UNPACKERS:
        content = _SUFFIXES.get(inside.with_suffix("").suffix.lower(), "FORMAT")
        return (
            "of compressed files .gz and .zst are read, others through a pipe:  "
            f"{_UNPACKERS[suffix]} FILE | malaprop privatize - --format {content}"
        )
    known = [name for name in FORMATS if name != "parquet" or not packing_of(path)]
    return _HINTS.get(suffix, f"name it with --format ({', '.join(known)})")


def check_packing(path: Path | str, format_: Format) -> None:
    """Refuse a file that is packed in a way that its format, or this program, does not know."""
    suffix = Path(path).suffix.lower()
    if format_ == "parquet" and packing_of(path):
        raise ParameterError(
            f"{str(path)!r} ends in {suffix}, but Parquet is compressed inside: name a file that "
            "ends in .parquet"
        )
    if suffix in _UNPACKERS:
        raise ParameterError(
            f"{str(path)!r} ends in {suffix}: files are packed as .gz or .zst, or not at all"
        )

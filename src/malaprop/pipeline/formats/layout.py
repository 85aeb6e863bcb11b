"""How to read a file: its format, the columns that hold text, its encoding."""

import codecs
from dataclasses import dataclass
from typing import Literal, get_args

from malaprop.core.errors import ParameterError
from malaprop.pipeline.formats.copying import AnyCopy, registry
from malaprop.pipeline.formats.faults import OnError


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

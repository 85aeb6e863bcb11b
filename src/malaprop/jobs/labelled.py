"""Texts with their labels, from files: nothing is written.

The readers of `malaprop.pipeline.formats` pass over cells that are empty, as there is nothing in
them to privatize. Here a text and its label must stay together, so records are read as a whole.
"""

import csv
import io
import json
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from malaprop.core.errors import DataError, ParameterError
from malaprop.jobs.job import PIPE
from malaprop.pipeline.formats import format_of
from malaprop.pipeline.formats.delimited import CsvCopy, TsvCopy
from malaprop.pipeline.formats.faults import LONGEST_RECORD
from malaprop.pipeline.formats.naming import there_are
from malaprop.pipeline.formats.packing import unpacked

Pair = tuple[str, object]
"""A text and its label; None for no label."""
Pairs = Generator[Pair, None, None]
Listener = Callable[[int, int | None], None]


def read_labelled(
    source: str,
    *,
    column: str,
    label: str,
    format: str | None = None,  # noqa: A002  as in `privatize_files`
    encoding: str = "utf-8",
    progress: Listener | None = None,
) -> Iterator[Pair]:
    """Yield the texts of a file with their labels.

    The file is csv, tsv, jsonl or parquet. Labels may be of any type. A record without a text has
    an empty one. A record that cannot be read is an error, which never shows what is in it.
    """
    name = _format(source, format)
    if column == label:
        raise ParameterError("The column of texts cannot be that of the labels: name another one.")
    path = Path(source)
    if not path.is_file():
        raise ParameterError(f"there is no file {source}")
    with ExitStack() as ends:
        try:
            file = ends.enter_context(path.open("rb"))
            stream = unpacked(file, source)
            pairs = _READERS[name](stream, column, label, encoding)
            ends.callback(pairs.close)  # before the file is closed
            for number, pair in enumerate(pairs):
                if progress and number % 1000 == 0:
                    progress(file.tell(), path.stat().st_size)
                yield pair
        except (DataError, ParameterError) as error:
            error.args = (f"{source}: {error}",)
            error.__context__ = None  # what a library raised holds what it failed on
            raise


def _format(source: str, format_: str | None) -> str:
    if source == PIPE:
        raise ParameterError("Texts with labels cannot be read from a pipe: name a file.")
    name = format_ or format_of(source)
    if name not in _READERS:
        raise ParameterError(
            f"A {name} file has no column of labels: labels are read from {', '.join(_READERS)}."
        )
    return name


def _delimited(separator: str) -> Callable[[BinaryIO, str, str, str], Pairs]:
    def read(stream: BinaryIO, column: str, label: str, encoding: str) -> Pairs:
        usual = csv.field_size_limit(LONGEST_RECORD)
        try:
            with closing(_rows(stream, separator, encoding)) as rows:
                yield from _cells(rows, column, label)
        finally:
            csv.field_size_limit(usual)

    return read


def _cells(rows: Iterator[list[str]], column: str, label: str) -> Iterator[Pair]:
    header = next(rows, None)
    if header is None:
        raise DataError("the input is empty: its first record must name the columns")
    text_place, label_place = _place(header, column), _place(header, label)
    for number, row in enumerate(filter(None, rows), 1):
        if len(row) != len(header):
            raise DataError(
                f"record {number:,} has {len(row)} fields, the header has {len(header)}: a field "
                "that contains the delimiter or a line end must be quoted"
            )
        yield row[text_place], row[label_place]


def _rows(stream: BinaryIO, separator: str, encoding: str) -> Generator[list[str], None, None]:
    number = 0
    with _decoded(stream, encoding) as decoded:
        reader = csv.reader(decoded, delimiter=separator, strict=True)
        while True:
            try:
                row = next(reader, None)
            except UnicodeError:
                raise _undecodable(number, encoding) from None
            except csv.Error:
                raise DataError(
                    f"record {number:,} is not well-formed: a quote is not closed, or more text "
                    "follows a closing quote"
                ) from None
            if row is None:
                return
            number += 1
            yield row


def _place(header: list[str], name: str) -> int:
    if name not in header:
        raise ParameterError(
            f"no column is named {name!r} in the header, which has {there_are(header, name)}"
        )
    return header.index(name)


def _json_lines(stream: BinaryIO, column: str, label: str, encoding: str) -> Pairs:
    seen: set[str] = set()
    with closing(_lines(stream, encoding)) as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                record = _object(line, number)
                seen |= record.keys() & {column, label}
                yield _text(record.get(column), number), record.get(label)
    for name in (column, label):
        if name not in seen:
            raise ParameterError(f"no record has the key {name!r}")


def _object(line: str, number: int) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict):
        raise DataError(f"line {number:,} is not a JSON object")
    return record


def _parquet(stream: BinaryIO, column: str, label: str, encoding: str) -> Pairs:
    import pyarrow as pa
    import pyarrow.parquet as pq

    number = 0
    try:
        file = pq.ParquetFile(stream)
        for name in (column, label):
            _place(file.schema_arrow.names, name)
        for batch in file.iter_batches(batch_size=4096, columns=[column, label]):
            rows = batch.to_pydict()
            for text, value in zip(rows[column], rows[label], strict=True):
                number += 1
                yield _text(text, number), value
    except (pa.ArrowException, OSError):
        raise DataError(
            "the input cannot be read: it is no Parquet file, or damaged, or encrypted"
        ) from None


def _text(value: Any, number: int) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise DataError(f"record {number:,} has no text in the column of texts, but another value")
    return value


@contextmanager
def _decoded(stream: BinaryIO, encoding: str) -> Iterator[io.TextIOWrapper]:
    """Read a stream as text, and leave it open."""
    codec = "utf-8-sig" if encoding.lower().replace("_", "-") in ("utf-8", "utf8") else encoding
    try:
        decoded = io.TextIOWrapper(stream, encoding=codec, newline="")
    except LookupError:
        raise ParameterError(
            f"unknown text encoding {encoding!r}: `encoding` takes names such as utf-8, latin-1"
        ) from None
    try:
        yield decoded
    finally:
        decoded.detach()


def _lines(stream: BinaryIO, encoding: str) -> Generator[str, None, None]:
    number = 0
    with _decoded(stream, encoding) as decoded:
        while True:
            try:
                line = decoded.readline(LONGEST_RECORD)
            except UnicodeError:
                raise _undecodable(number, encoding) from None
            if not line:
                return
            number += 1
            yield line


def _undecodable(number: int, encoding: str) -> DataError:
    return DataError(
        f"what follows record {number:,} cannot be read as {encoding}: name the right `encoding`"
    )


_READERS: dict[str, Callable[[BinaryIO, str, str, str], Pairs]] = {
    "csv": _delimited(CsvCopy.separator),
    "tsv": _delimited(TsvCopy.separator),
    "jsonl": _json_lines,
    "parquet": _parquet,
}

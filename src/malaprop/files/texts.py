"""Texts of files, with labels where asked; nothing is written."""

import csv
import io
import json
import os
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from typing import Any, BinaryIO

from malaprop.files.compression import unpacked
from malaprop.files.formats.delimited import CsvCopy, TsvCopy, next_row
from malaprop.files.formats.file_format import LONGEST_RECORD, Layout, list_columns, registry
from malaprop.files.plan import PIPE, Job, check_piped, plan_jobs
from malaprop.files.run import FileCopy
from malaprop.privacy.errors import DataError, ParameterError

# The texts of files, for measurements and for training: nothing is written.


Listener = Callable[[int, int | None], None]
"""Called with the bytes that are read and, if it is known, their total."""


def read_texts(
    inputs: Sequence[str],
    *,
    columns: Sequence[str] = (),
    format: str | None = None,  # noqa: A002  as in `privatize_files`
    encoding: str = "utf-8",
    progress: Listener | None = None,
) -> Iterator[str]:
    """Return the texts of files one by one, in any format that `privatize_files` reads.

    A line of a txt file is a text; other files have the texts of the named columns. A record that
    cannot be read is an error. What is wrong with the arguments is one at once, before any reading.
    """
    if isinstance(columns, str):
        raise ParameterError("columns must be a list of names, not one string")
    check_piped(inputs, format, columns)

    def layout(name: str) -> Layout:
        return Layout(format=name, columns=tuple(columns), encoding=encoding)

    jobs = [plan_jobs([source], os.devnull, format, layout)[0] for source in inputs]
    return _texts(jobs, progress)


def _texts(jobs: Sequence[Job], progress: Listener | None) -> Iterator[str]:
    sizes = [job.size for job in jobs]
    total = None if None in sizes else sum(size or 0 for size in sizes)
    done = 0
    for job in jobs:
        for texts, consumed in _batches(job):
            yield from texts
            if progress:
                progress(done + consumed, total)
        done += job.size or 0


def _batches(job: Job) -> Iterator[tuple[list[str], int]]:
    """Yield the texts of each batch of a file, and how much of it is read."""
    with ExitStack() as ends:
        try:
            source = unpacked(ends.enter_context(job.open_source()), job.source)
            nowhere = ends.enter_context(open(os.devnull, "wb"))
            reading = ends.enter_context(FileCopy.open(source, nowhere, job.layout, job.size))
            for texts in reading.batches():
                yield texts, reading.consumed
                reading.write(texts)  # so that it lets go of them
        except (DataError, ParameterError) as error:
            if job.source != PIPE:
                error.args = (f"{job.source}: {error}",)
            raise


# Texts with their labels, from files: nothing is written.
#
# The readers of `malaprop.files.formats` pass over cells that are empty, as there is nothing in
# them to privatize. Here a text and its label must stay together, so records are read as a whole.


Pair = tuple[str, str]
"""A text and its label; an absent one is empty."""
Pairs = Generator[Pair, None, None]


def read_labelled(
    source: str,
    *,
    column: str,
    label: str,
    format: str | None = None,  # noqa: A002  as in `privatize_files`
    encoding: str = "utf-8",
    progress: Listener | None = None,
) -> Iterator[Pair]:
    """Return each text of a file with its label, one by one; an absent value is an empty string.

    The file is csv, tsv, jsonl or parquet: other formats have no column for labels. Columns that it
    lacks, and records that cannot be read, are errors, which show nothing of the records.
    What is wrong with the arguments is one at once, before any reading.
    """
    check_piped([source], format, [column])
    if column == label:
        raise ParameterError("the label cannot be the text itself: name another column as `label`")
    job = plan_jobs([source], os.devnull, format, _layout(column, label, encoding))[0]
    if job.layout.format not in _READERS:
        raise ParameterError(
            f"a {job.layout.format} file has no column for labels: use {', '.join(_READERS)}"
        )
    return _pairs(job, column, label, progress)


def _pairs(job: Job, column: str, label: str, progress: Listener | None) -> Iterator[Pair]:
    with ExitStack() as ends:
        try:
            file = ends.enter_context(job.open_source())
            stream = unpacked(file, job.source)
            pairs = _READERS[job.layout.format](stream, column, label, job.layout.encoding)
            ends.callback(pairs.close)  # before the file is closed
            for number, pair in enumerate(pairs):
                if progress and job.size is not None and number % 1000 == 0:
                    progress(file.tell(), job.size)
                yield pair
        except (DataError, ParameterError) as error:
            if job.source != PIPE:
                error.args = (f"{job.source}: {error}",)
            error.__context__ = None  # what a library raised holds what it failed on
            raise


def _layout(column: str, label: str, encoding: str) -> Callable[[str], Layout]:
    def layout(name: str) -> Layout:
        columns = (column, label) if registry[name].has_columns else ()
        return Layout(format=name, columns=columns, encoding=encoding)

    return layout


def _delimited(separator: str) -> Callable[[BinaryIO, str, str, str], Pairs]:
    def read(stream: BinaryIO, column: str, label: str, encoding: str) -> Pairs:
        with closing(_rows(stream, separator, encoding)) as rows:
            yield from _cells(rows, column, label)

    return read


def _cells(rows: Iterator[list[str]], column: str, label: str) -> Iterator[Pair]:
    header = next(rows, None)
    if header is None:
        raise ParameterError(
            f"no column is named {column!r}: the input is empty, and its first record must name "
            "the columns"
        )
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
                row = next_row(reader)
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
            f"no column is named {name!r} in the header, which has {list_columns(header, name)}"
        )
    return header.index(name)


def _json_lines(stream: BinaryIO, column: str, label: str, encoding: str) -> Pairs:
    seen: set[str] = set()
    with closing(_lines(stream, encoding)) as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                record = _object(line, number)
                seen |= record.keys() & {column, label}
                yield _text(record.get(column), number), _label(record.get(label), number)
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
                yield _text(text, number), _label(value, number)
    except (DataError, ParameterError):
        raise
    except (pa.ArrowException, OSError, ValueError, OverflowError):  # also text that is not UTF-8
        raise DataError(
            "the input cannot be read: it is no Parquet file, or damaged, or encrypted"
        ) from None


def _text(value: Any, number: int) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise DataError(f"record {number:,}: the text is no string")
    return value


def _label(value: Any, number: int) -> str:
    if isinstance(value, dict | list):
        raise DataError(f"record {number:,}: the label is neither a text nor a number")
    return "" if value is None else str(value)


@contextmanager
def _decoded(stream: BinaryIO, encoding: str) -> Iterator[io.TextIOWrapper]:
    """Read a stream as text, and leave it open."""
    codec = "utf-8-sig" if encoding.lower().replace("_", "-") in ("utf-8", "utf8") else encoding
    decoded = io.TextIOWrapper(stream, encoding=codec, newline="")
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
        f"record {max(1, number):,}, or a later one, cannot be read as {encoding}: name the right "
        "`encoding`"
    )


_READERS: dict[str, Callable[[BinaryIO, str, str, str], Pairs]] = {
    "csv": _delimited(CsvCopy.separator),
    "tsv": _delimited(TsvCopy.separator),
    "jsonl": _json_lines,
    "parquet": _parquet,
}

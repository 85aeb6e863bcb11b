"""Texts of a file beside their labels, for measurements: nothing is written."""

import csv
import io
import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from typing import Any, BinaryIO

from malaprop.core.errors import DataError, ParameterError
from malaprop.jobs.job import PIPE, Job
from malaprop.jobs.planning import check_piped, plan_jobs
from malaprop.pipeline.formats import Layout
from malaprop.pipeline.formats.packing import unpacked

_LONGEST = 1 << 27  # characters of a field, as for privatizing
_NULL = "/dev/null"


def read_labelled(
    source: str,
    *,
    column: str,
    label: str,
    format: str | None = None,  # noqa: A002  as in `privatize_files`
    encoding: str = "utf-8",
) -> Iterator[tuple[str, str]]:
    """Yield each text of a file with its label; an absent value is an empty string.

    The file is csv, tsv, jsonl or parquet: other formats have no column for labels. Columns that it
    lacks, and records that cannot be read, are errors, which show nothing of the records.
    """
    check_piped([source], format, [column])
    if column == label:
        raise ParameterError("the label cannot be the text itself: name another column as `label`")

    def layout(name: str) -> Layout:
        columns = (column, label) if name != "txt" else ()
        return Layout(format=name, columns=columns, encoding=encoding)

    job = plan_jobs([source], _NULL, format, layout)[0]
    if job.layout.format not in _READERS:
        raise ParameterError(
            f"a {job.layout.format} file has no column for labels: use csv, tsv, jsonl or parquet"
        )
    try:
        yield from _rows(job, column, label)
    except (DataError, ParameterError) as error:
        if source != PIPE:
            error.args = (f"{source}: {error}",)
        raise


def _rows(job: Job, column: str, label: str) -> Iterator[tuple[str, str]]:
    with ExitStack() as ends:
        source = unpacked(ends.enter_context(job.open_source()), job.source)
        seen: set[str] = set()
        for number, row in enumerate(_READERS[job.layout.format](source, job.layout), 1):
            seen |= row.keys() & {column, label}
            yield _text(row.get(column), number), _label(row.get(label), number)
    for name in (column, label):
        if name not in seen:
            raise ParameterError(f"no record has the column {name!r}")


def _text(value: Any, number: int) -> str:
    if value is not None and not isinstance(value, str):
        raise DataError(f"record {number}: the text is no string")
    return value or ""


def _label(value: Any, number: int) -> str:
    if isinstance(value, dict | list):
        raise DataError(f"record {number}: the label is neither a text nor a number")
    return "" if value is None else str(value)


def _delimited(source: BinaryIO, layout: Layout) -> Iterator[Mapping[str, Any]]:
    text = io.TextIOWrapper(source, encoding=_codec(layout.encoding), newline="")
    usual = csv.field_size_limit(_LONGEST)
    number = 0
    try:
        reader = csv.DictReader(text, delimiter=layout.separator, strict=True)
        missing = [name for name in layout.columns if name not in (reader.fieldnames or ())]
        if missing:
            raise ParameterError(f"no column is named {missing[0]!r} in the header")
        for number, row in enumerate(reader, 1):
            if None in row or None in row.values():
                raise DataError(f"record {number} has more or fewer fields than the header")
            yield row
    except (csv.Error, UnicodeError):
        raise DataError(f"record {number + 1} cannot be read as {layout.format}") from None
    finally:
        csv.field_size_limit(usual)
        text.detach()  # the source is closed by whoever opened it


def _json_lines(source: BinaryIO, layout: Layout) -> Iterator[Mapping[str, Any]]:
    text = io.TextIOWrapper(source, encoding=_codec(layout.encoding))
    number = 0
    try:
        for number, line in enumerate(text, 1):
            if line.strip():
                row = json.loads(line)
                if not isinstance(row, dict):
                    raise DataError(f"line {number} is not a JSON object")
                yield row
    except (ValueError, RecursionError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"line {max(1, number)} is not a JSON object") from None
    finally:
        text.detach()


def _parquet(source: BinaryIO, layout: Layout) -> Iterator[Mapping[str, Any]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(source)
        missing = [name for name in layout.columns if name not in file.schema_arrow.names]
        if missing:
            raise ParameterError(f"no column is named {missing[0]!r}")
        for batch in file.iter_batches(columns=list(layout.columns)):
            yield from batch.to_pylist()
    except pa.ArrowException:
        raise DataError("the input cannot be read: it is no Parquet file, or damaged") from None


def _codec(encoding: str) -> str:
    """Return the codec that also skips a byte order mark."""
    return "utf-8-sig" if encoding.lower().replace("_", "-") in ("utf-8", "utf8") else encoding


_READERS = {"csv": _delimited, "tsv": _delimited, "jsonl": _json_lines, "parquet": _parquet}

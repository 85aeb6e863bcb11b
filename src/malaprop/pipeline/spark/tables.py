"""Tables in files, read and written by Spark so that what is not asked for keeps its values."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql.types import StringType, StructType

from malaprop.core.errors import DataError, OutputError, ParameterError
from malaprop.pipeline.files.layout import Layout
from malaprop.pipeline.spark.columns import CORRUPT

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_CSV: Final[dict[str, Any]] = {
    "header": True,
    "quote": '"',
    "escape": '"',
    "ignoreLeadingWhiteSpace": False,
    "ignoreTrailingWhiteSpace": False,
}
# A task that is tried again replaces what an earlier attempt has committed.
_COMMIT: Final = {"mapreduce.fileoutputcommitter.algorithm.version": "1"}


def read(spark: "SparkSession", path: str, layout: Layout) -> "DataFrame":
    """The table in a folder or a file: lines of JSON as they are, CSV without guessing types."""
    if layout.format == "jsonl":
        return spark.read.option("lineSep", "\n").text(path)
    if layout.format == "parquet":
        return spark.read.parquet(path)
    options = _CSV | {"sep": layout.separator, "multiLine": True, "enforceSchema": False}
    header = spark.read.options(**options).csv(path).schema
    # Spark's own message on a row that does not fit would quote it; this column keeps it apart.
    schema = StructType([*header, *StructType().add(CORRUPT, StringType())])
    options |= {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": CORRUPT}
    return spark.read.options(**options).schema(schema).csv(path)


def write(frame: "DataFrame", path: str, layout: Layout) -> None:
    """Write a table into a new folder."""
    writer = frame.write.options(**_COMMIT).mode("error")
    if layout.format == "jsonl":
        writer.option("lineSep", "\n").text(path)
    elif layout.format == "parquet":
        writer.parquet(path)
    else:
        writer.options(**_CSV, sep=layout.separator).csv(path)


def check_columns(schema: StructType, layout: Layout) -> None:
    """Refuse columns that are not there, or hold no text."""
    kinds = {field.name: field.dataType for field in schema}
    for name in layout.columns:
        if name not in kinds:
            raise ParameterError(f"no column is named {name!r} among the table's {len(kinds)}")
        if not isinstance(kinds[name], StringType):
            kind = kinds[name].typeName()
            raise DataError(f"column {name!r} has the type {kind}: only text can be privatized")


@contextmanager
def staged(spark: "SparkSession", target: str, *, force: bool) -> Iterator[str]:
    """A folder to write to, which gets its name only if all goes well."""
    jvm: Any = spark._jvm
    final = jvm.org.apache.hadoop.fs.Path(target)
    files = final.getFileSystem(spark._jsc.hadoopConfiguration())
    final = files.makeQualified(final)
    part = jvm.org.apache.hadoop.fs.Path(
        final.getParent(), f".malaprop-{secrets.token_hex(8)}.partial"
    )
    if files.exists(final) and not force:
        raise OutputError(f"{target} exists already: choose another name, or force it")
    try:
        yield part.toString()
        if files.exists(final):
            files.delete(final, True)
        if not files.rename(part, final):
            raise OutputError(f"{target} cannot be written: the finished folder cannot be renamed")
    finally:
        files.delete(part, True)

"""Tables in files, read and written by Spark so that what is not asked for keeps its values."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql import functions
from pyspark.sql.types import StringType, StructType

from malaprop.core.errors import DataError, OutputError, ParameterError
from malaprop.pipeline.files.layout import Layout
from malaprop.pipeline.spark.lines import FILE, LINE, WHOLE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# A task that is tried again replaces what an earlier attempt has committed.
_COMMIT: Final = {"mapreduce.fileoutputcommitter.algorithm.version": "1"}
# No file is cut, and none shares a partition: a file "costs" as much as a partition may hold.
_UNCUT: Final = {
    "spark.sql.files.maxPartitionBytes": str(2**50),
    "spark.sql.files.openCostInBytes": str(2**50),
}


@contextmanager
def reading(spark: "SparkSession", path: str, layout: Layout) -> "Iterator[DataFrame]":
    """The table in a folder or a file; of text files, the lines as they are.

    Spark decides where files are cut when the work begins: so it must be done in the context.
    """
    if layout.format == "parquet":
        yield spark.read.parquet(path)
        return
    lines = spark.read.option("lineSep", "\n").text(path)
    if layout.format == "jsonl":
        yield lines
        return
    about = functions.col("_metadata")
    whole = (about.file_block_start == 0) & (about.file_block_length == about.file_size)
    file = functions.xxhash64(about.file_path)
    before = {name: str(spark.conf.get(name)) for name in _UNCUT}
    try:
        _set(spark, _UNCUT)
        yield lines.select(LINE, file.alias(FILE), whole.alias(WHOLE))
    finally:
        _set(spark, before)


def _set(spark: "SparkSession", settings: dict[str, str]) -> None:
    for name, value in settings.items():
        spark.conf.set(name, value)


def write(frame: "DataFrame", path: str, layout: Layout) -> None:
    """Write a table into a new folder."""
    writer = frame.write.options(**_COMMIT).mode("error")
    if layout.format == "parquet":
        writer.parquet(path)
    else:
        writer.option("lineSep", "\n").text(path)


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
        raise OutputError(f"{target} exists already: choose another name, or use --force")
    try:
        yield part.toString()
        if files.exists(final):
            files.delete(final, True)
        if not files.rename(part, final):
            raise OutputError(f"{target} cannot be written: the finished folder cannot be renamed")
    finally:
        files.delete(part, True)

"""Tables in files, read and written by Spark so that other columns keep their values."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql import functions
from pyspark.sql.types import StringType, StructField, StructType

from malaprop.core.errors import DataError, ParameterError
from malaprop.jobs.spark.folders import literal
from malaprop.jobs.spark.lines import FILE, LINE, WHOLE
from malaprop.pipeline.formats.layout import Layout
from malaprop.pipeline.formats.naming import INSIDE, is_inside, there_are

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# A task that is tried again replaces what an earlier attempt has committed; and a folder that is
# whole says so.
_COMMIT: Final = {
    "mapreduce.fileoutputcommitter.algorithm.version": "1",
    "mapreduce.fileoutputcommitter.marksuccessfuljobs": "true",
}
# No file is cut, and none shares a partition: a file "costs" as much as a partition may hold.
_UNCUT: Final = {
    "spark.sql.files.maxPartitionBytes": str(2**50),
    "spark.sql.files.openCostInBytes": str(2**50),
    "spark.sql.files.maxPartitionNum": str(2**31 - 1),
}
# Many files in a partition, as nothing is read of them.
_MANY: Final = {
    "spark.sql.files.maxPartitionBytes": str(2**62),
    "spark.sql.files.openCostInBytes": str(2**50),
    "spark.sql.files.maxPartitionNum": str(2**31 - 1),
}
# A folder `id=007` says 007, not 7; and only this reader knows of a value for what a file lacks.
_COLUMNS: Final = {
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    "spark.sql.parquet.enableVectorizedReader": "true",
}
ABSENT: Final = f"malaprop-{secrets.token_hex(16)}"
"""Placeholder in a column of text for files that lack the column. No text equals it."""


@contextmanager
def reading(spark: "SparkSession", places: list[str], layout: Layout) -> "Iterator[DataFrame]":
    """Yield the table in folders or files; of text files, the raw lines.

    Spark decides where files are cut when the work begins: so it must be done in the context.
    """
    table = layout.format == "parquet"
    paths = [literal(place) for place in places]
    with _set(spark, _COLUMNS if table else _UNCUT):
        yield _columns(spark, paths, layout) if table else _lines(spark, paths, layout)


@contextmanager
def _set(spark: "SparkSession", settings: dict[str, str]) -> Iterator[None]:
    """Change some settings of the session, and restore them afterwards."""
    before = {name: spark.conf.get(name, None) for name in settings}
    try:
        for name, value in settings.items():
            spark.conf.set(name, value)
        yield
    finally:
        for name, old in before.items():
            if old is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, old)


def _columns(spark: "SparkSession", paths: list[str], layout: Layout) -> "DataFrame":
    """Return the rows of Parquet files, with all columns that any of them has."""
    table = spark.read.option("mergeSchema", True).parquet(*paths)
    _check_all_read(spark, paths, table)
    marked = StructType([_marked(field, layout) for field in table.schema])
    return spark.read.schema(marked).parquet(*paths)


def _marked(field: StructField, layout: Layout) -> StructField:
    """Give a field that is asked for a default that marks files without the column."""
    if field.name not in layout.columns or not isinstance(field.dataType, StringType):
        return field
    value = {"EXISTS_DEFAULT": f"'{ABSENT}'", "CURRENT_DEFAULT": f"'{ABSENT}'"}
    return StructField(field.name, field.dataType, field.nullable, value)


def _lines(spark: "SparkSession", paths: list[str], layout: Layout) -> "DataFrame":
    lines = spark.read.option("lineSep", "\n").text(paths)
    if lines.columns != [LINE]:
        raise ParameterError(
            f"The input has folders that stand for values of a column (name=value), which is lost "
            f"in {layout.format}: privatize these folders one by one, or use Parquet."
        )
    _check_all_read(spark, paths, lines)
    if layout.format == "jsonl":
        return lines
    about = functions.col("_metadata")
    whole = (about.file_block_start == 0) & (about.file_block_length == about.file_size)
    file = functions.xxhash64(about.file_path)
    return lines.select(LINE, file.alias(FILE), whole.alias(WHOLE))


def _check_all_read(spark: "SparkSession", paths: list[str], table: "DataFrame") -> None:
    """Refuse files in subfolders of the input: Spark would silently leave them out."""
    every = _files(spark.read.option("recursiveFileLookup", True).text(paths))
    left = every - _files(table)
    if left:
        raise ParameterError(
            f"{left:,} of the input's {every:,} files lie in folders that Spark does not read: "
            "put all files into one folder, or privatize the folders one by one."
        )


def sight(spark: "SparkSession", places: list[str]) -> object:
    """Return a value that changes with the names, sizes or times of files in some places."""
    kind = spark.read.format("binaryFile").option("recursiveFileLookup", True)
    files = kind.load([literal(place) for place in places])
    about = functions.xxhash64("path", "modificationTime", "length")
    with _set(spark, _MANY):
        return files.select(functions.bit_xor(about), functions.count("*")).first()


def _files(frame: "DataFrame") -> int:
    inner: Any = frame._jdf
    return len(inner.inputFiles())


def write(frame: "DataFrame", path: str, layout: Layout) -> None:
    """Write a table into a new folder."""
    writer = frame.write.options(**_COMMIT).mode("error")
    if layout.format == "parquet":
        writer.parquet(path)
    else:
        writer.option("lineSep", "\n").text(path)


def check_columns(schema: StructType, layout: Layout) -> None:
    """Refuse columns that do not exist or hold no text."""
    kinds = {field.name: field.dataType for field in schema}
    for name in layout.columns:
        if name not in kinds:
            inside = INSIDE if is_inside(name, kinds) else ""
            raise ParameterError(
                f"no column is named {name!r} in the table, which has "
                f"{there_are(kinds, name)}{inside}"
            )
        if not isinstance(kinds[name], StringType):
            kind = kinds[name].typeName()
            raise DataError(f"column {name!r} has the type {kind}: only text can be privatized")

"""The job on Spark, seen from the driver.

A text is drawn once for all that anybody can see: a job writes its output at once, Spark commits
one attempt of each task, and the folder gets its name when the job is done. A lazy
frame would draw again at every look, and each draw costs ε again.
"""

import json
import os
import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from py4j.protocol import Py4JJavaError
from pyspark.accumulators import AddingAccumulatorParam
from pyspark.sql import functions
from pyspark.sql.types import StringType, StructField, StructType

from malaprop.files.debits import Debits
from malaprop.files.formats.file_format import Layout, no_such_column
from malaprop.files.formats.jsonl import no_such_key
from malaprop.ledger import accounts_of
from malaprop.privacy import errors
from malaprop.privacy.errors import (
    DataError,
    MalapropError,
    MissingExtraError,
    OutputError,
    ParameterError,
)
from malaprop.privatizer import Privatizer
from malaprop.spark import tasks
from malaprop.spark.shipping import ship

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

_SPECIAL: Final = re.compile(r"([\\{}\[\]*?])")
_FINISHED: Final = "_SUCCESS"
"""What Spark puts into a folder when it is whole."""
_UNFOUND: Final = (
    "Spark does not find the input: give it a full path or URL that all machines reach"
)
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
_MANY: Final = _UNCUT | {"spark.sql.files.maxPartitionBytes": str(2**62)}
# A folder `id=007` says 007, not 7; and only this reader knows of a value for what a file lacks.
_COLUMNS: Final = {
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    "spark.sql.parquet.enableVectorizedReader": "true",
}
_ABSENT: Final = f"malaprop-{secrets.token_hex(16)}"
"""Placeholder in a column of text for files that lack the column. No text equals it."""


def draw_files(
    spark: "SparkSession",
    source: str,
    layout: Layout,
    privatizer: Privatizer,
    target: str,
    *,
    force: bool,
    debits: Debits | None = None,
) -> tasks.Tally:
    """Copy a folder of files, or those that a pattern matches, with private texts."""
    files, place = _at(spark, source)
    places = [place]
    if not files.exists(place):
        places = [status.getPath() for status in files.globStatus(place) or []]
    if not places:
        raise ParameterError(_UNFOUND)
    made = _real(spark, target)
    for place in places:
        read = _real(spark, place.toString())
        if made.startswith(read) or read.startswith(made):
            raise ParameterError(
                f"{target} is the input, or one of them lies in the other: choose another output"
            )
    paths = [literal(str(place.toString())) for place in places]
    before = _sight(spark, paths)

    def check() -> None:
        if _sight(spark, paths) != before:
            raise DataError(
                "the input changed while it was read: run the job again when nothing writes to it"
            )

    # Spark decides where files are cut when the work begins: so it must be done in the context.
    table = layout.kind.spark == "table"
    with _set(spark, _COLUMNS if table else _UNCUT):
        frame = _columns(spark, paths, layout) if table else _lines(spark, paths, layout)
        return draw(frame, layout, privatizer, target, force=force, check=check, debits=debits)


def draw(
    frame: "DataFrame",
    layout: Layout,
    privatizer: Privatizer,
    target: str,
    *,
    force: bool = False,
    check: Callable[[], None] = lambda: None,
    debits: Debits | None = None,
) -> tasks.Tally:
    """Write a table with private texts into a folder; return what was counted.

    `check` is called when all is written, before the folder gets its name. With `debits`, each
    record is debited before it is drawn, by the task that draws it.
    """
    if debits is not None:
        accounts_of(privatizer)  # refuses what no ledger takes
        debits.check(layout)
        debits.ledger.check()
    spark = frame.sparkSession
    table = layout.kind.spark == "table"
    schema = _plain(frame.schema) if table else StructType().add(tasks.LINE, StringType())
    if table:
        _check_columns(schema, layout)
        # Spark takes a name with a dot for a field of a struct, so it works with other names.
        frame = frame.toDF(*(f"c{place}" for place in range(len(schema))))
    recipe = tasks.ExecutorRecipe(
        shipment=ship(privatizer.lexicon, spark.sparkContext),
        mechanism=privatizer.mechanism,
        policy=privatizer.policy,
        promise=privatizer.guarantee,
    )
    names = tuple(schema.names)
    # With the driver's value of what is absent, not an executor's.
    new_task = partial(
        tasks.Task,
        recipe=recipe,
        layout=layout,
        names=names,
        absent=_ABSENT,
        debits=debits,
        job=secrets.token_hex(16),
    )
    total = spark.sparkContext.accumulator(tasks.Tally(), AddingAccumulatorParam(tasks.Tally()))

    def run(batches: Iterator["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
        task = new_task()
        yield from task.run(batches)
        total.add(task.tally)

    with _staged(spark, target, force=force) as folder:
        writer = frame.mapInArrow(run, schema).write.options(**_COMMIT).mode("error")
        if table:
            writer.parquet(folder)
        else:
            writer.option("lineSep", "\n").text(folder)
        counted = total.value
        if not table and counted.seen["rows"]:
            for name in layout.columns:
                if name not in counted.present:
                    raise no_such_key(name, [*counted.present, *counted.others])
        check()
    if table:
        counted.others = {name: None for name in schema.names if name not in layout.columns}
    return counted


def literal(path: str) -> str:
    """Escape a path so that Spark takes nothing in it for a pattern, as `[1]` would be."""
    return _SPECIAL.sub(r"\\\1", path)


@contextmanager
def _staged(spark: "SparkSession", target: str, *, force: bool) -> Iterator[str]:
    """Yield a folder to write to; it gets its name only if all goes well.

    Only its owner may enter it, before and after, where the file system has permissions: Spark's
    own files take no notice of those of the input.
    """
    files, final = _at(spark, target)
    part = _path(spark, final.getParent(), f".malaprop-{secrets.token_hex(8)}.partial")
    _check_free(spark, target, force=force)
    whole = _path(spark, part, "whole")
    made = False
    try:
        with suppress(Py4JJavaError):  # an early test of whether the output can be written
            made = files.mkdirs(part)
            _close(spark, files, part)
        if not made:
            raise OutputError(
                f"{target} cannot be written: no folder can be made beside it; check the path and "
                "the permissions"
            )
        yield whole.toString()
        _close(spark, files, whole)
        _check_free(spark, target, force=force)  # somebody else may have made it meanwhile
        if files.exists(final):
            files.delete(final, True)
        if not files.rename(whole, final):
            raise OutputError(f"{target} cannot be written: the finished folder cannot be renamed")
    finally:
        files.delete(part, True)


def _close(spark: "SparkSession", files: Any, folder: Any) -> None:
    """Close a folder to everybody but its owner, if the file system can."""
    jvm: Any = spark._jvm
    with suppress(Py4JJavaError):
        files.setPermission(folder, jvm.org.apache.hadoop.fs.permission.FsPermission("700"))


def _check_free(spark: "SparkSession", target: str, *, force: bool) -> None:
    """Refuse a name that is taken; `force` replaces only what Spark made."""
    files, final = _at(spark, target)
    if not files.exists(final):
        return
    if not force:
        raise OutputError(f"{target} exists already: choose another name, or use `force=True`")
    if not files.getFileStatus(final).isDirectory():
        raise OutputError(f"{target} is a file, and the output a folder: choose another name")
    if len(files.listStatus(final)) and not files.exists(_path(spark, final, _FINISHED)):
        raise OutputError(
            f"{target} is not what an earlier job has made, as there is no {_FINISHED} in it, so "
            "that `force=True` does not replace it: choose another name, or delete it yourself"
        )


def _at(spark: "SparkSession", path: str) -> tuple[Any, Any]:
    """Return the file system of a path, and the full path."""
    place = _path(spark, path)
    files = place.getFileSystem(spark._jsc.hadoopConfiguration())
    return files, files.makeQualified(place)


def _path(spark: "SparkSession", *parts: Any) -> Any:
    jvm: Any = spark._jvm
    return jvm.org.apache.hadoop.fs.Path(*parts)


def _real(spark: "SparkSession", path: str) -> str:
    """Return a full path that ends in a slash; on this machine, without symbolic links."""
    place = _at(spark, path)[1]
    uri = place.toUri()
    name = str(place.toString())
    if uri.getScheme() == "file":
        name = f"file:{os.path.realpath(uri.getPath())}"
    return name.rstrip("/") + "/"


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
    # A default marks the files that lack a column that is asked for.
    default = {"EXISTS_DEFAULT": f"'{_ABSENT}'", "CURRENT_DEFAULT": f"'{_ABSENT}'"}
    marked = StructType()
    for field in table.schema:
        asked = field.name in layout.columns and isinstance(field.dataType, StringType)
        marked.add(
            StructField(field.name, field.dataType, field.nullable, default) if asked else field
        )
    return spark.read.schema(marked).parquet(*paths)


def _lines(spark: "SparkSession", paths: list[str], layout: Layout) -> "DataFrame":
    lines = spark.read.option("lineSep", "\n").text(paths)
    if lines.columns != [tasks.LINE]:
        raise ParameterError(
            f"The input has folders that stand for values of a column (name=value), which is lost "
            f"in {layout.format}: privatize these folders one by one, or use Parquet."
        )
    _check_all_read(spark, paths, lines)
    if layout.kind.spark == "lines":
        return lines
    about = functions.col("_metadata")
    whole = (about.file_block_start == 0) & (about.file_block_length == about.file_size)
    file = functions.xxhash64(about.file_path)
    return lines.select(tasks.LINE, file.alias(tasks.FILE), whole.alias(tasks.WHOLE))


def _check_all_read(spark: "SparkSession", paths: list[str], table: "DataFrame") -> None:
    """Refuse files in subfolders of the input: Spark would silently leave them out."""
    found: Any = spark.read.option("recursiveFileLookup", True).text(paths)._jdf
    read: Any = table._jdf
    every = len(found.inputFiles())
    if left := every - len(read.inputFiles()):
        raise ParameterError(
            f"{left:,} of the input's {every:,} files lie in folders that Spark does not read: "
            "put all files into one folder, or privatize the folders one by one."
        )


def _sight(spark: "SparkSession", paths: list[str]) -> object:
    """Return a value that changes with the names, sizes or times of files in some places."""
    files = spark.read.format("binaryFile").option("recursiveFileLookup", True).load(paths)
    about = functions.xxhash64("path", "modificationTime", "length")
    with _set(spark, _MANY):
        return files.select(functions.bit_xor(about), functions.count("*")).first()


def _check_columns(schema: StructType, layout: Layout) -> None:
    """Refuse columns that do not exist or hold no text."""
    kinds = {field.name: field.dataType for field in schema}
    for name in layout.columns:
        if name not in kinds:
            raise no_such_column(name, "table", kinds)
        if not isinstance(kinds[name], StringType):
            kind = kinds[name].typeName()
            raise DataError(f"column {name!r} has the type {kind}: only text can be privatized")
    if layout.label is not None and layout.label not in kinds:
        raise no_such_column(layout.label, "table", kinds)


def _plain(schema: StructType) -> StructType:
    """Remove the metadata of a schema at any depth: it may hold anything."""

    def bare(value: dict[str, Any]) -> dict[str, Any]:
        if isinstance(noted := value.get("metadata"), dict):
            # In JSON, these belong to the type of a column.
            value["metadata"] = {name: noted[name] for name in noted if name == "__COLLATIONS"}
        return value

    return StructType.fromJson(json.loads(schema.json(), object_hook=bare))


# Errors on Spark, without a word of the data.

Result = TypeVar("Result")

JAVA: Final = (
    "Spark needs Java 17: install it (Debian: openjdk-17-jre-headless), and let JAVA_HOME, if "
    "it is set, name the folder that it is in"
)
_RAISED: Final = re.compile(r"malaprop\.privacy\.errors\.(\w+Error): ([^\n]+)")
_LACKING: Final = re.compile(r"ModuleNotFoundError: No module named '(malaprop|pandas|pyarrow)\b")
_UNREAD: Final = (
    "a Parquet file of the input is corrupt, or its columns have other types than those of the "
    "other files: privatize it by itself"
)
# What to say of an error that has one of Spark's or Java's names; the first match counts.
_KNOWN: Final[list[tuple[type[MalapropError], str, set[str]]]] = [
    (MalapropError, JAVA, {"JAVA_GATEWAY_EXITED"}),
    (ParameterError, _UNFOUND, {"PATH_NOT_FOUND"}),
    (
        ParameterError,
        "there is no Parquet file in the input: check it",
        {"UNABLE_TO_INFER_SCHEMA"},
    ),
    (
        DataError,
        _UNREAD,
        {
            *("CANNOT_MERGE_SCHEMAS", "CANNOT_MERGE_INCOMPATIBLE_DATA_TYPE", "FAILED_READ_FILE"),
            *("CANNOT_READ_FILE_FOOTER", "SchemaColumnConvertNotSupportedException"),
            "ParquetDecodingException",
        },
    ),
    (
        MalapropError,
        "Spark cannot reach the cluster or the file system: check its address",
        {"UnknownHostException", "ConnectException", "NoRouteToHostException"},
    ),
    (
        OutputError,
        "Spark cannot write the output: check the path, its permissions and the disk",
        {"AccessControlException", "AccessDeniedException"},
    ),
]


def redacted_error(work: Callable[[], Result]) -> Result:
    """Do some work; replace Spark's error messages, which may quote the data, by our own."""
    try:
        return work()
    except MalapropError as error:
        told = error
    except Exception as error:
        told = _translated(error)
    # Raised outside the handler and without its context, which holds the data, too.
    told.__context__ = None
    raise told


def _translated(error: Exception) -> MalapropError:
    """Return the error that a task raised, or one with Spark's name for what went wrong."""
    if raised := _RAISED.search(str(error)):
        kind = getattr(errors, raised[1], MalapropError)
        if issubclass(kind, MalapropError) and kind is not MissingExtraError:
            return kind(raised[2])
    if lacking := _LACKING.search(str(error)):
        return MalapropError(
            f"the Python of an executor lacks {lacking[1]}: run  pip install '.[spark]'  in a "
            "clone of Malaprop on all machines, and let PYSPARK_PYTHON name that Python"
        )
    names = list(dict.fromkeys(_names(error))) or [type(error).__name__]
    parts = {part for name in names for part in name.split(".")}
    for kind, message, known in _KNOWN:
        if known & parts:
            return kind(f"{message} ({', '.join(names)})")
    return MalapropError(
        f"Spark has failed ({', '.join(names)}); what it says itself may quote the data, and is "
        "in the logs of its driver and executors where these are on"
    )


def _names(error: Exception) -> Iterator[str]:
    """Yield Spark's and Java's names for an error and its causes: conditions and classes."""
    if condition := getattr(error, "getCondition", lambda: None)():
        yield str(condition)
    # py4j's own name for what Java has thrown, or pyspark's.
    thrown: Any = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    while thrown is not None:
        yield str(thrown.getClass().getName())
        try:
            condition = thrown.getCondition()
        except Exception:  # it is none of Spark's own
            condition = None
        if condition:
            yield str(condition)
        thrown = thrown.getCause()

"""The job on Spark, seen from the driver.

A text is drawn once for all that anybody can see: a job writes its output at once, Spark commits
one attempt of each task, and the folder gets its name when the job is done. A lazy
frame would draw again at every look, and each draw costs ε again.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from pyspark.sql.types import ArrayType, DataType, MapType, StringType, StructType

from malaprop.core.errors import ParameterError
from malaprop.jobs.spark.columns import ColumnsTask
from malaprop.jobs.spark.counting import Tally, tally_of
from malaprop.jobs.spark.folders import staged
from malaprop.jobs.spark.lines import LINE, DelimitedTask, JsonTask
from malaprop.jobs.spark.shipping import ship
from malaprop.jobs.spark.tables import ABSENT, check_columns, write
from malaprop.jobs.spark.tasks import Kit, Task, TaskPlan
from malaprop.pipeline.formats.jsonl import no_such_key
from malaprop.pipeline.formats.layout import Layout
from malaprop.pipeline.privatizer import Privatizer

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

TASKS: dict[str, type[Task]] = {
    "parquet": ColumnsTask,
    "csv": DelimitedTask,
    "tsv": DelimitedTask,
    "jsonl": JsonTask,
}
"""What copies the records of each format."""


def draw(
    frame: "DataFrame",
    layout: Layout,
    privatizer: Privatizer,
    target: str,
    *,
    force: bool = False,
    check: Callable[[], None] = lambda: None,
) -> Tally:
    """Write a table with private texts into a folder; return what was counted.

    `check` is called when all is written, before the folder gets its name.
    """
    spark = frame.sparkSession
    table = layout.format == "parquet"
    schema = _plain(frame.schema) if table else StructType().add(LINE, StringType())
    if table:
        check_columns(schema, layout)
        # Spark takes a name with a dot for a field of a struct, so it works with other names.
        frame = frame.toDF(*(f"c{place}" for place in range(len(schema))))
    kit = Kit(
        shipment=ship(privatizer.lexicon, spark.sparkContext),
        mechanism=privatizer.mechanism,
        policy=privatizer.policy,
        promise=privatizer.guarantee,
    )
    plan = TaskPlan(kit=kit, layout=layout, names=tuple(schema.names), absent=ABSENT)
    total = tally_of(spark.sparkContext)
    kind = TASKS[layout.format]

    def run(batches: Iterator["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
        task = kind(plan)
        yield from task.run(batches)
        total.add(task.tally)

    with staged(spark, target, force=force) as folder:
        write(frame.mapInArrow(run, schema), folder, layout)
        counted = total.value
        if not table and counted.seen["rows"]:
            _check_keys(counted, layout)
        check()
    if table:
        counted.others = {name: None for name in schema.names if name not in layout.columns}
    return counted


def _plain(schema: StructType) -> StructType:
    """Remove the metadata of a schema at any depth: it may hold anything."""
    plain = StructType()
    for field in schema:
        plain.add(field.name, _plain_type(field.dataType), field.nullable)
    return plain


def _plain_type(kind: DataType) -> DataType:
    if isinstance(kind, StructType):
        return _plain(kind)
    if isinstance(kind, ArrayType):
        return ArrayType(_plain_type(kind.elementType), kind.containsNull)
    if isinstance(kind, MapType):
        keys, values = _plain_type(kind.keyType), _plain_type(kind.valueType)
        return MapType(keys, values, kind.valueContainsNull)
    return kind


def _check_keys(counted: Tally, layout: Layout) -> None:
    for name in layout.columns:
        if name not in counted.present:
            raise ParameterError(no_such_key(name, [*counted.present, *counted.others]))

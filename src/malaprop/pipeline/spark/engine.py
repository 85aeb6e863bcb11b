"""The job on Spark, seen from the driver.

A text is drawn once for all that anybody can see: a job writes its output at once, Spark commits
one attempt of each task, and the folder gets its name when the job is done. A frame that drew
when somebody looks at it would draw anew each time, and each draw costs ε again.
"""

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from pyspark.sql.types import StringType, StructType

from malaprop.core import errors
from malaprop.core.errors import MalapropError, ParameterError
from malaprop.pipeline.files.layout import Layout
from malaprop.pipeline.privatizer import Privatizer
from malaprop.pipeline.spark.columns import ColumnsTask
from malaprop.pipeline.spark.counting import Tally, tally_of
from malaprop.pipeline.spark.lines import LINE, DelimitedTask, JsonTask
from malaprop.pipeline.spark.shipping import ship
from malaprop.pipeline.spark.tables import check_columns, staged, write
from malaprop.pipeline.spark.tasks import Plan, Task, promise_of

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

Result = TypeVar("Result")

_TASKS: dict[str, type[Task]] = {"parquet": ColumnsTask, "jsonl": JsonTask}
_RAISED = re.compile(r"malaprop\.core\.errors\.(\w+Error): ([^\n]+)")


def draw(
    frame: "DataFrame", layout: Layout, privatizer: Privatizer, target: str, *, force: bool = False
) -> Tally:
    """Write a table with private texts into a folder; return what was counted."""
    spark = frame.sparkSession
    table = layout.format == "parquet"
    schema = frame.schema if table else StructType().add(LINE, StringType())
    if table:
        check_columns(schema, layout)
    plan = Plan(
        shipment=ship(privatizer.lexicon, spark.sparkContext),
        mechanism=privatizer.mechanism,
        policy=privatizer.policy,
        layout=layout,
        promise=promise_of(privatizer),
    )
    total = tally_of(spark.sparkContext)
    kind = _TASKS.get(layout.format, DelimitedTask)

    def run(batches: Iterator["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
        task = kind(plan)
        yield from task.run(batches)
        total.add(task.tally)

    with staged(spark, target, force=force) as folder:
        write(frame.mapInArrow(run, schema), folder, layout)
        counted = total.value
        if not table and counted.seen["rows"]:
            _check_keys(counted, layout)
    if table:
        counted.others = {name: None for name in schema.names if name not in layout.columns}
    return counted


def _check_keys(counted: Tally, layout: Layout) -> None:
    for name in layout.columns:
        if name not in counted.found:
            raise ParameterError(f"no record has the key {name!r}: check --column")


def without_text(work: Callable[[], Result]) -> Result:
    """Do some work, with messages of our own in the place of Spark's, which may quote the data."""
    try:
        return work()
    except MalapropError as error:
        told = error
    except Exception as error:
        told = _translated(error)
    # Raised out here, and without what it came from: that holds the data, too.
    told.__context__ = None
    raise told


def _translated(error: Exception) -> MalapropError:
    """What a task has raised, or the name that Spark gives to what went wrong."""
    if raised := _RAISED.search(str(error)):
        kind = getattr(errors, raised[1], MalapropError)
        if issubclass(kind, MalapropError) and kind is not errors.MissingExtraError:
            return kind(raised[2])
    return _named(error)


def _named(error: Exception) -> MalapropError:
    condition: Any = getattr(error, "getCondition", lambda: None)()
    name = condition or type(error).__name__
    if name == "PATH_NOT_FOUND":
        return ParameterError(
            "Spark does not find the input: give it a full path or URL that all machines reach"
        )
    return MalapropError(f"Spark has failed ({name}): the logs of its driver and executors say why")

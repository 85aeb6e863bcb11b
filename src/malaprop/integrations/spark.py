"""Private text on a Spark cluster: needs the extra `spark`, and Java 17.

    from malaprop.integrations.spark import privatize

    private = privatize(
        notes, ["text"], lexicon="english", mechanism=malaprop.TEM(epsilon=1.5), path="hdfs:///private"
    )
    private.dataframe.show()
    private.report.counts

See docs/howto/scaling.md.
"""

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Unpack

from malaprop.files.debits import debits_of
from malaprop.files.formats import Layout, OnError
from malaprop.ledger import Ledger
from malaprop.lexicon.lexicon import Lexicon
from malaprop.privacy.errors import MissingExtraError, ParameterError
from malaprop.privacy.mechanism import Mechanism
from malaprop.privatizer import Privatizer
from malaprop.report.file_counts import FileCounts
from malaprop.report.run_report import Clock, FileRecord, Occasion, RunReport, run_report
from malaprop.text.policy import TextOptions, policy_with

try:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.classic.dataframe import DataFrame as ClassicDataFrame

    from malaprop.spark.engine import draw, draw_files, literal, redacted_error
    from malaprop.spark.tasks import Tally

    import_module("pandas")  # Spark's Arrow path asks for it, when the work has begun
except ImportError as error:
    lacking = (error.name or "pyspark").partition(".")[0]
    raise MissingExtraError(lacking, "spark", "Privatizing on Spark") from None


@dataclass(frozen=True)
class Privatized:
    """What was drawn, and where it is; the report is for the owner of the text."""

    dataframe: DataFrame
    """The private table, read from its folder: it is never drawn again."""
    path: str
    """The folder."""
    report: RunReport = field(repr=False)
    """Guarantee, counts and everything else that `malaprop privatize` reports."""


def privatize(
    dataframe: DataFrame,
    columns: Sequence[str],
    *,
    lexicon: Lexicon | str,
    mechanism: Mechanism,
    path: str | None = None,
    on_error: OnError = "fail",
    ledger: Ledger | str | None = None,
    subject_column: str | None = None,
    subject: str | None = None,
    **options: Unpack[TextOptions],
) -> Privatized:
    """Draw private texts for some columns of a Spark table, once, and keep them as Parquet.

    The work is done at once, not lazily: a table that is drawn again at each look gives away more
    each time. The private table goes to the folder `path`, which all machines must reach and which
    must not exist; without `path`, to a new folder in Spark's checkpoint directory. Missing texts
    stay missing. Rows keep their other columns but, as always in Spark, not their order, so have a
    key. `on_error`: what to do about a record that cannot be processed, `fail`, `skip` or `mask`.
    `options`: how to treat texts, as for `Privatizer`.

    With a `ledger`, each record is debited by the task that draws it, for the subject in its
    `subject_column`, or all for one `subject`. All machines must reach the ledger's database, and
    get the server's secret with the job. A task that is tried again debits nothing twice; a job
    that failed has debited what it has.
    """
    if not isinstance(dataframe, ClassicDataFrame):
        raise ParameterError(
            "The 'dataframe' parameter of privatize must be a DataFrame of a Spark session with a "
            f"driver of its own, not of Spark Connect. Got {type(dataframe).__name__}."
        )
    if isinstance(columns, str):
        raise ParameterError("The 'columns' parameter of privatize must be a list of names.")
    policy_with(options, privatize)
    layout = Layout(
        format="parquet", columns=tuple(columns), on_error=on_error, label=subject_column
    )
    debits = debits_of(ledger, subject_column, subject, on_error, numbered=False)
    known = Lexicon.open(lexicon) if isinstance(lexicon, str) else lexicon
    privatizer = Privatizer(known, mechanism, **options)
    target = path or _checkpoint(dataframe.sparkSession)
    occasion = Clock().occasion

    def made() -> Privatized:
        counted = draw(dataframe, layout, privatizer, target, debits=debits)
        report = _report(counted, layout, privatizer, "a Spark table", target, occasion())
        return Privatized(dataframe.sparkSession.read.parquet(literal(target)), target, report)

    return redacted_error(made)


def privatize_files(
    spark: SparkSession,
    source: str,
    target: str,
    layout: Layout,
    privatizer: Privatizer,
    *,
    occasion: Callable[[], Occasion] | None = None,
    force: bool = False,
    ledger: Ledger | str | None = None,
    subject: str | None = None,
) -> RunReport:
    """Copy a folder of Parquet, CSV or JSON lines with private texts; return the report.

    `occasion` is called at the end, and says when and how the run was made. With a `ledger`, each
    record is debited for the subject that the layout's `label` names, or for one `subject`.
    """
    told = occasion or Clock().occasion
    debits = debits_of(ledger, layout.label, subject, layout.on_error, numbered=False)

    def made() -> RunReport:
        counted = draw_files(spark, source, layout, privatizer, target, force=force, debits=debits)
        return _report(counted, layout, privatizer, source, target, told())

    return redacted_error(made)


def _report(
    counted: Tally,
    layout: Layout,
    privatizer: Privatizer,
    source: str,
    target: str,
    occasion: Occasion,
) -> RunReport:
    counts = FileCounts(
        records=counted.seen["rows"],
        cells=counted.seen["texts"],
        missing=counted.seen["missing"],
        other_columns=tuple(counted.others),
        faulty=counted.seen["faulty"],
    )
    record = FileRecord(
        input=source,
        output=target,
        format=layout.format,
        columns=layout.columns,
        on_error=layout.on_error,
        counts=counts,
    )
    engine = {"name": "spark", "lexicons_opened": counted.seen["prepared"]}
    return run_report(privatizer, [record], counted.treated, occasion, engine=engine)


def _checkpoint(spark: SparkSession) -> str:
    folder = spark.sparkContext.getCheckpointDir()
    if not folder:
        raise ParameterError(
            "privatize needs a folder that all machines reach, to keep there what it draws: give "
            "it a path, or call spark.sparkContext.setCheckpointDir."
        )
    return f"{folder}/malaprop-{secrets.token_hex(8)}"

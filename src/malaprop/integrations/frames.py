"""Accessors for private text in pandas and polars; importing this module registers them.

    import malaprop.integrations.frames

    df["note"].malaprop.privatize(epsilon=1.5)          # a Series of pandas or polars
    lf.with_columns(pl.col("note").malaprop.privatize(epsilon=1.5))

They take the parameters of `malaprop.privatize`, which needs no import of this module.
"""

from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from threading import Lock
from typing import Any, NoReturn, Unpack

from malaprop.integrations.tables import open_table, privatize, released, warn
from malaprop.lexicon.lexicon import Lexicon
from malaprop.privacy.errors import MissingExtraError, ParameterError
from malaprop.privacy.mechanism import Mechanism
from malaprop.privatizer import Privatizer
from malaprop.recipe import chosen_mechanism
from malaprop.report.run_report import Clock, RunReport
from malaprop.text.policy import TextOptions, policy_with

_LIBRARIES = tuple(name for name in ("pandas", "polars") if find_spec(name))
if not _LIBRARIES:
    raise MissingExtraError("pandas or polars", "frames", "An accessor for tables")


class PrivateSeries:
    """`series.malaprop`: private text for a Series of pandas or polars."""

    def __init__(self, series: Any) -> None:
        self._series = series

    def privatize(self, **parameters: Any) -> Any:
        """Return the private Series; the parameters are those of `malaprop.privatize`."""
        return privatize(self._series, **parameters)


class PrivateExpression:
    """`pl.col(…).malaprop`: private text in an expression of polars."""

    def __init__(self, expression: Any) -> None:
        self._expression = expression

    def privatize(
        self,
        *,
        epsilon: float | None = None,
        mechanism: Mechanism | str = "balanced",
        lexicon: Lexicon | str = "english",
        streaming: bool = False,
        report: Callable[[RunReport], object] | None = None,
        **options: Unpack[TextOptions],
    ) -> Any:
        """Return an expression that draws private texts for a whole column, once.

        A query that is collected twice would draw twice. That is two releases of the same texts,
        whose losses add up. So the expression refuses a second evaluation: collect once and keep
        what came out, or make a new expression for another release. It also refuses to be
        pickled, since a copy could draw again. Use it in `select` and `with_columns`: in a
        `group_by`, each group would be an evaluation.

        With `streaming`, batches are drawn as they pass, with bounded memory, and nothing can tell
        a second query from a further batch: then it is up to you to run the query once, for
        example into `sink_parquet`.

        `report` is called with the report of each draw: of the column, or of each batch.
        """
        import polars as pl

        policy = policy_with(options, PrivateExpression.privatize)
        made = chosen_mechanism(mechanism, epsilon)
        draw = _Draw(
            partial(Privatizer, lexicon, made, **policy.options()), report, once=not streaming
        )
        return self._expression.map_batches(draw, return_dtype=pl.String, is_elementwise=streaming)


class _Draw:
    """Draws the batches that an expression is called with; `once`: a single one."""

    def __init__(
        self,
        make: Callable[[], Privatizer],
        report: Callable[[RunReport], object] | None,
        *,
        once: bool,
    ) -> None:
        self._make, self._report, self._once = make, report, once
        self._privatizer: Privatizer | None = None
        self._lock = Lock()

    def __call__(self, series: Any) -> Any:
        import polars as pl

        with self._lock:  # a streaming query calls from several threads
            clock, opened = Clock(), open_table(series)
            texts = opened.checked(None)
            first = self._privatizer is None
            if self._once and not first:
                raise ParameterError(
                    "This expression has drawn already: to evaluate it again would be another "
                    "release of the same texts. Collect the query once and keep the result. For a "
                    "release that costs ε again, make a new expression."
                )
            self._privatizer = self._privatizer or self._make()
            result, report = released(opened, texts, self._privatizer, clock)
        if first:
            warn(report)
        if self._report is not None:
            self._report(report)
        return result.cast(pl.String)

    def __reduce__(self) -> NoReturn:
        raise ParameterError(
            "An expression that privatizes cannot be copied or pickled: each copy would draw, and "
            "be a release of its own. Pickle the private table instead."
        )


def _register() -> None:
    if "pandas" in _LIBRARIES:
        import_module("pandas").api.extensions.register_series_accessor("malaprop")(PrivateSeries)
    if "polars" in _LIBRARIES:
        api = import_module("polars").api
        api.register_series_namespace("malaprop")(PrivateSeries)
        api.register_expr_namespace("malaprop")(PrivateExpression)


_register()

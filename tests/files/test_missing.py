"""Missing texts stay missing, at their places."""

import math
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas  # type: ignore[import-untyped]
import pyarrow
import pytest

from malaprop import TEM, Lexicon, Privatizer, Release, explain, measure, privatize_files
from malaprop.measure.classification import Classification
from malaprop.privacy.errors import ParameterError

TINY = Lexicon(["cold", "cool", "hot"], [[0.0], [1.0], [9.0]])
EXACT = Privatizer(TINY, TEM(epsilon=500.0))
NAN = float("nan")


def test_none_and_nan_stay_at_their_places() -> None:
    texts = ["cold", None, "", NAN, np.float32("nan"), "hot"]
    private: list[Any] = EXACT.texts(texts)  # type: ignore[arg-type]
    assert [private[0], private[1], private[2], private[5]] == ["Cold", None, "", "Hot"]
    assert private[3] is texts[3]
    assert private[4] is texts[4]
    releases: list[Any] = EXACT.many(texts)  # type: ignore[arg-type]
    assert [type(release) for release in releases[:3]] == [Release, type(None), Release]
    assert math.isnan(releases[3])
    assert releases[5].text == "Hot"
    assert EXACT.texts([None, None]) == [None, None]
    assert (EXACT.many([]), EXACT.texts([])) == ([], [])


def test_the_values_of_pandas_stay() -> None:
    pandas = pytest.importorskip("pandas")
    column = pandas.Series(["cold", pandas.NA, pandas.NaT, "hot"], dtype=object)
    first, *missing, last = EXACT.texts(column)
    assert (first, last) == ("Cold", "Hot")
    assert missing[0] is pandas.NA
    assert missing[1] is pandas.NaT
    strings = pandas.Series(["cold", None], dtype="string")
    assert EXACT.texts(strings)[1] is pandas.NA


def test_the_given_list_is_not_changed() -> None:
    texts = ["cold", None]
    EXACT.texts(texts)
    assert texts == ["cold", None]


@pytest.mark.parametrize("wrong", [5, 0.0, math.inf, b"cold", ["cold"], True])
def test_anything_else_is_refused_before_any_draw(wrong: Any) -> None:
    for call in (EXACT.many, EXACT.texts):
        with pytest.raises(ParameterError, match="must be a string, None or NaN") as caught:
            call(["cold", wrong])
        assert "cold" not in str(caught.value)


@pytest.mark.parametrize("missing", [None, NAN])
def test_there_is_no_release_of_a_missing_text(missing: Any) -> None:
    with pytest.raises(ParameterError, match="A text must be a string"):
        EXACT(missing)


CALLS: list[Callable[[Any], Any]] = [
    *(EXACT.many, EXACT.texts, EXACT.batch, EXACT.word_draws),
    lambda texts: measure.attack("bayes", EXACT, texts),
    lambda texts: measure.train_model(texts, TINY),
    lambda texts: measure.evaluate(texts, mechanisms=["tem"], epsilons=[1.0], lexicon=TINY),
    lambda texts: measure.calibrate("tem", TINY, success=0.3, context=True, sample=texts),
    lambda texts: Classification(texts, ["a"] * 4, TINY),
]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ("coldtext", "not one string: put it into a list"),
        (b"coldtext", "not bytes: decode them"),
        ({"coldtext": ["cold"]}, "pass its values, as in d.values()"),
        ({"coldtext"}, "not a set, which has no order"),
        (pyarrow.table({"coldtext": ["cold"]}), 'Table is a table: pass the column.*table."text".'),
        (pandas.DataFrame({"coldtext": ["cold"]}), "DataFrame is a table: pass the column"),
        (5, "in a list. Got int"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_yields_no_texts_is_refused(call: Callable[[Any], Any], wrong: Any, says: str) -> None:
    """A table or a dictionary yields the names of its columns, a string its letters."""
    with pytest.raises(ParameterError, match=f"takes several texts.*{says}") as caught:
        call(wrong)
    assert "coldtext" not in str(caught.value)


def test_a_table_of_polars_is_refused() -> None:
    class DataFrame:
        """As far as it matters, polars': it yields columns."""

        columns = property(lambda self: ["coldtext"])

        def __iter__(self) -> Iterator[list[str]]:
            yield ["cold"]

    with pytest.raises(ParameterError, match="DataFrame is a table"):
        EXACT.texts(DataFrame())  # type: ignore[arg-type]


def test_whatever_yields_texts_will_do() -> None:
    labelled = pandas.Series(["cold"], index=["columns"])  # has an attribute of that name
    for texts in (("cold",), iter(["cold"]), {1: "cold"}.values(), np.array(["cold"]), labelled):
        assert EXACT.texts(texts) == ["Cold"]
    assert EXACT.batch(text for text in ["cold"])[0] == ["Cold"]
    with pytest.raises(ParameterError, match=r"A text must be a string\. Got NoneType"):
        EXACT.batch(["cold", None])  # type: ignore[list-item]


CALLERS: list[tuple[str, Callable[..., Any]]] = [
    ("Privatizer", partial(Privatizer, epsilon=1.0)),
    ("privatize_files", partial(privatize_files, "a.txt", "b.txt", epsilon=1.0)),
    ("explain", partial(explain, "cold", epsilon=1.0)),
]


@pytest.mark.parametrize(("name", "call"), CALLERS)
def test_an_unknown_parameter_is_named_with_the_one_that_was_meant(
    name: str, call: Callable[..., Any]
) -> None:
    for wrong, meant in (("eps", "epsilon"), ("punctation", "punctuation"), ("lexcon", "lexicon")):
        message = f"{name} has no parameter {wrong!r}. Did you mean {meant!r}?"
        with pytest.raises(ParameterError, match=re.escape(message)):
            call(**{wrong: 2})
    with pytest.raises(ParameterError, match=f"{name} has no parameter 'zzzzzzz'.$"):
        call(zzzzzzz=2)
    with pytest.raises(ParameterError, match=r"evaluate has no parameter 'epsilon'.*'epsilons'"):
        measure.evaluate(["cold"], epsilon=1.0)  # type: ignore[call-arg]

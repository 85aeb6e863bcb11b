"""Missing texts stay missing, at their places."""

import math
from typing import Any

import numpy as np
import pytest

from malaprop import TEM, Lexicon, Privatizer, Release
from malaprop.core.errors import ParameterError

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


def test_one_string_is_no_list_of_texts() -> None:
    for call in (EXACT.many, EXACT.texts):
        with pytest.raises(ParameterError, match="takes several texts"):
            call("cold")

"""Private text in scikit-learn: `PrivateText` alone, in pipelines, and in column transformers."""

import pickle
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import polars as pl
import pytest
from sklearn.base import clone  # type: ignore[import-untyped]
from sklearn.compose import ColumnTransformer  # type: ignore[import-untyped]
from sklearn.feature_extraction.text import CountVectorizer  # type: ignore[import-untyped]
from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]
from sklearn.pipeline import make_pipeline  # type: ignore[import-untyped]
from sklearn.utils.estimator_checks import (  # type: ignore[import-untyped]
    estimator_checks_generator,
)
from tests.spark.frames import ANYTHING, HUNDRED

from malaprop import TEM, Kind, Lexicon, ParameterError, secure_rng
from malaprop.integrations.sklearn import PrivateText

_FOLDER = TemporaryDirectory()
_FILE = Path(_FOLDER.name) / "hundred.vec"
_FILE.write_text("".join(f"{word} {i}\n" for i, word in enumerate(HUNDRED)))


class _Spelling(PrivateText):
    """Spells the numbers that scikit-learn's checks feed to every estimator; adds nothing else."""

    def _only_texts(self, texts: Any) -> Any:
        for place, value in np.ndenumerate(texts):
            if isinstance(value, int | float | np.number) and value == value:
                texts[place] = HUNDRED[hash(float(value)) % 100]
        return super()._only_texts(texts)


_SUBTRACTS = "compares two results by subtraction, and results are texts"
_EXPECTED = {
    "check_complex_data": "wants its own words in the error; a complex number is no text",
    "check_estimators_pickle": _SUBTRACTS,
    "check_fit_idempotent": _SUBTRACTS,
    "check_fit1d": "wants one dimension refused; a column of texts has one",
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize(
    ("estimator", "check"),
    list(
        estimator_checks_generator(
            _Spelling(mechanism=ANYTHING, lexicon=str(_FILE)),
            expected_failed_checks=_EXPECTED,
            mark="xfail",
        )
    ),
    # Not by the estimator, whose file has another name in each process of pytest.
    ids=lambda value: value.func.__name__ if isinstance(value, partial) else "",
)
def test_scikit_learns_own_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.fixture
def private(hundred: Lexicon) -> PrivateText:
    return PrivateText(mechanism=ANYTHING, lexicon=hundred)


def test_the_result_has_the_shape_of_the_input(private: PrivateText) -> None:
    column = ["waa wbb", None, "", "wcc"]
    one = private.fit_transform(column)
    assert one.shape == (4,)
    assert one[1] is None
    assert [len((text or "").split()) for text in one] == [2, 0, 0, 1]
    table = pd.DataFrame({"a": column, "b": column})
    two = private.fit_transform(table)
    assert two.shape == (4, 2)
    assert list(private.get_feature_names_out()) == ["a", "b"]
    words = {word.casefold() for text in two.flat if text for word in text.split()}
    assert words <= set(HUNDRED)
    assert (private.guarantee_.epsilon, private.randomness_) == (0.001, "secure")


def test_draws_are_fresh_in_every_call(private: PrivateText) -> None:
    texts = ["waa " * 20]
    fitted = private.fit(texts)
    same = [
        fitted,
        fitted,
        clone(private).fit(texts),
        pickle.loads(pickle.dumps(fitted)),  # noqa: S301
    ]
    assert len({each.transform(texts)[0] for each in same}) == 4


def test_a_seed_repeats_it_and_promises_nothing(hundred: Lexicon) -> None:
    seeded = PrivateText(mechanism=ANYTHING, lexicon=hundred, random_state=3).fit(["waa"])
    assert seeded.transform(["waa " * 9]) == seeded.transform(["waa " * 9])
    assert seeded.guarantee_.kind is Kind.NONE
    assert seeded.randomness_ == "seeded: not private"
    secure = PrivateText(mechanism=ANYTHING, lexicon=hundred, random_state=secure_rng())
    assert secure.fit(["waa"]).guarantee_.kind is Kind.METRIC


def test_frames_stay_frames_when_asked(private: PrivateText) -> None:
    table = pd.DataFrame({"a": ["waa", "wbb"], "b": ["wcc", None]}, index=[5, 5])
    out = clone(private).set_output(transform="pandas").fit_transform(table)
    assert list(out.columns) == ["a", "b"]
    assert out.index.equals(table.index)
    out = clone(private).set_output(transform="polars").fit_transform(table)
    assert isinstance(out, pl.DataFrame)
    series = clone(private).set_output(transform="pandas").fit(table).fit(table["a"])
    assert series.transform(table["a"]).shape == (2, 1)


def test_in_pipelines_and_column_transformers(hundred: Lexicon) -> None:
    near: dict[str, Any] = {
        "mechanism": TEM(epsilon=2.0),
        "lexicon": hundred,
        "options": {"repeat": "document"},
    }
    table = pd.DataFrame(
        {"note": [HUNDRED[i] for i in range(100)] * 3, "other": ["waa"] * 300, "n": range(300)}
    )
    label = [i % 100 > 50 for i in range(300)]
    model = make_pipeline(PrivateText(**near), CountVectorizer(), LogisticRegression())
    assert model.fit(table["note"], label).score(table["note"], label) > 0.9
    columns = ColumnTransformer(
        [
            ("one", make_pipeline(PrivateText(**near), CountVectorizer()), "note"),
            ("two", PrivateText(**near), ["other"]),
        ],
        sparse_threshold=0,
    )
    assert columns.fit(table).transform(table)[0, -1].casefold() in HUNDRED
    assert clone(model).get_params()["privatetext__options"] == {"repeat": "document"}
    assert model.named_steps["privatetext"].guarantee_.per == "distinct word"


@pytest.mark.parametrize(
    ("wrong", "texts", "message"),
    [
        ({}, "one string zyx", "takes several texts, not one string"),
        ({}, {"a": "zyx"}, "not a dictionary"),
        ({}, ["zyx", 5], "takes texts, and None or NaN for missing ones. Got int"),
        ({}, np.array([["zyx", 5.0]], dtype=object), "Got float"),
        ({}, np.array([[["zyx"]]], dtype=object), "."),
        ({}, [["zyx"], ["zyx", "a"]], "rows of different lengths"),
        ({}, [["zyx"], "zyx"], "rows of different lengths"),
        ({"options": ["readable"]}, ["zyx"], "must be a dictionary"),
        ({"options": {"redable": True}}, ["zyx"], "redable"),
        ({"epsilon": 2.0}, ["zyx"], "has its own ε"),
        ({"random_state": "seed"}, ["zyx"], "random_state"),
    ],
)
def test_wrong_parameters_and_inputs_are_refused(
    wrong: dict[str, Any], texts: Any, message: str, hundred: Lexicon
) -> None:
    chosen: dict[str, Any] = {"mechanism": ANYTHING, "lexicon": hundred}
    made = PrivateText(**chosen | wrong)
    with pytest.raises(ParameterError, match=message) as caught:
        made.fit(texts)
    assert "zyx" not in str(caught.value)


def test_one_column_does_not_fit_two(private: PrivateText) -> None:
    fitted = private.fit([["a", "b"]])
    with pytest.raises(ParameterError, match="a table of 2 columns"):
        fitted.transform(["zyx"])

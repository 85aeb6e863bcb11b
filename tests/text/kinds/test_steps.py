"""Sizes of steps are read strictly."""

import pickle

import pytest

from malaprop.privacy.errors import ParameterError
from malaprop.text.kinds.grids import StepSizes

GOOD = {
    ("number", "a tenth"): 0.1,
    ("money", "20 %"): 0.2,
    ("percentage", "12.5%"): 0.125,
    ("ordinal", "half"): 0.5,
    ("number", "A Quarter"): 0.25,
    ("year", "2 years"): 2.0,
    ("year", "a decade"): 10.0,
    ("date", "3 days"): 3.0,
    ("date", "a week"): 7.0,
    ("date", "2  weeks"): 14.0,
    ("date", "a month"): 30.4375,
    ("time", "30 minutes"): 30.0,
    ("time", "half an hour"): 30.0,
    ("time", "a quarter of an hour"): 15.0,
    ("time", "an hour"): 60.0,
    ("time", "1.5 hours"): 90.0,
}
BAD = [
    *[("number", step) for step in ("0 %", "-5 %", "2000 %", "a week", "10", "", "tenth of it")],
    *[("year", step) for step in ("0 years", "6 months", "1000 years", "a tenth", "years")],
    *[("date", step) for step in ("0 days", "half a day", "100 years", "soon", "3", "3 dayss")],
    *[("time", step) for step in ("0 minutes", "a day", "13 hours", "10 seconds", "20 %")],
    *[("date", step) for step in (3, None, 7.0, ["a week"], "٣ days" * 400)],
    *[(kind, "a tenth") for kind in ("numbers", "weight", "", 3, None)],
]


@pytest.mark.parametrize(("given", "size"), GOOD.items())
def test_good_steps(given: tuple[str, str], size: float) -> None:
    kind, step = given
    steps = StepSizes({kind: step})
    assert steps.size(kind) == pytest.approx(size)
    assert steps[kind] == step
    usual = StepSizes()
    assert all(steps[other] == usual[other] for other in usual if other != kind)


@pytest.mark.parametrize(("kind", "step"), BAD)
def test_bad_steps(kind: object, step: object) -> None:
    with pytest.raises(ParameterError, match=r"step|kind"):
        StepSizes({kind: step})  # type: ignore[dict-item]


def test_steps_are_values() -> None:
    steps = StepSizes({"date": "3 days"})
    assert steps == StepSizes({"date": "3 days"}) != StepSizes()
    assert hash(steps) == hash(StepSizes({"date": "3 days"}))
    assert pickle.loads(pickle.dumps(steps)) == steps  # noqa: S301
    assert StepSizes(steps) == steps

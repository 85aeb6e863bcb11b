"""The study of mahalanobis-2020: equal Euclidean ε, and an equal share of words kept."""

from typing import Any

import numpy as np
import pytest

from malaprop import Lexicon, seeded_rng
from malaprop.lab.studies.figures import share_kept
from malaprop.lab.studies.mahalanobis import channel_of, euclidean_epsilon, words
from malaprop.lab.studies.reproduction import Run

MAHALANOBIS = {"mechanism": "mahalanobis", "lambda": 1.0, "epsilon": 4.0}
LAPLACE = {**MAHALANOBIS, "lambda": 0.0}


@pytest.fixture
def stretched() -> Run:
    cloud = seeded_rng(1).normal(size=(300, 4)) * [6.0, 1.0, 1.0, 1.0]
    lexicon = Lexicon([f"w{i}" for i in range(300)], cloud)
    return Run(quick=True, lexicons={"english": lexicon})


def test_at_one_nominal_epsilon_the_euclidean_one_is_larger(stretched: Run) -> None:
    plain, shaped = (channel_of(stretched, one) for one in (LAPLACE, MAHALANOBIS))
    assert euclidean_epsilon(plain) == pytest.approx(4.0)
    assert euclidean_epsilon(shaped) > 4.5


def test_equal_euclidean_epsilon_is_equal(stretched: Run) -> None:
    channel = channel_of(stretched, {**MAHALANOBIS, "control": "equal Euclidean ε"})
    assert euclidean_epsilon(channel) == pytest.approx(4.0)


def test_an_equal_share_of_words_is_kept(stretched: Run) -> None:
    plain = channel_of(stretched, LAPLACE)
    channel = channel_of(stretched, {**MAHALANOBIS, "control": "equal share kept"})
    kept = [share_kept(one, 300, seeded_rng(5), draws=20) for one in (plain, channel)]
    assert kept[0] == pytest.approx(kept[1], abs=0.08)


def figures(run: Run, setting: dict[str, Any]) -> dict[str, float]:
    return {one.measure: float(one.value or 0.0) for one in words(run, setting, seeded_rng(3))}


def test_words_are_counted_in_a_hundred_runs(stretched: Run) -> None:
    near = figures(stretched, {**LAPLACE, "epsilon": 1000.0})
    far = figures(stretched, {**LAPLACE, "epsilon": 0.001})
    assert near["kept"] == 100.0
    assert near["distinct"] == 1.0
    assert far["kept"] < 10.0
    assert far["distinct"] > 5.0
    assert np.isclose(near["euclidean_epsilon"], 1000.0)
    assert far["kept_p5"] <= far["kept_p50"] <= far["kept_p95"] <= far["kept_max"]

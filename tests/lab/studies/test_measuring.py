"""Means with their errors: over draws of the noise, and over splits."""

import math

import numpy as np
import pytest

from malaprop import Lexicon, seeded_rng
from malaprop.lab.studies.figures import (
    epsilon_for_kept,
    floor_shares,
    jointly,
    mean_of,
    over_both,
    share_kept,
)
from malaprop.lab.tasks.sources import random_subject
from malaprop.mechanisms.laplace import Laplace
from malaprop.privacy.channel import Channel


def test_a_table_has_an_error_over_draws_and_one_over_splits() -> None:
    table = [[0.1, 0.5], [0.3, 0.7]]  # two draws of the noise, each on two splits
    draws, splits = over_both("accuracy", table, shared=0.25)
    assert [draws.value, splits.value] == pytest.approx([0.4, 0.4])
    assert "spread" not in draws.setting  # that of the cell stands
    assert splits.setting == {"spread": "splits"}
    assert draws.error == pytest.approx(0.1)  # 0.3 and 0.5
    spread = math.sqrt(2) * 0.2  # 0.2 and 0.6
    assert splits.error == pytest.approx(spread * math.sqrt(1 / 2 + 0.25))


def test_the_joint_error_is_of_both_and_without_noise_of_splits() -> None:
    table = [[0.1, 0.5], [0.3, 0.7]]
    joint, draws, splits = jointly("accuracy", table, shared=0.25)
    assert joint.setting == {}  # the item says what it is over
    assert (draws.setting, splits.setting) == ({"spread": "noise draws"}, {"spread": "splits"})
    assert joint.error == pytest.approx(math.hypot(0.1, math.sqrt(0.08 * 0.75)))
    (alone,) = jointly("accuracy", table[:1], shared=0.25)
    assert alone.error == pytest.approx(math.sqrt(0.08 * 0.75))
    assert alone.setting == {}


def test_the_joint_error_is_about_right_over_many_tables() -> None:
    rng = seeded_rng(7)
    count, draws, splits = 4000, 3, 5
    noise = rng.normal(size=(count, draws, 1))
    parts = 2.0 * rng.normal(size=(count, 1, splits))
    tables = noise + parts + 0.5 * rng.normal(size=(count, draws, splits))
    true = math.sqrt(1 / draws + 4 / splits + 0.25 / (draws * splits))
    errors = [next(iter(jointly("score", table, shared=0.0))).error or 0.0 for table in tables]
    mean = math.sqrt(float(np.mean(np.square(errors))))
    assert true < mean < 1.02 * true  # what depends on both counts twice


def test_several_draws_find_the_epsilon_of_a_small_share() -> None:
    lexicon = Lexicon([f"w{i}" for i in range(20)], seeded_rng(4).normal(size=(20, 4)))

    def bind(epsilon: float) -> Channel:
        return Laplace(epsilon=epsilon).on(lexicon)

    epsilon = epsilon_for_kept(bind, 0.1, 20, (0.01, 100.0), draws=400)
    assert share_kept(bind(epsilon), 20, seeded_rng(9), 4000) == pytest.approx(0.1, abs=0.02)


def test_one_draw_has_no_error() -> None:
    assert mean_of("accuracy", [0.5]).error is None
    assert next(iter(over_both("accuracy", [[0.1, 0.5]], shared=0.0))).error is None


@pytest.mark.parametrize(
    ("floor", "kept", "clear"),
    [
        ("no noise", 1.0, 1.0),
        ("random words", 0.02, 0.0),
        ("random table", 0.02, 0.0),
        ("majority", 0.0, 0.0),
    ],
)
def test_the_shares_of_a_floor_follow_from_what_it_is(
    floor: str, kept: float, clear: float
) -> None:
    shares = {figure.measure: figure.value for figure in floor_shares(floor, 50)}
    assert shares == {"kept": kept, "share_in_clear": clear}


def test_random_words_and_vectors_are_a_words_own_by_chance() -> None:
    rng = seeded_rng(3)
    lexicon = Lexicon([f"w{i}" for i in range(20)], rng.normal(size=(20, 4)))
    ids = np.tile(np.arange(20), 4000)
    drawn = {
        "random words": random_subject(lexicon).begin(rng).words(ids),
        "random table": lexicon.nearest(rng.normal(size=(len(ids), 4)), 1)[:, 0],
    }
    for floor, words in drawn.items():
        stated = next(iter(floor_shares(floor, 20))).value
        assert np.mean(words == ids) == pytest.approx(stated, abs=0.004)  # five standard errors

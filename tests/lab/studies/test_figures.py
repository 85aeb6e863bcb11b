"""Means with their errors, tables noised once, and classification on shared splits."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.lab.studies.planted_sets import planted

from malaprop import Laplace, Lexicon, seeded_rng
from malaprop.lab import tasks
from malaprop.lab.studies.figures import (
    SPLIT_TIMES,
    classified,
    drawn_once,
    epsilon_for_kept,
    floor_shares,
    jointly,
    mean_of,
    over_both,
    share_kept,
)
from malaprop.lab.studies.study import Measurement
from malaprop.lab.tasks import sources
from malaprop.lab.tasks.sources import CorpusReader, Subject, random_subject, subject_of
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


def test_all_places_of_a_word_share_its_vector(tiny: Lexicon) -> None:
    source = drawn_once(Laplace(epsilon=1.0).on(tiny)).begin(seeded_rng(1))
    vectors = source.vectors(np.array([3, 5, 3]))
    assert (vectors[0] == vectors[2]).all()
    assert (vectors[0] != vectors[1]).all()
    assert (source.vectors(np.array([5]))[0] == vectors[1]).all()
    assert (vectors[0] != tiny.vectors[3]).any()


def test_centroids_are_means_of_the_same_vectors(tiny: Lexicon) -> None:
    source = drawn_once(Laplace(epsilon=1.0).on(tiny)).begin(seeded_rng(1))
    corpus = CorpusReader(tiny)([f"{tiny.words[3]} {tiny.words[5]}", tiny.words[3]])
    centroids, vectors = source.centroids(corpus), source.vectors(np.array([3, 5]))
    assert np.allclose(centroids[0], vectors.mean(axis=0))
    assert np.allclose(centroids[1], vectors[0])


def test_another_repetition_has_other_noise(tiny: Lexicon) -> None:
    subject = drawn_once(Laplace(epsilon=1.0).on(tiny))
    one, two = (subject.begin(seeded_rng(seed)).vectors(np.array([3])) for seed in (1, 2))
    assert (one != two).all()


def test_all_places_of_a_word_become_the_same_word(tiny: Lexicon) -> None:
    source = drawn_once(Laplace(epsilon=0.5).on(tiny)).begin(seeded_rng(1))
    words = source.words(np.array([3, 5, 3, 7]))
    assert words[0] == words[2]
    assert (source.words(np.array([7, 3])) == words[[3, 0]]).all()
    assert (words != [3, 5, 3, 7]).any()


@pytest.fixture
def problem(tiny: Lexicon) -> Any:
    return tasks.registry["classify-text"](data=planted(tiny.words)["mr"]).prepare(tiny)


def figures_of(problem: Any, subject: Subject, seed: int = 1) -> list[Measurement]:
    return list(classified(problem, subject, ["accuracy"], 3, seeded_rng(seed)))


def test_both_errors_and_the_share_kept_are_measured(tiny: Lexicon, problem: Any) -> None:
    channel = Laplace(epsilon=1.0).on(tiny)
    draws, splits, kept = figures_of(problem, subject_of(channel, release="words"))
    assert (draws.measure, splits.measure, kept.measure) == (
        "accuracy",
        "accuracy",
        "kept_in_texts",
    )
    assert draws.error is not None
    assert splits.setting["spread"] == "splits"
    assert 0.0 < float(kept.value or 0.0) < 1.0


def test_without_noise_only_splits_differ(tiny: Lexicon, problem: Any) -> None:
    first = figures_of(problem, sources.unprotected(tiny))
    again = figures_of(problem, sources.unprotected(tiny), seed=2)
    assert first == again  # splits do not depend on the generator of the noise
    assert first[0].error is None
    assert len(first) == 2  # and words that stay by rule are not counted


def test_all_subjects_are_scored_on_the_same_splits(
    tiny: Lexicon, problem: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[list[int]] = []
    predictions: Callable[..., Any] = type(problem.model).predictions

    def recorded(model: Any, train: Any, classes: Any, *tests: Any) -> Any:
        seen.append(np.asarray(classes).tolist())
        return predictions(model, train, classes, *tests)

    monkeypatch.setattr(type(problem.model), "predictions", recorded)
    figures_of(problem, sources.unprotected(tiny))
    figures_of(problem, sources.random_subject(tiny))
    once = SPLIT_TIMES
    assert len(seen) == once + 3 * once
    assert seen[:once] == seen[once : 2 * once] == seen[-once:]

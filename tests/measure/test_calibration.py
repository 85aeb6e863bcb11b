"""Calibration: never beyond the target, and close to it."""

import math

import numpy as np
import pytest

from malaprop import TEM, Laplace, Lexicon, ParameterError, seeded_rng
from malaprop.measure import bayes_success, calibrate, statistics
from malaprop.measure.calibration import _Search

WORDS = Lexicon([f"w{i}" for i in range(60)], seeded_rng(1).normal(size=(60, 3)))


@pytest.mark.parametrize("target", [0.1, 0.3, 0.7])
def test_kept_is_met_and_nearly_used_up(target: float) -> None:
    found = calibrate("tem", WORDS, kept=target)
    kept = statistics(TEM(epsilon=found.epsilon).on(WORDS)).kept.mean()
    assert kept <= target
    assert kept == pytest.approx(target, rel=0.01)
    assert found.value == pytest.approx(kept)
    assert found.exact
    epsilons, values = zip(*found.curve, strict=True)
    assert list(epsilons) == sorted(epsilons)
    assert list(values) == sorted(values)  # it rises with ε


def test_the_worst_words_count_if_asked_for() -> None:
    for worst in (0.0, 0.1):
        found = calibrate(TEM, WORDS, kept=0.4, worst=worst)
        kept = statistics(TEM(epsilon=found.epsilon).on(WORDS)).kept
        assert np.mean(kept > 0.4) <= worst
        assert found.epsilon < calibrate(TEM, WORDS, kept=0.4).epsilon


def test_success_is_met() -> None:
    found = calibrate(TEM(epsilon=1.0, gamma=3.0), WORDS, success=0.3, prior="frequency")
    channel = TEM(epsilon=found.epsilon, gamma=3.0).on(WORDS)
    assert 0.29 < bayes_success(channel, prior="frequency").value <= 0.3
    often = calibrate(TEM, WORDS, success=0.3, occurrences=5, rng=seeded_rng(1))
    assert often.epsilon < calibrate(TEM, WORDS, success=0.3).epsilon


def test_candidates_similarity_and_likeness_are_met() -> None:
    found = calibrate(TEM, WORDS, candidates=10)
    assert statistics(TEM(epsilon=found.epsilon).on(WORDS)).candidates.mean() >= 10
    found = calibrate(TEM, WORDS, similarity=0.5)
    similarity = statistics(TEM(epsilon=found.epsilon).on(WORDS)).similarity.mean()
    assert 0.49 < similarity <= 0.5
    model = TEM(epsilon=2.0).on(WORDS)
    found = calibrate("tem", WORDS, like=model)
    assert found.epsilon == pytest.approx(2.0, rel=0.01)


def test_likeness_to_noise_counts_the_error_of_its_draws() -> None:
    model = Laplace(epsilon=2.0).on(WORDS)
    stays = statistics(model, runs=20_000, rng=seeded_rng(3)).kept.mean()
    for seed in range(8):
        assert calibrate(TEM, WORDS, like=model, rng=seeded_rng(seed)).value <= stays + 0.002


def test_noise_on_vectors_is_calibrated_with_confidence() -> None:
    found = calibrate(Laplace, WORDS, kept=0.3, rng=seeded_rng(2))
    kept = statistics(Laplace(epsilon=found.epsilon).on(WORDS), runs=2000, rng=seeded_rng(3)).kept
    assert 0.2 < kept.mean() <= 0.3
    assert not found.exact


@pytest.mark.parametrize("worst", [None, 0.0])
@pytest.mark.parametrize("words", [["w1"], ["w1", "w2", "w3"]])
def test_few_words_with_noise_have_an_error_too(words: list[str], worst: float | None) -> None:
    beyond = 0
    for seed in range(12):
        found = calibrate(Laplace, WORDS, kept=0.3, worst=worst, words=words, rng=seeded_rng(seed))
        channel = Laplace(epsilon=found.epsilon).on(WORDS)
        kept = statistics(channel, words=words, runs=4000, rng=seeded_rng(99)).kept
        beyond += float(kept.mean() if worst is None else kept.max()) > 0.3
        assert max(found.bounds) > max(value for _, value in found.curve)
    assert beyond <= 4  # 1 is expected at most, and 6 without the error


def test_noise_that_words_share_is_part_of_the_error() -> None:
    size = 1_000  # from here on words share noise
    many = Lexicon([f"w{i}" for i in range(size)], seeded_rng(1).normal(size=(size, 3)))
    words = [f"w{i}" for i in range(100)]
    figures = [
        _Search(many, words, seeded_rng(seed)).mean(Laplace(epsilon=4.0).on(many), "kept")
        for seed in range(40)
    ]
    truth = float(np.mean([figure.value for figure in figures]))
    assert sum(figure.unsafe < truth for figure in figures) <= 9  # 2 expected; chance below 1e-4


def test_a_sample_of_one_word_is_refused() -> None:
    with pytest.raises(ParameterError, match="1 word tells nothing of the others"):
        calibrate(TEM, WORDS, kept=0.3, words=1)


def test_a_model_on_other_words_is_refused() -> None:
    with pytest.raises(ParameterError, match="on the same words"):
        calibrate(TEM, WORDS, like=TEM(epsilon=1.0).on(WORDS.subset(["w1", "w2"])))


def test_targets_out_of_reach_say_which_end() -> None:
    with pytest.raises(ParameterError, match=r"out of reach.*smallest"):
        calibrate(TEM, WORDS, kept=0.001)
    with pytest.raises(ParameterError, match="largest that is searched"):
        calibrate(TEM, WORDS, candidates=0.5)


def test_words_that_never_came_out_may_still_stay() -> None:
    """At the smallest ε, one draw in 2,000 keeps the word: none in 128 draws proves nothing."""
    row = Lexicon([f"w{i}" for i in range(40)], np.arange(40.0)[:, None])
    for seed in range(5):
        with pytest.raises(ParameterError, match=r"out of reach.*smallest that is searched"):
            calibrate(Laplace, row, kept=1e-5, words=["w20"], rng=seeded_rng(seed))


def test_the_worst_word_of_many_has_an_error_too() -> None:
    """One word lies apart, and stays most often: its share decides, with the error of its draws."""
    places = np.concatenate([np.arange(20.0), [27.0], np.arange(35.0, 55.0)])
    row = Lexicon([f"w{i}" for i in range(41)], places[:, None])
    beyond = 0
    for seed in range(12):
        epsilon = calibrate(Laplace, row, kept=0.9, worst=0.0, rng=seeded_rng(seed)).epsilon
        beyond += 1.0 - math.exp(-4.0 * epsilon) > 0.9
    assert beyond <= 3  # fewer than 1 is expected, and 6 without the error


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "one target"),
        ({"kept": 0.2, "success": 0.2}, "one target"),
        ({"kept": 1.5}, "between 0 and 1"),
        ({"kept": "much"}, "between 0 and 1"),
        ({"similarity": "much"}, "between 0 and 1"),
        ({"candidates": -1}, "above 0"),
        ({"candidates": float("nan")}, "above 0"),
        ({"success": 0.2, "worst": 0.1}, "`worst`"),
        ({"kept": 0.2, "worst": 1.0}, "`worst`"),
        ({"kept": 0.2, "worst": "few"}, "`worst`"),
    ],
)
def test_wrong_targets_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        calibrate("tem", WORDS, **options)  # type: ignore[arg-type]


def test_several_occurrences_of_noise_cost_epsilon() -> None:
    once = calibrate("laplace", WORDS, success=0.5, rng=seeded_rng(1))
    often = calibrate("laplace", WORDS, success=0.5, occurrences=4, rng=seeded_rng(1))
    assert often.epsilon < 0.9 * once.epsilon
    assert often.bounds[[point[0] for point in often.curve].index(often.epsilon)] <= 0.5


def test_a_mechanism_is_needed() -> None:
    with pytest.raises(ParameterError, match="its class or its name"):
        calibrate(3, WORDS, kept=0.2)  # type: ignore[arg-type]

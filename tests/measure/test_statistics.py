"""Statistics of words: exact ones against brute force, sampled ones against exact ones."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.measure.opaque import Opaque

from malaprop import TEM, Laplace, Lexicon, ParameterError, seeded_rng
from malaprop.measure import statistics, word_statistics
from malaprop.measure.word_statistics import registry, statistics_of
from malaprop.privacy.channel import LawChannel
from malaprop.privacy.metrics import MetricSpace

LINE = Lexicon(["cold", "cool", "warm", "hot"], [[0.0], [1.0], [3.0], [3.5]])


def _law(channel: LawChannel) -> np.ndarray:  # type: ignore[type-arg]
    return np.exp(channel.log_probabilities(np.arange(len(channel.lexicon))))


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.floats(-5, 5, width=32), min_size=2, max_size=7, unique=True),
    st.floats(0.1, 8.0),
    st.floats(1.0, 5.0),
)
def test_exact_statistics_are_those_of_the_law(
    places: list[float], epsilon: float, factor: float
) -> None:
    lexicon = Lexicon([f"w{i}" for i in range(len(places))], [[x] for x in places])
    channel = TEM(epsilon=epsilon).on(lexicon)
    law, found = _law(channel), statistics(channel, runs=50, factor=factor)
    assert found.exact
    for word, row in enumerate(law):
        assert found.kept[word] == pytest.approx(row[word])
        assert found.distinct[word] == pytest.approx(sum(1 - (1 - p) ** 50 for p in row))
        assert found.values["likely"][word] == sum(row > 1 / 50)
        assert found.entropy[word] == pytest.approx(-sum(p * math.log2(p) for p in row if p))
        assert found.values["min_entropy"][word] == pytest.approx(-math.log2(row.max()))
        assert found.values["hartley"][word] == pytest.approx(math.log2(np.count_nonzero(row)))
        assert found.moved[word] == pytest.approx(row @ np.abs(np.subtract(places, places[word])))
        explained = [
            sum(p / factor * (1 - 1e-9) <= q <= p * factor * (1 + 1e-9) for q in law[:, y])
            for y, p in enumerate(row)
        ]
        assert found.candidates[word] == pytest.approx(row @ explained, rel=1e-6)


def test_candidates_of_drawn_outputs_are_near_those_of_all_outputs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    vectors = seeded_rng(3).normal(size=(60, 3))
    channel = TEM(epsilon=3.0).on(Lexicon([f"w{i}" for i in range(60)], vectors))
    all_outputs = statistics(channel).candidates
    monkeypatch.setattr(word_statistics, "_SMALL", 10)
    monkeypatch.setattr(word_statistics, "_OUTPUTS", 4000)
    drawn = statistics(channel, rng=seeded_rng(4)).candidates
    np.testing.assert_allclose(drawn, all_outputs, rtol=0.1)


def test_sampled_statistics_are_near_exact_ones() -> None:
    channel = TEM(epsilon=2.0).on(LINE)
    exact = statistics(channel, runs=20_000)
    drawn = statistics(Opaque(channel), runs=20_000, rng=seeded_rng(5))
    assert not drawn.exact
    for name in exact.values:
        np.testing.assert_allclose(drawn.values[name], exact.values[name], rtol=0.05, atol=0.02)
    low, high = drawn.kept_intervals.T
    assert (low < drawn.kept).all()
    assert (drawn.kept < high).all()
    assert (high - low < 0.02).all()
    assert (exact.kept_intervals == exact.kept[:, None]).all()


def test_noise_on_vectors_is_sampled() -> None:
    found = statistics(Laplace(epsilon=2.0).on(LINE), runs=200, rng=seeded_rng(6))
    assert not found.exact
    assert ((found.kept > 0) & (found.kept < 1)).all()
    assert found.distinct.max() <= 4


def test_a_summary_names_the_worst_words() -> None:
    found = statistics(TEM(epsilon=2.0).on(LINE))
    kept = found.summary()["kept"]
    assert kept.worst[0] == ("cold", found.kept[0])
    assert kept.max == found.kept.max() >= kept.p95 >= kept.p50 >= kept.p5 >= kept.min
    assert kept.interval == (kept.mean, kept.mean)  # all words, exactly
    many = Lexicon([f"w{i}" for i in range(200)], seeded_rng(3).normal(size=(200, 8)))
    mean = statistics(TEM(epsilon=2.0).on(many)).summary()["kept"]
    assert mean.interval == (mean.mean, mean.mean)  # to the last digit
    some = statistics(TEM(epsilon=2.0).on(LINE), words=["cold", "hot"]).summary()["kept"]
    assert some.interval[0] < some.mean < some.interval[1]
    assert found.summary()["entropy"].worst[0][1] == found.entropy.min()
    assert set(found.to_dict()["summary"]) == set(registry) - {"hierarchy"}


def test_statistics_of_one_kind_are_those_of_all() -> None:
    channel = TEM(epsilon=2.0).on(LINE)
    for name, values in statistics(channel).values.items():
        alone = statistics_of(channel, np.arange(4), name, 1000, seeded_rng(0))
        np.testing.assert_array_equal(alone, values)


def test_progress_is_reported_to_the_end() -> None:
    seen: list[tuple[int, int]] = []
    statistics(Laplace(epsilon=2.0).on(LINE), runs=10, progress=lambda *step: seen.append(step))
    assert seen[-1][0] == seen[-1][1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"words": []}, "1 word or more"),
        ({"words": 0}, "1 word or more"),
        ({"words": ["colt"]}, "not in the lexicon"),
        ({"words": "cold"}, "a list of words"),
        ({"words": 1.5}, "a list of words"),
        ({"runs": 3}, "10 or more"),
        ({"factor": 0.5}, "1 or more"),
        ({"factor": "two"}, "1 or more"),
        ({"least": -0.1}, "0 or more, below 1"),
        ({"least": "x"}, "0 or more, below 1"),
    ],
)
def test_wrong_parameters_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        statistics(TEM(epsilon=2.0).on(LINE), **options)  # type: ignore[arg-type]


def test_a_list_of_words_is_not_quoted() -> None:
    """It may be a file of the user's text, named by mistake."""
    with pytest.raises(ParameterError, match="Entry 2") as caught:
        statistics(TEM(epsilon=2.0).on(LINE), words=["cold", "my secret note"])
    assert "secret" not in str(caught.value)


def test_words_are_spread_over_a_large_lexicon() -> None:
    size = 10_001
    large: MetricSpace = Lexicon([f"w{i}" for i in range(size)], np.arange(size)[:, None] / 100)
    kept = statistics_of(TEM(epsilon=1.0).on(large), np.array([0, 5]), "kept", 10, seeded_rng(1))
    assert kept.shape == (2,)


def test_the_interval_of_a_mean_has_the_error_of_noise_that_words_share() -> None:
    """Words at equal distances that share noise have equal errors: words do not tell it."""
    row = Lexicon([f"w{i}" for i in range(1_000)], np.arange(1_000.0)[:, None])
    channel, words = Laplace(epsilon=1.0).on(row), [f"w{i}" for i in range(300, 700, 50)]
    truth = {"kept": 1.0 - math.exp(-0.5), "moved": 0.5 / math.sinh(0.5)}
    tries = [
        statistics(channel, words=words, runs=40, rng=seeded_rng(seed)).summary()
        for seed in range(150)
    ]
    for name in ("kept", "moved", "distinct"):
        means = np.array([summary[name].mean for summary in tries])
        low, high = np.array([summary[name].interval for summary in tries]).T
        middle = truth.get(name, means.mean())
        covered = np.mean((low <= middle) & (middle <= high))
        assert covered > 0.85, name  # 0.95 expected; chance below 1e-6; by words alone, near 0
        assert np.median(high - low) < 1.4 * 2.0 * 1.96 * means.std()


def test_intervals_stop_at_what_is_possible() -> None:
    """Nearly equal chances of four words: 2 bits, four outputs and four candidates at most."""
    equal = Opaque(TEM(epsilon=0.01).on(LINE))
    tries = [statistics(equal, ["cool", "hot"], 10, seeded_rng(seed)) for seed in range(20)]
    for name, most in {"entropy": 2.0, "min_entropy": 2.0, "hartley": 2.0, "distinct": 4.0}.items():
        ends = [found.summary()[name].interval[1] for found in tries]
        assert max(ends) == most, name  # beyond it without the limit
        assert all(found.summary()[name].mean <= most for found in tries)
    assert all(found.summary()["candidates"].interval[0] >= 1.0 for found in tries)
    assert all(found.summary()["candidates"].interval[1] <= 4.0 for found in tries)


def test_rounding_puts_no_mean_beyond_its_interval() -> None:
    ring = Lexicon([f"w{i}" for i in range(7)], np.eye(7))  # all words are equally far apart
    entropy = statistics(TEM(epsilon=1e-9).on(ring)).summary()["entropy"]
    assert entropy.interval == (entropy.mean, entropy.mean)

"""Draws that share noise: each word's law is that of its own draws."""

import numpy as np
import pytest
from scipy.stats import chi2

from malaprop import TEM, CoordinateLaplace, Laplace, Lexicon, Mahalanobis, PrivEmb, seeded_rng
from malaprop.measure.word_statistics import statistics
from malaprop.privacy import estimate as shared_noise
from malaprop.privacy.arrays import Ids
from malaprop.privacy.channel import Channel, VectorChannel
from malaprop.privacy.estimate import shared_draws, shares_noise

_LEVEL = 1e-6


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Lexicon:
    """Return a small lexicon, far from the origin, which counts as a large one."""
    monkeypatch.setattr(shared_noise, "SMALLEST", 2)
    monkeypatch.setattr(shared_noise, "TOGETHER", 3)
    monkeypatch.setattr(shared_noise, "_PRODUCTS", 5000)
    vectors = seeded_rng(1).normal(size=(8, 4)) + 100.0
    return Lexicon([f"w{i}" for i in range(8)], vectors)


def _disagree(one: Ids, other: Ids, size: int) -> bool:
    """Whether two samples of words have different laws: the χ² test of homogeneity."""
    counts = np.array([np.bincount(each, minlength=size) for each in (one, other)])
    counts = counts[:, counts.sum(axis=0) >= 20]
    expected = counts.sum(axis=1)[:, None] * counts.sum(axis=0) / counts.sum()
    statistic = ((counts - expected) ** 2 / expected).sum()
    return bool(statistic > chi2.isf(_LEVEL, counts.shape[1] - 1))


@pytest.mark.parametrize(
    "mechanism", [Laplace(epsilon=3.0), CoordinateLaplace(epsilon=3.0), Mahalanobis(epsilon=3.0)]
)
def test_each_word_has_its_own_law(mechanism: Laplace, small: Lexicon) -> None:
    channel, ids = mechanism.on(small), np.arange(8)
    assert isinstance(channel, VectorChannel)
    assert shares_noise(channel)
    drawn = shared_draws(channel, ids, 60_000, seeded_rng(2), None)
    off = mechanism.__class__(epsilon=3.0 * 1.05).on(small)
    rejected = []
    for word in ids:
        own = channel.substitute(np.full(60_000, word), seeded_rng(3))
        assert not _disagree(drawn[word], own, 8)
        rejected.append(
            _disagree(drawn[word], off.substitute(np.full(60_000, word), seeded_rng(4)), 8)
        )
    assert any(rejected)


def test_runs_of_a_word_do_not_depend_on_each_other(small: Lexicon) -> None:
    channel = Laplace(epsilon=3.0).on(small)
    assert isinstance(channel, VectorChannel)
    drawn = shared_draws(channel, np.arange(8), 20_000, seeded_rng(2), None)
    stays = drawn[0] == 0
    joint, single = (stays[1:] & stays[:-1]).mean(), stays.mean()
    assert joint == pytest.approx(single**2, abs=5 * (single / 20_000) ** 0.5)


@pytest.mark.parametrize(
    "channel",
    [
        lambda space: TEM(epsilon=3.0).on(space),
        lambda space: Laplace(epsilon=3.0, decoder="vickrey").on(space),
        lambda space: PrivEmb(epsilon=3.0).on(space),
        lambda space: Mahalanobis(epsilon=3.0, clusters=2).on(space),
    ],
)
def test_other_channels_draw_for_each_word(channel: object, small: Lexicon) -> None:
    assert callable(channel)
    made: Channel = channel(small)
    assert not shares_noise(made)
    assert len(statistics(made, runs=20, rng=seeded_rng(1)).kept) == 8


def test_progress_ends_at_the_end(small: Lexicon) -> None:
    steps: list[tuple[int, int]] = []
    statistics(
        Laplace(epsilon=3.0).on(small),
        runs=50,
        rng=seeded_rng(1),
        progress=lambda done, total: steps.append((done, total)),
    )
    assert steps == sorted(steps)
    assert steps[-1] == (400, 400)

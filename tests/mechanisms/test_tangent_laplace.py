import math

import numpy as np
import pytest
from scipy.stats import chisquare, gamma, kstest

from malaprop import Lexicon, MetricError, ParameterError, TangentLaplace, seeded_rng
from malaprop.lexicon.search import PoincareSearch
from malaprop.privacy import metrics
from malaprop.privacy.arrays import Floats

DRAWS = 40_000
WORDS = metrics.exp0(
    np.array([[0, 0], [1, 0], [1.2, 0.4], [-1, 1], [0, -2], [2.5, 0.2], [2.5, -0.2], [-2, -2]])
)
EIGHT = Lexicon([f"w{i}" for i in range(8)], WORDS, metric="poincare")


def space(dimension: int) -> Lexicon:
    far = np.full(dimension, math.tanh(1.0) / math.sqrt(dimension))
    return Lexicon(["origin", "one"], [np.zeros(dimension), far], metric="poincare")


def noise(dimension: int, epsilon: float, word: int) -> Floats:
    """What is added to a word's tangent vector."""
    lexicon = space(dimension)
    channel = TangentLaplace(epsilon=epsilon).on(lexicon)
    released = channel.release_words(np.full(DRAWS, word), seeded_rng(21))
    return metrics.log0(released) - metrics.log0(lexicon.vectors[[word]].astype(np.float64))


@pytest.mark.parametrize("word", [0, 1])
@pytest.mark.parametrize(("dimension", "epsilon"), [(1, 3.0), (3, 7.0), (10, 9.0)])
@pytest.mark.parametrize("factor", [0.95, 1.0, 1.05])
def test_the_radius_is_gamma_distributed_and_5_percent_are_noticed(
    dimension: int, epsilon: float, word: int, factor: float
) -> None:
    radii = np.linalg.norm(noise(dimension, factor * epsilon, word), axis=1)
    p = kstest(radii, gamma(dimension, scale=1 / epsilon).cdf).pvalue
    assert p > 1e-6 if factor == 1.0 else p < 1e-6


def test_the_direction_is_uniform() -> None:
    z = noise(3, 7.0, word=1)
    direction = z / np.linalg.norm(z, axis=1, keepdims=True)
    for axis in ((1, 0, 0), (0, 0, 1), (1, 1, 1)):
        projection = direction @ (np.array(axis) / np.linalg.norm(axis))
        assert kstest((projection + 1) / 2, "uniform").pvalue > 1e-6


def exact_law(epsilon: float) -> Floats:
    """Pr[y | w] of nearest-word decoding, by a sum over the tangent plane's small squares."""
    ticks = (np.arange(1400) + 0.5) * (20.0 / 1400) - 10.0
    tangents = np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2)
    nearest = PoincareSearch(EIGHT.vectors).nearest(
        metrics.exp0(metrics.shorten(tangents, metrics.REACH))
    )[:, 0]
    law = np.empty((8, 8))
    for w, v in enumerate(metrics.log0(EIGHT.vectors.astype(np.float64))):
        weight = np.exp(-epsilon * np.linalg.norm(tangents - v, axis=1))
        law[w] = np.bincount(nearest, weights=weight, minlength=8)
    return np.asarray(law / law.sum(axis=1, keepdims=True))


class TestExactLaw:
    law = exact_law(3.0)

    def test_the_loss_of_every_pair_is_within_the_guarantee(self) -> None:
        guarantee = TangentLaplace(epsilon=3.0).on(EIGHT).guarantee
        p = np.log(self.law)
        d = EIGHT.distances(np.arange(8))
        ratio = (p[:, None] - p[None]).max(axis=2)[d > 0] / [guarantee.loss(x) for x in d[d > 0]]
        assert 0.9 < ratio.max() <= 1.0 + 1e-3

    @pytest.mark.parametrize("factor", [0.95, 1.0, 1.05])
    def test_words_follow_it_and_5_percent_are_noticed(self, factor: float) -> None:
        channel = TangentLaplace(epsilon=factor * 3.0).on(EIGHT)
        ids = np.repeat([0, 2, 5], 100_000)
        drawn = channel.substitute(ids, seeded_rng(12))
        values = []
        for w in (0, 2, 5):
            expected = self.law[w] * 100_000
            counts = np.bincount(drawn[ids == w], minlength=8)
            seen = expected > 5
            scale = counts[seen].sum() / expected[seen].sum()
            values.append(chisquare(counts[seen], expected[seen] * scale).pvalue)
        assert min(values) > 1e-6 if factor == 1.0 else min(values) < 1e-6


def test_vectors_lie_on_a_grid_in_the_tangent_space() -> None:
    channel = TangentLaplace(epsilon=4.0).on(EIGHT)
    released = channel.release_words(np.arange(8).repeat(50), seeded_rng(5))
    steps = np.rint(metrics.log0(released) / channel.noise.grid.step)
    assert np.array_equal(metrics.exp0(steps * channel.noise.grid.step), released)


@pytest.mark.parametrize("epsilon", [1e-9, 0.01, 1.0, 1e5])
def test_any_epsilon_will_do_and_nothing_leaves_the_ball(epsilon: float) -> None:
    channel = TangentLaplace(epsilon=epsilon).on(EIGHT)
    released = channel.release_words(np.arange(8).repeat(100), seeded_rng(5))
    metrics.in_ball(released)
    Lexicon([str(i) for i in range(800)], released, metric="poincare")
    if epsilon == 1e5:
        assert channel.substitute(np.arange(8), seeded_rng(1)).tolist() == list(range(8))


def test_what_is_refused(plane: Lexicon) -> None:
    with pytest.raises(MetricError, match="TEM"):
        TangentLaplace(epsilon=5.0).on(plane)
    with pytest.raises(ParameterError, match="float64"):
        TangentLaplace(epsilon=1e12).on(EIGHT)
    with pytest.raises(ParameterError, match="Poincaré ball"):
        TangentLaplace(epsilon=1.0).on(EIGHT).release([[0.8, 0.7]], seeded_rng(1))

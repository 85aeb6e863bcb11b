import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy.stats import gamma, kstest, laplace

from malaprop import CoordinateLaplace, Kind, Lexicon, MetricError, seeded_rng

DRAWS = 20_000
SPACE = Lexicon(["origin", "one"], np.vstack([np.zeros(4), np.ones(4)]))


def noise(epsilon: float, seed: int = 5) -> NDArray[np.float64]:
    channel = CoordinateLaplace(epsilon=epsilon).on(SPACE)
    return channel.release(np.zeros((DRAWS, 4)), seeded_rng(seed))


@pytest.mark.parametrize("epsilon", [0.3, 7.0])
class TestNoise:
    def test_each_coordinate_is_laplace(self, epsilon: float) -> None:
        z = noise(epsilon)
        assert kstest(z.ravel() * epsilon, laplace.cdf).pvalue > 1e-6

    def test_the_manhattan_norm_is_gamma(self, epsilon: float) -> None:
        """This holds only if the coordinates are independent, as the density requires."""
        assert kstest(np.abs(noise(epsilon)).sum(axis=1) * epsilon, gamma(4).cdf).pvalue > 1e-6

    @pytest.mark.parametrize("factor", [0.95, 1.05])
    def test_a_scale_off_by_5_percent_is_noticed(self, epsilon: float, factor: float) -> None:
        z = noise(epsilon * factor)
        assert kstest(z.ravel() * epsilon, laplace.cdf).pvalue < 1e-6


points = arrays(np.float64, 3, elements=st.floats(-5, 5))


@given(x=points, other=points, y=points, epsilon=st.floats(0.1, 5))
def test_the_loss_is_within_both_guarantees(
    x: NDArray[np.float64], other: NDArray[np.float64], y: NDArray[np.float64], epsilon: float
) -> None:
    lexicon = Lexicon(["x", "other"], np.stack([x, other]))
    guarantee = CoordinateLaplace(epsilon=epsilon).on(lexicon).guarantee
    density = laplace(scale=1 / epsilon).logpdf
    loss = density(y - x).sum() - density(y - other).sum()
    assert guarantee.metric == "manhattan"
    assert loss <= guarantee.loss(float(np.abs(x - other).sum())) + 1e-9
    euclidean = dict(guarantee.equivalents)["euclidean"] * np.linalg.norm(x - other)
    assert loss <= euclidean + 1e-9


@pytest.mark.parametrize("dimension", [1, 4, 300])
def test_in_euclidean_distance_it_costs_the_root_of_the_dimension(dimension: int) -> None:
    """Attained along the diagonal: sold as ε per Euclidean unit, the guarantee would be false."""
    x, other = np.zeros(dimension), np.full(dimension, 0.5)
    lexicon = Lexicon(["x", "other"], np.stack([x, other]))
    guarantee = CoordinateLaplace(epsilon=2.0).on(lexicon).guarantee
    loss = laplace(scale=0.5).logpdf(x - x).sum() - laplace(scale=0.5).logpdf(x - other).sum()
    distance = float(np.linalg.norm(x - other))
    equivalent = dict(guarantee.equivalents)["euclidean"]
    assert equivalent == pytest.approx(2.0 * math.sqrt(dimension))
    assert loss == pytest.approx(equivalent * distance)
    assert dimension == 1 or loss > 1.9 * 2.0 * distance


@pytest.mark.parametrize("metric", ["manhattan", "euclidean"])
def test_epsilon_means_the_same_whatever_the_lexicon_measures(plane: Lexicon, metric: str) -> None:
    ids = np.arange(40).repeat(5)
    channel = CoordinateLaplace(epsilon=1.5).on(plane.with_metric(metric))
    reference = CoordinateLaplace(epsilon=1.5).on(plane)
    assert str(channel.guarantee) == str(reference.guarantee)
    assert channel.guarantee.kind is Kind.METRIC
    assert "In euclidean distance, ε = 2.12" in str(channel.guarantee)
    drawn = channel.release_words(ids, seeded_rng(2))
    assert np.array_equal(drawn, reference.release_words(ids, seeded_rng(2)))


@pytest.mark.parametrize("metric", ["angular", "chebyshev"])
def test_other_metrics_are_refused(plane: Lexicon, metric: str) -> None:
    with pytest.raises(MetricError, match="manhattan"):
        CoordinateLaplace(epsilon=1.0).on(plane.with_metric(metric))

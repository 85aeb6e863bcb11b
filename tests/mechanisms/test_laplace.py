import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import gamma, kstest

from malaprop import Laplace, Lexicon, MetricError, ParameterError, seeded_rng

DRAWS = 40_000


def noise(lexicon: Lexicon, epsilon: float, seed: int = 21) -> NDArray[np.float64]:
    zeros = np.zeros((DRAWS, lexicon.vectors.shape[1]))
    return Laplace(epsilon=epsilon).on(lexicon).release(zeros, seeded_rng(seed))


def space(dimension: int) -> Lexicon:
    return Lexicon(["origin", "one"], np.vstack([np.zeros(dimension), np.ones(dimension)]))


@pytest.mark.parametrize("dimension", [1, 3, 50])
@pytest.mark.parametrize("epsilon", [0.3, 7.0])
class TestRadius:
    def test_it_is_gamma_distributed(self, dimension: int, epsilon: float) -> None:
        radii = np.linalg.norm(noise(space(dimension), epsilon), axis=1)
        # A radius below a grid step is rounded; the grid is 1/1024 of a standard deviation.
        assert kstest(radii, gamma(dimension, scale=1 / epsilon).cdf).pvalue > 1e-6

    @pytest.mark.parametrize("factor", [0.95, 1.05])
    def test_a_scale_off_by_5_percent_is_noticed(
        self, dimension: int, epsilon: float, factor: float
    ) -> None:
        radii = np.linalg.norm(noise(space(dimension), factor * epsilon), axis=1)
        assert kstest(radii, gamma(dimension, scale=1 / epsilon).cdf).pvalue < 1e-6


def test_per_coordinate_noise_would_be_noticed() -> None:
    """Laplace noise on each coordinate, of the same total variance, has another radius."""
    rng = seeded_rng(3)
    radii = np.linalg.norm(rng.laplace(scale=np.sqrt(51 / 2), size=(DRAWS, 50)), axis=1)
    assert kstest(radii, gamma(50).cdf).pvalue < 1e-6


@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 0, 1), (1, 1, 1), (2, -1, 0.5)])
def test_the_direction_is_uniform(axis: tuple[float, float, float]) -> None:
    """On a sphere in three dimensions, the projection on any axis is uniform on −1 … 1."""
    z = noise(space(3), epsilon=1.0)
    direction = z / np.linalg.norm(z, axis=1, keepdims=True)
    projection = direction @ (np.array(axis) / np.linalg.norm(axis))
    assert kstest((projection + 1) / 2, "uniform").pvalue > 1e-6


def test_direction_and_radius_are_independent() -> None:
    z = noise(space(3), epsilon=1.0)
    radius = np.linalg.norm(z, axis=1)
    correlation = np.corrcoef(radius, np.abs(z[:, 0]) / radius)[0, 1]
    assert abs(correlation) < 5.0 / np.sqrt(DRAWS)


def test_released_vectors_lie_on_a_grid_of_a_power_of_two() -> None:
    y = noise(space(4), epsilon=1.7)
    spread = np.sqrt(5) / 1.7
    grid = 2.0 ** (np.floor(np.log2(spread)) - 10)
    assert np.array_equal(y / grid, np.rint(y / grid))
    assert not np.array_equal(y / (4 * grid), np.rint(y / (4 * grid)))


def test_decoding_takes_the_nearest_word(plane: Lexicon) -> None:
    """The same stream, decoded by hand."""
    ids = np.arange(40).repeat(50)
    channel = Laplace(epsilon=0.8).on(plane)
    vectors = channel.release(plane.vectors[ids], seeded_rng(5))
    difference = vectors[:, None, :] - plane.vectors[None].astype(np.float64)
    nearest = (difference**2).sum(axis=2).argmin(axis=1)
    assert np.array_equal(channel.substitute(ids, seeded_rng(5)), nearest)


def test_it_needs_the_euclidean_metric(plane: Lexicon) -> None:
    with pytest.raises(MetricError, match="TEM"):
        Laplace(epsilon=1.0).on(plane.with_metric("manhattan"))


@pytest.mark.parametrize(
    "vectors", [[[1.0]], [1.0, 2.0], [[np.nan, 0.0]], [[np.inf, 0.0]], [[1.0, 2.0, 3.0]]]
)
def test_wrong_vectors_are_refused(plane: Lexicon, vectors: object) -> None:
    with pytest.raises(ParameterError):
        Laplace(epsilon=1.0).on(plane).release(vectors, seeded_rng(1))


def test_noise_that_float64_cannot_hide_is_refused(plane: Lexicon) -> None:
    """If noise vanishes in the last bits, x + z is x: no release is better than that one."""
    with pytest.raises(ParameterError, match="float64"):
        Laplace(epsilon=1e12).on(plane)
    with pytest.raises(ParameterError, match="float64"):
        Laplace(epsilon=1.0).on(plane).release([[1e14, 0.0]], seeded_rng(1))
    with pytest.raises(ParameterError, match="float64"):
        Laplace(epsilon=1e-300).on(plane)


def test_the_refusal_does_not_quote_the_vectors(plane: Lexicon) -> None:
    with pytest.raises(ParameterError) as caught:
        Laplace(epsilon=1.0).on(plane).release([[1.2345e14, 0.0]], seeded_rng(1))
    assert "1.23" not in str(caught.value)


def test_a_function_that_is_called_euclidean_is_not_enough(plane: Lexicon) -> None:
    def euclidean(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
        return 0.01 * float(np.linalg.norm(x - y))

    with pytest.raises(MetricError):
        Laplace(epsilon=1.0).on(plane.with_metric(euclidean))


def test_tiny_and_large_epsilons_that_work(plane: Lexicon) -> None:
    ids = np.arange(40)
    assert np.array_equal(Laplace(epsilon=1e5).on(plane).substitute(ids, seeded_rng(1)), ids)
    far = Laplace(epsilon=1e-9).on(plane).substitute(ids.repeat(10), seeded_rng(1))
    # Infinitely far away, only words on the convex hull are ever the nearest.
    assert len(np.unique(far)) < 20


def test_words_and_their_vectors_are_released_alike(plane: Lexicon) -> None:
    channel = Laplace(epsilon=1.0).on(plane)
    words = channel.release_words([3, 3, 9], seeded_rng(4))
    assert np.array_equal(words, channel.release(plane.vectors[[3, 3, 9]], seeded_rng(4)))

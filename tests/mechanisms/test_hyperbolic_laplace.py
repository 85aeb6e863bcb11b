import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import betainc, digamma
from scipy.stats import chisquare, kstest

from malaprop import HyperbolicLaplace, Lexicon, MetricError, ParameterError, seeded_rng
from malaprop.lexicon.search import PoincareSearch
from malaprop.privacy import metrics
from malaprop.privacy.arrays import Floats
from malaprop.privacy.noise import HyperbolicLaplaceNoise

DRAWS = 40_000
CASES = [(1, 0.4), (1, 5.0), (2, 1.5), (2, 3.0), (3, 12.0), (10, 9.3), (10, 30.0), (50, 52.0)]


def ball(dimension: int, far: float = 2.0) -> Lexicon:
    axis = np.zeros(dimension)
    axis[0] = math.tanh(far / 2.0)
    return Lexicon(["origin", "one"], [np.zeros(dimension), axis], metric="poincare")


def _noise(dimension: int, epsilon: float) -> HyperbolicLaplaceNoise:
    noise: HyperbolicLaplaceNoise = HyperbolicLaplace(epsilon=epsilon).on(ball(dimension)).noise
    return noise


def lengths(dimension: int, epsilon: float, seed: int = 21) -> Floats:
    return _noise(dimension, epsilon)._lengths(DRAWS, seeded_rng(seed))


def cdf(dimension: int, epsilon: float, rho: Floats) -> Floats:
    """Pr[d(x, y) ≤ ρ]: V = e^−2ρ has a Beta distribution."""
    a = (epsilon - dimension + 1.0) / 2.0
    return np.asarray(1.0 - betainc(a, dimension, np.exp(-2.0 * rho)))


class TestLength:
    @pytest.mark.parametrize(("dimension", "epsilon"), CASES)
    def test_the_beta_distribution_is_the_one_of_the_density(
        self, dimension: int, epsilon: float
    ) -> None:
        """The CDF itself, against the integral of e^−ερ·sinh^{n−1}ρ: no sample could tell 10⁻⁴."""

        def density(rho: float) -> float:
            if rho == 0.0:
                return float(dimension == 1)
            sinh = math.log(-math.expm1(-2.0 * rho)) + rho  # ln(2·sinh ρ)
            return math.exp(-epsilon * rho + (dimension - 1) * sinh)

        total = quad(density, 0.0, 1.0, epsabs=0, epsrel=1e-11, limit=200)[0]
        total += quad(density, 1.0, math.inf, epsabs=0, epsrel=1e-11, limit=200)[0]
        for rho in (0.05, 0.3, 1.0, 2.5):
            below = quad(density, 0.0, rho, epsabs=0, epsrel=1e-11, limit=200)[0]
            expected = float(cdf(dimension, epsilon, np.array(rho)))
            assert below / total == pytest.approx(expected, rel=1e-7, abs=1e-12)

    def test_two_gammas_make_it(self) -> None:
        """What is drawn is a function of two Gamma variates that is exact to the last digits."""

        class Fixed:
            def standard_gamma(self, shape: float, size: int) -> Floats:
                drawn = {0.5: [1e-320, 0.0, 1e-9, 3.0, 2.0], 10: [9.0, 9.0, 9.0, 1.0, 1e-12]}
                return np.array(drawn[shape])

        found = _noise(10, 10.0)._lengths(5, Fixed())  # type: ignore[arg-type]
        assert found[:2].tolist() == [300.0, 300.0]
        expected = [-0.5 * math.log(1e-9 / 9.0), 0.5 * math.log(4 / 3), 2.5e-13]
        np.testing.assert_allclose(found[2:], expected, rtol=1e-9)

    @pytest.mark.parametrize(("dimension", "epsilon"), CASES)
    def test_draws_follow_it_and_5_percent_are_noticed(
        self, dimension: int, epsilon: float
    ) -> None:
        def p_value(drawn_with: float) -> float:
            drawn = lengths(dimension, drawn_with)
            found = kstest(drawn, lambda rho: cdf(dimension, epsilon, rho))
            return float(found.pvalue)

        assert p_value(epsilon) > 1e-6
        assert p_value(1.05 * epsilon) < 1e-6

    @pytest.mark.parametrize(("dimension", "epsilon"), CASES)
    def test_the_moments(self, dimension: int, epsilon: float) -> None:
        a = (epsilon - dimension + 1.0) / 2.0
        rho = lengths(dimension, epsilon)
        kept = np.exp(-2.0 * rho)
        error = 6.0 / math.sqrt(DRAWS)
        assert kept.mean() == pytest.approx(a / (a + dimension), abs=error * kept.std())
        mean = 0.5 * (digamma(a + dimension) - digamma(a))
        assert rho.mean() == pytest.approx(mean, abs=error * rho.std())
        assert _noise(dimension, epsilon).mean == pytest.approx(mean, rel=1e-12)

    def test_the_reference_mean(self) -> None:
        assert _noise(2, 3.0).mean == pytest.approx(0.75, rel=1e-15)


WORDS = metrics.exp0(
    np.array([[0, 0], [1, 0], [1.2, 0.4], [-1, 1], [0, -2], [2.5, 0.2], [2.5, -0.2], [-2, -2]])
)
EIGHT = Lexicon([f"w{i}" for i in range(8)], WORDS, metric="poincare")


def exact_law(epsilon: float) -> Floats:
    """Pr[y | w] of nearest-word decoding in the plane, by a sum over 1.6 million small areas."""
    rho, theta = np.meshgrid(
        (np.arange(2000) + 0.5) * (16.0 / 2000), (np.arange(800) + 0.5) * (2 * np.pi / 800)
    )
    flat, angle = rho.ravel(), theta.ravel()
    # Centred at a word's mean place, none of the mass is beyond 16.
    points = np.tanh(flat / 2)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    area = np.sinh(flat) * (16.0 / 2000) * (2 * np.pi / 800)
    nearest = PoincareSearch(EIGHT.vectors).nearest(points)[:, 0]
    law = np.empty((8, 8))
    for w, x in enumerate(EIGHT.vectors.astype(np.float64)):
        weight = np.exp(-epsilon * metrics.distances(np.tile(x, (len(points), 1)), points)) * area
        law[w] = np.bincount(nearest, weights=weight, minlength=8)
    return law


class TestExactLaw:
    epsilon = 3.0
    law = exact_law(3.0)

    def test_the_normalising_constant_is_the_same_for_all_words(self) -> None:
        """2π·∫e^−ερ·sinh ρ dρ = 2π/(ε² − 1), wherever the centre is: that is why no 2 is lost."""
        np.testing.assert_allclose(self.law.sum(axis=1), 2 * np.pi / 8.0, rtol=2e-4)

    def test_the_loss_of_every_pair_is_within_the_guarantee(self) -> None:
        guarantee = HyperbolicLaplace(epsilon=self.epsilon).on(EIGHT).guarantee
        p = np.log(self.law / self.law.sum(axis=1, keepdims=True))
        d = EIGHT.distances(np.arange(8))
        ratio = (p[:, None] - p[None]).max(axis=2)[d > 0] / [guarantee.loss(x) for x in d[d > 0]]
        assert 0.95 < ratio.max() <= 1.0 + 1e-3

    @pytest.mark.parametrize("factor", [0.95, 1.0, 1.05])
    def test_words_follow_it_and_5_percent_are_noticed(self, factor: float) -> None:
        channel = HyperbolicLaplace(epsilon=factor * self.epsilon).on(EIGHT)
        ids = np.repeat([0, 2, 5], 100_000)
        drawn = channel.substitute(ids, seeded_rng(11))
        values = []
        for w in (0, 2, 5):
            expected = self.law[w] / self.law[w].sum() * 100_000
            counts = np.bincount(drawn[ids == w], minlength=8)
            seen = expected > 5
            scale = counts[seen].sum() / expected[seen].sum()
            values.append(chisquare(counts[seen], expected[seen] * scale).pvalue)
        assert min(values) > 1e-6 if factor == 1.0 else min(values) < 1e-6


class TestRelease:
    @pytest.mark.parametrize(("dimension", "epsilon"), CASES)
    def test_noise_is_where_it_should_be(self, dimension: int, epsilon: float) -> None:
        """Around a word off the origin, up to the grid."""
        lexicon = ball(dimension, far=2.0)
        channel = HyperbolicLaplace(epsilon=epsilon).on(lexicon)
        released = channel.release_words(np.ones(2000, int), seeded_rng(3))
        centre = np.tile(lexicon.vectors[1].astype(np.float64), (2000, 1))
        far = metrics.distances(centre, released)
        shift = channel.noise.grid.step * math.sqrt(dimension)
        truth = cdf(dimension, epsilon, np.array([0.5, 1.0, 2.0]))
        for rho, p in zip([0.5, 1.0, 2.0], truth, strict=True):
            low = cdf(dimension, epsilon, np.array(max(rho - shift, 0.0)))
            high = cdf(dimension, epsilon, np.array(rho + shift))
            noise = 6.0 * math.sqrt(p * (1 - p) / 2000) + 1e-3
            assert low - noise <= np.mean(far <= rho) <= high + noise

    @pytest.mark.parametrize("far", [0.0, 5.0, 12.0])
    def test_vectors_lie_on_a_grid_on_the_hyperboloid(self, far: float) -> None:
        lexicon = ball(3, far)
        channel = HyperbolicLaplace(epsilon=4.0).on(lexicon)
        released = channel.release_words(np.ones(500, int), seeded_rng(5))
        steps = np.rint(metrics.lift(released) / channel.noise.grid.step)
        assert np.array_equal(metrics.lower(steps * channel.noise.grid.step), released)

    def test_equal_grid_points_are_equal_vectors(self) -> None:
        """Few vectors can be released near a word: their last bits reveal nothing."""
        channel = HyperbolicLaplace(epsilon=400.0).on(ball(1))
        released = channel.release_words(np.ones(5000, int), seeded_rng(5))
        assert len(np.unique(released)) < 1000

    def test_it_never_leaves_the_ball(self) -> None:
        """Just above n − 1, noise is arbitrarily long, and too long for float64."""
        for epsilon in (1.0 + 1e-12, 1.001, 1.1):
            channel = HyperbolicLaplace(epsilon=epsilon).on(ball(2, far=2.0))
            released = channel.release_words(np.ones(2000, int), seeded_rng(5))
            metrics.in_ball(released)
            Lexicon([str(i) for i in range(2000)], released, metric="poincare")

    def test_any_point_of_the_ball_may_be_released_and_no_other(self) -> None:
        channel = HyperbolicLaplace(epsilon=3.0).on(ball(2))
        assert channel.release([[0.3, -0.4]], seeded_rng(1)).shape == (1, 2)
        with pytest.raises(ParameterError, match="Poincaré ball"):
            channel.release([[0.8, 0.7]], seeded_rng(1))


@pytest.mark.parametrize("epsilon", [0.1, 8.999, 9.0])
def test_below_n_minus_1_it_is_refused_with_the_alternative(epsilon: float) -> None:
    with pytest.raises(ParameterError, match=r"above n − 1 = 9 .* Use TEM, or TangentLaplace"):
        HyperbolicLaplace(epsilon=epsilon).on(ball(10))


def test_it_needs_the_poincare_metric(plane: Lexicon) -> None:
    with pytest.raises(MetricError, match="TEM"):
        HyperbolicLaplace(epsilon=5.0).on(plane)


def test_noise_that_float64_cannot_hide_is_refused() -> None:
    with pytest.raises(ParameterError, match="float64"):
        HyperbolicLaplace(epsilon=1e6).on(ball(2, far=14.0))
    channel = HyperbolicLaplace(epsilon=1e6).on(ball(2, far=2.0))
    assert channel.substitute([0, 1], seeded_rng(1)).tolist() == [0, 1]
    with pytest.raises(ParameterError, match="float64"):
        channel.release([[0.0, metrics.EDGE]], seeded_rng(1))


def test_ways_too_long_for_float64_are_refused() -> None:
    """Far out, and just above n − 1, a move back across the origin cancels all digits."""
    with pytest.raises(ParameterError, match="float64 cannot hide"):
        HyperbolicLaplace(epsilon=0.1).on(ball(1, far=12.0))
    HyperbolicLaplace(epsilon=1.0).on(ball(1, far=2.0))

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy.stats import kstest, norm
from tests.draws import off_by, p_value

from malaprop import (
    Gaussian,
    Kind,
    Lexicon,
    MetricError,
    ParameterError,
    audit,
    gaussian_scale,
    seeded_rng,
)
from malaprop.measure.bayes import vector_likelihoods
from malaprop.mechanisms.gaussian import diameter
from malaprop.privacy.channel import VectorChannel
from malaprop.privacy.gaussian_noise import classical_scale

DRAWS = 20_000
LINE = Lexicon(["a", "b", "c"], [[0.0], [1.0], [3.0]])
SPACE = Lexicon(["origin", "one"], np.vstack([np.zeros(5), np.ones(5)]))


def noise(mechanism: Gaussian, seed: int = 4) -> NDArray[np.float64]:
    return mechanism.on(SPACE).release(np.zeros((DRAWS, 5)), seeded_rng(seed))


@pytest.mark.parametrize("sensitivity", [0.2, 3.0])
class TestNoise:
    def test_each_coordinate_is_normal(self, sensitivity: float) -> None:
        z = noise(Gaussian(epsilon=1.0, sensitivity=sensitivity))
        sigma = gaussian_scale(1.0, 1e-5, sensitivity)
        assert kstest(z.ravel() / sigma, norm.cdf).pvalue > 1e-6
        correlation = np.corrcoef(z.T) - np.eye(5)
        assert np.abs(correlation).max() < 5 / math.sqrt(DRAWS)

    @pytest.mark.parametrize("factor", [0.95, 1.05])
    def test_a_scale_off_by_5_percent_is_noticed(self, sensitivity: float, factor: float) -> None:
        z = noise(Gaussian(epsilon=1.0, sensitivity=factor * sensitivity))
        assert kstest(z.ravel() / gaussian_scale(1.0, 1e-5, sensitivity), norm.cdf).pvalue < 1e-6

    def test_a_variance_of_sigma_would_be_noticed(self, sensitivity: float) -> None:
        """N(0, σI), as the paper prints, is not N(0, σ²I)."""
        sigma = gaussian_scale(1.0, 1e-5, sensitivity)
        planted = math.sqrt(sigma) * seeded_rng(3).standard_normal(5 * DRAWS)
        assert kstest(planted / sigma, norm.cdf).pvalue < 1e-6


def attack(sigma_of_noise: float, epsilon: float, ratio: float) -> tuple[float, float]:
    """The δ that an attacker measures on the most telling outputs, and its standard error."""
    rng = seeded_rng(12)
    edge = epsilon / ratio + ratio / 2  # in units of the claimed σ, from x towards x'
    draws = 400_000
    p = np.mean(sigma_of_noise * rng.standard_normal(draws) < ratio - edge)
    q = np.mean(sigma_of_noise * rng.standard_normal(draws) < -edge)
    error = math.sqrt((p + math.exp(2 * epsilon) * q) / draws)
    return float(p - math.exp(epsilon) * q), error


def test_an_attacker_measures_the_delta_that_is_claimed() -> None:
    mechanism = Gaussian(epsilon=0.5, delta=0.05, sensitivity=2.0)
    channel = mechanism.on(LINE)
    ratio = 2.0 / channel.noise.sigma
    released = channel.release(np.zeros((DRAWS, 1)), seeded_rng(1)) / channel.noise.sigma
    assert kstest(released.ravel(), norm.cdf).pvalue > 1e-6
    measured, error = attack(1.0, 0.5, ratio)
    assert measured == pytest.approx(0.05, abs=5 * error)
    planted, error = attack(0.8, 0.5, ratio)
    assert planted > 0.05 + 5 * error


def test_the_guarantee(line: Lexicon) -> None:
    guarantee = Gaussian(epsilon=1.0, delta=1e-5, sensitivity=2.0).on(line).guarantee
    assert guarantee.kind is Kind.BOUNDED
    assert (guarantee.epsilon, guarantee.delta, guarantee.radius) == (1.0, 1e-5, 2.0)
    assert guarantee.loss(2.0) == 1.0
    assert guarantee.loss(2.1) == math.inf


def test_the_curve(line: Lexicon) -> None:
    channel = Gaussian(epsilon=1.0, delta=1e-5, sensitivity=1.0).on(line)
    assert channel.noise.sigma == gaussian_scale(1.0, 1e-5)
    found = [channel.noise.delta_at(r) for r in (1.0, 2.0, 3.0, 5.0)]
    assert found == pytest.approx([1e-5, 0.0104, 0.064, 0.257], rel=0.01)
    assert channel.noise.delta_at(1.0) <= 1e-5
    assert channel.noise.delta_at(0.0) == 0.0
    assert (
        channel.noise.delta_at(2.0, epsilon=3.0)
        < channel.noise.delta_at(2.0)
        < channel.noise.delta_at(2.0, 0.0)
    )
    with pytest.raises(ParameterError):
        channel.noise.delta_at(-1.0)


lexicons = st.tuples(st.integers(2, 12), st.integers(1, 3)).flatmap(
    lambda size: arrays(np.float32, size, elements=st.floats(-8, 8, width=32))
)


@given(vectors=lexicons)
def test_without_a_sensitivity_every_pair_is_protected(vectors: NDArray[np.float32]) -> None:
    lexicon = Lexicon([f"w{i}" for i in range(len(vectors))], vectors)
    largest = lexicon.distances(np.arange(len(lexicon))).max()
    if largest == 0:
        with pytest.raises(ParameterError, match="sensitivity"):
            diameter(lexicon)
    else:
        assert largest <= diameter(lexicon) <= largest * (1 + 2e-9)


def test_a_large_lexicon_has_its_diameter_without_all_pairs() -> None:
    rng = seeded_rng(7)
    vectors = rng.normal(size=(3000, 4))
    vectors[17] *= 9.0
    lexicon = Lexicon([f"w{i}" for i in range(3000)], vectors)
    expected = max(lexicon.distances(np.arange(i, i + 500)).max() for i in range(0, 3000, 500))
    assert diameter(lexicon) == pytest.approx(expected, rel=2e-9)
    assert Gaussian(epsilon=1.0).on(lexicon).guarantee.loss(expected) == 1.0


def test_the_diameter_need_not_touch_the_outermost_words() -> None:
    """Three hundred words farthest out, all in one place, and the widest pair between others."""
    places = [[1.2, 0.0]] * 300 + [[-0.6, 0.0]] * 600 + [[0.0, 1.0], [0.0, -1.0]]
    lexicon = Lexicon([f"w{i}" for i in range(len(places))], places)
    assert diameter(lexicon) == pytest.approx(2.0, rel=2e-9)


class TestPublished:
    def test_it_is_the_classical_formula(self, line: Lexicon) -> None:
        mechanism = Gaussian(epsilon=0.5, delta=1e-5, sensitivity=2.0, published=True)
        channel = mechanism.on(line)
        assert (
            channel.noise.sigma == classical_scale(0.5, 1e-5, 2.0) > gaussian_scale(0.5, 1e-5, 2.0)
        )
        assert channel.noise.delta_at(2.0) <= 1e-5
        assert channel.guarantee.kind is Kind.BOUNDED

    @pytest.mark.parametrize("epsilon", [1.0, 5.0, 20.0])
    def test_it_is_refused_where_it_is_not_proved(self, epsilon: float) -> None:
        with pytest.raises(ParameterError, match="below 1"):
            Gaussian(epsilon=epsilon, published=True)


def uneven(words: int = 30, scale: float = 1.0) -> Lexicon:
    """Words that differ far less in some dimensions than in others, and in the last not at all."""
    vectors = seeded_rng(9).normal(size=(words, 4)) * [4.0, 1.0, 0.25, 0.0]
    return Lexicon([f"w{i}" for i in range(words)], scale * vectors)


class TestPerDimension:
    SPACE = uneven()
    CHANNEL = Gaussian(epsilon=2.0, delta=1e-4, per_dimension=True).on(SPACE)

    def test_each_coordinate_has_its_own_width(self) -> None:
        own = self.CHANNEL.noise.sigma * self.CHANNEL.noise.widths
        assert own[0] > 1.5 * own[1] > 2 * own[2] >= own[3] > 0.0
        noisy = self.CHANNEL.release(np.zeros((DRAWS, 4)), seeded_rng(4)) / own
        for column in noisy.T:
            assert kstest(column, norm.cdf).pvalue > 1e-6
            assert abs(column.std() - 1.0) < 5.0 / math.sqrt(2 * DRAWS)  # 5 % off is ten of those
        for factor in (0.95, 1.05):
            assert kstest(factor * noisy.ravel(), norm.cdf).pvalue < 1e-6

    def test_it_draws_what_it_states(self) -> None:
        density = self.CHANNEL.noise.density(self.SPACE)
        assert p_value(self.CHANNEL.noise, self.SPACE, density) > 1e-6
        for share in (-0.05, 0.05):
            assert p_value(self.CHANNEL.noise, self.SPACE, off_by(density, share)) < 1e-6

    def test_the_worst_pair_of_words_loses_what_is_promised_and_no_more(self) -> None:
        found = audit(self.CHANNEL)
        assert found.holds
        assert found.worst_ratio == pytest.approx(1.0, rel=1e-6)
        smaller = replace(self.CHANNEL.noise, sigma=0.95 * self.CHANNEL.noise.sigma)
        guarantee, decoder = self.CHANNEL.guarantee, self.CHANNEL.decoder
        assert audit(VectorChannel(self.SPACE, guarantee, smaller, decoder)).holds is False

    def test_noise_of_other_widths_is_not_certified(self) -> None:
        """The promise is about distances in units of its own widths."""
        even = replace(self.CHANNEL.noise, widths=np.full(4, self.CHANNEL.noise.widths.min()))
        guarantee, decoder = self.CHANNEL.guarantee, self.CHANNEL.decoder
        assert audit(VectorChannel(self.SPACE, guarantee, even, decoder)).holds is None

    def test_an_observer_weighs_each_dimension_by_its_width(self) -> None:
        likelihoods = vector_likelihoods(self.CHANNEL)
        assert likelihoods is not None
        noisy = self.CHANNEL.release_words([0, 1, 2], seeded_rng(3))
        own = self.CHANNEL.noise.sigma * self.CHANNEL.noise.widths
        ways = noisy[:, None] - self.SPACE.vectors.astype(np.float64)
        expected = norm.logpdf(ways, scale=own).sum(axis=2)
        apart = likelihoods.of_some(noisy, np.arange(len(self.SPACE))) - expected
        np.testing.assert_allclose(apart, apart[0, 0] + np.zeros_like(apart), atol=1e-8)

    def test_it_adds_less_noise_than_one_width_where_dimensions_are_uneven(self) -> None:
        one = Gaussian(epsilon=2.0, delta=1e-4).on(self.SPACE).noise
        assert self.CHANNEL.noise.length(4) < 0.95 * one.length(4)

    def test_only_the_shape_of_the_vectors_matters(self) -> None:
        ids = np.arange(30).repeat(20)
        there = Gaussian(epsilon=2.0, delta=1e-4, per_dimension=True).on(uneven(scale=8.0))
        here = self.CHANNEL.substitute(ids, seeded_rng(2))
        assert np.array_equal(here, there.substitute(ids, seeded_rng(2)))

    def test_vectors_that_are_no_words_need_public_ones(self) -> None:
        mechanism = Gaussian(epsilon=1.0, sensitivity=2.0, per_dimension=True)
        with pytest.raises(ParameterError, match="public"):
            mechanism.for_vectors(4)
        free = mechanism.for_vectors(4, self.SPACE.vectors)
        assert free.noise.length(4) == pytest.approx(
            gaussian_scale(1.0, 1e-5, 2.0) * np.linalg.norm(self.CHANNEL.noise.widths)
        )
        with pytest.raises(ParameterError, match="sensitivity"):
            Gaussian(epsilon=1.0, per_dimension=True).for_vectors(4, self.SPACE.vectors)


@pytest.mark.parametrize(
    "wrong",
    [{"delta": 0.0}, {"delta": 1.0}, {"sensitivity": 0.0}, {"sensitivity": math.inf},
     {"sensitivity": "1"}, {"per_dimension": 1}, {"published": "false"}, {"published": None}],
)  # fmt: skip
def test_wrong_parameters_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        Gaussian(epsilon=0.5, **wrong)  # type: ignore[arg-type]


def test_it_needs_the_euclidean_metric(plane: Lexicon) -> None:
    with pytest.raises(MetricError, match="TEM"):
        Gaussian(epsilon=1.0).on(plane.with_metric("manhattan"))


def test_only_the_ratio_of_scale_and_sensitivity_matters(plane: Lexicon) -> None:
    ids = np.arange(40).repeat(25)
    scaled = Lexicon(plane.words, plane.vectors * 8.0)
    for sensitivity in (None, 0.7):
        there = sensitivity and 8.0 * sensitivity
        here = Gaussian(epsilon=3.0, sensitivity=sensitivity).on(plane)
        other = Gaussian(epsilon=3.0, sensitivity=there).on(scaled)
        drawn = here.substitute(ids, seeded_rng(2))
        assert np.array_equal(drawn, other.substitute(ids, seeded_rng(2)))


def test_the_whole_curve(plane: Lexicon) -> None:
    channel = Gaussian(epsilon=1.0, delta=1e-5, sensitivity=2.0).on(plane)
    curve = channel.noise.delta_curve([[0.0, 1.0], [2.0, 10.0]])
    assert curve.shape == (2, 2)
    assert curve[0, 0] == 0.0
    assert curve[1, 0] == pytest.approx(1e-5, rel=1e-9)
    assert (np.diff(curve.ravel()) > 0).all()
    assert channel.noise.delta_curve([2.0], epsilon=0.5)[0] > curve[1, 0]

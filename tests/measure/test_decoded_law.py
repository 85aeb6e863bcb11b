"""The enclosed law of decoded words, against closed forms, numerical integrals and draws."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from malaprop import (
    CoordinateLaplace,
    HyperbolicLaplace,
    Laplace,
    Lexicon,
    Mahalanobis,
    PrivEmb,
    TangentLaplace,
    audit,
    seeded_rng,
)
from malaprop.core.arrays import Floats
from malaprop.core.channel import VectorChannel
from malaprop.core.noise.noise import ExponentialDensity, Noise
from malaprop.measure.decoded_law import enclosures
from malaprop.mechanisms.decoders import Rank, VectorMechanism, Vickrey

DRAWS = 100_000


def density_of(channel: VectorChannel[Noise]) -> ExponentialDensity:
    found = channel.noise.density(channel.lexicon)
    assert isinstance(found, ExponentialDensity)
    return found


def enclosed(channel: VectorChannel[Noise]) -> tuple[Floats, Floats]:
    """The narrowest bounds of Pr[y|w]."""
    *_, law = enclosures(channel, density_of(channel))
    return np.exp(law.low), np.exp(law.high)


def lexicon(vectors: object, metric: str = "euclidean") -> Lexicon:
    rows = np.asarray(vectors, dtype=np.float64)
    return Lexicon([f"w{i}" for i in range(len(rows))], rows, metric)


def law_of(vectors: object, mechanism: VectorMechanism) -> tuple[Floats, Floats]:
    return enclosed(mechanism.on(lexicon(vectors)))  # type: ignore[arg-type]


class TestOnALine:
    def test_it_is_the_closed_form(self) -> None:
        low, high = law_of([[0.0], [1.0], [3.0]], Laplace(epsilon=1.3))
        half, one = math.exp(-1.3 * 0.5) / 2, math.exp(-1.3) / 2
        for law in (low, high):
            exact = [1 - half, 1 - half - one, 1 - one]
            np.testing.assert_allclose(np.diag(law), exact, rtol=1e-8)
        assert (low < high).all()

    def test_far_words_keep_their_digits(self) -> None:
        """e^(−5000) is 0 in float64, and so is 1 − e^(−1e−20) by subtraction."""
        channel = Laplace(epsilon=1.0).on(lexicon([[0.0], [1.0], [5000.0], [5001.0]]))
        (law,) = enclosures(channel, density_of(channel))
        expected = -(5000.5 - 0.0) + math.log(0.5)
        assert law.low[0, 3] <= expected <= law.high[0, 3]
        assert law.high[0, 3] - law.low[0, 3] < 1e-4
        assert audit(channel).holds is True

    def test_rank_follows_from_the_pivots(self) -> None:
        places = [[0.0], [1.0], [3.0]]
        mechanism = Laplace(epsilon=1.3, decoder=Rank(c=0.5))
        low, high = law_of(places, mechanism)
        nearest, _ = law_of(places, Laplace(epsilon=1.3))
        chances = np.exp(-0.65 * np.arange(3))
        chances /= chances.sum()
        orders = [[0, 1, 2], [1, 0, 2], [2, 1, 0]]
        table = np.array([[chances[order.index(y)] for y in range(3)] for order in orders])
        np.testing.assert_allclose(low, nearest @ table, rtol=1e-7)
        np.testing.assert_allclose(high, nearest @ table, rtol=1e-7)

    @pytest.mark.parametrize("t", [0.0, 0.3, 1.0])
    def test_vickrey_is_what_a_numerical_integral_gives(self, t: float) -> None:
        places = np.array([0.0, 1.0, 3.0, 3.0])
        low, high = law_of(places[:, None], Laplace(epsilon=1.3, decoder=Vickrey(t=t)))
        y = np.linspace(-25.0, 25.0, 400_001) + 3e-5
        density = 0.65 * np.exp(-1.3 * np.abs(y - 1.0))
        order = np.argsort(np.abs(y[:, None] - places), axis=1, kind="stable")
        d1, d2 = (np.abs(y - places[order[:, k]]) for k in (0, 1))
        first = (1 - t) * d2 / (t * d1 + (1 - t) * d2)
        for word in range(4):
            chance = np.where(order[:, 0] == word, first, 0.0)
            chance += np.where(order[:, 1] == word, 1.0 - first, 0.0)
            share = float(np.trapezoid(density * chance, y))
            assert low[1, word] - 1e-4 <= share <= high[1, word] + 1e-4
            assert high[1, word] - low[1, word] < 0.02

    @pytest.mark.parametrize(
        "mechanism", [HyperbolicLaplace(epsilon=1.3), TangentLaplace(epsilon=1.3)]
    )
    def test_in_one_dimension_the_ball_is_a_line(self, mechanism: VectorMechanism) -> None:
        places = np.array([-0.5, 1.0, 3.0])
        ball = lexicon(np.tanh(places / 2)[:, None], "poincare")
        low, _ = enclosed(mechanism.on(ball))  # type: ignore[arg-type]
        flat, _ = law_of(places[:, None], Laplace(epsilon=1.3))
        np.testing.assert_allclose(low, flat, rtol=1e-6)


class TestInThePlane:
    def test_two_words_are_a_line(self) -> None:
        """A coordinate of planar Laplace noise exceeds x with probability ∫ K-Bessel, done in r."""
        low, high = law_of([[0.0, 0.0], [2.0, 0.0]], Laplace(epsilon=1.0))
        r = np.linspace(1.0, 60.0, 2_000_001)
        beyond = np.trapezoid(r * np.exp(-r) * np.arccos(1.0 / r) / np.pi, r)
        assert low[0, 1] < beyond < high[0, 1]
        assert high[0, 1] / low[0, 1] < 1.01

    def test_per_coordinate_noise_towards_an_axis(self) -> None:
        """Of two words on an axis only that coordinate counts: e^(−1)/2 beyond the middle."""
        low, high = law_of([[0.0, 0.0], [0.0, 2.0]], CoordinateLaplace(epsilon=1.0))
        assert low[0, 1] < math.exp(-1.0) / 2 < high[0, 1]
        assert high[0, 1] / low[0, 1] < 1.01

    @settings(max_examples=15)
    @given(
        vectors=st.integers(1, 5).flatmap(
            lambda n: arrays(np.float32, (n, 2), elements=st.floats(-4, 4, width=16))
        ),
        coordinates=st.booleans(),
    )
    def test_bounds_enclose_one(self, vectors: NDArray[np.float32], coordinates: bool) -> None:
        mechanism = CoordinateLaplace(epsilon=1.0) if coordinates else Laplace(epsilon=1.0)
        low, high = law_of(vectors, mechanism)
        assert (low.sum(axis=1) <= 1.0).all()
        assert (high.sum(axis=1) >= 1.0).all()
        assert (low <= high).all()
        assert (high.sum(axis=1) - low.sum(axis=1) < 0.02).all()

    def test_words_of_one_vector(self) -> None:
        _, high = law_of([[0.0, 0.0], [1.0, 1.0], [1.0, 1.0], [3.0, 3.0]], Laplace(epsilon=1.0))
        assert high[:, 2].max() < 1e-200  # the nearest word of the lowest id


@pytest.mark.parametrize(
    "mechanism",
    [
        Laplace(epsilon=0.8),
        Laplace(epsilon=0.8, decoder="rank"),
        CoordinateLaplace(epsilon=0.8),
        Mahalanobis(epsilon=0.8),
        Mahalanobis(epsilon=0.8, clusters=2, regularization=0.9),
        PrivEmb(epsilon=0.8, dimension=2),
        PrivEmb(epsilon=0.8, dimension=1, decoder="vickrey"),
    ],
)
def test_draws_follow_it(mechanism: VectorMechanism) -> None:
    rng = np.random.Generator(np.random.PCG64(3))
    space = lexicon(rng.normal(size=(7, 2)) * [3.0, 1.0])
    channel = mechanism.on(space)
    drawn = channel.substitute(np.full(DRAWS, 2), seeded_rng(4))
    shares = np.bincount(drawn, minlength=7) / DRAWS
    assert _fits(shares, channel)  # type: ignore[arg-type]
    other = replace(mechanism, epsilon=mechanism.epsilon * 1.05).on(space)
    assert not _fits(shares, other)  # type: ignore[arg-type]


def _fits(shares: Floats, channel: VectorChannel[Noise]) -> bool:
    """Whether shares of draws are within 5 standard errors of the bounds: p < 10⁻⁶."""
    low, high = (law[2] for law in enclosed(channel))
    slack = 5.0 * np.sqrt(np.maximum(high, 1e-4) / DRAWS)
    return bool(((shares >= low - slack) & (shares <= high + slack)).all())


class TestHyperbolic:
    BALL = lexicon(np.random.Generator(np.random.PCG64(3)).normal(size=(6, 2)) / 4, "poincare")

    def test_draws_follow_it(self) -> None:
        channel = HyperbolicLaplace(epsilon=2.5).on(self.BALL)
        low, high = enclosed(channel)
        assert (low.sum(axis=1) <= 1.0).all()
        assert (high.sum(axis=1) >= 1.0).all()
        # Its grid is coarse, so that a word's share is off by up to a hundredth.
        shares = np.bincount(channel.substitute(np.full(50_000, 2), seeded_rng(4)), minlength=6)
        np.testing.assert_allclose(shares / 50_000, low[2], atol=0.02)

    def test_two_words_at_opposite_places(self) -> None:
        """From the middle between two words, either is as likely: a quarter turn each way."""
        ball = lexicon([[0.0, 0.0], [0.5, 0.0], [-0.5, 0.0]], "poincare")
        low, high = enclosed(HyperbolicLaplace(epsilon=2.5).on(ball))
        np.testing.assert_allclose(low[0, 1], low[0, 2], rtol=1e-2)
        np.testing.assert_allclose(low[1, 0], low[2, 0], rtol=1e-2)
        assert high[0].sum() - low[0].sum() < 0.01

    @pytest.mark.parametrize("epsilon", [1.2, 3.0])
    def test_it_holds(self, epsilon: float) -> None:
        found = audit(HyperbolicLaplace(epsilon=epsilon).on(self.BALL))
        assert found.holds is True
        assert 0.9 < found.worst_ratio <= found.at_most <= 1.0 + 1e-9

    def test_words_at_the_edge_are_audited_by_their_vectors(self) -> None:
        edge = lexicon([[0.999999, 0.0], [0.0, 0.999999], [0.0, 0.0]], "poincare")
        found = audit(TangentLaplace(epsilon=1.0).on(edge))
        assert found.holds is True
        assert found.output is None

"""The law by quadrature, against closed forms and against draws."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chisquare

from malaprop import (
    HyperbolicLaplace,
    Laplace,
    Lexicon,
    Mahalanobis,
    PrivEmb,
    TangentLaplace,
    audit,
    seeded_rng,
)
from malaprop.core.space import Floats
from malaprop.measure.densities import noise_of
from malaprop.measure.quadrature import nearest_law


def law_of(vectors: object, epsilon: float) -> tuple[Floats, float]:
    rows = np.asarray(vectors, dtype=np.float64)
    channel = Laplace(epsilon=epsilon).on(Lexicon([f"w{i}" for i in range(len(rows))], rows))
    noise = noise_of(channel)
    assert noise is not None
    law, error = nearest_law(noise)
    return np.exp(law), error


def test_on_a_line_it_is_the_closed_form() -> None:
    law, error = law_of([[0.0], [1.0], [3.0]], 1.3)
    half, one = math.exp(-1.3 * 0.5) / 2, math.exp(-1.3) / 2
    np.testing.assert_allclose(np.diag(law), [1 - half, 1 - half - one, 1 - one], rtol=1e-13)
    np.testing.assert_allclose(law.sum(axis=1), 1.0, rtol=1e-13)
    assert error < 1e-10


def test_two_words_in_the_plane_are_a_line() -> None:
    """A coordinate of planar Laplace noise exceeds x with probability ∫ K-Bessel, done in r."""
    law, error = law_of([[0.0, 0.0], [2.0, 0.0]], 1.0)
    r = np.linspace(1.0, 60.0, 2_000_001)
    beyond = np.trapezoid(r * np.exp(-r) * np.arccos(1.0 / r) / np.pi, r)
    assert law[0, 1] == pytest.approx(beyond, rel=1e-7)
    assert error < 1e-6


def test_a_square_is_symmetric_and_sums_to_one() -> None:
    law, _ = law_of([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]], 0.7)
    np.testing.assert_allclose(law.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(law[0], law[0][[0, 3, 2, 1]], rtol=1e-10)


def test_words_on_one_line_and_twins() -> None:
    law, _ = law_of([[0.0, 0.0], [1.0, 1.0], [1.0, 1.0], [3.0, 3.0]], 1.0)
    np.testing.assert_allclose(law.sum(axis=1), 1.0, rtol=1e-12)
    assert law[:, 2].max() == 0.0  # the nearest word of the lowest id


@pytest.mark.parametrize(
    "mechanism",
    [
        Laplace(epsilon=0.8),
        Mahalanobis(epsilon=0.8),
        Mahalanobis(epsilon=0.8, clusters=2, regularization=0.9),
        PrivEmb(epsilon=0.8, dimension=2),
    ],
)
def test_draws_follow_it(mechanism: Laplace | Mahalanobis | PrivEmb) -> None:
    rng = np.random.Generator(np.random.PCG64(3))
    lexicon = Lexicon([f"w{i}" for i in range(7)], rng.normal(size=(7, 2)) * [3.0, 1.0])
    channel = mechanism.on(lexicon)
    noise = noise_of(channel)
    assert noise is not None
    law, _ = nearest_law(noise)
    drawn = channel.substitute(np.full(100_000, 2), seeded_rng(4))
    counts = np.bincount(drawn, minlength=7)
    assert chisquare(counts, 100_000 * np.exp(law[2])).pvalue > 1e-6
    other = noise_of(replace(mechanism, epsilon=0.84).on(lexicon))
    assert other is not None
    off, _ = nearest_law(other)
    assert chisquare(counts, 100_000 * np.exp(off[2])).pvalue < 1e-6


class TestHyperbolic:
    def test_a_line_is_a_line(self) -> None:
        """In one dimension the ball is a line, with 2·artanh for its scale."""
        places = np.array([0.0, 1.0, 3.0])
        lexicon = Lexicon(["a", "b", "c"], np.tanh(places / 2)[:, None], "poincare")
        noise = noise_of(HyperbolicLaplace(epsilon=1.3).on(lexicon))
        assert noise is not None
        law, _ = nearest_law(noise)
        flat, _ = law_of(places[:, None], 1.3)
        np.testing.assert_allclose(np.exp(law), flat, rtol=1e-6)

    def test_draws_follow_it(self) -> None:
        rng = np.random.Generator(np.random.PCG64(3))
        lexicon = Lexicon([f"w{i}" for i in range(6)], rng.normal(size=(6, 2)) / 4, "poincare")
        channel = HyperbolicLaplace(epsilon=2.5).on(lexicon)
        noise = noise_of(channel)
        assert noise is not None
        law, error = nearest_law(noise)
        np.testing.assert_allclose(np.exp(law).sum(axis=1), 1.0, rtol=1e-9)
        assert error < 1e-5
        # Its grid is coarse, so that a word's share is off by up to a hundredth.
        counts = np.bincount(channel.substitute(np.full(50_000, 2), seeded_rng(4)), minlength=6)
        np.testing.assert_allclose(counts / 50_000, np.exp(law[2]), atol=0.02)

    @pytest.mark.parametrize("epsilon", [1.2, 3.0])
    def test_it_holds(self, epsilon: float) -> None:
        rng = np.random.Generator(np.random.PCG64(5))
        lexicon = Lexicon([f"w{i}" for i in range(8)], rng.normal(size=(8, 2)) / 4, "poincare")
        found = audit(HyperbolicLaplace(epsilon=epsilon).on(lexicon))
        assert found.holds is True
        assert 0.9 < found.worst_ratio < 1.0


class TestTangent:
    def test_a_line_is_a_line(self) -> None:
        places = np.array([-0.5, 1.0, 3.0])
        lexicon = Lexicon(["a", "b", "c"], np.tanh(places / 2)[:, None], "poincare")
        noise = noise_of(TangentLaplace(epsilon=1.3).on(lexicon))
        assert noise is not None
        law, _ = nearest_law(noise)
        flat, _ = law_of(places[:, None], 1.3)
        np.testing.assert_allclose(np.exp(law), flat, rtol=1e-6)

    def test_draws_follow_it(self) -> None:
        rng = np.random.Generator(np.random.PCG64(3))
        lexicon = Lexicon([f"w{i}" for i in range(6)], rng.normal(size=(6, 2)) / 4, "poincare")
        channel = TangentLaplace(epsilon=1.5).on(lexicon)
        noise, other = (noise_of(TangentLaplace(epsilon=e).on(lexicon)) for e in (1.5, 1.575))
        assert noise is not None
        assert other is not None
        (law, error), (off, _) = nearest_law(noise), nearest_law(other)
        np.testing.assert_allclose(np.exp(law).sum(axis=1), 1.0, rtol=1e-9)
        assert error < 1e-6
        counts = np.bincount(channel.substitute(np.full(100_000, 2), seeded_rng(4)), minlength=6)
        assert chisquare(counts, 100_000 * np.exp(law[2])).pvalue > 1e-6
        assert chisquare(counts, 100_000 * np.exp(off[2])).pvalue < 1e-6

"""Faults of noise that have been made in published code and papers: the audit must catch each.

Beside each stands the sound mechanism that it was made from, which must pass.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.random import Generator
from tests.measure.test_audit_faults import claim, lexicon
from tests.planted import with_fields, with_noise

from malaprop import Guarantee, Kind, Laplace, Lexicon, Metric, audit
from malaprop.measure import audit_words
from malaprop.mechanisms.coordinate_laplace import CoordinateLaplace
from malaprop.mechanisms.decoders import Nearest
from malaprop.mechanisms.gaussian import Gaussian
from malaprop.mechanisms.hyperbolic_laplace import HyperbolicLaplace
from malaprop.mechanisms.mahalanobis import Mahalanobis
from malaprop.mechanisms.priv_emb import PrivEmb
from malaprop.mechanisms.tangent_laplace import TangentLaplace
from malaprop.privacy.arrays import Floats
from malaprop.privacy.channel import VectorChannel
from malaprop.privacy.gaussian_noise import SphericalGaussian, WordGaussian, gaussian_scale
from malaprop.privacy.noise import AdditiveNoise, EllipticalMetric, Grid, SphericalLaplace

PLANE = [[0.0, 0.0], [1.0, 0.2], [4.0, 0.5], [-3.0, -0.4], [0.5, 0.9], [7.0, -0.3]]


@dataclass(frozen=True, kw_only=True, eq=False)
class Renormalised(AdditiveNoise):
    """A direction A^(1/2)u divided by its length again, then a Gamma radius."""

    root: Floats
    sold_in: EllipticalMetric

    @property
    def grid(self) -> Grid:
        return Grid(1.0)

    def noise(self, shape: tuple[int, ...], rng: Generator) -> Floats:
        raise NotImplementedError

    @property
    def metrics(self) -> dict[str, Metric]:
        return {self.sold_in.name: self.sold_in}

    def release(self, vectors: Floats, rng: Generator) -> Floats:
        ways = rng.standard_normal(vectors.shape) @ self.root
        ways /= np.linalg.norm(ways, axis=1, keepdims=True)
        return vectors + rng.standard_gamma(vectors.shape[1], (len(vectors), 1)) * ways


def test_noise_renormalised_after_the_covariance_root_is_never_certified() -> None:
    """It is no longer private, and nothing states what it draws."""
    sound = Mahalanobis(epsilon=1.0, regularization=0.9).on(lexicon(PLANE))
    assert audit(sound).holds is True
    root = sound.noise.ellipsoids[0].root
    fault = with_noise(sound, Renormalised(root=root, sold_in=sound.noise.metric))
    for found in (audit(fault), audit_words(fault, ["w0", "w1"])):
        assert found.holds is None
        assert "draws" in found.method


def test_per_coordinate_noise_sold_as_euclidean() -> None:
    words = lexicon([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [3.0, 3.0], [-1.0, 0.5]])
    assert audit(Laplace(epsilon=1.0).on(words)).holds is True
    sound = CoordinateLaplace(epsilon=1.0).on(words)
    assert audit(sound).holds is True
    found = audit(VectorChannel(words, claim(1.0), sound.noise, sound.decoder))
    assert found.holds is False
    assert found.worst_ratio == pytest.approx(math.sqrt(2.0))


BALL = Lexicon([f"w{i}" for i in range(6)], np.array(PLANE) / 10.0, "poincare")


class TestScale:
    """Noise that is too narrow, by 20 % or by 5 %."""

    @pytest.mark.parametrize("factor", [0.8, 0.95])
    @pytest.mark.parametrize(
        "cls", [Laplace, CoordinateLaplace, Mahalanobis, TangentLaplace, PrivEmb]
    )
    def test_of_the_channel(self, cls: Any, factor: float) -> None:
        sound = cls(epsilon=1.0).on(BALL if cls is TangentLaplace else lexicon(PLANE))
        assert audit(sound).holds is True
        found = audit(with_fields(sound, scale=factor * sound.noise.scale))
        assert found.holds is False
        assert found.worst_ratio > 1.0

    def test_of_a_mixture_of_which_only_an_upper_bound_is_known(self) -> None:
        sound = Mahalanobis(epsilon=1.0, clusters=2).on(lexicon(PLANE))
        assert audit(sound).holds is True
        found = audit(with_fields(sound, scale=0.5 * sound.noise.scale))
        assert found.holds is None
        assert "only an upper bound" in found.method

    @pytest.mark.parametrize("factor", [0.8, 0.95])
    def test_of_hyperbolic_noise(self, factor: float) -> None:
        sound = HyperbolicLaplace(epsilon=3.0).on(BALL)
        assert audit(sound).holds is True
        assert audit(with_fields(sound, shape=sound.noise.shape / factor)).holds is False

    @pytest.mark.parametrize("dimension", [1, 2])
    @pytest.mark.parametrize("factor", [0.8, 0.95, 1.0, 1.05])
    def test_of_the_draws_alone(self, factor: float, dimension: int) -> None:
        """The density is right, but the draws are wrong, or unknown."""

        class Other(SphericalLaplace):
            def release(self, vectors: Floats, rng: Generator) -> Floats:
                scale = factor * self.scale
                return SphericalLaplace(scale=scale, dimension=dimension).release(vectors, rng)

        words = lexicon(np.array(PLANE)[:, :dimension])
        found = audit(
            with_noise(Laplace(epsilon=1.0).on(words), Other(scale=1.0, dimension=dimension))
        )
        assert found.holds is None
        assert "draws" in found.method


def scaled(space: Lexicon, sigmas: list[float], radius: float = 2.0) -> VectorChannel[WordGaussian]:
    guarantee = Guarantee(
        kind=Kind.BOUNDED, epsilon=1.0, delta=1e-5, radius=radius, metric="euclidean"
    )
    noise = WordGaussian(space=space, sigmas=np.array(sigmas, dtype=np.float64))
    return VectorChannel(space, guarantee, noise, Nearest().on(space, 1.0))


class TestGaussians:
    WORDS = lexicon([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0], [9.0, 9.0]])
    SIGMA = gaussian_scale(1.0, 1e-5, 2.0)

    def test_one_sigma_for_all_is_sound(self) -> None:
        found = audit(scaled(self.WORDS, [self.SIGMA] * 4))
        assert found.holds is True
        assert found.worst_ratio == pytest.approx(1.0, rel=1e-6)
        assert found.pair == ("w2", "w0")

    def test_a_sigma_that_is_5_percent_short(self) -> None:
        found = audit(scaled(self.WORDS, [0.95 * self.SIGMA] * 4))
        assert found.holds is False

    def test_zero_noise_for_isolated_words(self) -> None:
        found = audit(scaled(self.WORDS, [self.SIGMA] * 3 + [0.0], radius=20.0))
        assert found.holds is False
        assert found.loss == 1.0
        assert found.pair is not None
        assert "w3" in found.pair

    @pytest.mark.parametrize("factor", [0.5, 0.95])
    def test_less_noise_than_is_stated_is_never_certified(self, factor: float) -> None:
        class Quiet(SphericalGaussian):
            def release(self, vectors: Floats, rng: Generator) -> Floats:
                narrow = SphericalGaussian(sigma=factor * self.sigma, epsilon=1.0)
                return narrow.release(vectors, rng)

        sound = Gaussian(epsilon=1.0, delta=1e-5, sensitivity=2.0).on(self.WORDS)
        assert audit(sound).holds is True
        found = audit(with_noise(sound, Quiet(sigma=sound.noise.sigma, epsilon=1.0)))
        assert found.holds is None
        assert "draws" in found.method

    def test_a_sigma_of_gaussian_that_is_5_percent_short(self) -> None:
        sound = Gaussian(epsilon=1.0, delta=1e-5, sensitivity=2.0).on(self.WORDS)
        assert audit(with_fields(sound, sigma=0.95 * sound.noise.sigma)).holds is False

    def test_different_sigmas_for_neighbours(self) -> None:
        found = audit(scaled(self.WORDS, [self.SIGMA, 1.2 * self.SIGMA, self.SIGMA, self.SIGMA]))
        assert found.holds is False
        assert found.worst_ratio > 100.0

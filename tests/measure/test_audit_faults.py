"""Faults that have been made in published code and papers: the audit must catch each of them.

Beside each stands the sound mechanism that it was made from, which must pass.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from numpy.random import Generator
from scipy.spatial.distance import cdist
from tests.planted import with_fields, with_law, with_noise

from malaprop import TEM, Guarantee, Kind, Laplace, LawChannel, Lexicon, Metric, audit, seeded_rng
from malaprop.core.arrays import Floats, Ids, Vectors
from malaprop.core.channel import VectorChannel
from malaprop.core.law import Law
from malaprop.core.metric import DistanceRows
from malaprop.core.noise.calibration import gaussian_scale
from malaprop.core.noise.elliptical import EllipticalMetric
from malaprop.core.noise.gaussian import SphericalGaussian, WordGaussian
from malaprop.core.noise.laplace import SphericalLaplace, spherical_laplace
from malaprop.core.noise.noise import AdditiveNoise
from malaprop.measure.law_on_a_line import nearest_edges, piece_chances
from malaprop.mechanisms.coordinate_laplace import CoordinateLaplace
from malaprop.mechanisms.decoders import Nearest
from malaprop.mechanisms.gaussian import Gaussian
from malaprop.mechanisms.hyperbolic_laplace import HyperbolicLaplace
from malaprop.mechanisms.mahalanobis import Mahalanobis
from malaprop.mechanisms.permute_and_flip import PermuteAndFlip, PermuteAndFlipLaw
from malaprop.mechanisms.priv_emb import PrivEmb
from malaprop.mechanisms.tangent_laplace import TangentLaplace


def lexicon(vectors: object) -> Lexicon:
    rows = np.asarray(vectors, dtype=np.float32)
    return Lexicon([f"w{i}" for i in range(len(rows))], rows)


def claim(epsilon: float, metric: str = "euclidean") -> Guarantee:
    return Guarantee(kind=Kind.METRIC, epsilon=epsilon, metric=metric)


@dataclass(frozen=True, eq=False)
class Written(Law):
    """A law of words that a test writes down."""

    weights: Callable[[Floats], Floats]

    def log_weights(self, ids: Ids) -> Floats:
        rows = self.space.distances(np.arange(len(self.space)))
        return self.weights(rows)[ids]


def written(
    space: Lexicon, guarantee: Guarantee, weights: Callable[[Floats], Floats]
) -> LawChannel[Written]:
    return LawChannel(Written(space, weights), guarantee)


# One word beside a crowd: what costs the exponential mechanism its factor of 2.
CROWD = lexicon([[0.0], *([1.0 + i / 512] for i in range(60))])


class TestExponent:
    """ε instead of ε/2: Gumbel noise of scale 1/ε."""

    @pytest.mark.parametrize("size", [60, 1100])
    def test_tem(self, size: int) -> None:
        crowd = lexicon([[0.0], *([1.0 + i / 8192] for i in range(size))])
        sound = TEM(epsilon=2.0, exponent="half", gamma=math.inf).on(crowd)
        assert audit(sound).holds is True
        found = audit(with_law(sound, replace(sound.law, exponent=2.0)))
        assert found.holds is False
        assert found.worst_ratio > 1.5

    @pytest.mark.parametrize("size", [200, 1100])
    def test_permute_and_flip(self, size: int) -> None:
        crowd = lexicon([[0.0], *([1.0 + i / 8192] for i in range(size))])
        sound = PermuteAndFlip(epsilon=2.0).on(crowd)
        assert audit(sound).holds is True
        found = audit(with_law(sound, replace(sound.law, exponent=2.0)))
        assert found.holds is False
        assert 1.5 < found.worst_ratio < 2.0


def tem_with_bottom(gamma: float, score: Callable[[int], float]) -> Callable[[Floats], Floats]:
    """Algorithm 2 at ε = 2, with ⊥ scored by how many words it stands for."""

    def weights(distances: Floats) -> Floats:
        out = np.where(distances <= gamma, -distances, 0.0)
        for row, far in zip(out, distances > gamma, strict=True):
            if far.any():
                row[far] = score(int(far.sum())) - math.log(far.sum())
        return out

    return weights


@pytest.mark.parametrize(
    ("score", "holds"),
    [
        (lambda k: -2.0 + math.log(k), True),
        (lambda k: -2.0, False),  # ⊥ counts as one word
        (lambda k: -2.0 + 2.0 * math.log(k), False),  # the 2/ε taken for the whole factor
    ],
)
def test_bottom_with_a_wrong_score(score: Callable[[int], float], holds: bool) -> None:
    # 3 sees all words within γ = 2.9; 0 has forty of them beyond.
    words = lexicon([[0.0], [1.0], *([3.0 + i / 64] for i in range(40))])
    guarantee = replace(claim(2.0), cap=2.0)
    found = audit(written(words, guarantee, tem_with_bottom(2.0, score)))
    assert found.holds is holds


class TestApproximateSearch:
    """Words that an index misses: for TEM a violation."""

    def test_missed_words_count_as_far(self) -> None:
        rng = seeded_rng(1)
        centres = rng.normal(size=(6, 3)) * 4
        words = lexicon(np.repeat(centres, 8, axis=0) + 0.05 * rng.normal(size=(48, 3)))
        found_by_index = rng.random((48, 48)) < 0.95
        np.fill_diagonal(found_by_index, True)

        def weights(distances: Floats) -> Floats:
            return np.where(found_by_index, -np.minimum(distances, 5.0), -5.0)

        guarantee = replace(claim(2.0), cap=5.0)
        exact = written(words, guarantee, lambda distances: -np.minimum(distances, 5.0))
        assert audit(exact).holds is True
        found = audit(written(words, guarantee, weights))
        assert found.holds is False
        assert found.worst_ratio > 5.0

    def test_only_the_nearest_are_candidates(self) -> None:
        def weights(distances: Floats) -> Floats:
            limit = np.sort(distances, axis=1)[:, 5:6]
            return np.where(distances <= limit, -distances, -math.inf)

        found = audit(written(CROWD, claim(2.0), weights))
        assert found.holds is False
        assert found.worst_ratio == math.inf


class Planted(Metric):
    """A distance that is not a metric, past the checks that refuse it."""

    def __init__(self, name: str, function: Callable[[Floats, Floats], Floats]) -> None:
        self.name, self._function = name, function  # type: ignore[misc]

    def on(self, vectors: Vectors) -> DistanceRows:
        long = vectors.astype(np.float64)
        return lambda ids: np.maximum(self._function(long[ids], long), 0.0)


def cosine(a: Floats, b: Floats) -> Floats:
    norms = np.linalg.norm(a, axis=1)[:, None] * np.linalg.norm(b, axis=1)
    return np.asarray(np.round(1.0 - a @ b.T / norms, 12))


def squared(a: Floats, b: Floats) -> Floats:
    return np.asarray(((a[:, None] - b) ** 2).sum(axis=2))


class TestNoMetric:
    @pytest.mark.parametrize(("name", "function"), [("cosine", cosine), ("squared", squared)])
    @pytest.mark.parametrize("size", [40, 1100])
    def test_it_is_caught(
        self, name: str, function: Callable[[Floats, Floats], Floats], size: int
    ) -> None:
        rng = seeded_rng(4)
        vectors = rng.normal(size=(size, 2))
        words = [f"w{i}" for i in range(size)]
        mechanism = TEM(epsilon=6.0, gamma=math.inf, exponent="half")
        assert audit(mechanism.on(Lexicon(words, vectors))).holds is True
        planted = Lexicon(words, vectors, metric=Planted(name, function))
        found = audit(mechanism.on(planted))
        if size <= 1000:
            assert found.holds is False
            assert found.worst_ratio > 1.5
        else:  # one triangle in a whole lexicon is enough to refuse the closed form
            assert found.holds is not True


PLANE = [[0.0, 0.0], [1.0, 0.2], [4.0, 0.5], [-3.0, -0.4], [0.5, 0.9], [7.0, -0.3]]


@dataclass(frozen=True, kw_only=True, eq=False)
class Stated(AdditiveNoise):
    """Noise whose density a test states, with the metric that it claims."""

    stated: Callable[[Floats], Floats]
    sold_in: EllipticalMetric | None = None
    step: float = 2.0**-10

    @property
    def metrics(self) -> dict[str, Metric]:
        return {} if self.sold_in is None else {self.sold_in.name: self.sold_in}

    def release(self, vectors: Floats, rng: Generator) -> Floats:
        return vectors + spherical_laplace(vectors.shape, 1.0, rng)

    def log_density(self, noise: Floats, vector: Floats) -> Floats:
        return self.stated(noise)


def stated(
    space: Lexicon,
    guarantee: Guarantee,
    log_density: Callable[[Floats], Floats],
    sold_in: EllipticalMetric | None = None,
) -> VectorChannel[Stated]:
    noise = Stated(stated=log_density, sold_in=sold_in)
    return VectorChannel(space, guarantee, noise, Nearest().on(space, 1.0))


def test_noise_renormalised_after_the_covariance_root() -> None:
    """A direction A^(1/2)u divided by its length again, then a Gamma radius: no longer private."""
    words = lexicon(PLANE)
    sound = Mahalanobis(epsilon=1.0, regularization=0.9).on(words)
    assert audit(sound).holds is True
    matrix = np.cov(np.array(PLANE).T, ddof=0)
    matrix = 0.9 * matrix * 2 / np.trace(matrix) + 0.1 * np.eye(2)
    inverse = np.linalg.inv(matrix)

    def log_density(noise: Floats) -> Floats:
        radius = np.linalg.norm(noise, axis=1)
        unit = noise / radius[:, None]
        angular = np.einsum("ij,jk,ik->i", unit, inverse, unit) * np.sqrt(np.linalg.det(matrix))
        return np.asarray(-radius - np.log(2 * np.pi * angular))

    fault = stated(words, sound.guarantee, log_density, sound.noise.metric)
    found = audit(fault)
    assert found.holds is False
    assert found.worst_ratio > 1.05


def test_per_coordinate_noise_sold_as_euclidean() -> None:
    words = lexicon([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [3.0, 3.0], [-1.0, 0.5]])
    assert audit(Laplace(epsilon=1.0).on(words)).holds is True
    sound = CoordinateLaplace(epsilon=1.0).on(words)
    assert audit(sound).holds is True

    def log_density(noise: Floats) -> Floats:
        return np.asarray(-np.abs(noise).sum(axis=1) - 2 * math.log(2.0))

    found = audit(stated(words, claim(1.0), log_density))
    assert found.holds is False
    assert 1.2 < found.worst_ratio <= math.sqrt(2.0)


def test_other_noise_than_is_stated_is_never_certified() -> None:
    words = lexicon([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]])

    def log_density(noise: Floats) -> Floats:
        return np.asarray(-0.2 * np.linalg.norm(noise, axis=1) + math.log(0.04 / (2 * math.pi)))

    found = audit(stated(words, claim(0.2), log_density))  # it draws with a rate of 1
    assert found.holds is None
    assert "draws" in found.method


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


class TestDecoder:
    def test_a_decoder_that_searches_near_the_input(self) -> None:
        """Only the true word's nearest words can come out: their supports differ."""
        positions = np.array([[0.0], [1.0], [2.0], [5.0], [6.0], [9.0]])
        words = lexicon(positions)

        def weights(distances: Floats) -> Floats:
            out = np.full(distances.shape, -math.inf)
            for word, row in enumerate(distances):
                near = np.sort(np.argsort(row, kind="stable")[:3])
                edges = nearest_edges(positions[near, 0])
                out[word, near] = piece_chances(positions[word], edges, 1.0)[0]
            return out

        assert audit(Laplace(epsilon=1.0).on(words)).holds is True
        found = audit(written(words, claim(1.0), weights))
        assert found.holds is False
        assert found.worst_ratio == math.inf

    def test_a_decoder_that_draws_until_the_word_has_changed(self) -> None:
        channel = TEM(epsilon=1.0, exponent="half").on(CROWD)

        def weights(distances: Floats) -> Floats:
            return np.where(np.eye(len(distances)) > 0, -math.inf, -0.5 * distances)

        found = audit(written(CROWD, channel.guarantee, weights))
        assert found.holds is False
        assert found.worst_ratio == math.inf

    def test_draws_that_bypass_the_law_are_never_certified(self) -> None:
        class Bypass(LawChannel[Law]):
            def _substitute(self, ids: Ids, rng: Generator) -> Ids:
                return ids

        class Clear(LawChannel[Law]):
            def substitute(self, ids: Any, rng: Generator) -> Ids:
                return np.asarray(ids)

        class Around(VectorChannel[AdditiveNoise]):
            def _substitute(self, ids: Ids, rng: Generator) -> Ids:
                return ids

        tem, laplace = TEM(epsilon=1.0).on(CROWD), Laplace(epsilon=1.0).on(CROWD)
        assert audit(tem).holds is True
        assert audit(Bypass(tem.law, tem.guarantee)).holds is None
        assert audit(Clear(tem.law, tem.guarantee)).holds is None
        around = Around(CROWD, laplace.guarantee, laplace.noise, laplace.decoder)
        assert audit(around).holds is None


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


def test_a_class_derived_from_a_known_one_is_not_taken_for_it() -> None:
    """It may be sound, but nothing proves it."""

    class Derived(PermuteAndFlipLaw):
        def weights_at(self, distances: Floats) -> Floats:
            return -self.exponent * distances

    crowd = lexicon([[0.0], *([1.0 + i / 8192] for i in range(1100))])
    sound = PermuteAndFlip(epsilon=2.0).on(crowd)
    assert audit(with_law(sound, Derived(crowd, 2.0))).holds is False
    assert audit(with_law(sound, Derived(crowd, 1.0))).holds is None


def test_the_closed_form_is_not_trusted_with_a_users_function() -> None:
    """A sample cannot prove the triangle inequality, and the closed form needs it."""
    points = np.random.Generator(np.random.PCG64(4)).normal(size=(1201, 2))
    lexicon = Lexicon(
        [f"w{i}" for i in range(1201)], points, metric=lambda x, y: cdist(x, y, "cityblock")
    )
    assert audit(TEM(epsilon=1.0, exponent="half").on(lexicon)).holds is None

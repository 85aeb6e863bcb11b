import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import gamma, kstest

from malaprop import Kind, Laplace, Lexicon, MetricError, ParameterError, PrivEmb, seeded_rng
from malaprop.privacy.noise import (
    PROJECTIONS,
    gaussian,
    operator_norm,
    orthonormal,
    paper_dimension,
    principal,
    sparse,
    stretch_chance,
)

DRAWS = 40_000
SIZES = ((50, 0.93), (100, 0.66), (200, 0.468))  # the paper's m and β at d = 300


def cloud(words: int, dimension: int) -> Lexicon:
    """Words whose vectors vary less and less from one coordinate to the next."""
    vectors = seeded_rng(6).normal(size=(words, dimension)) / np.arange(1, dimension + 1)
    return Lexicon([f"w{i}" for i in range(words)], vectors)


CLOUD = cloud(60, 300)
SMALL = cloud(30, 9)


def stretches(matrix: NDArray[np.float64], vectors: NDArray[Any]) -> NDArray[np.float64]:
    """‖Φ(x − x')‖/‖x − x'‖ of all pairs."""
    first, second = np.triu_indices(len(vectors), k=1)
    difference = vectors[first].astype(np.float64) - vectors[second]
    return np.asarray(
        np.linalg.norm(difference @ matrix.T, axis=1) / np.linalg.norm(difference, axis=1)
    )


class TestProjections:
    @pytest.mark.parametrize("m", [1, 50, 100, 200, 300])
    def test_orthonormal_rows_stretch_by_the_root_of_d_over_m(self, m: int) -> None:
        matrix = orthonormal(300, m, seed=0)
        np.testing.assert_allclose(matrix @ matrix.T * m / 300, np.eye(m), atol=1e-12)
        assert operator_norm(matrix) == pytest.approx(math.sqrt(300 / m), abs=1e-10)
        assert operator_norm(matrix) >= np.linalg.svd(matrix, compute_uv=False)[0]

    @pytest.mark.parametrize(("m", "norm"), [(50, 3.39), (100, 2.66), (200, 2.20)])
    @pytest.mark.parametrize("seed", [0, 1, 2])
    def test_gaussian_entries_stretch_more_than_the_paper_allows(
        self, m: int, norm: float, seed: int
    ) -> None:
        matrix = gaussian(300, m, seed)
        assert operator_norm(matrix) == pytest.approx(norm, abs=0.1)
        assert operator_norm(matrix) > 1.4 * (1.0 + dict(SIZES)[m])
        assert m * matrix.var() == pytest.approx(1.0, abs=0.05)

    @pytest.mark.parametrize("m", [1, 2, 50, 300])
    def test_sparse_columns_have_a_root_of_m_entries_of_length_1(self, m: int) -> None:
        matrix, entries = sparse(300, m, seed=0), math.ceil(math.sqrt(m))
        assert ((matrix != 0.0).sum(axis=0) == entries).all()
        np.testing.assert_allclose(np.linalg.norm(matrix, axis=0), 1.0)

    def test_sparse_projections_keep_lengths_on_average(self) -> None:
        """ΦᵀΦ is the identity on average; entries half as large would be noticed."""
        products = [matrix.T @ matrix for matrix in (sparse(9, 4, seed) for seed in range(4000))]
        np.testing.assert_allclose(np.mean(products, axis=0), np.eye(9), atol=0.07)

    def test_principal_directions_keep_the_most_and_never_stretch(self) -> None:
        matrix = principal(CLOUD.vectors, 5)
        assert operator_norm(matrix) == pytest.approx(1.0, abs=1e-10)
        kept = np.square((CLOUD.vectors - CLOUD.vectors.mean(axis=0)) @ matrix.T).sum()
        centred = CLOUD.vectors - CLOUD.vectors.mean(axis=0)
        best = np.square(np.linalg.svd(centred.astype(np.float64), compute_uv=False)[:5]).sum()
        assert kept == pytest.approx(best, rel=1e-5)

    @pytest.mark.parametrize("name", PROJECTIONS)
    def test_no_pair_is_stretched_more_than_the_norm_says(self, name: str) -> None:
        matrix = PrivEmb(epsilon=1.0, projection=name).on(CLOUD).noise.matrix
        assert stretches(matrix, CLOUD.vectors).max() <= operator_norm(matrix)

    @pytest.mark.parametrize("name", ["orthonormal", "gaussian", "sparse"])
    def test_the_seed_draws_it(self, name: str) -> None:
        first, again, other = (
            PrivEmb(epsilon=1.0, projection=name, projection_seed=seed).on(SMALL).noise.matrix
            for seed in (3, 3, 4)
        )
        assert np.array_equal(first, again)
        assert not np.allclose(first, other)
        with pytest.raises(ValueError, match="read-only"):
            first[0, 0] = 1.0


class TestDimension:
    def test_the_papers(self) -> None:
        found = [paper_dimension(300, beta, 1e-6) for _, beta in SIZES]
        assert found == pytest.approx([50.1, 99.6, 198.0], abs=0.05)
        assert [m * beta**2 for m, beta in SIZES] == pytest.approx([43.25, 43.56, 43.81], abs=0.01)

    def test_it_is_given_or_follows_from_beta_or_is_a_third(self) -> None:
        assert PrivEmb(epsilon=1.0, dimension=7).onto(300) == 7
        assert PrivEmb(epsilon=1.0, beta=0.66).onto(300) == 100
        assert PrivEmb(epsilon=1.0, beta=0.66).onto(20) == 20
        assert PrivEmb(epsilon=1.0).onto(300) == 100
        assert PrivEmb(epsilon=1.0).onto(1) == 1
        assert PrivEmb(epsilon=1.0, published=True).onto(300) == 100
        assert PrivEmb(epsilon=1.0, published=True, beta=0.93, dimension=50).onto(300) == 50

    def test_it_is_at_most_the_vectors_own(self) -> None:
        with pytest.raises(ParameterError, match="at most 9"):
            PrivEmb(epsilon=1.0, dimension=10).on(SMALL)

    def test_both_are_too_much(self) -> None:
        with pytest.raises(ParameterError, match="not both"):
            PrivEmb(epsilon=1.0, dimension=10, beta=0.5)


class TestUnionBound:
    @pytest.mark.parametrize(
        ("m", "beta", "chance", "words"),
        [(50, 0.93, 3.8e-8, 376_000), (100, 0.66, 6.6e-9, 905_000), (200, 0.468, 1.4e-9, 1.96e6)],
    )
    def test_fixed_words(self, m: int, beta: float, chance: float, words: float) -> None:
        assert stretch_chance(73_404, m, beta) == pytest.approx(chance, rel=0.02)
        assert stretch_chance(int(words), m, beta) == pytest.approx(1e-6, rel=0.01)

    @pytest.mark.parametrize(("beta", "chance"), [(0.93, 2.8e-6), (0.66, 1.3e-6)])
    def test_the_natural_logarithm_would_not_do(self, beta: float, chance: float) -> None:
        m = math.ceil(((math.sqrt(math.log(300)) + math.sqrt(math.log(1e6))) / beta) ** 2)
        assert stretch_chance(73_404, m, beta) == pytest.approx(chance, rel=0.03)

    def test_it_bounds_how_often_a_pair_is_stretched(self) -> None:
        """With few dimensions and a small β the chance is large enough to be counted."""
        words = SMALL.vectors[:3]
        failed = [stretches(gaussian(9, 4, seed), words).max() > 1.5 for seed in range(2000)]
        assert 0.01 < np.mean(failed) <= stretch_chance(3, 4, 0.5)


def noise(mechanism: PrivEmb, dimension: int = 9) -> NDArray[np.float64]:
    return mechanism.on(SMALL).release(np.zeros((DRAWS, dimension)), seeded_rng(21))


class TestNoise:
    @pytest.mark.parametrize("name", PROJECTIONS)
    def test_it_makes_up_for_the_stretch(self, name: str) -> None:
        mechanism = PrivEmb(epsilon=2.0, dimension=4, projection=name)
        norm = operator_norm(mechanism.on(SMALL).noise.matrix)
        radii = np.linalg.norm(noise(mechanism), axis=1)
        assert kstest(radii, gamma(4, scale=norm / 2.0).cdf).pvalue > 1e-6
        assert kstest(radii, gamma(4, scale=1.05 * norm / 2.0).cdf).pvalue < 1e-6
        assert kstest(radii, gamma(4, scale=0.95 * norm / 2.0).cdf).pvalue < 1e-6

    def test_its_direction_is_uniform(self) -> None:
        z = noise(PrivEmb(epsilon=1.0, dimension=3))
        direction = z / np.linalg.norm(z, axis=1, keepdims=True)
        for axis in ([1, 0, 0], [0, 0, 1], [0.6, 0, -0.8]):
            assert kstest((direction @ np.array(axis) + 1) / 2, "uniform").pvalue > 1e-6

    @pytest.mark.parametrize(
        ("name", "expected", "slack"),
        [
            ("orthonormal", (122.5, 173.2, 244.9), 0.01),
            ("gaussian", (170, 266, 440), 0.03),
            ("pca", (50, 100, 200), 1e-3),
        ],
    )
    def test_its_mean_length(
        self, name: str, expected: tuple[float, float, float], slack: float
    ) -> None:
        for (m, _), length in zip(SIZES, expected, strict=True):
            channel = PrivEmb(epsilon=1.0, dimension=m, projection=name).on(CLOUD)
            assert m * operator_norm(channel.noise.matrix) == pytest.approx(length, rel=slack)
            radii = np.linalg.norm(channel.release(np.zeros((4000, 300)), seeded_rng(1)), axis=1)
            assert radii.mean() == pytest.approx(length, rel=slack + 0.01)

    def test_the_papers_mean_length(self) -> None:
        for (m, beta), length in zip(SIZES, (96.5, 166, 293.6), strict=True):
            channel = PrivEmb(epsilon=1.0, dimension=m, beta=beta, published=True).on(CLOUD)
            radii = np.linalg.norm(channel.release(np.zeros((4000, 300)), seeded_rng(1)), axis=1)
            assert radii.mean() == pytest.approx(length, rel=0.01)

    def test_it_lies_on_a_grid_of_a_power_of_two(self) -> None:
        y = noise(PrivEmb(epsilon=1.7, dimension=4, projection="pca"))
        step = 2.0 ** (np.floor(np.log2(math.sqrt(5) / 1.7)) - 10)
        assert np.array_equal(y / step, np.rint(y / step))
        assert not np.array_equal(y / (4 * step), np.rint(y / (4 * step)))


class TestGuarantee:
    @given(
        name=st.sampled_from(PROJECTIONS),
        m=st.integers(1, 9),
        seed=st.integers(0, 1000),
        epsilon=st.floats(0.01, 20),
        data=st.data(),
    )
    def test_no_two_vectors_lose_more(
        self, name: str, m: int, seed: int, epsilon: float, data: st.DataObject
    ) -> None:
        """The worst log-ratio of densities is (ε/stretch)·‖Φ(x − x')‖, attained at y = Φx."""
        mechanism = PrivEmb(epsilon=epsilon, dimension=m, projection=name, projection_seed=seed)
        channel = mechanism.on(SMALL)
        assert channel.guarantee.kind is Kind.METRIC
        assert channel.guarantee.delta == 0.0
        coordinates = st.lists(st.floats(-9, 9), min_size=9, max_size=9)
        difference = np.array(data.draw(coordinates)) - data.draw(coordinates)
        loss = np.linalg.norm(channel.noise.matrix @ difference) / channel.noise.scale
        assert loss <= channel.guarantee.loss(float(np.linalg.norm(difference))) * (1 + 1e-12)

    def test_the_papers_noise_does_not_cover_all_vectors(self) -> None:
        """Along the direction that Φ stretches most, the loss is 1.7 times what is claimed."""
        channel = PrivEmb(epsilon=1.0, dimension=50, beta=0.93, published=True).on(CLOUD)
        assert channel.guarantee.kind is Kind.NONE
        _, stretched, directions = np.linalg.svd(channel.noise.matrix)
        worst = np.linalg.norm(channel.noise.matrix @ directions[0]) / channel.noise.scale
        assert worst == pytest.approx(stretched[0] / 1.93)
        assert 1.65 < worst < 1.85
        assert f"{worst:.3g}·ε·d" in channel.guarantee.reason
        assert stretches(channel.noise.matrix, CLOUD.vectors).max() < 1.93
        assert "60 words" in channel.guarantee.reason

    def test_the_papers_noise_may_be_enough_where_m_is_large(self) -> None:
        channel = PrivEmb(epsilon=1.0, dimension=200, beta=0.9, published=True).on(SMALL)
        assert operator_norm(channel.noise.matrix) < 1.9
        assert channel.guarantee.kind is Kind.METRIC

    def test_what_is_public(self) -> None:
        public = PrivEmb(epsilon=1.0).on(SMALL).guarantee.public
        assert any("projection_seed" in thing for thing in public)

    def test_in_full_dimension_it_is_laplace(self) -> None:
        radii = np.linalg.norm(noise(PrivEmb(epsilon=1.0, dimension=9)), axis=1)
        laplace = Laplace(epsilon=1.0).on(SMALL).release(np.zeros((DRAWS, 9)), seeded_rng(21))
        np.testing.assert_allclose(radii, np.linalg.norm(laplace, axis=1), atol=0.02)


class TestRelease:
    def test_any_vectors_of_the_space(self) -> None:
        channel = PrivEmb(epsilon=1.0, dimension=4).on(SMALL)
        sentences = SMALL.vectors[:20].reshape(10, 2, 9).mean(axis=1)
        assert channel.release(sentences, seeded_rng(1)).shape == (10, 4)
        assert channel.release(np.empty((0, 9)), seeded_rng(1)).shape == (0, 4)
        words = channel.release_words([3, 3, 5], seeded_rng(2))
        assert np.array_equal(words, channel.release(SMALL.vectors[[3, 3, 5]], seeded_rng(2)))

    @pytest.mark.parametrize("wrong", [[[1.0]], [1.0] * 9, [[math.nan] * 9], [[0.0] * 4]])
    def test_wrong_vectors_are_refused(self, wrong: Any) -> None:
        with pytest.raises(ParameterError):
            PrivEmb(epsilon=1.0, dimension=4).on(SMALL).release(wrong, seeded_rng(1))

    def test_noise_that_float64_cannot_hide_is_refused(self) -> None:
        channel = PrivEmb(epsilon=1.0, dimension=4).on(SMALL)
        for large in (1e14, 1.7e308):
            with pytest.raises(ParameterError, match="float64"):
                channel.release(np.full((1, 9), large), seeded_rng(1))
        with pytest.raises(ParameterError, match="float64"):
            PrivEmb(epsilon=1e13, dimension=4).on(SMALL)

    def test_words_are_the_nearest_in_the_projected_space(self) -> None:
        channel = PrivEmb(epsilon=30.0, dimension=4).on(SMALL)
        ids = np.arange(30).repeat(20)
        noisy = channel.release_words(ids, seeded_rng(5))
        projected = SMALL.vectors @ channel.noise.matrix.T
        nearest = np.square(noisy[:, None, :] - projected[None]).sum(axis=2).argmin(axis=1)
        assert np.array_equal(channel.substitute(ids, seeded_rng(5)), nearest)
        assert 0.05 < np.mean(nearest == ids) < 0.95


@pytest.mark.parametrize(
    "wrong",
    [
        {"dimension": 0},
        {"dimension": 2.5},
        {"dimension": "2"},
        {"beta": 0.0},
        {"beta": 1.0},
        {"delta": 0.0},
        {"projection": "hashed"},
        {"projection_seed": None},
        {"projection_seed": -1},
        {"published": "yes"},
        {"decoder": "farthest"},
    ],
)
def test_wrong_parameters_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        PrivEmb(epsilon=1.0, **wrong)


def test_it_needs_the_euclidean_metric(plane: Lexicon) -> None:
    with pytest.raises(MetricError, match="TEM"):
        PrivEmb(epsilon=1.0).on(plane.with_metric("angular"))

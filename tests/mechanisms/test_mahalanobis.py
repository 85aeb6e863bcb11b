import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare, gamma, kstest

from malaprop import Kind, Laplace, Lexicon, Mahalanobis, MetricError, ParameterError, seeded_rng
from malaprop.privacy.arrays import Floats
from malaprop.privacy.channel import VectorChannel
from malaprop.privacy.noise import Ellipsoid, EllipticalLaplace, clusters, spherical_laplace

DRAWS = 40_000
AXES = np.array([[4.0, 0.0, 0.0], [1.5, 1.0, 0.0], [-1.0, 0.3, 0.2]])


def cloud(count: int = 200, centre: float = 0.0, axes: Floats = AXES, seed: int = 8) -> Floats:
    return seeded_rng(seed).normal(size=(count, len(axes))) @ axes + centre


def lexicon_of(vectors: Floats) -> Lexicon:
    return Lexicon([f"w{i}" for i in range(len(vectors))], vectors)


CLOUD = lexicon_of(cloud())


def matrix(regularization: float, ddof: int = 1) -> Floats:
    """A, written out."""
    s = np.cov(CLOUD.vectors.astype(float), rowvar=False, ddof=ddof)
    sigma = 3 * s / np.trace(s)
    assert np.trace(sigma) == pytest.approx(3)
    return np.asarray(regularization * sigma + (1 - regularization) * np.eye(3))


def noise(mechanism: Mahalanobis, seed: int = 6) -> Floats:
    return mechanism.on(CLOUD).release(np.zeros((DRAWS, 3)), seeded_rng(seed))


def rm_norms(z: Floats, a: Floats) -> Floats:
    return np.asarray(np.sqrt(np.einsum("ij,jk,ik->i", z, np.linalg.inv(a), z)))


@pytest.mark.parametrize("regularization", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("epsilon", [0.3, 7.0])
class TestNoise:
    def test_its_norm_is_gamma(self, regularization: float, epsilon: float) -> None:
        z = noise(Mahalanobis(epsilon=epsilon, regularization=regularization))
        norms = rm_norms(z, matrix(regularization))
        assert kstest(norms * epsilon, gamma(3).cdf).pvalue > 1e-6

    @pytest.mark.parametrize("factor", [0.95, 1.05])
    def test_a_scale_off_by_5_percent_is_noticed(
        self, regularization: float, epsilon: float, factor: float
    ) -> None:
        z = noise(Mahalanobis(epsilon=factor * epsilon, regularization=regularization))
        norms = rm_norms(z, matrix(regularization))
        assert kstest(norms * epsilon, gamma(3).cdf).pvalue < 1e-6

    def test_its_covariance(self, regularization: float, epsilon: float) -> None:
        """Cov Z = ((d + 1)/ε²)·A, and so E‖Z‖² = d(d + 1)/ε² for every λ."""
        a = matrix(regularization)
        z = noise(Mahalanobis(epsilon=epsilon, regularization=regularization)) * epsilon
        white = z @ np.linalg.inv(np.linalg.cholesky(a)).T
        np.testing.assert_allclose(white.T @ white / DRAWS, 4 * np.eye(3), atol=0.25)
        assert (z**2).sum(axis=1).mean() == pytest.approx(12.0, rel=0.06)

    def test_its_whitened_direction_is_uniform(self, regularization: float, epsilon: float) -> None:
        a = matrix(regularization)
        z = noise(Mahalanobis(epsilon=epsilon, regularization=regularization))
        white = z @ np.linalg.inv(np.linalg.cholesky(a)).T
        white /= np.linalg.norm(white, axis=1, keepdims=True)
        for axis in np.eye(3):
            assert kstest((white @ axis + 1) / 2, "uniform").pvalue > 1e-6


class TestPlantedNoise:
    """Faults that the tests above would catch."""

    def direction(self) -> Floats:
        u = seeded_rng(2).standard_normal((DRAWS, 3))
        return np.asarray(u / np.linalg.norm(u, axis=1, keepdims=True))

    def test_renormalised_after_the_root(self) -> None:
        turned = self.direction() @ Ellipsoid(CLOUD.vectors.astype(float), 1.0).root
        turned /= np.linalg.norm(turned, axis=1, keepdims=True)
        z = turned * seeded_rng(3).gamma(3, size=(DRAWS, 1))
        assert kstest(rm_norms(z, matrix(1.0)), gamma(3).cdf).pvalue < 1e-6

    def test_a_covariance_without_scaling(self) -> None:
        root = np.linalg.cholesky(np.cov(CLOUD.vectors.astype(float), rowvar=False))
        z = self.direction() * seeded_rng(3).gamma(3, size=(DRAWS, 1)) @ root.T
        assert kstest(rm_norms(z, matrix(1.0)), gamma(3).cdf).pvalue < 1e-6

    def test_the_matrix_itself_for_its_root(self) -> None:
        z = self.direction() * seeded_rng(3).gamma(3, size=(DRAWS, 1)) @ matrix(1.0)
        assert kstest(rm_norms(z, matrix(1.0)), gamma(3).cdf).pvalue < 1e-6


@pytest.mark.parametrize("ddof", [0, 1])
def test_the_matrix_does_not_depend_on_degrees_of_freedom(ddof: int) -> None:
    found = Ellipsoid(CLOUD.vectors.astype(float), 0.7)
    np.testing.assert_allclose(found.matrix, matrix(0.7, ddof), rtol=1e-9)
    assert np.trace(found.matrix) == pytest.approx(3, rel=1e-12)
    np.testing.assert_allclose(found.root @ found.root.T, found.matrix, rtol=1e-9)


class TestGuarantee:
    @pytest.mark.parametrize("regularization", [0.0, 0.25, 0.5, 0.75, 1.0])
    def test_both_epsilons_are_stated(self, regularization: float) -> None:
        channel = Mahalanobis(epsilon=5.0, regularization=regularization).on(CLOUD)
        guarantee = channel.guarantee
        least = np.linalg.eigvalsh(matrix(regularization))[0]
        euclidean = dict(guarantee.equivalents)["euclidean"]
        assert guarantee.kind is Kind.METRIC
        assert guarantee.metric == f"mahalanobis(λ={regularization:g})"
        assert 0 <= euclidean / (5.0 / math.sqrt(least)) - 1 < 1e-9
        assert "In euclidean distance, ε = " in str(guarantee)

    def test_the_euclidean_epsilon_rises_with_the_regularization(self) -> None:
        """At one nominal ε: less N_w, as in the paper, is not more privacy."""
        found = [
            dict(Mahalanobis(epsilon=5.0, regularization=r).on(CLOUD).guarantee.equivalents)
            for r in (0.0, 0.25, 0.5, 0.75, 1.0)
        ]
        epsilons = [one["euclidean"] for one in found]
        assert epsilons == sorted(epsilons)
        assert epsilons[0] == pytest.approx(5.0)

    def test_the_euclidean_epsilon_is_attained(self) -> None:
        """Along the eigenvector of λ_min; sold as ε per Euclidean unit it would be false."""
        channel = Mahalanobis(epsilon=5.0, regularization=1.0).on(CLOUD)
        _, axes = np.linalg.eigh(matrix(1.0))
        loss = channel.guarantee.loss(float(channel.noise.metric.distance(axes[:, 0], np.zeros(3))))
        assert loss == pytest.approx(dict(channel.guarantee.equivalents)["euclidean"])
        assert loss > 5.0 * 2

    def test_distances_are_those_of_the_norm(self) -> None:
        channel = Mahalanobis(epsilon=1.0, regularization=0.4).on(CLOUD)
        x, y = CLOUD.vectors[:20].astype(float), CLOUD.vectors[20:40].astype(float)
        np.testing.assert_allclose(
            channel.noise.metric.distance(x, y),
            rm_norms(x - y, matrix(0.4)),
            rtol=1e-6,
        )
        measured = CLOUD.with_metric(channel.noise.metric.distance)
        assert measured.distances([0])[0, 20] == pytest.approx(
            float(channel.noise.metric.distance(x[0], y[0]))
        )


def test_without_covariance_it_is_laplace(plane: Lexicon) -> None:
    ids = np.arange(40).repeat(20)
    drawn = Mahalanobis(epsilon=0.8, regularization=0.0).on(plane).substitute(ids, seeded_rng(5))
    assert np.array_equal(drawn, Laplace(epsilon=0.8).on(plane).substitute(ids, seeded_rng(5)))


class TestSingular:
    FLAT = lexicon_of(cloud(axes=np.diag([3.0, 1.0, 0.0])))
    FEW = lexicon_of(cloud(count=3))

    @pytest.mark.parametrize("lexicon", [FLAT, FEW])
    def test_it_is_refused_with_the_remedy(self, lexicon: Lexicon) -> None:
        with pytest.raises(ParameterError, match=r"regularization.*below 1"):
            Mahalanobis(epsilon=1.0, regularization=1.0).on(lexicon)

    @pytest.mark.parametrize("lexicon", [FLAT, FEW])
    def test_regularization_mends_it(self, lexicon: Lexicon) -> None:
        channel = Mahalanobis(epsilon=1.0, regularization=0.9).on(lexicon)
        z = channel.release(np.zeros((1000, 3)), seeded_rng(1))
        assert np.linalg.matrix_rank(z) == 3
        assert dict(channel.guarantee.equivalents)["euclidean"] == pytest.approx(math.sqrt(10))

    def test_words_of_one_vector_have_spherical_noise(self) -> None:
        twins = Lexicon(["a", "b"], [[1.0, 2.0], [1.0, 2.0]])
        equivalents = Mahalanobis(epsilon=2.0).on(twins).guarantee.equivalents
        assert dict(equivalents)["euclidean"] == pytest.approx(2.0)


TWO = lexicon_of(
    np.vstack([cloud(60), cloud(60, centre=12.0, axes=np.diag([0.2, 1.0, 4.0]), seed=9)])
)


def joint_log_densities(channel: VectorChannel[EllipticalLaplace], x: Floats, y: Floats) -> Floats:
    """ln Pr[c]·f_c(y − x) for each cluster c, up to a constant: written out from the definition."""
    found = []
    for ellipsoid in channel.noise.ellipsoids:
        score = -0.25 * 1.5 / 2 * ellipsoid.norm(x - ellipsoid.centre)
        determinant = np.linalg.slogdet(ellipsoid.matrix)[1]
        found.append((score, -0.75 * 1.5 * ellipsoid.norm(y - x) - determinant / 2))
    scores = np.array([score for score, _ in found])
    scores -= np.log(np.exp(scores).sum())
    return np.asarray(scores + np.array([density for _, density in found]))


class TestClusters:
    CHANNEL = Mahalanobis(epsilon=1.5, regularization=0.9, clusters=2).on(TWO)

    def test_each_has_its_own_covariance(self) -> None:
        labels = clusters(TWO.vectors.astype(float), 2)
        assert {labels[:60].min(), labels[:60].max()} != {labels[60:].min(), labels[60:].max()}
        assert len(set(labels[:60])) == len(set(labels[60:])) == 1
        for c, ellipsoid in enumerate(self.CHANNEL.noise.ellipsoids):
            s = np.cov(TWO.vectors[labels == c].astype(float), rowvar=False)
            np.testing.assert_allclose(
                ellipsoid.matrix, 0.9 * 3 * s / np.trace(s) + 0.1 * np.eye(3)
            )

    @given(st.integers(0, 119), st.integers(0, 119), st.integers(0, 2**32), st.floats(0, 3))
    def test_the_loss_of_every_pair_is_within_the_guarantee(
        self, one: int, other: int, seed: int, log_far: float
    ) -> None:
        x, x2 = TWO.vectors[one].astype(float), TWO.vectors[other].astype(float)
        y = x + 10.0**log_far * seeded_rng(seed).normal(size=3)
        here, there = (joint_log_densities(self.CHANNEL, w, y) for w in (x, x2))
        allowed = self.CHANNEL.guarantee.loss(float(self.CHANNEL.noise.metric.distance(x, x2)))
        assert np.abs(here - there).max() <= allowed + 1e-9
        euclidean = dict(self.CHANNEL.guarantee.equivalents)["euclidean"]
        assert allowed <= euclidean * np.linalg.norm(x - x2) * (1 + 1e-12)

    def test_the_words_own_cluster_would_have_no_guarantee(self) -> None:
        """The paper's outlook, literally: the loss grows without bound away from the words."""
        a, b = self.CHANNEL.noise.ellipsoids
        x, x2 = TWO.vectors[0].astype(float), TWO.vectors[60].astype(float)
        allowed = self.CHANNEL.guarantee.loss(float(self.CHANNEL.noise.metric.distance(x, x2)))
        losses = [abs(a.norm(y - x) - b.norm(y - x2)) for y in np.eye(3)[2] * [[1e2], [1e3], [1e4]]]
        assert losses[0] < losses[1] < losses[2]
        assert 1.5 * losses[2] > 10 * allowed

    def test_clusters_are_drawn_by_the_exponential_mechanism(self) -> None:
        x = np.full(3, 6.0)
        distances = np.array([e.norm(x - e.centre) for e in self.CHANNEL.noise.ellipsoids])
        p = np.exp(-0.25 * 1.5 / 2 * distances)
        drawn = self.CHANNEL.noise._choose(np.tile(x, (DRAWS, 1)), seeded_rng(4))
        counts = np.bincount(drawn, minlength=2)
        assert chisquare(counts, DRAWS * p / p.sum()).pvalue > 1e-6
        assert counts.min() > 1000
        q = np.exp(-0.5 * 1.5 / 2 * distances)
        assert chisquare(counts, DRAWS * q / q.sum()).pvalue < 1e-6

    def test_the_noise_is_of_the_cluster_that_was_drawn(self) -> None:
        """And of the ε that is left: the norms follow the mixture of Gamma laws."""
        x = np.full(3, 6.0)
        y = self.CHANNEL.release(np.tile(x, (DRAWS, 1)), seeded_rng(4))
        chosen = self.CHANNEL.noise._choose(np.tile(x, (DRAWS, 1)), self.after_noise(seeded_rng(4)))
        for c, ellipsoid in enumerate(self.CHANNEL.noise.ellipsoids):
            norms = ellipsoid.norm(y[chosen == c] - x)
            assert kstest(norms * 0.75 * 1.5, gamma(3).cdf).pvalue > 1e-6
            assert kstest(norms * 1.5, gamma(3).cdf).pvalue < 1e-6

    def after_noise(self, rng: np.random.Generator) -> np.random.Generator:
        spherical_laplace((DRAWS, 3), self.CHANNEL.noise.scale, rng)
        return rng

    def test_they_are_the_same_at_each_call(self) -> None:
        again = Mahalanobis(epsilon=1.5, regularization=0.9, clusters=2).on(TWO)
        ids = np.arange(120)
        here, there = (c.substitute(ids, seeded_rng(3)) for c in (again, self.CHANNEL))
        assert np.array_equal(here, there)
        assert again.guarantee == self.CHANNEL.guarantee
        assert again.guarantee.metric == "mahalanobis(λ=0.9, 2 clusters)"

    def test_clusters_of_few_words_and_of_equal_ones(self) -> None:
        few = lexicon_of(cloud(5))
        drawn = Mahalanobis(epsilon=1.0, clusters=5).on(few).substitute(np.arange(5), seeded_rng(1))
        assert drawn.shape == (5,)
        twins = Lexicon(["a", "b"], [[1.0, 2.0], [1.0, 2.0]])
        assert Mahalanobis(epsilon=1.0, clusters=2).on(twins).guarantee.metric.endswith("(λ=0.5)")
        with pytest.raises(ParameterError, match="at most"):
            Mahalanobis(epsilon=1.0, clusters=6).on(few)


@pytest.mark.parametrize(
    "wrong",
    [
        {"regularization": -0.1},
        {"regularization": 1.1},
        {"regularization": math.nan},
        {"clusters": 0},
        {"clusters": 1.5},
        {"clusters": math.inf},
    ],
)
def test_wrong_parameters_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        Mahalanobis(epsilon=1.0, **wrong)  # type: ignore[arg-type]


def test_a_whole_number_may_come_as_a_float() -> None:
    assert Mahalanobis(epsilon=1.0, clusters=2.0) == Mahalanobis(epsilon=1.0, clusters=2)  # type: ignore[arg-type]


def test_it_needs_the_euclidean_metric(plane: Lexicon) -> None:
    with pytest.raises(MetricError, match="TEM"):
        Mahalanobis(epsilon=1.0).on(plane.with_metric("manhattan"))

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import kstest, norm

from malaprop import (
    Jaccard,
    Kind,
    Lexicon,
    LexiconError,
    MetricError,
    ParameterError,
    gaussian_scale,
    seeded_rng,
)
from malaprop.mechanisms.jaccard import DensityCategories
from malaprop.privacy.channel import VectorChannel
from malaprop.privacy.gaussian_noise import (
    WordGaussian,
    classical_scale,
    gaussian_delta,
    spherical_delta,
)

RNG = seeded_rng(3)
UNEVEN = Lexicon(
    [f"w{i}" for i in range(60)],
    np.vstack([RNG.normal(size=(30, 3)), 20 + 4 * RNG.normal(size=(30, 3))]),
)
"""Thirty words close together, thirty far apart."""


def dense_of(channel: VectorChannel[WordGaussian]) -> NDArray[np.bool_]:
    found = channel.neighbourhoods
    assert isinstance(found, DensityCategories)
    return found.dense


def nearest(lexicon: Lexicon, count: int) -> NDArray[np.float64]:
    """Written out: the distances to the nearest other words, in order."""
    d = lexicon.distances(np.arange(len(lexicon)))
    np.fill_diagonal(d, np.inf)
    return np.sort(d, axis=1)[:, :count]


class TestHidden:
    CHANNEL = Jaccard(epsilon=1.0, delta=1e-5).on(UNEVEN)

    def test_all_words_share_one_width(self) -> None:
        largest = nearest(UNEVEN, 10).max()
        assert self.CHANNEL.guarantee.kind is Kind.BOUNDED
        assert self.CHANNEL.guarantee.radius == pytest.approx(largest, rel=2e-9)
        assert self.CHANNEL.guarantee.radius >= largest
        assert set(self.CHANNEL.noise.sigmas) == {
            gaussian_scale(1.0, 1e-5) * self.CHANNEL.guarantee.radius
        }

    def test_every_word_is_protected_from_its_neighbours(self) -> None:
        near = nearest(UNEVEN, 10)
        for word in range(60):
            for distance in near[word]:
                assert self.CHANNEL.guarantee.loss(distance) == 1.0
                assert gaussian_delta(1.0, distance / self.CHANNEL.noise.sigmas[word]) <= 1e-5


class TestPublic:
    CHANNEL = Jaccard(epsilon=1.0, delta=1e-5, categories="public").on(UNEVEN)

    def test_the_words_of_a_category_share_one_width(self) -> None:
        density = nearest(UNEVEN, 10).mean(axis=1)
        assert np.array_equal(dense_of(self.CHANNEL), density < np.median(density))
        assert dense_of(self.CHANNEL)[:30].all()
        assert not dense_of(self.CHANNEL)[30:].any()
        reach = nearest(UNEVEN, 10)[:, -1]
        expected = np.where(dense_of(self.CHANNEL), reach[:30].max(), reach[30:].max())
        np.testing.assert_allclose(
            self.CHANNEL.noise.sigmas, gaussian_scale(1.0, 1e-5) * expected, rtol=2e-9
        )

    def test_the_guarantee_names_its_pairs_and_what_is_public(self) -> None:
        guarantee = self.CHANNEL.guarantee
        assert guarantee.kind is Kind.NEIGHBOURHOOD
        assert "one density category" in str(guarantee)
        assert any("dense" in fact for fact in guarantee.public)
        for sigma in set(self.CHANNEL.noise.sigmas):
            assert gaussian_delta(1.0, guarantee.radius / sigma) <= 1e-5

    def test_across_categories_nothing_is_protected(self) -> None:
        wide, narrow = max(self.CHANNEL.noise.sigmas), min(self.CHANNEL.noise.sigmas)
        assert spherical_delta(1.0, wide, narrow, 0.0, 3) > 0.1


def high_dimensional() -> Lexicon:
    rng = seeded_rng(5)
    width = np.repeat([0.3, 0.4], 40)[:, None]
    return Lexicon([f"w{i}" for i in range(80)], width * rng.normal(size=(80, 300)))


class TestPublished:
    def test_its_two_widths(self) -> None:
        channel = Jaccard(epsilon=1.0, delta=1e-5, published=True).on(UNEVEN)
        average = nearest(UNEVEN, 10)[:, -1].mean()
        expected = np.where(dense_of(channel), 1.835, 1.276) * classical_scale(1.0, 1e-5, average)
        np.testing.assert_allclose(channel.noise.sigmas, expected, rtol=2e-9)

    def test_the_noise_follows_them(self) -> None:
        channel = Jaccard(epsilon=1.0, published=True).on(UNEVEN)
        for word in (0, 59):
            ids = np.full(20_000, word)
            z = channel.release_words(ids, seeded_rng(word)) - UNEVEN.vectors[word]
            assert kstest(z.ravel() / channel.noise.sigmas[word], norm.cdf).pvalue > 1e-6
            assert kstest(z.ravel() / (1.05 * channel.noise.sigmas[word]), norm.cdf).pvalue < 1e-6

    @pytest.mark.parametrize("categories", ["hidden", "public"])
    def test_nothing_is_promised_and_the_exact_delta_is_named(self, categories: str) -> None:
        delta = 1 / 73404
        mechanism = Jaccard(epsilon=1.0, delta=delta, published=True, categories=categories)
        channel = mechanism.on(high_dimensional())
        guarantee = channel.guarantee
        assert guarantee.kind is Kind.NONE
        assert guarantee.loss(0.0) == math.inf
        wide, narrow = max(channel.noise.sigmas), min(channel.noise.sigmas)
        exact = spherical_delta(1.0, wide, narrow, guarantee.radius, 300)
        # All is in units of Δ, so this is the figure of the paper's own setting.
        assert exact == pytest.approx(0.9999856, abs=1e-7)
        assert f"{exact:.7g}" in guarantee.reason

    def test_an_attacker_tells_the_category_from_one_release(self) -> None:
        lexicon = high_dimensional()
        channel = Jaccard(epsilon=1.0, published=True).on(lexicon)
        ids = np.arange(80).repeat(20)
        y = channel.release_words(ids, seeded_rng(1))
        guess = np.linalg.norm(y, axis=1) > np.sqrt(
            300 * channel.noise.sigmas.max() * channel.noise.sigmas.min()
        )
        assert np.mean(guess == dense_of(channel)[ids]) > 0.999

    def test_the_repaired_one_withstands_that(self) -> None:
        lexicon = high_dimensional()
        channel = Jaccard(epsilon=1.0).on(lexicon)
        ids = np.arange(80).repeat(20)
        norms = np.linalg.norm(channel.release_words(ids, seeded_rng(1)), axis=1)
        guess = norms > np.median(norms)
        assert abs(np.mean(guess == dense_of(channel)[ids]) - 0.5) < 0.06


@pytest.mark.parametrize("mechanism", [Jaccard(epsilon=1.0), Jaccard(epsilon=1.0, published=True)])
def test_lexicons_without_neighbours_are_refused(mechanism: Jaccard) -> None:
    for vectors in ([[1.0]], [[1.0], [1.0]]):
        with pytest.raises(LexiconError, match="neighbours"):
            mechanism.on(Lexicon([f"w{i}" for i in range(len(vectors))], vectors))


def test_a_category_of_equal_words_is_refused() -> None:
    """It would get no noise at all."""
    vectors = [[0.0]] * 4 + [[5.0], [9.0], [14.0], [20.0]]
    lexicon = Lexicon([f"w{i}" for i in range(8)], vectors)
    with pytest.raises(LexiconError, match="share a vector"):
        Jaccard(epsilon=1.0, neighbours=2, categories="public").on(lexicon)
    assert Jaccard(epsilon=1.0, neighbours=2).on(lexicon).noise.sigmas.min() > 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"delta": 0.0},
        {"delta": 1.0},
        {"neighbours": 0},
        {"neighbours": 2.5},
        {"categories": "secret"},
        {"published": "false"},
    ],
)
def test_wrong_parameters_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        Jaccard(epsilon=1.0, **wrong)  # type: ignore[arg-type]


def test_it_needs_the_euclidean_metric(plane: Lexicon) -> None:
    with pytest.raises(MetricError, match="TEM"):
        Jaccard(epsilon=1.0).on(plane.with_metric("manhattan"))

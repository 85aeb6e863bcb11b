"""Mechanisms on vectors without a lexicon: the noise, the guarantee, and what is refused."""

import math
import pickle
from typing import Any

import numpy as np
import pytest
from scipy.stats import gamma, kstest, norm
from scipy.stats import laplace as laplace_law

import malaprop
from malaprop import (
    CoordinateLaplace,
    Gaussian,
    HyperbolicLaplace,
    Kind,
    Laplace,
    Mahalanobis,
    ParameterError,
    PrivEmb,
    TangentLaplace,
    seeded_rng,
)
from malaprop.mechanisms.decoders import VectorMechanism
from malaprop.privacy.mechanism import FreeVectors, TakesVectors
from malaprop.privacy.noise import operator_norm

ROWS = seeded_rng(1).normal(size=(60, 6)) * [5, 3, 2, 1, 1, 1]
MANY = 40_000


def noise_of(mechanism: VectorMechanism, columns: int, **options: Any) -> Any:
    """The noise alone: what is released for zeros."""
    return mechanism.release(np.zeros((MANY, columns)), seeded_rng(3), **options)


def accepts_only_truth(values: Any, law: Any, scale: float) -> None:
    assert kstest(values, law(scale).cdf).pvalue > 1e-6
    for wrong in (0.95, 1.05):
        assert kstest(values, law(wrong * scale).cdf).pvalue < 1e-6


def test_the_noise_is_what_each_mechanism_states() -> None:
    radii = np.linalg.norm(noise_of(Laplace(epsilon=2.0), 5), axis=1)
    accepts_only_truth(radii, lambda s: gamma(5, scale=s), 0.5)
    entries = noise_of(CoordinateLaplace(epsilon=2.0), 2).ravel()
    accepts_only_truth(entries, lambda s: laplace_law(scale=s), 0.5)
    entries = noise_of(Gaussian(epsilon=1.0, sensitivity=2.0), 2).ravel()
    accepts_only_truth(entries, lambda s: norm(scale=s), malaprop.gaussian_scale(1.0, 1e-5, 2.0))
    projected = PrivEmb(epsilon=2.0, dimension=3)
    free = projected.for_vectors(6)
    scale = operator_norm(free.noise.matrix) / 2.0  # type: ignore[attr-defined]
    radii = np.linalg.norm(noise_of(projected, 6), axis=1)
    accepts_only_truth(radii, lambda s: gamma(3, scale=s), scale)


def test_elliptical_noise_follows_the_public_vectors() -> None:
    made = Mahalanobis(epsilon=2.0, regularization=0.6)
    noise = noise_of(made, 6, public=ROWS)
    covariance = np.cov(ROWS.T)
    shape = 0.6 * covariance * 6 / np.trace(covariance) + 0.4 * np.eye(6)
    lengths = np.sqrt(np.einsum("ij,jk,ik->i", noise, np.linalg.inv(shape), noise))
    accepts_only_truth(lengths, lambda s: gamma(6, scale=s), 0.5)


@pytest.mark.parametrize(
    ("made", "options"),
    [
        (Laplace(epsilon=3.0), {}),
        (CoordinateLaplace(epsilon=3.0), {}),
        (Gaussian(epsilon=3.0, sensitivity=1.0), {}),
        (PrivEmb(epsilon=3.0, dimension=2), {}),
        (PrivEmb(epsilon=3.0, dimension=2, projection="gaussian"), {}),
        (PrivEmb(epsilon=3.0, dimension=2, projection="pca"), {"public": ROWS}),
        (Mahalanobis(epsilon=3.0), {"public": ROWS}),
        (Mahalanobis(epsilon=3.0, clusters=2), {"public": ROWS}),
    ],
)
def test_the_length_of_the_noise_is_stated(made: VectorMechanism, options: Any) -> None:
    free = made.for_vectors(6, **options)
    noise = free.release(np.zeros((MANY, 6)), seeded_rng(4))
    root = math.sqrt(float(np.mean(np.sum(noise**2, axis=1))))
    assert free.noise_length == pytest.approx(root, rel=0.02)
    assert free.onto == noise.shape[1]
    assert isinstance(made, TakesVectors)


def test_the_guarantee_is_for_any_two_vectors() -> None:
    guarantee = Laplace(epsilon=3.0).for_vectors(6).guarantee
    assert (guarantee.kind, guarantee.loss(2.0), guarantee.lexicon) == (Kind.METRIC, 6.0, "")
    assert "any two vectors, whatever they stand for" in str(guarantee)
    assert "lexicon" not in str(guarantee) + "".join(guarantee.public)
    assert "are refused" in guarantee.numerics
    bounded = Gaussian(epsilon=1.0, sensitivity=2.0).for_vectors(6).guarantee
    assert (bounded.kind, bounded.radius) == (Kind.BOUNDED, 2.0)
    elliptical = Mahalanobis(epsilon=1.0).for_vectors(6, ROWS).guarantee
    assert dict(elliptical.equivalents)["euclidean"] > 1.0
    assert "the public vectors" in elliptical.public


def test_the_published_projection_guarantees_nothing_for_vectors_either() -> None:
    guarantee = PrivEmb(epsilon=1.0, dimension=3, published=True).for_vectors(60).guarantee
    assert guarantee.kind is Kind.NONE
    assert "words" not in guarantee.reason


def test_nothing_is_learnt_from_the_vectors() -> None:
    made = PrivEmb(epsilon=1.0, dimension=2)
    here, there = made.release(ROWS, seeded_rng(1)), made.release(ROWS + 1.0, seeded_rng(1))
    free = made.for_vectors(6)
    step = free.places(ROWS + 1.0) - free.places(ROWS)
    np.testing.assert_allclose(there - here, step, atol=2 * 2.0**-8)


def test_points_of_the_ball_are_released() -> None:
    points = ROWS[:, :2] / 40
    for made in (HyperbolicLaplace(epsilon=5.0), TangentLaplace(epsilon=5.0)):
        private = made.release(points, seeded_rng(1))
        assert np.linalg.norm(private, axis=1).max() < 1.0
        assert made.for_vectors(2).guarantee.metric == "poincare"
        assert made.for_vectors(2).noise_length is None
        with pytest.raises(ParameterError):
            made.release(points + 2.0)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (Mahalanobis(epsilon=1.0), "'public' vectors"),
        (PrivEmb(epsilon=1.0, projection="pca"), "'public' vectors"),
        (Gaussian(epsilon=1.0), "'sensitivity'"),
        (malaprop.NADP(epsilon=1.0), "words of a lexicon only"),
        (malaprop.Jaccard(epsilon=1.0), "words of a lexicon only"),
        (malaprop.PoincareMetropolis(epsilon=1.0), "guarantees nothing"),
        (PrivEmb(epsilon=1.0, dimension=7), "at most 6"),
    ],
)
def test_what_is_missing_is_named(made: VectorMechanism, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        made.release(ROWS)


@pytest.mark.parametrize(
    "wrong",
    [
        [1.0, 2.0],
        [["a", "b"]],
        [[1.0], [1.0, 2.0]],
        [[math.nan, 1.0]],
        [[math.inf, 1.0]],
        [[1j, 1.0]],
        np.empty((3, 0)),
        None,
        [[True, False]],
    ],
)
def test_wrong_vectors_are_refused(wrong: Any) -> None:
    with pytest.raises(ParameterError, match="Vectors must be"):
        Laplace(epsilon=1.0).release(wrong)


def test_wrong_shapes_are_refused() -> None:
    with pytest.raises(ParameterError, match="6 columns"):
        Laplace(epsilon=1.0).for_vectors(6).release(ROWS[:, :5])
    with pytest.raises(ParameterError, match="'public' vectors must be"):
        Mahalanobis(epsilon=1.0).release(ROWS, public=ROWS[:, :5])
    with pytest.raises(ParameterError, match="'public' vectors must be"):
        Mahalanobis(epsilon=1.0).release(ROWS, public=ROWS[:1])
    for columns in (0, -1, 2.5, True, "3"):
        with pytest.raises(ParameterError, match="number of columns"):
            Laplace(epsilon=1.0).for_vectors(columns)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="Generator"):
        Laplace(epsilon=1.0).release(ROWS, 3)  # type: ignore[arg-type]


def test_vectors_that_the_grid_cannot_hide_are_refused_without_showing_them() -> None:
    free = Laplace(epsilon=1e6).for_vectors(6)
    limit = float(free.guarantee.numerics.split("about ")[1].split()[0])
    free.release(np.full((1, 6), 0.9 * limit))
    with pytest.raises(ParameterError, match="too small for float64") as caught:
        free.release(np.full((1, 6), 1234567.0 * limit))
    assert "1234567" not in str(caught.value)


def test_releases_are_fresh_and_on_the_grid() -> None:
    free = Laplace(epsilon=5.0).for_vectors(6)
    first, second = free.release(ROWS), free.release(ROWS)
    assert not (first == second).all(axis=1).any()
    step = free.noise.grid.step  # type: ignore[attr-defined]
    assert np.array_equal(first / step, np.rint(first / step))
    assert free.release(np.empty((0, 6))).shape == (0, 6)
    copy: FreeVectors = pickle.loads(pickle.dumps(free))  # noqa: S301
    assert copy.guarantee == free.guarantee
    assert "any two vectors" in free._repr_html_()

"""λ by a grid: the constraint is kept, the best is chosen, both ε are told."""

from typing import Any

import numpy as np
import pytest

from malaprop import Lexicon, Mahalanobis, ParameterError, seeded_rng
from malaprop.measure import best_lambda

CLOUD = Lexicon(
    [f"w{i}" for i in range(60)], seeded_rng(1).normal(size=(60, 4)) * [8.0, 3.0, 1.0, 1.0]
)
GRID = (0.0, 0.3, 0.6, 0.9)


def test_the_best_similarity_under_a_bound_on_words_kept() -> None:
    found = best_lambda(CLOUD, 1.0, kept=0.5, grid=GRID, rng=seeded_rng(2))
    within = [row for row in found.rows if row.within]
    assert found.best.similarity == max(row.similarity for row in within)
    assert all(row.kept <= 0.5 for row in within)
    assert [row.regularization for row in found.rows] == list(GRID)


def test_the_fewest_words_kept_under_a_bound_on_similarity() -> None:
    every = best_lambda(CLOUD, 1.0, kept=0.9, grid=GRID, rng=seeded_rng(2)).rows
    lowest = min(row.similarity for row in every)
    found = best_lambda(CLOUD, 1.0, similarity=0.5 * lowest, grid=GRID, rng=seeded_rng(2))
    assert found.best.kept == min(row.kept for row in found.rows if row.within)


def test_the_euclidean_epsilon_is_told_and_grows_with_lambda() -> None:
    found = best_lambda(CLOUD, 2.0, kept=0.9, grid=GRID, rng=seeded_rng(2))
    for row in found.rows:
        made = Mahalanobis(epsilon=2.0, regularization=row.regularization)
        promise = dict(made.on(CLOUD).guarantee.equivalents)
        assert row.euclidean == promise["euclidean"]
        assert row.epsilon == 2.0
    euclidean = [row.euclidean for row in found.rows]
    assert euclidean == sorted(euclidean)
    assert euclidean[0] == pytest.approx(2.0)
    assert found.to_dict()["euclidean_epsilon"] == found.best.euclidean


def test_a_singular_covariance_is_left_out() -> None:
    flat = np.zeros((60, 4))
    flat[:, :2] = CLOUD.vectors[:, :2]
    found = best_lambda(
        Lexicon(CLOUD.words, flat), 1.0, kept=0.9, grid=(0.5, 1.0), rng=seeded_rng(2)
    )
    assert found.skipped == (1.0,)
    assert found.regularization == 0.5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "one bound"),
        ({"kept": 0.5, "similarity": 0.5}, "one bound"),
        ({"kept": 0.0}, "between 0 and 1"),
        ({"kept": 0.5, "grid": ()}, "from 0 to 1"),
        ({"kept": 0.5, "grid": (0.5, 1.5)}, "from 0 to 1"),
        ({"kept": 1e-9, "grid": (0.5,)}, "No λ of the grid"),
    ],
)
def test_wrong_bounds_are_refused(options: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        best_lambda(CLOUD, 1.0, **options)

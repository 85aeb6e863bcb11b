"""Overlap and density of neighbourhoods, against brute force."""

import numpy as np
import pytest

from malaprop import Lexicon, ParameterError, seeded_rng
from malaprop.measure import density, overlap

VECTORS = seeded_rng(1).normal(size=(70, 4)).astype(np.float32)
WORDS = Lexicon([f"w{i}" for i in range(70)], VECTORS)


def _nearest(point: np.ndarray, m: int) -> set[int]:
    return set(np.argsort(np.linalg.norm(VECTORS - point, axis=1), kind="stable")[:m].tolist())


def test_overlap_is_that_of_the_sets() -> None:
    noisy = VECTORS + seeded_rng(2).normal(size=VECTORS.shape)
    for m in (1, 5, 10):
        for word, value in enumerate(overlap(WORDS, noisy, m=m)):
            own, its = _nearest(VECTORS[word], m), _nearest(noisy[word], m)
            assert value == pytest.approx(len(own & its) / len(own | its))
    assert (overlap(WORDS, VECTORS) == 1.0).all()


def test_overlap_refuses_what_does_not_fit() -> None:
    with pytest.raises(ParameterError, match="one noisy vector for each word"):
        overlap(WORDS, VECTORS[:3])
    with pytest.raises(ParameterError, match="'m'"):
        overlap(WORDS, VECTORS, m=71)


def test_density_is_that_of_nearest_distances() -> None:
    distances = np.linalg.norm(VECTORS[:, None] - VECTORS[None], axis=2)
    np.fill_diagonal(distances, np.inf)
    nearest = np.sort(distances.min(axis=1))
    found = density(WORDS)
    assert found.largest == pytest.approx(nearest[-1], rel=1e-5)
    assert found.smallest == pytest.approx(nearest[0], rel=1e-5)
    assert found.sparsest == pytest.approx(nearest[-50:].mean(), rel=1e-5)
    assert found.densest == pytest.approx(nearest[:50].mean(), rel=1e-5)
    assert found.to_dict()["largest_over_smallest"] == pytest.approx(nearest[-1] / nearest[0])


def test_words_that_share_a_vector_have_no_ratio() -> None:
    pairs = density(Lexicon(["a", "b", "c", "d"], [[0.0], [0.0], [9.0], [9.0]])).to_dict()
    assert (pairs["largest"], pairs["smallest"]) == (0.0, 0.0)
    assert pairs["largest_over_smallest"] is pairs["sparsest_over_densest"] is None

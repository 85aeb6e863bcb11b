"""The search is exact wherever its tiles, groups, shares and threads end."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from malaprop.lexicon import search
from malaprop.lexicon.search import NearestSearch, PoincareSearch
from malaprop.privacy.arrays import Floats


def by_hand(vectors: NDArray[np.float32], queries: Floats, k: int) -> NDArray[np.int64]:
    """The k nearest by all squared distances, in float64; ties go to the lowest id."""
    difference = vectors.astype(np.float64) - queries[:, None, :]
    squares = np.einsum("qnd,qnd->qn", difference, difference)
    return np.argsort(squares, axis=1, kind="stable")[:, :k]


def cloud(count: int, dimension: int, seed: int) -> Floats:
    return np.random.Generator(np.random.PCG64(seed)).normal(size=(count, dimension))


def run_in_threads(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("malaprop.privacy.progress.threads", "malaprop.lexicon.search.threads"):
        monkeypatch.setattr(module, lambda: count)


def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiles of 8 words and 5 queries, groups of 4, shares of 64, little scored again at a time."""
    small = {"_TILE": 8, "_QUERIES": 5, "_GROUP": 4, "_SHARE": 192, "_AGAIN": 30}
    for name, value in small.items():
        monkeypatch.setattr(search, name, value)


@pytest.mark.parametrize("k", [1, 2, 11, 40])
@pytest.mark.parametrize("count", [1, 255, 256, 257, 512, 513, 1100, 5000])
def test_of_any_number_of_words(count: int, k: int) -> None:
    vectors = cloud(count, 6, seed=1).astype(np.float32)
    queries = 1.5 * cloud(150, 6, seed=2)
    assert np.array_equal(NearestSearch(vectors).nearest(queries, k), by_hand(vectors, queries, k))


@pytest.mark.parametrize("k", [1, 3, 90])
@pytest.mark.parametrize("count", [96, 97, 101])
def test_of_many_parts(count: int, k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    small_parts(monkeypatch)
    vectors = cloud(count, 3, seed=3).astype(np.float32)
    queries = cloud(333, 3, seed=4)
    expected = by_hand(vectors, queries, k)
    assert np.array_equal(NearestSearch(vectors).nearest(queries, k), expected)


@pytest.mark.parametrize("k", [1, 5])
def test_in_several_threads(k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    run_in_threads(3, monkeypatch)
    vectors = cloud(3000, 5, seed=5).astype(np.float32)
    queries = cloud(1000, 5, seed=6)
    assert len(NearestSearch(vectors)._shares(len(queries), k)) == 3
    assert np.array_equal(NearestSearch(vectors).nearest(queries, k), by_hand(vectors, queries, k))


@given(st.integers(0, 2**32), st.integers(1, 6), st.sampled_from([1e-3, 1.0, 1e4]))
def test_of_words_on_a_grid(seed: int, k: int, far: float) -> None:
    """Many ties, many words of the same vector, and a centre far away."""
    rng = np.random.Generator(np.random.PCG64(seed))
    vectors = (rng.integers(0, 3, size=(600, 3)) + far).astype(np.float32)
    queries = vectors[:40] + rng.integers(-2, 3, size=(40, 3)) / 2.0
    assert np.array_equal(NearestSearch(vectors).nearest(queries, k), by_hand(vectors, queries, k))


@pytest.mark.parametrize("value", [0.0, 1.0, 1e-42, 1e25])
def test_of_words_of_one_vector(value: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """All words are equally near: all of them stay candidates, handled part by part."""
    monkeypatch.setattr(search, "_AGAIN", 5000)
    vectors = np.full((900, 4), value, dtype=np.float32)
    queries = cloud(70, 4, seed=7)
    assert NearestSearch(vectors).nearest(queries, 3).tolist() == [[0, 1, 2]] * 70


def test_words_that_float32_cannot_tell_apart_beyond_the_first_group() -> None:
    """Differences of 2⁻²⁰ at 1: the best words of several groups are within the rounding error."""
    steps = np.random.Generator(np.random.PCG64(8)).permutation(2000)
    vectors = np.stack([1.0 + steps * 2.0**-20, np.ones(2000)], axis=1).astype(np.float32)
    queries = np.stack([1.0 + np.arange(50) * 40.4 * 2.0**-20, np.full(50, -800.0)], axis=1)
    found = NearestSearch(vectors).nearest(queries, 4)
    assert np.array_equal(found, by_hand(vectors, queries, 4))


@pytest.mark.parametrize("scale", [1e-44, 1e-30, 1e-10, 1e15, 1e18, 1e25, 1e37, 7e37])
def test_of_tiny_and_huge_words(scale: float) -> None:
    """From float32's smallest numbers to those whose squares it cannot hold."""
    vectors = (scale * cloud(400, 3, seed=9)).astype(np.float32)
    queries = scale * cloud(80, 3, seed=10)
    assert np.array_equal(NearestSearch(vectors).nearest(queries, 2), by_hand(vectors, queries, 2))


@pytest.mark.parametrize("k", [1, 3])
def test_scores_that_are_no_numbers_are_not_trusted_and_not_warned_of(
    k: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        NearestSearch,
        "_coordinates",
        lambda self, words, out: np.full_like(out[: len(self._vectors[words])], np.inf),
    )
    vectors, queries = cloud(60, 4, seed=6).astype(np.float32), cloud(9, 4, seed=7)
    exact = NearestSearch(vectors)
    with np.errstate(invalid="ignore"):
        assert np.isnan(exact._maxima(exact._lift(queries)[0], 1)).any()
    assert (exact.nearest(queries, k) == by_hand(vectors, queries, k)).all()


@pytest.mark.parametrize("k", [1, 300])
def test_memory_is_bounded(k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also for many neighbours and small groups: the vectors of all pairs would take 700 MB."""
    run_in_threads(1, monkeypatch)
    vectors = cloud(3000, 300, seed=15).astype(np.float32)
    queries = cloud(2000, 300, seed=16)
    searched = NearestSearch(vectors)
    tracemalloc.start()
    searched.nearest(queries, k)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 150e6


@pytest.mark.parametrize("norm", [1.0, 1e-3, 1e-8])
def test_scores_are_as_far_off_as_is_said_at_most(norm: float) -> None:
    """The bound on rounding errors that the search needs: against float64, in 300 dimensions."""
    vectors = (0.4 * norm * cloud(500, 300, seed=11)).astype(np.float32)
    queries = 3.0 * norm * cloud(60, 300, seed=12)
    searched = NearestSearch(vectors)
    lifted, rounding = searched._lift(queries)
    words = searched._coordinates(slice(0, 500), np.empty((500, 301), dtype=np.float32))
    long = vectors.astype(np.float64)
    scale = np.maximum(1.0, np.linalg.norm(queries, axis=1, keepdims=True))
    true = (queries @ long.T - (long**2).sum(axis=1) / 2.0) / scale
    off = np.abs(lifted @ words.T - true).max(axis=1)
    assert (off <= rounding).all()
    assert (rounding <= 0.01 * true.std()).all()  # and it is of use


@pytest.mark.parametrize("k", [1, 5])
def test_points_of_the_ball_in_many_parts(k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = np.tanh(0.2 * cloud(150, 3, seed=13)).astype(np.float32)
    queries = np.tanh(0.25 * cloud(90, 3, seed=14))
    whole = PoincareSearch(vectors).nearest(queries, k)
    small_parts(monkeypatch)
    assert np.array_equal(PoincareSearch(vectors).nearest(queries, k), whole)

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from malaprop import Lexicon, seeded_rng
from malaprop.lexicon.search import NearestSearch, PoincareSearch, search_on
from malaprop.mechanisms.decoders import Vickrey, as_decoding
from malaprop.privacy import metrics
from malaprop.privacy.arrays import Floats


def cloud(count: int, dimension: int, far: float, seed: int) -> Floats:
    """Points around the origin and along the edge."""
    rng = np.random.Generator(np.random.PCG64(seed))
    directions = rng.normal(size=(count, dimension))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return metrics.exp0(directions * rng.uniform(0.0, far, size=(count, 1)))


def by_hand(vectors: NDArray[np.float32], queries: Floats, k: int) -> NDArray[np.int64]:
    """The k nearest by all distances; float64 throughout."""
    long = vectors.astype(np.float64)
    rows = [metrics.distances(np.repeat(q[None], len(long), axis=0), long) for q in queries]
    return np.argsort(np.array(rows), axis=1, kind="stable")[:, :k]


@pytest.mark.parametrize("k", [1, 2, 5])
@pytest.mark.parametrize(("dimension", "far"), [(1, 12.0), (2, 12.0), (10, 12.0), (10, 1.0)])
def test_the_nearest_are_found(dimension: int, far: float, k: int) -> None:
    vectors = cloud(800, dimension, far, seed=3).astype(np.float32)
    queries = cloud(300, dimension, min(far + 1.0, metrics.REACH), seed=4)
    found = PoincareSearch(vectors).nearest(queries, k)
    assert np.array_equal(found, by_hand(vectors, queries, k))


@given(
    arrays(np.float32, (12, 2), elements=st.floats(-0.6875, 0.6875, width=32)),
    arrays(np.float64, (5, 2), elements=st.floats(-0.6875, 0.6875)),
)
def test_of_any_points(vectors: NDArray[np.float32], queries: Floats) -> None:
    found = PoincareSearch(vectors).nearest(queries)[:, 0]
    searched = PoincareSearch(vectors).distances(queries, found)
    best = [
        PoincareSearch(vectors).distances(np.repeat(q[None], 12, 0), np.arange(12)).min()
        for q in queries
    ]
    np.testing.assert_allclose(searched, best, rtol=1e-12, atol=1e-300)


def test_ties_go_to_the_lowest_id() -> None:
    vectors = np.array([[0.5], [-0.5], [0.5]], dtype=np.float32)
    assert PoincareSearch(vectors).nearest(np.array([[0.0], [0.9]])).tolist() == [[0], [0]]


def test_it_is_not_the_euclidean_nearest() -> None:
    """From 0.8, the way to the edge is long: 0.97 is farther than 0.55."""
    vectors = np.array([[0.55], [0.97]], dtype=np.float32)
    query = np.array([[0.8]])
    assert NearestSearch(vectors).nearest(query).tolist() == [[1]]
    assert PoincareSearch(vectors).nearest(query).tolist() == [[0]]


def test_a_lexicon_is_searched_by_its_metric(plane: Lexicon) -> None:
    ball = Lexicon(["a", "b"], [[0.55], [0.97]], metric="poincare")
    assert isinstance(search_on(ball), PoincareSearch)
    assert type(search_on(plane)) is NearestSearch
    for name in ("nearest", "rank"):
        decoder = as_decoding(name).on(ball, epsilon=1e9)
        assert decoder.decode(np.array([[0.8]]), seeded_rng(1)).tolist() == [0]


def test_vickrey_weighs_by_hyperbolic_distances() -> None:
    ball = Lexicon(["a", "b"], [[0.0], [0.9]], metric="poincare")
    query = np.tile([[0.5]], (60_000, 1))
    drawn = Vickrey(t=0.5).on(ball, 1.0).decode(query, seeded_rng(2))
    d1, d2 = np.log(3.0), np.log(19.0) - np.log(3.0)
    assert np.mean(drawn == 0) == pytest.approx(d2 / (d1 + d2), abs=0.01)

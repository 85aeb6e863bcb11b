from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy.spatial.distance import cdist, euclidean, sqeuclidean

from malaprop import NADP, Gaussian, Laplace, Lexicon, MetricError
from malaprop.privacy.metrics import (
    NAMED,
    DistanceRows,
    Euclidean,
    KeyedDistances,
    as_metric,
    products_are_exact,
)

NAMES = sorted(set(NAMED) - {"poincare"})  # which has tests of its own
SCIPY = {"euclidean": "euclidean", "manhattan": "cityblock", "chebyshev": "chebyshev"}


def matrices(largest: float = 100.0) -> st.SearchStrategy[NDArray[np.float32]]:
    numbers = st.floats(-largest, largest, width=32)
    sizes = st.tuples(st.integers(1, 12), st.integers(1, 6))
    return sizes.flatmap(lambda size: arrays(np.float32, size, elements=numbers))


def rows(name: str, vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    return as_metric(name).on(vectors)(np.arange(len(vectors)))


@pytest.mark.parametrize("name", NAMES)
@given(vectors=matrices())
def test_the_axioms_hold(name: str, vectors: NDArray[np.float32]) -> None:
    if name == "angular":
        vectors = vectors + np.float32(1000.0)  # no zero vectors
    d = rows(name, vectors)
    slack = 1e-9 * (1.0 + d.max())
    assert (np.diagonal(d) == 0.0).all()
    assert (d >= 0.0).all()
    assert np.abs(d - d.T).max() <= slack
    assert (d[:, None, :] <= d[:, :, None] + d[None, :, :] + slack).all()


@pytest.mark.parametrize("name", SCIPY)
@given(vectors=matrices())
def test_distances_are_those_of_scipy(name: str, vectors: NDArray[np.float32]) -> None:
    long = vectors.astype(np.float64)
    truth = cdist(long, long, SCIPY[name])
    np.testing.assert_allclose(rows(name, vectors), truth, rtol=1e-8, atol=1e-30)


def test_close_vectors_far_from_the_origin_keep_their_digits() -> None:
    base = np.full((1, 300), 1000.0, dtype=np.float32)
    vectors = np.vstack([base, base, np.nextafter(base, np.float32(np.inf)), base + 1])
    long = vectors.astype(np.float64)
    d = rows("euclidean", vectors)
    assert d[0, 1] == 0.0  # equal vectors: one law for both, or the guarantee breaks
    np.testing.assert_allclose(d, cdist(long, long), rtol=1e-12)


def test_angles() -> None:
    vectors = np.array([[1, 0], [0, 2], [-3, 0], [1, 1e-7], [-1, 1e-7]], dtype=np.float32)
    d = rows("angular", vectors)
    small = float(np.float32(1e-7))
    np.testing.assert_allclose(
        d[0], [0, np.pi / 2, np.pi, small, np.pi - small], rtol=1e-14, atol=1e-15
    )


def test_angles_refuse_zero_vectors() -> None:
    with pytest.raises(MetricError, match="nonzero vectors; 1 of them"):
        Lexicon(["a", "b"], [[0.0], [1.0]], metric="angular")


class TestExactProducts:
    @given(arrays(np.int8, (9, 30), elements=st.integers(-60, 60)))
    def test_a_grid_is_recognised_and_exact(self, integers: NDArray[np.int8]) -> None:
        vectors = (integers / 32).astype(np.float32)
        assert products_are_exact(vectors)
        whole = integers.astype(np.int64)
        squares = ((whole[:, None] - whole[None]) ** 2).sum(axis=2)
        assert np.array_equal(rows("euclidean", vectors), np.sqrt(squares / 1024.0))

    @given(
        arrays(np.int16, (9, 4), elements=st.integers(-500, 500)),
        st.sampled_from([1, 4]),
        st.integers(-30, 30),
    )
    def test_single_pairs_are_those_of_the_rows(
        self, integers: NDArray[np.int16], cut: int, power: int
    ) -> None:
        """Both for integers that fit into bytes (a quarter of the cases) and for others."""
        vectors = (integers // cut * 2.0**power).astype(np.float32)
        found = as_metric("euclidean").on(vectors)
        assert isinstance(found, KeyedDistances)
        assert found.pairs is not None
        ids, words = np.repeat(np.arange(9), 9), np.tile(np.arange(9), 9)
        assert np.array_equal(found.pairs(ids, words).reshape(9, 9), found.keys(np.arange(9)))
        assert found.pairs(ids[:0], words[:0]).shape == (0,)

    def test_arbitrary_floats_are_not_on_a_grid(self) -> None:
        vectors = np.random.Generator(np.random.PCG64(1)).normal(size=(5, 3)).astype(np.float32)
        assert not products_are_exact(vectors)

    def test_integers_too_large_to_be_exact_are_not(self) -> None:
        assert not products_are_exact(np.array([[4097.0, 1.0], [1.0, 0.0]], dtype=np.float32))

    def test_a_late_row_off_the_grid_counts(self) -> None:
        vectors = np.ones((5000, 2), dtype=np.float32)
        vectors[-1] = 1 / 3
        assert not products_are_exact(vectors)

    @pytest.mark.parametrize("power", [-76, -140, 70, 100])
    def test_products_that_would_leave_float32_are_not_trusted(self, power: int) -> None:
        """2^−152 is 0 in float32, and 2^140 is infinite."""
        unit = 2.0**power
        vectors = (np.array([[-7.0], [12.0], [11.0], [0.0], [15.0]]) * unit).astype(np.float32)
        assert not products_are_exact(vectors)
        long = vectors.astype(np.float64)
        np.testing.assert_allclose(rows("euclidean", vectors), cdist(long, long), rtol=1e-12)

    def test_entries_that_vanish_when_scaled_are_not_integers(self) -> None:
        vectors = np.array([[2.0**40, 1e-44], [0.0, 0.0]], dtype=np.float32)
        assert not products_are_exact(vectors)


def minkowski(x: Any, y: Any) -> Any:
    return (np.abs(x - y) ** 3).sum() ** (1 / 3)


def all_pairs(x: Any, y: Any) -> Any:
    return cdist(x, y, "minkowski", p=3)


def test_equal_vectors_have_equal_rows_within_the_stated_error() -> None:
    """A block of rows and a single row may be rounded differently, within the stated error."""
    rng = np.random.Generator(np.random.PCG64(3))
    vectors = np.repeat(rng.normal(size=(6, 300)) + 0.7, 2, axis=0).astype(np.float32)
    function = as_metric("euclidean").on(vectors)
    block = function(np.arange(12))
    single = np.concatenate([function(np.array([i])) for i in range(12)])
    error = as_metric("euclidean").relative_error(300)
    assert (np.abs(block - single) <= error * block).all()
    assert (np.abs(block[0] - block[1]) <= error * block[0]).all()


def cosine_distance(x: Any, y: Any) -> Any:
    return cdist(x, y, "cosine")


def squared_distance(x: Any, y: Any) -> Any:
    return cdist(x, y, "sqeuclidean")


@pytest.mark.parametrize("function", [cosine_distance, squared_distance])
def test_random_triples_of_words_would_not_tell_but_near_words_do(
    english: Lexicon, function: Callable[[Any, Any], Any]
) -> None:
    """In 300 dimensions words are almost equally far apart, and nearly anything is a metric."""
    with pytest.raises(MetricError, match="triangle"):
        english.with_metric(function)


class TestCustom:
    @pytest.mark.parametrize("function", [minkowski, all_pairs, euclidean])
    def test_of_vectors_or_of_matrices(
        self, plane: Lexicon, function: Callable[[Any, Any], Any]
    ) -> None:
        lexicon = plane.with_metric(function)
        name = function.__name__  # one called "euclidean" must not pass for the metric
        assert str(lexicon.metric) == (f"custom({name})" if name in NAMED else name)
        p = 2 if function is euclidean else 3
        truth = cdist(plane.vectors.astype(float), plane.vectors.astype(float), "minkowski", p=p)
        np.testing.assert_allclose(lexicon.distances([3, 0]), truth[[3, 0]], rtol=1e-12)

    def test_the_fingerprint_tells_functions_apart(self, plane: Lexicon) -> None:
        prints = {plane.with_metric(f).fingerprint for f in (minkowski, all_pairs, euclidean)}
        assert len(prints | {plane.fingerprint}) == 4

    @pytest.mark.parametrize(
        ("function", "complaint"),
        [
            (sqeuclidean, "triangle"),
            (lambda x, y: float(np.abs(x - y).sum()) + 1.0, r"d\(x, x\) must be 0"),
            (lambda x, y: float(np.maximum(x - y, 0).sum()), "asymmetric"),
            (lambda x, y: float((x - y).sum()), "finite numbers, 0 or more"),
            (lambda x, y: float("nan"), "finite numbers, 0 or more"),
            (lambda x, y: 1 / 0, "failed with ZeroDivisionError"),
            (lambda x, y: "far", "failed with ValueError"),
        ],
    )
    def test_distances_that_are_not_metrics_are_refused(
        self, plane: Lexicon, function: Callable[[Any, Any], Any], complaint: str
    ) -> None:
        with pytest.raises(MetricError, match=complaint):
            Lexicon(plane.words, plane.vectors, metric=function)
        with pytest.raises(MetricError, match=complaint):
            plane.with_metric(function)


@pytest.mark.parametrize("name", ["cosine", "cos", "Cosine"])
def test_cosine_is_refused_with_the_alternative(name: str) -> None:
    with pytest.raises(MetricError, match="angular"):
        as_metric(name)


def test_an_unknown_name_gets_a_suggestion() -> None:
    with pytest.raises(MetricError, match="Did you mean 'euclidean'"):
        as_metric("euclidian")
    with pytest.raises(MetricError, match="name or a function"):
        as_metric(3)  # type: ignore[arg-type]


class Shrunk(Euclidean):
    """A user's metric that inherits a name."""

    def on(self, vectors: NDArray[np.float32]) -> DistanceRows:
        rows = super().on(vectors)
        return lambda ids: 0.3 * rows(ids)


def test_an_inherited_name_does_not_make_the_same_metric(plane: Lexicon) -> None:
    shrunk = plane.with_metric(Shrunk())
    assert shrunk.fingerprint != plane.fingerprint
    for mechanism in (Laplace(epsilon=1.0), Gaussian(epsilon=1.0), NADP(epsilon=1.0)):
        with pytest.raises(MetricError):
            mechanism.on(shrunk)

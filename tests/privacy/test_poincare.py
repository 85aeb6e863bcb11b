import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from tests.exact import assert_guarantee_holds

from malaprop import TEM, Lexicon, MetricError, ParameterError
from malaprop.privacy import metrics
from malaprop.privacy.arrays import Floats
from malaprop.privacy.metrics import as_metric


def balls(farthest: float = 12.0, most: int = 9) -> st.SearchStrategy[NDArray[np.float32]]:
    """Points of the ball, many of them near its edge: tangent vectors, mapped."""
    numbers = st.floats(-farthest, farthest, width=32)
    sizes = st.tuples(st.integers(2, most), st.integers(1, 4))
    tangents = sizes.flatmap(lambda size: arrays(np.float32, size, elements=numbers))
    return tangents.map(lambda v: to_ball(v, farthest).astype(np.float32))


def to_ball(tangents: NDArray[np.float32], farthest: float) -> Floats:
    return metrics.exp0(metrics.shorten(tangents.astype(np.float64), farthest))


def all_distances(vectors: NDArray[np.float32]) -> Floats:
    return as_metric("poincare").on(vectors)(np.arange(len(vectors)))


def textbook(x: Floats, y: Floats) -> float:
    """arcosh(1 + 2‖x − y‖²/((1 − ‖x‖²)(1 − ‖y‖²))), in Python's own numbers."""
    xx, yy = 1.0 - math.fsum(x * x), 1.0 - math.fsum(y * y)
    return math.acosh(1.0 + 2.0 * math.fsum((x - y) ** 2) / (xx * yy))


def test_the_reference() -> None:
    d = all_distances(np.array([[0.5, 0.0], [0.0, 0.5]], dtype=np.float32))
    assert d[0, 1] == pytest.approx(1.6806997724280037, rel=1e-15)
    assert d[0, 0] == d[1, 1] == 0.0


@given(vectors=balls())
def test_the_axioms_hold_exactly_enough(vectors: NDArray[np.float32]) -> None:
    d = all_distances(vectors)
    assert (np.diagonal(d) == 0.0).all()
    assert (d >= 0.0).all()
    slack = 1e-9 * (1.0 + d.max())
    assert np.abs(d - d.T).max() <= slack
    assert (d[:, None, :] <= d[:, :, None] + d[None, :, :] + slack).all()


@given(vectors=balls())
def test_distances_are_the_textbooks(vectors: NDArray[np.float32]) -> None:
    d = all_distances(vectors)
    long = vectors.astype(np.float64)
    truth = np.array([[textbook(x, y) for y in long] for x in long])
    far = truth > 1e-3  # where arcosh keeps its digits
    np.testing.assert_allclose(d[far], truth[far], rtol=1e-8)


def test_close_points_keep_their_digits_where_arcosh_has_none() -> None:
    x = np.array([[0.5]])
    y = x + 1e-9
    assert textbook(x[0], y[0]) == 0.0
    assert metrics.distances(x, y)[0] == pytest.approx(2e-9 / 0.75, rel=1e-7)


@pytest.mark.parametrize("norm", [1.0, 1.5, 1.0 - 2.0**-22, float(np.nextafter(np.float32(1), 0))])
def test_vectors_at_the_edge_are_refused(norm: float) -> None:
    with pytest.raises(MetricError, match="1 of them"):
        Lexicon(["a", "b"], [[0.0, 0.0], [0.0, norm]], metric="poincare")
    with pytest.raises(ParameterError, match="norms of at most"):
        metrics.in_ball(np.array([[0.0, norm]]))


def test_what_trainers_clip_to_is_accepted() -> None:
    """10⁻⁵ from the edge, as usual, and rounded to float32 in any direction."""
    rng = np.random.Generator(np.random.PCG64(1))
    v = rng.normal(size=(2000, 10))
    v *= (1.0 - 1e-5) / np.linalg.norm(v, axis=1, keepdims=True)
    assert np.isfinite(all_distances(v.astype(np.float32))).all()


class TestGeometry:
    @given(vectors=balls(farthest=5.0))
    def test_translations_are_isometries_that_take_0_to_x(
        self, vectors: NDArray[np.float32]
    ) -> None:
        points = vectors.astype(np.float64)
        x = np.repeat(points[:1], len(points), axis=0)
        moved = metrics.mobius_add(x, points)
        assert metrics.mobius_add(x, np.zeros_like(x)) == pytest.approx(x)
        before = metrics.distances(points, np.roll(points, 1, axis=0))
        after = metrics.distances(moved, np.roll(moved, 1, axis=0))
        np.testing.assert_allclose(after, before, atol=1e-6)
        np.testing.assert_allclose(metrics.mobius_add(-x, moved), points, atol=1e-8)

    @given(vectors=balls())
    def test_the_charts_have_inverses(self, vectors: NDArray[np.float32]) -> None:
        points = vectors.astype(np.float64)
        np.testing.assert_allclose(metrics.exp0(metrics.log0(points)), points, atol=1e-12)
        np.testing.assert_allclose(metrics.lower(metrics.lift(points)), points, atol=1e-12)
        far = metrics.distances(points, np.zeros_like(points))
        np.testing.assert_allclose(np.linalg.norm(metrics.log0(points), axis=1), far, atol=1e-9)
        lifted = np.linalg.norm(metrics.lift(points), axis=1)
        np.testing.assert_allclose(np.arcsinh(lifted), far, atol=1e-9)

    @given(vectors=balls(farthest=4.0), far=st.floats(0.0, 6.0))
    def test_travelling_is_mobius_addition(self, vectors: NDArray[np.float32], far: float) -> None:
        points = vectors.astype(np.float64)
        directions = np.ones_like(points) / math.sqrt(points.shape[1])
        lengths = np.full(len(points), far)
        found = metrics.lower(metrics.travel(points, directions, lengths))
        expected = metrics.mobius_add(points, math.tanh(far / 2.0) * directions)
        np.testing.assert_allclose(found, expected, atol=1e-12)
        np.testing.assert_allclose(metrics.distances(points, found), lengths, atol=1e-5)

    @given(vectors=balls())
    def test_log0_shortens_and_lift_lengthens(self, vectors: NDArray[np.float32]) -> None:
        points = vectors.astype(np.float64)
        other = np.roll(points, 1, axis=0)
        d = metrics.distances(points, other)
        tangent = np.linalg.norm(metrics.log0(points) - metrics.log0(other), axis=1)
        lifted = np.linalg.norm(metrics.lift(points) - metrics.lift(other), axis=1)
        assert (tangent <= d + 1e-9).all()
        assert (lifted >= d - 1e-9).all()

    def test_whatever_is_rounded_in_a_chart_stays_in_the_ball(self) -> None:
        rng = np.random.Generator(np.random.PCG64(2))
        wild = rng.normal(size=(1000, 3)) * 10.0 ** rng.uniform(-5, 5, size=(1000, 1))
        tangents = metrics.shorten(wild, metrics.REACH)
        lifted = metrics.shorten(wild, math.sinh(metrics.REACH))
        for points in (metrics.exp0(tangents), metrics.lower(lifted)):
            metrics.in_ball(points)
            metrics.in_ball(points.astype(np.float32).astype(np.float64))


@given(
    vectors=balls(),
    epsilon=st.floats(0.01, 30),
    gamma=st.one_of(st.none(), st.just(math.inf), st.floats(0.1, 20)),
)
def test_tem_keeps_its_guarantee_in_the_ball(
    vectors: NDArray[np.float32], epsilon: float, gamma: float | None
) -> None:
    """The loss of all pairs."""
    lexicon = Lexicon([f"w{i}" for i in range(len(vectors))], vectors, metric="poincare")
    channel = TEM(epsilon=epsilon, gamma=gamma).on(lexicon)
    assert channel.guarantee.metric == "poincare"
    assert_guarantee_holds(channel)


def test_the_stated_error_covers_the_edge_of_the_ball() -> None:
    """Against exact fractions, for points whose 1 − ‖x‖² has lost many digits."""
    x = np.full(10, 0.99999 / np.sqrt(10.0), dtype=np.float32)
    vectors = np.stack([x, -x])
    exact = [[Fraction(float(c)) for c in row] for row in vectors]
    room = [1 - sum(c * c for c in row) for row in exact]
    square = sum((a - b) ** 2 for a, b in zip(*exact, strict=True))
    true = 2.0 * math.asinh(math.sqrt(float(square / (room[0] * room[1]))))
    metric = metrics.Poincare()
    found = metric.on(vectors)(np.array([0]))[0, 1]
    assert abs(found - true) <= metric.relative_error(10) * true

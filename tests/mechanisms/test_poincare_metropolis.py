"""The published hyperbolic mechanism: that it is the paper's, and why it guarantees nothing."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import kstest

from malaprop import Kind, Lexicon, MetricError, ParameterError, PoincareMetropolis, seeded_rng
from malaprop.privacy import metrics

LINE = Lexicon(["left", "middle", "near", "right"], [[-0.9], [0], [0.2], [0.9]], "poincare")


def target(r: float, epsilon: float) -> float:
    """The paper's equation 7, without its constant."""
    return float((-2.0 / (r - 1.0) - 1.0) ** -epsilon)


def test_the_counterexample() -> None:
    """Even drawn from equation 7 exactly: P(left | middle) = 0.0129, P(left | right) = 0."""
    # Nearest to "left" is what lies beyond the middle of the way from it to 0.
    border = math.tanh(math.atanh(0.9) / 2.0)
    half = quad(target, 0.0, 1.0, args=(2.0,))[0]
    p = quad(target, border, 1.0, args=(2.0,))[0] / (2.0 * half)
    assert p == pytest.approx(0.0129, abs=5e-5)
    # From 0.9, noise above −1 leads to −0.1 at most.
    assert -border < 0.9 - 1.0


def test_the_walk_shows_it() -> None:
    channel = PoincareMetropolis(epsilon=2.0, steps=200).on(LINE)
    ids = np.repeat([1, 3], 20_000)
    drawn = channel.substitute(ids, seeded_rng(4))
    assert np.mean(drawn[ids == 1] == 0) > 1e-4
    assert np.count_nonzero(drawn[ids == 3] == 0) == 0


def test_the_walk_does_not_approach_the_published_density() -> None:
    walk = (
        PoincareMetropolis(epsilon=0.25, steps=300).on(LINE).noise._walk((20_000, 1), seeded_rng(5))
    )
    half = quad(target, 0.0, 1.0, args=(0.25,))[0]
    grid = np.linspace(0.0, 1.0, 2001)
    values = np.array([target(r, 0.25) for r in grid[:-1]] + [0.0])
    cumulative = np.concatenate([[0.0], np.cumsum((values[1:] + values[:-1]) / 4000)]) / half
    found = kstest(np.abs(walk[:, 0]), lambda r: np.interp(r, grid, cumulative))
    assert found.statistic > 0.2
    assert found.pvalue < 1e-6


def test_in_many_dimensions_the_walk_never_leaves_the_origin() -> None:
    """n = 100, ε = 8, Σ = I: no proposal is ever accepted, and the word comes back in clear."""
    words = metrics.exp0(np.eye(100)[:5])
    lexicon = Lexicon([str(i) for i in range(5)], words, metric="poincare")
    channel = PoincareMetropolis(epsilon=8.0).on(lexicon)
    released = channel.release_words(np.arange(5).repeat(10), seeded_rng(6))
    assert np.array_equal(released, lexicon.vectors[np.arange(5).repeat(10)].astype(np.float64))


def test_a_step_is_the_papers() -> None:
    """Propose around the place, by way of the hyperboloid; accept by equation 7's ratio."""
    channel = PoincareMetropolis(epsilon=1.5, steps=3, spread=0.7).on(LINE)
    found = channel.noise._walk((6, 1), seeded_rng(7))
    rng, place = seeded_rng(7), np.zeros(6)
    for _ in range(3):
        x = place + 0.7 * rng.standard_normal((6, 1))[:, 0]
        x0 = np.sqrt(1.0 + x**2)  # equation 4
        proposed = x / (1.0 + x0)  # equation 6
        u = rng.random(6)
        alpha = [
            target(abs(a), 1.5) / target(abs(b), 1.5) for a, b in zip(proposed, place, strict=True)
        ]
        place = np.where(u <= alpha, proposed, place)
    np.testing.assert_allclose(found[:, 0], place, rtol=1e-12)


def test_what_leaves_the_ball_is_put_back() -> None:
    channel = PoincareMetropolis(epsilon=0.1, steps=50).on(LINE)
    released = channel.release_words(np.full(2000, 3), seeded_rng(8))
    assert np.max(np.abs(released)) == pytest.approx(1.0 - 1e-5)
    metrics.in_ball(released)


def test_nothing_is_promised(plane: Lexicon) -> None:
    guarantee = PoincareMetropolis(epsilon=2.0).on(LINE).guarantee
    assert guarantee.kind is Kind.NONE
    assert guarantee.loss(0.0) == math.inf
    assert "impossible for another" in guarantee.reason
    with pytest.raises(ParameterError, match="no sound variant"):
        PoincareMetropolis(epsilon=2.0, published=False)
    with pytest.raises(MetricError, match="TEM"):
        PoincareMetropolis(epsilon=2.0).on(plane)
    for wrong in ({"steps": 0}, {"steps": 1.5}, {"spread": 0.0}, {"steps": math.inf}):
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            PoincareMetropolis(epsilon=2.0, **wrong)

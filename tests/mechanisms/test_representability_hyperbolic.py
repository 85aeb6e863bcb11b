"""The attack on raw floating-point sums in the Poincaré ball, and that rounding ends it.

A release is y = f·s, f a number and s = fl(b + a) a sum in one of the ball's charts, b a public
multiple of the word's coordinates and a noise. If the sum cancels, its last bits are 0: s is a
multiple of the last place of a or of b. So whoever sees y finds f, which is the only float nearby
that f·s can give all coordinates of y with; then s; and then asks of every word whether its b
allows that s, knowing nothing of the noise.
"""

import numpy as np
import pytest

from malaprop import HyperbolicLaplace, Lexicon, TangentLaplace, seeded_rng
from malaprop.privacy import metrics
from malaprop.privacy.arrays import Floats
from malaprop.privacy.channel import VectorChannel
from malaprop.privacy.noise import Grid, Noise

WORDS, DIMENSION = 400, 300
ULPS = 24  # how far the factor can be off that the attack computes from y
PLACES = 3  # the same for a coordinate of the sum, given the factor


def lexicon() -> Lexicon:
    rng = np.random.Generator(np.random.PCG64(2))
    directions = rng.normal(size=(WORDS, DIMENSION))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    vectors = directions * rng.uniform(0.3, 0.6, size=(WORDS, 1))
    return Lexicon([f"w{i}" for i in range(WORDS)], vectors, metric="poincare")


LEXICON = lexicon()
POINTS = LEXICON.vectors.astype(np.float64)


def around(values: Floats | float, places: int) -> Floats:
    """The floats next to each value, `places` on both sides."""
    return np.asarray(values + np.arange(-places, places + 1)[:, None] * np.spacing(values))


class Tangent:
    """exp₀: y = s·(tanh(‖s‖/2)/‖s‖), s = log₀ x + z."""

    mechanism = TangentLaplace(epsilon=200.0)

    def sum_of(self, y: Floats) -> Floats:
        return np.asarray(metrics.log0(y[None])[0])

    def factor(self, s: Floats) -> float:
        length = float(np.linalg.norm(s))
        return float(np.tanh(0.5 * length) / length)

    def release(self, s: Floats, factor: float) -> Floats:
        return s * factor

    def guess(self, y: Floats, factor: float) -> Floats:
        return y / factor

    def summands(self, s: Floats) -> Floats:
        return metrics.log0(POINTS)


class Hyperboloid:
    """y = s/(1 + √(1 + ‖s‖²)), s = sinh(r)·u + c·X, X the word on the hyperboloid."""

    mechanism = HyperbolicLaplace(epsilon=400.0)

    def sum_of(self, y: Floats) -> Floats:
        return np.asarray(metrics.lift(y[None])[0])

    def factor(self, s: Floats) -> float:
        return float(1.0 + np.sqrt(1.0 + s @ s))

    def release(self, s: Floats, factor: float) -> Floats:
        return s / factor

    def guess(self, y: Floats, factor: float) -> Floats:
        return y * factor

    def summands(self, s: Floats) -> Floats:
        """c·X: from |u| = 1, c = (cosh d(x, y) + ⟨x, s⟩)/X₀ with X₀ = (1 + ‖x‖²)/(1 − ‖x‖²)."""
        shrink = metrics.conformal(POINTS)
        upright = (2.0 - shrink) / shrink
        far = metrics.distances(POINTS, np.broadcast_to(metrics.lower(s[None]), POINTS.shape))
        return np.asarray(((np.cosh(far) + POINTS @ s) / upright)[:, None] * metrics.lift(POINTS))


def survivors(y: Floats, chart: Tangent | Hyperboloid) -> set[int]:
    """The words whose summands allow a sum that y can be the image of."""
    about = chart.sum_of(y)
    left: set[int] = set()
    for factor in around(chart.factor(about), ULPS)[:, 0]:
        sums = around(chart.guess(y, float(factor)), PLACES)
        sums[chart.release(sums, float(factor)) != y] = np.nan
        if np.isnan(sums).all(axis=0).any():
            continue  # with this factor, some coordinate of y cannot be had at all
        summands = chart.summands(about)
        allowed = np.zeros(summands.shape, dtype=bool)
        for s in sums:
            last_place = np.spacing(np.minimum(np.abs(s - summands), np.abs(summands)))
            with np.errstate(invalid="ignore"):
                allowed |= np.fmod(s, last_place) == 0.0
        left |= set(np.flatnonzero(allowed.all(axis=1)).tolist())
    return left


def released(channel: VectorChannel[Noise], word: int, seed: int) -> Floats:
    return np.asarray(channel.release_words([word], seeded_rng(seed))[0])


def unrounded(channel: VectorChannel[Noise], word: int, seed: int) -> Floats:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Grid, "snap", lambda grid, values: np.asarray(values))
        return released(channel, word, seed)


@pytest.mark.parametrize("chart", [Tangent(), Hyperboloid()], ids=lambda c: c.mechanism.name)
def test_raw_points_betray_the_word_and_rounded_ones_do_not(chart: Tangent | Hyperboloid) -> None:
    channel = chart.mechanism.on(LEXICON)
    left = []
    for trial in range(4):
        word = 7 + trial
        betrayed = survivors(unrounded(channel, word, trial), chart)
        assert word in betrayed
        left.append(len(betrayed))
        assert len(survivors(released(channel, word, trial), chart)) == WORDS
    assert np.median(left) <= 3, left


@pytest.mark.parametrize("mechanism", [TangentLaplace(epsilon=0.05), HyperbolicLaplace(epsilon=3)])
def test_rounded_points_stay_in_the_ball(mechanism: TangentLaplace | HyperbolicLaplace) -> None:
    """The charts are all of ℝⁿ, so that no rounding leads out, however far the noise does."""
    near_the_edge = Lexicon(["out", "in"], [[0.6, 0.7996], [0.0, 0.0]], metric="poincare")
    found = mechanism.on(near_the_edge).release_words([0] * 2000, seeded_rng(5))
    lengths = np.linalg.norm(found, axis=1)
    assert lengths.max() > 0.9999
    assert lengths.max() <= metrics.EDGE

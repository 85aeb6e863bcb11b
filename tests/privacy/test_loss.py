"""The exact loss of a law, against sums written out."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

from malaprop import TEM, Guarantee, Kind, Lexicon
from malaprop.privacy.arrays import Floats, Ids, Vectors
from malaprop.privacy.law import (
    Law,
    PeakedLaw,
    Worst,
    allowed_by,
    excess_delta,
    normalised,
    peak_loss,
    rounding,
    worst_of_law,
)
from malaprop.privacy.metrics import DistanceRows, Euclidean, Metric


@dataclass(frozen=True, eq=False)
class Table(Law):
    """A law given as a table of log-weights."""

    table: Floats

    def log_weights(self, ids: Ids) -> Floats:
        return self.table[ids].copy()


def full_loss(law: Law, bound: Floats) -> Worst:
    rows = normalised(law.log_weights(np.arange(len(law.space))))
    return worst_of_law(rows, bound, slack=rounding(len(rows)))


class Squared(Metric):
    """A distance that is not a metric."""

    name = "squared"

    def on(self, vectors: Vectors) -> DistanceRows:
        rows = Euclidean().on(vectors)
        return lambda ids: rows(ids) ** 2


CLAIM = Guarantee(kind=Kind.METRIC, epsilon=1.0, metric="euclidean")


def apart(lexicon: Lexicon) -> Floats:
    return lexicon.distances(np.arange(len(lexicon)))


def test_excess_delta_is_the_hockey_stick() -> None:
    p, q = np.log([0.5, 0.3, 0.2]), np.log([0.2, 0.3, 0.5])
    assert excess_delta(p, q, 0.0) == pytest.approx(0.3)
    assert excess_delta(p, q, math.log(2.0)) == pytest.approx(0.1)
    assert excess_delta(p, q, math.log(2.5)) == pytest.approx(0.0, abs=1e-15)


def test_weights_need_not_be_normalised(line: Lexicon) -> None:
    weights = np.log([[4.0, 2.0, 2.0], [100.0, 100.0, 200.0], [1.0, 1.0, 2.0]])
    worst = full_loss(Table(line, weights), apart(line))
    # ½ against ¼ at a distance of 1: ln 2, from zero to one at the output zero.
    assert worst.loss == pytest.approx(math.log(2.0))
    assert worst.ratio == pytest.approx(math.log(2.0), rel=1e-9)
    assert (worst.pair, worst.output, worst.bound) == ((0, 1), 0, 1.0)


def test_an_impossible_output_is_an_infinite_loss(line: Lexicon) -> None:
    weights = np.array([[0.0, 0.0, -math.inf], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    worst = full_loss(Table(line, weights), apart(line))
    assert worst.ratio == worst.loss == math.inf
    assert worst.pair[1] == 0
    assert worst.output == 2


def test_outputs_impossible_for_both_reveal_nothing(line: Lexicon) -> None:
    weights = np.array([[0.0, 0.0, -math.inf]] * 3)
    assert full_loss(Table(line, weights), apart(line)).ratio <= 0.0
    peak, sound = peak_loss(Table(line, weights), lambda d: d)
    assert (peak.ratio, sound) == (0.0, False)  # the third word never stays


def test_pairs_that_are_not_covered_do_not_count(line: Lexicon) -> None:
    near = Guarantee(kind=Kind.BOUNDED, epsilon=1.0, radius=1.5, metric="euclidean")
    weights = np.array([[0.0, 0.0, -math.inf], [0.0, 0.0, -math.inf], [0.0, 0.0, 0.0]])
    assert full_loss(Table(line, weights), allowed_by(near)(apart(line))).ratio <= 0.0
    all_pairs = Guarantee(kind=Kind.BOUNDED, epsilon=1.0, radius=9.0, metric="euclidean")
    assert full_loss(Table(line, weights), allowed_by(all_pairs)(apart(line))).ratio == math.inf


def test_the_peak_of_many_blocks() -> None:
    """2,500 words on a circle of even steps, and one a little off: it must be in the worst pair."""
    angles = np.arange(2500) * 2 * np.pi / 2500
    vectors = 50.0 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    vectors[1234] *= 1.3
    lexicon = Lexicon([f"w{i}" for i in range(2500)], vectors)
    channel = TEM(epsilon=2.0, exponent="half", gamma=math.inf).on(lexicon)
    worst, sound = peak_loss(channel.law, allowed_by(channel.guarantee))
    assert sound
    assert 1234 in worst.pair
    law = channel.log_probabilities(list(worst.pair))
    assert worst.loss == pytest.approx(float((law[0] - law[1]).max()), rel=1e-9)
    assert worst.loss == pytest.approx(float(law[0, worst.output] - law[1, worst.output]))


def test_for_other_laws_the_peak_is_a_lower_bound(line: Lexicon) -> None:
    law = Table(line, np.log([[0.5, 0.4, 0.1], [0.5, 0.1, 0.4], [0.5, 0.2, 0.3]]))
    peak, _ = peak_loss(law, lambda d: d)
    assert peak.ratio < full_loss(law, apart(line)).ratio
    assert law.closed_loss(CLAIM, None) is None


@pytest.mark.parametrize("wrong", [math.nan, math.inf])
def test_weights_that_are_not_numbers_are_not_proved(line: Lexicon, wrong: float) -> None:
    class Odd(PeakedLaw):
        def weights_at(self, distances: Floats) -> Floats:
            return np.where(distances == 3.0, wrong, -distances)

    assert not Odd(line).closed_loss(CLAIM, None).exact


def test_distances_that_are_not_metrics_are_not_proved(line: Lexicon) -> None:
    class Even(PeakedLaw):
        def weights_at(self, distances: Floats) -> Floats:
            return 0.0 * distances

    squared = line.with_metric(Squared())
    assert Even(line).closed_loss(CLAIM, None).exact
    assert not Even(squared).closed_loss(CLAIM, None).exact


def test_rounding_is_small() -> None:
    assert rounding(40) < 1e-12
    assert rounding(400_000) < 1e-9

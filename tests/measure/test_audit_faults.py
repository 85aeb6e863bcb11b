"""Faults that have been made in published code and papers: the audit must catch each of them.

Beside each stands the sound mechanism that it was made from, which must pass.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from numpy.random import Generator
from scipy.spatial.distance import cdist
from tests.exact import nearest_on_a_line
from tests.planted import with_law

from malaprop import TEM, Guarantee, Kind, Laplace, LawChannel, Lexicon, Metric, audit, seeded_rng
from malaprop.mechanisms.permute_and_flip import PermuteAndFlip, PermuteAndFlipLaw
from malaprop.privacy.arrays import Floats, Ids, Vectors
from malaprop.privacy.channel import VectorChannel
from malaprop.privacy.law import Law
from malaprop.privacy.metrics import DistanceRows
from malaprop.privacy.noise import AdditiveNoise


def lexicon(vectors: object) -> Lexicon:
    rows = np.asarray(vectors, dtype=np.float32)
    return Lexicon([f"w{i}" for i in range(len(rows))], rows)


def claim(epsilon: float, metric: str = "euclidean") -> Guarantee:
    return Guarantee(kind=Kind.METRIC, epsilon=epsilon, metric=metric)


@dataclass(frozen=True, eq=False)
class Written(Law):
    """A law of words that a test writes down."""

    weights: Callable[[Floats], Floats]

    def log_weights(self, ids: Ids) -> Floats:
        rows = self.space.distances(np.arange(len(self.space)))
        return self.weights(rows)[ids]


def written(
    space: Lexicon, guarantee: Guarantee, weights: Callable[[Floats], Floats]
) -> LawChannel[Written]:
    return LawChannel(Written(space, weights), guarantee)


# One word beside a crowd: what costs the exponential mechanism its factor of 2.
CROWD = lexicon([[0.0], *([1.0 + i / 512] for i in range(60))])


class TestExponent:
    """ε instead of ε/2: Gumbel noise of scale 1/ε."""

    @pytest.mark.parametrize("size", [60, 1100])
    def test_tem(self, size: int) -> None:
        crowd = lexicon([[0.0], *([1.0 + i / 8192] for i in range(size))])
        sound = TEM(epsilon=2.0, exponent="half", gamma=math.inf).on(crowd)
        assert audit(sound).holds is True
        found = audit(with_law(sound, replace(sound.law, exponent=2.0)))
        assert found.holds is False
        assert found.worst_ratio > 1.5

    @pytest.mark.parametrize("size", [200, 1100])
    def test_permute_and_flip(self, size: int) -> None:
        crowd = lexicon([[0.0], *([1.0 + i / 8192] for i in range(size))])
        sound = PermuteAndFlip(epsilon=2.0).on(crowd)
        assert audit(sound).holds is True
        found = audit(with_law(sound, replace(sound.law, exponent=2.0)))
        assert found.holds is False
        assert 1.5 < found.worst_ratio < 2.0


def tem_with_bottom(gamma: float, score: Callable[[int], float]) -> Callable[[Floats], Floats]:
    """Algorithm 2 at ε = 2, with ⊥ scored by how many words it stands for."""

    def weights(distances: Floats) -> Floats:
        out = np.where(distances <= gamma, -distances, 0.0)
        for row, far in zip(out, distances > gamma, strict=True):
            if far.any():
                row[far] = score(int(far.sum())) - math.log(far.sum())
        return out

    return weights


@pytest.mark.parametrize(
    ("score", "holds"),
    [
        (lambda k: -2.0 + math.log(k), True),
        (lambda k: -2.0, False),  # ⊥ counts as one word
        (lambda k: -2.0 + 2.0 * math.log(k), False),  # the 2/ε taken for the whole factor
    ],
)
def test_bottom_with_a_wrong_score(score: Callable[[int], float], holds: bool) -> None:
    # 3 sees all words within γ = 2.9; 0 has forty of them beyond.
    words = lexicon([[0.0], [1.0], *([3.0 + i / 64] for i in range(40))])
    guarantee = replace(claim(2.0), cap=2.0)
    found = audit(written(words, guarantee, tem_with_bottom(2.0, score)))
    assert found.holds is holds


class TestApproximateSearch:
    """Words that an index misses: for TEM a violation."""

    def test_missed_words_count_as_far(self) -> None:
        rng = seeded_rng(1)
        centres = rng.normal(size=(6, 3)) * 4
        words = lexicon(np.repeat(centres, 8, axis=0) + 0.05 * rng.normal(size=(48, 3)))
        found_by_index = rng.random((48, 48)) < 0.95
        np.fill_diagonal(found_by_index, True)

        def weights(distances: Floats) -> Floats:
            return np.where(found_by_index, -np.minimum(distances, 5.0), -5.0)

        guarantee = replace(claim(2.0), cap=5.0)
        exact = written(words, guarantee, lambda distances: -np.minimum(distances, 5.0))
        assert audit(exact).holds is True
        found = audit(written(words, guarantee, weights))
        assert found.holds is False
        assert found.worst_ratio > 5.0

    def test_only_the_nearest_are_candidates(self) -> None:
        def weights(distances: Floats) -> Floats:
            limit = np.sort(distances, axis=1)[:, 5:6]
            return np.where(distances <= limit, -distances, -math.inf)

        found = audit(written(CROWD, claim(2.0), weights))
        assert found.holds is False
        assert found.worst_ratio == math.inf


class Planted(Metric):
    """A distance that is not a metric, past the checks that refuse it."""

    def __init__(self, name: str, function: Callable[[Floats, Floats], Floats]) -> None:
        self.name, self._function = name, function  # type: ignore[misc]

    def on(self, vectors: Vectors) -> DistanceRows:
        long = vectors.astype(np.float64)
        return lambda ids: np.maximum(self._function(long[ids], long), 0.0)


def cosine(a: Floats, b: Floats) -> Floats:
    norms = np.linalg.norm(a, axis=1)[:, None] * np.linalg.norm(b, axis=1)
    return np.asarray(np.round(1.0 - a @ b.T / norms, 12))


def squared(a: Floats, b: Floats) -> Floats:
    return np.asarray(((a[:, None] - b) ** 2).sum(axis=2))


class TestNoMetric:
    @pytest.mark.parametrize(("name", "function"), [("cosine", cosine), ("squared", squared)])
    @pytest.mark.parametrize("size", [40, 1100])
    def test_it_is_caught(
        self, name: str, function: Callable[[Floats, Floats], Floats], size: int
    ) -> None:
        rng = seeded_rng(4)
        vectors = rng.normal(size=(size, 2))
        words = [f"w{i}" for i in range(size)]
        mechanism = TEM(epsilon=6.0, gamma=math.inf, exponent="half")
        assert audit(mechanism.on(Lexicon(words, vectors))).holds is True
        planted = Lexicon(words, vectors, metric=Planted(name, function))
        found = audit(mechanism.on(planted))
        if size <= 1000:
            assert found.holds is False
            assert found.worst_ratio > 1.5
        else:  # one triangle in a whole lexicon is enough to refuse the closed form
            assert found.holds is not True


class TestDecoder:
    def test_a_decoder_that_searches_near_the_input(self) -> None:
        """Only the true word's nearest words can come out: their supports differ."""
        positions = np.array([[0.0], [1.0], [2.0], [5.0], [6.0], [9.0]])
        words = lexicon(positions)

        def weights(distances: Floats) -> Floats:
            out = np.full(distances.shape, -math.inf)
            for word, row in enumerate(distances):
                near = np.sort(np.argsort(row, kind="stable")[:3])
                own = int(np.flatnonzero(near == word)[0])
                out[word, near] = np.log(nearest_on_a_line(positions[near, 0], 1.0)[own])
            return out

        assert audit(Laplace(epsilon=1.0).on(words)).holds is True
        found = audit(written(words, claim(1.0), weights))
        assert found.holds is False
        assert found.worst_ratio == math.inf

    def test_a_decoder_that_draws_until_the_word_has_changed(self) -> None:
        channel = TEM(epsilon=1.0, exponent="half").on(CROWD)

        def weights(distances: Floats) -> Floats:
            return np.where(np.eye(len(distances)) > 0, -math.inf, -0.5 * distances)

        found = audit(written(CROWD, channel.guarantee, weights))
        assert found.holds is False
        assert found.worst_ratio == math.inf

    def test_draws_that_bypass_the_law_are_never_certified(self) -> None:
        class Bypass(LawChannel[Law]):
            def _substitute(self, ids: Ids, rng: Generator) -> Ids:
                return ids

        class Clear(LawChannel[Law]):
            def substitute(self, ids: Any, rng: Generator) -> Ids:
                return np.asarray(ids)

        class Around(VectorChannel[AdditiveNoise]):
            def _substitute(self, ids: Ids, rng: Generator) -> Ids:
                return ids

        tem, laplace = TEM(epsilon=1.0).on(CROWD), Laplace(epsilon=1.0).on(CROWD)
        assert audit(tem).holds is True
        assert audit(Bypass(tem.law, tem.guarantee)).holds is None
        assert audit(Clear(tem.law, tem.guarantee)).holds is None
        around = Around(CROWD, laplace.guarantee, laplace.noise, laplace.decoder)
        assert audit(around).holds is None


def test_a_class_derived_from_a_known_one_is_not_taken_for_it() -> None:
    """It may be sound, but nothing proves it."""

    class Derived(PermuteAndFlipLaw):
        def weights_at(self, distances: Floats) -> Floats:
            return -self.exponent * distances

    crowd = lexicon([[0.0], *([1.0 + i / 8192] for i in range(1100))])
    sound = PermuteAndFlip(epsilon=2.0).on(crowd)
    assert audit(with_law(sound, Derived(crowd, 2.0))).holds is False
    assert audit(with_law(sound, Derived(crowd, 1.0))).holds is None


def test_the_closed_form_is_not_trusted_with_a_users_function() -> None:
    """A sample cannot prove the triangle inequality, and the closed form needs it."""
    points = np.random.Generator(np.random.PCG64(4)).normal(size=(1201, 2))
    lexicon = Lexicon(
        [f"w{i}" for i in range(1201)], points, metric=lambda x, y: cdist(x, y, "cityblock")
    )
    assert audit(TEM(epsilon=1.0, exponent="half").on(lexicon)).holds is None

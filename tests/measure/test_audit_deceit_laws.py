"""Laws that are not what they state, or not laws at all: none of them may be certified."""

import math
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import pytest
from numpy.random import Generator
from tests.planted import promising, with_law

from malaprop import (
    TEM,
    Balanced,
    Guarantee,
    Kind,
    LawChannel,
    Lexicon,
    ParameterError,
    PermuteAndFlip,
    audit,
)
from malaprop.mechanisms.balance import Balance
from malaprop.mechanisms.balanced import BalancedLaw
from malaprop.mechanisms.tem import TruncatedExponential
from malaprop.privacy.arrays import Floats, Ids, Vectors
from malaprop.privacy.guarantee import proved
from malaprop.privacy.law import NOTHING, Evidence, Law
from malaprop.privacy.metrics import DistanceRows as Distances
from malaprop.privacy.metrics import Euclidean, KeyedDistances, Metric
from malaprop.privacy.randomness import secure_rng
from malaprop.privacy.sampling import LawRows, full_rows
from malaprop.privacy.word_graph import Steps, WordGraph

RNG = np.random.Generator(np.random.PCG64(4))
FLAT = Lexicon([f"w{i}" for i in range(8)], RNG.normal(size=(8, 2)) * 2)
MANY = Lexicon([f"w{i}" for i in range(1100)], RNG.normal(size=(1100, 2)) * 2)
SPACE = Lexicon([f"w{i}" for i in range(60)], RNG.normal(size=(60, 3)))
PROMISE = Guarantee(kind=Kind.METRIC, epsilon=1.0, metric="euclidean")


class Uniform(Law):
    """Every word alike, whatever went in."""

    def log_weights(self, ids: Ids) -> Floats:
        return np.zeros((len(ids), len(self.space)))


def test_the_honest_one_holds() -> None:
    channel = LawChannel(Uniform(FLAT), PROMISE)
    assert audit(channel).holds is True
    channel.substitute(np.arange(8), secure_rng())  # draws made ahead do not matter
    assert audit(channel).holds is True


class TestDraws:
    """Each of these gives the word itself."""

    def is_not_certified(self, channel: LawChannel[Law]) -> None:
        assert channel.substitute(np.arange(8), secure_rng()).tolist() == list(range(8))
        assert audit(channel).holds is None

    def test_by_rows_of_its_own(self) -> None:
        class Own(Uniform):
            def rows(self, ids: Ids, draws: Ids | None = None) -> LawRows:
                return full_rows(np.where(ids[:, None] == np.arange(8), 0.0, -np.inf))

        self.is_not_certified(LawChannel(Own(FLAT), PROMISE))

    def test_by_rows_that_know_when_they_are_drawn_from(self) -> None:
        """An audit asks for rows without a number of draws."""

        class Sly(Uniform):
            def rows(self, ids: Ids, draws: Ids | None = None) -> LawRows:
                if draws is None:
                    return super().rows(ids)
                return full_rows(np.where(ids[:, None] == np.arange(8), 0.0, -np.inf))

        self.is_not_certified(LawChannel(Sly(FLAT), PROMISE))

    def test_by_a_field_that_hides_the_rows(self) -> None:
        @dataclass(frozen=True, eq=False)
        class Hiding(Uniform):
            rows: Any

        def echo(ids: Ids, draws: Ids | None = None) -> LawRows:
            even = np.zeros((len(ids), 8))
            own = np.where(ids[:, None] == np.arange(8), 0.0, -np.inf)
            return full_rows(even if draws is None else own)

        self.is_not_certified(LawChannel(Hiding(FLAT, echo), PROMISE))

    def test_by_a_channel_of_its_own(self) -> None:
        class Clear(LawChannel[Law]):
            def _substitute(self, ids: Ids, rng: Generator) -> Ids:
                return ids

        self.is_not_certified(Clear(Uniform(FLAT), PROMISE))

    def test_by_a_space_of_its_own(self) -> None:
        """A proved law splits rows by keys, so the lexicon must be proved, too."""

        class Near(Lexicon):
            def keys(self, ids: Any) -> Any:
                return np.where(np.asarray(ids)[:, None] == np.arange(8), 0.0, np.inf)

        channel = TEM(epsilon=1.0, exponent="half").on(Near(FLAT.words, FLAT.vectors))
        assert audit(channel).holds is None


@pytest.mark.parametrize(
    "row",
    [
        [np.inf, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [-np.inf] * 8,
        [np.nan, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    ],
)
@pytest.mark.parametrize("delta", [0.0, 0.1])
def test_weights_that_cannot_be_normalised(row: list[float], delta: float) -> None:
    class One(Uniform):
        def log_weights(self, ids: Ids) -> Floats:
            found = super().log_weights(ids)
            found[ids == 7] = row
            return found

    promise = replace(PROMISE, kind=Kind.BOUNDED, delta=delta)
    found = audit(LawChannel(One(FLAT), promise))
    assert found.holds is None
    assert "log-weights" in found.method


def test_weights_that_depend_on_the_other_words() -> None:
    """Centred over the requested words: a sum along the wrong axis."""

    class Crossed(Uniform):
        def log_weights(self, ids: Ids) -> Floats:
            rows = -0.2 * self.space.distances(ids)
            return np.asarray(rows - rows.max(axis=0))

    found = audit(LawChannel(Crossed(FLAT), PROMISE))
    assert found.holds is None
    assert "log-weights" in found.method


def test_weights_whose_sums_are_others() -> None:
    class Lying(np.ndarray[Any, Any]):
        def __isub__(self, other: Any) -> Any:  # type: ignore[misc]
            self[:] = 0.0
            return self

    class Liar(Uniform):
        def log_weights(self, ids: Ids) -> Floats:
            return (-20.0 * self.space.distances(ids)).view(Lying)

    assert audit(LawChannel(Liar(FLAT), PROMISE)).holds is None


@pytest.mark.parametrize("first", [True, False])
def test_a_pair_is_covered_either_way_round(first: bool) -> None:
    class OneWay(Uniform):
        def log_weights(self, ids: Ids) -> Floats:
            found = super().log_weights(ids)
            found[ids == 0, 0] = -40.0
            return found

    class Pairs:
        pairs = "the first word, and each other one"

        def covers(self, ids: Ids) -> Any:
            here, there = (ids == 0)[:, None], np.arange(8) != 0
            return here & there if first else ~here & ~there

    promise = replace(PROMISE, kind=Kind.NEIGHBOURHOOD, pairs=Pairs.pairs)
    assert audit(LawChannel(OneWay(FLAT), promise, neighbourhoods=Pairs())).holds is False
    sound = LawChannel(Uniform(FLAT), promise, neighbourhoods=Pairs())
    assert audit(sound).holds is None
    proved("a test")(Pairs)
    assert audit(sound).holds is True


def test_a_guarantee_of_no_pair_is_not_decided() -> None:
    promise = replace(PROMISE, kind=Kind.BOUNDED, radius=1e-6)
    found = audit(LawChannel(Uniform(FLAT), promise))
    assert found.holds is None
    assert "no pair" in found.method


def rarely(weights: Floats, distances: Floats) -> Floats:
    """More of one rare word, for every other word: what the closed form at y = w cannot see."""
    rare = int(distances.sum(axis=0).argmax())
    weights[:, rare] += np.where(distances[:, 1] * 1e3 % 2.0 < 1.0, 0.2, 0.0)
    return weights


class TestRows:
    """The rows that are drawn from must be what is stated, word by word."""

    def test_keys_that_do_not_grow_with_the_distance(self) -> None:
        class Keyed(Metric):
            name = "keyed"

            def on(self, vectors: Vectors) -> Distances:
                rows = Euclidean().on(vectors)
                return KeyedDistances(lambda ids: -rows(ids), lambda keys: -keys)

        words = Lexicon(MANY.words[:40], MANY.vectors[:40], Keyed())
        assert audit(TEM(epsilon=9.0).on(words)).holds is not True

    @pytest.mark.parametrize("words", [FLAT, MANY])
    @pytest.mark.parametrize("wrong", [-0.4, 0.0, math.nan, math.inf])
    def test_invalid_exponents_and_thresholds(self, words: Lexicon, wrong: float) -> None:
        with pytest.raises(ParameterError, match="exponent"):
            TruncatedExponential(words, wrong, 9.0)
        if not wrong >= 0.0:
            with pytest.raises(ParameterError, match="threshold"):
                TruncatedExponential(words, 0.5, wrong)

    @pytest.mark.parametrize("words", [FLAT, MANY])
    def test_numbers_that_are_not_what_they_seem(self, words: Lexicon) -> None:
        class Hollow(float):
            def __neg__(self) -> float:
                return -0.5

        sound = TEM(epsilon=1.0, exponent="half").on(words)
        law = TruncatedExponential(words, Hollow(9.0), sound.law.gamma)
        assert audit(with_law(sound, law)).holds is not True


class TestClosedForm:
    """On large lexicons only the output w is computed, which needs a proof that it is the worst."""

    @pytest.mark.parametrize("made", [TEM(epsilon=1.0, exponent="half"), PermuteAndFlip(epsilon=1)])
    def test_as_shipped(self, made: Any) -> None:
        channel = made.on(MANY)
        channel.substitute(np.arange(8), secure_rng())
        assert audit(channel).holds is True

    @pytest.mark.parametrize("words", [FLAT, MANY])
    @pytest.mark.parametrize("made", [TEM(epsilon=1.0, exponent="half"), PermuteAndFlip(epsilon=1)])
    def test_a_subclass_of_the_law(self, made: Any, words: Lexicon) -> None:
        sound = made.on(words)

        class Rarely(type(sound.law)):  # type: ignore[misc]
            def weights_at(self, distances: Floats) -> Floats:
                return rarely(super().weights_at(distances), distances)

        values = [getattr(sound.law, field.name) for field in fields(sound.law)]
        assert audit(with_law(sound, Rarely(*values))).holds is not True

    def test_a_class_that_calls_its_own_form_proved(self) -> None:
        """`closed_loss` of an unmarked class is not called."""

        class Proved(TruncatedExponential):
            def closed_loss(self, guarantee: Guarantee, progress: Any) -> Evidence:
                return Evidence(worst=NOTHING, method="trust me")

        sound = TEM(epsilon=1.0, exponent="half").on(MANY)
        found = audit(with_law(sound, Proved(MANY, 0.5, sound.law.gamma)))
        assert found.holds is None
        assert "trust" not in found.method

    def test_another_lexicon_than_is_drawn_from(self) -> None:
        class Elsewhere(LawChannel[Law]):
            def __post_init__(self) -> None:
                super().__post_init__()
                object.__setattr__(self, "lexicon", MANY)

        sound = TEM(epsilon=1.0, exponent="half").on(MANY)
        wide = Lexicon(MANY.words, MANY.vectors * 10)
        law = TruncatedExponential(wide, 0.5, 9.0)
        assert audit(Elsewhere(law, sound.guarantee)).holds is None

    def test_a_users_graph(self) -> None:
        class Short(WordGraph):
            def levels(self, ids: Ids) -> Any:
                return np.minimum(super().levels(ids), 1)

        rng = np.random.Generator(np.random.PCG64(2))
        edges = [[i, int(rng.integers(i))] for i in range(1, 1100)]
        for graph, holds in ((WordGraph(1100, edges), True), (Short(1100, edges), None)):
            channel = TEM(epsilon=1.0, exponent="half").on(MANY.with_metric(Steps(graph)))
            assert audit(channel).holds is holds

    def test_a_second_statement(self) -> None:
        channel = TEM(epsilon=1.0, exponent="half").on(MANY)
        assert audit(promising(channel, equivalents=(("manhattan", 1e-6),))).holds is None


class TestEdges:
    @pytest.fixture
    def channel(self, monkeypatch: pytest.MonkeyPatch) -> Any:
        monkeypatch.setattr("malaprop.measure.audit._CUBED", 10)
        return Balanced(epsilon=0.4).on(SPACE.with_graph())

    def test_as_shipped(self, channel: Any) -> None:
        assert channel.law.balance.form == "spread"
        assert audit(channel).holds is True

    def test_a_word_without_a_rest(self, channel: Any) -> None:
        """The rest is 0 for one word, so far words distinguish it from its neighbours."""
        balance = channel.law.balance
        scale = balance.scale.copy()
        scale[5] = (1.0 + 1e-14) / balance.masses[5]
        law = replace(channel.law, balance=replace(balance, scale=scale))
        found = audit(with_law(channel, law))
        assert found.holds is not True
        assert found.worst_ratio > 10.0

    @pytest.mark.parametrize("size", [10, 1000])
    def test_weights_of_another_balance(
        self, channel: Any, size: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Draws use the stated weights: there is no other copy."""
        monkeypatch.setattr("malaprop.measure.audit._CUBED", size)
        even = replace(
            channel.law.balance, exponent=0.2, weights=np.ones(60), masses=None, scale=None
        )
        assert audit(with_law(channel, BalancedLaw(channel.lexicon, even))).holds is True
        steep = replace(even, exponent=3.0)
        assert audit(with_law(channel, BalancedLaw(channel.lexicon, steep))).holds is not True

    @pytest.mark.parametrize("size", [10, 1000])
    def test_a_users_balance(
        self, channel: Any, size: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("malaprop.measure.audit._CUBED", size)

        class Own(Balance):
            pass

        held = channel.law.balance
        own = Own(**{field.name: getattr(held, field.name) for field in fields(held)})
        assert audit(with_law(channel, BalancedLaw(channel.lexicon, own))).holds is None

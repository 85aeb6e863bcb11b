"""Laws of words that are not what they state, or not laws: none of them may be certified."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from malaprop import (
    TEM,
    Balanced,
    Guarantee,
    Kind,
    LawChannel,
    Lexicon,
    PermuteAndFlip,
    audit,
)
from malaprop.core import near
from malaprop.core.ahead import DrawsAhead
from malaprop.core.euclidean import Euclidean
from malaprop.core.metric import KeyedRows, Metric, Rows, Vectors
from malaprop.core.randomness import secure_rng
from malaprop.core.space import Floats, Ids
from malaprop.mechanisms.tem import TEMChannel

RNG = np.random.Generator(np.random.PCG64(4))
FLAT = Lexicon([f"w{i}" for i in range(8)], RNG.normal(size=(8, 2)) * 2)
MANY = Lexicon([f"w{i}" for i in range(1100)], RNG.normal(size=(1100, 2)) * 2)
PROMISE = Guarantee(kind=Kind.METRIC, epsilon=1.0, metric="euclidean")


class Uniform(LawChannel):
    """Every word alike, whatever went in."""

    def log_weights(self, ids: Ids) -> Floats:
        return np.zeros((len(ids), len(self.lexicon)))


def test_the_honest_one_holds() -> None:
    channel = Uniform(FLAT, PROMISE)
    assert audit(channel).holds is True
    channel.substitute(np.arange(8), secure_rng())  # draws made ahead do not matter
    assert audit(channel).holds is True


class TestDraws:
    """Each of these gives the word itself."""

    def is_not_certified(self, channel: LawChannel) -> None:
        assert channel.substitute(np.arange(8), secure_rng()).tolist() == list(range(8))
        assert audit(channel).holds is None

    def test_by_a_stock_of_its_own(self) -> None:
        class Echo(DrawsAhead):
            def take(self, words: Ids, counts: Ids, rows: Any) -> Ids:
                return np.repeat(words, counts)

        class Always(dict[Any, Any]):
            def __contains__(self, key: object) -> bool:
                return True

            def __getitem__(self, key: Any) -> Echo:
                return Echo(8)

        class Stocked(Uniform):
            _stocks = Always()  # type: ignore[assignment]

        self.is_not_certified(Stocked(FLAT, PROMISE))
        rng, channel = secure_rng(), Uniform(FLAT, PROMISE)
        channel._stocks[rng] = Echo(8)  # type: ignore[index]
        assert channel.substitute(np.arange(8), rng).tolist() == list(range(8))
        assert audit(channel).holds is None

    def test_by_how_attributes_are_found(self) -> None:
        class Elsewhere(Uniform):
            def __getattribute__(self, name: str) -> Any:
                if name == "_substitute":
                    return lambda ids, rng: ids
                return super().__getattribute__(name)

        self.is_not_certified(Elsewhere(FLAT, PROMISE))


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
    found = audit(One(FLAT, promise))
    assert found.holds is None
    assert "log-weights" in found.method


def test_weights_that_depend_on_the_words_beside() -> None:
    """Centred over the words that are asked for: a sum along the wrong axis."""

    class Crossed(Uniform):
        def log_weights(self, ids: Ids) -> Floats:
            rows = -0.2 * self.lexicon.distances(ids)
            return np.asarray(rows - rows.max(axis=0))

    found = audit(Crossed(FLAT, PROMISE))
    assert found.holds is None
    assert "log-weights" in found.method


def test_weights_whose_sums_are_others() -> None:
    class Lying(np.ndarray[Any, Any]):
        def __isub__(self, other: Any) -> Any:  # type: ignore[misc]
            self[:] = 0.0
            return self

    class Liar(Uniform):
        def log_weights(self, ids: Ids) -> Floats:
            return (-20.0 * self.lexicon.distances(ids)).view(Lying)

    assert audit(Liar(FLAT, PROMISE)).holds is None


@pytest.mark.parametrize("first", [True, False])
def test_a_pair_is_covered_either_way_round(first: bool) -> None:
    class OneWay(Uniform):
        def log_weights(self, ids: Ids) -> Floats:
            found = super().log_weights(ids)
            found[ids == 0, 0] = -40.0
            return found

        def covers(self, ids: Ids) -> Any:
            here, there = (ids == 0)[:, None], np.arange(8) != 0
            return here & there if first else ~here & ~there

    promise = Guarantee(kind=Kind.NEIGHBOURHOOD, epsilon=1.0, metric="euclidean")
    assert audit(OneWay(FLAT, promise)).holds is False


class Tenfold(Euclidean):
    """Ten times the distance, under the name of the distance."""

    def on(self, vectors: Vectors) -> Rows:
        rows = super().on(vectors)
        return lambda ids: 10.0 * rows(ids)


class Measured(Metric):
    """Not a graph, though called so."""

    name = "graph"

    def on(self, vectors: Vectors) -> Rows:
        return Euclidean().on(vectors)


class TestMetric:
    @pytest.mark.parametrize("words", [FLAT, MANY])
    def test_one_that_has_the_name_of_another(self, words: Lexicon) -> None:
        tenfold = Lexicon(words.words, words.vectors, Tenfold())
        assert audit(TEM(epsilon=1.0, exponent="half").on(tenfold)).holds is not True

    def test_one_that_is_called_graph(self) -> None:
        called = Lexicon(FLAT.words, FLAT.vectors, Measured())
        assert audit(TEM(epsilon=1.0).on(called)).holds is None

        def graph(x: Any, y: Any) -> float:
            return float(np.abs(x - y).sum())

        assert str(FLAT.with_metric(graph).metric) == "custom(graph)"

    def test_distances_below_0(self) -> None:
        class Odd(Metric):
            name = "odd"

            def on(self, vectors: Vectors) -> Rows:
                rows = Euclidean().on(vectors)
                return lambda ids: np.where((ids == 0)[:, None] & (rows(ids) > 0), -1.0, rows(ids))

        channel = Uniform(Lexicon(FLAT.words, FLAT.vectors, Odd()), replace(PROMISE, metric="odd"))
        assert audit(channel).holds is None


def rarely(weights: Floats, distances: Floats) -> Floats:
    """More of one rare word, for every other word: what the closed form at y = w cannot see."""
    rare = int(distances.sum(axis=0).argmax())
    weights[:, rare] += np.where(distances[:, 1] * 1e3 % 2.0 < 1.0, 0.2, 0.0)
    return weights


class TestRows:
    """What is drawn from, word by word, must be what is stated."""

    def test_keys_that_do_not_grow_with_the_distance(self) -> None:
        class Keyed(Metric):
            name = "keyed"

            def on(self, vectors: Vectors) -> Rows:
                rows = Euclidean().on(vectors)
                return KeyedRows(lambda ids: -rows(ids), lambda keys: -keys)

        words = Lexicon([f"w{i}" for i in range(40)], RNG.normal(size=(40, 2)), Keyed())
        assert audit(TEM(epsilon=9.0).on(words)).holds is not True

    def test_a_law_that_grows_with_the_distance(self) -> None:
        channel = TEM(epsilon=1.0, exponent="half").on(FLAT)
        channel.exponent = -0.4
        assert audit(channel).holds is not True

    def test_lengths_that_belong_to_other_keys(self) -> None:
        words = Lexicon(FLAT.words, FLAT.vectors)
        channel = TEM(epsilon=1.0, exponent="half").on(words)
        words.lengths = lambda keys: 5.0 * keys  # type: ignore[method-assign]
        assert audit(channel).holds is None


class TestClosedForm:
    """On large lexicons only the output w is looked at: it takes a proof that it is the worst."""

    @pytest.mark.parametrize("made", [TEM(epsilon=1.0, exponent="half"), PermuteAndFlip(epsilon=1)])
    def test_as_shipped(self, made: Any) -> None:
        channel = made.on(MANY)
        channel.substitute(np.arange(8), secure_rng())
        assert audit(channel).holds is True

    def test_a_class_that_calls_itself_proved(self) -> None:
        class Proved(TEMChannel):
            def weights_at(self, distances: Floats) -> Floats:
                return rarely(super().weights_at(distances), distances)

            def is_peaked(self, distances: Floats, log_weights: Floats) -> bool:
                return True

        assert audit(Proved(TEM(epsilon=1.0), MANY, 0.5, 9.0, audited=False)).holds is not True

    @pytest.mark.parametrize("name", ["weights_at", "is_peaked"])
    def test_a_method_that_is_replaced(self, name: str) -> None:
        channel = PermuteAndFlip(epsilon=1.0).on(MANY)
        honest = channel.weights_at
        fakes: dict[str, Callable[..., Any]] = {
            "weights_at": lambda distances: rarely(honest(distances), distances),
            "is_peaked": lambda distances, weights: True,
        }
        setattr(channel, name, fakes[name])
        assert audit(channel).holds is not True

    def test_another_lexicon_than_is_drawn_from(self) -> None:
        class Elsewhere(TEMChannel):
            @property
            def lexicon(self) -> Lexicon:
                return MANY

        wide = Lexicon(MANY.words, MANY.vectors * 10)
        channel = Elsewhere(TEM(epsilon=1.0), wide, 0.5, 9.0, audited=False)
        assert audit(channel).holds is None

    def test_a_second_statement(self) -> None:
        channel = TEM(epsilon=1.0, exponent="half").on(MANY)
        channel._guarantee = replace(channel.guarantee, equivalents=(("manhattan", 1e-6),))
        assert audit(channel).holds is None


class TestEdges:
    @pytest.fixture
    def channel(self, monkeypatch: pytest.MonkeyPatch) -> Any:
        words = Lexicon([f"w{i}" for i in range(60)], RNG.normal(size=(60, 3)))
        monkeypatch.setattr("malaprop.measure.audit._CUBED", 10)
        return Balanced(epsilon=0.4).on(words.with_graph())

    def test_as_shipped(self, channel: Any) -> None:
        assert channel.law.form == "spread"
        assert audit(channel).holds is True

    def test_a_word_without_a_rest(self, channel: Any) -> None:
        """It is 0 for one word, so that far words tell it from its neighbours."""
        channel.law = replace(channel.law, scale=channel.law.scale.copy())
        channel.law.scale[5] = (1.0 + 1e-14) / channel.law.masses[5]
        found = audit(channel)
        assert found.holds is not True
        assert found.worst_ratio > 10.0

    @pytest.mark.parametrize("size", [10, 1000])
    def test_weights_and_graphs_that_are_not_the_laws(
        self, channel: Any, size: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("malaprop.measure.audit._CUBED", size)
        even = np.ones(60)
        channel.law = replace(channel.law, exponent=0.2, weights=even, masses=None, scale=None)
        assert audit(channel).holds is not True  # what it draws from belongs to other weights
        channel._pool = near.pool(even)
        assert audit(channel).holds is True
        with pytest.raises(AttributeError):  # there is one graph, the lexicon's
            channel.graph = type(channel.graph)(60, channel.graph.edges, channel.graph.weights / 4)

    def test_what_it_states_is_not_what_is_drawn(self, channel: Any) -> None:
        stated = channel.log_probabilities(np.arange(60))
        channel.log_probabilities = lambda ids: stated[ids]
        channel.law = replace(channel.law, exponent=3.0, masses=None, scale=None)
        assert audit(channel).holds is not True

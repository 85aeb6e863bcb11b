"""Guarantees of texts that hold several kinds of tokens, and of one draw per distinct word."""

import json
import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from malaprop import Guarantee, Kind, Lexicon, ParameterError, audit, compose
from malaprop.mechanisms.tem import TEM
from malaprop.privacy.accounting import Loss, loss_over, zcdp_epsilon
from malaprop.privacy.guarantee import KindPromise, is_proved
from malaprop.privacy.law import PathLaw, excess_delta
from malaprop.privacy.metrics import Path

NUMBER = KindPromise(name="number", epsilon=1.5, step="a tenth", zcdp=1.125)
DATE = KindPromise(name="date", epsilon=2.0, step="1 week", zcdp=2.0)
IDENTIFIER = KindPromise(name="identifier", epsilon=0.0)
ADDRESS = KindPromise(name="address", epsilon=0.0, plural="addresses")


def words(**changes: object) -> Guarantee:
    values: dict[str, object] = {
        "kind": Kind.METRIC,
        "epsilon": 1.5,
        "metric": "graph",
        "cap": 10.0,
        "zcdp": 1.125,
        "texts": "look alike",
    }
    return Guarantee(**{**values, **changes})  # type: ignore[arg-type]


def texts(kinds: Sequence[KindPromise] = (NUMBER, DATE, IDENTIFIER, ADDRESS)) -> Guarantee:
    return words().with_kinds(kinds)


class TestSeveralKinds:
    def test_no_cap_holds_for_all(self) -> None:
        text = texts()
        assert (text.cap, text.zcdp, text.epsilon) == (math.inf, math.inf, 1.5)
        assert text.loss(100.0) == 200.0  # in weeks: the largest ε counts
        assert text.for_words(7).loss(100.0) == 200.0

    @given(st.lists(st.tuples(st.sampled_from(["word", "number", "date"]), st.floats(0, 1e6))))
    def test_the_sum_bounds_every_kind(self, changes: list[tuple[str, float]]) -> None:
        text = texts().for_words(max(1, len(changes)))
        found = loss_over(text, changes).epsilon
        together = math.fsum(distance for _, distance in changes)
        assert found <= text.loss(together) * (1 + 1e-12)

    def test_each_kind_has_a_guarantee_of_its_own(self) -> None:
        text = texts().for_words(3)
        assert text.of_kind("word") == words().for_words(3)
        date = text.of_kind("date")
        assert (date.epsilon, date.cap, date.zcdp, date.words) == (2.0, math.inf, 2.0, 3)
        assert date.loss(5.0) == 10.0
        assert "distance in steps of 1 week" in str(date)
        assert "any two dates" in str(date)
        anew = text.of_kind("address")
        assert anew.loss(1e9) == 0.0
        assert "any two addresses of one shape, the odds of any output are the same" in str(anew)
        assert words().of_kind("word") == words()
        for guarantee in (text, words()):
            with pytest.raises(ParameterError, match="is about"):
                guarantee.of_kind("colour")

    def test_the_statement(self) -> None:
        assert str(texts().for_words(20)) == (
            "ε = 1.5 (metric-dp): between any two texts that differ in up to 20 words or values "
            "and look alike, the odds of any output differ by at most e^(1.5·d), d being their "
            "distance in steps of the word graph, added up over the words and values. Where only "
            "words differ, that is at most e^300. Values of other kinds count in steps of their "
            "own, without a cut-off: numbers (a tenth), dates (1 week, with ε = 2 in place of "
            "1.5). Identifiers and addresses are drawn anew: nothing is lost between two of one "
            "shape. Between values of different kinds or shapes, nothing is promised."
        )
        one = str(texts([IDENTIFIER]))
        assert "differ in one word or value and look alike" in one
        assert "Where only words differ, that is at most e^15. Identifiers are drawn anew" in one
        assert "cut-off" not in one

    def test_no_bound_is_stated_for_all_kinds(self) -> None:
        assert "never by more" not in str(texts())
        assert "never by more than e^15" in str(words())
        assert "Where only words" not in str(words(cap=math.inf).with_kinds([NUMBER]))

    def test_statements_about_words_alone_are_as_before(self) -> None:
        assert str(words(texts="", zcdp=math.inf)) == (
            "ε = 1.5 (metric-dp): between any two words of the lexicon, the odds of any output "
            "differ by at most e^(1.5·d), d being their distance in steps of the word graph, and "
            "never by more than e^15."
        )

    def test_json_can_hold_it(self) -> None:
        plain = texts().to_dict()
        assert json.loads(json.dumps(plain, allow_nan=False)) == plain
        kinds = plain["kinds"]
        assert isinstance(kinds, list)
        assert [kind["name"] for kind in kinds] == [
            "word",
            "number",
            "date",
            "identifier",
            "address",
        ]
        assert (kinds[0]["cap"], kinds[1]["cap"]) == (10.0, None)
        assert kinds[0]["step"] == "a step of the word graph"
        assert words().to_dict()["kinds"] == []

    def test_other_metrics_change_the_words_only(self) -> None:
        both = words(metric="manhattan", equivalents=(("euclidean", 3.0),)).with_kinds([DATE])
        other = both.in_metric("euclidean")
        assert (other.epsilon, other.metric) == (3.0, "euclidean")
        assert other.of_kind("word").cap == math.inf
        assert other.of_kind("date") == replace(both.of_kind("date"))
        assert both.in_metric("angular").kind is Kind.NONE
        assert both.in_metric("angular").loss(0.0) == math.inf

    def test_with_kinds_twice_replaces_them(self) -> None:
        assert texts().with_kinds([DATE]) == texts([DATE])

    def test_it_is_a_plain_hashable_value(self) -> None:
        assert is_proved(texts())
        assert hash(texts()) == hash(texts())

    def test_a_channel_draws_no_texts(self, line: Lexicon) -> None:
        from tests.planted import promising

        channel = TEM(epsilon=1.0).on(line)
        assert audit(channel).holds is True
        kinds = channel.guarantee.with_kinds([DATE])
        for promise in (kinds, replace(channel.guarantee, per="distinct word")):
            assert audit(promising(channel, promise)).holds is None

    @pytest.mark.parametrize(
        "wrong",
        [
            {"kinds": (NUMBER,)},
            {"kinds": (replace(NUMBER, name="word"), NUMBER, NUMBER)},
            {"kinds": (replace(NUMBER, name="word"), NUMBER)},  # with a cap for all
            {"per": "sentence"},
        ],
    )
    def test_what_is_no_promise_cannot_be_one(self, wrong: dict[str, object]) -> None:
        with pytest.raises(ParameterError):
            words(**wrong)

    @pytest.mark.parametrize("changes", [{"kind": Kind.BOUNDED}, {"delta": 1e-6}])
    def test_words_need_an_epsilon_per_distance(self, changes: dict[str, object]) -> None:
        with pytest.raises(ParameterError, match="treat numbers and dates as words"):
            words(**changes).with_kinds([NUMBER])

    @pytest.mark.parametrize(
        "wrong", [{"epsilon": -1.0}, {"epsilon": math.inf}, {"cap": math.nan}, {"step": ""}]
    )
    def test_wrong_kinds(self, wrong: dict[str, object]) -> None:
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            replace(NUMBER, **wrong)  # type: ignore[arg-type]


class TestLosses:
    def test_losses_of_kinds_add_up(self) -> None:
        changes = [("word", 50.0), ("number", 2.0), ("date", 3.0), ("identifier", 1.0)]
        assert loss_over(texts(), changes) == Loss(15.0 + 3.0 + 6.0)

    @pytest.mark.parametrize("kind", ["word", "number", "identifier"])
    @pytest.mark.parametrize("delta", [0.0, 1e-6])
    def test_across_kinds_nothing_is_promised(self, kind: str, delta: float) -> None:
        assert loss_over(texts(), [(kind, math.inf)], delta).epsilon == math.inf

    def test_many_values_concentrate(self) -> None:
        changes = [("word", 0.1), ("number", 0.1)] * 300
        rho = 600 * 1.125 * 0.1**2
        found = loss_over(texts(), changes, delta=1e-6)
        assert found.epsilon == pytest.approx(zcdp_epsilon(rho, 1e-6))
        assert found.epsilon < loss_over(texts(), changes).epsilon

    def test_nothing_promised_nothing_bounded(self) -> None:
        none = replace(texts(), kind=Kind.NONE, reason="a test")
        assert loss_over(none, [("word", 1.0)]).epsilon == math.inf

    def test_wrong_questions(self) -> None:
        with pytest.raises(ParameterError, match="about words, numbers, dates"):
            loss_over(texts(), [("colour", 1.0)])
        with pytest.raises(ParameterError, match="about words only"):
            loss_over(words(), [("date", 1.0)])
        with pytest.raises(ParameterError, match="delta"):
            loss_over(texts(), [], 1.0)
        with pytest.raises(ParameterError, match="distance"):
            loss_over(texts(), [("word", -1.0)])

    @given(st.lists(st.integers(0, 3), min_size=3, max_size=3), st.floats(0.1, 2.0))
    def test_the_rate_is_true_of_paths(self, others: list[int], epsilon: float) -> None:
        """The exact δ of three values' joint law, at the ε that zCDP gives."""
        path = Path.of_steps([0.0, 0.25, 1.0, 1.5])
        law = PathLaw.balanced(path, epsilon).log_probabilities(range(4))
        p, q = np.zeros(1), np.zeros(1)
        for other in others:
            p = np.add.outer(p, law[1]).ravel()
            q = np.add.outer(q, law[other]).ravel()
        kind = KindPromise(name="date", epsilon=epsilon, step="1 week", zcdp=epsilon**2 / 2)
        text = words().with_kinds([kind])
        far = path.distances([1])[0]
        found = loss_over(text, [("date", float(far[o])) for o in others], delta=0.01)
        assert excess_delta(p, q, found.epsilon) <= found.delta + 1e-12


class TestReleases:
    def test_each_kind_adds_up(self) -> None:
        both = compose([texts(), texts()])
        assert (both.epsilon, both.cap, both.zcdp) == (3.0, math.inf, math.inf)
        assert both.of_kind("word") == compose([words(), words()])
        assert both.of_kind("date").epsilon == 4.0
        assert both.of_kind("date").zcdp == 4.0
        assert both.of_kind("identifier").loss(5.0) == 0.0
        assert compose([texts()]) == texts()

    def test_different_caps(self) -> None:
        low = words(cap=4.0).with_kinds([NUMBER])
        both = compose([texts([NUMBER]), low])
        assert both.of_kind("word").loss(1e9) == pytest.approx(15.0 + 6.0)
        assert both.of_kind("number").cap == math.inf

    @pytest.mark.parametrize(
        "other",
        [
            words(),
            texts([NUMBER]),
            texts([NUMBER, replace(DATE, step="3 days"), IDENTIFIER, ADDRESS]),
            texts([NUMBER, KindPromise(name="date", epsilon=0.0), IDENTIFIER, ADDRESS]),
        ],
    )
    def test_other_kinds_or_steps_do_not_compose(self, other: Guarantee) -> None:
        with pytest.raises(ParameterError, match="same kinds"):
            compose([texts(), other])

    def test_shared_draws_do_not_compose_with_fresh_ones(self) -> None:
        with pytest.raises(ParameterError, match="per"):
            compose([texts(), replace(texts(), per="distinct word")])


class TestDistinctWords:
    def test_the_statement(self) -> None:
        shared = words(per="distinct word")
        assert (
            "between any two texts that differ in one distinct word, in all its places, the same "
            "places holding equal words, and look alike, the odds"
        ) in str(shared)
        assert (
            "between any two texts that differ in up to 5 distinct words, each in all its places, "
            "the same places holding equal words, and look alike, the odds"
        ) in str(shared.for_words(5))

    def test_with_kinds_and_without_texts(self) -> None:
        shared = texts([NUMBER])
        assert (
            "differ in one distinct word or value, in all its places, the same places holding "
            "equal ones, and look alike, the odds"
        ) in str(replace(shared, per="distinct word"))
        assert (
            "differ in one distinct word, in all its places, the same places holding equal words, "
            "the odds"
        ) in str(words(per="distinct word", texts=""))

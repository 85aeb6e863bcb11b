import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from malaprop import Guarantee, Kind, ParameterError
from malaprop.privacy.guarantee import rounded_up


def guarantee(**changes: object) -> Guarantee:
    values: dict[str, object] = {"kind": Kind.METRIC, "epsilon": 1.5, "metric": "euclidean"}
    return Guarantee(**{**values, **changes})  # type: ignore[arg-type]


def test_the_kinds_are_spelled_as_the_public_contract_says() -> None:
    assert [str(kind) for kind in Kind] == ["metric-dp", "neighbourhood-dp", "bounded-dp", "none"]


def test_loss_grows_with_distance_up_to_the_cap() -> None:
    capped = guarantee(cap=2.0)
    assert capped.loss(0.0) == 0.0
    assert capped.loss(1.0) == 1.5
    assert capped.loss(50.0) == 3.0


def test_losses_of_several_words_add_up() -> None:
    text = guarantee(cap=2.0).for_words(4)
    assert text.loss(7.0) == 10.5
    assert text.loss(1000.0) == 12.0


def test_no_guarantee_promises_nothing() -> None:
    none = guarantee(kind=Kind.NONE, reason="words are kept")
    assert none.loss(0.0) == math.inf
    assert str(none) == "No guarantee: words are kept."


@pytest.mark.parametrize("distance", [-1.0, math.nan])
def test_a_distance_is_never_negative(distance: float) -> None:
    with pytest.raises(ParameterError):
        guarantee().loss(distance)


@pytest.mark.parametrize("words", [0, -1, 1.5, [("a", "b")]])
def test_a_text_has_a_whole_number_of_words(words: Any) -> None:
    with pytest.raises(ParameterError, match="whole number of words"):
        guarantee().for_words(words)


def test_it_is_a_frozen_value() -> None:
    assert guarantee() == guarantee()
    with pytest.raises(AttributeError):
        guarantee().epsilon = 0.1  # type: ignore[misc]


@pytest.mark.parametrize("cap", [2.0, math.inf])
def test_json_can_hold_it(cap: float) -> None:
    plain = guarantee(cap=cap).to_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert plain["kind"] == "metric-dp"


@given(st.floats(1e-300, 1e300), st.integers(1, 6))
def test_a_printed_bound_is_never_below_the_bound(bound: float, digits: int) -> None:
    printed = float(rounded_up(bound, digits))
    assert bound <= printed <= bound * (1 + 2 * 10.0 ** (1 - digits))


def test_epsilon_is_printed_exactly() -> None:
    assert "e^(1.0000004·d)" in str(guarantee(epsilon=1.0000004))
    assert "never by more than e^1.001" in str(guarantee(epsilon=1.00049, cap=1.0))


def test_the_sentence_says_epsilon_metric_and_worst_case() -> None:
    sentence = str(guarantee(cap=2.0))
    assert "ε = 1.5" in sentence
    assert "euclidean" in sentence
    assert "e^3" in sentence


@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": math.nan},
        {"epsilon": -1.0},
        {"epsilon": math.inf},
        {"cap": math.nan},
        {"radius": -1.0},
        {"delta": math.nan},
    ],
)
def test_what_is_no_promise_cannot_be_one(wrong: dict[str, float]) -> None:
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        guarantee(**wrong)


def test_delta_of_many_words_is_not_forgotten() -> None:
    many = guarantee(kind=Kind.BOUNDED, delta=1e-5).for_words(10**6)
    assert many.for_words(1).delta == pytest.approx(1e-5)


def test_another_metric_has_other_units() -> None:
    other = guarantee(cap=2.0, zcdp=0.5, equivalents=(("manhattan", 6.0),)).in_metric("manhattan")
    assert (other.epsilon, other.cap, other.zcdp) == (6.0, math.inf, math.inf)
    assert guarantee().in_metric("angular").kind is Kind.NONE


def test_the_sentence_says_how_many_words_may_differ() -> None:
    one = guarantee()
    assert "between any two words of the lexicon, the odds" in str(one)
    three = str(one.for_words(3))
    assert "between any two texts that differ in up to 3 words, the odds" in three
    assert "distance, added up over the words" in three
    assert str(one.for_words(3).for_words(1)) == str(one)


@pytest.mark.parametrize("kind", [Kind.METRIC, Kind.BOUNDED])
def test_the_sentence_for_texts_says_how_many_words_may_differ(kind: Kind) -> None:
    text = guarantee(kind=kind, texts="look alike")
    assert "any two texts that differ in one word and look alike" in str(text)
    three = str(text.for_words(3))
    assert "any two texts that differ in up to 3 words and look alike" in three
    assert "one word" not in three


def test_the_sentence_for_texts_says_which_words_may_differ() -> None:
    near = guarantee(texts="look alike", pairs="neighbours")
    for words in (1, 3):
        sentence = str(near.for_words(words))
        assert "look alike, where the words that differ are neighbours, the odds" in sentence
    assert str(guarantee(pairs="neighbours")).count("neighbours") == 1

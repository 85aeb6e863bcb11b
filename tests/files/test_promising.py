"""What a text's guarantee promises, and what it says stays visible."""

import math

import pytest
from hypothesis import given
from tests.files.small import ROUGH, SMALL, TEXTS

from malaprop import TEM, Privatizer


@given(TEXTS)
def test_kept_words_forfeit_the_guarantee(text: str) -> None:
    privatizer = Privatizer(SMALL, ROUGH, unknown="keep")
    for guarantee in (privatizer.guarantee, privatizer(text).guarantee):
        assert str(guarantee.kind) == "none"
        assert "kept as they are" in guarantee.reason
        assert "ε = 0.5 (metric-dp)" in guarantee.reason
        assert guarantee.loss(1.0) == math.inf


def test_the_guarantee_of_one_word() -> None:
    privatizer = Privatizer(SMALL, TEM(epsilon=2.0, gamma=3.0))
    for guarantee in (privatizer.guarantee, privatizer("Zyx!").guarantee, privatizer("").guarantee):
        assert guarantee.words == 1
        assert guarantee.loss(1.0) == 2.0
        assert guarantee.loss(9.0) == 6.0
        assert "differ in one word" in str(guarantee)
        assert "added up" not in str(guarantee)


def test_the_guarantee_of_several_words() -> None:
    guarantee = Privatizer(SMALL, TEM(epsilon=2.0, gamma=3.0))("cold hot, zyx 12").guarantee
    assert guarantee.words == 4
    assert guarantee.loss(1.0) == 2.0
    assert guarantee.loss(100.0) == 2.0 * 3.0 * 4
    assert "one word" not in str(guarantee)
    assert "distance, added up over the words, and never by more than e^24" in str(guarantee)


@pytest.mark.parametrize(
    ("unknown", "punctuation", "shown"),
    [
        ("map", "keep", "(words' places, punctuation, spacing), each word counting as"),
        ("drop", "drop", "(words' places, line breaks),"),
        ("mask", "drop", "(words' places, line breaks, masks),"),
        ("mask", "keep", "(words' places, punctuation, spacing, masks),"),
    ],
)
def test_the_guarantee_says_what_stays_visible(unknown: str, punctuation: str, shown: str) -> None:
    privatizer = Privatizer(SMALL, ROUGH, unknown=unknown, punctuation=punctuation)  # type: ignore[arg-type]
    assert shown in str(privatizer.guarantee)


def test_the_guarantee_names_gaps_beside_public_pieces_where_others_are_dropped() -> None:
    shown = "(words' places, line breaks, gaps beside public pieces), each word counting as"
    privatizer = Privatizer(SMALL, ROUGH, punctuation="drop", keep=["hot"])
    assert shown in str(privatizer.guarantee)
    assert shown not in str(Privatizer(SMALL, ROUGH, punctuation="drop").guarantee)
    spans = Privatizer(SMALL, ROUGH, punctuation="drop").spans("so cold", [(3, 7)])
    assert shown in str(spans.guarantee)


def test_the_guarantee_for_more_words_speaks_of_more_words() -> None:
    one = Privatizer(SMALL, TEM(epsilon=2.0)).guarantee
    assert "differ in one word and look alike" in str(one)
    three = one.for_words(3)
    assert "differ in up to 3 words and look alike" in str(three)
    assert "one word" not in str(three)
    assert str(Privatizer(SMALL, TEM(epsilon=2.0))("cold hot nurse").guarantee) == str(three)

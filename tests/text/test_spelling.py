"""The nearest spelling is the one that looking at all of them would find."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from malaprop import Lexicon
from malaprop.text.word_map import NearestSpelling

SPELLINGS = st.text(st.sampled_from("abcxyzé'北") | st.characters(codec="utf-8"), max_size=12)


def brute(spellings: list[str], spelling: str) -> int:
    edits = [Levenshtein.distance(spelling, other) for other in spellings]
    return edits.index(min(edits))


@given(st.lists(SPELLINGS.filter(bool), min_size=1, max_size=40), SPELLINGS)
def test_it_is_the_first_of_the_nearest(spellings: list[str], spelling: str) -> None:
    assert NearestSpelling(spellings).nearest(spelling) == brute(spellings, spelling)


@given(st.text("aab", min_size=1, max_size=20), st.lists(st.text("aab", min_size=1), min_size=1))
def test_letters_that_occur_many_times(spelling: str, spellings: list[str]) -> None:
    assert NearestSpelling(spellings).nearest(spelling) == brute(spellings, spelling)


@pytest.mark.parametrize(
    "word",
    ["dcotor", "tylenoll", "xkcd", "schwarzenegger", "zzzz", "q", "antidisestablishmentarian"],
)
def test_on_english(english: Lexicon, word: str) -> None:
    words = list(english.words)
    assert NearestSpelling(words).nearest(word) == brute(words, word)

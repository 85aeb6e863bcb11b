"""Words to keep: whole, however they are written, and nothing else."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.text.linear import is_linear

from malaprop import ParameterError
from malaprop.text.public import KeptWords

ENTRIES = ["aspirin", "New York", "new", "[REDACTED]", "St. Mary's", "a", "b b", "12", "C++", "é"]
TEXTS = st.text() | st.lists(
    st.sampled_from(
        [*ENTRIES, *" .,-:/_'’@#\n", "york", "ＮＥＷ", "b", "É", "e\u0301", "\x1c", "\xad"]
    )
    | st.characters(),
    max_size=20,
).map("".join)


def kept(entries: list[str], text: str) -> list[str]:
    return [each.text for each in KeptWords(entries).cut(text) if each.public]


@pytest.mark.parametrize(
    ("entry", "text", "pieces"),
    [
        ("aspirin", "Aspirin, ASPIRIN aspirin.", ["Aspirin", "ASPIRIN", "aspirin"]),
        ("aspirin", "aspirins aspirin's xaspirin aspirin_2 2aspirin @aspirin #aspirin", []),
        ("aspirin", "aspirin@x.org http://x.org/aspirin www.aspirin.com", []),
        ("known", "well-known", ["known"]),
        ("New York", "new  york, New\nYork; New, York; New Yorker", ["new  york", "New\nYork"]),
        ("New York", "New\x1cYork New\u200bYork", []),
        ("[REDACTED]", "([redacted]).", ["[redacted]"]),
        ("St. Mary's", "St. Mary’s", ["St. Mary’s"]),
        ("café", "CAFE\u0301", ["CAFE\u0301"]),
        ("12", "12 12. 12, (12) 12-year", ["12", "12", "12", "12", "12"]),
        ("12", "12:30 3.12 12/5 5-12 12.5 1,12 112 12mg", []),
        ("mg", "3.5mg 5mg 3 mg", ["mg"]),
        ("diabetes", "dia\xadbetes", []),
        ("C++", "C++, c++.", ["C++", "c++"]),
        ("@ann", "@Ann @anna ann", ["@Ann"]),
    ],
)
def test_entries_are_found_whole(entry: str, text: str, pieces: list[str]) -> None:
    assert kept([entry], text) == pieces


def test_the_longest_entry_wins() -> None:
    assert kept(["new", "new york", "york city hall"], "new york city") == ["new york"]
    assert kept(["a b c d", "b c"], "a b c e") == ["b c"]


@given(TEXTS)
def test_what_is_kept_is_on_the_list(text: str) -> None:
    segments = KeptWords(ENTRIES).cut(text)
    assert "".join(each.text for each in segments) == text
    entries = {entry.casefold() for entry in ENTRIES}
    for each in segments:
        if each.public:
            plain = " ".join(each.text.replace("’", "'").casefold().split())
            assert plain.replace("e\u0301", "é") in entries


@given(st.lists(st.text(st.characters(categories=["L"]), min_size=1, max_size=5), min_size=1))
def test_words_of_letters_are_found_as_written(words: list[str]) -> None:
    assert kept(words, " ".join(words)) != []
    assert "".join(each.text for each in KeptWords(words).cut(" ".join(words))) == " ".join(words)


@pytest.mark.parametrize(
    "entry", ["", " ", "...", "_", " a", "a ", "a\nb", "a\u200bb", "x" * 101, 3]
)
def test_entries_that_cannot_be_kept_are_refused(entry: str) -> None:
    with pytest.raises(ParameterError, match="Entry 2 of the `keep` parameter") as caught:
        KeptWords(["secret", entry])
    assert "secret" not in str(caught.value)


def test_a_string_is_not_a_list() -> None:
    with pytest.raises(ParameterError, match="put it into a list"):
        KeptWords("aspirin")


def test_ten_thousand_entries_do_not_slow_the_search() -> None:
    few, many = KeptWords(["w1"]), KeptWords(f"w{number} x y" for number in range(10_000))
    text = "w5 x z and some more words. " * 4_000
    times = []
    for words in (few, many, few, many):
        started = time.process_time()
        words.cut(text)
        times.append(time.process_time() - started)
    assert min(times[1::2]) < 5 * min(times[::2])


@pytest.mark.parametrize("unit", ["a ", "a", "[", "a a", "é", " ", "12.", "a'"])
def test_the_time_is_linear(unit: str) -> None:
    words = KeptWords(["a " * 49 + "b", "a", "[" * 99 + "b", "12"])
    assert is_linear(words.cut, unit)

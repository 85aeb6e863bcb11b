"""Hashes of words, their parts and their edits."""

from hypothesis import given
from hypothesis import strategies as st

from malaprop.text.vocabulary import (
    LONGEST,
    edit,
    hash_of,
    hashes_around,
    hashes_of,
    mixed,
    mixed_all,
    part_bounds,
)


@given(st.text(min_size=1, max_size=LONGEST))
def test_hashes_of_edits_and_parts_are_those_of_the_words(word: str) -> None:
    words = ["x" * len(word), word]
    _, parts = hashes_around(words, edits=False).tolist()
    _, edits = hashes_around(words, parts=False).tolist()
    assert hashes_around(words).tolist()[1] == parts + edits
    assert [hash_of(edit(word, place)) for place in range(len(edits))] == edits
    starts, ends = part_bounds(len(word))
    bounds = zip(starts, ends, strict=True)
    assert [hash_of(word[start:end]) for start, end in bounds][:-1] == parts


@given(st.lists(st.text(min_size=1, max_size=LONGEST)))
def test_hashes_of_words_are_those_of_each(words: list[str]) -> None:
    assert hashes_of(words).tolist() == list(map(hash_of, words))


def test_all_edits_are_there() -> None:
    edits = {edit("cat", place) for place in range(hashes_around(["cat"], parts=False).size)}
    assert {
        "at",
        "ct",
        "ca",
        "act",
        "cta",
        "bat",
        "cut",
        "car",
        "scat",
        "cart",
        "cats",
    } <= edits


def test_keys_and_checks_agree() -> None:
    hashes = hashes_around(["metforminn"])[0]
    for value, whole in zip(hashes.tolist(), mixed_all(hashes).tolist(), strict=True):
        assert mixed(value) == whole

"""Hashes of words, their parts and their edits."""

from hypothesis import given
from hypothesis import strategies as st

from malaprop.text.vocabulary import (
    LONGEST,
    edit,
    edit_hashes,
    hash_of,
    mixed,
    part_bounds,
    part_hashes,
)


@given(st.text(min_size=1, max_size=LONGEST))
def test_hashes_of_edits_and_parts_are_those_of_the_words(word: str) -> None:
    words = ["x" * len(word), word]
    _, parts = part_hashes(words).tolist()
    _, edits = edit_hashes(words).tolist()
    assert [hash_of(edit(word, place)) for place in range(len(edits))] == edits
    starts, ends = part_bounds(len(word))
    bounds = zip(starts, ends, strict=True)
    assert [hash_of(word[start:end]) for start, end in bounds][:-1] == parts


def test_all_edits_are_there() -> None:
    edits = {edit("cat", place) for place in range(edit_hashes(["cat"]).size)}
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
    hashes = edit_hashes(["metforminn"])[0]
    for value, whole in zip(hashes.tolist(), mixed(hashes).tolist(), strict=True):
        assert mixed(value) == whole

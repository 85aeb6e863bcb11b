"""The large vocabulary: its table, and how words are looked up in it."""

import hashlib
from pathlib import Path

import numpy as np
import pytest

from malaprop import Lexicon, LexiconError
from malaprop.text import vocabulary
from malaprop.text.vocabulary import cost_of, hash_of, target_of
from malaprop.text.word_map import MAP_VERSION, WordMap

ENGLISH = Lexicon.open("english")


def test_the_shipped_table_is_the_one_that_is_pinned() -> None:
    content = (vocabulary.FOLDER / vocabulary.TABLE).read_bytes()
    assert hashlib.sha256(content).hexdigest() == vocabulary.SHA256
    assert vocabulary.SHA256[:12] in MAP_VERSION
    notes = (vocabulary.FOLDER / "README.md").read_text(encoding="utf-8")
    assert vocabulary.SHA256 in notes
    assert ENGLISH.fingerprint in notes


def test_its_targets_are_the_words_of_english() -> None:
    assert vocabulary.target_words() == ENGLISH.words
    table = vocabulary.shipped()
    assert len(table) > 320_000
    assert max(map(target_of, table.entries.tolist())) < len(ENGLISH)
    assert ENGLISH.tables.nearest is not None
    listed = ENGLISH.tables.nearest.listed
    assert (vocabulary.nearest_targets() == listed).all()


def test_words_of_english_count_as_themselves() -> None:
    table = vocabulary.shipped()
    listed = [(i, table.entry(word)) for i, word in enumerate(ENGLISH.words) if len(word) > 1]
    missing = [i for i, entry in listed if entry is None]
    assert len(missing) <= 3  # another word has the same key
    assert all(target_of(entry) == i for i, entry in listed if entry is not None)


def test_frequent_words_cost_less() -> None:
    table = vocabulary.shipped()
    entries = [table.entry(word) for word in ("the", "news", "oncologist", "metformin")]
    costs = [cost_of(entry) for entry in entries if entry is not None]
    assert costs == sorted(costs)
    assert len(set(costs)) == 4


def test_what_is_not_listed_has_no_entry() -> None:
    table = vocabulary.shipped()
    assert [table.entry(word) for word in ("qzxkvj", "", "worldnews", "x" * 300)] == [None] * 4


def test_entries_hold_the_columns_of_the_file_in_order_of_the_words() -> None:
    content = (vocabulary.FOLDER / vocabulary.TABLE).read_bytes()
    table, count = vocabulary.shipped(), len(vocabulary.shipped())
    entries = table.entries.tolist()
    assert entries == sorted(entries)
    for number in (0, 1, count // 2, count - 1):
        key, target = (
            int.from_bytes(content[start : start + size], "little")
            for start, size in ((32 + 4 * number, 4), (32 + 4 * count + 2 * number, 2))
        )
        check, cost = (content[32 + column * count + number] for column in (6, 7))
        assert entries[number] == key << 32 | check << 24 | cost << 16 | target
        assert (cost_of(entries[number]), target_of(entries[number])) == (cost, target)


def test_many_hashes_are_looked_up_as_one_is() -> None:
    table = vocabulary.shipped()
    words = ["the", "qzxkvj", "metformin", "", "news", "zzzzzzzz"]
    hashes = np.array([hash_of(word) for word in words], dtype=np.uint64)
    expected = [(i, table.entry(word)) for i, word in enumerate(words)]
    assert table.listed(hashes) == [each for each in expected if each[1] is not None]
    assert table.listed(hashes[:0]) == []
    # All are beyond the only entry of this one.
    small = vocabulary.Vocabulary(vocabulary.header(1) + bytes((0, 0, 0, 0, 7, 0, 9, 5)))
    assert small.listed(hashes) == []
    assert [small.entry(word) for word in words] == [None] * len(words)


@pytest.mark.parametrize("damage", ["changed", "short", "missing"])
def test_another_file_is_refused(
    damage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = bytearray((vocabulary.FOLDER / vocabulary.TABLE).read_bytes())
    content[1000] ^= damage == "changed"
    if damage != "missing":
        (tmp_path / vocabulary.TABLE).write_bytes(content[: -(damage == "short") or None])
    monkeypatch.setattr(vocabulary, "FOLDER", tmp_path)
    vocabulary.shipped.cache_clear()
    try:
        with pytest.raises(LexiconError, match="install malaprop again"):
            WordMap(["cold", "hot"]).map("metformin")
    finally:
        vocabulary.shipped.cache_clear()


def test_a_table_whose_size_is_not_what_it_says() -> None:
    for content in (b"", vocabulary.header(3) + bytes(23), b"x" * 32):
        with pytest.raises(LexiconError):
            vocabulary.Vocabulary(content)

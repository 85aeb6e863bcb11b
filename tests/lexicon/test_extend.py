"""Lexicons with words of one's own, and with some words left out."""

import gzip
import json
from collections.abc import Callable
from copy import copy
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from malaprop import (
    TEM,
    Balanced,
    Lexicon,
    LexiconError,
    MetricError,
    ParameterError,
    Privatizer,
    audit,
    registry,
    seeded_rng,
)
from malaprop.lexicon import store
from malaprop.lexicon.extend import extend, read_words, store_extended, store_subset
from malaprop.lexicon.formats import FileFault, Repairs
from malaprop.privacy.metrics import products_are_exact
from malaprop.text.word_map import WordMap

CLINICAL = ["metformin", "clopidogrel", "atorvastatin", "xqzvk", "feverr"]


def cloud(metric: str = "euclidean", count: int = 40, dimension: int = 8) -> Lexicon:
    """Words of `english`, so that the vocabulary serves, with vectors of their own."""
    words = Lexicon.open("english").words[1000 : 1000 + count - 5]
    words = ("fever", "warfarin", "insulin", "aspirin", "painkillers", *words)
    vectors = seeded_rng(1).normal(size=(len(words), dimension))
    if metric == "poincare":
        vectors *= 0.2
    return Lexicon(words, vectors, metric)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MALAPROP_HOME", str(tmp_path / "home"))
    cloud().save(tmp_path / "home" / "lexicons" / "base")
    return tmp_path


def faults_of(repairs: Repairs) -> dict[FileFault, tuple[int, ...]]:
    assert all(repair.count == len(repair.first) for repair in repairs.by_fault.values())
    return {fault: repair.first for fault, repair in repairs.by_fault.items()}


# Which words are added.


def test_new_words_come_last_and_the_others_stay_to_the_bit() -> None:
    base = cloud()
    longer = base.extend(CLINICAL)
    assert longer.words == (*base.words, *CLINICAL)
    assert longer.vectors[: len(base)].tobytes() == base.vectors.tobytes()
    assert longer.vectors.dtype == np.float32
    assert longer.fingerprint != base.fingerprint
    assert not longer.tables.all


def test_what_cannot_be_added_is_left_out_and_counted_at_its_place() -> None:
    words = [
        *("Metformin", "fever", "FEVER", "metformin", "two words", "500mg", "12", ""),
        *("covid-19", "#flu", "a\x00b", "x" * 300, "hba1c", "\ud800", "don't!", "o’Hare", None),
        *("café", "b12", "  spaced\r\n", "1st", "ann@example.org", "www.example.org", "😀"),
    ]
    repairs = Repairs("words", strict=False, unit="word")
    longer = extend(cloud(), words, repairs=repairs)
    assert longer.words[40:] == ("metformin", "o'hare", "café", "b12", "spaced")
    repairs.by_fault = {f: r for f, r in repairs.by_fault.items() if f is not FileFault.NO_WORD}
    assert faults_of(repairs) == {
        FileFault.KNOWN: (2, 3),
        FileFault.DUPLICATE: (4,),
        FileFault.BLANK: (8,),
    }
    counted = Repairs("words", strict=False, unit="word")
    extend(cloud(), words, repairs=counted)
    assert counted.count(FileFault.NO_WORD) == len(words) - 5 - 4 - 1


@pytest.mark.parametrize("kinds", ["words", "typed"])
def test_each_added_word_is_looked_up_however_it_is_written(
    kinds: Literal["words", "typed"],
) -> None:
    base = cloud()
    written = ["Metformin", "O'Hare", "b12", "café", "ＳＴＥＮＴ", "ﬁbrosis", "x" * 256]
    longer = base.extend(written)
    assert len(longer) == len(base) + len(written)
    mechanism = TEM(epsilon=500.0)
    epsilon: Any = {"kind_epsilon": 1.0} if kinds == "typed" else {}
    privatizer = Privatizer(longer, mechanism, kinds=kinds, rng=seeded_rng(1), **epsilon)
    for word, token in zip(longer.words[len(base) :], written, strict=True):
        assert privatizer.mapped(token) == privatizer.mapped(token.upper()) == word
        assert privatizer(f"Take {token}, now!").counts["in_lexicon"] >= 1


def test_a_list_without_a_new_word_is_refused_with_its_counts() -> None:
    with pytest.raises(LexiconError, match="word that the lexicon has already: 2") as error:
        cloud().extend(["fever", "Warfarin", "two words"])
    assert "such as a number: 1" in str(error.value)
    assert "warfarin" not in str(error.value).lower()
    with pytest.raises(LexiconError, match="there is none"):
        cloud().extend([])
    with pytest.raises(LexiconError, match="not one string"):
        cloud().extend("metformin")
    with pytest.raises(LexiconError, match="word 2 is not"):
        cloud().extend(["metformin", 5])  # type: ignore[list-item]


def test_a_word_graph_is_refused() -> None:
    with pytest.raises(MetricError, match="extend the lexicon first"):
        cloud().with_graph().extend(["metformin"])


# Vectors that are made up.


def test_they_are_the_same_each_time_and_whatever_else_is_added() -> None:
    base = cloud()
    once = base.extend(CLINICAL)
    assert once.fingerprint == base.extend(CLINICAL).fingerprint
    for word in CLINICAL:
        alone = base.extend([word])
        assert (alone.vectors[-1] == once.vectors[once.index[word]]).all()
    # The same on every machine.
    plane = Lexicon(["fever", "warfarin", "insulin"], [[4.0, 0.0], [0.0, 1.0], [3.0, -2.0]])
    assert plane.extend(["clopidogrel"]).vectors[3].tolist() == [2.4296875, 0.37890625]


@pytest.mark.parametrize("metric", ["euclidean", "angular", "manhattan", "chebyshev", "poincare"])
def test_they_lie_near_the_word_that_a_new_one_counts_as(metric: str) -> None:
    base = cloud(metric)
    longer, known = base.extend(CLINICAL), WordMap(base.words)
    assert str(longer.metric) == metric
    for word in CLINICAL:
        own = base.words[known.map(word)]
        assert own in [near for near, _ in longer.neighbours(word, 3)]
    assert known.map("clopidogrel") == base.index["warfarin"]


def test_no_two_are_equal_even_if_they_count_as_the_same_word() -> None:
    line = Lexicon(["fever", "warfarin", "insulin"], [[0.0], [1.0], [2.0]])
    words = [a + b for a in "bcdfghklmnprst" for b in ("ovirex", "amidol", "atinib", "umabol")]
    longer = line.extend([*words, *CLINICAL])
    assert len(np.unique(longer.vectors, axis=0)) == len(longer) == 3 + len(words) + 5
    assert (np.unique(longer.distances(np.arange(len(longer))).argmin(axis=1))).size == len(longer)


def test_where_no_two_vectors_differ_they_must_be_given() -> None:
    alone = Lexicon(["fever"], [[1.0, 2.0]])
    with pytest.raises(LexiconError, match="Give the vectors"):
        alone.extend(["metformin"])
    assert len(alone.extend(["metformin"], {"metformin": [0.0, 1.0]})) == 2


def test_lengths_are_those_of_known_words() -> None:
    base = cloud(count=300, dimension=30)
    longer = base.extend(CLINICAL)
    lengths = np.linalg.norm(longer.vectors, axis=1)
    assert lengths[300:].min() > lengths[:300].min()
    assert lengths[300:].max() < lengths[:300].max()


def test_distances_that_were_exact_stay_so() -> None:
    english = Lexicon.open("english")
    longer = english.extend(CLINICAL)
    assert products_are_exact(longer.vectors)
    assert longer.vectors[: len(english)].tobytes() == english.vectors.tobytes()


def test_the_note_counts_where_vectors_come_from() -> None:
    longer = cloud().extend(CLINICAL, {"Metformin": np.ones(8)})
    (note,) = longer.made
    assert note == (
        f"a lexicon (40 words, fingerprint {cloud().fingerprint}), with 5 words added, which are "
        "declared public; vectors: 1 taken from a mapping, 2 made up from what the public "
        "vocabulary names as nearest, 2 made up from their spelling"
    )
    assert longer.with_metric("manhattan").made == longer.with_graph().made == (note,)
    assert copy(longer).made == (note,)
    assert len(longer.subset(["fever"]).made) == 2


# Vectors that are given.


def test_a_mapping_gives_vectors_whatever_its_capitals() -> None:
    given = {"METFORMIN": [1, 2, 3, 4, 5, 6, 7, 8], "clopidogrel": np.arange(8), "other": [0]}
    longer = cloud().extend(["Metformin", "clopidogrel", "atorvastatin"], given)
    assert longer.vectors[40].tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
    assert longer.vectors[41].tolist() == list(range(8))
    assert "2 taken from a mapping, 1 made up" in longer.made[0]


@pytest.mark.parametrize("wrong", [[1.0], np.ones(9), [np.nan] * 8, "text", None, [1e300] * 8, {}])
def test_wrong_vectors_of_a_mapping_are_refused(wrong: object) -> None:
    with pytest.raises(LexiconError, match="8 finite numbers"):
        cloud().extend(["metformin"], {"metformin": wrong})


def vector_file(path: Path, rows: dict[str, np.ndarray]) -> Path:
    lines = (f"{word} {' '.join(map(repr, map(float, row)))}\n" for word, row in rows.items())
    path.write_text("".join(lines), encoding="utf-8")
    return path


def test_a_file_gives_vectors_and_the_very_word_comes_before_its_capitals(tmp_path: Path) -> None:
    base = cloud()
    known = dict(zip(base.words, base.vectors, strict=True))
    own, other = np.arange(8), np.arange(8) + 1
    file = vector_file(
        tmp_path / "v.vec", known | {"Metformin": other, "metformin": own, "Clopidogrel": other}
    )
    longer = base.extend(["metformin", "clopidogrel", "xqzvk"], file)
    assert longer.vectors[40].tolist() == own.tolist()
    assert longer.vectors[41].tolist() == other.tolist()
    assert "2 taken from v.vec, 0 made up from what" in longer.made[0]
    assert "1 made up from their spelling" in longer.made[0]


def test_a_file_of_another_dimension_or_space_is_refused(tmp_path: Path) -> None:
    base = cloud()
    narrow = vector_file(tmp_path / "narrow.vec", {"metformin": np.ones(3)})
    with pytest.raises(LexiconError, match=r"narrow.vec has vectors of 3 numbers.* those of 8"):
        base.extend(["metformin"], narrow)
    turned = dict(zip(base.words, np.roll(base.vectors, 3, axis=1), strict=True))
    rolled = vector_file(tmp_path / "rolled.vec", turned | {"metformin": np.ones(8)})
    with pytest.raises(LexiconError, match="40 words that both have lie elsewhere"):
        base.extend(["metformin"], rolled)
    with pytest.raises(LexiconError, match="cannot be read"):
        base.extend(["metformin"], tmp_path / "missing.vec")


# Use.


def test_the_audit_of_balanced_holds_on_an_extended_lexicon() -> None:
    near = cloud(count=200, dimension=20).extend(CLINICAL).with_graph()
    for epsilon in (0.8, 1.5, 3.0):
        assert audit(Balanced(epsilon=epsilon).on(near)).holds
    privatizer = Privatizer(near, Balanced(epsilon=1.5), rng=seeded_rng(1))
    assert privatizer("Metformin, please").counts["in_lexicon"] >= 1


@pytest.mark.parametrize("name", sorted(registry))
def test_all_mechanisms_work_on_it(name: str) -> None:
    mechanism = registry[name](epsilon=12.0)
    base = cloud("poincare" if mechanism.needs == "poincare" else "euclidean", count=120)
    longer = base.extend(CLINICAL)
    if mechanism.needs == "graph":
        longer = longer.with_graph()
    drawn = mechanism.on(longer).substitute(np.arange(len(longer)), seeded_rng(1))
    assert drawn.shape == (125,)


# Stored lexicons.


def test_what_is_stored_opens_with_its_note(home: Path) -> None:
    terms = home / "terms.txt"
    terms.write_bytes("\ufeffMetformin\r\nfever\r\n\r\nclopidogrel\r\n".encode())
    stored, repairs = store_extended("base", terms, "clinical")
    opened = Lexicon.open("clinical")
    assert opened.words[40:] == ("metformin", "clopidogrel")
    assert opened.fingerprint == stored.fingerprint == cloud().extend(CLINICAL[:2]).fingerprint
    assert faults_of(repairs) == {FileFault.KNOWN: (2,), FileFault.BLANK: (3,)}
    (note,) = opened.made
    assert note.startswith(f"base (40 words, fingerprint {cloud().fingerprint}), with 2 words")
    about = store.load(home / "home/lexicons/clinical").meta
    assert list(about["sources"]) == ["terms.txt"]
    assert about["made"] == [note]
    longer, _ = store_subset("clinical", "few", keep=terms)
    assert longer.words == ("fever", "metformin", "clopidogrel")
    assert longer.made[0] == note
    assert longer.made[1].startswith("clinical (42 words, fingerprint ")
    assert longer.made[1].endswith("), of which 3 words were kept")


def test_strange_names_of_files_cannot_spoil_a_note(home: Path) -> None:
    terms, file = home / "te\x1b[31m\n.txt", home / "v\x07\u2028.vec"
    terms.write_text("metformin\n")
    vector_file(file, {"metformin": np.ones(8)})
    stored, _ = store_extended("base", terms, "clinical", vectors=file)
    assert "1 taken from v" in stored.made[0]
    assert stored.made[0].isprintable()
    assert Lexicon.open("clinical").made == stored.made


def test_a_note_that_is_no_list_of_plain_texts_is_refused(home: Path) -> None:
    about = home / "home/lexicons/base/lexicon.json"
    note = json.loads(about.read_text())
    for wrong in (["a\x1b[31mb"], [5], "\x07", 5, ["x" * 5000], {"a\x00": 1}):
        about.write_text(json.dumps(note | {"made": wrong}))
        with pytest.raises(LexiconError, match="not a complete compiled lexicon"):
            Lexicon.open("base")


@pytest.mark.parametrize(
    ("how", "listed", "expected"),
    [
        ("keep", "AAA_lit\nwarfarin\nFever\nfever\nnone\n\n", ("fever", "warfarin", "AAA_lit")),
        ("without", "Fever\naaa_lit\n", ("warfarin", "AAA_lit", "x")),
    ],
)
def test_a_subset_keeps_vectors_and_order(
    home: Path, how: str, listed: str, expected: tuple[str, ...]
) -> None:
    vectors = seeded_rng(3).normal(size=(5, 4)).astype(np.float32)
    words = ["fever", "warfarin", "aaa_lit", "AAA_lit", "x"]
    base = Lexicon(words, vectors, "angular")
    base.save(home / "home/lexicons/cased")
    (home / "list.txt").write_text(listed)
    part, repairs = store_subset("cased", "part", **{how: home / "list.txt"})  # type: ignore[arg-type]
    assert part.words == expected
    assert part.vectors.tobytes() == vectors[[words.index(word) for word in expected]].tobytes()
    assert str(part.metric) == "angular"
    if how == "keep":
        assert faults_of(repairs) == {FileFault.LACKING: (5,), FileFault.BLANK: (6,)}


def test_a_subset_needs_one_list_and_a_word(home: Path) -> None:
    every, none = home / "every.txt", home / "none.txt"
    every.write_text("\n".join(cloud().words))
    none.write_text("unknown\n")
    for path in (None, every):
        with pytest.raises(ParameterError, match="`keep`"):
            store_subset("base", "part", keep=path, without=path)
    with pytest.raises(LexiconError, match=r"No word of none\.txt is in the lexicon"):
        store_subset("base", "part", keep=none)
    with pytest.raises(LexiconError, match="none is left"):
        store_subset("base", "part", without=every)
    assert "part" not in store.imported()


# Files of words from strangers.


def read(path: Path) -> tuple[list[str | None], Repairs]:
    repairs = Repairs(path.name, strict=False, unit="line")
    return read_words(path, repairs), repairs


def as_latin(text: str) -> bytes:
    return text.encode("latin-1")


def as_utf16(text: str) -> bytes:
    return text.encode("utf-16")


@pytest.mark.parametrize("encode", [as_latin, as_utf16])
def test_lines_of_another_encoding_are_left_out(
    tmp_path: Path, encode: Callable[[str], bytes]
) -> None:
    path = tmp_path / "words.txt"
    path.write_bytes(encode("métformin\nfäver\n"))
    listed, repairs = read(path)
    with pytest.raises(LexiconError, match=r"words\.txt can be added: .*broken UTF-8"):
        extend(cloud(), listed, repairs=repairs)


def test_strange_lines_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    lines = [b"metformin", b"\x1b[31mred", b"a\x00b", b"\xff\xfe", "\u2028x".encode(), b"a\rb"]
    lines += [b"y" * 900_000, "\u0301".encode() * 200, b"\xed\xa0\x80", b"clopidogrel"]
    path.write_bytes(b"\n".join(lines))
    listed, repairs = read(path)
    assert len(listed) == len(lines)
    assert extend(cloud(), listed, repairs=repairs).words[40:] == ("metformin", "clopidogrel")
    assert repairs.by_fault[FileFault.ENCODING].first == (4, 9)
    assert repairs.count(FileFault.NO_WORD) == 6


def test_a_huge_line_and_a_damaged_archive_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_bytes(b"x" * ((1 << 20) + 1))
    with pytest.raises(LexiconError, match="more than 1,048,576 bytes"):
        read(path)
    packed = gzip.compress(b"metformin\n" * 1000)
    path.write_bytes(packed)
    assert len(read(path)[0]) == 1000
    path.write_bytes(packed[:-9])
    with pytest.raises(LexiconError, match="damaged or cut off"):
        read(path)
    with pytest.raises(LexiconError, match="cannot be read"):
        read(tmp_path)


def test_random_bytes_never_raise_anything_else(tmp_path: Path) -> None:
    rng, base = seeded_rng(7), cloud()
    path = tmp_path / "words.txt"
    samples = [
        "metformin\nfever\n",
        "ﬁbrosis\r\nＳＴＥＮＴ\n",
        "don’t\nb12\n12.5\n",
        "😀\n\u0301x\n",
    ]
    for _ in range(200):
        content = bytearray("".join(rng.choice(samples, 4)).encode())
        for place in rng.integers(0, len(content), 6):
            content[place] = rng.integers(0, 256)
        path.write_bytes(content)
        try:
            listed, repairs = read(path)
            longer = extend(base, listed, repairs=repairs)
        except LexiconError:
            continue
        known = WordMap(longer.words)
        new = longer.words[len(base) :]
        assert [known.lookup(word.upper()) or known.lookup(word) for word in new]
        assert all(known.lookup(word) == longer.index[word] for word in new)
        assert len(np.unique(longer.vectors, axis=0)) == len(longer)

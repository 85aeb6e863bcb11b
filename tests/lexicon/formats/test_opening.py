"""Every format is read as it was written."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from tests.lexicon.formats.samples import (
    VECTORS,
    WORDS,
    binary,
    check,
    glove,
    repaired,
    strict,
    vocabulary,
    word2vec,
    zipped,
)

from malaprop import seeded_rng
from malaprop.lexicon.formats import (
    FileFault,
    open_vector_file,
    read,
    recognise,
    screened_blocks,
    word_vectors,
)
from malaprop.privacy.errors import LexiconError

TEXTS = {
    "glove": glove(WORDS, VECTORS),
    "no last line feed": glove(WORDS, VECTORS)[:-1],
    "crlf": glove(WORDS, VECTORS, end="\r\n"),
    "tabs": glove(WORDS, VECTORS, gap="\t"),
    "two spaces": glove(WORDS, VECTORS, gap="  "),
    "byte order mark": b"\xef\xbb\xbf" + glove(WORDS, VECTORS),
    "word2vec": word2vec(WORDS, VECTORS),
    "word2vec crlf": word2vec(WORDS, VECTORS, end="\r\n").replace(b"\n", b"\r\n", 1),
    "fastText": word2vec(WORDS, VECTORS, end=" \n"),
    "fastText, no last line feed": word2vec(WORDS, VECTORS, end=" \n")[:-1],
}


@pytest.mark.parametrize("content", TEXTS.values(), ids=TEXTS.keys())
def test_text(tmp_path: Path, content: bytes) -> None:
    plain = tmp_path / "a.txt"
    plain.write_bytes(content)
    check(plain)
    packed = tmp_path / "a.txt.gz"
    packed.write_bytes(gzip.compress(content))
    check(packed)
    check(zipped(tmp_path / "a.zip", **{"a.txt": content, "__MACOSX/a.txt": b"x"}))


@pytest.mark.parametrize("end", [b"", b"\n"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_word2vec_binary(tmp_path: Path, end: bytes, pack: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "vectors"  # recognised without a suffix
    path.write_bytes(pack(binary(WORDS, VECTORS, end)))
    assert recognise(path) is word_vectors.Word2vecFile
    check(path)


def test_binary_rows_across_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("malaprop.lexicon.formats.word_vectors._BINARY_CHUNK", 5)
    monkeypatch.setattr("malaprop.lexicon.formats.word_vectors.LONGEST_WORD", 20)
    path = tmp_path / "a.bin"
    path.write_bytes(binary(WORDS, VECTORS, b"\n"))
    check(path)


def test_text_rows_across_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_vectors, "CHUNK", 10)
    path = tmp_path / "a.txt"
    path.write_bytes(word2vec(WORDS, VECTORS) + b"new york 1 2 3\n")
    words, repairs = repaired(path)
    assert tuple(words) == WORDS
    assert repairs.by_fault[FileFault.SPACES].first == (len(WORDS) + 2,)


@pytest.mark.parametrize("dtype", ["<f4", ">f4", "<f8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_npy(tmp_path: Path, dtype: str, order: Any) -> None:
    np.save(tmp_path / "a.npy", np.asarray(VECTORS.astype(dtype), order=order))
    beside = vocabulary(tmp_path)
    check(tmp_path / "a.npy")
    check(tmp_path / "a.npy", beside)
    beside.write_bytes(beside.read_bytes().replace(b"\n", b"\r\n"))
    check(tmp_path / "a.npy", beside)


def test_safetensors(tmp_path: Path) -> None:
    numpy = pytest.importorskip("safetensors.numpy")
    path = tmp_path / "a.safetensors"
    numpy.save_file({"embeddings": VECTORS, "bias": VECTORS[0]}, path)
    vocabulary(tmp_path)
    check(path)
    numpy.save_file({"a": VECTORS, "b": VECTORS}, path)
    assert "2 matrices" in strict(path)
    numpy.save_file({"a": VECTORS.astype(np.int64)}, path)
    assert "I64" in strict(path)
    path.write_bytes(path.read_bytes()[:-9])
    assert "not a complete .safetensors" in strict(path)


def test_matrix_errors(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    np.save(path, VECTORS)
    assert "no words" in strict(path)
    vocabulary(tmp_path, b"a\nb\n")
    assert "2 lines" in strict(path)
    with pytest.raises(LexiconError, match="7 rows"):
        repaired(path)  # no repair: the rest would be shifted
    np.save(path, VECTORS[0])
    assert "(3,)" in strict(path)
    np.save(path, np.array([["a"]]))
    assert "not real numbers" in strict(path)
    np.save(path, VECTORS)
    path.write_bytes(path.read_bytes()[:-1])
    assert "not a complete .npy" in strict(path)
    np.save(path, np.array([[None]]), allow_pickle=True)
    assert "not real numbers" in strict(path)
    path.write_bytes(b"nothing\nof the kind\n")
    assert "not a complete .npy" in strict(path)  # recognised by its suffix


def test_matrix_faults(tmp_path: Path) -> None:
    vectors = VECTORS.astype(np.float64)
    vectors[6, 1] = 1e39
    np.save(tmp_path / "a.npy", vectors)
    vocabulary(tmp_path, b"a\n\n\xff\nnew york\na\nb\nc\n")
    file = open_vector_file(tmp_path / "a.npy", strict=False)
    with pytest.raises(LexiconError, match="5 of 7 rows"):
        list(screened_blocks(file))
    assert {fault: repair.first for fault, repair in file.repairs.by_fault.items()} == {
        FileFault.EMPTY: (2,),
        FileFault.ENCODING: (3,),
        FileFault.SPACES: (4,),
        FileFault.DUPLICATE: (5,),
        FileFault.NOT_FINITE: (7,),
    }


# Each fault with the file that has it, its line, and the words that an import keeps of a, b, c.


def test_vocabulary_for_a_file_with_words(tmp_path: Path) -> None:
    path = vocabulary(tmp_path, glove(WORDS, VECTORS))
    with pytest.raises(LexiconError, match="words of its own"):
        read(path, vocabulary=path)


def test_messages_never_quote_rows(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    for content in (b"a 1 2\nsecret x y\n", b"a 1 2\nsecret 1\n", b"a 1 2\nsecret\xff 1 2\n"):
        path.write_bytes(content)
        assert "secret" not in strict(path)


words_of_any_kind = st.lists(
    st.text(
        st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"], exclude_characters=" \ufeff"),
        min_size=1,
        max_size=8,
    ),
    min_size=1,
    max_size=12,
    unique=True,
)


def _could_be_text(vector: NDArray[np.float32]) -> bool:
    """Tell whether the few bytes of a vector might be read as numbers at the end of a line."""
    content = vector.tobytes()
    return content.isascii() or len(content.split()) != 1 or content.strip() != content


def test_a_digit_at_the_end_of_a_line_makes_no_text_of_a_binary_file(tmp_path: Path) -> None:
    vectors = seeded_rng(1).normal(size=(20, 16)).astype(np.float32)
    vectors[2, 3] = np.frombuffer(b" 8\n\x3d", dtype=np.float32)[0]
    words = tuple(f"w{i}" for i in range(20))
    path = tmp_path / "a"
    path.write_bytes(binary(words, vectors, b"\n"))
    assert read(path)[0] == words
    np.testing.assert_array_equal(read(path)[1], vectors)


@settings(max_examples=60, deadline=None)
@given(st.data(), words_of_any_kind, st.integers(1, 4))
def test_round_trip(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, listed: list[str], size: int
) -> None:
    numbers = st.floats(width=32, allow_nan=False, allow_infinity=False)
    vectors = data.draw(arrays(np.float32, (len(listed), size), elements=numbers))
    words = tuple(listed)
    path = tmp_path_factory.mktemp("round") / "a"
    contents = [glove(words, vectors), word2vec(words, vectors, " \n")]
    if not any(map(_could_be_text, vectors)):
        contents += [binary(words, vectors), binary(words, vectors, b"\n")]
    for content in contents:
        path.write_bytes(content)
        assert read(path)[0] == words
        np.testing.assert_array_equal(read(path)[1], vectors)


@settings(max_examples=40, deadline=None)
@given(arrays(np.float64, (6, 3), elements=st.floats(-1e30, 1e30)))
def test_values_do_not_depend_on_the_way_of_parsing(
    tmp_path_factory: pytest.TempPathFactory, values: NDArray[np.float64]
) -> None:
    """A faulty row sends its block to the slow parser, which must read the others alike."""
    rows = "".join(f"w{i} {' '.join(map(repr, v.tolist()))}\n" for i, v in enumerate(values))
    path = tmp_path_factory.mktemp("both") / "a.txt"
    path.write_text(rows)
    (fast,) = screened_blocks(open_vector_file(path, strict=False))
    path.write_text(rows + "faulty x y z\n")
    (slow,) = screened_blocks(open_vector_file(path, strict=False))
    assert fast.words == slow.words
    np.testing.assert_array_equal(fast.vectors.view(np.int32), slow.vectors.view(np.int32))

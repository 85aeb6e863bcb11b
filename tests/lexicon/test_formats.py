"""Every format is read as it was written; every fault is refused by name and number."""

from __future__ import annotations

import gzip
import os
import pickle
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from malaprop.core.errors import LexiconError, MissingExtraError
from malaprop.lexicon.formats import open_table, read, screened, text
from malaprop.lexicon.formats.recognise import Format, recognise
from malaprop.lexicon.formats.repairs import Fault, Repairs

WORDS = ("the", "naïve", "catch22", "NA", "7", "nan", "東京")
VECTORS = np.random.default_rng(7).normal(size=(len(WORDS), 3)).astype(np.float32)

Floats = NDArray[np.float32]


def glove(words: tuple[str, ...], vectors: Floats, end: str = "\n", gap: str = " ") -> bytes:
    rows = (
        gap.join([word, *(repr(float(x)) for x in v)])
        for word, v in zip(words, vectors, strict=True)
    )
    return "".join(row + end for row in rows).encode()


def word2vec(words: tuple[str, ...], vectors: Floats, end: str = "\n") -> bytes:
    return b"%d %d\n" % vectors.shape + glove(words, vectors, end)


def binary(words: tuple[str, ...], vectors: Floats, end: bytes = b"") -> bytes:
    rows = (
        word.encode() + b" " + v.astype("<f4").tobytes() + end
        for word, v in zip(words, vectors, strict=True)
    )
    return b"%d %d\n" % vectors.shape + b"".join(rows)


def zipped(path: Path, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def check(path: Path, vocabulary: Path | None = None) -> None:
    words, vectors = read(path, vocabulary=vocabulary)
    assert words == WORDS
    assert vectors.dtype == np.float32
    assert not vectors.flags.writeable
    np.testing.assert_array_equal(vectors, VECTORS)


def strict(path: Path) -> str:
    with pytest.raises(LexiconError) as caught:
        read(path)
    return str(caught.value)


def repaired(path: Path, metric: str = "euclidean") -> tuple[list[str], Repairs]:
    table = open_table(path, strict=False)
    return [w for block in screened(table, metric=metric) for w in block.words], table.repairs


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
    assert recognise(path) is Format.WORD2VEC
    check(path)


def test_binary_rows_across_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("malaprop.lexicon.formats.word2vec.CHUNK", 5)
    monkeypatch.setattr("malaprop.lexicon.formats.word2vec.LONGEST_WORD", 20)
    path = tmp_path / "a.bin"
    path.write_bytes(binary(WORDS, VECTORS, b"\n"))
    check(path)


def test_text_rows_across_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "CHUNK", 10)
    path = tmp_path / "a.txt"
    path.write_bytes(word2vec(WORDS, VECTORS) + b"new york 1 2 3\n")
    words, repairs = repaired(path)
    assert tuple(words) == WORDS
    assert repairs.found[Fault.SPACES].first == (len(WORDS) + 2,)


def keyed_vectors() -> Any:
    gensim = pytest.importorskip("gensim.models")
    keyed = gensim.KeyedVectors(vector_size=3)
    keyed.add_vectors(list(WORDS), VECTORS)
    return keyed


@pytest.mark.parametrize("is_binary", [False, True])
def test_what_gensim_writes(tmp_path: Path, is_binary: bool) -> None:
    path = tmp_path / "a"
    keyed_vectors().save_word2vec_format(str(path), binary=is_binary)
    check(path)


@pytest.mark.parametrize("separately", [[], ["vectors"]])
def test_keyed_vectors(tmp_path: Path, separately: list[str]) -> None:
    path = tmp_path / "a.kv"
    keyed_vectors().save(str(path), separately=separately)
    check(path)
    assert len(open_table(path).files) == 1 + len(separately)


def test_keyed_vectors_without_their_array(tmp_path: Path) -> None:
    path = tmp_path / "a.kv"
    keyed_vectors().save(str(path), separately=["vectors"])
    (tmp_path / "a.kv.vectors.npy").unlink()
    assert "a file beside it is missing: a.kv.vectors.npy" in strict(path)


def test_large_keyed_vectors(tmp_path: Path) -> None:
    """gensim itself puts an array of more than 10 million numbers beside the pickle."""
    gensim = pytest.importorskip("gensim.models")
    path = tmp_path / "a.kv"
    keyed = gensim.KeyedVectors(vector_size=1100)
    keyed.add_vectors([str(i) for i in range(10_000)], np.ones((10_000, 1100), np.float32))
    keyed.save(str(path))
    assert (tmp_path / "a.kv.vectors.npy").exists()
    table = open_table(path)
    assert (table.total, table.dimension) == (10_000, 1100)


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("dtype", ["<f4", ">f4", "<f8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_keyed_vectors_of_any_protocol(
    tmp_path: Path, protocol: int, dtype: str, order: Any
) -> None:
    keyed = keyed_vectors()
    keyed.vectors = np.asarray(VECTORS.astype(dtype), order=order)
    path = tmp_path / "a.kv"
    path.write_bytes(pickle.dumps(keyed, protocol))
    check(path)


@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_keys_that_numpy_wrote_or_that_are_numbers(tmp_path: Path, protocol: int) -> None:
    keyed = keyed_vectors()
    keyed.index_to_key = [*np.array(WORDS[:3]), "NA", np.int64(-7), 12, np.str_("東京")]
    path = tmp_path / "a.kv"
    path.write_bytes(pickle.dumps(keyed, protocol))
    assert read(path).words == (*WORDS[:3], "NA", "-7", "12", "東京")
    keyed.index_to_key[0] = None
    path.write_bytes(pickle.dumps(keyed, protocol))
    assert "it was not run" in strict(path)


@pytest.mark.parametrize("protocol", [2, 4])
def test_keyed_vectors_of_older_gensim(tmp_path: Path, protocol: int) -> None:
    gensim = pytest.importorskip("gensim.models.keyedvectors")
    old = gensim.KeyedVectors.__new__(gensim.KeyedVectors)
    entries = {word: gensim.CompatVocab(index=i, count=9) for i, word in enumerate(WORDS)}
    old.__dict__.update(vocab=entries, index2word=list(WORDS), syn0=VECTORS)
    path = tmp_path / "a.kv"
    path.write_bytes(pickle.dumps(old, protocol))
    check(path)


def test_whole_models(tmp_path: Path) -> None:
    gensim = pytest.importorskip("gensim.models")
    model = gensim.Word2Vec([list(WORDS)], vector_size=3, min_count=1, workers=1)
    path = tmp_path / "a.model"
    model.save(str(path))
    words, vectors = read(path)
    assert words == tuple(model.wv.index_to_key)
    np.testing.assert_array_equal(vectors, model.wv.vectors)
    model.save(str(path), sep_limit=1)
    assert {file.name for file in open_table(path).files} == {"a.model", "a.model.wv.vectors.npy"}
    np.testing.assert_array_equal(read(path).vectors, model.wv.vectors)


def test_fasttext_of_gensim_has_no_vectors_of_words(tmp_path: Path) -> None:
    gensim = pytest.importorskip("gensim.models")
    model = gensim.FastText([list(WORDS)], vector_size=3, min_count=1, workers=1, bucket=50)
    path = tmp_path / "a.model"
    model.save(str(path))
    assert "save_word2vec_format" in strict(path)
    model.wv.save(str(path))
    assert "save_word2vec_format" in strict(path)


def test_gensim_is_not_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.kv"
    keyed_vectors().save(str(path))
    for module in [name for name in sys.modules if name.partition(".")[0] == "gensim"]:
        monkeypatch.setitem(sys.modules, module, None)
    check(path)


class Bomb:
    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, ("bomb",)


def test_pickles_of_other_things_are_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("gensim")
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "a.kv"
    path.write_bytes(pickle.dumps(Bomb(), protocol=4))
    assert "it was not run" in strict(path)
    assert not (tmp_path / "bomb").exists()


def test_a_missing_extra_names_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "safetensors", None)
    path = tmp_path / "a"
    path.write_bytes(b"\x02" + bytes(7) + b"{}")
    with pytest.raises(MissingExtraError, match=r"pip install 'malaprop\[safetensors\]'"):
        open_table(path)


def vocabulary(folder: Path, content: bytes = "\n".join(WORDS).encode() + b"\n") -> Path:
    path = folder / "a.txt"
    path.write_bytes(content)
    return path


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
    assert "no whole .safetensors" in strict(path)


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
    assert "no real numbers" in strict(path)
    np.save(path, VECTORS)
    path.write_bytes(path.read_bytes()[:-1])
    assert "no whole .npy" in strict(path)
    np.save(path, np.array([[None]]), allow_pickle=True)
    assert "no real numbers" in strict(path)
    path.write_bytes(b"nothing\nof the kind\n")
    assert "no whole .npy" in strict(path)  # recognised by its suffix


def test_matrix_faults(tmp_path: Path) -> None:
    vectors = VECTORS.astype(np.float64)
    vectors[6, 1] = 1e39
    np.save(tmp_path / "a.npy", vectors)
    vocabulary(tmp_path, b"a\n\n\xff\nnew york\na\nb\nc\n")
    table = open_table(tmp_path / "a.npy", strict=False)
    with pytest.raises(LexiconError, match="5 of 7 rows"):
        list(screened(table))
    assert {kind: found.first for kind, found in table.repairs.found.items()} == {
        Fault.EMPTY: (2,),
        Fault.ENCODING: (3,),
        Fault.SPACES: (4,),
        Fault.DUPLICATE: (5,),
        Fault.NOT_FINITE: (7,),
    }


# Each fault with the file that has it, its line, and the words that an import keeps of a, b, c.
FAULTS: list[tuple[Fault, bytes, int, str]] = [
    (Fault.SPACES, b"a 1 2\nnew york 3 4\nb 5 6\nc 7 8\n", 2, "abc"),
    (Fault.SPACES, b"new york 3 4\na 1 2\nb 5 6\nc 7 8\n", 1, "abc"),
    (Fault.SPACES, b"4 2\nnew york 3 4\na 1 2\nb 5 6\nc 7 8\n", 2, "abc"),
    (Fault.SPACES, b"a 1 2\n b 3 4\nc 5 6\n", 2, "ac"),
    (Fault.DUPLICATE, b"a 1 2\nb 3 4\na 5 6\nc 7 8\n", 3, "abc"),
    (Fault.BLANK, b"a 1 2\n\nb 3 4\nc 5 6\n", 2, "abc"),
    (Fault.BLANK, b"\n3 2\na 1 2\nb 3 4\nc 5 6\n", 1, "abc"),
    (Fault.BLANK, b"a 1 2\nb 3 4\nc 5 6\n \t\r\n", 4, "abc"),
    (Fault.NOT_FINITE, b"a 1 2\nb nan 4\nc 5 6\n", 2, "ac"),
    (Fault.NOT_FINITE, b"a 1 2\nb 3 4\nc 5 -inf\n", 3, "ab"),
    (Fault.NOT_FINITE, b"a 1 2\nb 3 4\nc 1e39 6\n", 3, "ab"),
    (Fault.NOT_FINITE, b"a 1 2\nb 3 4\nc 1e999 6\n", 3, "ab"),
    (Fault.RAGGED, b"a 1 2\nb 3\nc 5 6\n", 2, "ac"),
    (Fault.RAGGED, b"a 1 2\nb 3 4 5\nc 5 6\n", 2, "ac"),
    (Fault.RAGGED, b"a 1 2\nb\nc 5 6\n", 2, "ac"),
    (Fault.RAGGED, b"2 2 2\na 1\nb 1\nc 1\n", 1, "abc"),
    (Fault.NUMBER, b"a 1 2\nb 3 x\nc 5 6\n", 2, "ac"),
    (Fault.NUMBER, b"a 1 2\nb 3 1_0\nc 5 6\n", 2, "ac"),
    (Fault.NUMBER, b"a 1 2\nb 3 0,5\nc 5 6\n", 2, "ac"),
    (Fault.ENCODING, b"a 1 2\nb\xff 3 4\nc 5 6\n", 2, "ac"),
    (Fault.ENCODING, b"a 1 2\nb\xed\xa0\x80 3 4\nc 5 6\n", 2, "ac"),
    (Fault.EMPTY, b"a 1 2\n 3 4\nc 5 6\n", 2, "ac"),
    (Fault.LONG, b"a 1 2\n" + b"b" * 4097 + b" 3 4\nc 5 6\n", 2, "ac"),
    (Fault.CONTROL, b"a 1 2\nb\x01 3 4\nc 5 6\n", 2, "ac"),
    (Fault.CONTROL, b"a 1 2\nb\0 3 4\nc 5 6\n", 2, "ac"),
    (Fault.CONTROL, b"a 1 2\nx\ry 3 4\nc 5 6\n", 2, "ac"),
    (Fault.CONTROL, b"a 1 2\nb\xc2\x85 3 4\nc 5 6\n", 2, "ac"),
    (Fault.CONTROL, b"a 1 2\nb\xe2\x80\xa8 3 4\nc 5 6\n", 2, "ac"),
    (Fault.ROWS, b"2 2\na 1 2\nb 3 4\nc 5 6\n", 1, "abc"),
    (Fault.ROWS, b"4 2\na 1 2\nb 3 4\nc 5 6\n", 1, "abc"),
    (Fault.DIMENSION, b"3 3\na 1 2\nb 3 4\nc 5 6\n", 1, "abc"),
    (Fault.DIMENSION, b"3 1\na 1 2\nb 3 4\nc 5 6\n", 1, "abc"),
]


@pytest.mark.parametrize(("fault", "content", "line", "kept"), FAULTS)
def test_faults_of_text(tmp_path: Path, fault: Fault, content: bytes, line: int, kept: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(content)
    message = strict(path)
    assert f"a.txt, line {line}: {fault}" in message
    assert "malaprop lexicon import" in message
    words, repairs = repaired(path)
    assert words == list(kept)
    assert {kind: (found.count, found.first) for kind, found in repairs.found.items()} == {
        fault: (1, (line,))
    }


def test_no_fault(tmp_path: Path) -> None:
    """A number for a word, a no-break space and one dimension are all right."""
    path = tmp_path / "a.txt"
    path.write_bytes(b"5 3\n6 4\n7 5\n")
    assert read(path).words == ("5", "6", "7")
    path.write_bytes(b"2 1\n6 4\n7 5\n")
    assert read(path).words == ("6", "7")  # a header: the next row has as many columns
    path.write_bytes("a\xa0b 1 2\n".encode())
    assert read(path).words == ("a\xa0b",)


def test_the_first_good_row_of_a_word_stays(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"a nan 2\na 3 4\na 5 6\nb 7 8\n")
    table = open_table(path, strict=False)
    (block,) = screened(table)
    np.testing.assert_array_equal(block.vectors, [[3, 4], [7, 8]])
    assert table.repairs.dropped == 2


def test_zero_vectors_are_faults_where_direction_matters(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"a 1 2\nb 0 -0\nc 5 6\n")
    assert read(path).words == ("a", "b", "c")
    words, repairs = repaired(path, "angular")
    assert words == ["a", "c"]
    assert repairs.found[Fault.ZERO].first == (2,)
    with pytest.raises(LexiconError, match="line 2: zero vector"):
        read(path, metric="angular")


BINARY = binary(("a", "b", "c"), VECTORS[:3])


@pytest.mark.parametrize(
    ("content", "row", "faults", "kept"),
    [
        (BINARY[:-1], 3, {Fault.TRUNCATED: (3,), Fault.ROWS: (1,)}, "ab"),
        (BINARY.replace(b"3 3", b"2 3"), 1, {Fault.ROWS: (1,)}, "abc"),
        (BINARY.replace(b"3 3", b"4 3"), 1, {Fault.ROWS: (1,)}, "abc"),
        (BINARY.replace(b"b ", b"\xff "), 2, {Fault.ENCODING: (2,)}, "ac"),
        (BINARY.replace(b"b ", b"a "), 2, {Fault.DUPLICATE: (2,)}, "ac"),
        (BINARY.replace(b"b ", b" "), 2, {Fault.EMPTY: (2,)}, "ac"),
        (BINARY[:-4] + b"\0\0\xc0\x7f", 3, {Fault.NOT_FINITE: (3,)}, "ab"),
        (BINARY + b"x" * 100, 4, {Fault.TRUNCATED: (4,)}, "abc"),
    ],
)
def test_faults_of_binary(
    tmp_path: Path, content: bytes, row: int, faults: dict[Fault, tuple[int]], kept: str
) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(content)
    assert f"row {row}: " in strict(path)
    words, repairs = repaired(path)
    assert words == list(kept)
    assert {kind: found.first for kind, found in repairs.found.items()} == faults


def test_binary_that_is_no_rows_is_not_read_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("malaprop.lexicon.formats.word2vec.CHUNK", 50)
    monkeypatch.setattr("malaprop.lexicon.formats.word2vec.LONGEST_WORD", 20)
    path = tmp_path / "a.bin"
    path.write_bytes(BINARY + b"x" * 10_000)
    table = open_table(path, strict=False)
    assert [word for block in table.blocks for word in block.words] == ["a", "b", "c"]
    assert table.repairs.found[Fault.TRUNCATED].first == (4,)


def test_keyed_vectors_faults(tmp_path: Path) -> None:
    gensim = pytest.importorskip("gensim.models")
    keyed = gensim.KeyedVectors(vector_size=3)
    keyed.add_vectors(["a", "new york", "\ud800", "", "b", "c", "d"], VECTORS)
    keyed.save(str(tmp_path / "a.kv"))
    assert "row 2: word with spaces" in strict(tmp_path / "a.kv")
    words, repairs = repaired(tmp_path / "a.kv")
    assert words == ["a", "b", "c", "d"]
    assert set(repairs.found) == {Fault.SPACES, Fault.CONTROL, Fault.EMPTY}


@pytest.mark.parametrize("content", [b"", b"\n \n\n", gzip.compress(b"", mtime=0)])
def test_empty_files_are_errors_everywhere(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(content)
    assert "is empty" in strict(path)
    with pytest.raises(LexiconError, match="is empty"):
        repaired(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"2 2\n", "no row"),
        (b"a nan nan\n", "no row"),
        (b"a 1 2\nb nan 2\nc 1 inf\n", "2 of 3 rows are faulty .most: NaN"),
        (b"Dear reader,\nthis is prose.\n", "in no form that can be read"),
        (bytes(range(256)), "in no form that can be read"),
    ],
)
def test_what_cannot_be_repaired(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(content)
    assert strict(path)
    with pytest.raises(LexiconError, match=message):
        repaired(path)


def test_half_of_the_rows_is_enough(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"a 1 2\nb nan 2\n")
    assert repaired(path)[0] == ["a"]


def test_damaged_archives(tmp_path: Path) -> None:
    content = word2vec(tuple(map(str, range(9000))), np.ones((9000, 3), np.float32))
    packed = gzip.compress(content)
    path = tmp_path / "a.gz"
    flipped = bytearray(packed)
    flipped[-5] ^= 1  # in the checksum: all rows are read before it is seen
    for broken in (packed[:-12], packed[:-1], bytes(flipped), packed[:30]):
        path.write_bytes(broken)
        assert "damaged or cut off" in strict(path)
        with pytest.raises(LexiconError, match="damaged or cut off"):
            repaired(path)
    whole = zipped(tmp_path / "a.zip", **{"a.txt": content}).read_bytes()
    for broken in (whole[:-30], whole[:60] + b"\xff" * 20 + whole[80:]):
        path.write_bytes(broken)
        assert "damaged or cut off" in strict(path)


def test_archives_that_are_not_one_file(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", a=b"a 1\n", b=b"a 1\n")
    assert "holds 2 files" in strict(path)
    np.savez(tmp_path / "a.npz", a=VECTORS)
    assert "unpack it first" in strict(tmp_path / "a.npz")
    content = bytearray(zipped(path, a=b"a 1\n").read_bytes())
    content[content.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(content)
    assert "encrypted" in strict(path)


def test_files_that_cannot_be_opened(tmp_path: Path) -> None:
    assert "No such file" in strict(tmp_path / "a.txt")
    assert "cannot be read" in strict(tmp_path)


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
    if not vectors.tobytes().isascii():  # else the few bytes may be a row of text as well
        contents += [binary(words, vectors), binary(words, vectors, b"\n")]
    for content in contents:
        path.write_bytes(content)
        again = read(path)
        assert again.words == words
        np.testing.assert_array_equal(again.vectors, vectors)


@settings(max_examples=40, deadline=None)
@given(arrays(np.float64, (6, 3), elements=st.floats(-1e30, 1e30)))
def test_values_do_not_depend_on_the_way_of_parsing(
    tmp_path_factory: pytest.TempPathFactory, values: NDArray[np.float64]
) -> None:
    """A faulty row sends its block to the slow parser, which must read the others alike."""
    rows = "".join(f"w{i} {' '.join(map(repr, v.tolist()))}\n" for i, v in enumerate(values))
    path = tmp_path_factory.mktemp("both") / "a.txt"
    path.write_text(rows)
    (fast,) = screened(open_table(path, strict=False))
    path.write_text(rows + "faulty x y z\n")
    (slow,) = screened(open_table(path, strict=False))
    assert fast.words == slow.words
    np.testing.assert_array_equal(fast.vectors.view(np.int32), slow.vectors.view(np.int32))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(["good", "blank", "spaces", "ragged"]), min_size=1, max_size=120))
def test_faults_are_found_among_many_lines(
    tmp_path_factory: pytest.TempPathFactory, kinds: list[str]
) -> None:
    """Chunks are halved until their faults are found: no line is lost, and none renumbered."""
    rows = {"good": "w{} 1 2\n", "blank": "\n", "spaces": "w{} x 1 2\n", "ragged": "w{} 1\n"}
    kinds = ["good"] * 10 + kinds  # the first lines settle the dimension
    path = tmp_path_factory.mktemp("many") / "a.txt"
    header = f"{len(kinds) - kinds.count('blank')} 2\n"
    path.write_text(header + "".join(rows[kind].format(i) for i, kind in enumerate(kinds, 2)))
    table = open_table(path, strict=False)
    found = [row for b in table.blocks for row in zip(b.numbers, b.words, strict=True)]
    assert found == [(i, f"w{i}") for i, kind in enumerate(kinds, 2) if kind == "good"]
    for kind, fault in (("blank", Fault.BLANK), ("spaces", Fault.SPACES), ("ragged", Fault.RAGGED)):
        assert table.repairs.count(fault) == kinds.count(kind)
    assert Fault.ROWS not in table.repairs.found

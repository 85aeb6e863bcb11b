"""gensim's files are read as plain data, without gensim."""

from __future__ import annotations

import os
import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.lexicon.formats.samples import (
    VECTORS,
    WORDS,
    check,
    keyed_vectors,
    repaired,
    strict,
)

from malaprop.lexicon.formats.opening import open_vector_file, read
from malaprop.lexicon.formats.repairs import FileFault


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
    assert len(open_vector_file(path).files) == 1 + len(separately)


def test_keyed_vectors_without_their_array(tmp_path: Path) -> None:
    path = tmp_path / "a.kv"
    keyed_vectors().save(str(path), separately=["vectors"])
    (tmp_path / "a.kv.vectors.npy").unlink()
    assert "put a.kv.vectors.npy beside it" in strict(path)


def test_large_keyed_vectors(tmp_path: Path) -> None:
    """gensim itself puts an array of more than 10 million numbers beside the pickle."""
    gensim = pytest.importorskip("gensim.models")
    path = tmp_path / "a.kv"
    keyed = gensim.KeyedVectors(vector_size=1100)
    keyed.add_vectors([str(i) for i in range(10_000)], np.ones((10_000, 1100), np.float32))
    keyed.save(str(path))
    assert (tmp_path / "a.kv.vectors.npy").exists()
    file = open_vector_file(path)
    assert (file.total, file.dimension) == (10_000, 1100)


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
    assert {file.name for file in open_vector_file(path).files} == {
        "a.model",
        "a.model.wv.vectors.npy",
    }
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


def test_keyed_vectors_faults(tmp_path: Path) -> None:
    gensim = pytest.importorskip("gensim.models")
    keyed = gensim.KeyedVectors(vector_size=3)
    keyed.add_vectors(["a", "new york", "\ud800", "", "b", "c", "d"], VECTORS)
    keyed.save(str(tmp_path / "a.kv"))
    assert "row 2: word with spaces" in strict(tmp_path / "a.kv")
    words, repairs = repaired(tmp_path / "a.kv")
    assert words == ["a", "b", "c", "d"]
    assert set(repairs.by_fault) == {FileFault.SPACES, FileFault.CONTROL, FileFault.EMPTY}

"""Readers of word vectors, on small files in the packages' own formats."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.lab.datasets import serving
from tests.lab.datasets.serving import Write, described

from malaprop import DataError
from malaprop.lab.datasets import WordVectors, add, load

Read = Callable[..., WordVectors]
WORDS = ["the", "[", '"', "é"]
VECTORS = np.arange(8, dtype=np.float32).reshape(4, 2) / 8.0

pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture
def read(write_catalogue: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Read:
    """Keep files as a data set, and load it with a reader."""

    def read(reader: str, files: dict[str, bytes], **options: Any) -> Any:
        listed = [described(name, content) for name, content in files.items()]
        monkeypatch.setitem(serving.ENTRIES, "like", {"reader": reader, "options": options})
        write_catalogue("small", listed, "like", page="https://owner.example")
        for name, content in files.items():
            (tmp_path / name).write_bytes(content)
            add([tmp_path / name])
        return load("small")

    return read


def wink(words: list[str], rows: list[list[float]]) -> dict[str, bytes]:
    """Return a file as winkNLP's package has it: compact, with a vector for unknown words."""
    vectors = dict(zip(words, rows, strict=True))
    unknown = [0.0] * (len(rows[0]) - 1) + [-1]
    whole = {"size": len(words), "words": words, "vectors": vectors, "unkVector": unknown}
    text = json.dumps(whole, separators=(",", ":"), ensure_ascii=False)
    return {"vectors.json": text.encode()}


def rows_of(vectors: Any) -> list[list[float]]:
    """Return the numbers of each word, its norm, and its place."""
    return [[*map(float, row), 1.5, place] for place, row in enumerate(vectors)]


def test_words_that_are_brackets_and_quotes_keep_their_vectors(read: Read) -> None:
    data = read("wink-vectors", wink(WORDS, rows_of(VECTORS)), dimension=2)
    assert data.words == tuple(WORDS)
    np.testing.assert_array_equal(data.vectors, VECTORS)
    assert repr(data) == "WordVectors('small', 4 × 2)"


def test_rows_go_by_the_place_that_they_state(read: Read) -> None:
    shuffled = rows_of(VECTORS)[::-1]
    data = read("wink-vectors", wink(WORDS, shuffled), dimension=2)
    np.testing.assert_array_equal(data.vectors, VECTORS)


@pytest.mark.parametrize("fault", ["short", "beyond", "twice", "no words"])
def test_another_edition_is_told(fault: str, read: Read) -> None:
    rows = rows_of(VECTORS)
    if fault == "short":
        del rows[2][0]
    elif fault != "no words":
        rows[2][-1] = {"beyond": 4, "twice": 1}[fault]
    files = wink(WORDS, rows)
    if fault == "no words":
        files = {"vectors.json": b'{"vectors":{"a":[1,2,3,0]}}'}
    with pytest.raises(DataError, match="another edition"):
        read("wink-vectors", files, dimension=2)


def npy(words: list[str], vectors: Any) -> dict[str, bytes]:
    """Return a matrix, and its words in a column."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    matrix, listed = io.BytesIO(), io.BytesIO()
    np.save(matrix, vectors)
    pq.write_table(pa.table({"index": words}), listed)
    return {"vectors.npy": matrix.getvalue(), "words.parquet": listed.getvalue()}


def test_a_matrix_with_its_words_becomes_a_lexicon(read: Read) -> None:
    data = read("npy-vectors", npy(WORDS, VECTORS), column="index")
    assert len(data) == 4
    lexicon = data.lexicon(["é", "unknown", "the"])
    assert lexicon.words == ("é", "the")
    np.testing.assert_array_equal(lexicon.vectors, VECTORS[[3, 0]])


def test_a_matrix_of_other_words_is_refused(read: Read) -> None:
    with pytest.raises(DataError, match="a vector for each word"):
        read("npy-vectors", npy(WORDS[:3], VECTORS), column="index")

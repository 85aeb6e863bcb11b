"""Texts as private centroids: rows in order, the guarantee, and what is refused."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from malaprop import (
    DataError,
    Laplace,
    Lexicon,
    Mahalanobis,
    MetricError,
    ParameterError,
    PrivEmb,
    embed_files,
    seeded_rng,
)
from malaprop.centroids import Centroids

WORDS = ["cold", "cool", "warm", "hot", "rain", "snow"]
VECTORS = seeded_rng(1).normal(size=(6, 4)).astype(np.float32)
TINY = Lexicon(WORDS, VECTORS)
NEAR = Laplace(epsilon=1e5)
TEXTS = ["Cold rain, cold snow.", "hot", "", "!!!", "Warm cool WARM"]
TRUE = np.array(
    [
        (2 * VECTORS[0] + VECTORS[4] + VECTORS[5]) / 4,
        VECTORS[3],
        np.zeros(4),
        np.zeros(4),
        (2 * VECTORS[2] + VECTORS[1]) / 3,
    ]
)


def write(path: Path) -> str | None:
    """Write the texts; return the column that holds them."""
    match path.suffix:
        case ".txt":
            path.write_text("\n".join(TEXTS) + "\n")
            return None
        case ".jsonl":
            path.write_text("".join(json.dumps({"id": 1, "t": text}) + "\n" for text in TEXTS))
        case ".csv":
            # An empty field is no text: nobody can tell it from a missing one.
            path.write_text("id,t\n" + "".join(f'1,"{text or "-"}"\n' for text in TEXTS))
        case _:
            pq.write_table(pa.table({"t": TEXTS, "id": range(5)}), path)
    return "t"


@pytest.mark.parametrize("name", ["x.txt", "x.jsonl", "x.csv", "x.parquet"])
@pytest.mark.parametrize("ending", ["npy", "npz", "safetensors"])
def test_a_row_for_each_text_in_order(tmp_path: Path, name: str, ending: str) -> None:
    column = write(tmp_path / name)
    target = tmp_path / f"y.{ending}"
    done = embed_files(tmp_path / name, target, mechanism=NEAR, lexicon=TINY, column=column)
    if ending == "safetensors":
        from safetensors.numpy import load_file

        found = load_file(target)["vectors"]
    else:
        loaded = np.load(target)
        found = loaded["vectors"] if ending == "npz" else loaded
    np.testing.assert_allclose(found, TRUE, atol=0.01)
    assert found.dtype == np.float32
    assert done.texts is not None
    assert (done.rows, done.texts.words, done.texts.wordless) == (5, 8, 2)


def test_words_that_the_lexicon_lacks_count_as_what_they_map_to() -> None:
    english = Lexicon.open("english")
    vectors, words = Centroids(english).of(["clopidogrel 12", "warfarin"])
    assert words.tolist() == [2, 1]
    np.testing.assert_allclose(vectors[1], english.vectors[english.index["warfarin"]], rtol=1e-6)
    single, _ = Centroids(english).of(["clopidogrel"])
    np.testing.assert_allclose(single[0], vectors[1])


def test_many_words_are_added_up_in_blocks() -> None:
    text = " ".join(WORDS[i] for i in seeded_rng(2).integers(6, size=20_000))
    vectors, words = Centroids(TINY).of(["hot", text])
    counts = [text.split().count(word) for word in WORDS]
    np.testing.assert_allclose(vectors[1], counts @ VECTORS.astype(float) / 20_000, atol=1e-12)
    assert words.tolist() == [1, 20_000]


def test_the_guarantee_is_by_the_distance_of_centroids(tmp_path: Path) -> None:
    write(tmp_path / "x.txt")
    done = embed_files(
        tmp_path / "x.txt",
        tmp_path / "y.npy",
        mechanism=Laplace(epsilon=3.0),
        lexicon=TINY,
        report=tmp_path / "r.md",
    )
    assert "any two texts" in str(done.guarantee)
    assert done.guarantee.loss(0.5) == 1.5
    assert "the lexicon, and the map of unknown words" in done.guarantee.public
    text = (tmp_path / "r.md").read_text()
    assert "centroids d/n apart" in text
    assert "2 texts without words" in text
    assert "cold" not in text.casefold()


@pytest.mark.parametrize(
    "made", [PrivEmb(epsilon=1.0, projection="pca", dimension=2), Mahalanobis(epsilon=1.0)]
)
def test_the_lexicon_serves_as_public_vectors(tmp_path: Path, made: Any) -> None:
    write(tmp_path / "x.txt")
    done = embed_files(tmp_path / "x.txt", tmp_path / "y.npy", mechanism=made, lexicon=TINY)
    assert np.load(tmp_path / "y.npy").shape == (5, done.released_columns)


def test_records_without_a_text_are_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"t": ["hot", None]}), tmp_path / "x.parquet")
    with pytest.raises(DataError, match="has no text"):
        embed_files(
            tmp_path / "x.parquet", tmp_path / "y.npy", mechanism=NEAR, lexicon=TINY, column="t"
        )
    assert os.listdir(tmp_path) == ["x.parquet"]


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "x.txt")
    source, target = tmp_path / "x.txt", tmp_path / "y.npy"
    with pytest.raises(ParameterError, match="npy, npz, safetensors"):
        embed_files(source, tmp_path / "y.parquet", mechanism=NEAR, lexicon=TINY)
    with pytest.raises(ParameterError, match="replaces words"):
        embed_files(source, target, mechanism="tem", epsilon=1.0, lexicon=TINY)
    ball = Lexicon(WORDS, VECTORS / 10, metric="poincare")
    with pytest.raises(MetricError, match="Euclidean"):
        embed_files(source, target, mechanism=NEAR, lexicon=ball)
    with pytest.raises(ParameterError, match="has no columns"):
        embed_files(source, target, mechanism=NEAR, lexicon=TINY, column="t")
    (tmp_path / "bad.txt").write_bytes(b"cold\n\xff\xfe\n")
    with pytest.raises(DataError) as caught:
        embed_files(tmp_path / "bad.txt", target, mechanism=NEAR, lexicon=TINY)
    assert "cold" not in str(caught.value)
    assert sorted(os.listdir(tmp_path)) == ["bad.txt", "x.txt"]

"""Files of vectors: every format, what stays, what is refused; nothing half-written stays."""

import json
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from safetensors.numpy import load_file
from scipy.stats import gamma, kstest
from tests.files.vector_files import NEAR, ROWS, WORDS, WRITE, read, write_parquet, write_text

from malaprop import DataError, MalapropError, ParameterError, PrivEmb, release_files
from malaprop.files import vector_formats


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_formats, "BLOCK_CELLS", 28)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("name", WRITE)
def test_every_format_keeps_rows_and_order(tmp_path: Path, name: str) -> None:
    source, target = tmp_path / name, tmp_path / f"private-{name}"
    WRITE[name](source)
    done = release_files(source, target, mechanism=NEAR, scale=1.0)
    np.testing.assert_allclose(read(target), ROWS, atol=0.01)
    assert not np.array_equal(read(target), ROWS)
    assert (done.rows, done.columns, done.released_columns) == (250, 4, 4)
    assert b"secret" not in target.read_bytes()


@pytest.mark.parametrize("name", ["x.npy", "x.npz", "x.safetensors", "x.vec", "x.parquet"])
def test_a_projection_changes_the_columns(tmp_path: Path, name: str) -> None:
    source, target = tmp_path / name, tmp_path / f"private-{name}"
    WRITE[name](source)
    done = release_files(source, target, mechanism=PrivEmb(epsilon=5.0, dimension=2), scale=1.0)
    assert read(target).shape == (250, 2)
    assert done.released_columns == 2


def test_the_noise_in_the_file_is_that_of_the_guarantee(tmp_path: Path) -> None:
    np.save(tmp_path / "zeros.npy", np.zeros((40_000, 3)))
    release_files(tmp_path / "zeros.npy", tmp_path / "noise.npy", mechanism="laplace", epsilon=2.0)
    radii = np.linalg.norm(np.load(tmp_path / "noise.npy"), axis=1)
    assert kstest(radii, gamma(3, scale=0.5).cdf).pvalue > 1e-6
    for wrong in (0.475, 0.525):
        assert kstest(radii, gamma(3, scale=wrong).cdf).pvalue < 1e-6


def test_words_and_other_columns_stay_and_are_named_as_unprotected(tmp_path: Path) -> None:
    write_text(tmp_path / "x.vec", header=True)
    done = release_files(tmp_path / "x.vec", tmp_path / "y.vec", mechanism="laplace", epsilon=1.0)
    lines = (tmp_path / "y.vec").read_text().splitlines()
    assert lines[0] == "250 4"
    assert [line.split()[0] for line in lines[1:]] == WORDS
    assert done.beside == ("the words",)
    write_parquet(tmp_path / "x.parquet")
    done = release_files(tmp_path / "x.parquet", tmp_path / "y.parquet", epsilon=1.0)
    assert pq.read_table(tmp_path / "y.parquet")["id"].to_pylist() == list(range(250))
    assert done.beside == ("the column id",)


def test_other_arrays_are_left_out_and_the_one_to_release_is_named(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", a=ROWS, b=ROWS[:3], c=np.arange(3))
    with pytest.raises(ParameterError, match="3 matrices of numbers"):
        release_files(tmp_path / "x.npz", tmp_path / "y.npz", epsilon=1.0)
    with pytest.raises(ParameterError, match="no matrix of numbers named 'd'"):
        release_files(tmp_path / "x.npz", tmp_path / "y.npz", epsilon=1.0, column="d")
    done = release_files(tmp_path / "x.npz", tmp_path / "y.npz", epsilon=1.0, column="b")
    assert zipfile.ZipFile(tmp_path / "y.npz").namelist() == ["b.npy"]
    assert (done.part, done.left_out, done.rows) == ("b", ("a", "c"), 3)


def test_half_and_brain_floats_and_whole_numbers(tmp_path: Path) -> None:
    np.save(tmp_path / "half.npy", ROWS.astype(np.float16))
    np.save(tmp_path / "whole.npy", np.arange(12, dtype=np.uint16).reshape(3, 4))
    np.save(tmp_path / "big.npy", ROWS.astype(">f8"))
    for name, kind in (("half", "float32"), ("whole", "float64"), ("big", "float64")):
        release_files(tmp_path / f"{name}.npy", tmp_path / f"p{name}.npy", mechanism=NEAR)
        private = np.load(tmp_path / f"p{name}.npy")
        assert private.dtype.name == kind
        true = np.load(tmp_path / f"{name}.npy").astype(float)
        np.testing.assert_allclose(private, true, atol=0.01)
    bits = (ROWS.view(np.uint32) >> 16).astype("<u2")
    header = {"v": {"dtype": "BF16", "shape": [250, 4], "data_offsets": [0, bits.nbytes]}}
    text = json.dumps(header).encode()
    content = len(text).to_bytes(8, "little") + text + bits.tobytes()
    (tmp_path / "b.safetensors").write_bytes(content)
    release_files(tmp_path / "b.safetensors", tmp_path / "pb.safetensors", mechanism=NEAR)
    np.testing.assert_allclose(
        load_file(tmp_path / "pb.safetensors")["v"], ROWS, rtol=0.01, atol=0.01
    )


DAMAGED: dict[str, bytes] = {
    "empty.npy": b"",
    "junk.npy": b"\x93NUMPY\x01\x00junk",
    "pickle.npy": b"\x93NUMPY\x01\x00F\x00"
    + b"{'descr': '|O', 'fortran_order': False, 'shape': (1, 1), }".ljust(70),
    "huge.npy": b"\x93NUMPY\x01\x00\x76\x00"
    + b"{'descr': '<f4', 'fortran_order': False, 'shape': (999999999, 4), }".ljust(118),
    "junk.npz": b"PK\x03\x04 no archive",
    "empty.npz": b"",
    "junk.safetensors": b"\x05\x00\x00\x00\x00\x00\x00\x00{}}}}",
    "long.safetensors": b"\xff\xff\xff\xff\xff\xff\xff\xff{}",
    "offsets.safetensors": (lambda t: len(t).to_bytes(8, "little") + t)(
        b'{"v": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}}'
    ),
    "places.safetensors": (lambda t: len(t).to_bytes(8, "little") + t)(
        b'{"v": {"dtype": "F32", "shape": [2, 2], "data_offsets": [-16, 0]}}'
    ),
    "ragged.txt": b"a 1 2\nb 1\nc 1 2\n",
    "words.txt": b"these are words\nand no numbers\n",
    "nan.txt": b"a 1 2\nb nan 2\n",
    "rows.vec": b"5 2\na 1 2\nb 1 3\n",
    "broken.txt": b"a 1 2\n\xff\xfe 1 3\n",
    "junk.parquet": b"PAR1 no parquet PAR1",
    "junk.bin": b"",
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_files_end_in_one_error_and_leave_nothing(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(DAMAGED[name])
    with pytest.raises(MalapropError) as caught:
        release_files(tmp_path / name, tmp_path / f"out-{name}", mechanism="laplace", epsilon=1.0)
    assert "\n" not in str(caught.value)
    assert os.listdir(tmp_path) == [name]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[1.0, 2.0], [np.nan, 1.0]], "row 2 of x.npy has NaN"),
        ([[1.0, 2.0], [np.inf, 1.0]], "row 2 of x.npy has NaN or infinity"),
        ([1.0, 2.0], "1 dimensions"),
        (np.asfortranarray(np.ones((3, 2))), "column by column"),
        (np.empty((3, 0)), "0 numbers"),
        ([[1j, 2.0]], "not real numbers"),
    ],
)
def test_arrays_that_are_no_vectors(tmp_path: Path, rows: Any, message: str) -> None:
    np.save(tmp_path / "x.npy", rows)
    with pytest.raises(DataError, match=message):
        release_files(tmp_path / "x.npy", tmp_path / "y.npy", mechanism="laplace", epsilon=1.0)
    assert os.listdir(tmp_path) == ["x.npy"]


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ([[1.0, 2.0], None], "row 2 of x.parquet has no vector of 2"),
        ([[1.0, 2.0], [1.0]], "row 2 of x.parquet has no vector of 2"),
        ([[1.0, 2.0], [1.0, None]], "row 2 of x.parquet has a number missing"),
        ([None, [1.0]], "no vector in its first row"),
    ],
)
def test_lists_that_are_no_vectors(tmp_path: Path, cells: Any, message: str) -> None:
    pq.write_table(pa.table({"v": pa.array(cells, pa.list_(pa.float64()))}), tmp_path / "x.parquet")
    with pytest.raises(DataError, match=message):
        release_files(tmp_path / "x.parquet", tmp_path / "y.parquet", mechanism=NEAR)
    assert os.listdir(tmp_path) == ["x.parquet"]


def test_names_are_checked_before_any_work(tmp_path: Path) -> None:
    path, other = tmp_path / "x.npy", tmp_path / "y.npy"
    np.save(path, ROWS)
    before = path.read_bytes()
    with pytest.raises(ParameterError, match="is an input"):
        release_files(path, path, epsilon=1.0, force=True)
    with pytest.raises(ParameterError, match="the format of the input, npy"):
        release_files(path, tmp_path / "y.txt", epsilon=1.0)
    with pytest.raises(ParameterError, match="which is an input"):
        release_files(tmp_path / "x.npy", other, epsilon=1.0, report=tmp_path / "x.npy" / "r.json")
    with pytest.raises(ParameterError, match="pipe"):
        release_files("-", other, epsilon=1.0)
    with pytest.raises(ParameterError, match="no file"):
        release_files(tmp_path / "no.npy", other, epsilon=1.0)
    with pytest.raises(ParameterError, match="ends in none of"):
        release_files(path, other, epsilon=1.0, report=tmp_path / "r.txt")
    with pytest.raises(ParameterError, match="replaces words"):
        release_files(path, other, mechanism="tem", epsilon=1.0)
    with pytest.raises(ParameterError, match="'scale'"):
        release_files(path, other, epsilon=1.0, scale=-1.0)
    with pytest.raises(ParameterError, match="one array without a name"):
        release_files(path, other, epsilon=1.0, column="a")
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["x.npy"]

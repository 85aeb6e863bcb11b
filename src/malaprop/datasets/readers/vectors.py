"""Word vectors, in the formats of packages that carry them."""

import json
import mmap
import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from malaprop.core.errors import DataError
from malaprop.datasets.entries import Dataset
from malaprop.datasets.readers.base import Files, reader
from malaprop.datasets.values import WordVectors

_WORDS, _VECTORS = b'"words":', b',"vectors":{'
_NUMBERS = re.compile(rb"\[([-+0-9.eE,]+)\]")


@reader("npy-vectors")
def npy_vectors(dataset: Dataset, files: Files) -> WordVectors:
    """Read a matrix in numpy's format, and the words of its rows from a column in Parquet."""
    import pyarrow.parquet as pq

    matrix, listed = files.values()
    words = pq.read_table(listed).column(dataset.options["column"]).to_pylist()
    vectors = np.load(matrix, mmap_mode="r", allow_pickle=False)
    return WordVectors(name=dataset.name, words=tuple(words), vectors=vectors)


@reader("wink-vectors")
def wink_vectors(dataset: Dataset, files: Files) -> WordVectors:
    """Read winkNLP's JSON: a list of words, and for each one its numbers, norm and place.

    The file has 35 million numbers. It is read a list at a time: as objects of Python they would
    take more memory than many machines have.
    """
    (path,) = files.values()
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
        begin, end = text.find(_WORDS), text.find(_VECTORS)
        if not 0 <= begin < end:
            raise _another_edition(path)
        words = json.loads(text[begin + len(_WORDS) : end])
        vectors = _rows(path, text, end, (len(words), int(dataset.options["dimension"])))
    return WordVectors(name=dataset.name, words=tuple(words), vectors=vectors)


def _rows(path: Path, text: mmap.mmap, begin: int, shape: tuple[int, int]) -> NDArray[np.float32]:
    """Return the vectors in the order of the words: each list ends with its word's place."""
    count, size = shape
    vectors, given = np.zeros(shape, dtype=np.float32), np.zeros(count, dtype=bool)
    for numbers in _NUMBERS.finditer(text, begin):
        row = np.fromstring(numbers[1], sep=",")
        place = int(row[-1])
        if place < 0:  # the vector of words that are not known
            continue
        if len(row) != size + 2 or place >= count:
            raise _another_edition(path)
        vectors[place], given[place] = row[:size], True
    if not given.all():
        raise _another_edition(path)
    return vectors


def _another_edition(path: Path) -> DataError:
    return DataError(f"{path.name} is another edition: its words and vectors do not match.")

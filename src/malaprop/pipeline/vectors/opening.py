"""From the name of a file to its format of vectors."""

from pathlib import Path
from typing import BinaryIO

import numpy as np

from malaprop.core.arrays import Floats
from malaprop.core.errors import DataError, ParameterError
from malaprop.pipeline.vectors import npy, npz, parquet, safetensors, word_text
from malaprop.pipeline.vectors.base import FLOAT32, VectorSource, VectorWriter, formats
from malaprop.pipeline.vectors.raw import RawWriter

ARRAYS = ("npy", "npz", "safetensors")
"""Formats that hold a matrix and nothing else."""
_NAMELESS = "vectors"
_MOST_ROWS, _MOST_CELLS = 50_000, 1 << 25  # of a public sample that is read into memory
_SOURCES = (npy, npz, parquet, safetensors, word_text)  # which register themselves


def format_named(path: Path) -> str:
    """Return the format of vectors that the ending of a name says.

    >>> format_named(Path("glove.6B.300d.txt")), format_named(Path("x.NPY"))
    ('text', 'npy')
    """
    for name, source in formats.items():
        if path.suffix.lower() in source.suffixes:
            return name
    endings = ", ".join(ending for source in formats.values() for ending in source.suffixes)
    raise ParameterError(
        f"the name {str(path)!r} does not tell a format of vectors: it ends in none of {endings}"
    )


def array_writer(kind: str, target: BinaryIO, rows: int, columns: int) -> VectorWriter:
    """Return what writes a new matrix of float32 in a format of `ARRAYS`."""
    if kind == "npz":
        return npz.NpzWriter(target, _NAMELESS, FLOAT32, rows, columns)
    if kind == "safetensors":
        header = safetensors.safetensors_header(_NAMELESS, FLOAT32, rows, columns)
    else:
        header = npy.npy_header(FLOAT32, rows, columns)
    return RawWriter(target, FLOAT32, header)


def open_vectors(path: Path, part: str | None = None) -> VectorSource:
    """Open a file of vectors; `part` names an array of an archive, or a column of a table."""
    return formats[format_named(checked_file(path))](path, part)


def checked_file(path: Path) -> Path:
    """Return the path of a file of vectors; refuse one that is not there, or of another format."""
    format_named(path)
    if path.is_dir():
        raise ParameterError(f"{path} is a folder: name a file in it")
    if not path.exists():
        raise ParameterError(f"there is no file {path}")
    if not path.is_file():
        raise ParameterError(f"{path} is not a regular file: vectors cannot be read from a pipe")
    return path


def read_some(path: Path, part: str | None = None) -> Floats:
    """Read the first vectors of a public file: up to 50,000, and fewer if they are long."""
    with open_vectors(path, part) as source:
        most = max(2, min(_MOST_ROWS, _MOST_CELLS // source.columns))
        parts: list[Floats] = []
        for block in source.blocks():
            parts.append(block.vectors[: most - sum(map(len, parts))])
            if sum(map(len, parts)) >= most:
                break
    vectors = np.concatenate(parts) if parts else np.empty((0, source.columns))
    if not np.isfinite(vectors).all():
        raise DataError(f"{path.name} has a vector with NaN or infinity: remove it first")
    return vectors

"""A matrix in a `.npy` or `.safetensors` file, with a vocabulary file of one word per line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from malaprop.lexicon.formats import npy, untrusted
from malaprop.lexicon.formats.rows import FileFault, Repairs, RowBlock, VectorFile, to_float32
from malaprop.lexicon.formats.untrusted import open_stream
from malaprop.privacy.errors import LexiconError, MissingExtraError

BLOCK = 4096
BESIDE = ("words.txt", "vocabulary.txt", "vocab.txt")

ReadRows = Callable[[int, int], NDArray[Any]]
"""Reads the rows from a first one up to, but not including, a last one."""


def open_npy(path: Path, vocabulary: Path | None, repairs: Repairs) -> VectorFile:
    """Open a `.npy` matrix and its vocabulary."""
    matrix = _mapped_matrix(path)
    return _vector_file(path, vocabulary, repairs, matrix.shape, lambda a, b: matrix[a:b])


def _mapped_matrix(path: Path) -> NDArray[Any]:
    """Memory-map an array of numbers of any shape."""
    try:
        return npy.map_array(path)
    except npy.TypeOfValuesError:
        raise LexiconError(
            f"{path.name} has values that are not real numbers: save them as float32"
        ) from None
    except (ValueError, OSError):
        raise LexiconError(
            f"{path.name} is not a complete .npy file of numbers: write it with numpy.save"
        ) from None


def open_safetensors(path: Path, vocabulary: Path | None, repairs: Repairs) -> VectorFile:
    """Open a `.safetensors` file with one matrix, and its vocabulary."""
    try:
        import safetensors
    except ImportError:
        raise MissingExtraError(
            package="safetensors", extra="safetensors", purpose="Reading a .safetensors file"
        ) from None
    _check_header(path)
    try:
        file: Any = safetensors.safe_open(path, framework="numpy")
    except (safetensors.SafetensorError, OSError):
        raise LexiconError(
            f"{path.name} is not a complete .safetensors file: get it again"
        ) from None
    slices = [file.get_slice(key) for key in file.keys()]  # noqa: SIM118 (not a mapping)
    matrices = [part for part in slices if len(part.get_shape()) == 2]
    if len(matrices) != 1:
        raise LexiconError(
            f"{path.name} holds {len(matrices)} matrices: save the one you want by itself"
        )
    (matrix,) = matrices
    if matrix.get_dtype() not in ("F16", "F32", "F64"):
        raise LexiconError(
            f"{path.name} has values of type {matrix.get_dtype()}: save them as float32"
        )
    return _vector_file(
        path, vocabulary, repairs, tuple(matrix.get_shape()), lambda a, b: matrix[a:b]
    )


def _check_header(path: Path) -> None:
    """Refuse a long header: it is parsed in memory, and the format allows 100 MB."""
    with open_stream(path) as stream:
        length = int.from_bytes(stream.content.read(8), "little")
    if length > untrusted.HEADER:
        raise LexiconError(
            f"{path.name} has a header of more than {untrusted.HEADER:,} bytes: "
            "save only the matrix"
        )


def find_vocabulary(path: Path) -> Path:
    """Find the vocabulary beside a matrix: its name with .txt or .vocab, or one of `BESIDE`."""
    candidates = [path.with_suffix(".txt"), path.with_suffix(".vocab")]
    candidates += [path.with_name(name) for name in BESIDE]
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    raise LexiconError(
        f"{path.name} has vectors but no words: name its vocabulary (one word per line), "
        f"or put it in the same folder as {candidates[0].name}"
    )


def _vector_file(
    path: Path,
    vocabulary: Path | None,
    repairs: Repairs,
    shape: tuple[int, ...],
    read_rows: ReadRows,
) -> VectorFile:
    if len(shape) != 2 or 0 in shape:
        raise LexiconError(
            f"{path.name} has an array of shape {shape}: save a matrix with one row per word"
        )
    untrusted.check_dimension(shape[1], path.name)
    vocabulary = vocabulary or find_vocabulary(path)
    words = _lines(vocabulary, shape[0])
    if len(words) != shape[0]:
        # No repair: nobody can tell which line is missing, and all words after it would shift.
        count = f"{len(words):,}" if len(words) < shape[0] else f"more than {shape[0]:,}"
        raise LexiconError(
            f"{vocabulary.name} has {count} lines and {path.name} {shape[0]:,} rows: "
            "a vocabulary has one line per row"
        )
    return VectorFile(
        shape[1], len(words), _blocks(words, read_rows, repairs), repairs, (path, vocabulary)
    )


def _lines(vocabulary: Path, rows: int) -> list[bytes]:
    """Read the words, and at most one too many."""
    words: list[bytes] = []
    length = 0
    with open_stream(vocabulary) as stream:
        while len(words) <= rows and (line := untrusted.line(stream.content, vocabulary.name)):
            length += len(line)
            untrusted.check_words(len(words), length, vocabulary.name)
            words.append(line.removesuffix(b"\n").removesuffix(b"\r"))
    if words:
        words[0] = words[0].removeprefix(b"\xef\xbb\xbf")
    return words


def _blocks(words: list[bytes], read_rows: ReadRows, repairs: Repairs) -> Iterator[RowBlock]:
    for start in range(0, len(words), BLOCK):
        stop = min(start + BLOCK, len(words))
        kept, decoded = [], []
        for i in range(start, stop):
            try:
                decoded.append(words[i].decode())
            except UnicodeDecodeError:
                repairs.fault(FileFault.ENCODING, i + 1)
            else:
                kept.append(i)
        vectors = to_float32(read_rows(start, stop))[np.asarray(kept, dtype=np.intp) - start]
        yield RowBlock([i + 1 for i in kept], decoded, vectors, stop)

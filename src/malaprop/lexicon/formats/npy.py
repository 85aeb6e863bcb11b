"""Reads numpy's files without numpy's loaders: a closed grammar, and sizes checked first.

`numpy.load` evaluates the header as Python, allocates what it declares, and accepts types that
refer to memory. Here a header is three fields in one regular expression, types are plain numbers
and text, and no array is made before the file is known to hold its bytes.
"""

from __future__ import annotations

import math
import re
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from malaprop.lexicon.formats.untrusted import BROKEN, zip_archive

MAGIC = b"\x93NUMPY"
HEADER = 10_000
"""Most bytes in a header; numpy's own limit."""
_LENGTHS = {1: 2, 2: 4, 3: 4}  # bytes of the header's length, by version
_NUMBERS = re.compile("[<>|=]?(?:f[248]|[iu][1248])")
_TEXT = re.compile("[<>]U[0-9]{1,9}")
# A name, and a text, a truth value or a few numbers; whitespace is removed before.
_FIELD = """['"](descr|fortran_order|shape)['"]:(?:['"]([^'"]+)['"]|(True|False)|"""
_FIELD += r"\(((?:[0-9]{1,18}L?,?){0,4})\))"
_HEADER = re.compile(rf"\{{{_FIELD},{_FIELD},{_FIELD},?\}}")


class NpyError(ValueError):
    """A file or a member of an archive is not a complete array."""


class TypeOfValuesError(NpyError):
    """An array has values that are not real numbers."""


@dataclass(frozen=True)
class ArrayHeader:
    """A header: type, shape, order, and where the values start."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    fortran: bool
    start: int

    @property
    def length(self) -> int:
        """The number of bytes that the values take."""
        return math.prod(self.shape) * self.dtype.itemsize


def read_header(file: IO[bytes], *, text: bool = False) -> ArrayHeader:
    """Read a header. Allowed types are numbers, and with `text` also text."""
    start = file.read(len(MAGIC) + 2)
    size = _LENGTHS.get(start[len(MAGIC)]) if len(start) == len(MAGIC) + 2 else None
    if size is None or not start.startswith(MAGIC):
        raise NpyError("not a numpy file")
    length = int.from_bytes(file.read(size), "little")
    if length > HEADER:
        raise NpyError(f"a header of more than {HEADER:,} bytes")
    header = "".join(file.read(length).decode("latin-1").split())
    match = _HEADER.fullmatch(header)
    fields = {} if match is None else _fields(match.groups())
    if set(fields) != {"descr", "fortran_order", "shape"}:
        raise NpyError("not a header of three fields")
    descr = fields["descr"][0] or ""
    if not (_NUMBERS.fullmatch(descr) or (text and _TEXT.fullmatch(descr))):
        raise TypeOfValuesError("values that are not real numbers")
    shape = tuple(int(size) for size in re.findall("[0-9]+", fields["shape"][2] or ""))
    order = fields["fortran_order"][1] == "True"
    return ArrayHeader(np.dtype(descr), shape, order, len(start) + size + length)


def _fields(groups: tuple[str | None, ...]) -> dict[str | None, tuple[str | None, ...]]:
    """Return the fields by name, each as (text, truth value, numbers), of which one is set."""
    return {groups[i]: groups[i + 1 : i + 4] for i in range(0, len(groups), 4)}


def map_array(path: Path) -> NDArray[Any]:
    """Memory-map an array of numbers, read-only. Only the header is read."""
    if not path.is_file():  # a pipe may never end
        raise NpyError("not a file")
    with path.open("rb") as file:
        array = read_header(file)
    if array.start + array.length > path.stat().st_size:
        raise NpyError("truncated")
    if not array.length:
        return np.empty(array.shape, array.dtype)
    order: Any = "F" if array.fortran else "C"
    return np.memmap(path, array.dtype, "r", array.start, array.shape, order).view(np.ndarray)


def unpacked(path: Path, names: Iterable[str], limit: int) -> dict[str, NDArray[Any]]:
    """Read the named arrays of an `.npz` archive, each of at most `limit` bytes."""
    if not path.is_file():
        raise NpyError("not a file")
    try:
        with path.open("rb") as file, zip_archive(file) as archive:
            return {name: _member(archive, f"{name}.npy", limit) for name in names}
    # zipfile raises many kinds of errors for archives that are damaged on purpose.
    except (KeyError, EOFError, OSError, RuntimeError, ValueError, *BROKEN) as error:
        raise NpyError("not a complete archive") from error


def _member(archive: zipfile.ZipFile, name: str, limit: int) -> NDArray[Any]:
    with archive.open(name) as file:
        array = read_header(file, text=True)
        if array.length > limit:
            raise NpyError(f"an array of more than {limit:,} bytes")
        content = file.read(array.length)
    if len(content) < array.length:
        raise NpyError("truncated")
    if not content:
        return np.empty(array.shape, array.dtype)
    order: Any = "F" if array.fortran else "C"
    return np.frombuffer(content, array.dtype).reshape(array.shape, order=order)

"""numpy's files, read without numpy's loaders: a closed grammar, and sizes that are checked first.

`numpy.load` evaluates the header as Python, allocates what it declares, and knows types that refer
to memory. Here a header is three fields in one regular expression, the types are plain numbers and
text, and no array is made before the file has been seen to hold its bytes.
"""

from __future__ import annotations

import math
import re
import struct
import zipfile
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

BROKEN = (zipfile.BadZipFile, zlib.error, struct.error, NotImplementedError)
"""What zipfile raises for archives that are damaged, or of a kind that it does not know."""
MAGIC = b"\x93NUMPY"
HEADER = 10_000
"""Bytes of a header; numpy's own limit."""
_LENGTHS = {1: 2, 2: 4, 3: 4}  # bytes of the header's length, by the version
_NUMBERS = re.compile("[<>|=]?(?:f[248]|[iu][1248])")
_TEXT = re.compile("[<>]U[0-9]{1,9}")
# A name, and a text, a truth value or a few numbers; white space is taken out before.
_FIELD = """['"](descr|fortran_order|shape)['"]:(?:['"]([^'"]+)['"]|(True|False)|"""
_FIELD += r"\(((?:[0-9]{1,18}L?,?){0,4})\))"
_HEADER = re.compile(rf"\{{{_FIELD},{_FIELD},{_FIELD},?\}}")


class NpyError(ValueError):
    """A file or a member of an archive is no whole array."""


class TypeOfValuesError(NpyError):
    """An array has values that are no real numbers."""


@dataclass(frozen=True)
class Layout:
    """What a header says: type, shape, order, and where the values start."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    fortran: bool
    start: int

    @property
    def length(self) -> int:
        """How many bytes the values have."""
        return math.prod(self.shape) * self.dtype.itemsize


def layout(file: IO[bytes], *, text: bool = False) -> Layout:
    """Read a header. Types are numbers, and with `text` also text."""
    start = file.read(len(MAGIC) + 2)
    size = _LENGTHS.get(start[len(MAGIC)]) if len(start) == len(MAGIC) + 2 else None
    if size is None or not start.startswith(MAGIC):
        raise NpyError("no numpy file")
    length = int.from_bytes(file.read(size), "little")
    if length > HEADER:
        raise NpyError(f"a header of more than {HEADER:,} bytes")
    header = "".join(file.read(length).decode("latin-1").split())
    match = _HEADER.fullmatch(header)
    fields = {} if match is None else _fields(match.groups())
    if set(fields) != {"descr", "fortran_order", "shape"}:
        raise NpyError("no header of three fields")
    descr = fields["descr"][0] or ""
    if not (_NUMBERS.fullmatch(descr) or (text and _TEXT.fullmatch(descr))):
        raise TypeOfValuesError("values that are no real numbers")
    shape = tuple(int(size) for size in re.findall("[0-9]+", fields["shape"][2] or ""))
    order = fields["fortran_order"][1] == "True"
    return Layout(np.dtype(descr), shape, order, len(start) + size + length)


def _fields(groups: tuple[str | None, ...]) -> dict[str | None, tuple[str | None, ...]]:
    """The fields by their names: text, truth value or numbers, whichever it is."""
    return {groups[i]: groups[i + 1 : i + 4] for i in range(0, len(groups), 4)}


def mapped(path: Path) -> NDArray[Any]:
    """Map an array of numbers, read-only; nothing of it is read yet."""
    if not path.is_file():  # a pipe has no end
        raise NpyError("no file")
    with path.open("rb") as file:
        found = layout(file)
    if found.start + found.length > path.stat().st_size:
        raise NpyError("cut off")
    if not found.length:
        return np.empty(found.shape, found.dtype)
    order: Any = "F" if found.fortran else "C"
    return np.memmap(path, found.dtype, "r", found.start, found.shape, order).view(np.ndarray)


def unpacked(path: Path, names: Iterable[str], limit: int) -> dict[str, NDArray[Any]]:
    """Read some arrays of an `.npz` archive, each of at most `limit` bytes."""
    if not path.is_file():
        raise NpyError("no file")
    try:
        with zipfile.ZipFile(path) as archive:
            return {name: _member(archive, f"{name}.npy", limit) for name in names}
    # zipfile raises many kinds of errors at archives that are damaged on purpose.
    except (KeyError, EOFError, OSError, RuntimeError, ValueError, *BROKEN) as error:
        raise NpyError("no whole archive") from error


def _member(archive: zipfile.ZipFile, name: str, limit: int) -> NDArray[Any]:
    with archive.open(name) as file:
        found = layout(file, text=True)
        if found.length > limit:
            raise NpyError(f"an array of more than {limit:,} bytes")
        content = file.read(found.length)
    if len(content) < found.length:
        raise NpyError("cut off")
    if not content:
        return np.empty(found.shape, found.dtype)
    order: Any = "F" if found.fortran else "C"
    return np.frombuffer(content, found.dtype).reshape(found.shape, order=order)

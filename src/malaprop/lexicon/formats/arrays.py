"""Reads arrays of numpy and safetensors by a closed grammar, their sizes checked first.

`numpy.load` evaluates the header as Python, allocates what it declares, and accepts types that
refer to memory. Here a header is three fields in one regular expression, types are plain numbers
and text, and no array is made before the file is known to hold its bytes.

Errors are clauses that follow the name of a file: `raise DataError(f"{path.name} {error}")`.
"""

from __future__ import annotations

import io
import json
import math
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from malaprop.lexicon.formats import untrusted
from malaprop.private_files import atomic_write

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
_ABOUT = "about.json"
_NO_NPY = "is not a complete .npy file of numbers: write it with numpy.save"
_NO_SAFETENSORS = "is not a complete .safetensors file: get it again"
_TENSORS = {"BF16": np.dtype("<u2")}
_TENSORS |= {f"F{8 * size}": np.dtype(f"<f{size}") for size in (2, 4, 8)}
_TENSORS |= {f"I{8 * size}": np.dtype(f"<i{size}") for size in (1, 2, 4, 8)}


class ArrayFileError(ValueError):
    """A file or a member of an archive is not a complete array."""


class TypeOfValuesError(ArrayFileError):
    """An array has values that are not real numbers."""


def npy_header(dtype: np.dtype[Any], shape: tuple[int, int]) -> bytes:
    """Return the header of a matrix, as `numpy.save` writes it.

    >>> len(npy_header(np.dtype("<f4"), (2, 3)))
    128
    """
    header = io.BytesIO()
    about = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(header, about)
    return header.getvalue()


@dataclass(frozen=True)
class ArrayHeader:
    """What a file says of an array: type, shape, where its values start, and in which order."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    start: int
    fortran: bool = False
    stated: str = ""
    """The type in the words of the file; values of BF16 are the upper halves of float32."""

    @property
    def length(self) -> int:
        """The number of bytes that the values take."""
        return math.prod(self.shape) * self.dtype.itemsize


def read_header(file: IO[bytes], *, text: bool = False) -> ArrayHeader:
    """Read a header of numpy. Allowed types are numbers, and with `text` also text."""
    start = file.read(len(MAGIC) + 2)
    size = _LENGTHS.get(start[len(MAGIC)]) if len(start) == len(MAGIC) + 2 else None
    if size is None or not start.startswith(MAGIC):
        raise ArrayFileError(_NO_NPY)
    length = int.from_bytes(file.read(size), "little")
    if length > HEADER:
        raise ArrayFileError(_NO_NPY)
    match = _HEADER.fullmatch("".join(file.read(length).decode("latin-1").split()))
    groups = match.groups() if match else ()
    # A field is its name, and a text, a truth value or numbers, of which one is set.
    fields = {groups[i]: groups[i + 1 : i + 4] for i in range(0, len(groups), 4)}
    if set(fields) != {"descr", "fortran_order", "shape"}:
        raise ArrayFileError(_NO_NPY)
    stated = fields["descr"][0] or ""
    if not (_NUMBERS.fullmatch(stated) or (text and _TEXT.fullmatch(stated))):
        raise TypeOfValuesError("has values that are not real numbers: save them as float32")
    shape = tuple(int(size) for size in re.findall("[0-9]+", fields["shape"][2] or ""))
    fortran = fields["fortran_order"][1] == "True"
    return ArrayHeader(np.dtype(stated), shape, len(start) + size + length, fortran, stated)


@dataclass(frozen=True)
class SafetensorsHeader:
    """The header of a `.safetensors` file: a length, a JSON object; the values of all follow."""

    names: tuple[str, ...]
    """Everything in the file: tensors of any shape, and notes."""
    matrices: dict[str, dict[str, Any]]
    """What is said of each tensor of two dimensions."""
    start: int
    size: int
    """Where the values start, and how many bytes the file has."""

    @classmethod
    def read(cls, file: IO[bytes]) -> SafetensorsHeader:
        length = int.from_bytes(file.read(8), "little")
        if length > untrusted.HEADER:
            raise ArrayFileError(
                f"has a header of more than {untrusted.HEADER:,} bytes: save only the matrix"
            )
        try:
            tensors = untrusted.parse_object(file.read(length).decode("utf-8"))
        except ValueError:
            raise ArrayFileError(_NO_SAFETENSORS) from None
        matrices = {name: value for name, value in tensors.items() if _is_matrix(value)}
        return cls(tuple(tensors), matrices, 8 + length, os.fstat(file.fileno()).st_size)

    def array(self, name: str) -> ArrayHeader:
        """Return the header of a matrix, if the file holds all its values."""
        tensor = self.matrices[name]
        stated, shape = tensor.get("dtype"), tuple(tensor["shape"])
        if not isinstance(stated, str) or stated not in _TENSORS:
            raise TypeOfValuesError("has values of a type that is not read: save them as float32")
        places = tensor.get("data_offsets")
        if not isinstance(places, list) or not all(type(place) is int for place in places):
            places = []
        header = ArrayHeader(_TENSORS[stated], shape, self.start + sum(places[:1]), stated=stated)
        whole = len(places) == 2 and 0 <= places[0] <= places[1] <= self.size - self.start
        if not whole or places[1] - places[0] != header.length:
            raise ArrayFileError(_NO_SAFETENSORS)
        return header


def _is_matrix(value: Any) -> bool:
    shape = value.get("shape") if isinstance(value, dict) else None
    return (
        isinstance(shape, list)
        and len(shape) == 2
        and all(type(size) is int and 0 <= size < 2**48 for size in shape)
    )


def map_array(path: Path, header: ArrayHeader | None = None) -> NDArray[Any]:
    """Memory-map an array of numbers, read-only: that of a `.npy` file, or at a header."""
    if not path.is_file():  # a pipe may never end
        raise ArrayFileError(_NO_NPY)
    if header is None:
        with path.open("rb") as file:
            header = read_header(file)
        if header.start + header.length > path.stat().st_size:
            raise ArrayFileError(_NO_NPY)
    if not header.length:
        return np.empty(header.shape, header.dtype)
    order: Any = "F" if header.fortran else "C"
    return np.memmap(path, header.dtype, "r", header.start, header.shape, order).view(np.ndarray)


def read_npz(path: Path, names: Iterable[str], limit: int) -> dict[str, NDArray[Any]]:
    """Read the named arrays of an `.npz` archive, each of at most `limit` bytes."""
    if not path.is_file():
        raise ArrayFileError(_NO_NPY)
    arrays: dict[str, NDArray[Any]] = {}
    try:
        with path.open("rb") as file, untrusted.zip_archive(file) as archive:
            for name in names:
                with archive.open(f"{name}.npy") as member:
                    arrays[name] = _read_array(member, limit)
    # zipfile raises many kinds of errors for archives that are damaged on purpose.
    except (KeyError, EOFError, OSError, RuntimeError, ValueError, *untrusted.BROKEN) as error:
        raise ArrayFileError(_NO_NPY) from error
    return arrays


def _read_array(file: IO[bytes], limit: int) -> NDArray[Any]:
    header = read_header(file, text=True)
    if header.length > limit:
        raise ArrayFileError(_NO_NPY)
    content = file.read(header.length)
    if len(content) < header.length:
        raise ArrayFileError(_NO_NPY)
    if not content:
        return np.empty(header.shape, header.dtype)
    order: Any = "F" if header.fortran else "C"
    return np.frombuffer(content, header.dtype).reshape(header.shape, order=order)


def write_folder(folder: Path, note: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays and a note on them into a folder, which appears once it is whole."""
    with atomic_write(folder) as part:
        part.mkdir()
        for name, array in arrays.items():
            np.save(part / f"{name}.npy", array, allow_pickle=False)
        (part / _ABOUT).write_text(json.dumps(note, indent=1) + "\n", encoding="utf-8")


def is_folder(folder: Path) -> bool:
    """Tell whether `write_folder` may have made a folder."""
    return (folder / _ABOUT).is_file()


def map_folder(
    folder: Path, number: int, names: Iterable[str]
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the note and the arrays of a folder, mapped; a ValueError if its format is another."""
    note = untrusted.read_object(folder / _ABOUT)
    untrusted.check_format(note, number)
    return note, {name: map_array(folder / f"{name}.npy") for name in names}

"""Rebuilds numpy's arrays and scalars, from checked fields of a pickle read as plain data."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from malaprop.lexicon.formats import limits
from malaprop.lexicon.formats.pickles import Buffer, Inert, PickleError, Span

_FLOATS = ("f2", "f4", "f8")
_WHOLE = ("i1", "i2", "i4", "i8")
_PACKAGES = ("numpy.core", "numpy._core")  # in numpy 1 and 2
_ARRAYS = tuple(f"{package}.multiarray._reconstruct" for package in _PACKAGES)
_BUFFERS = tuple(f"{package}.numeric._frombuffer" for package in _PACKAGES)
_SCALARS = tuple(f"{package}.multiarray.scalar" for package in _PACKAGES)
_LONGEST = 1 << 48


class _Fields(NamedTuple):
    """The fields of an array as the pickle has them: none is checked yet."""

    shape: Any
    dtype: Any
    fortran: bool
    values: Any


def matrix(saved: Any, content: Buffer) -> NDArray[Any]:
    """Return the matrix of floats that a pickle describes; its values stay in the file."""
    fields = _fields(saved)
    shape = _shape(fields.shape)
    code, order = _type(fields.dtype)
    if code not in _FLOATS:
        raise PickleError("not a matrix of floats")
    dtype = np.dtype(order + code)
    values = _values(fields.values, content)
    if len(values) != math.prod(shape) * dtype.itemsize:
        raise PickleError("values that do not fill the shape")
    flat = np.frombuffer(values, dtype)
    return flat.reshape(shape, order="F" if fields.fortran else "C")


def scalar(saved: Any, content: Buffer) -> str:
    """Return a word that numpy wrote as a scalar; integers can be words, too."""
    if not isinstance(saved, Inert) or saved.name not in _SCALARS or len(saved.args) != 2:
        raise PickleError("not a word")
    code, order = _type(saved.args[0])
    view = _values(saved.args[1], content)
    if len(view) > 4 * (limits.WORD + 1):  # a longer word fits no lexicon
        raise PickleError("a word that is too long")
    values = bytes(view)
    if code in _WHOLE and len(values) == int(code[1]):
        return str(int.from_bytes(values, "big" if order == ">" else "little", signed=True))
    if code.startswith("U"):
        return values.decode("utf-32-be" if order == ">" else "utf-32-le").rstrip("\0")
    raise PickleError("not a word")


def _fields(saved: Any) -> _Fields:
    """Find the fields of an array, as written by protocols up to 4 or from 5 on."""
    if not isinstance(saved, Inert):
        raise PickleError("not an array")
    state = saved.state
    if saved.name in _ARRAYS and type(state) is tuple and len(state) == 5:
        return _Fields(state[1], state[2], state[3] is True, state[4])
    if saved.name in _BUFFERS and len(saved.args) == 4:
        values, dtype, shape, order = saved.args
        return _Fields(shape, dtype, isinstance(order, str) and order == "F", values)
    raise PickleError("not an array")


def _shape(shape: Any) -> tuple[int, int]:
    if type(shape) is not tuple or len(shape) != 2:
        raise PickleError("not a matrix")
    if not all(type(size) is int and 0 < size < _LONGEST for size in shape):
        raise PickleError("not the shape of a matrix")
    return shape


def _type(dtype: Any) -> tuple[str, str]:
    """Return the code and the byte order of a data type. Structured types are refused."""
    if not isinstance(dtype, Inert) or dtype.name != "numpy.dtype" or not dtype.args:
        raise PickleError("not a data type")
    code, state = dtype.args[0], dtype.state
    if type(state) is not tuple or len(state) < 5 or any(part is not None for part in state[2:5]):
        raise PickleError("not a plain data type")
    order = state[1]
    if not isinstance(code, str) or not isinstance(order, str) or order not in ("<", ">", "|"):
        raise PickleError("not a plain data type")
    return code, order


def _values(values: Any, content: Buffer) -> memoryview:
    """Find the bytes of an array: in the file, or in a string as protocol 2 writes them."""
    if isinstance(values, Inert) and values.name == "_codecs.encode" and values.args:
        text = values.args[0]
        if isinstance(text, Span):
            text = bytes(_values(text, content)).decode()
        if isinstance(text, str):
            return memoryview(text.encode("latin-1"))
    if isinstance(values, str):  # from Python 2
        return memoryview(values.encode("latin-1"))
    if isinstance(values, Span):
        return memoryview(content)[values.start : values.start + values.length]
    raise PickleError("not bytes")

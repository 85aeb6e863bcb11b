"""`.safetensors`: a length, a header in JSON, then the numbers of all tensors.

The header is read by code of our own, with a limit, so that no package is needed.
"""

import json
import math
import os
from collections.abc import Iterator
from typing import IO, Any, BinaryIO, Final

import numpy as np

from malaprop.core.errors import DataError
from malaprop.lexicon.formats.json_files import parse_object
from malaprop.lexicon.formats.limits import HEADER
from malaprop.pipeline.vectors.base import (
    FLOAT32,
    VectorBlock,
    VectorSource,
    VectorWriter,
    written_type,
)
from malaprop.pipeline.vectors.raw import (
    RawWriter,
    chosen_part,
    damaged,
    raw_blocks,
    reading,
)

_TYPES: Final = {
    "BF16": np.dtype("<u2"),
    **{f"F{8 * size}": np.dtype(f"<f{size}") for size in (2, 4, 8)},
    **{f"I{8 * size}": np.dtype(f"<i{size}") for size in (1, 2, 4, 8)},
}
_NOTES: Final = "__metadata__"


class SafetensorsSource(VectorSource, name="safetensors"):
    """A `.safetensors` file. Its other tensors and its notes do not reach the output."""

    suffixes = (".safetensors",)
    rows: int

    def _open(self, part: str | None) -> None:
        with reading(self.path):
            self._file = self._ends.enter_context(self.path.open("rb"))
            size = os.fstat(self._file.fileno()).st_size
            header, start = self._header(self._file)
            tensors = {name: value for name, value in header.items() if name != _NOTES}
            matrices = {name: value for name, value in tensors.items() if _is_matrix(value)}
            self.part = chosen_part(self.path, matrices, part)
            place = self._place(matrices[self.part], size - start)
            self._file.seek(start + place)
        self.left_out = tuple(name for name in header if name != self.part)

    def _header(self, file: IO[bytes]) -> tuple[dict[str, Any], int]:
        length = int.from_bytes(file.read(8), "little")
        if length > HEADER:
            raise DataError(
                f"{self.path.name} has a header of more than {HEADER:,} bytes: save only the matrix"
            )
        content = file.read(length)
        if len(content) < length:
            raise damaged(self.path)
        return parse_object(content.decode("utf-8")), 8 + length

    def _place(self, tensor: dict[str, Any], room: int) -> int:
        """Take in what describes the matrix; return where its numbers start."""
        if tensor["dtype"] not in _TYPES:
            raise DataError(
                f"{self.path.name} has values of a type that is not read: save them as float32"
            )
        self._stored, self._bfloat16 = _TYPES[tensor["dtype"]], tensor["dtype"] == "BF16"
        self.rows, self.columns = tensor["shape"]
        self.values = FLOAT32 if self._bfloat16 else written_type(self._stored)
        start, stop = tensor["data_offsets"]
        length = math.prod(tensor["shape"]) * self._stored.itemsize
        whole = all(type(number) is int and number >= 0 for number in (start, stop))
        if not whole or stop - start != length or stop > room:
            raise damaged(self.path)
        return int(start)

    def blocks(self) -> Iterator[VectorBlock]:
        """Yield the vectors, in blocks."""
        return raw_blocks(
            self._file,
            self.path,
            self._stored,
            self.rows,
            self.columns,
            bfloat16=self._bfloat16,
        )

    def writer(self, target: BinaryIO, columns: int) -> VectorWriter:
        """Return what writes a file with one tensor."""
        header = safetensors_header(self.part, self.values, self.rows, columns)
        return RawWriter(target, self.values, header)


def _is_matrix(value: Any) -> bool:
    shape = value.get("shape") if isinstance(value, dict) else None
    return (
        isinstance(shape, list)
        and len(shape) == 2
        and all(type(size) is int and 0 <= size < 2**48 for size in shape)
    )


def safetensors_header(name: str, values: "np.dtype[Any]", rows: int, columns: int) -> bytes:
    """Return the header of a file with one matrix."""
    tensor = {
        "dtype": f"F{8 * values.itemsize}",
        "shape": [rows, columns],
        "data_offsets": [0, rows * columns * values.itemsize],
    }
    text = json.dumps({name: tensor}).encode()
    text = text.ljust(-len(text) % 8 + len(text))
    return len(text).to_bytes(8, "little") + text

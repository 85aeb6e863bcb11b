"""numpy's `.npz`: an archive of arrays, of which one is released and the others are left out."""

import re
import zipfile
from collections.abc import Iterator
from typing import Any, BinaryIO, Final

import numpy as np

from malaprop.core.arrays import Floats
from malaprop.core.errors import DataError
from malaprop.lexicon.formats.limits import zip_archive
from malaprop.pipeline.vectors.base import VectorBlock, VectorSource, VectorWriter, written_type
from malaprop.pipeline.vectors.npy import matrix_header, npy_header
from malaprop.pipeline.vectors.raw import RawWriter, chosen_part, raw_blocks, reading

_MEMBER: Final = ".npy"
_PLAIN: Final = re.compile(r"[A-Za-z0-9][\w.\- ]{0,99}")
_NAMELESS: Final = "vectors"
_MOST: Final = 1000  # arrays in an archive


class NpzSource(VectorSource, name="npz"):
    """A `.npz` archive, packed or not. Its other arrays do not reach the output."""

    suffixes = (".npz",)
    rows: int

    def _open(self, part: str | None) -> None:
        with reading(self.path):
            file = self._ends.enter_context(self.path.open("rb"))
            self._archive = self._ends.enter_context(zip_archive(file))
            infos = {
                info.filename.removesuffix(_MEMBER): info
                for info in self._archive.infolist()
                if info.filename.endswith(_MEMBER)
            }
            if len(infos) > _MOST:
                raise DataError(f"{self.path.name} has more than {_MOST:,} arrays: save fewer")
            self.part = chosen_part(self.path, infos, part)
            self._file = self._ends.enter_context(self._archive.open(infos[self.part]))
            header = matrix_header(self._file, self.path)
        self.left_out = tuple(name for name in infos if name != self.part)
        self._stored = header.dtype
        self.rows, self.columns = header.shape
        self.values = written_type(header.dtype)

    def blocks(self) -> Iterator[VectorBlock]:
        """Yield the vectors, in blocks."""
        return raw_blocks(self._file, self.path, self._stored, self.rows, self.columns)

    def writer(self, target: BinaryIO, columns: int) -> VectorWriter:
        """Return what writes a `.npz` archive with one array."""
        return NpzWriter(target, self.part, self.values, self.rows, columns)


class NpzWriter(VectorWriter):
    """Writes an archive with one array, which is not packed: noise cannot be packed."""

    def __init__(
        self, target: BinaryIO, name: str, values: "np.dtype[Any]", rows: int, columns: int
    ) -> None:
        safe = name if _PLAIN.fullmatch(name) else _NAMELESS
        self._archive = zipfile.ZipFile(target, "w")
        # Without the time, which `writestr` would note.
        self._member = self._archive.open(zipfile.ZipInfo(safe + _MEMBER), "w", force_zip64=True)
        self._rows = RawWriter(self._member, values, npy_header(values, rows, columns))

    def write(self, vectors: Floats, beside: Any = None) -> None:
        """Write private vectors."""
        self._rows.write(vectors)

    def finish(self) -> None:
        """Write the directory of the archive."""
        self._member.close()
        self._archive.close()

    def abandon(self) -> None:
        """Leave the archive without its directory."""
        self._archive.fp = None  # or it would write it when collected

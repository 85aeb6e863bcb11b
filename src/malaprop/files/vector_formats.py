"""`.npy`, `.npz`, `.safetensors`, word text, Parquet lists; opening one."""

import contextlib
import json
import os
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, BinaryIO, Final

import numpy as np

from malaprop.files.formats.parquet import Sink, failing_as, fitted, private_schema
from malaprop.files.vector_blocks import (
    BLOCK_CELLS,
    FLOAT32,
    FLOAT64,
    RawWriter,
    VectorBlock,
    VectorSource,
    VectorWriter,
    as_written,
    chosen_part,
    damaged,
    formats,
    raw_blocks,
    reading,
    written_type,
)
from malaprop.lexicon.formats.arrays import (
    ArrayFileError,
    ArrayHeader,
    SafetensorsHeader,
    TypeOfValuesError,
    read_header,
)
from malaprop.lexicon.formats.rows import HEAD, FileFault, Repairs
from malaprop.lexicon.formats.untrusted import open_stream, zip_archive
from malaprop.lexicon.formats.word_vectors import detect_layout, open_text
from malaprop.privacy.arrays import Floats
from malaprop.privacy.errors import DataError, ParameterError

if TYPE_CHECKING:
    import pyarrow as pa


# numpy's `.npy`: a header, then the numbers of one matrix.


class NpySource(VectorSource, name="npy"):
    """A `.npy` file with one matrix, a row for each vector."""

    suffixes = (".npy",)
    rows: int

    def _open(self, part: str | None) -> None:
        if part is not None:
            raise ParameterError(
                f"{self.path.name} has one array without a name: leave out `column`"
            )
        with reading(self.path):
            self._file = self._ends.enter_context(self.path.open("rb"))
            header = matrix_header(self._file, self.path)
            if header.start + header.length > os.fstat(self._file.fileno()).st_size:
                raise damaged(self.path)
        self._stored = header.dtype
        self.rows, self.columns = header.shape
        self.values = written_type(header.dtype)

    def blocks(self) -> Iterator[VectorBlock]:
        """Yield the vectors, in blocks."""
        return raw_blocks(self._file, self.path, self._stored, self.rows, self.columns)

    def writer(self, target: BinaryIO, columns: int) -> VectorWriter:
        """Return what writes a `.npy` file."""
        return RawWriter(target, self.values, npy_header(self.values, self.rows, columns))


def matrix_header(file: IO[bytes], path: Path) -> ArrayHeader:
    """Read the header of a matrix of real numbers that is stored row by row."""
    try:
        header = read_header(file)
    except TypeOfValuesError as error:
        raise DataError(f"{path.name} {error}") from None
    except ArrayFileError:
        raise damaged(path) from None
    if len(header.shape) != 2:
        raise DataError(
            f"{path.name} has an array of {len(header.shape)} dimensions: save a matrix with a row "
            "for each vector"
        )
    if header.fortran and 1 not in header.shape:
        raise DataError(
            f"{path.name} is stored column by column: save it with numpy.ascontiguousarray"
        )
    return header


def npy_header(values: "np.dtype[Any]", rows: int, columns: int) -> bytes:
    """Return the header of a matrix, as `numpy.save` writes it.

    >>> len(npy_header(np.dtype("<f4"), 2, 3))
    128
    """
    text = f"{{'descr': '{values.str}', 'fortran_order': False, 'shape': ({rows}, {columns}), }}"
    padded = text.ljust(-(len(text) + 11) % 64 + len(text)) + "\n"
    return b"\x93NUMPY\x01\x00" + len(padded).to_bytes(2, "little") + padded.encode("latin-1")


# numpy's `.npz`: an archive of arrays, of which one is released and the others are left out.


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


# A column of lists of numbers in a Parquet file; other columns pass as they are.


_UNREADABLE: Final = "the input cannot be read: it is not a Parquet file, or damaged, or encrypted"
_UNWRITABLE: Final = "the input has a column of a type that cannot be written to Parquet"


class ParquetSource(VectorSource, name="parquet"):
    """A Parquet file with a column of lists, all equally long."""

    suffixes = (".parquet", ".pq")
    rows: int

    def _open(self, part: str | None) -> None:
        import pyarrow.parquet as pq

        with reading(self.path):
            file = self._ends.enter_context(self.path.open("rb"))
        with failing_as(_UNREADABLE):
            self._file = pq.ParquetFile(file, pre_buffer=False, coerce_int96_timestamp_unit="us")
            self._schema = self._file.schema_arrow
            first = next(self._file.iter_batches(batch_size=1), None)
        self.part = chosen_part(self.path, _lists(self._schema), part)
        self._place = self._schema.get_field_index(self.part)
        if self._place < 0:
            raise DataError(f"{self.path.name} has several columns named {self.part!r}")
        kind = self._schema.field(self._place).type
        self.rows = self._file.metadata.num_rows
        vector = first.column(self._place)[0] if first is not None else None
        self.columns = len(vector) if vector is not None and vector.is_valid else 0
        if not self.columns:
            raise DataError(f"{self.path.name} has no vector in its first row")
        narrow = np.dtype(kind.value_type.to_pandas_dtype())
        self.values = written_type(narrow)
        self.beside = tuple(
            f"the column {name}" for name in self._schema.names if name != self.part
        )

    def blocks(self) -> Iterator[VectorBlock]:
        """Yield the vectors with the other columns of their rows, in blocks."""
        done = 0
        batches = self._file.iter_batches(batch_size=max(1, BLOCK_CELLS // self.columns))
        while True:
            with failing_as(_UNREADABLE):
                rows = next(batches, None)
            if rows is None:
                return
            yield VectorBlock(self._vectors(rows.column(self._place), done), rows)
            done += rows.num_rows

    def _vectors(self, column: "pa.Array", before: int) -> Floats:
        import pyarrow.compute as pc

        lengths = pc.list_value_length(column).fill_null(-1).to_numpy(zero_copy_only=False)
        wrong = np.flatnonzero(lengths != self.columns)
        if len(wrong):
            raise DataError(
                f"row {before + int(wrong[0]) + 1:,} of {self.path.name} has no vector of "
                f"{self.columns} numbers, as the first row has: remove it, or fill it in"
            )
        values = column.flatten()
        if values.null_count:
            place = int(np.argmax(values.is_null().to_numpy(zero_copy_only=False)))
            raise DataError(
                f"row {before + place // self.columns + 1:,} of {self.path.name} has a number "
                "missing in its vector: remove it, or fill it in"
            )
        with np.errstate(invalid="ignore"):
            numbers = values.to_numpy(zero_copy_only=False).astype(np.float64)
        return np.asarray(numbers.reshape(len(column), self.columns))

    def writer(self, target: BinaryIO, columns: int) -> VectorWriter:
        """Return what writes a file with the same columns, one of them private."""
        return ParquetWriter(target, self._schema, self._place, columns, self.values)


class ParquetWriter(VectorWriter):
    """Writes rows with private vectors in one column."""

    def __init__(
        self,
        target: BinaryIO,
        schema: "pa.Schema",
        place: int,
        columns: int,
        values: "np.dtype[Any]",
    ) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        number = pa.float64() if values == FLOAT64 else pa.float32()
        fixed = pa.types.is_fixed_size_list(schema.field(place).type)
        self._kind = pa.list_(number, columns) if fixed else pa.list_(number)
        self._place, self._columns, self._values = place, columns, values
        bare = private_schema(schema, [])
        self._schema = bare.set(place, pa.field(bare.field(place).name, self._kind))
        self._sink = Sink(target)
        with failing_as(_UNWRITABLE):
            self._writer = pq.ParquetWriter(self._sink, self._schema)

    def write(self, vectors: Floats, beside: Any = None) -> None:
        """Write rows with private vectors."""
        import pyarrow as pa

        flat = pa.array(as_written(vectors, self._values).ravel())
        if pa.types.is_fixed_size_list(self._kind):
            private = pa.FixedSizeListArray.from_arrays(flat, self._columns)
        else:
            ends = np.arange(len(vectors) + 1, dtype=np.int32) * np.int32(self._columns)
            private = pa.ListArray.from_arrays(pa.array(ends), flat)
        with failing_as(_UNWRITABLE):
            arrays = [
                fitted(column, field.type) if place != self._place else private.cast(self._kind)
                for place, (column, field) in enumerate(
                    zip(beside.columns, self._schema, strict=True)
                )
            ]
            self._writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=self._schema))

    def finish(self) -> None:
        """Write the index."""
        with failing_as(_UNWRITABLE):
            self._writer.close()

    def abandon(self) -> None:
        """Give up without an index, so that what is written is not a Parquet file."""
        import pyarrow as pa

        self._sink.abandoned = True
        with contextlib.suppress(pa.ArrowException, OSError):
            self._writer.close()


def _lists(schema: "pa.Schema") -> dict[str, object]:
    """Return the columns that hold lists of numbers, by name."""
    import pyarrow as pa

    columns: dict[str, object] = {}
    for field in schema:
        kind = field.type
        nested = (
            pa.types.is_list(kind)
            or pa.types.is_large_list(kind)
            or pa.types.is_fixed_size_list(kind)
        )
        if nested and (
            pa.types.is_floating(kind.value_type) or pa.types.is_integer(kind.value_type)
        ):
            columns[field.name] = kind
    return columns


# `.safetensors`: a length, a header in JSON, then the numbers of all tensors.


class SafetensorsSource(VectorSource, name="safetensors"):
    """A `.safetensors` file. Its other tensors and its notes do not reach the output."""

    suffixes = (".safetensors",)
    rows: int

    def _open(self, part: str | None) -> None:
        with reading(self.path):
            self._file = self._ends.enter_context(self.path.open("rb"))
            try:
                header = SafetensorsHeader.read(self._file)
                self.part = chosen_part(self.path, header.matrices, part)
                array = header.array(self.part)
            except ArrayFileError as error:
                raise DataError(f"{self.path.name} {error}") from None
            self._file.seek(array.start)
        self._stored, self._bfloat16 = array.dtype, array.stated == "BF16"
        self.rows, self.columns = array.shape
        self.values = FLOAT32 if self._bfloat16 else written_type(self._stored)
        self.left_out = tuple(name for name in header.names if name != self.part)

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


# GloVe and word2vec text: a line is a word and its numbers; the words stay as they are.


class _Faultless(Repairs):
    """Refuses a file at its first fault: to leave out a row would be to lose a vector."""

    def fault(self, fault: FileFault, number: int) -> None:
        raise DataError(f"{self.source}, line {number:,}: {fault}. Mend the file first")


class WordTextSource(VectorSource, name="text"):
    """A file of words and their vectors. The words are public: they reach the output."""

    suffixes = (".txt", ".vec")

    def _open(self, part: str | None) -> None:
        if part is not None:
            raise ParameterError(f"{self.path.name} has no columns with names: leave out `column`")
        with reading(self.path):
            with open_stream(self.path) as stream:
                if stream.compressed:
                    raise DataError(f"{self.path.name} is compressed: unpack it first")
                header = detect_layout(stream.content.read(HEAD)).header
            self._file = open_text(self.path, _Faultless(self.path.name, True, "line"))
        if not self._file.dimension:
            raise DataError(
                f"{self.path.name} is not a file of vectors: a line is a word and its numbers"
            )
        self._headed = header is not None
        self.rows = header[0] if header else None
        self.columns, self.values = self._file.dimension, FLOAT32
        self.beside = ("the words",)

    def blocks(self) -> Iterator[VectorBlock]:
        """Yield the vectors with their words, in blocks."""
        step = max(1, BLOCK_CELLS // self.columns)
        for block in self._file.blocks:
            for start in range(0, len(block.words), step):
                rows = slice(start, start + step)
                vectors = block.vectors[rows].astype(np.float64)
                yield VectorBlock(vectors, block.words[rows])

    def writer(self, target: BinaryIO, columns: int) -> VectorWriter:
        """Return what writes such a file, with a header if this one has one."""
        return WordTextWriter(target, columns, f"{self.rows} {columns}\n" if self._headed else "")


class WordTextWriter(VectorWriter):
    """Writes words and private vectors; nine digits give back a float32."""

    def __init__(self, target: BinaryIO, columns: int, header: str) -> None:
        self._target, self._line = target, "%s" + " %.9g" * columns + "\n"
        target.write(header.encode())

    def write(self, vectors: Floats, beside: Any = None) -> None:
        """Write private vectors with their words."""
        numbers = as_written(vectors, FLOAT32).tolist()
        lines = [self._line % (word, *row) for word, row in zip(beside, numbers, strict=True)]
        self._target.write("".join(lines).encode())

    def finish(self) -> None:
        """Write nothing: the last line is the end."""


# From the name of a file to its format of vectors.


ARRAYS = ("npy", "npz", "safetensors")
"""Formats that hold a matrix and nothing else."""
_NAMELESS_PART = "vectors"
_MOST_ROWS, _MOST_CELLS = 50_000, 1 << 25  # of a public sample that is read into memory


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
        return NpzWriter(target, _NAMELESS_PART, FLOAT32, rows, columns)
    if kind == "safetensors":
        header = safetensors_header(_NAMELESS_PART, FLOAT32, rows, columns)
    else:
        header = npy_header(FLOAT32, rows, columns)
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

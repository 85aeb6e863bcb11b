"""Files of vectors, in blocks: `.npy`, `.npz`, `.safetensors`, word text, Parquet.

A format is a `VectorFile` with a `name`: it registers itself by being defined.
"""

import io
import json
import os
import re
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, BinaryIO, ClassVar, Final, Self

import numpy as np
from numpy.typing import NDArray

from malaprop.files.formats import parquet
from malaprop.files.formats.file_format import Writer
from malaprop.files.run import check_source
from malaprop.lexicon.formats.arrays import (
    ArrayFileError,
    ArrayHeader,
    SafetensorsHeader,
    TypeOfValuesError,
    npy_header,
    read_header,
)
from malaprop.lexicon.formats.rows import FileFault, Repairs
from malaprop.lexicon.formats.untrusted import BROKEN, DIMENSIONS, open_stream, zip_archive
from malaprop.lexicon.formats.word_vectors import TextFile
from malaprop.privacy.arrays import Floats
from malaprop.privacy.errors import DataError, MalapropError, ParameterError, printable

if TYPE_CHECKING:
    import pyarrow as pa

BLOCK_CELLS: Final = 1 << 19
"""About the most numbers in a block: memory does not grow with the file."""
FLOAT32: Final = np.dtype("<f4")
_FLOAT64: Final = np.dtype("<f8")
_MOST_ROWS, _MOST_CELLS = 50_000, 1 << 25  # of a public sample that is read into memory
_LISTED: Final = 10
_NAMELESS: Final = "vectors"


@dataclass(frozen=True)
class VectorBlock:
    """Consecutive vectors, in rows, and what stands beside them in the file."""

    vectors: Floats
    beside: Any = None


VectorWriter = Writer[VectorBlock, Floats]


class VectorSource(ABC):
    """Vectors that are read once, from start to end."""

    columns: int
    """How many columns the vectors have."""
    rows: int | None
    """How many vectors there are; None if only reading tells."""
    values: "np.dtype[Any]"
    """The type of the numbers that are written: float32, or float64 if the file has that."""
    part: str = ""
    """The array or the column that is read, where a file can have several."""
    beside: tuple[str, ...] = ()
    """What passes to the output as it is, and is not protected."""
    left_out: tuple[str, ...] = ()
    """What the output does not have."""

    @property
    def is_long(self) -> bool:
        """Whether there are several blocks: a single one cannot be stopped in the middle."""
        return self.rows is None or self.rows * self.columns > BLOCK_CELLS

    def begin(self) -> None:  # noqa: B027  a file has nothing to do
        """Find out how many vectors there are; called once, if there is something to do."""

    @abstractmethod
    def blocks(self) -> Iterator[VectorBlock]:
        """Yield the vectors, in blocks."""

    @abstractmethod
    def writer(self, target: BinaryIO, columns: int) -> VectorWriter:
        """Return what writes private vectors of so many columns."""

    def facts(self) -> dict[str, Any]:
        """Return what the report says besides, once all is read."""
        return {}


class VectorFile(VectorSource):
    """A format of vectors: a file that holds a matrix and nothing else that is read."""

    name: ClassVar[str] = ""
    suffixes: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, *, name: str = "", **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if name:
            cls.name = name
            vector_formats[name] = cls

    def __init__(self, path: Path, part: str | None) -> None:
        self.path = path
        with ExitStack() as self._ends:
            with _reading(self.path):
                self._open(part)
            if not 1 <= self.columns <= DIMENSIONS:
                raise DataError(
                    f"{path.name} has vectors of {self.columns:,} numbers: there must be 1 to "
                    f"{DIMENSIONS:,}"
                )
            self._ends = self._ends.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._ends.close()

    @abstractmethod
    def _open(self, part: str | None) -> None:
        """Open the file and read what describes it: `columns`, `rows`, `values`."""


vector_formats: dict[str, type[VectorFile]] = {}
"""All formats of vectors, by name."""


def format_named(path: Path) -> str:
    """Return the format of vectors that the ending of a name says.

    >>> format_named(Path("glove.6B.300d.txt")), format_named(Path("x.NPY"))
    ('text', 'npy')
    """
    for name, source in vector_formats.items():
        if path.suffix.lower() in source.suffixes:
            return name
    endings = ", ".join(ending for kind in vector_formats.values() for ending in kind.suffixes)
    raise ParameterError(
        f"the name {str(path)!r} does not tell a format of vectors: it ends in none of {endings}"
    )


def open_vectors(path: Path, part: str | None = None) -> VectorFile:
    """Open a file of vectors; `part` names an array of an archive, or a column of a table."""
    return vector_formats[format_named(checked_file(path))](path, part)


def checked_file(path: Path) -> Path:
    """Return the path of a file of vectors; refuse one that is not there, or of another format."""
    format_named(path)
    check_source(path)
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


def as_written(vectors: Floats, values: "np.dtype[Any]") -> NDArray[Any]:
    """Return private vectors as they are written; narrowing a private vector is post-processing."""
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(vectors, dtype=values)


def _written_type(values: "np.dtype[Any]") -> "np.dtype[Any]":
    """Return the type that private vectors are written in: that of the input, if it is a float.

    >>> _written_type(np.dtype("float16")).name, _written_type(np.dtype("int8")).name
    ('float32', 'float64')
    """
    return FLOAT32 if values.kind == "f" and values.itemsize <= 4 else _FLOAT64


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Say in our own words that a file cannot be read: others may quote what is in it."""
    try:
        yield
    except MalapropError:
        raise
    except OSError as error:
        if isinstance(error, zipfile.BadZipFile | io.UnsupportedOperation) or not error.strerror:
            raise _damaged(path) from None
        raise DataError(f"{path.name} cannot be read: {error.strerror}") from None
    except (EOFError, KeyError, RuntimeError, ValueError, *BROKEN):
        raise _damaged(path) from None


def _damaged(path: Path) -> DataError:
    return DataError(f"{path.name} is damaged, cut off, or not what its name says: write it again")


def _chosen_part(path: Path, matrices: Mapping[str, object], part: str | None) -> str:
    """Return the name of the matrix to read: the one asked for, or the only one."""
    listed = [printable(name) for name in list(matrices)[:_LISTED]]
    more = [f"and {len(matrices) - _LISTED} more"] if len(matrices) > _LISTED else []
    shown = ", ".join(listed + more) or "none"
    if part is not None and part not in matrices:
        raise ParameterError(
            f"{path.name} has no matrix of numbers named {part!r}. It has: {shown}."
        )
    if part is None and len(matrices) != 1:
        raise ParameterError(
            f"{path.name} has {len(matrices)} matrices of numbers ({shown}): name the one to "
            "release with `column`"
        )
    return next(iter(matrices)) if part is None else part


# A matrix: a header, then its numbers, row by row.


class _MatrixFile(VectorFile):
    rows: int
    _file: IO[bytes]

    def _take(self, header: ArrayHeader) -> None:
        self._stored, self._bfloat16 = header.dtype, header.stated == "BF16"
        self.rows, self.columns = header.shape
        self.values = FLOAT32 if self._bfloat16 else _written_type(header.dtype)

    def writer(self, target: BinaryIO, columns: int) -> VectorWriter:
        return MatrixWriter(target, self.name, self.part, self.values, (self.rows, columns))

    def blocks(self) -> Iterator[VectorBlock]:
        step = max(1, BLOCK_CELLS // self.columns)
        for start in range(0, self.rows, step):
            count = min(step, self.rows - start)
            size = count * self.columns * self._stored.itemsize
            with _reading(self.path):
                data = self._file.read(size)
            if len(data) < size:
                raise _damaged(self.path)
            numbers: NDArray[Any] = np.frombuffer(data, self._stored).reshape(count, self.columns)
            if self._bfloat16:  # the upper half of a float32: numpy has no such type
                numbers = (numbers.astype(np.uint32) << 16).view(np.float32)
            with np.errstate(invalid="ignore"):  # NaN is refused later, with the number of its row
                vectors = numbers.astype(np.float64)
            yield VectorBlock(vectors)


_MEMBER: Final = ".npy"
_PLAIN: Final = re.compile(r"[A-Za-z0-9][\w.\- ]{0,99}")


class MatrixWriter(VectorWriter):
    """Writes a matrix, of such a name, type and shape: a header, then its numbers, row by row.

    An archive has this one array, which is not packed: noise cannot be packed.
    """

    def __init__(
        self,
        target: IO[bytes],
        kind: str,
        name: str,
        values: "np.dtype[Any]",
        shape: tuple[int, int],
    ) -> None:
        self._target, self._values = target, values
        self._archive: zipfile.ZipFile | None = None
        if kind == "npz":
            self._archive = zipfile.ZipFile(target, "w")
            safe = name if _PLAIN.fullmatch(name) else _NAMELESS
            # Without the time, which `writestr` would note.
            member = zipfile.ZipInfo(safe + _MEMBER)
            self._target = self._archive.open(member, "w", force_zip64=True)
        if kind == "safetensors":
            size = shape[0] * shape[1] * values.itemsize
            dtype = f"F{8 * values.itemsize}"
            tensor = {"dtype": dtype, "shape": list(shape), "data_offsets": [0, size]}
            text = json.dumps({name: tensor}).encode()
            text = text.ljust(-len(text) % 8 + len(text))
            self._target.write(len(text).to_bytes(8, "little") + text)
        else:
            self._target.write(npy_header(values, shape))

    def write(self, batch: VectorBlock, private: Floats) -> None:
        self._target.write(as_written(private, self._values).data.cast("B"))

    def finish(self) -> None:
        if self._archive:
            self._target.close()
            self._archive.close()

    def abandon(self) -> None:
        if self._archive:
            self._archive.fp = None  # or it would write its directory when collected


class _NpyFile(_MatrixFile, name="npy"):
    suffixes = (".npy",)

    def _open(self, part: str | None) -> None:
        if part is not None:
            raise ParameterError(
                f"{self.path.name} has one array without a name: leave out `column`"
            )
        self._file = self._ends.enter_context(self.path.open("rb"))
        header = self._read_header()
        if header.start + header.length > os.fstat(self._file.fileno()).st_size:
            raise _damaged(self.path)

    def _read_header(self) -> ArrayHeader:
        """Read the header of a matrix of real numbers that is stored row by row."""
        name = self.path.name
        try:
            header = read_header(self._file)
        except TypeOfValuesError as error:
            raise DataError(f"{name} {error}") from None
        except ArrayFileError:
            raise _damaged(self.path) from None
        if len(header.shape) != 2:
            raise DataError(
                f"{name} has an array of {len(header.shape)} dimensions: save a matrix with a row "
                "for each vector"
            )
        if header.fortran and 1 not in header.shape:
            raise DataError(
                f"{name} is stored column by column: save it with numpy.ascontiguousarray"
            )
        self._take(header)
        return header


_MOST: Final = 1000  # arrays in an archive


class _NpzFile(_NpyFile, name="npz"):
    """A `.npz` archive, packed or not. Its other arrays do not reach the output."""

    suffixes = (".npz",)

    def _open(self, part: str | None) -> None:
        file = self._ends.enter_context(self.path.open("rb"))
        archive = self._ends.enter_context(zip_archive(file))
        infos = {
            info.filename.removesuffix(_MEMBER): info
            for info in archive.infolist()
            if info.filename.endswith(_MEMBER)
        }
        if len(infos) > _MOST:
            raise DataError(f"{self.path.name} has more than {_MOST:,} arrays: save fewer")
        self.part = _chosen_part(self.path, infos, part)
        self._file = self._ends.enter_context(archive.open(infos[self.part]))
        self._read_header()
        self.left_out = tuple(name for name in infos if name != self.part)


class _SafetensorsFile(_MatrixFile, name="safetensors"):
    """A `.safetensors` file. Its other tensors and its notes do not reach the output."""

    suffixes = (".safetensors",)

    def _open(self, part: str | None) -> None:
        self._file = self._ends.enter_context(self.path.open("rb"))
        try:
            header = SafetensorsHeader.read(self._file)
            self.part = _chosen_part(self.path, header.matrices, part)
            array = header.array(self.part)
        except ArrayFileError as error:
            raise DataError(f"{self.path.name} {error}") from None
        self._file.seek(array.start)
        self._take(array)
        self.left_out = tuple(name for name in header.names if name != self.part)


ARRAYS = [name for name, kind in vector_formats.items() if issubclass(kind, _MatrixFile)]
"""Formats that hold a matrix and nothing else."""


class _WordTextFile(VectorFile, name="text"):
    """GloVe and word2vec text: a line is a word and its numbers.

    The words are public: they reach the output.
    """

    suffixes = (".txt", ".vec")

    def _open(self, part: str | None) -> None:
        if part is not None:
            raise ParameterError(f"{self.path.name} has no columns with names: leave out `column`")
        with open_stream(self.path) as stream:
            if stream.compressed:
                raise DataError(f"{self.path.name} is compressed: unpack it first")
        self._file = TextFile(self.path, _Faultless(self.path.name, True, "line"))
        if not self._file.dimension:
            raise DataError(
                f"{self.path.name} is not a file of vectors: a line is a word and its numbers"
            )
        header = self._file.layout.header
        self.rows = header[0] if header else None
        self.columns, self.values = self._file.dimension, FLOAT32
        self.beside = ("the words",)

    def blocks(self) -> Iterator[VectorBlock]:
        step = max(1, BLOCK_CELLS // self.columns)
        for block in self._file.blocks:
            for start in range(0, len(block.words), step):
                rows = slice(start, start + step)
                yield VectorBlock(block.vectors[rows].astype(np.float64), block.words[rows])

    def writer(self, target: BinaryIO, columns: int) -> VectorWriter:
        header = "" if self.rows is None else f"{self.rows} {columns}\n"
        return _WordTextWriter(target, columns, header)


class _Faultless(Repairs):
    """Refuses a file at its first fault: to leave out a row would be to lose a vector."""

    def fault(self, fault: FileFault, number: int) -> None:
        raise DataError(f"{self.source}, line {number:,}: {fault}. Mend the file first")


class _WordTextWriter(VectorWriter):
    """Writes words and private vectors; nine digits give back a float32."""

    def __init__(self, target: BinaryIO, columns: int, header: str) -> None:
        self._target, self._line = target, "%s" + " %.9g" * columns + "\n"
        target.write(header.encode())

    def write(self, batch: VectorBlock, private: Floats) -> None:
        rows = zip(batch.beside, as_written(private, FLOAT32).tolist(), strict=True)
        lines = [self._line % (word, *numbers) for word, numbers in rows]
        self._target.write("".join(lines).encode())


class _ParquetVectors(VectorFile, name="parquet"):
    """A Parquet file with a column of lists, all equally long; other columns pass as they are."""

    suffixes = (".parquet", ".pq")
    rows: int

    def _open(self, part: str | None) -> None:
        self._file = parquet.open_table(self._ends.enter_context(self.path.open("rb")))
        first = next(parquet.record_batches(self._file, 1), None)
        self._schema = self._file.schema_arrow
        self.part = _chosen_part(self.path, _lists(self._schema), part)
        self._place = self._schema.get_field_index(self.part)
        if self._place < 0:
            raise DataError(f"{self.path.name} has several columns named {self.part!r}")
        self.rows = self._file.metadata.num_rows
        vector = first.column(self._place)[0] if first is not None else None
        self.columns = len(vector) if vector is not None and vector.is_valid else 0
        if not self.columns:
            raise DataError(f"{self.path.name} has no vector in its first row")
        kind = self._schema.field(self._place).type
        self.values = _written_type(np.dtype(kind.value_type.to_pandas_dtype()))
        self.beside = tuple(
            f"the column {name}" for name in self._schema.names if name != self.part
        )

    def blocks(self) -> Iterator[VectorBlock]:
        done = 0
        for rows in parquet.record_batches(self._file, max(1, BLOCK_CELLS // self.columns)):
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
        import pyarrow as pa

        number = pa.float64() if self.values == _FLOAT64 else pa.float32()
        fixed = pa.types.is_fixed_size_list(self._schema.field(self._place).type)
        kind = pa.list_(number, columns) if fixed else pa.list_(number)
        schema = parquet.private_schema(self._schema, [])
        schema = schema.set(self._place, pa.field(schema.field(self._place).name, kind))
        return _ListWriter(target, schema, self._place)


class _ListWriter(parquet.TableWriter, VectorWriter):
    def __init__(self, target: BinaryIO, schema: "pa.Schema", place: int) -> None:
        super().__init__(target, schema)
        self._schema, self._place = schema, place

    def write(self, batch: VectorBlock, private: Floats) -> None:
        import pyarrow as pa

        kind = self._schema.field(self._place).type
        rows, columns = private.shape
        values = np.dtype(kind.value_type.to_pandas_dtype())
        flat = pa.array(as_written(private, values).ravel())
        if pa.types.is_fixed_size_list(kind):
            vectors = pa.FixedSizeListArray.from_arrays(flat, columns)
        else:
            ends = np.arange(rows + 1, dtype=np.int32) * np.int32(columns)
            vectors = pa.ListArray.from_arrays(pa.array(ends), flat)
        with parquet.failing_as(parquet.UNWRITABLE):
            arrays = [
                parquet.fitted(column, field.type) if place != self._place else vectors.cast(kind)
                for place, (column, field) in enumerate(
                    zip(batch.beside.columns, self._schema, strict=True)
                )
            ]
            self.table.write_batch(pa.RecordBatch.from_arrays(arrays, schema=self._schema))


def _lists(schema: "pa.Schema") -> dict[str, object]:
    from pyarrow import types

    nested = (types.is_list, types.is_large_list, types.is_fixed_size_list)
    return {
        field.name: field.type
        for field in schema
        if any(is_kind(field.type) for is_kind in nested)
        and (types.is_floating(field.type.value_type) or types.is_integer(field.type.value_type))
    }

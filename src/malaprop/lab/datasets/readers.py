"""From the files of a data set to a value: by a table's layout in its entry, or a reader's name."""

import gzip
import json
import mmap
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import chain
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from malaprop.lab.datasets.archives import unbundled
from malaprop.lab.datasets.entries import Dataset
from malaprop.lexicon.formats.arrays import map_array
from malaprop.lexicon.lexicon import Lexicon
from malaprop.privacy.errors import DataError, check_options

Files = Mapping[str, Path]
"""The files of a data set by name, in the order of the catalogue."""


@dataclass(frozen=True, kw_only=True)
class _Rows:
    """Rows of a data set, as columns of equal length, in the order of the files."""

    name: str
    """The name in the catalogue, or one of your own."""
    splits: tuple[str, ...] = field(default=(), repr=False)
    """The part that each row belongs to, such as `train`; empty if the set is not divided."""

    def __post_init__(self) -> None:
        lengths = {len(column) for _, column in self._columns() if column}
        if len(lengths) != 1:
            raise DataError(
                f"The data set {self.name} must have as many values in each column, and at least "
                f"one row. Got columns of {', '.join(map(str, sorted(lengths))) or 'no'} rows."
            )

    def __len__(self) -> int:
        return max(len(column) for _, column in self._columns())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {len(self):,} rows)"

    def _columns(self) -> list[tuple[str, tuple[Any, ...]]]:
        return [(f.name, getattr(self, f.name)) for f in fields(self) if f.name != "name"]

    def rows(self, places: Sequence[int]) -> Self:
        """Return the rows at some places, in that order.

        >>> LabelledTexts(name="two", texts=("a", "b"), labels=("x", "y")).rows([1]).texts
        ('b',)
        """
        chosen: dict[str, Any] = {
            title: tuple(column[place] for place in places)
            for title, column in self._columns()
            if column
        }
        return replace(self, **chosen)

    def part(self, *names: str) -> Self:
        """Return the rows of one or several parts, such as `train` and `dev`."""
        check_options(f"The data set {self.name}", names, dict.fromkeys(self.splits), noun="part")
        return self.rows([place for place, split in enumerate(self.splits) if split in names])


@dataclass(frozen=True, kw_only=True, repr=False)
class LabelledTexts(_Rows):
    """Texts, or words, each with a label: a class, or an author."""

    texts: tuple[str, ...]
    labels: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, repr=False)
class TextPairs(_Rows):
    """Pairs of sentences with a score, a label, or both."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    scores: tuple[float, ...] = ()
    labels: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    """What each pair was taken from, such as `headlines`; correlations are computed in each."""


@dataclass(frozen=True, kw_only=True, repr=False)
class WordPairs(_Rows):
    """Pairs of words with a score by people."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    scores: tuple[float, ...]


@dataclass(frozen=True, kw_only=True, repr=False)
class Puzzles(_Rows):
    """Sets of words that belong together, each with one that does not."""

    members: tuple[tuple[str, ...], ...]
    odd: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, repr=False)
class WordList(_Rows):
    """Words, or pairs of words, with a number or a note each."""

    words: tuple[str, ...]
    numbers: tuple[float, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class WordVectors:
    name: str
    words: tuple[str, ...]
    vectors: NDArray[np.float32]

    def __post_init__(self) -> None:
        if self.vectors.ndim != 2 or len(self.words) != len(self.vectors):
            raise DataError(f"The data set {self.name} must have a vector for each word.")

    def __len__(self) -> int:
        return len(self.words)

    def __repr__(self) -> str:
        return f"WordVectors({self.name!r}, {len(self):,} × {self.vectors.shape[1]})"

    def lexicon(self, words: Sequence[str]) -> Lexicon:
        """Return a lexicon of those words that have a vector here, in the order given.

        >>> three = WordVectors(name="three", words=("a", "b", "c"), vectors=np.eye(3))
        >>> three.lexicon(["c", "z", "a"]).words
        ('c', 'a')
        """
        places = {word: place for place, word in enumerate(self.words)}
        known = [word for word in words if word in places]
        return Lexicon(known, self.vectors[[places[word] for word in known]])


@dataclass(frozen=True, kw_only=True)
class DataFiles:
    """Files with checked digests, for something else to read."""

    name: str
    paths: Mapping[str, Path]


# Tables: rows whose columns stand somewhere in each file, as the entry says.

_VALUES = {kind.__name__: kind for kind in (LabelledTexts, TextPairs, WordPairs, WordList)}
_NUMBERS = ("scores", "numbers")
_CSV_FIELD = re.compile(r'(?:"((?:[^"]++|"")*+)(?:"|\Z))?([^,\r\n]*+)(,|\r\n?|\n|\Z)')
_LARGEST = 1 << 28  # bytes that a file may unpack to
_QUOTED = re.compile(r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"")


@dataclass(frozen=True, kw_only=True)
class TableLayout:
    """Where the rows and columns of a data set are: the options of an entry without a reader."""

    value: str = "LabelledTexts"
    """The class of the value."""
    columns: Mapping[str, int | str]
    """The column of each field of the value: a number from 0, or a name in CSV and JSON."""
    format: str = "lines"
    """How rows stand in a file: see `_rows_of`."""
    from_name: Mapping[str, str] = field(default_factory=dict)
    """Fields that the name of the file has: what matches a pattern there."""
    cut: Mapping[str, str] = field(default_factory=dict)
    """Fields of which only what matches a pattern is taken: its group, if it has one."""
    divided: bool = False
    """Whether file names say which part of the set a file is: train, test, or else dev."""
    encoding: str = "utf-8"
    separator: str = ""
    """What stands between the fields of a line; without one, a line is a field."""
    most: int = -1
    """The most separators on a line, if not all divide fields."""
    comment: str = ""
    """What lines begin with that are left out."""
    skip: int = 0
    """Lines before the first row, comments not counted."""
    only: str = ""
    """Of a CSV file, the rows wanted, as COLUMN=VALUE; of a bundle, a pattern of file names."""
    replace: Mapping[str, str] = field(default_factory=dict)
    """Patterns that are replaced in all fields."""


def _table(dataset: Dataset, files: Files) -> Any:
    layout = TableLayout(**dataset.options)
    columns: dict[str, list[Any]] = {title: [] for title in (*layout.columns, *layout.from_name)}
    splits = []
    for path_name, path in files.items():
        part = next((part for part in ("train", "test") if part in path_name.lower()), "dev")
        for name, row in _rows_of(path, layout):
            for title, place in layout.columns.items():
                columns[title].append(_field(row[place], title, layout))
            for title, pattern in layout.from_name.items():
                columns[title].append(_found(pattern, name or path_name))
            splits += [part] if layout.divided else []
    if not any(columns.values()):
        raise DataError(f"The files of {dataset.name} have no rows.")
    values = {title: tuple(column) for title, column in columns.items()}
    return _VALUES[layout.value](name=dataset.name, splits=tuple(splits), **values)


def _field(value: Any, title: str, layout: TableLayout) -> Any:
    if title in _NUMBERS:
        return float(value)
    for pattern, other in layout.replace.items():
        value = re.sub(pattern, other, value)
    return _found(layout.cut[title], value) if title in layout.cut else value


def _found(pattern: str, text: str) -> str:
    match = re.search(pattern, text)
    return "" if match is None else match[match.lastindex or 0]


def _rows_of(path: Path, layout: TableLayout) -> Iterator[tuple[str, Any]]:
    """Yield the rows of a file; if it is a bundle, with the name of the file that a row is."""
    match layout.format:
        case "lines" | "tsv":
            yield from (("", row) for row in _fields_of(path, layout))
        case "csv":
            column, value = (layout.only or "=").split("=")
            rows = _csv_rows(path)
            yield from (("", row) for row in rows if not column or row[column] == value)
        case "json":  # an object of words and numbers
            yield from (("", row) for row in json.loads(_content(path)).items())
        case "quoted":  # words in quotation marks, after comments
            quoted = _QUOTED.findall(_text_of(path, layout.encoding).rpartition("*/")[2])
            words = dict.fromkeys(chain.from_iterable(quoted))
            yield from (("", [word.replace("\\", "")]) for word in words if word)
        case "files" | "json files":  # a bundle: each file is a row
            for name, content in unbundled(path):
                if re.search(layout.only, name):
                    text = content.decode(layout.encoding)
                    yield name, json.loads(text) if layout.format == "json files" else [text]
        case _:
            raise DataError(f"There is no format {layout.format!r} of tables.")


def _fields_of(path: Path, layout: TableLayout) -> Iterator[list[str]]:
    """Yield the fields of lines that are not blank; those divided by tabs keep spaces around them.

    A line ends at \\n alone: a NEL character, which some files have in a sentence, ends none.
    """
    tsv = layout.format == "tsv"
    separator = "\t" if tsv else layout.separator
    lines = [line for line in _text_of(path, layout.encoding).split("\n") if line.strip()]
    lines = lines if tsv else [line.strip(" \t\n") for line in lines]
    if layout.comment:
        lines = [line for line in lines if not line.startswith(layout.comment)]
    least = 1 + max(int(place) for place in layout.columns.values())
    for number, line in enumerate(lines[layout.skip :], 1 + layout.skip):
        row = line.split(separator, layout.most) if separator else [line]
        if len(row) < least:
            raise DataError(f"{path.name}: line {number:,} has fewer than {least} fields.")
        yield row


def _csv_rows(path: Path) -> Iterator[dict[str, str]]:
    """Yield rows as `csv` reads them, but without its limit, which the whole process shares."""
    rows: list[list[str]] = [[]]
    for found in _CSV_FIELD.finditer(path.read_bytes().decode("utf-8")):
        if rows[-1] or found[0].strip("\r\n"):  # else the line is blank
            quoted, plain, end = found.groups("")
            rows[-1].append(quoted.replace('""', '"') + plain)
            rows += [[]] if end != "," else []
    for row in filter(None, rows[1:]):
        yield dict(zip(rows[0], row, strict=False))


def _text_of(path: Path, encoding: str = "utf-8") -> str:
    """Return the text of a file without its byte order mark; its line ends become \\n."""
    try:
        text = _content(path).decode(encoding)
    except UnicodeDecodeError:
        raise DataError(f"{path.name} is not {encoding}: it is another edition.") from None
    return text.removeprefix("\ufeff").replace("\r\n", "\n")


def _content(path: Path) -> bytes:
    if path.suffix != ".gz":
        return path.read_bytes()
    with gzip.open(path) as file:
        content = file.read(_LARGEST + 1)
    if len(content) > _LARGEST:
        raise DataError(f"{path.name} unpacks to more than {_LARGEST:,} bytes.")
    return content


# Files that are no tables.

_SWALLOWED = re.compile(r"\n(ham|spam)\t")
_WINK_WORDS, _WINK_VECTORS = b'"words":', b',"vectors":{'
_WINK_NUMBERS = re.compile(rb"\[([-+0-9.eE,]+)\]")


def _sms(dataset: Dataset, files: Files) -> LabelledTexts:
    """Read messages, take out those that others swallowed, and leave out duplicates.

    The file was written by a reader that took a quotation mark for the beginning of a field: some
    messages contain hundreds of others, with their labels. Duplicates must go before the set is
    divided, or the same message is trained on and tested on.
    """
    labels: dict[str, str] = {}
    for row in chain.from_iterable(map(_csv_rows, files.values())):
        pieces = _SWALLOWED.split(row["text"])
        labels.setdefault(pieces[0].strip(), {"0": "ham", "1": "spam"}[row["spam"]])
        for label, text in zip(pieces[1::2], pieces[2::2], strict=True):
            labels.setdefault(text.strip(), label)
    return LabelledTexts(name=dataset.name, texts=tuple(labels), labels=tuple(labels.values()))


def _outliers(dataset: Dataset, files: Files) -> Puzzles:
    """Read a group of words, a blank line, and words that do not belong: a puzzle for each."""
    puzzles = []
    listed = chain.from_iterable(map(unbundled, files.values()))
    for content in [content for name, content in listed if name.endswith(".txt")]:
        group, _, others = content.decode("utf-8").replace("\r", "").strip().partition("\n\n")
        puzzles += [(tuple(group.split()), word) for word in others.split()]
    members, odd = zip(*puzzles, strict=True)
    return Puzzles(name=dataset.name, members=members, odd=odd)


def _paths(dataset: Dataset, files: Files) -> DataFiles:
    return DataFiles(name=dataset.name, paths=dict(files))


def _npy_vectors(dataset: Dataset, files: Files) -> WordVectors:
    """Read a matrix in numpy's format, and the words of its rows from a column in Parquet."""
    import pyarrow.parquet as pq

    matrix, listed = files.values()
    words = pq.read_table(listed).column(dataset.options["column"]).to_pylist()
    return WordVectors(name=dataset.name, words=tuple(words), vectors=map_array(matrix))


def _wink_vectors(dataset: Dataset, files: Files) -> WordVectors:
    """Read winkNLP's JSON: a list of words, and for each one its numbers, norm and place.

    The file has 35 million numbers. It is read a list at a time: as objects of Python they would
    take more memory than many machines have.
    """
    (path,) = files.values()
    other = DataError(f"{path.name} is another edition: its words and vectors do not match.")
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
        begin, end = text.find(_WINK_WORDS), text.find(_WINK_VECTORS)
        if not 0 <= begin < end:
            raise other
        words = json.loads(text[begin + len(_WINK_WORDS) : end])
        vectors = np.zeros((len(words), int(dataset.options["dimension"])), dtype=np.float32)
        given = np.zeros(len(words), dtype=bool)
        for numbers in _WINK_NUMBERS.finditer(text, end):
            row = np.fromstring(numbers[1], sep=",")
            place = int(row[-1])
            if place < 0:  # the vector of words that are not known
                continue
            if len(row) != vectors.shape[1] + 2 or place >= len(words):
                raise other
            vectors[place], given[place] = row[:-2], True
    if not given.all():
        raise other
    return WordVectors(name=dataset.name, words=tuple(words), vectors=vectors)


readers: Mapping[str, Callable[[Dataset, Files], Any]] = {
    "table": _table,
    "sms": _sms,
    "outliers": _outliers,
    "files": _paths,
    "npy-vectors": _npy_vectors,
    "wink-vectors": _wink_vectors,
}
"""All readers by name."""

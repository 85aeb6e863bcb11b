"""Readers: from the files of a data set to a value. One function for each format, by name."""

import csv
import gzip
import io
import json
import mmap
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from malaprop.files.formats.delimited import next_row
from malaprop.lab.datasets.download import unbundled
from malaprop.lab.datasets.entries import Dataset
from malaprop.lexicon.lexicon import Lexicon
from malaprop.privacy.errors import DataError, ParameterError, did_you_mean

# What readers share: their registry, lines and rows of files.


Files = Mapping[str, Path]
"""The files of a data set by name, in the order of the catalogue."""
Reader = Callable[[Dataset, Files], Any]
_registry: dict[str, Reader] = {}
readers: Mapping[str, Reader] = MappingProxyType(_registry)
"""All readers by name."""


def reader(name: str) -> Callable[[Reader], Reader]:
    """Register a function as the reader of that name."""

    def register(function: Reader) -> Reader:
        _registry[name] = function
        return function

    return register


def text_of(path: Path, encoding: str = "utf-8") -> str:
    """Return the text of a file without its byte order mark; its line ends become \\n."""
    try:
        text = path.read_bytes().decode(encoding)
    except UnicodeDecodeError:
        raise DataError(f"{path.name} is not {encoding}: it is another edition.") from None
    return text.removeprefix("\ufeff").replace("\r\n", "\n")


def lines_of(path: Path, encoding: str = "utf-8") -> list[str]:
    """Return the lines that are not blank, without spaces around them.

    A line ends at \\n alone: a NEL character, which some files have in a sentence, ends none.
    """
    return [line.strip(" \t\n") for line in text_of(path, encoding).split("\n") if line.strip()]


def fields_of(path: Path, least: int, header: bool = False) -> list[list[str]]:
    """Return the fields of a file whose lines are divided by tabs; quotes have no meaning."""
    lines = [line for line in text_of(path).split("\n") if line.strip()][int(header) :]
    rows = [line.split("\t") for line in lines]
    for number, row in enumerate(rows, 1 + header):
        if len(row) < least:
            raise DataError(f"{path.name}: line {number:,} has fewer than {least} fields.")
    return rows


def csv_rows(path: Path) -> Iterator[dict[str, str]]:
    """Yield the rows of a CSV file by their column names."""
    reader = csv.reader(io.StringIO(path.read_bytes().decode("utf-8"), newline=""))
    header = next_row(reader) or []
    while (row := next_row(reader)) is not None:
        if row:
            yield dict(zip(header, row, strict=False))


def split_of(name: str) -> str:
    """Return the part that a file is, by its name: train, dev or test.

    >>> split_of("sick-trial.txt"), split_of("mrpc-val.tsv")
    ('dev', 'dev')
    """
    for part, names in (("train", ("train",)), ("test", ("test",)), ("dev", ("dev", "val"))):
        if any(each in name.lower() for each in names):
            return part
    return "dev"


# What a data set is once it is read: frozen values, in the order of the files.


_Data = TypeVar("_Data", bound="_Rows")


@dataclass(frozen=True, kw_only=True)
class _Rows:
    """Rows of a data set, as columns of equal length."""

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

    def rows(self: _Data, places: Sequence[int]) -> _Data:
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

    def part(self: _Data, *names: str) -> _Data:
        """Return the rows of one or several parts, such as `train` and `dev`."""
        there = dict.fromkeys(self.splits)
        for name in names:
            if name not in there:
                hint = did_you_mean(name, there)
                listed = ", ".join(there) or "none"
                raise ParameterError(
                    f"The data set {self.name} has no part {name!r}.{hint} There are: {listed}."
                )
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
    """Words with a vector each."""

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


# Long texts by authors, and e-mails.


_NO_AUTHOR = "bible"


@reader("books")
def books(dataset: Dataset, files: Files) -> LabelledTexts:
    """Read books whose file names begin with their author."""
    rows = [
        (content.decode("latin-1"), name.partition("-")[0])
        for path in files.values()
        for name, content in unbundled(path)
        if not name.startswith(_NO_AUTHOR)
    ]
    return _of(dataset, rows)


@reader("sotu")
def sotu(dataset: Dataset, files: Files) -> LabelledTexts:
    """Read speeches with their speaker, in the order of their years."""
    speeches = [
        json.loads(content)
        for path in files.values()
        for name, content in unbundled(path)
        if name[:4].isdecimal()
    ]
    return _of(dataset, [(speech["text"], speech["name"]) for speech in speeches])


@reader("emails")
def emails(dataset: Dataset, files: Files) -> LabelledTexts:
    """Read the bodies of e-mails: what their headings say would give the answer away."""
    rows = [
        (_body(content), "spam" if name.startswith("spam") else "ham")
        for path in files.values()
        for name, content in unbundled(path)
    ]
    return _of(dataset, rows)


def _body(content: bytes) -> str:
    return content.decode("latin-1").replace("\r\n", "\n").partition("\n\n")[2]


def _of(dataset: Dataset, rows: list[tuple[str, str]]) -> LabelledTexts:
    texts, labels = zip(*rows, strict=True)
    return LabelledTexts(name=dataset.name, texts=texts, labels=labels)


# Texts with labels.


_SWALLOWED = re.compile(r"\n(ham|spam)\t")
_LINE_BREAK = re.compile(r"<br\s*/?>")
_QUOTED = re.compile(r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"")
_TWEET_COLUMNS = (7, 9)  # author and content


@reader("polarity")
def polarity(dataset: Dataset, files: Files) -> LabelledTexts:
    """Read one file for each label, named by its ending: .pos and .neg."""
    encoding = dataset.options.get("encoding", "utf-8")
    rows = [
        (line, name.rpartition(".")[2])
        for name, path in files.items()
        for line in lines_of(path, encoding)
    ]
    return _labelled_of(dataset, rows)


@reader("first-word-labels")
def first_word_labels(dataset: Dataset, files: Files) -> LabelledTexts:
    """Read lines whose first word is the label; a coarse one ends at a colon."""
    encoding, coarse = dataset.options.get("encoding", "utf-8"), "coarse" in dataset.options
    rows, splits = [], []
    for name, path in files.items():
        for line in lines_of(path, encoding):
            label, _, text = line.partition(" ")
            rows.append((text, label.partition(":")[0] if coarse else label))
            splits.append(split_of(name))
    return _labelled_of(dataset, rows, tuple(splits))


@reader("csv")
def csv_file(dataset: Dataset, files: Files) -> LabelledTexts:
    """Read a column of texts and one of labels, for those rows that the entry asks for."""
    column, value = dataset.options.get("only", "=").split("=")
    text, label = dataset.options["text"], dataset.options["label"]
    rows = [
        (_LINE_BREAK.sub(" ", row[text]), row[label])
        for path in files.values()
        for row in csv_rows(path)
        if not column or row[column] == value
    ]
    return _labelled_of(dataset, rows)


@reader("sms")
def sms(dataset: Dataset, files: Files) -> LabelledTexts:
    """Read messages, take out those that others swallowed, and leave out duplicates.

    The file was written by a reader that took a quotation mark for the beginning of a field: some
    messages contain hundreds of others, with their labels. Duplicates must go before the set is
    divided, or the same message is trained on and tested on.
    """
    labels = {"0": "ham", "1": "spam"}
    rows: list[tuple[str, str]] = []
    for path in files.values():
        for row in csv_rows(path):
            pieces = _SWALLOWED.split(row["text"])
            rows.append((pieces[0].strip(), labels[row["spam"]]))
            rows += zip(map(str.strip, pieces[2::2]), pieces[1::2], strict=True)
    once: dict[str, tuple[str, str]] = {}
    for text, label in rows:
        once.setdefault(text, (text, label))
    return _labelled_of(dataset, list(once.values()))


@reader("tweets")
def tweets(dataset: Dataset, files: Files) -> LabelledTexts:
    """Read Orange's table of tweets: three lines of headings, the author, the content."""
    author, content = _TWEET_COLUMNS
    rows = [
        (row[content], row[author])
        for path in files.values()
        for row in fields_of(path, content + 1)[3:]
    ]
    return _labelled_of(dataset, rows)


@reader("opinion-words")
def opinion_words(dataset: Dataset, files: Files) -> LabelledTexts:
    """Read lists of words in quotation marks, after a comment; the file's name has the label."""
    rows = []
    for name, path in files.items():
        listed = text_of(path).rpartition("*/")[2]
        words = dict.fromkeys(chain.from_iterable(_QUOTED.findall(listed)))
        label = name.removesuffix("Words.js")
        rows += [(word.replace("\\", ""), label) for word in words if word]
    return _labelled_of(dataset, rows)


def _labelled_of(
    dataset: Dataset, rows: list[tuple[str, str]], splits: tuple[str, ...] = ()
) -> LabelledTexts:
    if not rows:
        raise DataError(f"The files of {dataset.name} have no rows.")
    texts, labels = zip(*rows, strict=True)
    return LabelledTexts(name=dataset.name, texts=texts, labels=labels, splits=splits)


# Lists of words, of sentences, and files that other parts of Malaprop read.


_LARGEST = 1 << 28


@reader("lines")
def lines(dataset: Dataset, files: Files) -> WordList:
    """Read a sentence on each line."""
    texts = tuple(line for path in files.values() for line in lines_of(path))
    return WordList(name=dataset.name, words=texts)


@reader("word-numbers")
def word_numbers(dataset: Dataset, files: Files) -> WordList:
    """Read words with a number each, as JSON or divided by tabs."""
    rows: list[Any] = []
    for path in files.values():
        if dataset.options["format"] == "tsv":
            rows += [line.rsplit("\t", 1) for line in lines_of(path)]
        else:
            rows += json.loads(_unpacked(path)).items()
    words, numbers = zip(*rows, strict=True)
    return WordList(name=dataset.name, words=words, numbers=tuple(map(float, numbers)))


@reader("part-of-speech")
def part_of_speech(dataset: Dataset, files: Files) -> WordList:
    """Read words with a tag each, below comments."""
    rows = [
        line.split(" ")[:2]
        for path in files.values()
        for line in lines_of(path)
        if not line.startswith(";;;")
    ]
    words, tags = zip(*rows, strict=True)
    return WordList(name=dataset.name, words=words, notes=tags)


@reader("inflections")
def inflections(dataset: Dataset, files: Files) -> WordList:
    """Read words with their class and their forms: `noun,Aarons/Aaron`."""
    listed = "".join(_unpacked(path).decode("utf-8") for path in files.values())
    rows = [line.split(",", 1) for line in listed.splitlines() if line]
    words, forms = zip(*rows, strict=True)
    return WordList(name=dataset.name, words=words, notes=forms)


@reader("files")
def paths(dataset: Dataset, files: Files) -> DataFiles:
    """Return the paths of checked files."""
    return DataFiles(name=dataset.name, paths=dict(files))


def _unpacked(path: Path) -> bytes:
    with gzip.open(path) as file:
        content = file.read(_LARGEST + 1)
    if len(content) > _LARGEST:
        raise DataError(f"{path.name} unpacks to more than {_LARGEST:,} bytes.")
    return content


# Pairs of sentences, and pairs of words.


@reader("mrpc")
def mrpc(dataset: Dataset, files: Files) -> TextPairs:
    """Read quality, two numbers and two sentences."""
    rows = (
        (first, second, label, split_of(name))
        for name, path in files.items()
        for label, _, _, first, second in fields_of(path, 5, header=True)
    )
    return _text_pairs(dataset, rows, "first", "second", "labels", "splits")


@reader("sick")
def sick(dataset: Dataset, files: Files) -> TextPairs:
    """Read a number, two sentences, a score and a judgement."""
    rows = (
        (first, second, float(score), label, split_of(name))
        for name, path in files.items()
        for _, first, second, score, label in fields_of(path, 5, header=True)
    )
    return _text_pairs(dataset, rows, "first", "second", "scores", "labels", "splits")


@reader("sts14")
def sts14(dataset: Dataset, files: Files) -> TextPairs:
    """Read a score and two sentences; each file is a group."""
    rows = (
        (first, second, float(score), name.removesuffix(".tsv"))
        for name, path in files.items()
        for score, first, second in fields_of(path, 3)
    )
    return _text_pairs(dataset, rows, "first", "second", "scores", "groups")


@reader("stsb")
def stsb(dataset: Dataset, files: Files) -> TextPairs:
    """Read the genre, three fields of origin, a score and two sentences; more may follow."""
    rows = (
        (row[5], row[6], float(row[4]), row[0], split_of(name))
        for name, path in files.items()
        for row in fields_of(path, 7)
    )
    return _text_pairs(dataset, rows, "first", "second", "scores", "groups", "splits")


def _text_pairs(dataset: Dataset, rows: Iterable[tuple[Any, ...]], *columns: str) -> TextPairs:
    """Return the rows by column; `columns` names their fields as `TextPairs` has them."""
    by_name = dict(zip(columns, zip(*rows, strict=True), strict=True))
    return TextPairs(name=dataset.name, **by_name)


@reader("word-pairs")
def word_pairs(dataset: Dataset, files: Files) -> WordPairs:
    """Read two words and a score, below comments and a heading."""
    lines = [line for path in files.values() for line in lines_of(path) if line[0] != "#"]
    rows = [line.split("\t") for line in lines[1:]]
    firsts, seconds, scores = zip(*rows, strict=True)
    return WordPairs(
        name=dataset.name, first=firsts, second=seconds, scores=tuple(map(float, scores))
    )


# Groups of words with outliers.


_LARGEST_PUZZLES = 1 << 20


@reader("outliers")
def outliers(dataset: Dataset, files: Files) -> Puzzles:
    """Read a group of words, a blank line, and words that do not belong: a puzzle for each."""
    members: list[tuple[str, ...]] = []
    odd: list[str] = []
    for path in files.values():
        for content in _contents(path):
            group, _, others = content.decode("utf-8").replace("\r", "").strip().partition("\n\n")
            for word in others.split():
                members.append(tuple(group.split()))
                odd.append(word)
    return Puzzles(name=dataset.name, members=tuple(members), odd=tuple(odd))


def _contents(path: Path) -> Iterator[bytes]:
    if path.suffix == ".tar":
        yield from (content for _, content in unbundled(path))
        return
    with zipfile.ZipFile(path) as archive:
        for name in sorted(archive.namelist()):
            if name.endswith(".txt"):
                with archive.open(name) as member:
                    yield member.read(_LARGEST_PUZZLES)


# Word vectors, in the formats of packages that carry them.


_WORDS, _VECTORS = b'"words":', b',"vectors":{'
_NUMBERS = re.compile(rb"\[([-+0-9.eE,]+)\]")


@reader("npy-vectors")
def npy_vectors(dataset: Dataset, files: Files) -> WordVectors:
    """Read a matrix in numpy's format, and the words of its rows from a column in Parquet."""
    import pyarrow.parquet as pq

    matrix, listed = files.values()
    words = pq.read_table(listed).column(dataset.options["column"]).to_pylist()
    vectors = np.load(matrix, mmap_mode="r", allow_pickle=False)
    return WordVectors(name=dataset.name, words=tuple(words), vectors=vectors)


@reader("wink-vectors")
def wink_vectors(dataset: Dataset, files: Files) -> WordVectors:
    """Read winkNLP's JSON: a list of words, and for each one its numbers, norm and place.

    The file has 35 million numbers. It is read a list at a time: as objects of Python they would
    take more memory than many machines have.
    """
    (path,) = files.values()
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
        begin, end = text.find(_WORDS), text.find(_VECTORS)
        if not 0 <= begin < end:
            raise _another_edition(path)
        words = json.loads(text[begin + len(_WORDS) : end])
        vectors = _rows(path, text, end, (len(words), int(dataset.options["dimension"])))
    return WordVectors(name=dataset.name, words=tuple(words), vectors=vectors)


def _rows(path: Path, text: mmap.mmap, begin: int, shape: tuple[int, int]) -> NDArray[np.float32]:
    """Return the vectors in the order of the words: each list ends with its word's place."""
    count, size = shape
    vectors, given = np.zeros(shape, dtype=np.float32), np.zeros(count, dtype=bool)
    for numbers in _NUMBERS.finditer(text, begin):
        row = np.fromstring(numbers[1], sep=",")
        place = int(row[-1])
        if place < 0:  # the vector of words that are not known
            continue
        if len(row) != size + 2 or place >= count:
            raise _another_edition(path)
        vectors[place], given[place] = row[:size], True
    if not given.all():
        raise _another_edition(path)
    return vectors


def _another_edition(path: Path) -> DataError:
    return DataError(f"{path.name} is another edition: its words and vectors do not match.")

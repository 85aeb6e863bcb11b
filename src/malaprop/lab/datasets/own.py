"""Texts with labels from the user's own files, in the place of a data set: tables, PAN's XML.

PAN 2011 has the texts of authors in XML, and for some texts the authors in a file of their own:

    <training><text file="1"><author id="a"/><body>...</body></text>...</training>
    <testing><text file="2"><body>...</body></text>...</testing>
    <results><text file="2"><author id="a"/></text>...</results>
"""

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.parsers import expat

from malaprop.files.formats.file_format import format_of
from malaprop.files.texts import read_labelled
from malaprop.lab.datasets.entries import datasets_folder, private_folder
from malaprop.lab.datasets.readers import LabelledTexts
from malaprop.privacy.errors import DataError, ParameterError
from malaprop.private_files import atomic_write, create

_COLUMNS = ("text", "label")
_ROOTS = ("training", "testing", "results")
_LARGEST = 1 << 28  # bytes of a file in XML
_DEEPEST = 8
_AT_ONCE = 1 << 16
_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")


def own_file(name: str) -> Path:
    """Return where a set of the user's own is kept; it need not exist."""
    return datasets_folder() / name / "texts.jsonl"


def keep_own(name: str, paths: Sequence[Path]) -> Path:
    """Keep the texts of files as a data set, for the user alone."""
    data, path = read_own(name, paths), own_file(name)
    private_folder(path.parent)
    with atomic_write(path) as part, open(create(part), "w", encoding="ascii") as file:
        for row in zip(data.texts, data.labels, strict=True):
            file.write(json.dumps(dict(zip(_COLUMNS, row, strict=True))) + "\n")
        file.flush()
        os.fsync(file.fileno())
    return path


def read_own(name: str, paths: Sequence[Path]) -> LabelledTexts:
    """Read files in the place of a data set: tables with a text and a label, or PAN's XML."""
    for path in paths:
        if not path.is_file():
            raise ParameterError(f"There is no file {path} for the data set {name}.")
    forms = {_is_xml(path) for path in paths}
    if len(forms) != 1:
        raise DataError(f"The files of {name} must all be XML, or all be tables.")
    rows = _pan(paths) if forms == {True} else _tables(paths)
    kept = [(text, label) for text, label in rows if text.strip() and label]
    if len({label for _, label in kept}) < 2:
        listed = ", ".join(map(str, paths))
        raise DataError(f"{listed} must have texts with two labels or more to stand for {name}.")
    texts, labels = zip(*kept, strict=True)
    return LabelledTexts(name=name, texts=texts, labels=labels)


def _tables(paths: Sequence[Path]) -> Iterator[tuple[str, str]]:
    column, label = _COLUMNS
    for path in paths:
        try:
            format_of(path)
        except ParameterError:
            raise ParameterError(
                f"The name of {path} does not tell what it is: a table's must end in .csv, .tsv, "
                ".jsonl, .json or .parquet."
            ) from None
        for text, own in read_labelled(str(path), column=column, label=label):
            yield text, str(own)


def _is_xml(path: Path) -> bool:
    with path.open("rb") as file:
        begin = file.read(_AT_ONCE)
    for mark in _MARKS:
        begin = begin.removeprefix(mark)
    return begin.lstrip(b"\0 \t\r\n").startswith(b"<")


def _pan(paths: Sequence[Path]) -> list[tuple[str, str]]:
    """Return the texts of PAN's files with their authors, which may stand in another file."""
    texts: dict[str, str] = {}
    authors: dict[str, str] = {}
    for path in paths:
        found = _PanFile(path)
        for own, others, what in ((found.texts, texts, "text"), (found.authors, authors, "author")):
            if not own.keys().isdisjoint(others):
                raise DataError(f"{path} has the {what} of a name that another file has, too.")
            others.update(own)
    without = len(texts.keys() - authors.keys())
    if without:
        raise DataError(
            f"{without:,} of {len(texts):,} texts have no author: give the file of the answers, "
            "too, whose texts have the same names."
        )
    return [(text, authors[name]) for name, text in texts.items()]


class _PanFile:
    """Texts and authors of one XML file. A document type is refused, and with it all entities.

    Errors state a line, and nothing of the file.
    """

    def __init__(self, path: Path) -> None:
        self.texts: dict[str, str] = {}
        self.authors: dict[str, str] = {}
        self._path, self._open, self._body = path, list[str](), list[str]()
        self._name = ""
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.StartDoctypeDeclHandler = self._refuse_type
        if path.stat().st_size > _LARGEST:
            raise DataError(f"{path} has more than {_LARGEST:,} bytes.")
        try:
            with path.open("rb") as file:
                while block := file.read(_AT_ONCE):
                    self._parser.Parse(block, False)
            self._parser.Parse(b"", True)
        except expat.ExpatError as error:
            reason = expat.ErrorString(error.code)
            raise DataError(f"{path}, line {error.lineno:,}: no XML ({reason}).") from None
        except DataError:  # a ValueError
            raise
        except (ValueError, LookupError):  # an encoding that there is not
            raise DataError(f"{path} states an encoding that cannot be read.") from None

    def _wrong(self, why: str) -> DataError:
        return DataError(f"{self._path}, line {self._parser.CurrentLineNumber:,}: {why}")

    def _refuse_type(self, *_: Any) -> None:
        raise self._wrong("a document type (DOCTYPE) is refused: PAN's files have none.")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if not self._open and tag not in _ROOTS:
            roots = ", ".join(_ROOTS)
            raise self._wrong(f"this is no file of PAN 2011, whose outermost element is {roots}.")
        if len(self._open) == _DEEPEST:
            raise self._wrong(f"elements stand more than {_DEEPEST} deep.")
        self._open.append(tag)
        match self._open[1:]:
            case ["text"]:
                self._name = self._attribute(attributes, "file")
                if self._name in self.texts or self._name in self.authors:
                    raise self._wrong("a second text has the same name.")
            case ["text", "author"]:
                self.authors[self._name] = self._attribute(attributes, "id")
            case ["text", "body"]:
                self._body = []

    def _attribute(self, attributes: dict[str, str], name: str) -> str:
        if not attributes.get(name):
            raise self._wrong(f"the element has no attribute {name!r}.")
        return attributes[name]

    def _end(self, _: str) -> None:
        if self._open[1:] == ["text", "body"]:
            self.texts[self._name] = "".join(self._body).strip()
        self._open.pop()

    def _characters(self, text: str) -> None:
        if self._open[1:3] == ["text", "body"]:
            self._body.append(text)

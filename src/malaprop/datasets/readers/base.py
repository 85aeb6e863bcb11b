"""What readers share: their registry, lines and rows of files."""

import csv
import io
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from malaprop.core.errors import DataError
from malaprop.core.long_fields import next_row
from malaprop.datasets.entries import Dataset

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

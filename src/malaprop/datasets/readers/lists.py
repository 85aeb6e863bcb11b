"""Lists of words, of sentences, and files that other parts of Malaprop read."""

import gzip
import json
from pathlib import Path
from typing import Any

from malaprop.core.errors import DataError
from malaprop.datasets.entries import Dataset
from malaprop.datasets.readers.base import Files, lines_of, reader
from malaprop.datasets.values import DataFiles, WordList

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

"""Pairs of sentences, and pairs of words."""

from collections.abc import Iterable
from typing import Any

from malaprop.datasets.entries import Dataset
from malaprop.datasets.readers.base import Files, fields_of, lines_of, reader, split_of
from malaprop.datasets.values import TextPairs, WordPairs


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

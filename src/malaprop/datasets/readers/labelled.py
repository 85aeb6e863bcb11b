"""Texts with labels."""

import re
from itertools import chain

from malaprop.core.errors import DataError
from malaprop.datasets.entries import Dataset
from malaprop.datasets.readers.base import (
    Files,
    csv_rows,
    fields_of,
    lines_of,
    reader,
    split_of,
    text_of,
)
from malaprop.datasets.values import LabelledTexts

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
    return _of(dataset, rows)


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
    return _of(dataset, rows, tuple(splits))


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
    return _of(dataset, rows)


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
    return _of(dataset, list(once.values()))


@reader("tweets")
def tweets(dataset: Dataset, files: Files) -> LabelledTexts:
    """Read Orange's table of tweets: three lines of headings, the author, the content."""
    author, content = _TWEET_COLUMNS
    rows = [
        (row[content], row[author])
        for path in files.values()
        for row in fields_of(path, content + 1)[3:]
    ]
    return _of(dataset, rows)


@reader("opinion-words")
def opinion_words(dataset: Dataset, files: Files) -> LabelledTexts:
    """Read lists of words in quotation marks, after a comment; the file's name has the label."""
    rows = []
    for name, path in files.items():
        listed = text_of(path).rpartition("*/")[2]
        words = dict.fromkeys(chain.from_iterable(_QUOTED.findall(listed)))
        label = name.removesuffix("Words.js")
        rows += [(word.replace("\\", ""), label) for word in words if word]
    return _of(dataset, rows)


def _of(
    dataset: Dataset, rows: list[tuple[str, str]], splits: tuple[str, ...] = ()
) -> LabelledTexts:
    if not rows:
        raise DataError(f"The files of {dataset.name} have no rows.")
    texts, labels = zip(*rows, strict=True)
    return LabelledTexts(name=dataset.name, texts=texts, labels=labels, splits=splits)

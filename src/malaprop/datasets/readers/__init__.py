"""Readers: from the files of a data set to a value. One function for each format, by name."""

from malaprop.datasets.readers import documents, labelled, lists, pairs, puzzles, vectors
from malaprop.datasets.readers.base import readers

__all__ = ["documents", "labelled", "lists", "pairs", "puzzles", "readers", "vectors"]

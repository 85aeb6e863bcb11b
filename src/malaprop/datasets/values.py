"""What a data set is once it is read: frozen values, in the order of the files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from malaprop.core.errors import DataError, ParameterError
from malaprop.core.suggest import did_you_mean
from malaprop.lexicon.lexicon import Lexicon

_Data = TypeVar("_Data", bound="_Rows")


@dataclass(frozen=True, kw_only=True)
class _Rows:
    """Rows of a data set, as columns of equal length."""

    name: str
    """The name in the catalogue, or one of your own."""
    splits: tuple[str, ...] = field(default=(), repr=False)
    """The part that each row belongs to, such as `train`; empty if the set is not divided."""

    def __post_init__(self) -> None:
        lengths = {len(column) for _, column in self._columns() if column}
        if len(lengths) != 1:
            raise DataError(
                f"The data set {self.name} must have as many values in each column, and at least "
                f"one row. Got columns of {', '.join(map(str, sorted(lengths))) or 'no'} rows."
            )

    def __len__(self) -> int:
        return max(len(column) for _, column in self._columns())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {len(self):,} rows)"

    def _columns(self) -> list[tuple[str, tuple[Any, ...]]]:
        return [(f.name, getattr(self, f.name)) for f in fields(self) if f.name != "name"]

    def rows(self: _Data, places: Sequence[int]) -> _Data:
        """Return the rows at some places, in that order.

        >>> LabelledTexts(name="two", texts=("a", "b"), labels=("x", "y")).rows([1]).texts
        ('b',)
        """
        chosen: dict[str, Any] = {
            title: tuple(column[place] for place in places)
            for title, column in self._columns()
            if column
        }
        return replace(self, **chosen)

    def part(self: _Data, *names: str) -> _Data:
        """Return the rows of one or several parts, such as `train` and `dev`."""
        there = dict.fromkeys(self.splits)
        for name in names:
            if name not in there:
                hint = did_you_mean(name, there)
                listed = ", ".join(there) or "none"
                raise ParameterError(
                    f"The data set {self.name} has no part {name!r}.{hint} There are: {listed}."
                )
        return self.rows([place for place, split in enumerate(self.splits) if split in names])


@dataclass(frozen=True, kw_only=True, repr=False)
class LabelledTexts(_Rows):
    """Texts, or words, each with a label: a class, or an author."""

    texts: tuple[str, ...]
    labels: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, repr=False)
class TextPairs(_Rows):
    """Pairs of sentences with a score, a label, or both."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    scores: tuple[float, ...] = ()
    labels: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    """What each pair was taken from, such as `headlines`; correlations are computed in each."""


@dataclass(frozen=True, kw_only=True, repr=False)
class WordPairs(_Rows):
    """Pairs of words with a score by people."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    scores: tuple[float, ...]


@dataclass(frozen=True, kw_only=True, repr=False)
class Puzzles(_Rows):
    """Sets of words that belong together, each with one that does not."""

    members: tuple[tuple[str, ...], ...]
    odd: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, repr=False)
class WordList(_Rows):
    """Words, or pairs of words, with a number or a note each."""

    words: tuple[str, ...]
    numbers: tuple[float, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class WordVectors:
    """Words with a vector each."""

    name: str
    words: tuple[str, ...]
    vectors: NDArray[np.float32]

    def __post_init__(self) -> None:
        if self.vectors.ndim != 2 or len(self.words) != len(self.vectors):
            raise DataError(f"The data set {self.name} must have a vector for each word.")

    def __len__(self) -> int:
        return len(self.words)

    def __repr__(self) -> str:
        return f"WordVectors({self.name!r}, {len(self):,} × {self.vectors.shape[1]})"

    def lexicon(self, words: Sequence[str]) -> Lexicon:
        """Return a lexicon of those words that have a vector here, in the order given.

        >>> three = WordVectors(name="three", words=("a", "b", "c"), vectors=np.eye(3))
        >>> three.lexicon(["c", "z", "a"]).words
        ('c', 'a')
        """
        places = {word: place for place, word in enumerate(self.words)}
        known = [word for word in words if word in places]
        return Lexicon(known, self.vectors[[places[word] for word in known]])


@dataclass(frozen=True, kw_only=True)
class DataFiles:
    """Files with checked digests, for something else to read."""

    name: str
    paths: Mapping[str, Path]

"""Odd-man-out: which of some words does not belong with the others?"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Floats, Ids
from malaprop.core.errors import DataError
from malaprop.core.parameters import require_whole
from malaprop.core.space import MetricSpace
from malaprop.datasets.values import Puzzles
from malaprop.measure.tasking.base import Problem, Task
from malaprop.measure.tasking.known_words import index_of, known_id
from malaprop.measure.tasking.sources import Source


@dataclass(frozen=True, kw_only=True)
class OddManOut(Task, name="odd-man-out"):
    """The share of puzzles whose odd word is found.

    The odd word is the one without which the mean cosine of all pairs is highest (nadp-2023,
    Appendix A). Words that the lexicon lacks are left out of a puzzle; it counts if the odd word
    and at least `least` others are left.
    """

    least: int = field(default=4, metadata={"help": "how many words must belong together"})

    measure = "accuracy"
    kind = Puzzles
    default = ("odd-8-8-8", "wikisem500")

    def __post_init__(self) -> None:
        require_whole(self, "least", 2)

    def prepare(self, space: MetricSpace) -> "KnownPuzzles":
        """Look up the words."""
        index = index_of(space)
        rows = [
            [known_id(index, word) for word in (odd, *members)]
            for data in self.sets()
            for members, odd in zip(data.members, data.odd, strict=True)
        ]
        known = [
            np.array([word for word in row if word >= 0], dtype=np.int64)
            for row in rows
            if row[0] >= 0
        ]
        puzzles = tuple(ids for ids in known if len(ids) > self.least)
        if not puzzles:
            raise DataError("The lexicon has the words of none of the puzzles: use another one.")
        share = len(puzzles) / len(rows)
        return KnownPuzzles(items=len(puzzles), covered=share, puzzles=puzzles)


@dataclass(frozen=True, kw_only=True)
class KnownPuzzles(Problem):
    """Puzzles by the ids of their words, the odd one first."""

    puzzles: tuple[Ids, ...]

    @property
    def majority(self) -> float:
        """The share that a guess solves: no answer is commoner than another."""
        return float(np.mean([1.0 / len(puzzle) for puzzle in self.puzzles]))

    def score(self, source: Source, rng: Generator) -> Mapping[str, float]:
        """Return the share of puzzles that are solved."""
        vectors = source.vectors(np.concatenate(self.puzzles))
        ends = np.cumsum([len(puzzle) for puzzle in self.puzzles])[:-1]
        solved = [_solved(words) for words in np.split(vectors, ends)]
        return {"accuracy": float(np.mean(solved))}


def _solved(vectors: Floats) -> bool:
    """Return whether leaving out the first word leaves the most similar ones, and no other does."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    units = vectors / np.where(lengths > 0, lengths, 1.0)
    near = units @ units.T
    # Leaving a word out takes away its cosines: the sum of the others is highest where its own
    # is lowest. All words leave as many pairs.
    own = near.sum(axis=1) - near.diagonal()
    return bool(own[0] < own[1:].min())

"""A lexicon file, opened: a stream of blocks of rows, whatever its format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from malaprop.lexicon.formats.repairs import Repairs


@dataclass(frozen=True)
class RowBlock:
    """Consecutive rows: their numbers in the file, words and vectors.

    `done` is how much of the file's `total` has been read.
    """

    numbers: Sequence[int]
    words: list[str]
    vectors: NDArray[np.float32]
    done: int


@dataclass(frozen=True)
class VectorFile:
    """A file of words and vectors in a known format. Its blocks can be read once."""

    dimension: int
    total: int
    blocks: Iterator[RowBlock]
    repairs: Repairs
    files: tuple[Path, ...]


def to_float32(values: NDArray[Any]) -> NDArray[np.float32]:
    """Convert numbers to float32. Too large ones become infinite, which screening rejects."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.ascontiguousarray(values, dtype=np.float32)

"""The file from which an interrupted training resumes, replaced atomically after each epoch."""

import math
import os
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from malaprop.core.arrays import Floats, Ids
from malaprop.core.errors import LexiconError
from malaprop.lexicon.formats import npy

_LONGEST_FINGERPRINT = 1 << 16


@dataclass
class TrainingState:
    """The state of a training: the vectors, and Adam's two moving averages of their gradients."""

    epoch: int
    vectors: Floats
    momentum: Floats
    squares: Floats
    updates: Ids


def save(path: Path, state: TrainingState, fingerprint: str) -> None:
    """Write a state. The fingerprint identifies the training that it belongs to."""
    part = path.with_name(f"{path.name}.part")
    with part.open("wb") as file:
        np.savez(
            file,
            token=np.array(fingerprint),
            epoch=np.array(state.epoch),
            vectors=state.vectors,
            momentum=state.momentum,
            squares=state.squares,
            updates=state.updates,
        )
    os.replace(part, path)


def load(path: Path, fingerprint: str, shape: tuple[int, int]) -> TrainingState | None:
    """Read the state of a training of vectors of this shape; None if there is no file."""
    if not path.is_file():
        return None
    try:
        agrees = str(npy.unpacked(path, ["token"], _LONGEST_FINGERPRINT)["token"]) == fingerprint
        state = _state(path, shape) if agrees else None
    except (OSError, ValueError, TypeError):
        raise LexiconError(
            f"{path} is not a complete checkpoint: train again without resuming."
        ) from None
    if state is None:
        raise LexiconError(
            f"{path} belongs to a training with other relations or settings: use those, or train "
            "again without resuming."
        )
    return state


def _state(path: Path, shape: tuple[int, int]) -> TrainingState:
    names = [field.name for field in fields(TrainingState)]
    # Copies, since arrays from the file are read-only and training changes them.
    saved = {k: v.copy() for k, v in npy.unpacked(path, names, 8 * math.prod(shape)).items()}
    state = TrainingState(int(saved.pop("epoch").item()), **saved)
    if not _fits(state, shape):
        raise ValueError("arrays of other shapes or types")
    return state


def _fits(state: TrainingState, shape: tuple[int, int]) -> bool:
    matrices = all(array.shape == shape for array in (state.vectors, state.momentum))
    rows = all(array.shape == shape[:1] for array in (state.squares, state.updates))
    floats = (state.vectors, state.momentum, state.squares)
    real = all(array.dtype == np.float64 and np.isfinite(array).all() for array in floats)
    return matrices and rows and real and state.updates.dtype == np.int64

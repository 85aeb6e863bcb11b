"""What an interrupted training goes on from: a file, replaced as a whole after each epoch."""

import math
import os
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from malaprop.core.arrays import Floats, Ids
from malaprop.core.errors import LexiconError
from malaprop.lexicon.formats import npy

_LONGEST_TOKEN = 1 << 16


@dataclass
class State:
    """How far a training is: the vectors, and Adam's two averages of their gradients."""

    epoch: int
    vectors: Floats
    momentum: Floats
    squares: Floats
    updates: Ids


def save(path: Path, state: State, token: str) -> None:
    """Write a state; `token` says which training it belongs to."""
    part = path.with_name(f"{path.name}.part")
    with part.open("wb") as file:
        np.savez(
            file,
            token=np.array(token),
            epoch=np.array(state.epoch),
            vectors=state.vectors,
            momentum=state.momentum,
            squares=state.squares,
            updates=state.updates,
        )
    os.replace(part, path)


def load(path: Path, token: str, shape: tuple[int, int]) -> State | None:
    """The state that was saved of vectors of a `shape`, or nothing where nothing was."""
    if not path.is_file():
        return None
    try:
        agrees = str(npy.unpacked(path, ["token"], _LONGEST_TOKEN)["token"]) == token
        state = _state(path, shape) if agrees else None
    except (OSError, ValueError, TypeError):
        raise LexiconError(
            f"{path} is no whole checkpoint: train again without resuming."
        ) from None
    if state is None:
        raise LexiconError(
            f"{path} is of a training with other relations or settings: use those, or train again "
            "without resuming."
        )
    return state


def _state(path: Path, shape: tuple[int, int]) -> State:
    names = [field.name for field in fields(State)]
    # Arrays that are read are read-only, and a training changes its own.
    saved = {k: v.copy() for k, v in npy.unpacked(path, names, 8 * math.prod(shape)).items()}
    state = State(int(saved.pop("epoch").item()), **saved)
    if not _fits(state, shape):
        raise ValueError("arrays of other sizes")
    return state


def _fits(state: State, shape: tuple[int, int]) -> bool:
    matrices = all(array.shape == shape for array in (state.vectors, state.momentum))
    rows = all(array.shape == shape[:1] for array in (state.squares, state.updates))
    floats = (state.vectors, state.momentum, state.squares)
    real = all(array.dtype == np.float64 and np.isfinite(array).all() for array in floats)
    return matrices and rows and real and state.updates.dtype == np.int64

"""What an interrupted training goes on from: a file, replaced as a whole after each epoch."""

import os
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from malaprop.core.errors import LexiconError
from malaprop.core.space import Ids

Floats = NDArray[np.float64]


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


def load(path: Path, token: str) -> State | None:
    """The state that was saved, or nothing where nothing was."""
    if not path.is_file():
        return None
    try:
        with np.load(path, allow_pickle=False) as saved:
            values = {name: saved[name] for name in saved.files}
        agrees = str(values.pop("token")) == token
        state = State(int(values.pop("epoch")), **values)
    except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile):
        raise LexiconError(
            f"{path} is no whole checkpoint: train again without resuming."
        ) from None
    if not agrees:
        raise LexiconError(
            f"{path} is of a training with other relations or settings: use those, or train again "
            "without resuming."
        )
    return state

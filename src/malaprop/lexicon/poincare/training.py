"""Vectors in the Poincaré ball whose distances give a hierarchy back (Nickel & Kiela 2017).

For each word u and each word v above it, training lowers

    −ln( e^−2d(u, v) / (e^−2d(u, v) + Σ e^−2d(u, w)) ),    w over the words that are not above u,

by stochastic gradients on the ball. What differs from the paper, because it gave better vectors in
less time:

- the start: words are laid out around the word above them, the general ones near the origin,
  instead of at random. A word near the edge of the ball can hardly turn any more, so that
  training cannot mend a start in the wrong direction;
- the 2, where the paper has 1: it makes those w count that are nearest to u, whose order is what
  the quality is about;
- the sum over w: the most general words, which are near everything, are always in it, the others
  are sampled, and count for those that were not;
- steps: Riemannian Adam (Bécigneul & Ganea 2019), along geodesics.
"""

from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from malaprop.core.arrays import Floats, Ids
from malaprop.core.errors import LexiconError, ParameterError
from malaprop.core.metrics import poincare
from malaprop.core.progress import Progress
from malaprop.lexicon.poincare.checkpoint import State, load, save
from malaprop.lexicon.poincare.gradients import Batch, gradients
from malaprop.lexicon.poincare.relations import Hierarchy

LIMIT = 1.0 - 1e-5
"""The largest norm of a trained vector."""
_START = 5.0  # how far out the most special words start
_OUTWARD = 0.3  # how much more they start outward of the word above them than in any direction
_DECAY, _SQUARES_DECAY = 0.9, 0.99  # Adam's β₁ and β₂
_LAST_RATE = 0.02  # what is left of the rate in the end


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How to train."""

    dimension: int = 10
    epochs: int = 200
    rate: float = 0.3
    negatives: int = 200
    """Words that are sampled for a batch."""
    general: int = 300
    """Words with the most words below them, which are in every batch."""
    batch: int = 256
    seed: int = 0

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if not value >= (0 if name in ("seed", "general") else 1) and name != "rate":
                raise ParameterError(f"The '{name}' of a training must be 1 or more. Got {value}.")
        if not 0.0 < self.rate <= 1.0:
            raise ParameterError(f"The 'rate' of a training must be in 0 … 1. Got {self.rate}.")


def train(
    hierarchy: Hierarchy,
    settings: Settings,
    *,
    checkpoint: Path | None = None,
    resume: bool = False,
    progress: Progress | None = None,
) -> NDArray[np.float32]:
    """Vectors for the words of a hierarchy; the same for the same settings, resumed or not.

    What is done is saved to the file `checkpoint` after each epoch; with `resume` a training that
    was interrupted goes on from there. `progress` is called with epochs that are done, and all.
    """
    token = f"{hierarchy.token} {sorted(asdict(settings).items())}"
    shape = (len(hierarchy.words), settings.dimension)
    state = load(checkpoint, token, shape) if resume and checkpoint is not None else None
    if state is None:
        vectors = _layout(hierarchy, settings, _rng(settings, 0))
        updates = np.zeros(shape[0], dtype=np.int64)
        state = State(0, vectors, np.zeros(shape), np.zeros(shape[0]), updates)
    while state.epoch < settings.epochs:
        _epoch(hierarchy, settings, state)
        if checkpoint is not None:
            save(checkpoint, state, token)
        if progress is not None:
            progress(state.epoch, settings.epochs)
    return _rounded(state.vectors)


def _rng(settings: Settings, epoch: int) -> Generator:
    """A generator for each epoch, so that a resumed training is the one that was interrupted."""
    return Generator(np.random.PCG64([settings.seed, epoch]))


def _layout(hierarchy: Hierarchy, settings: Settings, rng: Generator) -> Floats:
    """Words around the nearest word above them, the farther out the fewer are below them."""
    size = len(hierarchy.words)
    below = np.bincount(hierarchy.above, minlength=size)
    far = _START * (1.0 - np.log1p(below) / np.log(size + 1))
    directions = _units(rng.standard_normal((size, settings.dimension)))
    vectors = np.zeros((size, settings.dimension))
    placed = np.zeros(size, dtype=bool)
    for word in np.argsort(-below, kind="stable"):
        above = hierarchy.above_of(np.array([word]))
        above = above[placed[above]]
        centre, step, direction = np.zeros((1, settings.dimension)), far[word], directions[[word]]
        if len(above):
            parent = above[np.argmin(below[above])]
            centre, step = vectors[[parent]], max(far[word] - far[parent], 0.3)
            direction = _units(direction + _OUTWARD * _units(centre))
        vectors[word] = poincare.lower(poincare.travel(centre, direction, np.array([step])))[0]
        placed[word] = True
    return vectors


def _units(vectors: Floats) -> Floats:
    """Vectors of length 1 in the same directions; zero stays zero."""
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-300))


def _epoch(hierarchy: Hierarchy, settings: Settings, state: State) -> None:
    """One pass over all words that have a word above them."""
    rng = _rng(settings, state.epoch + 1)
    share = state.epoch / settings.epochs
    rate = settings.rate * (1.0 - (1.0 - _LAST_RATE) * share)
    order = rng.permutation(np.flatnonzero(hierarchy.counts))
    below = np.bincount(hierarchy.above, minlength=len(state.vectors))
    general, rest = np.split(np.argsort(-below, kind="stable"), [settings.general])
    count = min(settings.negatives, len(rest))
    weights = np.concatenate([np.ones(len(general)), np.full(count, len(rest) / max(count, 1))])
    for start in range(0, len(order), settings.batch):
        others = np.concatenate([general, rng.choice(rest, count, replace=False)])
        batch = Batch(order[start : start + settings.batch], others, weights)
        _step(state, *gradients(hierarchy, state.vectors, batch), rate)
    state.epoch += 1


def _step(state: State, ids: Ids, gradient: Floats, rate: float) -> None:
    """Adam's step along geodesics. Moments are kept in frames that are orthonormal in the ball."""
    x = state.vectors[ids]
    steepest = gradient * (poincare.conformal(x) / 2.0)[:, None]
    state.updates[ids] += 1
    updates = state.updates[ids]
    momentum = _DECAY * state.momentum[ids] + (1.0 - _DECAY) * steepest
    squares = np.einsum("ij,ij->i", steepest, steepest)
    squares = _SQUARES_DECAY * state.squares[ids] + (1.0 - _SQUARES_DECAY) * squares
    state.momentum[ids], state.squares[ids] = momentum, squares
    scale = rate / np.sqrt(squares / (1.0 - _SQUARES_DECAY**updates) + 1e-16)
    steps = momentum * (scale / (1.0 - _DECAY**updates))[:, None]
    lengths = np.linalg.norm(steps, axis=1)
    far = np.minimum(lengths, 1.0)
    moved = poincare.mobius_add(x, -np.tanh(far / 2.0)[:, None] * _units(steps))
    state.vectors[ids] = poincare.shorten(moved, LIMIT)


def _rounded(vectors: Floats) -> NDArray[np.float32]:
    """In float32, all of them different."""
    rounded = vectors.astype(np.float32)
    equal = len(rounded) - len(np.unique(rounded, axis=0))
    if equal:
        raise LexiconError(
            f"{equal} words have the vector of another one, and would be at distance 0: train "
            "longer, or in more dimensions."
        )
    return rounded

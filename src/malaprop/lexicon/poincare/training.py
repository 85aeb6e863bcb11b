"""Trains vectors in the Poincaré ball whose distances reproduce a hierarchy (Nickel & Kiela 2017).

For each word u and each word v above it, training lowers

    −ln( e^−2d(u, v) / (e^−2d(u, v) + Σ e^−2d(u, w)) ),    w over the words that are not above u,

by stochastic gradient descent on the ball. It differs from the paper where that gave better vectors
in less time:

- the start: words are placed around the word above them, general ones near the origin, instead of
  at random. A word near the edge of the ball can hardly turn any more, so training cannot correct a
  start in the wrong direction;
- the factor 2, where the paper has 1: it stresses the w nearest to u, whose order decides the
  quality;
- the sum over w: it always includes the most general words, which are near everything. The others
  are sampled, and stand for those that were not;
- the steps: Riemannian Adam (Bécigneul & Ganea 2019), along geodesics.
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
from malaprop.lexicon.poincare.checkpoint import TrainingState, load, save
from malaprop.lexicon.poincare.gradients import TrainingBatch, gradients
from malaprop.lexicon.poincare.relations import Hierarchy

LIMIT = 1.0 - 1e-5
"""The largest norm of a trained vector."""
_START = 5.0  # distance from the origin at which the most specific words start
_OUTWARD = 0.3  # bias of starts away from the origin, against a random direction
_DECAY, _SQUARES_DECAY = 0.9, 0.99  # Adam's β₁ and β₂
_LAST_RATE = 0.02  # fraction of the rate that remains at the end


@dataclass(frozen=True, kw_only=True)
class TrainingSettings:
    """Parameters of a training."""

    dimension: int = 10
    epochs: int = 200
    rate: float = 0.3
    negatives: int = 200
    """Words sampled for each batch."""
    general: int = 300
    """Words included in every batch: those with the most words below them."""
    batch: int = 256
    seed: int = 0

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            least = 0 if name in ("seed", "general") else 1
            if name != "rate" and not value >= least:
                raise ParameterError(
                    f"The '{name}' of a training must be {least} or more. Got {value}."
                )
        if not 0.0 < self.rate <= 1.0:
            raise ParameterError(
                f"The 'rate' of a training must be above 0 and at most 1. Got {self.rate}."
            )


def train(
    hierarchy: Hierarchy,
    settings: TrainingSettings,
    *,
    checkpoint: Path | None = None,
    resume: bool = False,
    progress: Progress | None = None,
) -> NDArray[np.float32]:
    """Train vectors for the words of a hierarchy: the same for the same settings, resumed or not.

    The state is saved to the file `checkpoint` after each epoch. With `resume`, an interrupted
    training continues from there. `progress` is called with the epochs done and the total.
    """
    fingerprint = f"{hierarchy.fingerprint} {sorted(asdict(settings).items())}"
    shape = (len(hierarchy.words), settings.dimension)
    state = load(checkpoint, fingerprint, shape) if resume and checkpoint is not None else None
    if state is None:
        vectors = _starting_points(hierarchy, settings, _rng(settings, 0))
        updates = np.zeros(shape[0], dtype=np.int64)
        state = TrainingState(0, vectors, np.zeros(shape), np.zeros(shape[0]), updates)
    while state.epoch < settings.epochs:
        _epoch(hierarchy, settings, state)
        if checkpoint is not None:
            save(checkpoint, state, fingerprint)
        if progress is not None:
            progress(state.epoch, settings.epochs)
    return _rounded(state.vectors)


def _rng(settings: TrainingSettings, epoch: int) -> Generator:
    """Return a generator of its own for each epoch, so that resuming changes nothing."""
    return Generator(np.random.PCG64([settings.seed, epoch]))


def _starting_points(hierarchy: Hierarchy, settings: TrainingSettings, rng: Generator) -> Floats:
    """Place words around the nearest word above them; the fewer words below, the farther out."""
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
    """Scale vectors to length 1; zero stays zero."""
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-300))


def _epoch(hierarchy: Hierarchy, settings: TrainingSettings, state: TrainingState) -> None:
    """Train on all words that have a word above them, once."""
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
        batch = TrainingBatch(order[start : start + settings.batch], others, weights)
        _step(state, *gradients(hierarchy, state.vectors, batch), rate)
    state.epoch += 1


def _step(state: TrainingState, ids: Ids, gradient: Floats, rate: float) -> None:
    """Take Adam's step along geodesics. Moments are kept in orthonormal frames of the ball."""
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
    """Round to float32. Raises LexiconError unless all vectors differ."""
    rounded = vectors.astype(np.float32)
    equal = len(rounded) - len(np.unique(rounded, axis=0))
    if equal:
        raise LexiconError(
            f"{equal} words have the same vector as another word, at distance 0: train longer, or "
            "in more dimensions."
        )
    return rounded

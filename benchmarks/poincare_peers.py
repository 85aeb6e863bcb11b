"""Train Poincaré vectors with another package, in an environment that has that package only.

    python benchmarks/poincare_peers.py TRAINER GRAPH.npz VECTORS.npz SETTINGS

`poincare_trainers.py` calls it with the Python of that environment. TRAINER is geoopt, hypll or
hyperlib; SETTINGS are the fields of `Settings` as JSON. GRAPH.npz has `pairs`, rows (word, word
above it), and `count`; VECTORS.npz gets `vectors` and `seconds`, those of the processor.

geoopt and hypll have manifolds and optimizers: the loop, the paper's loss and the sampling of
negatives are written here, after hypll's tutorial. hyperlib has a model that fits itself.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"
os.environ["MKL_NUM_THREADS"] = "1"
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]
Vectors = NDArray[np.float64]


@dataclass(frozen=True)
class Settings:
    """What a trainer may be told. Burn-in is 10 epochs at a tenth of the rate."""

    rate: float
    negatives: int
    batch: int
    epochs: int
    optimizer: str = "sgd"
    momentum: float = 0.0
    clip: float = 0.9
    start: str = "origin"
    dimension: int = 10
    seed: int = 0


class Graph:
    """Pairs of words, and how negatives are drawn for them."""

    def __init__(self, pairs: Ids, count: int) -> None:
        self.pairs, self.count = pairs, count
        self._related = np.eye(count, dtype=bool)
        self._related[pairs[:, 0], pairs[:, 1]] = True

    def edges(self, chosen: Ids, negatives: int, rng: np.random.Generator) -> Ids:
        """A pair, then `negatives` that are none: half with another word above, half below."""
        positive = self.pairs[chosen]
        above = negatives - negatives // 2
        found = np.repeat(positive[:, None, :], 1 + negatives, axis=1)
        found[:, 1 : 1 + above, 1] = self._draw(positive[:, 0], above, rng)
        found[:, 1 + above :, 0] = self._draw(positive[:, 1], negatives - above, rng, below=True)
        return found

    def _draw(self, words: Ids, each: int, rng: np.random.Generator, *, below: bool = False) -> Ids:
        """Words that are not related to these, drawn again until none is, or at least others."""
        related = self._related.T if below else self._related
        drawn = rng.integers(self.count, size=(len(words), each))
        for _ in range(50):  # a word above all others has none below it that is unrelated
            wrong = related[words[:, None], drawn]
            if not wrong.any():
                break
            drawn[wrong] = rng.integers(self.count, size=int(wrong.sum()))
        return np.where(drawn == words[:, None], (drawn + 1) % self.count, drawn)


def by_torch(
    graph: Graph, settings: Settings, weights: Any, distance: Callable[[Any], Any], maker: Any
) -> None:
    """Minimise −ln(e^−d(u, v)/Σ e^−d(u, v')) over the pair and its negatives."""
    import torch

    rng = np.random.default_rng(settings.seed)
    target = torch.zeros(settings.batch, dtype=torch.long)
    for epoch in range(settings.epochs):
        if epoch in (0, 10):
            optimizer = maker([weights], lr=settings.rate / (10.0 if epoch < 10 else 1.0))
        order = rng.permutation(len(graph.pairs))
        for start in range(0, len(order), settings.batch):
            edges = graph.edges(order[start : start + settings.batch], settings.negatives, rng)
            optimizer.zero_grad()
            scores = -distance(torch.from_numpy(edges))
            loss = torch.nn.functional.cross_entropy(scores, target[: len(edges)])
            loss.backward()
            optimizer.step()


def geoopt(graph: Graph, settings: Settings) -> Vectors:
    """geoopt's ball and optimizers."""
    import geoopt
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(settings.seed)
    ball = geoopt.PoincareBall()
    start = torch.empty(graph.count, settings.dimension, dtype=torch.float64)
    weights = geoopt.ManifoldParameter(start.uniform_(-1e-3, 1e-3), manifold=ball)
    maker = {"sgd": geoopt.optim.RiemannianSGD, "adam": geoopt.optim.RiemannianAdam}

    def distance(edges: Any) -> Any:
        points = weights[edges]
        return ball.dist(points[..., 0, :], points[..., 1, :])

    by_torch(graph, settings, weights, distance, maker[settings.optimizer])
    return np.asarray(weights.detach().numpy(), dtype=np.float64)


def hypll(graph: Graph, settings: Settings) -> Vectors:
    """hypll's embedding, as in its tutorial, but started near the origin, as in the paper.

    From its own start, tangents of length √10, float64 distances are NaN at the first step.
    """
    import torch
    from hypll.manifolds.poincare_ball import Curvature, PoincareBall
    from hypll.nn import HEmbedding
    from hypll.optim import RiemannianAdam, RiemannianSGD

    torch.set_num_threads(1)
    torch.manual_seed(settings.seed)
    ball = PoincareBall(Curvature(1.0))
    model = HEmbedding(graph.count, settings.dimension, ball)
    if settings.start == "origin":
        with torch.no_grad():
            model.weight.tensor.uniform_(-1e-3, 1e-3)
    maker = {"sgd": RiemannianSGD, "adam": RiemannianAdam}

    def distance(edges: Any) -> Any:
        points = model(edges)
        return ball.dist(x=points[:, :, 0, :], y=points[:, :, 1, :])

    by_torch(graph, settings, model.weight, distance, maker[settings.optimizer])
    # Its curvature is softplus(1) = 1.31, so that its ball is smaller than the unit ball.
    scale = float(ball.c().detach()) ** 0.5
    return np.asarray(scale * model.weight.tensor.detach().numpy(), dtype=np.float64)


def hyperlib(graph: Graph, settings: Settings) -> Vectors:
    """hyperlib's model, as in its example: negatives are drawn once for each word."""
    import tensorflow as tf
    from hyperlib.models.pehr import HierarchicalEmbeddings
    from hyperlib.nn.optimizers.rsgd import RSGD

    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    tf.keras.utils.set_random_seed(settings.seed)
    rng = np.random.default_rng(settings.seed)
    words = np.array([f"w{i}" for i in range(graph.count)])
    fixed = graph._draw(np.arange(graph.count), settings.negatives, rng)
    data = tf.data.Dataset.from_tensor_slices((words[graph.pairs], words[fixed[graph.pairs[:, 0]]]))
    model = HierarchicalEmbeddings(
        vocab=words.tolist(), embedding_dim=settings.dimension, clip_value=settings.clip
    )
    if settings.optimizer == "rsgd":
        optimizer = RSGD(learning_rate=settings.rate)
    else:
        optimizer = tf.keras.optimizers.SGD(settings.rate, momentum=settings.momentum)
    model.fit(data.shuffle(len(graph.pairs)).batch(settings.batch), optimizer, settings.epochs)
    # Row 0 is that of unknown words, and `get_embeddings` begins with it and omits the last. The
    # loss sees vectors that are clipped, so these are what was trained.
    inner = tf.clip_by_norm(model.embedding.weights[0][1:], settings.clip, axes=1)
    return np.asarray(model.manifold.expmap0(inner, c=model.c), dtype=np.float64)


def main(trainer: str, source: str, output: str, settings: str) -> None:
    """Train, and write the vectors."""
    with np.load(source) as stored:
        graph = Graph(stored["pairs"], int(stored["count"]))
    train = {"geoopt": geoopt, "hypll": hypll, "hyperlib": hyperlib}[trainer]
    import_module("tensorflow" if trainer == "hyperlib" else "torch")  # seconds are for training
    start = time.process_time()
    vectors = train(graph, Settings(**json.loads(settings)))
    np.savez(output, vectors=vectors, seconds=time.process_time() - start)


if __name__ == "__main__":
    main(*sys.argv[1:])

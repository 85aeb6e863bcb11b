"""Compare trainers of Poincaré vectors: Malaprop's and others, on one core and the same pairs.

    python benchmarks/poincare_trainers.py                   download WordNet, train, print a table
    python benchmarks/poincare_trainers.py --source FOLDER   with WordNet's files in a folder
    ... --peer hypll=PYTHON --only hypll                     also with a package that PYTHON has

The graph: English nouns below one noun of WordNet, each with all nouns above it. All vectors are
measured as  malaprop lexicon train-poincare  does. Seconds are those of the processor, which other
programs on the machine change little. It needs gensim:  pip install gensim. Other packages (geoopt,
hypll, hyperlib) want environments of their own, and are called there by `poincare_peers.py`.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import runpy
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any

# One core for everybody; it has to be said before NumPy is imported.
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["MKL_NUM_THREADS"] = "1"

import numpy as np
from numpy.typing import NDArray

from malaprop.lab.poincare import (
    Hierarchy,
    ReconstructionQuality,
    TrainingSettings,
    WordNet,
    reconstruction,
    train,
)
from malaprop.privacy import metrics

BUILDER = Path(__file__).resolve().parent.parent / "tools" / "build_english_hierarchy.py"
PEERS = Path(__file__).resolve().parent / "poincare_peers.py"
DIMENSION = 10
SEED = 0
HEADER = """\
| trainer | settings | epochs | MAP | mean rank | seconds | pairs/s |
|---|---|--:|--:|--:|--:|--:|"""


@dataclass(frozen=True)
class Row:
    """What a trainer reached, and at what cost. Epochs of burn-in count as epochs."""

    trainer: str
    settings: str
    epochs: int
    quality: ReconstructionQuality
    seconds: float
    pairs: int

    def __str__(self) -> str:
        return (
            f"| {self.trainer} | {self.settings} | {self.epochs} "
            f"| {self.quality.average_precision:.3f} | {self.quality.mean_rank:.1f} "
            f"| {self.seconds:.0f} | {self.pairs * self.epochs / self.seconds:,.0f} |"
        )


@dataclass(frozen=True)
class Gensim:
    """Parameters of gensim's trainer: its defaults, unless said otherwise."""

    negative: int = 10
    alpha: float = 0.1
    burn_in: int = 10
    batch_size: int = 10
    regularization_coeff: float = 1.0
    seed: int = SEED

    def __str__(self) -> str:
        seed = f", seed {self.seed}" if self.seed != SEED else ""
        return (
            f"negatives {self.negative}, rate {self.alpha:g}, "
            f"burn-in {self.burn_in}, batch {self.batch_size} pairs, "
            f"regularization {self.regularization_coeff:g}{seed}"
        )


DEFAULTS = Gensim()
TUNED = Gensim(alpha=0.5, batch_size=50, regularization_coeff=0.0)
# What else was tried for gensim, each for 50 epochs after burn-in.
TRIALS = (
    replace(TUNED, seed=1),
    replace(TUNED, seed=2),
    replace(TUNED, alpha=1.0),
    replace(TUNED, negative=5),
)
# The first of hypll's and of hyperlib's are those of its own example; geoopt has none.
PEER_SETTINGS: dict[str, tuple[dict[str, Any], ...]] = {
    "geoopt": (
        {"optimizer": "adam", "rate": 0.01, "negatives": 50, "batch": 50, "epochs": 60},
        {"rate": 3.0, "negatives": 50, "batch": 50, "epochs": 60},
        {"rate": 10.0, "negatives": 50, "batch": 50, "epochs": 60},
    ),
    "hypll": (
        {"rate": 0.3, "negatives": 10, "batch": 10, "epochs": 60},
        {"rate": 3.0, "negatives": 50, "batch": 50, "epochs": 60},
        {"rate": 10.0, "negatives": 50, "batch": 50, "epochs": 60},
        {"optimizer": "adam", "rate": 0.01, "negatives": 50, "batch": 50, "epochs": 60},
    ),
    "hyperlib": (
        {"rate": 0.01, "momentum": 0.9, "negatives": 10, "batch": 32, "epochs": 10},
        {"rate": 0.01, "momentum": 0.9, "negatives": 10, "batch": 32, "epochs": 60},
        {"rate": 0.03, "negatives": 50, "batch": 128, "epochs": 20, "clip": 5.0},
        {"rate": 0.1, "optimizer": "rsgd", "negatives": 10, "batch": 32, "epochs": 10},
    ),
}


def main() -> None:
    """Train with everything and print the table."""
    parser = argparse.ArgumentParser(description="Compare trainers of Poincaré vectors.")
    parser.add_argument("--source", type=Path, help="WordNet's files, if they are there already")
    parser.add_argument("--root", default="vertebrate", help="the noun at the top of the graph")
    parser.add_argument(
        "--peer", action="append", default=[], metavar="NAME=PYTHON", help="another trainer"
    )
    parser.add_argument("--only", default="", help="the one trainer to run")
    chosen = parser.parse_args()
    hierarchy = subtree(relations(chosen.source), chosen.root)
    names = ", ".join(f"{name} {version(name)}" for name in ("malaprop", "gensim", "numpy"))
    print(f"Python {platform.python_version()}, {names}, {platform.machine()}, one core")
    print(
        f"Nouns below {chosen.root}: {len(hierarchy.words):,} words, "
        f"{len(hierarchy.above):,} pairs, {DIMENSION} dimensions, seed {SEED}\n"
    )
    print(HEADER, flush=True)
    peers = dict(peer.split("=", 1) for peer in chosen.peer)
    for name, found in trainers(hierarchy, peers).items():
        if chosen.only in ("", name):
            for row in found:
                print(row, flush=True)


def relations(source: Path | None) -> list[tuple[str, str]]:
    """The nouns of WordNet, each with those directly above it."""
    if source is not None:
        return WordNet(source).relations()
    download: Callable[[Path], Path] = runpy.run_path(str(BUILDER))["download"]
    with tempfile.TemporaryDirectory() as scratch:
        return WordNet(download(Path(scratch))).relations()


def subtree(pairs: list[tuple[str, str]], root: str) -> Hierarchy:
    """The hierarchy of a noun and of all nouns below it."""
    whole = Hierarchy.of(pairs)
    if root not in whole.words:
        raise SystemExit(f"WordNet has no noun {root}")
    places = np.flatnonzero(whole.above == whole.words.index(root))
    below = np.searchsorted(whole.starts, places, side="right") - 1
    inside = {root, *(whole.words[i] for i in below)}
    return Hierarchy.of(pair for pair in pairs if inside.issuperset(pair))


def trainers(hierarchy: Hierarchy, peers: dict[str, str]) -> dict[str, Iterable[Row | str]]:
    """The rows of each trainer, which is run when they are asked for."""
    own = [TrainingSettings(dimension=DIMENSION, seed=SEED, epochs=60)]
    own += [TrainingSettings(dimension=DIMENSION, seed=seed) for seed in (0, 1, 2)]
    trials = [(DEFAULTS, (50, 100)), (TUNED, (50, 200)), *((trial, (50,)) for trial in TRIALS)]
    return {
        "malaprop": (malaprop(hierarchy, settings) for settings in own),
        "gensim": chain.from_iterable(gensim(hierarchy, *trial) for trial in trials),
    } | {
        name: (peer(hierarchy, name, python, settings) for settings in PEER_SETTINGS[name])
        for name, python in peers.items()
    }


def malaprop(hierarchy: Hierarchy, settings: TrainingSettings) -> Row:
    """Malaprop's trainer."""
    start = time.process_time()
    vectors = train(hierarchy, settings)
    seconds = time.process_time() - start
    quality = reconstruction(hierarchy, vectors.astype(np.float64))
    words = (
        f"negatives {settings.general} + {settings.negatives}, rate {settings.rate:g}, "
        f"batch {settings.batch} words" + (f", seed {settings.seed}" if settings.seed else "")
    )
    return Row("Malaprop", words, settings.epochs, quality, seconds, len(hierarchy.above))


def gensim(hierarchy: Hierarchy, settings: Gensim, stops: tuple[int, ...]) -> Iterator[Row]:
    """gensim's trainer, measured after the epochs of each of `stops`, which go on from another."""
    from gensim.models.poincare import PoincareModel

    words = hierarchy.words
    below = np.repeat(np.arange(len(words)), hierarchy.counts)
    pairs = [(words[i], words[j]) for i, j in zip(below, hierarchy.above, strict=True)]
    start = time.process_time()
    model = PoincareModel(
        pairs,
        size=DIMENSION,
        negative=settings.negative,
        alpha=settings.alpha,
        burn_in=settings.burn_in,
        regularization_coeff=settings.regularization_coeff,
        workers=1,
        seed=settings.seed,
    )
    seconds, done = time.process_time() - start, 0
    for stop in stops:
        start = time.process_time()
        model.train(stop - done, batch_size=settings.batch_size)
        seconds, done = seconds + time.process_time() - start, stop
        quality = reconstruction(hierarchy, vectors_of(model, words))
        yield Row("gensim", str(settings), stop + settings.burn_in, quality, seconds, len(pairs))


def peer(hierarchy: Hierarchy, name: str, python: str, settings: dict[str, Any]) -> Row | str:
    """A package in an environment of its own: its row, or what it ended with."""
    below = np.repeat(np.arange(len(hierarchy.words)), hierarchy.counts)
    pairs = np.stack([below, hierarchy.above], axis=1)
    words = ", ".join(f"{key} {value}" for key, value in settings.items() if key != "epochs")
    with tempfile.TemporaryDirectory() as scratch:
        graph, output = Path(scratch) / "graph.npz", Path(scratch) / "vectors.npz"
        np.savez(graph, pairs=pairs, count=len(hierarchy.words))
        command = [python, str(PEERS), name, str(graph), str(output), json.dumps(settings)]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
        if ended.returncode:
            return f"| {name} | {words} | {ended.stderr.strip().splitlines()[-1][:120]} |"
        with np.load(output) as found:
            vectors, seconds = found["vectors"], float(found["seconds"])
    if not np.isfinite(vectors).all():
        return f"| {name} | {words} | vectors are NaN |"
    quality = reconstruction(hierarchy, metrics.shorten(vectors, metrics.EDGE))
    return Row(name, words, settings["epochs"], quality, seconds, len(pairs))


def vectors_of(model: Any, words: tuple[str, ...]) -> NDArray[np.float64]:
    """The vectors of a model of gensim's, in the order of the words."""
    return np.array([model.kv[word] for word in words], dtype=np.float64)


if __name__ == "__main__":
    main()

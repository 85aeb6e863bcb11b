"""Compare trainers of Poincaré vectors: Malaprop's and gensim's, on one core and the same pairs.

    python benchmarks/poincare_trainers.py                   download WordNet, train, print a table
    python benchmarks/poincare_trainers.py --source FOLDER   with WordNet's files in a folder

The graph: English nouns below one noun of WordNet, each with all nouns above it. All vectors are
measured as  malaprop lexicon train-poincare  does. Seconds are those of the processor, which other
programs on the machine change little. It needs gensim:  pip install gensim.
"""

from __future__ import annotations

import argparse
import os
import platform
import runpy
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

# One core for everybody; it has to be said before NumPy is imported.
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["MKL_NUM_THREADS"] = "1"

import numpy as np
from numpy.typing import NDArray

from malaprop.lexicon.poincare.quality import Quality, reconstruction
from malaprop.lexicon.poincare.relations import Hierarchy
from malaprop.lexicon.poincare.training import Settings, train
from malaprop.lexicon.poincare.wordnet import WordNet

BUILDER = Path(__file__).resolve().parent.parent / "tools" / "build_english_hierarchy.py"
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
    quality: Quality
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
    """Settings of gensim's trainer: its defaults, unless said otherwise."""

    negative: int = 10
    alpha: float = 0.1
    burn_in: int = 10
    batch_size: int = 10
    regularization_coeff: float = 1.0

    def __str__(self) -> str:
        return (
            f"negatives {self.negative}, rate {self.alpha:g}, "
            f"burn-in {self.burn_in}, batch {self.batch_size} pairs, "
            f"regularization {self.regularization_coeff:g}"
        )


DEFAULTS = Gensim()
# The best of three that were tried for 10 epochs after burn-in.
TUNED = Gensim(alpha=0.5, batch_size=50, regularization_coeff=0.0)


def main() -> None:
    """Train with everything and print the table."""
    parser = argparse.ArgumentParser(description="Compare trainers of Poincaré vectors.")
    parser.add_argument("--source", type=Path, help="WordNet's files, if they are there already")
    parser.add_argument("--root", default="vertebrate", help="the noun at the top of the graph")
    chosen = parser.parse_args()
    hierarchy = subtree(relations(chosen.source), chosen.root)
    names = ", ".join(f"{name} {version(name)}" for name in ("malaprop", "gensim", "numpy"))
    print(f"Python {platform.python_version()}, {names}, {platform.machine()}, one core")
    print(
        f"Nouns below {chosen.root}: {len(hierarchy.words):,} words, "
        f"{len(hierarchy.above):,} pairs, {DIMENSION} dimensions, seed {SEED}\n"
    )
    print(HEADER, flush=True)
    for row in rows(hierarchy):
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


def rows(hierarchy: Hierarchy) -> Iterator[Row]:
    """The table, row by row."""
    yield malaprop(hierarchy, Settings(dimension=DIMENSION, seed=SEED, epochs=60))
    yield malaprop(hierarchy, Settings(dimension=DIMENSION, seed=SEED))
    yield from gensim(hierarchy, DEFAULTS, (50, 100))
    yield from gensim(hierarchy, TUNED, (50, 200))


def malaprop(hierarchy: Hierarchy, settings: Settings) -> Row:
    """Malaprop's trainer."""
    start = time.process_time()
    vectors = train(hierarchy, settings)
    seconds = time.process_time() - start
    quality = reconstruction(hierarchy, vectors.astype(np.float64))
    words = (
        f"negatives {settings.general} + {settings.negatives}, rate {settings.rate:g}, "
        f"batch {settings.batch} words"
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
        seed=SEED,
    )
    seconds, done = time.process_time() - start, 0
    for stop in stops:
        start = time.process_time()
        model.train(stop - done, batch_size=settings.batch_size)
        seconds, done = seconds + time.process_time() - start, stop
        quality = reconstruction(hierarchy, vectors_of(model, words))
        yield Row("gensim", str(settings), stop + settings.burn_in, quality, seconds, len(pairs))


def vectors_of(model: Any, words: tuple[str, ...]) -> NDArray[np.float64]:
    """The vectors of a model of gensim's, in the order of the words."""
    return np.array([model.kv[word] for word in words], dtype=np.float64)


if __name__ == "__main__":
    main()

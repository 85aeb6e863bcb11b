"""The exact k-nearest-neighbour graph of a lexicon, against faiss' brute force.

    .venv/bin/pip install faiss-cpu
    .venv/bin/python benchmarks/neighbours.py [--words 73404] [--dimension 300] [--repeats 3]

The ratio is this library's time over that of faiss `IndexFlatL2`, in the same repeat. faiss works
in float32: "differ" counts the words whose neighbours, in order, are not those of float64.
"""

import argparse
import os
import platform
import time
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from malaprop.lexicon.search import NearestSearch

Floats32 = NDArray[np.float32]


def data(n: int, d: int, rng: np.random.Generator) -> Floats32:
    """Vectors in clusters, as words' are: neighbours are nearer than in a single cloud."""
    centres = 0.3 * rng.standard_normal((max(1, n // 50), d))
    own = 0.24 * rng.standard_normal((n, d))
    return np.asarray(centres[rng.integers(len(centres), size=n)] + own, dtype=np.float32)


def by_faiss(vectors: Floats32, k: int) -> Any:
    """faiss' brute force, its index included."""
    import faiss

    index = faiss.IndexFlatL2(vectors.shape[1])
    index.add(vectors)
    return index.search(vectors, k)[1]


def by_malaprop(vectors: Floats32, k: int) -> Any:
    """This library's exact search, as NADP's neighbourhoods and word graphs use it."""
    return NearestSearch(vectors).nearest(vectors, k)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--words", type=int, default=73_404)
    parser.add_argument("--dimension", type=int, default=300)
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    vectors = data(options.words, options.dimension, np.random.default_rng(1))
    k = options.k + 1  # a word is its own nearest
    print(f"{os.cpu_count()} cores, {platform.machine()}, numpy {np.__version__}, ", end="")
    print(f"faiss-cpu {version('faiss-cpu')}; {options.words:,} × {options.dimension}, ", end="")
    print(f"k = {options.k}\n\n| repeat | Malaprop | faiss | ratio | differ |")
    print("|---|---:|---:|---:|---:|", flush=True)
    ratios = []
    for repeat in range(options.repeats):
        times, found = [], []
        for method in (by_malaprop, by_faiss):
            start = time.perf_counter()
            found.append(method(vectors, k))
            times.append(time.perf_counter() - start)
        ratios.append(times[0] / times[1])
        differ = int(np.any(found[0] != found[1], axis=1).sum())
        print(f"| {repeat + 1} | {times[0]:.1f} s | {times[1]:.1f} s | ", end="")
        print(f"{ratios[-1]:.2f} | {differ} |", flush=True)
    print(f"\nmedian {np.median(ratios):.2f}, {min(ratios):.2f}–{max(ratios):.2f}")


if __name__ == "__main__":
    main()

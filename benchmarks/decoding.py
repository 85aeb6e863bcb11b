"""Nearest-word search against the bare matrix product of the same shape, and against others.

    .venv/bin/pip install faiss-cpu usearch numba
    .venv/bin/python benchmarks/decoding.py [--sizes 33000x50,…] [--repeats 5] [--queries 16384]

A ratio is the bare product's time over the method's, for the same queries and in the same repeat:
1 is as fast as the product, whose result nobody has looked at yet. "wrong" counts the queries for
which the word is not the nearest one in float64, ties going to the lowest id.
"""

import argparse
import os
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from malaprop.lexicon.search import NearestSearch
from malaprop.privacy.arrays import Vectors

try:
    from numba import prange
except ImportError:
    prange = range

SIZES = "33000x50,33000x300,100000x50,100000x300,400000x50,400000x300"
_WORK = 4e10  # multiplications of a run of the product: a second or so
_NUMBA_TILE = 512
_CHECKED = 256  # queries whose words are checked
_PAUSE = 0.2  # seconds before a run: BLAS threads of the one before are still at a core for a while
_SLOW = 16  # methods that are far slower get one in so many queries


@dataclass
class Method:
    """A way to find the nearest words: `prepare(vectors)(queries)` gives their ids."""

    name: str
    prepare: Callable[[Vectors], Callable[[Vectors], Any]]
    share: int = 1


def data(n: int, d: int, most: int, rng: np.random.Generator) -> tuple[Vectors, Vectors]:
    """Vectors of GloVe's length, in 300 dimensions, and words of them with Laplace noise."""
    vectors = (0.38 * rng.standard_normal((n, d))).astype(np.float32)
    count = int(min(most, max(1024, _WORK / (n * d))))
    directions = rng.standard_normal((count, d))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    noise = directions * rng.gamma(d, 1.0 / 12.0, size=(count, 1))
    return vectors, (vectors[rng.integers(n, size=count)] + noise).astype(np.float32)


def product(vectors: Vectors) -> Callable[[Vectors], None]:
    """The bare product A @ B.T, in blocks large enough for it, the result thrown away."""
    rows = max(512, (1 << 24) // len(vectors))
    out = np.empty((rows, len(vectors)), dtype=np.float32)

    def run(queries: Vectors) -> None:
        for start in range(0, len(queries), rows):
            part = queries[start : start + rows]
            np.matmul(part, vectors.T, out=out[: len(part)])

    return run


def plain(vectors: Vectors) -> Callable[[Vectors], Any]:
    """What one would write in numpy: product, subtraction, argmax."""
    half = np.einsum("ij,ij->i", vectors, vectors) / 2.0
    rows = max(512, (1 << 24) // len(vectors))
    out = np.empty((rows, len(vectors)), dtype=np.float32)

    def run(queries: Vectors) -> NDArray[np.intp]:
        found = []
        for start in range(0, len(queries), rows):
            part = queries[start : start + rows]
            scores = np.matmul(part, vectors.T, out=out[: len(part)])
            scores -= half
            found.append(scores.argmax(axis=1))
        return np.concatenate(found)

    return run


def malaprop(vectors: Vectors) -> Callable[[Vectors], Any]:
    """This library's exact search."""
    search = NearestSearch(vectors)
    return lambda queries: search.nearest(queries)[:, 0]


def faiss_flat(vectors: Vectors, kind: str) -> Callable[[Vectors], Any]:
    """faiss' brute force; IP takes ‖y‖²/2 as a further coordinate."""
    import faiss

    if kind == "L2":
        index = faiss.IndexFlatL2(vectors.shape[1])
        index.add(vectors)
        return lambda queries: index.search(queries, 1)[1][:, 0]
    half = np.einsum("ij,ij->i", vectors, vectors)[:, None] / 2.0
    index = faiss.IndexFlatIP(vectors.shape[1] + 1)
    index.add(np.hstack([vectors, half]).astype(np.float32))

    def run(queries: Vectors) -> Any:
        minus = np.full((len(queries), 1), -1.0, dtype=np.float32)
        return index.search(np.hstack([queries, minus]), 1)[1][:, 0]

    return run


def usearch_exact(vectors: Vectors) -> Callable[[Vectors], Any]:
    """usearch's brute force."""
    from usearch.index import search

    threads = os.cpu_count() or 1

    def run(queries: Vectors) -> Any:
        found = search(vectors, queries, 1, "l2sq", exact=True, threads=threads)
        return np.asarray(found.keys).reshape(-1).astype(np.int64)

    return run


def numba_kernel(vectors: Vectors) -> Callable[[Vectors], Any]:
    """A kernel compiled by numba: four queries and a tile of words at a time."""
    import numba

    half = (np.einsum("ij,ij->i", vectors, vectors) / 2.0).astype(np.float32)
    columns = np.ascontiguousarray(vectors.T)
    kernel = numba.njit(parallel=True, fastmath=True)(_four_queries)
    return lambda queries: kernel(columns, half, queries[: len(queries) // 4 * 4])


def _four_queries(columns: Vectors, half: Vectors, queries: Vectors) -> NDArray[np.int64]:
    d, n = columns.shape
    found = np.empty(len(queries), dtype=np.int64)
    for four in prange(len(queries) // 4):
        scores = np.empty((4, _NUMBA_TILE), dtype=np.float32)
        best = np.full(4, -np.inf, dtype=np.float32)
        for start in range(0, n, _NUMBA_TILE):
            width = min(_NUMBA_TILE, n - start)
            scores[:, :width] = -half[start : start + width]
            for i in range(d):
                row = columns[i, start : start + width]
                a, b, c, e = queries[4 * four : 4 * four + 4, i]
                for j in range(width):
                    scores[0, j] += a * row[j]
                    scores[1, j] += b * row[j]
                    scores[2, j] += c * row[j]
                    scores[3, j] += e * row[j]
            for q in range(4):
                place = scores[q, :width].argmax()
                if scores[q, place] > best[q]:
                    best[q], found[4 * four + q] = scores[q, place], start + place
    return found


METHODS = [
    Method("bare product `A @ B.T`", product),
    Method("**Malaprop, exact**", malaprop),
    Method("numpy: product, subtraction, argmax", plain),
    Method("faiss `IndexFlatL2`", partial(faiss_flat, kind="L2")),
    Method("faiss `IndexFlatIP`, lifted", partial(faiss_flat, kind="IP")),
    Method("usearch, exact", usearch_exact, share=_SLOW),
    Method("numba kernel", numba_kernel, share=_SLOW),
]


def nearest_in_float64(vectors: Vectors, queries: Vectors) -> NDArray[np.intp]:
    """The nearest by squares of differences, with a product to leave most words out."""
    long, wide = vectors.astype(np.float64), queries.astype(np.float64)
    half = np.einsum("ij,ij->i", long, long) / 2.0
    found = np.empty(len(wide), dtype=np.intp)
    for start in range(0, len(wide), 16):
        for row, scores in enumerate(wide[start : start + 16] @ long.T - half, start):
            near = np.flatnonzero(scores >= scores.max() - 1e-9 * (1.0 + abs(scores.max())))
            squares = ((long[near] - wide[row]) ** 2).sum(axis=1)
            found[row] = near[np.argmin(squares)]
    return found


def measure(vectors: Vectors, queries: Vectors, repeats: int) -> list[str]:
    """A row of the table for each method that is installed."""
    truth = nearest_in_float64(vectors, queries[:_CHECKED])
    runs = {}
    for method in METHODS:
        try:
            runs[method.name] = (method.prepare(vectors), queries[: len(queries) // method.share])
        except ImportError:
            continue
    wrong = {name: _wrong(run(some[:_CHECKED]), truth) for name, (run, some) in runs.items()}
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(repeats):
        for name, (run, some) in runs.items():
            time.sleep(_PAUSE)
            start = time.perf_counter()
            run(some)
            seconds[name].append((time.perf_counter() - start) / len(some))
    bare = np.array(seconds[METHODS[0].name])
    return [_row(name, bare / times, times, wrong[name]) for name, times in seconds.items()]


def _wrong(found: Any, truth: NDArray[np.intp]) -> str:
    if found is None:
        return "–"
    return f"{int(np.sum(np.asarray(found) != truth[: len(found)]))} of {len(found)}"


def _row(name: str, ratios: NDArray[np.float64], times: Any, wrong: str) -> str:
    spread = f"{ratios.min():.2f}–{ratios.max():.2f}"
    return (
        f"| {name} | {np.median(ratios):.2f} | {spread} | {1.0 / np.median(times):,.0f} | {wrong} |"
    )


def main() -> None:
    """Print a table for each size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default=SIZES)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--queries", type=int, default=16384, help="at most so many")
    options = parser.parse_args()
    print(f"{os.cpu_count()} cores, {platform.machine()}, {_versions()}\n")
    for size in options.sizes.split(","):
        n, d = (int(part) for part in size.split("x"))
        vectors, queries = data(n, d, options.queries, np.random.default_rng(1))
        print(f"### {n:,} words, d = {d}, {len(queries):,} queries\n")
        print("| search | × product | spread | queries/s | wrong |")
        print("|---|---:|---:|---:|---:|")
        print("\n".join(measure(vectors, queries, options.repeats)), end="\n\n", flush=True)


def _versions() -> str:
    found = []
    for package in ("numpy", "faiss-cpu", "usearch", "numba"):
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            found.append(f"no {package}")
    return ", ".join(found)


if __name__ == "__main__":
    main()

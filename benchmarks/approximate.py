"""Approximate decoding on real words: how often it agrees with the exact one, and how fast it is.

    .venv/bin/pip install faiss-cpu hnswlib usearch
    .venv/bin/python benchmarks/approximate.py [--lexicon english] [--epsilons 4,8,…] [--alone]

Words of the lexicon get Laplace noise, and each search finds a word for each of the same noisy
vectors. A cell is the share of them for which that is the nearest word; the speed is the median
over the ε, in multiples of the exact search's.
"""

import argparse
import os
import platform
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from malaprop import Laplace, Lexicon, seeded_rng
from malaprop.core.arrays import Vectors
from malaprop.lexicon.search import approximate
from malaprop.lexicon.search.approximate import ApproximateSearch
from malaprop.lexicon.search.exact import NearestSearch

Search = Callable[[Vectors], Any]


def own(vectors: Vectors) -> Iterator[tuple[str, Search]]:
    """This library's: the search that `search="approximate"` uses is that of 64 cells."""
    search = ApproximateSearch(vectors)
    for cells in (32, 64, 128):

        def run(queries: Vectors, cells: int = cells) -> Any:
            approximate._SEARCHED = cells
            return search.nearest(queries)[:, 0]

        yield f"Malaprop, {cells} of {len(search._strips)} cells", run


def faiss_ivf(vectors: Vectors) -> Iterator[tuple[str, Search]]:
    """faiss' inverted file, with as many cells."""
    import faiss

    d, cells = vectors.shape[1], int(5.6 * np.sqrt(len(vectors)))
    index = faiss.IndexIVFFlat(faiss.IndexFlatL2(d), d, cells)
    index.train(vectors)
    index.add(vectors)
    for probes in (32, 64, 128):

        def run(queries: Vectors, probes: int = probes) -> Any:
            index.nprobe = probes
            return index.search(queries, 1)[1][:, 0]

        yield f"faiss IVF, {probes} of {cells} cells", run


def faiss_hnsw(vectors: Vectors) -> Iterator[tuple[str, Search]]:
    """faiss' HNSW graph."""
    import faiss

    index = faiss.IndexHNSWFlat(vectors.shape[1], 32)
    index.hnsw.efConstruction = 200
    index.add(vectors)
    for ef in (64, 256):

        def run(queries: Vectors, ef: int = ef) -> Any:
            index.hnsw.efSearch = ef
            return index.search(queries, 1)[1][:, 0]

        yield f"faiss HNSW, M = 32, ef = {ef}", run


def hnswlib(vectors: Vectors) -> Iterator[tuple[str, Search]]:
    """hnswlib's graph."""
    import hnswlib as package

    index = package.Index("l2", vectors.shape[1])
    index.init_index(len(vectors), M=16, ef_construction=200, random_seed=1)
    index.add_items(vectors)
    for ef in (64, 256):

        def run(queries: Vectors, ef: int = ef) -> Any:
            index.set_ef(ef)
            return index.knn_query(queries, 1)[0][:, 0]

        yield f"hnswlib, M = 16, ef = {ef}", run


def usearch(vectors: Vectors) -> Iterator[tuple[str, Search]]:
    """usearch's graph."""
    from usearch.index import Index

    index = Index(ndim=vectors.shape[1], metric="l2sq", dtype="f32", connectivity=32)
    index.add(np.arange(len(vectors)), vectors)
    for ef in (64, 256):

        def run(queries: Vectors, ef: int = ef) -> Any:
            index.expansion_search = ef
            return index.search(queries, 1).keys.reshape(-1)

        yield f"usearch, M = 32, ef = {ef}", run


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lexicon", default="english")
    parser.add_argument("--words", type=int, default=8000)
    parser.add_argument("--epsilons", default="4,8,12,20,40")
    parser.add_argument("--alone", action="store_true", help="without the other packages")
    options = parser.parse_args()
    lexicon = Lexicon.open(options.lexicon)
    vectors = np.ascontiguousarray(lexicon.vectors)
    epsilons = [float(part) for part in options.epsilons.split(",")]
    ids = np.random.default_rng(0).integers(len(lexicon), size=options.words)
    rng = seeded_rng(1)
    noisy = [Laplace(epsilon=e).on(lexicon).release_words(ids, rng).astype("f4") for e in epsilons]
    print(f"{os.cpu_count()} cores, {platform.machine()}; {len(lexicon):,} words, ", end="")
    print(f"d = {vectors.shape[1]}, {options.words:,} noisy vectors for each ε\n")
    print("| search | " + " | ".join(f"ε = {e:g}" for e in epsilons) + " | × exact | built in |")
    print("|---|" + "---:|" * (len(epsilons) + 2))
    exact = NearestSearch(vectors)
    truth = [exact.nearest(queries)[:, 0] for queries in noisy]
    kept = [f"{np.mean(found == ids):.1%}" for found in truth]
    print("| (words that come back) | " + " | ".join(kept) + " | | |")
    for prepare in (own,) if options.alone else (own, faiss_ivf, faiss_hnsw, hnswlib, usearch):
        start = time.perf_counter()
        try:
            for name, run in prepare(vectors):
                built = time.perf_counter() - start
                print(_row(name, run, exact, noisy, truth, built), flush=True)
                start = time.perf_counter() - built
        except ImportError:
            continue


def _row(
    name: str,
    run: Search,
    exact: NearestSearch,
    noisy: list[Vectors],
    truth: list[Any],
    built: float,
) -> str:
    agree, speeds = [], []
    for queries, nearest in zip(noisy, truth, strict=True):
        start = time.perf_counter()
        exact.nearest(queries)
        middle = time.perf_counter()
        agree.append(f"{np.mean(run(queries) == nearest):.1%}")
        speeds.append((middle - start) / (time.perf_counter() - middle))
    spread = f"{np.median(speeds):.1f} ({min(speeds):.1f}–{max(speeds):.1f})"
    return f"| {name} | {' | '.join(agree)} | {spread} | {built:.0f} s |"


if __name__ == "__main__":
    main()

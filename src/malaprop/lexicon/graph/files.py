"""Files of word graphs.

    graph.npz    edges, weights, cut-off, how it was made, and of which lexicon

A file belongs to the lexicon whose fingerprint it has, and to no other.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from malaprop.core.errors import LexiconError
from malaprop.core.metrics.graph import WordGraph
from malaprop.lexicon.formats import json_files, limits, npy
from malaprop.lexicon.formats.replacing import replacing

FORMAT = 1


def write_graph(path: Path, graph: WordGraph, base: str) -> None:
    """Write a graph of the lexicon with the fingerprint `base`; it appears once it is whole."""
    if len(graph.edges) > limits.edges(graph.size):
        raise LexiconError(
            f"A word graph of {graph.size:,} words can be kept if it has at most "
            f"{limits.edges(graph.size):,} edges. It has {len(graph.edges):,}: leave some out."
        )
    about = {"format": FORMAT, "base": base, "size": graph.size, "made": graph.made}
    narrow = np.uint16 if graph.size <= 1 << 16 else np.uint32
    with replacing(path) as part:
        np.savez_compressed(
            part,
            about=np.array(json.dumps(about)),
            cutoff=np.array(graph.cutoff),
            edges=graph.edges.astype(narrow),
            weights=graph.weights,
        )


def read_graph(path: Path, base: str, size: int) -> WordGraph | None:
    """Read the graph of the lexicon with the fingerprint `base` and `size` words.

    Return None if it is the graph of another lexicon.
    """
    try:
        note = npy.unpacked(path, ["about"], limits.NOTE)["about"]
        about = json_files.parse_object(str(note.item()))
        json_files.check_format(about, FORMAT)
        if about["base"] != base:
            return None
        arrays = npy.unpacked(path, ["cutoff", "edges", "weights"], 16 * limits.edges(size))
        return _graph(about, arrays, size)
    except (ValueError, KeyError, TypeError, OSError):
        raise LexiconError(
            f"{path} is not a word graph that this version reads: remove it, and run  "
            "malaprop lexicon graph NAME"
        ) from None


def _graph(about: dict[str, Any], arrays: dict[str, NDArray[Any]], size: int) -> WordGraph:
    edges, weights = arrays["edges"], arrays["weights"]
    made = about["made"]
    if type(about["size"]) is not int or about["size"] != size:
        raise ValueError("another number of words")
    if edges.ndim != 2 or edges.shape[1] != 2 or edges.dtype.kind not in "iu":
        raise ValueError("no edges")
    if weights.shape != edges.shape[:1] or weights.dtype.kind != "f":
        raise ValueError("no weights")
    if type(made) is not dict or not all(isinstance(value, int | str) for value in made.values()):
        raise ValueError("no options")
    return WordGraph(size, edges, weights, cutoff=float(arrays["cutoff"].item()), made=made)

"""Look word graphs up: beside an embedded lexicon, or in the user's folder `graphs`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from malaprop.core.metrics.graph import WordGraph
from malaprop.lexicon import catalogue, store
from malaprop.lexicon.graph.files import read_graph, write_graph


def kept_graph(fingerprint: str, size: int, options: Mapping[str, int | str]) -> WordGraph | None:
    """Return the graph that is shipped or kept for a lexicon and these options, if there is one."""
    shipped = [folder / store.GRAPH for folder in catalogue.embedded().values()]
    kept = sorted((catalogue.home() / "graphs").glob(f"{fingerprint}-*.npz"))
    for path in filter(Path.is_file, [*shipped, *kept]):
        graph = read_graph(path, fingerprint, size)
        if graph is not None and graph.made == options:
            return graph
    return None


def keep_graph(graph: WordGraph, fingerprint: str) -> Path:
    """Write the graph of a lexicon into the user's folder."""
    path = catalogue.home() / "graphs" / f"{fingerprint}-{graph.token[6:14].hex()}.npz"
    write_graph(path, graph, fingerprint)
    return path

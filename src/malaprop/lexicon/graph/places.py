"""Where word graphs and their balances are: beside an embedded lexicon, or at the user's."""

from pathlib import Path

from malaprop.core.metrics.graph import WordGraph
from malaprop.lexicon import catalogue, store

BALANCE = "balance"


def graph_places(base: str) -> list[Path]:
    """Where graphs of a lexicon may be: in the package, and in the user's folder."""
    shipped = [folder / store.GRAPH for folder in catalogue.embedded().values()]
    kept = sorted((catalogue.home() / "graphs").glob(f"{base}-*.npz"))
    return [path for path in [*shipped, *kept] if path.is_file()]


def graph_place(base: str, graph: WordGraph) -> Path:
    """Where a graph is kept that the user has built."""
    return catalogue.home() / "graphs" / f"{base}-{graph.token[6:14].hex()}.npz"


def balance_places(fingerprint: str) -> list[Path]:
    """Where balances may be; the first is the user's own."""
    shipped = [folder / BALANCE for folder in catalogue.embedded().values()]
    return [path for path in [balance_place(fingerprint), *shipped] if path.is_dir()]


def balance_place(fingerprint: str) -> Path:
    """Where the balances of a lexicon with its graph are kept that the user has built."""
    return catalogue.home() / "balances" / fingerprint

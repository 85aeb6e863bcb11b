"""Build the word graph of an embedded lexicon, and the balances that its mechanism needs.

    python tools/build_graph.py [NAME]

Writes src/malaprop/data/NAME/graph.npz and src/malaprop/data/NAME/balance. With 33,000 words this
takes some minutes on two cores, and 3 GB of memory.
"""

import sys
import time

from malaprop.core.metrics.graph import Steps
from malaprop.lexicon import catalogue, store
from malaprop.lexicon.graph.edges import GraphOptions, build_graph
from malaprop.lexicon.graph.files import write_graph
from malaprop.lexicon.lexicon import Lexicon
from malaprop.lexicon.tables import balance_files
from malaprop.mechanisms.balanced.balance_tables import build_table


def main(name: str) -> None:
    """Build the graph and the balances of this lexicon."""
    started = time.monotonic()
    lexicon, folder = Lexicon.open(name), catalogue.embedded()[name]
    graph = build_graph(lexicon, GraphOptions(), _show)
    write_graph(folder / store.GRAPH, graph, lexicon.fingerprint)
    print(f"\r{name}: {len(graph.edges):,} edges, {time.monotonic() - started:.0f} s")
    table = build_table(graph, lexicon.with_metric(Steps(graph)).fingerprint, progress=_show)
    balance_files.write(table, folder / balance_files.SHIPPED)
    print(f"\r{name}: {len(table.laws)} laws, {time.monotonic() - started:.0f} s")
    print(f'for balance_files.VERIFIED: "{table.fingerprint}": "{table.digest}"')


def _show(done: int, total: int) -> None:
    print(f"\r{100 * done // total:3} %", end="", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:] or ["english"])

"""Build the word graph of an embedded lexicon, and the balances that its mechanism needs.

    python tools/build_graph.py [NAME]

Writes src/malaprop/data/NAME/graph.npz and src/malaprop/data/NAME/balance. With 33,000 words this
takes some minutes on two cores, and 3 GB of memory.
"""

import sys
import time

from malaprop.lexicon import store
from malaprop.lexicon.graph import GraphOptions, build_graph
from malaprop.lexicon.lexicon import Lexicon
from malaprop.lexicon.store import write_graph
from malaprop.mechanisms.balance import build_table
from malaprop.privacy.word_graph import Steps


def main(name: str) -> None:
    """Build the graph and the balances of this lexicon."""
    started = time.monotonic()
    lexicon, folder = Lexicon.open(name), store.embedded()[name]
    graph = build_graph(lexicon, GraphOptions(), _show)
    write_graph(folder / store.GRAPH, graph, lexicon.fingerprint)
    print(f"\r{name}: {len(graph.edges):,} edges, {time.monotonic() - started:.0f} s")
    table = build_table(graph, lexicon.with_metric(Steps(graph)).fingerprint, progress=_show)
    table.write(folder / table.shipped)
    print(f"\r{name}: {len(table.laws)} laws, {time.monotonic() - started:.0f} s")
    print(f'for shipped.toml: [tables.{table.fingerprint}] {table.shipped} = "{table.digest}"')


def _show(done: int, total: int) -> None:
    print(f"\r{100 * done // total:3} %", end="", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:] or ["english"])

"""`malaprop lexicon graph`: build a lexicon's word graph and its balances."""

from typing import TYPE_CHECKING, Annotated

import typer

from malaprop.cli.messages import say

if TYPE_CHECKING:
    from malaprop.core.metrics.graph import WordGraph
    from malaprop.lexicon.lexicon import Lexicon
    from malaprop.lexicon.tables.values import BalanceTable


def graph_lexicon(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A lexicon's name or file.")],
    force: Annotated[
        bool, typer.Option("--force", help="Build it again, even if it exists.")
    ] = False,
) -> None:
    """Build the word graph of a lexicon and its balances, and store them for later runs.

    The mechanism  balanced  works on this graph. If the lexicon was saved with a graph of its own,
    the command keeps that graph and adds the balances. It takes minutes for 30,000 words, and the
    time grows with the square of their number. Beyond 75,000 words it stores no weights, only what
    the mechanism needs without them.
    """
    from malaprop.cli.progress import bar
    from malaprop.core.metrics.graph import Steps, graph_of
    from malaprop.lexicon.lexicon import Lexicon
    from malaprop.lexicon.tables.kept import keep
    from malaprop.mechanisms.balanced.balance_tables import build_table

    lexicon = Lexicon.open(name)
    graph = graph_of(lexicon.metric) or _graph(lexicon, force)
    lexicon = lexicon.with_metric(Steps(graph))
    fingerprint, table = lexicon.fingerprint, None
    if not force:
        lexicon.tables.check("balances")
        table = lexicon.tables.balances
    if table is None:
        del lexicon  # its arrays may be mapped from the files that are replaced
        with bar(f"balancing {name}") as progress:
            table = build_table(graph, fingerprint, progress=progress.to)
        keep(table)
    _print(name, graph, table)


def _graph(lexicon: "Lexicon", force: bool) -> "WordGraph":
    """Return the stored graph of a lexicon, or build and store a new one."""
    from malaprop.cli.progress import bar
    from malaprop.lexicon.graph.edges import GraphOptions, build_graph
    from malaprop.lexicon.graph.lookup import kept_graph
    from malaprop.lexicon.tables.graphs import keep_graph

    options = GraphOptions()
    graph = None if force else kept_graph(lexicon, options)
    if graph is None:
        with bar(f"finding near words of {lexicon.name or 'the lexicon'}") as progress:
            graph = build_graph(lexicon, options, progress.to)
        keep_graph(graph, lexicon.fingerprint)
    return graph


def _print(name: str, graph: "WordGraph", table: "BalanceTable") -> None:
    from malaprop.mechanisms.balanced.balance_tables import best_balance

    whole = int((graph.weights == graph.weights.min()).sum())
    say(f"lexicon      {name} with its word graph, fingerprint {table.fingerprint}")
    say(
        f"graph        {graph.size:,} words, {whole:,} edges of {graph.weights.min():g} step, "
        f"{len(graph.edges) - whole:,} longer ones, cut off at {graph.cutoff:g} steps"
    )
    say("balance      ε a step, and the share of words that stay as they are")
    for epsilon in (0.8, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0):
        law = best_balance(table, graph, epsilon)
        say(f"             ε = {epsilon:<6g} {100 * law.kept:5.1f}%  {law.form}")

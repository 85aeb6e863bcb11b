"""The word graph of a lexicon: the one that is kept, or a new one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from malaprop.core.errors import LexiconError
from malaprop.core.mechanism import Mechanism
from malaprop.core.metrics.graph import Steps, WordGraph, graph_of
from malaprop.core.progress import Progress
from malaprop.lexicon.graph.edges import GraphOptions, build_graph, known_options
from malaprop.lexicon.tables import graphs

if TYPE_CHECKING:
    from malaprop.lexicon.lexicon import Lexicon

SMALL = 2_000
"""Words up to which a graph and its balances are computed in no time."""


def graph_for(
    lexicon: Lexicon, options: Mapping[str, Any], progress: Progress | None = None
) -> WordGraph:
    """Return the graph that is shipped or kept for these options, or build one."""
    chosen = GraphOptions(**known_options(options, GraphOptions.__dataclass_fields__))
    return kept_graph(lexicon, chosen) or build_graph(lexicon, chosen, progress)


def kept_graph(lexicon: Lexicon, options: GraphOptions) -> WordGraph | None:
    """Return the graph that is shipped or kept for these options, if there is one."""
    return graphs.kept_graph(lexicon.fingerprint, len(lexicon), options.to_dict())


def with_graph_if_needed(lexicon: Lexicon, mechanism: Mechanism) -> Lexicon:
    """Return the lexicon with its word graph if the mechanism counts steps, else as it is.

    The graph of a large lexicon takes minutes to build, so it must have been kept.
    """
    return with_known_graph(lexicon) if mechanism.needs == Steps.name else lexicon


def with_known_graph(lexicon: Lexicon) -> Lexicon:
    """Return the lexicon with its own word graph, or the one that was kept; build a small one."""
    if graph_of(lexicon.metric) is not None:
        return lexicon
    kept = kept_graph(lexicon, GraphOptions())
    if kept is not None:
        return lexicon.with_metric(Steps(kept))
    if len(lexicon) > SMALL:
        raise LexiconError(
            f"This lexicon has no word graph yet: run  malaprop lexicon graph "
            f"{lexicon.name or 'NAME'}  once, or use another mechanism, such as TEM."
        )
    return lexicon.with_graph()

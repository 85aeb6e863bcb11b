"""From a lexicon to its word graph: kept, built, or made of a user's own edges."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any

from malaprop.core.errors import LexiconError, ParameterError
from malaprop.core.mechanism import Mechanism
from malaprop.core.metrics.graph import Steps, WordGraph, graph_of
from malaprop.core.progress import Progress
from malaprop.core.suggest import did_you_mean
from malaprop.lexicon.graph import places
from malaprop.lexicon.graph.edges import GraphOptions, build_graph
from malaprop.lexicon.graph.files import read_graph

if TYPE_CHECKING:
    from malaprop.lexicon.lexicon import Lexicon

SMALL = 2_000
"""Words for which all distances are at hand in no time."""


def graph_from(
    lexicon: Lexicon, options: Mapping[str, Any], progress: Progress | None = None
) -> WordGraph:
    """The graph that was shipped or kept for these options, or a new one."""
    chosen = GraphOptions(**_known(options, GraphOptions.__dataclass_fields__))
    return kept_graph(lexicon, chosen) or build_graph(lexicon, chosen, progress)


def kept_graph(lexicon: Lexicon, options: GraphOptions) -> WordGraph | None:
    """The graph that was shipped or kept for these options, if there is one."""
    base, made = lexicon.fingerprint, options.to_dict()
    for path in places.graph_places(base):
        graph = read_graph(path, base, len(lexicon))
        if graph is not None and graph.made == made:
            return graph
    return None


def fitting(lexicon: Lexicon, mechanism: Mechanism) -> Lexicon:
    """A lexicon as a mechanism needs it: with its word graph, where that is what it counts in.

    A large lexicon's graph takes minutes to build, so that it must have been kept.
    """
    wants_graph = mechanism.needs == Steps.name and graph_of(lexicon.metric) is None
    if not wants_graph:
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


def graph_of_edges(lexicon: Lexicon, edges: Iterable[Any], options: Mapping[str, Any]) -> WordGraph:
    """A graph of a user's own edges: pairs of words, with a weight or without."""
    rest = _known(options, ("cutoff",))
    if isinstance(edges, str) or not isinstance(edges, Iterable):
        raise LexiconError("The edges of a word graph must be a list of pairs of words.")
    ends, weights = [], []
    for place, edge in enumerate(edges):
        try:
            pair, weight = _edge(edge, lexicon.index)
        except (KeyError, TypeError, ValueError, OverflowError):
            raise LexiconError(
                f"Edge {place} must be two words of the lexicon, and a weight if it is not 1."
            ) from None
        ends.append(pair)
        weights.append(weight)
    return WordGraph(len(lexicon), ends, weights, made={"edges": "own"}, **rest)


def _edge(edge: Any, index: Mapping[str, int]) -> tuple[tuple[int, int], float]:
    """The ids and the weight of a user's edge."""
    here, there, weight = edge if len(edge) == 3 else (*edge, 1)
    # Two letters are no pair of words, nor is "2" a number.
    if isinstance(edge, str) or isinstance(weight, bool) or not isinstance(weight, Real):
        raise TypeError
    return (index[here], index[there]), float(weight)


def _known(options: Mapping[str, Any], known: Iterable[str]) -> dict[str, Any]:
    names = list(known)
    for name in options:
        if name not in names:
            hint = did_you_mean(name, names)
            raise ParameterError(
                f"A word graph has no option {name!r}.{hint} It has: {', '.join(names)}."
            )
    return dict(options)

"""A word graph of a user's own edges."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any

from malaprop.core.errors import LexiconError
from malaprop.core.metrics.graph import WordGraph
from malaprop.lexicon.graph.edges import known_options

if TYPE_CHECKING:
    from malaprop.lexicon.lexicon import Lexicon


def graph_of_edges(lexicon: Lexicon, edges: Iterable[Any], options: Mapping[str, Any]) -> WordGraph:
    """Make a graph of edges: pairs of words, with a weight or without (1)."""
    rest = known_options(options, ("cutoff",))
    if isinstance(edges, str) or not isinstance(edges, Iterable):
        raise LexiconError("The edges of a word graph must be a list of pairs of words.")
    ends, weights = [], []
    for number, edge in enumerate(edges):
        try:
            pair, weight = _edge(edge, lexicon.index)
        except (KeyError, TypeError, ValueError, OverflowError):
            raise LexiconError(
                f"Edge {number} must be two words of the lexicon, and a weight if it is not 1."
            ) from None
        ends.append(pair)
        weights.append(weight)
    return WordGraph(len(lexicon), ends, weights, made={"edges": "own"}, **rest)


def _edge(edge: Any, index: Mapping[str, int]) -> tuple[tuple[int, int], float]:
    """Return the ids and the weight of an edge."""
    here, there, weight = edge if len(edge) == 3 else (*edge, 1)
    # Two letters are not a pair of words, nor is "2" a number.
    if isinstance(edge, str) or isinstance(weight, bool) or not isinstance(weight, Real):
        raise TypeError
    return (index[here], index[there]), float(weight)

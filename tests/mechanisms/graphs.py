"""Lexicons with a graph, for the tests of the balanced mechanism."""

import numpy as np

from malaprop import Lexicon
from malaprop.privacy.word_graph import Steps, WordGraph, graph_of


def lexicon_of(graph: WordGraph) -> Lexicon:
    words = [f"w{i}" for i in range(graph.size)]
    return Lexicon(words, np.arange(graph.size, dtype=float)[:, None]).with_metric(Steps(graph))


def graph_in(lexicon: Lexicon) -> WordGraph:
    graph = graph_of(lexicon.metric)
    assert graph is not None
    return graph

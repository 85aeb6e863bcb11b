"""The word graph: distances against Dijkstra's, paths, and what is refused."""

import itertools
import math
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import dijkstra

from malaprop import Lexicon, MetricError
from malaprop.privacy.arrays import Floats
from malaprop.privacy.word_graph import Steps, WordGraph, graph_of

WEIGHTS = {"whole": [1.0, 2.0, 4.0], "halves": [1.0, 1.5, 3.5], "any": [1.0, 1.3, 2.7]}


@st.composite
def graphs(draw: st.DrawFn, most: int = 90) -> WordGraph:
    """Connected graphs: a random tree and some more edges; weighted, perhaps cut off."""
    size = draw(st.integers(2, most))
    rng = np.random.Generator(np.random.PCG64(draw(st.integers(0, 2**32))))
    tree = np.stack([np.arange(1, size), rng.integers(0, np.arange(1, size))], axis=1)
    more = rng.integers(0, size, size=(draw(st.integers(0, 2 * size)), 2))
    edges = np.concatenate([tree, more])
    kind = draw(st.sampled_from(sorted(WEIGHTS)))
    weights = rng.choice(WEIGHTS[kind], size=len(edges))
    cutoff = draw(st.sampled_from([math.inf, 4.0, 7.5, 9.0]))
    return WordGraph(size, edges, weights, cutoff=cutoff)


def true_distances(graph: WordGraph) -> Floats:
    ends = (graph.edges[:, 0], graph.edges[:, 1])
    matrix = coo_array((graph.weights, ends), shape=(graph.size, graph.size)).tocsr()
    return np.minimum(np.asarray(dijkstra(matrix, directed=False), np.float64), graph.cutoff)


@given(graphs())
def test_distances_are_those_of_shortest_paths(graph: WordGraph) -> None:
    everyone = np.arange(graph.size)
    found = graph.distances(everyone)
    np.testing.assert_allclose(found, true_distances(graph), rtol=1e-12)
    assert np.array_equal(found, found.T) or not graph.unit
    assert (np.diagonal(found) == 0).all()


@given(graphs())
def test_level_counts_count_levels(graph: WordGraph) -> None:
    if not graph.unit:
        return
    levels = graph.levels(np.arange(graph.size))
    counted = [np.bincount(row, minlength=graph.last + 1) for row in levels]
    assert np.array_equal(graph.search.counts(), counted)


@given(graphs(), st.data())
def test_a_path_is_as_long_as_the_distance(graph: WordGraph, data: st.DataObject) -> None:
    a, b = (data.draw(st.integers(0, graph.size - 1)) for _ in range(2))
    lengths = {tuple(edge): w for edge, w in zip(graph.edges.tolist(), graph.weights, strict=True)}
    path = graph.path(a, b)
    assert (path[0], path[-1]) == (a, b)
    total = sum(lengths[min(i, j), max(i, j)] for i, j in itertools.pairwise(path))
    assert total == pytest.approx(graph.lengths(a)[b])
    assert min(total, graph.cutoff) == pytest.approx(graph.distances(np.array([a]))[0, b])


def test_a_word_asked_for_twice_and_more_than_64_words() -> None:
    ring = WordGraph(100, [[i, (i + 1) % 100] for i in range(100)])
    ids = np.array([5, 5, *range(100), 99])
    offset = np.abs(ids[:, None] - np.arange(100))
    assert np.array_equal(ring.distances(ids), np.minimum(offset, 100 - offset))


def test_long_paths_have_no_unit_but_a_distance() -> None:
    chain = WordGraph(600, [[i, i + 1] for i in range(599)])
    assert chain.unit == 0.0
    assert chain.distances(np.array([0]))[0, -1] == 599.0


def test_edges_are_simple_and_the_lightest_counts() -> None:
    graph = WordGraph(3, [[1, 0], [0, 1], [2, 2], [1, 2]], [3.0, 2.0, 1.0, 1.0])
    assert graph.edges.tolist() == [[0, 1], [1, 2]]
    assert graph.weights.tolist() == [2.0, 1.0]


@pytest.mark.parametrize(
    ("edges", "weights", "cutoff", "words"),
    [
        ([[0, 1]], None, math.inf, "2 parts"),
        ([[0, 1], [1, 3]], None, math.inf, "word ids"),
        ([[0, 1], [1, 2]], [1.0], math.inf, "one weight for each"),
        ([[0, 1], [1, 2]], [1.0, 0.0], math.inf, "above 0"),
        ([[0, 1], [1, 2]], [1.0, math.nan], math.inf, "above 0"),
        ([[0, 1], [1, 2]], [1.0, 1.0], 0.0, "cutoff"),
        ([[0, 1], [1, 2]], [1.0, 1.0], math.nan, "cutoff"),
        ([[0, 1], [1, 2]], [1.0, 1.0], "2", "cutoff"),
        ([[0, 1], [1, 2]], [1.0, 3.0], 2.0, "at most the cutoff"),
    ],
)
def test_distances_that_are_not_metrics_are_refused(
    edges: list[list[int]], weights: list[float] | None, cutoff: Any, words: str
) -> None:
    with pytest.raises(MetricError, match=words):
        WordGraph(3, edges, weights, cutoff=cutoff)


def test_the_fingerprint_knows_edges_weights_cutoff_and_options() -> None:
    words = Lexicon(["a", "b", "c"], [[0.0], [1.0], [2.0]])
    edges = [[0, 1], [1, 2]]
    variants = [
        WordGraph(3, edges),
        WordGraph(3, [*edges, [0, 2]]),
        WordGraph(3, edges, [1.0, 2.0]),
        WordGraph(3, edges, cutoff=5.0),
        WordGraph(3, edges, made={"cap": 2}),
    ]
    prints = {words.with_metric(Steps(graph)).fingerprint for graph in variants}
    assert len(prints | {words.fingerprint}) == 6
    again = words.with_metric(Steps(WordGraph(3, edges[::-1])))
    assert again.fingerprint in prints


def test_a_graph_lexicon_travels_and_another_size_is_refused() -> None:
    words = Lexicon(["a", "b", "c"], [[0.0], [1.0], [2.0]])
    near = words.with_graph(edges=[("a", "b"), ("b", "c")])
    other = pickle.loads(pickle.dumps(near))  # noqa: S301
    assert other.fingerprint == near.fingerprint
    assert other.distances([0]).tolist() == [[0.0, 1.0, 2.0]]
    graph = graph_of(near.metric)
    assert graph is not None
    with pytest.raises(MetricError, match="has 3 words"):
        Lexicon(["a"], [[0.0]]).with_metric(Steps(graph))

"""Near words, their borders, and ways across them are those of a search of all paths."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from malaprop.core.arrays import Ids
from malaprop.core.metrics.border_search import BorderSearch, Surroundings
from malaprop.core.metrics.graph import WordGraph

CASES = (st.integers(6, 60), st.integers(0, 2**32), st.integers(1, 12))


def even_graph(size: int, seed: int) -> WordGraph:
    """A ring with edges of length 1 and 1½ across it, 2½ and 4; distances are cut off at 8."""
    random = np.random.Generator(np.random.PCG64(seed))
    ring = np.stack([np.arange(size), (np.arange(size) + 1) % size], axis=1)
    more = random.integers(0, size, (size, 2))
    edges = np.concatenate([ring, more[more[:, 0] != more[:, 1]]])
    lengths = np.concatenate([np.ones(size), random.choice([1.5, 2.5, 4.0], len(edges) - size)])
    return WordGraph(size, edges, lengths, cutoff=8.0)


def searched(size: int, seed: int, radius: int) -> tuple[WordGraph, BorderSearch, Surroundings]:
    graph = even_graph(size, seed)
    search = graph.borders
    assert search is not None
    return graph, search, search.surroundings(np.arange(size), radius)


def border_of(graph: WordGraph, radius: int) -> dict[tuple[int, int], int]:
    """T of the border words of each row, by words: the paths that leave near words at the end."""
    levels, found = graph.levels(np.arange(graph.size)), dict[tuple[int, int], int]()
    for (one, other), length in zip(graph.edges, np.rint(graph.weights / graph.unit), strict=True):
        for u, v in ((int(one), int(other)), (int(other), int(one))):
            for row in np.flatnonzero((levels[:, u] < radius) & (levels[:, v] >= radius)).tolist():
                total = int(levels[row, u]) + int(length)
                found[row, v] = min(total, found.get((row, v), graph.last))
    return {cell: total for cell, total in found.items() if total < graph.last}


@given(*CASES)
def test_near_words_and_borders_are_those_of_all_paths(size: int, seed: int, radius: int) -> None:
    graph, search, around = searched(size, seed, radius)
    by_word = np.empty((size, size), dtype=np.int64)
    by_word[:, search.order] = around.levels.reshape(size, size)
    levels = graph.levels(np.arange(size))
    near = levels < radius
    assert np.array_equal(by_word[near], levels[near])
    border = border_of(graph, radius)
    beyond = {(int(r), int(w)): int(by_word[r, w]) for r, w in np.argwhere(~near)}
    assert {cell: t for cell, t in beyond.items() if t < graph.last} == border
    assert sorted(around.near.tolist()) == np.flatnonzero(around.levels < radius).tolist()
    listed = (around.levels >= radius) & (around.levels < min(radius + 2, graph.last))
    assert sorted(around.border.tolist()) == np.flatnonzero(listed).tolist()


def ways(
    graph: WordGraph, search: BorderSearch, around: Surroundings
) -> dict[tuple[int, int], Ids]:
    """How many ways of each length lead to each place, by rows and words; by counting paths."""
    size, steps = graph.size, np.zeros((graph.last, graph.size, graph.size), dtype=np.int64)
    for (u, v), length in zip(graph.edges, np.rint(graph.weights / graph.unit), strict=True):
        if length < graph.last:
            steps[int(length), u, v] = steps[int(length), v, u] = 1
    paths = np.zeros((graph.last, size, size), dtype=np.int64)
    paths[0] = np.eye(size, dtype=np.int64)
    for k in range(1, graph.last):
        paths[k] = sum(paths[k - s] @ steps[s] for s in range(1, k + 1))
    found = {}
    levels = around.levels.reshape(size, size)
    for row in range(size):
        starts = [(v, int(t)) for v, t in enumerate(levels[row]) if around.radius <= t < graph.last]
        totals = np.zeros((graph.last, size), dtype=np.int64)
        for place, total in starts:
            for k in range(graph.last - total):
                totals[total + k] += paths[k, search.order[place]]
        for word in range(size):
            found[row, word] = totals[:, word]
    return found


@given(st.integers(6, 25), st.integers(0, 2**32), st.integers(1, 9))
def test_shortest_ways_are_counted(size: int, seed: int, radius: int) -> None:
    graph, search, around = searched(size, seed, radius)
    counted, levels = ways(graph, search, around), graph.levels(np.arange(size))
    rows, places, lengths = (
        part.ravel()
        for part in np.meshgrid(np.arange(size), np.arange(size), np.arange(radius, graph.last))
    )
    found = search.count_shortest(around, rows * size, places, lengths)
    asked = (part.tolist() for part in (rows, search.order[places], lengths, found))
    for row, word, length, number in zip(*asked, strict=True):
        if radius <= levels[row, word] == length:
            assert number == counted[row, word][length] > 0
        elif levels[row, word] < length:
            assert number == 0  # it is not a shortest path
        else:
            assert number == counted[row, word][length] == 0  # there is none so short


@given(*CASES)
def test_one_longer_edge_leads_first_to_each_border_word(size: int, seed: int, radius: int) -> None:
    graph, search, around = searched(size, seed, radius)
    edges = np.arange(len(search.edges.there))
    begins = np.repeat(np.arange(size), search.edges.counts)
    levels = around.levels.reshape(size, size)
    for row in range(size):
        near = levels[row, begins] < radius
        some, starts = edges[near], begins[near]
        first = search.leads_first(around, np.full(len(some), row * size), some, starts)
        ends = search.edges.there[some[first]]
        total = levels[row, starts[first]] + search.edges.lengths[some[first]]
        assert np.array_equal(total, levels[row, ends])
        unlisted = np.flatnonzero((levels[row] >= radius + 2) & (levels[row] < graph.last))
        assert sorted(ends.tolist()) == unlisted.tolist()


def test_hubs_have_no_borders() -> None:
    """The table of short edges would be too large."""
    star = WordGraph(50, [[0, i] for i in range(1, 50)], cutoff=4.0)
    assert star.borders is None


@pytest.mark.parametrize("size", [2, 3])
def test_tiny_graphs(size: int) -> None:
    path = WordGraph(size, [[i, i + 1] for i in range(size - 1)], cutoff=8.0)
    assert path.borders is not None
    around = path.borders.surroundings(np.arange(size), 1)
    assert len(around.near) == size

"""Near words that are searched alone are those of a search of the whole graph."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from malaprop import Lexicon
from malaprop.privacy import word_graph
from malaprop.privacy.lazy_rows import NearWords
from malaprop.privacy.word_graph import Bytes, WordGraph, graph_of


def random_graph(size: int, random: np.random.Generator, *, cut: bool) -> WordGraph:
    """A chain with more edges across it, of lengths from ½ to 3½, and a hub."""
    chain = np.stack([np.arange(size - 1), np.arange(1, size)], axis=1)
    more = random.integers(0, size, (size // 2, 2))
    hub = np.stack([np.zeros(size // 8, dtype=np.int64), random.integers(1, size, size // 8)])
    edges = np.concatenate([chain, more[more[:, 0] != more[:, 1]], hub.T])
    lengths = random.integers(1, 8, len(edges)) / 2.0
    cutoff = float(random.integers(8, 40)) / 2.0 if cut else np.inf
    return WordGraph(size, edges, lengths, cutoff=cutoff)


def assert_on_the_right_side(found: NearWords, levels: Bytes, tries: int = 3000) -> None:
    """Near words have their own levels; others are above the limit exactly if they should be."""
    random = np.random.Generator(np.random.PCG64(1))
    assert found.limited is not None
    rows, words = random.integers(0, levels.shape, (tries, 2)).T
    limits = random.integers(-1, found.limited.last + 1, tries)
    keys, true = found.limited.keys(rows, words, limits), levels[rows, words]
    near = true < found.beyond[rows]
    assert np.array_equal(keys[near], true[near])
    assert (keys[~near] >= found.beyond[rows][~near]).all()
    assert np.array_equal(keys <= limits, true <= limits)


@given(st.integers(2, 80), st.integers(0, 2**32), st.integers(1, 30), st.booleans())
def test_limits_are_kept(size: int, seed: int, beyond: int, cut: bool) -> None:
    random = np.random.Generator(np.random.PCG64(seed))
    graph = random_graph(size, random, cut=cut)
    if not graph.unit:
        return
    ids = random.integers(0, size, int(random.integers(1, 30)))
    found = graph.search.near_words_alone(ids, beyond)
    assert_on_the_right_side(found, graph.levels(ids))


@given(st.integers(2, 80), st.integers(0, 2**32), st.integers(1, 30))
def test_near_words_come_in_the_same_order(size: int, seed: int, beyond: int) -> None:
    """So that a seed gives the same draws, whichever way they were found."""
    random = np.random.Generator(np.random.PCG64(seed))
    graph = random_graph(size, random, cut=True)
    ids = random.integers(0, size, int(random.integers(1, 600)))
    alone, whole = (
        search(ids, beyond) for search in (graph.search.near_words_alone, graph.search.near_words)
    )
    for mine, other in zip(alone[:4], whole[:4], strict=True):
        assert np.array_equal(mine, other)


def test_a_search_that_grows_too_large_is_left_to_the_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    graph = random_graph(70, np.random.Generator(np.random.PCG64(5)), cut=True)
    ids = np.arange(9)
    monkeypatch.setattr(word_graph, "_MOST_PLACES", 3)
    assert_on_the_right_side(graph.search.near_words_alone(ids, 2), graph.levels(ids))


@pytest.mark.parametrize("beyond", [1, 4, 8, 11, 20])
def test_english(english: Lexicon, beyond: int) -> None:
    graph = graph_of(english.with_graph().metric)
    assert graph is not None
    ids = np.array([0, 5, 777, 12_345, 32_527])
    found = graph.search.near_words_alone(ids, beyond)
    whole = graph.search.near_words(ids, beyond)
    assert np.array_equal(found.words, whole.words)
    assert np.array_equal(found.keys, whole.keys)
    assert_on_the_right_side(found, graph.levels(ids), tries=2000)

"""How a lexicon's word graph is made, kept and found again."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from malaprop import Balanced, GraphOptions, Lexicon, LexiconError, MetricError, ParameterError
from malaprop.lexicon import store
from malaprop.lexicon.graph import (
    build_graph,
    candidate_edges,
    keep_graph,
    near_words,
    with_graph_if_needed,
)
from malaprop.lexicon.store import read_graph, write_graph
from malaprop.privacy.word_graph import WordGraph, graph_of


def random_lexicon(size: int, dimension: int, seed: int = 1) -> Lexicon:
    rng = np.random.Generator(np.random.PCG64(seed))
    return Lexicon([f"w{i}" for i in range(size)], rng.normal(size=(size, dimension)))


def graph_in(lexicon: Lexicon) -> WordGraph:
    graph = graph_of(lexicon.metric)
    assert graph is not None
    return graph


@given(
    st.integers(1, 120),
    st.sampled_from([1, 2, 20]),
    st.integers(2, 6),
    st.integers(1, 12),
    st.integers(0, 5),
    st.integers(0, 2**32),
)
def test_it_is_connected_capped_and_anchored(
    size: int, dimension: int, cap: int, candidates: int, anchors: int, seed: int
) -> None:
    lexicon = random_lexicon(size, dimension, seed)
    options = GraphOptions(cap=cap, candidates=candidates, anchors=anchors, anchor_weight=3.0)
    graph = build_graph(lexicon, options)  # a graph of several parts would be refused
    assert graph.size == size
    near_edges = graph.edges[graph.weights == 1.0]
    assert np.bincount(near_edges.ravel(), minlength=size).max(initial=0) <= cap
    near, _ = near_words(lexicon, candidates, options.components)
    distances = graph.distances(np.arange(size))
    reached = np.take_along_axis(distances, near[:, :anchors], axis=1)
    assert reached.max(initial=0.0) <= 3.0


def test_the_same_lexicon_has_the_same_graph() -> None:
    first, again = (graph_in(random_lexicon(200, 20).with_graph()) for _ in range(2))
    assert first.token == again.token
    other = graph_in(random_lexicon(200, 20).with_graph(cap=5))
    assert other.token != first.token


def test_near_words_are_the_nearest_by_angle_without_common_components() -> None:
    lexicon = random_lexicon(300, 20)
    near, _ = near_words(lexicon, 8, 2)
    centred = lexicon.vectors.astype(float) - lexicon.vectors.mean(axis=0, dtype=float)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    centred -= centred @ axes[:2].T @ axes[:2]
    units = centred / np.linalg.norm(centred, axis=1, keepdims=True)
    similar = units @ units.T
    np.fill_diagonal(similar, -2.0)
    best = np.sort(similar, axis=1)[:, ::-1][:, :8]
    found = np.take_along_axis(similar, near, axis=1)
    np.testing.assert_allclose(found, best, atol=0.005)  # the grid moves a cosine by no more


def test_words_of_one_vector_do_not_count_themselves() -> None:
    lexicon = Lexicon([f"w{i}" for i in range(40)], np.repeat(np.eye(20), 2, axis=0))
    near, _ = near_words(lexicon, 5, 0)
    assert (near != np.arange(40)[:, None]).all()
    assert (near[:, 0] == (np.arange(40) ^ 1)).all()


def test_candidates_are_ordered_by_rank_then_by_the_other_rank() -> None:
    near = np.array([[1, 2], [0, 2], [3, 0], [2, 1]])
    assert candidate_edges(near).tolist() == [[0, 1], [2, 3], [0, 2], [1, 2], [1, 3]]


def test_no_word_keeps_a_single_edge_if_others_may_give_way() -> None:
    """In the order of candidates alone, one of these words would end with one edge."""
    lexicon = random_lexicon(600, 20, seed=2)
    graph = build_graph(lexicon, GraphOptions(candidates=16, anchors=0))
    assert np.bincount(graph.edges.ravel()).min() == 2


def test_parts_that_no_candidate_joins_are_joined_by_the_closest_words() -> None:
    lexicon = Lexicon([f"w{i}" for i in range(6)], [[0.0], [1.0], [2.0], [100.0], [101.0], [102.0]])
    graph = build_graph(lexicon, GraphOptions(cap=2, candidates=1, anchors=0))
    assert [2, 3] in graph.edges.tolist()


@settings(deadline=None, max_examples=50)
@given(
    st.integers(2, 60),
    st.sampled_from([1.0, 1.5, 2.0, 3.5]),
    st.integers(0, 2**32),
    st.integers(1, 120),
)
def test_words_that_stay_apart_are_two_steps_apart(
    size: int, anchor_weight: float, seed: int, count: int
) -> None:
    """The graph is still connected and capped, and its anchors are where they were."""
    lexicon = random_lexicon(size, 20, seed)
    chosen = np.random.default_rng(seed).integers(0, size, (count, 2))
    apart = tuple((f"w{a}", f"w{b}") for a, b in chosen.tolist() if abs(a - b) > 1)
    options = GraphOptions(anchors=3, anchor_weight=anchor_weight, apart=apart)
    graph = build_graph(lexicon, options)
    joined = dict(zip(map(tuple, graph.edges.tolist()), graph.weights.tolist(), strict=True))
    lengths = [joined.get(pair) for pair in map(tuple, options.apart_in(lexicon.index).tolist())]
    assert all(length is None or length >= 2.0 for length in lengths)
    near_edges = graph.edges[graph.weights == 1.0]
    if anchor_weight > 1.0:
        assert np.bincount(near_edges.ravel(), minlength=size).max(initial=0) <= options.cap
    if anchor_weight >= 2.0:
        near, _ = near_words(lexicon, 3, options.components)
        reached = np.take_along_axis(graph.distances(np.arange(size)), near, axis=1)
        assert reached.max(initial=0.0) <= anchor_weight


def test_parts_are_joined_by_words_that_need_not_stay_apart() -> None:
    lexicon = Lexicon([f"w{i}" for i in range(6)], [[0.0], [1.0], [2.0], [100.0], [101.0], [102.0]])
    options = GraphOptions(cap=3, candidates=1, anchors=0, apart=(("w3", "w2"),))
    edges = build_graph(lexicon, options).edges.tolist()
    assert [2, 3] not in edges
    assert [1, 3] in edges or [2, 4] in edges


def test_antonyms_of_english_stay_apart_by_default() -> None:
    words = Lexicon(["hot", "cold", "warm", "cool"], [[0.0], [1.0], [3.0], [4.0]])
    assert words.with_graph().steps("hot", "cold") == 2.0
    assert words.with_graph(apart=()).steps("hot", "cold") == 1.0
    alone = Lexicon(["hot", "cold"], [[0.0], [1.0]])
    assert alone.with_graph().steps("hot", "cold") == 1.0  # nothing else connects them


def test_pairs_that_stay_apart_are_part_of_the_fingerprint() -> None:
    """By what they are in the lexicon: other words, their order and doubles change nothing."""
    lexicon = random_lexicon(60, 20)
    tokens = [
        graph_in(lexicon.with_graph(apart=apart)).token
        for apart in (
            None,
            (),
            [("w1", "elsewhere")],
            [("w1", "w7"), ("w3", "w2")],
            (["w2", "w3"], ["w7", "w1"], ["w1", "w7"]),
            [("w1", "w9")],
        )
    ]
    assert tokens[0] == tokens[1] == tokens[2]
    assert tokens[3] == tokens[4]
    assert len(set(tokens)) == 3


@pytest.mark.parametrize(
    "apart", ["hot", ["hot"], ["ab"], [("a", "b", "c")], [("a", 1)], 7, [None]]
)
def test_what_stays_apart_must_be_pairs_of_words(apart: object) -> None:
    with pytest.raises(ParameterError, match=r"'apart' of a word graph must be a list of pairs"):
        GraphOptions(apart=apart)  # type: ignore[arg-type]


def test_own_edges(line: Lexicon) -> None:
    near = line.with_graph(edges=[("zero", "one"), ("one", "three", 2.5)], cutoff=3.0)
    assert near.steps("zero", "three") == 3.5
    assert near.distances([0]).tolist() == [[0.0, 1.0, 3.0]]
    assert near.path("three", "zero") == ["three", "one", "zero"]
    assert near.neighbours_by_step("one", 3) == {1.0: ["zero"], 2.5: ["three"]}
    assert near.fingerprint != line.fingerprint


@pytest.mark.parametrize(
    ("edges", "options", "error", "words"),
    [
        ([("zero", "two")], {}, LexiconError, "Edge 0"),
        ([("zero", "one", 1.0, 2.0)], {}, LexiconError, "Edge 0"),
        ([("zero", "one"), ("one",)], {}, LexiconError, "Edge 1"),
        ([("zero", "one", "2")], {}, LexiconError, "Edge 0"),
        ([("zero", "one", True)], {}, LexiconError, "Edge 0"),
        ([("zero", "one", 10**400)], {}, LexiconError, "Edge 0"),
        ([(["zero"], "one")], {}, LexiconError, "Edge 0"),
        ([3], {}, LexiconError, "Edge 0"),
        ("zero", {}, LexiconError, "list of pairs"),
        (3, {}, LexiconError, "list of pairs"),
        ([("zero", "one"), ("one", "three")], {"cutoff": "5"}, MetricError, "cutoff"),
        ([("zero", "one")], {}, MetricError, "2 parts"),
        ([("zero", "one"), ("one", "three")], {"cap": 3}, ParameterError, "no option 'cap'"),
        (None, {"kap": 3}, ParameterError, "Did you mean 'cap'"),
        (None, {"cap": 1}, ParameterError, "cap"),
        (None, {"cutoff": 0}, ParameterError, "cutoff"),
        (None, {"cutoff": "5"}, ParameterError, "cutoff"),
        (None, {"cutoff": 0.5, "anchor_weight": 0.5}, ParameterError, "nor below 1"),
        (None, {"anchor_weight": -1}, ParameterError, "anchor_weight"),
        (None, {"anchor_weight": None}, ParameterError, "anchor_weight"),
        (None, {"anchor_weight": math.inf, "cutoff": math.inf}, ParameterError, "finite"),
        (None, {"anchor_weight": 11}, ParameterError, "not below it"),
    ],
)
def test_wrong_edges_and_options_are_refused(
    line: Lexicon, edges: Any, options: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        line.with_graph(edges=edges, **options)


def test_two_letters_are_no_pair_of_words() -> None:
    letters = Lexicon(["a", "b"], [[0.0], [1.0]])
    with pytest.raises(LexiconError, match="Edge 0"):
        letters.with_graph(edges=["ab"])  # type: ignore[list-item]


def test_a_whole_number_and_a_float_are_the_same_option() -> None:
    whole, real = ({"cutoff": 10, "anchor_weight": 3}, {"cutoff": 10.0, "anchor_weight": 3.0})
    first, second = (random_lexicon(60, 20).with_graph(**options) for options in (whole, real))
    assert first.fingerprint == second.fingerprint


def test_anchors_need_no_candidates() -> None:
    lexicon = random_lexicon(60, 20)
    graph = graph_in(lexicon.with_graph(candidates=1, anchors=5))
    near, _ = near_words(lexicon, 5, 3)
    reached = np.take_along_axis(graph.distances(np.arange(60)), near, axis=1)
    assert reached.max() <= 3.5


def test_steps_are_not_cut_off() -> None:
    chain = Lexicon(["a", "b", "c", "d"], [[0.0], [1.0], [2.0], [3.0]])
    near = chain.with_graph(edges=[("a", "b"), ("b", "c"), ("c", "d")], cutoff=2.0)
    assert near.distances([0]).tolist() == [[0.0, 1.0, 2.0, 2.0]]
    assert near.steps("a", "d") == 3.0
    assert near.neighbours_by_step("a") == {1.0: ["b"], 2.0: ["c"]}


def test_a_lexicon_without_a_graph_has_no_steps(line: Lexicon) -> None:
    with pytest.raises(MetricError, match="with_graph"):
        line.steps("zero", "one")
    with pytest.raises(MetricError, match="with_graph"):
        line.with_metric("graph")
    near = line.with_graph()
    for asked in (
        lambda: near.steps("zero", "secret"),
        lambda: near.path("secret", "zero"),
        lambda: near.neighbours_by_step("secret"),
        lambda: near.neighbours_by_step(["zero"]),  # type: ignore[arg-type]
    ):
        with pytest.raises(LexiconError, match="not in the lexicon"):
            asked()


def test_a_lexicon_is_saved_with_its_graph(tmp_path: Path) -> None:
    near = random_lexicon(50, 20).with_graph(cap=3)
    near.save(tmp_path / "near")
    again = Lexicon.open(tmp_path / "near")
    assert again.fingerprint == near.fingerprint
    assert graph_in(again).made == graph_in(near).made
    assert np.array_equal(again.distances([3]), near.distances([3]))


def test_a_damaged_graph_is_refused_whatever_the_damage(tmp_path: Path) -> None:
    near = random_lexicon(50, 20).with_graph(cap=3)
    near.save(tmp_path / "near")
    path = tmp_path / "near" / store.GRAPH
    whole, rng = path.read_bytes(), np.random.Generator(np.random.PCG64(5))
    refused = 0
    for _ in range(200):
        damaged = bytearray(whole)
        damaged[rng.integers(len(whole))] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        try:
            same = Lexicon.open(tmp_path / "near").fingerprint == near.fingerprint
        except LexiconError:
            refused += 1
        else:
            assert same  # a bit that means nothing, such as one of a date
    assert refused > 100


def test_a_graph_that_was_exchanged_does_not_have_the_fingerprint(tmp_path: Path) -> None:
    lexicon = random_lexicon(50, 20)
    lexicon.with_graph(cap=3).save(tmp_path / "near")
    write_graph(tmp_path / "near" / store.GRAPH, graph_in(lexicon.with_graph(cap=4)), base="")
    with pytest.raises(LexiconError, match="somebody changed them"):
        Lexicon.open(tmp_path / "near").fingerprint  # noqa: B018


def test_a_kept_graph_is_found_by_lexicon_and_options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MALAPROP_HOME", str(tmp_path))
    lexicon = random_lexicon(60, 20)
    graph = graph_in(lexicon.with_graph())
    path = keep_graph(graph, lexicon.fingerprint)
    kept = read_graph(path, lexicon.fingerprint, len(lexicon))
    assert kept is not None
    assert kept.token == graph.token
    assert read_graph(path, "another lexicon", len(lexicon)) is None
    monkeypatch.setattr("malaprop.lexicon.graph.build_graph", None)
    assert graph_in(lexicon.with_graph()).token == graph.token
    with pytest.raises(TypeError):  # it would have to be built
        lexicon.with_graph(cap=5)


def test_a_large_lexicon_needs_its_graph_first(monkeypatch: pytest.MonkeyPatch) -> None:
    lexicon = random_lexicon(60, 20)
    assert str(with_graph_if_needed(lexicon, Balanced(epsilon=1.0)).metric) == "graph"
    monkeypatch.setattr("malaprop.lexicon.graph.SMALL", 50)
    with pytest.raises(LexiconError, match="malaprop lexicon graph NAME"):
        with_graph_if_needed(lexicon, Balanced(epsilon=1.0))


def test_a_poincare_lexicon_has_a_graph_of_its_own_distances() -> None:
    rng = np.random.Generator(np.random.PCG64(4))
    lexicon = Lexicon([f"w{i}" for i in range(40)], rng.uniform(-0.5, 0.5, (40, 2)), "poincare")
    near, _ = near_words(lexicon, 3, 3)
    order = np.argsort(lexicon.distances(np.arange(40)), axis=1)[:, 1:4]
    assert np.array_equal(near, order)
    assert str(lexicon.with_graph().metric) == "graph"

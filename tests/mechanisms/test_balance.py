"""Balance: closed forms, reference values, and the loss over edges against all pairs."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.privacy.test_graph import graphs

from malaprop.mechanisms.balance import (
    Balance,
    Kernel,
    approach,
    balance,
    byte_kernel,
    dense_kernel,
    plain,
    solve,
    spread,
)
from malaprop.privacy.arrays import Floats
from malaprop.privacy.word_graph import WordGraph


def path_of(size: int) -> WordGraph:
    return WordGraph(size, [[i, i + 1] for i in range(size - 1)])


def cycle_of(size: int) -> WordGraph:
    return WordGraph(size, [[i, (i + 1) % size] for i in range(size)])


def star_of(leaves: int) -> WordGraph:
    return WordGraph(leaves + 1, [[0, i + 1] for i in range(leaves)])


def kernel_of(graph: WordGraph) -> Kernel:
    return dense_kernel(graph.distances(np.arange(graph.size)))


def weights_of(graph: WordGraph, exponent: float) -> Floats:
    start = np.full(graph.size, 0.5)
    found, positive = solve(kernel_of(graph), exponent, start, 1e-14)
    return found if positive else approach(kernel_of(graph), exponent, start)


def law_of(graph: WordGraph, law: Balance) -> Floats:
    """ln Pr[y|w], written down from the definition."""
    near = np.exp(-law.exponent * graph.distances(np.arange(graph.size))) * law.weights
    masses = near.sum(axis=1, keepdims=True)
    if law.scale is None:
        p = near / masses
    else:
        rest = 1.0 - law.scale[:, None] * masses
        p = law.scale[:, None] * near + rest * (law.weights / law.weights.sum())
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(p))


def worst_excess(graph: WordGraph, log_p: Floats, epsilon: float) -> float:
    """The largest excess of the loss over ε·d: all pairs, all outputs."""
    distances = graph.distances(np.arange(graph.size))
    known = np.isfinite(log_p[0])
    losses = (log_p[:, None, known] - log_p[None, :, known]).max(axis=2)
    return float((losses - epsilon * distances).max())


class TestReferenceValues:
    def test_path_of_three(self) -> None:
        found = weights_of(path_of(3), 1.0)
        np.testing.assert_allclose(found, [0.7310585786, 0.4621171573, 0.7310585786], atol=1e-10)
        row = found * np.exp([0.0, -1.0, -2.0])
        np.testing.assert_allclose(row, [0.7310585786, 0.1700034016, 0.0989380198], atol=1e-10)

    def test_path_of_four(self) -> None:
        found = weights_of(path_of(4), math.log(2.0))
        np.testing.assert_allclose(3.0 * found, [2.0, 1.0, 1.0, 2.0], atol=1e-12)

    def test_cycle_of_five(self) -> None:
        np.testing.assert_allclose(weights_of(cycle_of(5), 1.0), 0.4983977885, atol=1e-10)

    def test_star_with_four_leaves(self) -> None:
        found = weights_of(star_of(4), math.log(3.0) + 1e-4)
        assert found[0] == pytest.approx(0.0, abs=1e-4)
        np.testing.assert_allclose(found[1:], 0.75, atol=1e-4)

    @given(st.integers(2, 60), st.integers(0, 2**32))
    def test_trees_have_a_closed_form(self, size: int, seed: int) -> None:
        """ν(w) = 1 − q·deg(w)/(1 + q), Σν = n − 2q(n − 1)/(1 + q)."""
        rng = np.random.Generator(np.random.PCG64(seed))
        edges = np.stack([np.arange(1, size), rng.integers(0, np.arange(1, size))], axis=1)
        tree = WordGraph(size, edges)
        degrees = np.bincount(tree.edges.ravel(), minlength=tree.size)
        exponent = math.log(max(2, int(degrees.max()))) + 0.1
        q = math.exp(-exponent)
        found = weights_of(tree, exponent)
        np.testing.assert_allclose(found, 1.0 - q * degrees / (1.0 + q), atol=1e-11)
        assert found.sum() == pytest.approx(size - 2.0 * q * (size - 1) / (1.0 + q))


@given(graphs(most=40), st.floats(0.3, 4.0))
def test_a_balance_that_passes_on_edges_holds_for_all_pairs(
    graph: WordGraph, exponent: float
) -> None:
    kernel = kernel_of(graph)
    weights = weights_of(graph, exponent)
    law = balance(graph, kernel, exponent * (1.0 + 1e-9), exponent, weights)
    assert law.loss(graph) <= exponent * (1.0 + 1e-9)
    assert worst_excess(graph, law_of(graph, law), law.loss(graph)) <= 1e-9
    if law.form == "balanced":
        np.testing.assert_allclose(np.asarray(law.masses), 1.0, rtol=1e-6)


@given(graphs(most=30), st.floats(0.3, 4.0), st.integers(0, 2**32))
def test_the_audit_on_edges_is_exact_for_any_weights(
    graph: WordGraph, exponent: float, seed: int
) -> None:
    """Whatever ν is: what the edges say is the worst over all pairs and outputs, and is attained.

    With a cut-off it is an upper bound.
    """
    weights = np.random.Generator(np.random.PCG64(seed)).uniform(0.01, 1.0, graph.size)
    masses = kernel_of(graph)(exponent, True)(weights)
    law = Balance(exponent=exponent, weights=weights, masses=masses)
    stated, log_p = law.loss(graph), law_of(graph, law)
    assert worst_excess(graph, log_p, stated) <= 1e-9
    distances = graph.distances(np.arange(graph.size))
    tight = distances[graph.edges[:, 0], graph.edges[:, 1]] == graph.weights
    if math.isinf(graph.cutoff) and tight.all():
        assert worst_excess(graph, log_p, stated * (1.0 - 1e-6)) > 0.0


@given(graphs(most=30), st.floats(0.2, 3.0), st.integers(0, 2**32))
def test_a_spread_law_holds_for_any_weights(graph: WordGraph, exponent: float, seed: int) -> None:
    weights = np.random.Generator(np.random.PCG64(seed)).uniform(0.0, 1.0, graph.size)
    weights[weights < 0.2] = 0.0
    weights[0] = 0.5
    masses = kernel_of(graph)(exponent, True)(weights)
    for epsilon in (exponent, 1.05 * exponent):
        law = spread(graph, Balance(exponent=exponent, weights=weights, masses=masses), epsilon)
        assert law.scale is not None
        assert law.scale.min() > 0.0
        assert law.loss(graph) <= epsilon
        assert worst_excess(graph, law_of(graph, law), epsilon) <= 1e-9


@given(graphs(most=30), st.floats(0.2, 4.0))
def test_the_plain_law_is_between_half_and_all_of_epsilon(graph: WordGraph, epsilon: float) -> None:
    distances = graph.distances(np.arange(graph.size))
    law = plain(graph, epsilon, lambda t: np.exp(-t * distances).sum(axis=1))
    assert epsilon / 2.0 <= law.exponent <= epsilon
    assert worst_excess(graph, law_of(graph, law), epsilon) <= 1e-9


def test_unbalanced_weights_sold_as_balanced_are_caught() -> None:
    graph = star_of(3)
    fair = weights_of(graph, 1.5)
    for factor in (1.05, 0.95):
        planted = fair.copy()
        planted[1] *= factor
        masses = kernel_of(graph)(1.5, True)(planted)
        law = Balance(exponent=1.5, weights=planted, masses=masses)
        assert law.loss(graph) > 1.5 * 1.005
        assert worst_excess(graph, law_of(graph, law), 1.5) > 0.01


@pytest.mark.parametrize(
    "wrong",
    [
        {"exponent": -1.0},
        {"exponent": math.nan},
        {"slack": -0.1},
        {"weights": np.zeros(3)},
        {"weights": np.array([0.7, -0.1, 0.7])},
        {"weights": np.array([0.7, math.nan, 0.7])},
    ],
)
def test_what_the_proof_does_not_speak_of_never_passes(wrong: dict[str, Any]) -> None:
    graph = path_of(3)
    law = Balance(exponent=1.0, weights=weights_of(graph, 1.0), masses=np.ones(3))
    assert law.loss(graph) == 1.0
    assert math.isinf(replace(law, **wrong).loss(graph))


def test_where_rounding_hides_the_loss_of_a_short_step_half_of_epsilon_holds() -> None:
    graph = WordGraph(4, [[0, 1], [1, 2], [2, 3]], [1e-12, 1.0, 1e-12])
    distances = graph.distances(np.arange(4))
    law = plain(graph, 1e-4, lambda t: np.exp(-t * distances).sum(axis=1))
    assert law.exponent == 5e-5
    assert law.loss(graph) == 1e-4
    assert worst_excess(graph, law_of(graph, law), 1e-4) <= 1e-14


def test_the_cutoff_is_audited_by_itself() -> None:
    """Small changes along a long path add up to more than ε·γ between its ends."""
    chain = WordGraph(40, [[i, i + 1] for i in range(39)], cutoff=3.0)
    slope = np.exp(-0.5 * np.arange(40))
    law = Balance(exponent=1.0, weights=np.ones(40), masses=np.full(40, 0.01), scale=slope)
    assert law.loss(chain) == pytest.approx(1.0 + 0.5 * 39 / 3.0)


@given(graphs(most=70), st.floats(0.3, 3.0), st.integers(0, 2**32))
def test_products_by_levels_are_products(graph: WordGraph, exponent: float, seed: int) -> None:
    if not graph.unit:
        return
    x = np.random.Generator(np.random.PCG64(seed)).normal(size=graph.size)
    wanted = kernel_of(graph)(exponent, True)(x)
    levels = byte_kernel(graph)
    np.testing.assert_allclose(levels(exponent, True)(x), wanted, atol=1e-12)
    np.testing.assert_allclose(levels(exponent, False)(x), wanted, atol=1e-4)


@given(graphs(most=25), st.floats(1.0, 3.0))
def test_no_other_law_keeps_more(graph: WordGraph, epsilon: float) -> None:
    """Of laws that keep ε·d, none has a higher mean Pr[w|w] than a balanced one.

    Kx ≤ 1 for x(y) = Pr[y|y] of any such law, so that Σx = Σx·Kν ≤ Σν; here, the plain law.
    """
    kernel = kernel_of(graph)
    weights = weights_of(graph, epsilon)
    law = balance(graph, kernel, epsilon * (1 + 1e-9), epsilon, weights)
    distances = graph.distances(np.arange(graph.size))
    other = plain(graph, epsilon, lambda t: np.exp(-t * distances).sum(axis=1))
    if law.form == "balanced":
        assert other.kept <= law.kept + 1e-9
        x = np.exp(np.diagonal(law_of(graph, other)))
        assert (np.exp(-epsilon * distances) @ x).max() <= 1.0 + 1e-9

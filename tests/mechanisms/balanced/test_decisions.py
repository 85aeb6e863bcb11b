"""Draws by walks have the stated law, by bisection of each decision that the code takes."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.random import Generator
from tests.mechanisms.balanced.decisions import drawn_law

from malaprop.core.arrays import Floats
from malaprop.core.metrics.graph import WordGraph
from malaprop.core.sampling.by_distance import pool_of
from malaprop.mechanisms.balanced.far_words import FarWords

Pairs = list[tuple[int, int]]


def ring(random: Generator) -> Pairs:
    size = int(random.integers(3, 14))
    return [(i, (i + 1) % size) for i in range(size)]


def grid(random: Generator) -> Pairs:
    high, wide = random.integers(2, 5, 2).tolist()
    across = [(i * wide + j, i * wide + j + 1) for i in range(high) for j in range(wide - 1)]
    return across + [(i, i + wide) for i in range((high - 1) * wide)]


def cube(random: Generator) -> Pairs:
    return [(i, i ^ bit) for i in range(8) for bit in (1, 2, 4) if i < i ^ bit]


def path(random: Generator) -> Pairs:
    return [(i, i + 1) for i in range(int(random.integers(1, 8)))]


def sides(random: Generator) -> Pairs:
    """Each word of one side is joined to each of the other: most shortest paths are ties."""
    half = int(random.integers(2, 6))
    return [(i, half + j) for i in range(half) for j in range(half)]


def some_graph(shape: Pairs, random: Generator) -> WordGraph:
    """Add longer edges, of any unit; some shorten paths, some do not, some are parallel."""
    size, shortest = max(map(max, shape)) + 1, int(random.integers(1, 4))
    longer = np.where(random.random(len(shape)) < 0.2, random.integers(0, 4, len(shape)), 0)
    more = random.integers(0, size, (int(random.integers(0, 2 * size)), 2))
    more = more[more[:, 0] != more[:, 1]]
    steps = shortest + np.concatenate([longer, random.integers(1, 8, len(more))])
    cutoff = max(int(steps.max()), int(random.integers(shortest + 2, 30)))
    unit = random.choice([1.0, 0.5, 0.25, 0.125])
    at = np.inf if random.random() < 0.3 else cutoff * unit
    return WordGraph(size, np.concatenate([shape, more]), steps * unit, cutoff=at)


def some_weights(size: int, random: Generator) -> Floats:
    kinds = [
        np.ones(size),
        np.exp(random.uniform(-7.0, 0.0, size)),
        np.where(random.random(size) < 0.4, 0.0, random.uniform(0.1, 1.0, size)),
    ]
    weights: Floats = kinds[int(random.integers(3))]
    return weights if weights.any() else np.ones(size)


def worst_ratio(seed: int, shape: Pairs, off: float) -> float | None:
    """The largest error of a log-probability; None if the graph has no use for walks."""
    random = np.random.Generator(np.random.PCG64(seed))
    graph = some_graph(shape, random)
    weights = some_weights(graph.size, random)
    if not graph.unit or graph.borders is None:
        return None
    exponent = np.exp(random.uniform(-1.0, 2.0)) / graph.borders.edges.length
    falls = np.exp(-exponent * np.arange(graph.last + 1))
    far = FarWords(graph.borders, weights, falls, pool_of(weights))
    if not far._walks.usable:
        return None
    ids = random.integers(0, graph.size, 2)
    radius = int(random.integers(1, graph.last - graph.borders.edges.length))
    share = random.uniform(0.1, 1.0, 2)
    rest = float(random.integers(0, 2)) * np.exp(random.uniform(-20.0, 0.0, 2))
    stated = share[:, None] * falls[graph.levels(ids)] ** off + rest[:, None]
    stated *= weights
    stated /= stated.sum(axis=1, keepdims=True)
    law = drawn_law(far, ids, radius, share, rest)
    assert (law[stated == 0.0] == 0.0).all()
    return float(np.abs(np.log(law[stated > 0.0] / stated[stated > 0.0])).max())


@pytest.mark.parametrize("shape", [ring, grid, cube, path, sides])
def test_each_word_has_its_probability(shape: Callable[[Generator], Pairs]) -> None:
    """To 12 digits, rare words too: edges of many lengths, ties, cut-offs, ν = 0, spread laws."""
    seeds = range(9)
    random = np.random.Generator(np.random.PCG64(4))
    errors = [worst_ratio(seed, shape(random), 1.0) for seed in seeds]
    known = [error for error in errors if error is not None]
    assert len(known) >= 2
    assert max(known) < 1e-12


@pytest.mark.parametrize("radius", [1, 2, 3, 4])
def test_longer_edges_that_lead_to_the_same_word_count_once(radius: int) -> None:
    """From one ring to another, by four edges of the same length to each of two words."""
    rings = [(8 * k + i, 8 * k + (i + 1) % 8) for k in range(2) for i in range(8)]
    bridges = [(i, there) for i in (7, 1, 2, 6) for there in (8, 10)]
    graph = WordGraph(16, rings + bridges, [1] * 16 + [5] * 8, cutoff=9.0)
    weights, falls = np.linspace(0.5, 1.0, 16), np.exp(-1.5 * np.arange(10))
    assert graph.borders is not None
    far = FarWords(graph.borders, weights, falls, pool_of(weights))
    assert far._walks.usable
    stated = weights * falls[graph.levels(np.arange(16))]
    law = drawn_law(far, np.arange(16), radius, np.ones(16), np.zeros(16))
    assert np.allclose(law, stated / stated.sum(axis=1, keepdims=True), rtol=1e-12, atol=0.0)


def test_an_exponent_off_by_1_percent_is_noticed() -> None:
    random = np.random.Generator(np.random.PCG64(1))
    errors = [worst_ratio(seed, grid(random), 1.01) for seed in range(6)]
    assert min(error for error in errors if error is not None) > 1e-6


def test_a_step_that_is_rarer_than_rounding_is_not_lost() -> None:
    """A word that never comes out joins three others to a ring, by an edge ten times as long.

    A walk comes to it by its only short edge. So it may go on by the long edge only, which is less
    than rounding of the sum of both. If the bound of such walks were 0, the three would be drawn
    e^17 times too rarely, and the stated rounding would not tell.
    """
    size = 900
    edges = [(i, (i + 1) % size) for i in range(size)]
    edges += [(2, size), (size, size + 1)]
    edges += [(size + 1, size + 2), (size + 2, size + 3), (size + 3, size + 1)]
    graph = WordGraph(size + 4, edges, [1] * (size + 1) + [10, 1, 1, 1], cutoff=16.0)
    weights, falls = np.ones(size + 4), np.exp(-4.3 * np.arange(17))
    weights[size] = 0.0
    assert graph.borders is not None
    far = FarWords(graph.borders, weights, falls, pool_of(weights))
    gate = int(np.flatnonzero(graph.borders.order == size)[0])
    assert far._walks._came[gate] >= far._walks.long_bounds[gate] > 0.0
    assert not far.usable

"""Rows whose far words are drawn by walks have the law of all other rows."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare
from tests.core.metrics.test_border_search import even_graph
from tests.core.sampling.walk_laws import law_of_walks, long_chances

from malaprop import Balanced, Lexicon, secure_rng, seeded_rng
from malaprop.core.arrays import Ids
from malaprop.core.metrics.border_search import Surroundings
from malaprop.core.sampling.by_distance import pool_of
from malaprop.core.sampling.draws import LawRows
from malaprop.core.sampling.urns import Urns, draw_ahead
from malaprop.mechanisms.balanced.far_words import FarWords
from malaprop.mechanisms.balanced.law import BalancedLaw

DRAWS = 300_000


class ExactRow:
    """The probabilities of a row: each member by weight, and each walk by its probability."""

    def __init__(self, far: FarWords, around: Surroundings, urns: Urns, row: int) -> None:
        self.far, self.around, self.first = far, around, row * far._size
        self.weights = np.zeros(far._size)
        start = int(urns.sizes[:row].sum())
        part = slice(start, start + int(urns.sizes[row]))
        for member, weight in zip(urns.members[part], urns.weights[part], strict=True):
            kind, place = divmod(int(member), far._size)
            (self.word, self.walk, self.leave, self.anywhere)[kind](place, float(weight))
        self.law = self.weights / self.weights.sum()

    def word(self, word: int, weight: float) -> None:
        self.weights[word] += weight

    def walk(self, place: int, weight: float) -> None:
        far, length = self.far, int(self.around.levels[self.first + place])
        for (end, total), chance in law_of_walks(far._walks, place, length).items():
            way = np.array([self.first]), np.array([end]), np.array([total])
            ways = int(far._search.count_shortest(self.around, *way)[0])
            if ways:
                kept = far._above[total] / far._falls[total] / ways
                self.weights[far._search.order[end]] += weight * chance * kept

    def leave(self, place: int, weight: float) -> None:
        search = self.far._search
        for edge, chance in long_chances(self.far._walks, place):
            way = np.array([self.first]), np.array([edge]), np.array([place])
            if search.leads_first(self.around, *way)[0]:
                self.walk(int(search.edges.there[edge]), weight * chance)

    def anywhere(self, place: int, weight: float) -> None:
        words, parts = self.far._pool
        shares = np.bincount(words, parts[words], self.far._size) / parts.max() / len(words)
        self.weights += weight * shares


@settings(max_examples=25)
@given(
    st.integers(6, 24),
    st.integers(0, 2**32),
    st.integers(1, 9),
    st.floats(1.2, 4.0),
    st.floats(0, 1),
)
def test_the_law_is_exact(size: int, seed: int, radius: int, exponent: float, rest: float) -> None:
    """Of any radius, on graphs with many shortest paths and edges of several lengths."""
    graph, random = even_graph(size, seed), np.random.Generator(np.random.PCG64(seed))
    weights = random.uniform(0.2, 1.0, size)
    falls = np.exp(-exponent * graph.unit * np.arange(graph.last + 1))
    assert graph.borders is not None
    far = FarWords(graph.borders, weights, falls, pool_of(weights))
    if not far._walks.usable:
        return
    ids = random.integers(0, size, 3)
    shares, rests = random.uniform(0.1, 1.0, 3), rest * random.uniform(0.0, 0.1, 3)
    urns = far.rows(ids, radius, shares, rests)
    around = graph.borders.surroundings(ids, radius)
    stated = weights * (shares[:, None] * falls[graph.levels(ids)] + rests[:, None])
    stated /= stated.sum(axis=1, keepdims=True)
    for row in range(3):
        assert np.allclose(ExactRow(far, around, urns, row).law, stated[row], rtol=1e-10, atol=0.0)


@pytest.mark.parametrize(("exponent", "fitting"), [(2.0, True), (1.9, False), (2.1, False)])
def test_draws_on_a_graph_with_many_ties(exponent: float, fitting: bool) -> None:
    """Most words are reached by several shortest paths, and many are almost as far as can be."""
    graph, weights = even_graph(60, 3), np.linspace(0.5, 1.0, 60)
    falls = [np.exp(-t * graph.unit * np.arange(graph.last + 1)) for t in (exponent, 2.0)]
    assert graph.borders is not None
    far = FarWords(graph.borders, weights, falls[0], pool_of(weights))
    rows = far.rows(np.arange(2), 2, np.ones(2), np.zeros(2))
    counts = np.full(2, 4 * DRAWS)
    for row, drawn in enumerate(draw_ahead(rows, counts, counts, seeded_rng(6))):
        law = weights * falls[1][graph.levels(np.array([row]))[0]]
        seen = np.bincount(drawn, minlength=60)
        assert (chisquare(seen, law / law.sum() * len(drawn)).pvalue > 1e-6) == fitting


def test_ways_are_kept_with_their_chance() -> None:
    """Those to the farthest words with several shortest ways, one of n and not near the cutoff."""
    graph = even_graph(60, 3)
    falls = np.exp(-0.5 * graph.unit * np.arange(graph.last + 1))
    assert graph.borders is not None
    far = FarWords(graph.borders, np.ones(60), falls, pool_of(np.ones(60)))
    around = graph.borders.surroundings(np.array([0]), 2)
    levels = graph.levels(np.array([0]))[0][graph.borders.order].astype(np.int64)
    zeros, far_ones = np.zeros(60, dtype=np.int64), (levels >= 2) & (levels < graph.last)
    ways = graph.borders.count_shortest(around, zeros, np.arange(60), levels) * far_ones
    farthest = int(np.argmax(np.where(ways > 1, levels, -1)))
    length = int(levels[farthest])
    chance = (1.0 - falls[-1] / falls[length]) / ways[farthest]
    assert chance < 0.9 / ways[farthest]
    every = np.full(DRAWS, farthest)
    kept = far._kept(around, every * 0, every, every * 0 + length, seeded_rng(4))
    assert abs(kept.mean() - chance) < 5.0 * np.sqrt(chance * (1.0 - chance) / DRAWS)


@pytest.fixture(scope="module")
def law(english: Lexicon) -> BalancedLaw:
    """The law of the default mechanism, of which a far word is drawn in one of six draws."""
    return Balanced(epsilon=1.5).on(english.with_graph()).law


def fits(law: BalancedLaw, drawn: list[Ids], ids: Ids, power: float = 1.0) -> float:
    """The least p-value of draws, by words and by levels, times the number of p-values."""
    values = []
    levels = law.graph.levels(ids).astype(np.int64)
    for row, level, words in zip(law.log_probabilities(ids), levels, drawn, strict=True):
        chances = np.exp(power * row) / np.exp(power * row).sum()
        for group in (np.arange(len(row)), level):
            expected = np.bincount(group, chances) * len(words)
            group = np.where(expected < 20, len(expected), np.arange(len(expected)))[group]
            expected = np.bincount(group, chances) * len(words)
            seen = np.bincount(group[words], minlength=len(expected))
            values.append(chisquare(seen[expected > 0], expected[expected > 0]).pvalue)
    return float(min(values) * len(values))


@pytest.mark.parametrize("radius", [3, 6, 9])
def test_draws_follow_the_law(law: BalancedLaw, radius: int) -> None:
    far, ids = law._far, np.array([0, 777, 32_780])
    assert far is not None
    counts = np.full(3, DRAWS)
    drawn = draw_ahead(far.rows(ids, radius, *law._shares(ids)), counts, counts, seeded_rng(radius))
    assert fits(law, drawn, ids) > 1e-6
    assert fits(law, drawn, ids, power=1.05) < 1e-6
    assert fits(law, drawn, ids, power=0.95) < 1e-6


def test_many_draws_of_many_words_take_walks(english: Lexicon) -> None:
    law = Balanced(epsilon=1.5).on(english.with_graph()).law
    ids = np.arange(100)
    assert isinstance(law.rows_ahead(ids, np.full(100, 5)), LawRows)
    assert isinstance(law.rows_ahead(ids, np.full(100, 20_000)), Urns)
    assert isinstance(law.rows_ahead(ids, np.full(100, 5)), Urns)  # now that all is prepared
    assert isinstance(law.rows_ahead(ids[:9], np.full(9, 5)), LawRows)
    assert isinstance(law.rows(ids, np.full(100, 20_000)), LawRows)  # what a seed repeats
    assert "_far" not in vars(pickle.loads(pickle.dumps(law)))  # noqa: S301


def test_at_a_small_epsilon_walks_are_too_long(english: Lexicon) -> None:
    law = Balanced(epsilon=0.5).on(english.with_graph()).law
    assert isinstance(law.rows_ahead(np.arange(100), np.full(100, 20_000)), LawRows)


def test_a_radius_grows_with_the_draws(law: BalancedLaw) -> None:
    assert law._far is not None
    radii = [law._far.radius(law._sampled, draws) for draws in (1.0, 30.0, 1e3, 1e5)]
    assert radii == sorted(set(radii))
    assert radii[-1] + 2 < law.graph.last


def test_a_channel_draws_what_is_asked_for(english: Lexicon) -> None:
    channel = Balanced(epsilon=1.5).on(english.with_graph())
    words, least = np.arange(200), 1 + np.arange(200) % 7
    drawn = channel.draw_ahead(words, least, least + 9_000, secure_rng())
    assert isinstance(channel.law.rows_ahead(words, least), Urns)
    again = channel.draw_ahead(words, least, least + 20, secure_rng())
    for some in (drawn, again):
        assert [len(part) >= number for part, number in zip(some, least, strict=True)] == [
            True
        ] * 200
    stays = np.array([np.mean(part == word) for word, part in zip(words, drawn, strict=True)])
    errors = (stays - channel.law.staying(words)) / np.sqrt(0.25 / 9_000)
    assert np.abs(errors).max() < 6.5


def test_ties_are_drawn_no_more_often(law: BalancedLaw) -> None:
    """A word to which many shortest paths lead is as likely as its distance says, not more."""
    far = law._far
    assert far is not None
    ids = np.array([5])
    around = far._search.surroundings(ids, 4)
    levels = law.graph.levels(ids)[0][far._search.order].astype(np.int64)
    some = np.flatnonzero((levels >= 6) & (levels <= 10))
    zeros = np.zeros(len(some), dtype=np.int64)
    ways = far._search.count_shortest(around, zeros, some, levels[some])
    assert ways.min() == 1
    assert ways.max() > 1
    counts = np.array([DRAWS])
    drawn = draw_ahead(far.rows(ids, 4, *law._shares(ids)), counts, counts, seeded_rng(1))[0]
    tied = far._search.order[some[ways > 1]]
    expected = np.exp(law.log_probabilities(ids)[0][tied]).sum() * DRAWS
    assert abs(np.isin(drawn, tied).sum() - expected) < 5.0 * np.sqrt(expected)
    wrong = np.exp(law.log_probabilities(ids)[0][tied]) @ ways[ways > 1] * DRAWS
    assert abs(np.isin(drawn, tied).sum() - wrong) > 5.0 * np.sqrt(wrong)  # without the count

"""The word graph of `english` and its balances, as they are shipped."""

from dataclasses import replace

import numpy as np
import pytest

from malaprop import TEM, Balanced, GraphOptions, LawChannel, Lexicon, audit, seeded_rng
from malaprop.lexicon.graph import points_of
from malaprop.lexicon.store import SHIPPED, fingerprint
from malaprop.lexicon.tables import balance_is_verified
from malaprop.mechanisms.balance import balance_in, best_balance, grid, plain
from malaprop.privacy.arrays import Floats, Ids
from malaprop.privacy.law import Law
from malaprop.privacy.word_graph import WordGraph, graph_of
from malaprop.text.english import antonyms


@pytest.fixture(scope="module")
def near(english: Lexicon) -> Lexicon:
    return english.with_graph()


@pytest.fixture(scope="module")
def graph(near: Lexicon) -> WordGraph:
    found = graph_of(near.metric)
    assert found is not None
    return found


@pytest.fixture(scope="module")
def sample(english: Lexicon) -> Ids:
    """400 words, the frequent and the rare."""
    return np.unique(np.linspace(0, len(english) - 1, 400).round().astype(np.int64))


class Ground:
    """What is near what: angles without the mean and three principal components."""

    def __init__(self, lexicon: Lexicon, sample: Ids) -> None:
        centred = lexicon.vectors.astype(np.float64)
        centred -= centred.mean(axis=0)
        _, axes = np.linalg.eigh(centred.T @ centred)
        centred -= (centred @ axes[:, -3:]) @ axes[:, -3:].T
        units = centred / np.linalg.norm(centred, axis=1, keepdims=True)
        self.sample, self.similar = sample, units[sample] @ units.T
        others = self.similar.copy()
        others[np.arange(len(sample)), sample] = -2.0
        self.nearest = np.argsort(-others, axis=1)[:, :11]

    def kept_and_similarity(self, channel: LawChannel[Law]) -> tuple[float, float]:
        p = np.exp(channel.log_probabilities(self.sample))
        own = p[np.arange(len(self.sample)), self.sample]
        return float(own.mean()), float((p * self.similar).sum(axis=1).mean())


@pytest.fixture(scope="module")
def ground(english: Lexicon, sample: Ids) -> Ground:
    return Ground(english, sample)


def test_it_is_the_one_that_the_options_make(english: Lexicon, graph: WordGraph) -> None:
    options = GraphOptions()
    assert graph.made == options.made_of(english.index)
    assert graph.cutoff == options.cutoff
    steps = np.bincount(graph.edges[graph.weights == 1.0].ravel(), minlength=graph.size)
    assert (steps.min(), steps.max()) == (2, options.cap)
    assert set(graph.weights) == {1.0, options.anchor_weight}


def test_the_nearest_words_are_near(graph: WordGraph, ground: Ground, sample: Ids) -> None:
    distances = graph.distances(sample)
    five = np.take_along_axis(distances, ground.nearest[:, :5], axis=1)
    # The graph's own angles are those of vectors rounded to a grid, so that ranks may swap.
    assert (five <= GraphOptions().anchor_weight).mean() > 0.99


def test_antonyms_are_two_steps_apart_or_more(english: Lexicon, graph: WordGraph) -> None:
    listed = antonyms()
    assert list(listed) == sorted({(min(pair), max(pair)) for pair in listed})
    assert all(a != b and (a + b).isascii() and a + b == (a + b).lower() for a, b in listed)
    pairs = GraphOptions().apart_in(english.index)
    assert len(pairs) > 1400
    joined = dict(zip(map(tuple, graph.edges.tolist()), graph.weights.tolist(), strict=True))
    between = {joined.get(pair) for pair in map(tuple, pairs.tolist())}
    assert between == {None, GraphOptions().anchor_weight}
    assert graph.weights.min() == 1.0  # so that any other path has two steps or more


def test_near_words_are_found_again(english: Lexicon, graph: WordGraph, sample: Ids) -> None:
    """The five nearest of some words, searched for anew, are all joined to them."""
    joined = {tuple(edge) for edge in graph.edges.tolist()}
    found = points_of(english, GraphOptions().components).nearest(sample[::4], 6)
    assert np.array_equal(found[:, 0], sample[::4])
    pairs = np.stack([np.repeat(found[:, 0], 5), found[:, 1:].ravel()], axis=1)
    assert {tuple(pair) for pair in np.sort(pairs, axis=1).tolist()} <= joined


@pytest.mark.parametrize("epsilon", [1.8, 2.0, 2.5, 3.0, 4.0, 6.0, 20.0])
def test_nothing_of_epsilon_is_lost(near: Lexicon, graph: WordGraph, epsilon: float) -> None:
    law = Balanced(epsilon=epsilon).on(near).law.balance
    assert law.exponent / law.loss(graph) >= 0.98
    assert law.loss(graph) <= epsilon
    assert law.exponent >= 0.95 * epsilon


def test_every_law_of_the_table_passes_its_audit(near: Lexicon, graph: WordGraph) -> None:
    table = near.tables.balances
    assert table is not None
    assert [law["epsilon"] for law in table.laws] == grid().tolist()
    for place, epsilon in enumerate(grid()):
        assert balance_in(table, graph, place).loss(graph) <= epsilon


def test_rows_have_the_masses_that_were_audited(
    near: Lexicon, graph: WordGraph, sample: Ids
) -> None:
    table, some = near.tables.balances, sample[::8]
    assert table is not None
    levels = graph.levels(some)
    for place in range(len(table.laws)):
        law = balance_in(table, graph, place)
        assert law.masses is not None
        kernel = np.exp(-law.exponent * graph.unit * np.arange(graph.last + 1))
        found = kernel.take(levels) @ law.weights
        np.testing.assert_allclose(found, law.masses[some], rtol=0, atol=law.slack)
    counted = np.array([np.bincount(row, minlength=graph.last + 1) for row in levels])
    assert np.array_equal(counted, table.counts[some])


@pytest.mark.parametrize("epsilon", [0.5, 0.9, 1.5, 7.0])
def test_what_is_shipped_needs_no_check_at_a_draw(near: Lexicon, epsilon: float) -> None:
    channel = Balanced(epsilon=epsilon).on(near)
    assert channel.law.balance.verified
    channel.substitute(np.arange(20), seeded_rng(1))
    assert "_weighed" not in vars(channel)


@pytest.mark.parametrize("array", ["weights", "masses", "counts"])
def test_a_shipped_table_that_was_changed_is_not_trusted(near: Lexicon, array: str) -> None:
    table = near.tables.balances
    assert table is not None
    values = getattr(table, array).copy()
    values[10, 5] += 1
    assert balance_is_verified(table)
    assert not balance_is_verified(replace(table, **{array: values}))


def test_a_whole_audit_that_trusts_no_table(near: Lexicon) -> None:
    found = audit(Balanced(epsilon=1.5).on(near))
    assert found.holds
    assert 0.99 <= found.worst_ratio <= 1.0


@pytest.fixture(scope="module")
def curve(english: Lexicon, ground: Ground) -> Floats:
    """Kept words and similarity of TEM with its audited exponent."""
    epsilons = (1.2, 1.25, 1.3, 1.4, 1.45, 1.5, 1.55)
    return np.array([ground.kept_and_similarity(TEM(epsilon=e).on(english)) for e in epsilons])


class TestAgainstTEM:
    """At the same chance to keep a word."""

    @pytest.mark.parametrize(
        ("epsilons", "kept", "times"),
        [((0.97, 1.0, 1.05, 1.1), 0.1, 2.0), ((1.3, 1.35), 0.25, 1.7), ((1.85, 1.9), 0.5, 1.3)],
    )
    def test_the_text_is_nearer(
        self,
        near: Lexicon,
        ground: Ground,
        curve: Floats,
        epsilons: tuple[float, ...],
        kept: float,
        times: float,
    ) -> None:
        ours = np.array(
            [ground.kept_and_similarity(Balanced(epsilon=e).on(near)) for e in epsilons]
        )
        assert ours[0, 0] <= kept <= ours[-1, 0]
        assert curve[0, 0] <= kept <= curve[-1, 0]
        similarity = [float(np.interp(kept, line[:, 0], line[:, 1])) for line in (ours, curve)]
        assert similarity[0] >= times * similarity[1]

    def test_near_words_are_protected_better(self, graph: WordGraph, ground: Ground) -> None:
        """At ε = 1.85, where half of the words stay."""
        distances = graph.distances(ground.sample)
        nats = 1.85 * np.take_along_axis(distances, ground.nearest[:, :5], axis=1)
        assert np.quantile(nats[:, 0], 0.95) <= 2.5
        assert np.quantile(nats, 0.95) <= 7.0


@pytest.mark.parametrize("epsilon", [0.6, 0.7, 1.0, 1.5, 3.0, 4.5])
class TestRowsOfNearWordsAlone:
    """Rows for a few draws are searched near the word only. Their law is the same."""

    IDS = np.array([0, 5, 777, 12_345, 32_527])

    def test_rows_are_those_of_the_law(self, near: Lexicon, epsilon: float) -> None:
        law = Balanced(epsilon=epsilon).on(near).law
        rows = law.rows(self.IDS, np.full(5, 3))
        assert rows.rest is not None
        for number, expected in enumerate(np.exp(law.log_probabilities(self.IDS))):
            ends = np.cumsum(rows.sizes)
            head = slice(ends[number] - rows.sizes[number], ends[number])
            tried = rows.rest.words.astype(np.int64)
            parts = rows.rest.weights(np.full(len(tried), number), tried)
            found: Floats = np.bincount(tried, parts, minlength=len(near)).astype(np.float64)
            found[rows.words[head]] += rows.weights[head]
            np.testing.assert_allclose(found / found.sum(), expected, rtol=1e-9, atol=0)

    def test_tries_are_decided_by_the_weights(self, near: Lexicon, epsilon: float) -> None:
        """Against numbers up to the bound, as draws compare them, with more of the small ones."""
        rows = Balanced(epsilon=epsilon).on(near).law.rows(self.IDS, np.full(5, 3))
        assert rows.rest is not None
        random, count = np.random.Generator(np.random.PCG64(7)), 20_000
        row, uniform = random.integers(0, 5, count), random.uniform(0.0, 1.0, count) ** 12
        tried = rows.rest.words[random.integers(0, len(rows.rest.words), count)].astype(np.int64)
        compared = rows.rest.bounds[row] * uniform
        exact = rows.rest.weights(row, tried)
        assert np.array_equal(rows.rest.weights(row, tried, compared) > compared, exact > compared)
        assert 0.01 < (exact > compared).mean() < 0.99  # both happen

    def test_the_chance_to_stay_needs_no_row(self, near: Lexicon, epsilon: float) -> None:
        law, ids = Balanced(epsilon=epsilon).on(near).law, np.arange(0, 32_781, 999)
        rows = np.exp(law.log_probabilities(ids)[np.arange(len(ids)), ids])
        np.testing.assert_allclose(law.staying(ids), rows, rtol=1e-4)


@pytest.mark.parametrize("epsilon", [0.7, 1.0, 1.5, 3.0, 3.9, 4.05, 4.2, 6.0])
def test_the_law_that_keeps_most_words_is_taken(near: Lexicon, epsilon: float) -> None:
    """The search for the plain law ends early only where the other one is better."""
    table, graph = near.tables.balances, graph_of(near.metric)
    assert table is not None
    assert graph is not None
    steps = graph.unit * np.arange(graph.last + 1)
    even = plain(graph, epsilon, lambda t: np.asarray(table.counts @ np.exp(-t * steps)))
    below = [i for i, law in enumerate(table.laws) if law["epsilon"] <= epsilon * (1 + 1e-12)]
    row = max(below, key=lambda i: float(table.laws[i]["epsilon"]))
    best = max([balance_in(table, graph, row), even], key=lambda law: law.kept)
    found = best_balance(table, graph, epsilon)
    assert (found.form, found.exponent) == (best.form, best.exponent)
    assert np.array_equal(found.weights, best.weights)


def test_the_known_fingerprint_is_that_of_words_vectors_and_graph(near: Lexicon) -> None:
    token = near.metric.token(near.vectors)
    assert near.fingerprint == fingerprint(near.words, near.vectors, token)
    assert token.hex() not in SHIPPED["fingerprints"].get(near.fingerprint, {})

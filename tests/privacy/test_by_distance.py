"""Rows split into near words and a rest have the same law as whole rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from malaprop import TEM, Balanced, Lexicon, seeded_rng
from malaprop.lexicon.store import SHIPPED
from malaprop.privacy import lazy_rows
from malaprop.privacy.arrays import Floats, Ids
from malaprop.privacy.channel import LawChannel
from malaprop.privacy.law import Law
from malaprop.privacy.sampling import LawRows
from malaprop.privacy.word_graph import WordGraph


def law_of(rows: LawRows, size: int) -> Floats:
    """The exact law of draws from each row, computed from everything that a draw reads."""
    count = len(rows.sizes)
    cells = np.repeat(np.arange(count) * size, rows.sizes) + rows.words
    assert len(np.unique(cells)) == len(cells)
    found = np.zeros((count, size))
    found.put(cells, rows.weights)
    for number in range(count):
        if rows.rest is not None:
            words = rows.rest.words.astype(np.int64)
            parts = rows.rest.weights(np.full(len(words), number), words)
            assert (parts <= rows.rest.bounds[number] * (1.0 + 1e-12)).all()
            np.add.at(found[number], rows.rest.words, parts)
    return np.asarray(found / found.sum(axis=1, keepdims=True))


@given(
    st.integers(1, 3000),
    st.floats(0.0, 30.0),
    st.booleans(),
    st.integers(0, 2**32),
)
def test_nothing_is_lost_and_nothing_added(size: int, steep: float, even: bool, seed: int) -> None:
    random = np.random.Generator(np.random.PCG64(seed))
    keys = random.integers(0, 40, (3, size)) / 4.0
    keys[:, random.integers(size)] = 0.0
    weights = np.ones(size) if even else random.uniform(0.0, 1.0, size) ** 8 + 1e-6

    def fall(rows: Ids, keys: Floats) -> Floats:
        return np.asarray(np.exp(-steep * keys) * np.array([1.0, 0.5, 0.9])[rows])

    nearer = lazy_rows.nearest_by_key(keys, fall, tries=2.0)
    found = law_of(lazy_rows.law_rows(nearer, weights, lazy_rows.pool_of(weights), fall), size)
    expected = weights * np.exp(-steep * keys)
    np.testing.assert_allclose(found, expected / expected.sum(axis=1, keepdims=True), rtol=1e-9)


def channels(lexicon: Lexicon, epsilon: float) -> list[LawChannel[Law]]:
    graph = lexicon.with_graph()
    return [
        TEM(epsilon=epsilon).on(lexicon),
        TEM(epsilon=epsilon, gamma=3.0, exponent="half").on(lexicon),
        TEM(epsilon=epsilon).on(graph),
        Balanced(epsilon=epsilon).on(graph),
    ]


@pytest.fixture(scope="module")
def words() -> Lexicon:
    """700 words, enough for some to be far."""
    random = np.random.Generator(np.random.PCG64(3))
    return Lexicon([f"w{i}" for i in range(700)], random.normal(size=(700, 12)).round(2))


@pytest.mark.parametrize("epsilon", [0.2, 0.7, 1.5, 4.0, 20.0])
@pytest.mark.parametrize("which", range(4))
def test_rows_are_those_of_the_law(words: Lexicon, which: int, epsilon: float) -> None:
    channel, ids = channels(words, epsilon)[which], np.arange(0, 700, 23)
    found = law_of(channel.law.rows(ids), 700)
    np.testing.assert_allclose(found, np.exp(channel.log_probabilities(ids)), rtol=1e-9, atol=0)


@pytest.mark.parametrize("epsilon", [0.7, 4.0])
@pytest.mark.parametrize("which", range(4))
def test_draws_follow_the_law(words: Lexicon, which: int, epsilon: float) -> None:
    """Chi-square against log_probabilities; very rare words are pooled."""
    channel, count = channels(words, epsilon)[which], 100_000
    drawn = channel.substitute(np.full(count, 5), seeded_rng(8))
    expected = np.exp(channel.log_probabilities([5])[0]) * count
    seen = np.bincount(drawn, minlength=700).astype(np.float64)
    often = expected >= 10.0
    seen = np.append(seen[often], seen[~often].sum())
    expected = np.append(expected[often], max(expected[~often].sum(), 1e-9))
    if expected[-1] < 10.0:
        seen, expected = seen[:-1], expected[:-1]
    assert ((seen - expected) ** 2 / expected).sum() < chi2.isf(1e-6, df=len(seen))


@pytest.mark.parametrize("epsilon", [0.2, 0.7, 1.5, 4.0, 20.0])
@pytest.mark.parametrize("which", range(4))
def test_tries_are_decided_by_the_weights(words: Lexicon, which: int, epsilon: float) -> None:
    """Weights are looked up as far as a comparison needs: above or not must be right."""
    channel, ids = channels(words, epsilon)[which], np.arange(0, 700, 23)
    assert_decided_by_the_weights(channel.law.rows(ids), tries=200_000)


def assert_decided_by_the_weights(rows: LawRows, tries: int) -> None:
    """Compare weights with what draws compare them with, from close to the bound to far below."""
    random = np.random.Generator(np.random.PCG64(9))
    assert rows.rest is not None
    row = random.integers(0, len(rows.sizes), tries)
    tried = rows.rest.words[random.integers(0, len(rows.rest.words), tries)].astype(np.int64)
    compared = rows.rest.bounds[row] * np.exp(-12.0 * random.uniform(0.0, 1.0, tries) ** 2)
    exact = rows.rest.weights(row, tried)
    assert np.array_equal(rows.rest.weights(row, tried, compared) > compared, exact > compared)
    above = (exact > compared).mean()
    assert 0.0 < above < 1.0 or not exact.any()


@pytest.mark.parametrize("epsilon", [0.7, 4.0])
@pytest.mark.parametrize("which", range(4))
def test_draws_ahead_follow_the_law(words: Lexicon, which: int, epsilon: float) -> None:
    """With as many tries as are accepted at once: the number of them must not matter."""
    channel, rng = channels(words, epsilon)[which], seeded_rng(4)
    one, many = np.ones(2, dtype=np.int64), np.full(2, 40)
    drawn = [channel.draw_words(np.array([5, 6]), many, rng, one)[0] for _ in range(1500)]
    seen = np.bincount(np.concatenate(drawn), minlength=700).astype(np.float64)
    expected = np.exp(channel.log_probabilities([5])[0]) * seen.sum()
    often = expected >= 10.0
    seen = np.append(seen[often], seen[~often].sum())
    expected = np.append(expected[often], max(expected[~often].sum(), 1e-9))
    if expected[-1] < 10.0:
        seen, expected = seen[:-1], expected[:-1]
    assert ((seen - expected) ** 2 / expected).sum() < chi2.isf(1e-6, df=len(seen))


def test_far_words_are_not_weighed() -> None:
    keys = np.linspace(0.0, 10.0, 5000)[None]
    assert (
        lazy_rows.nearest_by_key(keys, lambda rows, keys: np.exp(-3.0 * keys), tries=2.0).sizes[0]
        < 2500
    )


@given(st.integers(2, 80), st.integers(0, 2**32), st.integers(1, 30), st.booleans())
def test_near_words_of_a_graph(size: int, seed: int, beyond: int, alone: bool) -> None:
    """From any number of words, some twice: the levels are those of a whole search."""
    random = np.random.Generator(np.random.PCG64(seed))
    chain = np.stack([np.arange(size - 1), np.arange(1, size)], axis=1)
    more = random.integers(0, size, (size // 2, 2))
    edges = np.concatenate([chain, more[more[:, 0] != more[:, 1]]])
    lengths = random.integers(1, 8, len(edges)) / 2.0
    graph = WordGraph(size, edges, lengths, cutoff=float(random.integers(8, 24)) / 2.0)
    ids = random.integers(0, size, int(random.integers(1, 600)))
    levels, found = (
        graph.levels(ids),
        (graph.search.near_words_alone if alone else graph.search.near_words)(ids, beyond),
    )
    rows = np.repeat(np.arange(len(ids)), found.sizes)
    assert np.array_equal(found.sizes, (levels < found.beyond[:, None]).sum(axis=1))
    assert len({*zip(rows.tolist(), found.words.tolist(), strict=True)}) == len(rows)
    assert np.array_equal(found.keys, levels[rows, found.words])
    some, words = random.integers(0, len(ids), 500), random.integers(0, size, 500)
    assert np.array_equal(found.at(some, words), levels[some, words])
    assert (found.keys < found.beyond[rows]).all()


class TestNearestOfEnglish:
    """The list of nearest words that is shipped."""

    IDS = np.array([0, 5, 777, 12_345, 32_527])

    def test_nothing_nearer_is_missing(self, english: Lexicon) -> None:
        ids = np.unique(np.linspace(0, len(english) - 1, 300).astype(np.int64))
        found, keys = english.near_words(ids), english.keys(ids)
        assert found is not None
        rows = np.repeat(np.arange(len(ids)), found.sizes)
        assert np.array_equal(found.keys, keys[rows, found.words])
        assert np.array_equal(found.sizes, (keys < found.beyond[:, None]).sum(axis=1))
        assert found.sizes.mean() > 30

    @pytest.mark.parametrize("epsilon", [0.5, 1.5, 6.0])
    @pytest.mark.parametrize("draws", [[1] * 5, [10**9] * 5, [1, 10**9, 10**9, 1, 10**9]])
    def test_rows_are_those_of_the_law(
        self, english: Lexicon, epsilon: float, draws: list[int]
    ) -> None:
        channel = TEM(epsilon=epsilon).on(english)
        found = law_of(channel.law.rows(self.IDS, np.array(draws)), len(english))
        expected = np.exp(channel.log_probabilities(self.IDS))
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=0)

    def test_a_few_draws_need_no_distances_to_all_words(
        self, english: Lexicon, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        channel = TEM(epsilon=1.5).on(english)
        channel.substitute(np.arange(3), seeded_rng(1))
        monkeypatch.setattr(Lexicon, "keys", None)
        channel.substitute(np.arange(3), seeded_rng(1))

    def test_a_list_that_was_changed_is_not_used(
        self, english: Lexicon, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        changed = {english.fingerprint: {"nearest.npy": "0"}}
        monkeypatch.setitem(SHIPPED, "tables", changed)
        assert Lexicon.open("english").near_words([1]) is None
        assert english.with_graph().near_words([1]) is None
        assert Lexicon(["a", "b"], [[0.0], [1.0]]).near_words([1]) is None

"""Likelihoods of outputs: by rows, by columns and by draws."""

from typing import Any

import numpy as np
import pytest

from malaprop import TEM, Balanced, Laplace, LawChannel, Lexicon, PermuteAndFlip, seeded_rng
from malaprop.privacy import likelihoods as module
from malaprop.privacy.arrays import Floats, Ids
from malaprop.privacy.law import Law
from malaprop.privacy.likelihoods import LawLikelihoods, likelihoods_of


@pytest.fixture(scope="module")
def prior() -> Floats:
    shares = 1.0 / np.arange(1, 41)
    return np.asarray(shares / shares.sum())


def channels(plane: Lexicon) -> dict[str, LawChannel[Law]]:
    """One with columns, one whose rows are columns, one with rows alone."""
    graph = plane.with_graph(candidates=8)
    found = {
        "balanced": Balanced(epsilon=1.5).on(graph),
        "spread": Balanced(epsilon=0.3).on(graph),
        "tem": TEM(epsilon=2.0).on(plane),
        "permute-and-flip": PermuteAndFlip(epsilon=2.0).on(plane),
    }
    for channel in found.values():
        assert isinstance(channel, LawChannel)
    return found


def test_each_way_to_likelihoods_is_tried(plane: Lexicon) -> None:
    ways = {
        name: (channel.law.log_likelihoods(np.arange(3)) is not None, channel.law.symmetric)
        for name, channel in channels(plane).items()
    }
    assert ways == {
        "balanced": (True, False),
        "spread": (True, False),
        "tem": (False, True),
        "permute-and-flip": (False, False),
    }


@pytest.mark.parametrize("name", ["balanced", "spread", "tem", "permute-and-flip"])
@pytest.mark.parametrize("cells", [1 << 22, 100])
def test_candidates_and_pairs_are_those_of_the_whole_law(
    plane: Lexicon, prior: Floats, monkeypatch: pytest.MonkeyPatch, name: str, cells: int
) -> None:
    monkeypatch.setattr(module, "_COLUMNS", cells)
    channel = channels(plane)[name]
    whole = channel.log_probabilities(np.arange(40))
    seen = LawLikelihoods(channel.law)
    outputs = np.array([7, 3, 3, 39, 0])
    found = seen.candidates(outputs, np.log(prior), 5)
    assert found.outputs.tolist() == [0, 3, 7, 39]
    scores = np.log(prior)[:, None] + whole[:, found.outputs]
    best = -np.sort(-scores, axis=0)[:5].T
    np.testing.assert_allclose(found.logs + np.log(prior)[found.words], best, rtol=1e-9)
    np.testing.assert_allclose(found.logs, whole[found.words, found.outputs[:, None]], rtol=1e-9)
    assert found.outputs[found.rows(outputs)].tolist() == outputs.tolist()
    words, others = np.arange(40).repeat(40), np.tile(np.arange(40), 40)
    pairs = seen.of_pairs(words, others)
    np.testing.assert_allclose(pairs, np.maximum(whole[words, others], -1e30), rtol=1e-9)


def test_with_few_usual_words_outputs_are_candidates_too(plane: Lexicon, prior: Floats) -> None:
    """Of a law by rows: no other candidate is weighed, and each has its true chance."""
    channel = channels(plane)["permute-and-flip"]
    whole, outputs = channel.log_probabilities(np.arange(40)), np.array([30, 35])
    found = LawLikelihoods(channel.law, most=5).candidates(outputs, np.log(prior), 7)
    weighed = np.array([0, 1, 2, 3, 4, 30, 35])
    scores = np.log(prior)[weighed, None] + whole[np.ix_(weighed, outputs)]
    expected = weighed[np.argsort(-scores, axis=0)].T
    assert found.words.tolist() == expected.tolist()
    np.testing.assert_allclose(found.logs, whole[found.words, outputs[:, None]], rtol=1e-9)


@pytest.mark.parametrize("name", ["balanced", "tem", "permute-and-flip"])
def test_candidates_of_an_earlier_call_are_those_of_a_new_one(
    plane: Lexicon, prior: Floats, name: str
) -> None:
    law, logs = channels(plane)[name].law, np.log(prior)
    used = LawLikelihoods(law)
    used.candidates(np.array([5, 1, 30]), logs, 1)
    used.candidates(np.array([], dtype=np.int64), logs, 1)
    for log_prior, count in ((logs, 4), (logs, 40), (logs[::-1].copy(), 4)):
        outputs = np.array([2, 5, 30, 39])
        again = used.candidates(outputs, log_prior, count)
        alone = LawLikelihoods(law).candidates(outputs, log_prior, count)
        assert again.outputs.tolist() == alone.outputs.tolist()
        assert again.words.tolist() == alone.words.tolist()
        assert again.logs.tolist() == alone.logs.tolist()


def test_candidates_are_computed_once(
    plane: Lexicon, prior: Floats, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = LawLikelihoods(channels(plane)["balanced"].law)
    computed: list[int] = []
    compute = seen._by_columns

    def counted(distinct: Ids, *rest: Any) -> tuple[Ids, Floats]:
        computed.extend(distinct.tolist())
        return compute(distinct, *rest)

    monkeypatch.setattr(seen, "_by_columns", counted)
    seen.candidates(np.array([5, 1]), np.log(prior), 1)
    seen.candidates(np.array([7, 5, 1]), np.log(prior), 32)
    assert computed == [1, 5, 7]


def test_no_more_candidates_than_words(line: Lexicon) -> None:
    channel = TEM(epsilon=1.0).on(line)
    assert isinstance(channel, LawChannel)
    found = LawLikelihoods(channel.law).candidates(np.array([1]), np.zeros(3), 32)
    assert sorted(found.words[0].tolist()) == [0, 1, 2]


def test_draws_estimate_a_channel_without_a_law(line: Lexicon) -> None:
    channel = Laplace(epsilon=1.5).on(line)
    even = np.full(3, 1 / 3)
    seen = likelihoods_of(channel, even, 60_000, seeded_rng(4))
    assert seen.source == "estimated from 60,000 draws: a lower bound"
    assert "60,000 draws: a lower bound" in seen.source
    drawn = channel.substitute(np.zeros(60_000, dtype=np.int64), seeded_rng(5))
    shares = np.bincount(drawn, minlength=3) / 60_000
    estimated = np.exp(seen.of_pairs(np.zeros(3, dtype=np.int64), np.arange(3)))
    np.testing.assert_allclose(estimated, shares, atol=0.02)
    found = seen.candidates(np.array([2, 0]), np.log(even), 2)
    assert found.outputs.tolist() == [0, 2]
    assert found.words[:, 0].tolist() == [0, 2]
    assert (np.diff(found.logs, axis=1) <= 0).all()


def test_masses_of_a_law_are_summed_up_once(plane: Lexicon) -> None:
    channel = TEM(epsilon=2.0).on(plane)
    first = likelihoods_of(channel, np.full(40, 1 / 40), 1, seeded_rng(1))
    assert likelihoods_of(channel, np.full(40, 1 / 40), 1, seeded_rng(1)) is first

"""The audit of some words: a planted fault is found, and nothing holds from a sample."""

import numpy as np
import pytest
from tests.planted import promising

from malaprop import TEM, Gaussian, Laplace, Lexicon, ParameterError, seeded_rng
from malaprop.measure import audit_words, sampled_audit
from malaprop.measure.audit import audit
from malaprop.privacy.mechanism import Mechanism

WORDS = Lexicon([f"w{i}" for i in range(30)], seeded_rng(2).normal(size=(30, 2)))
SOME = ["w3", "w14", "w20"]


@pytest.mark.parametrize(
    "mechanism", [TEM(epsilon=1.0), Laplace(epsilon=1.0), Gaussian(epsilon=1.0, delta=0.01)]
)
def test_a_sample_cannot_hold_but_fail(mechanism: Mechanism) -> None:
    channel = mechanism.on(WORDS)
    found = audit_words(channel, SOME)
    assert found.holds is None
    assert "3 of 30 words and their nearest: a sample, not a whole audit" in found.method
    assert found.worst_ratio <= audit(channel).worst_ratio + 1e-12
    boast = promising(channel, epsilon=0.05, delta=0.0001 if channel.guarantee.delta else 0.0)
    assert audit_words(boast, SOME).fails
    assert audit_words(channel, len(WORDS)).holds is True  # all words are no sample


def test_the_pair_is_the_worst_of_those_words() -> None:
    channel = TEM(epsilon=2.0).on(WORDS)
    law = channel.log_probabilities(range(30))
    apart = WORDS.distances(range(30))
    np.fill_diagonal(apart, np.inf)
    ids = sorted({3, 14, 20} | {int(apart[i].argmin()) for i in (3, 14, 20)})
    ratios = {
        (i, j): float((law[i] - law[j]).max()) / (2.0 * apart[i, j])
        for i in ids
        for j in ids
        if i != j
    }
    worst = max(ratios, key=lambda pair: ratios[pair])
    found = audit_words(channel, SOME)
    assert found.worst_ratio == pytest.approx(ratios[worst], rel=1e-9)
    assert found.pair == tuple(WORDS.words[i] for i in worst)


def test_draws_start_from_those_words() -> None:
    found = sampled_audit(TEM(epsilon=1.0).on(WORDS), words=SOME, draws=1000, rng=seeded_rng(1))
    assert found.pairs
    assert all(set(SOME) & set(one.pair) for one in found.pairs)


@pytest.mark.parametrize("words", [[], ["nowhere"], 0])
def test_wrong_words_are_refused(words: list[str] | int) -> None:
    with pytest.raises(ParameterError):
        audit_words(TEM(epsilon=1.0).on(WORDS), words)


def test_too_many_words_are_refused() -> None:
    large = Lexicon([f"w{i}" for i in range(502)], np.arange(502)[:, None])
    with pytest.raises(ParameterError, match="up to 500"):
        audit_words(TEM(epsilon=1.0).on(large), 501)

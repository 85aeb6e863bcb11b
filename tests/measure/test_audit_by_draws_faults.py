"""The sampled audit on planted faults: each one is shown, with the confidence that is stated."""

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from tests.planted import promising

from malaprop import (
    TEM,
    Balanced,
    CoordinateLaplace,
    Laplace,
    Lexicon,
    Mechanism,
    Privatizer,
    seeded_rng,
)
from malaprop.measure import sampled_audit
from malaprop.measure.audit_by_draws import hard_pairs
from malaprop.privacy.channel import Channel

NAMES = [f"w{chr(97 + i)}" for i in range(20)]
ROW = Lexicon(NAMES, 4.0 * np.arange(20.0)[:, None])
CHAIN = ROW.with_graph(edges=list(pairwise(NAMES)), cutoff=6)


@pytest.mark.parametrize(
    "mechanism",
    [
        Laplace(epsilon=0.5),
        CoordinateLaplace(epsilon=0.5),
        TEM(epsilon=1.0, gamma=20.0),
        Balanced(epsilon=2.0),
    ],
    ids=lambda mechanism: str(mechanism.name),
)
def test_a_scale_that_is_5_percent_off_is_found(mechanism: Mechanism) -> None:
    channel = mechanism.on(CHAIN if mechanism.needs == "graph" else ROW)
    boast = promising(channel, epsilon=0.95 * channel.guarantee.epsilon)
    assert not sampled_audit(channel, pairs=3, draws=200_000, rng=seeded_rng(3)).violated
    assert sampled_audit(boast, pairs=3, draws=200_000, rng=seeded_rng(3)).violated


class _Clear(Channel):
    """Returns some words as they are: always one of them, or all of them now and then."""

    def __init__(self, inner: Channel, *, word: int = -1, share: float = 0.0) -> None:
        super().__init__(inner.lexicon, inner.guarantee)
        self._inner, self._word, self._share = inner, word, share

    def _substitute(self, ids: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        clear = (ids == self._word) | (rng.random(len(ids)) < self._share)
        return np.where(clear, ids, self._inner.substitute(ids, rng))


@pytest.mark.parametrize("fault", [{"word": 7}, {"share": 0.05}])
def test_words_in_clear_are_found(fault: dict[str, Any]) -> None:
    true = TEM(epsilon=0.05).on(ROW)
    assert not sampled_audit(_Clear(true), rng=seeded_rng(4)).violated
    assert sampled_audit(_Clear(true, **fault), rng=seeded_rng(4)).violated


def test_pairs_that_could_show_nothing_get_few_draws() -> None:
    """At this ε, draws could never contradict the guarantee: a first look is enough."""
    audit = sampled_audit(Laplace(epsilon=5.0).on(ROW), pairs=8, rng=seeded_rng(5))
    assert [one.draws for one in audit.pairs].count(20_000) == 2
    assert {one.draws for one in audit.pairs} == {2_500, 20_000}
    assert audit.can_show < min(one.allowed for one in audit.pairs)
    assert audit.worst.draws == 20_000
    assert "less is allowed for none of the 8 pairs" in str(audit)


class _Capitals(Privatizer):
    """Writes a private word in capitals if the secret word was."""

    def texts(self, texts: Iterable[Any], *, entities: Iterable[object] | None = None) -> list[Any]:
        there = list(texts)
        private = super().texts(there, entities=entities)
        both = zip(there, private, strict=True)
        return [out.upper() if text.isupper() else out for text, out in both]


def test_a_privatizer_that_leaks_capitals_is_found() -> None:
    leak = sampled_audit(_Capitals(ROW, TEM(epsilon=1.0)), pairs=10, draws=1000, rng=seeded_rng(6))
    assert leak.violated
    assert leak.worst.why == "one word, two spellings"
    assert leak.worst.pair == ("wa", "WA")
    assert leak.worst.allowed == 0.0
    right = sampled_audit(Privatizer(ROW, TEM(epsilon=1.0)), pairs=10, draws=1000)
    assert "one word, two spellings" in {one.why for one in right.pairs}


def test_words_that_are_public_are_no_secrets() -> None:
    """They are shown as they are, and that is no violation: the guarantee leaves them out."""
    private = Privatizer(ROW, TEM(epsilon=1.0), keep=NAMES[:10])
    chosen = hard_pairs(private, 40, np.arange(20))
    assert chosen
    assert all(side.word >= 10 for pair in chosen for side in (pair.one, pair.two))
    assert hard_pairs(private.channel, 40, np.arange(20))[0].one.word == 0


def test_true_guarantees_are_contradicted_no_more_often_than_stated() -> None:
    """A law that attains its guarantee, and the least confidence: half of audits may be wrong."""
    channel = Balanced(epsilon=1.0).on(CHAIN)
    wrong = [
        sampled_audit(channel, pairs=2, draws=1000, confidence=0.5, rng=seeded_rng(seed)).violated
        for seed in range(60)
    ]
    assert sum(wrong) < 30

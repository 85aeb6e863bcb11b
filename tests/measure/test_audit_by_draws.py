"""The sampled audit: silent on what is true, loud on planted faults."""

from dataclasses import replace

import numpy as np
import pytest
from tests.planted import promising

from malaprop import (
    NADP,
    TEM,
    Balanced,
    Gaussian,
    Laplace,
    Lexicon,
    Mechanism,
    ParameterError,
    Privatizer,
    registry,
    seeded_rng,
)
from malaprop.measure import sampled_audit
from malaprop.privacy.channel import Channel
from malaprop.privacy.guarantee import Kind

WORDS = Lexicon([f"w{chr(97 + i)}" for i in range(20)], seeded_rng(1).normal(size=(20, 2)))
CHAIN = WORDS.with_graph(
    edges=[(f"w{chr(97 + i)}", f"w{chr(98 + i)}") for i in range(19)], cutoff=6
)


def _bound(mechanism: Mechanism) -> Channel:
    return mechanism.on(CHAIN if mechanism.needs == "graph" else WORDS)


@pytest.mark.parametrize("name", sorted(registry))
def test_true_guarantees_are_not_contradicted(name: str) -> None:
    if registry[name].needs == "poincare":
        pytest.skip("a lexicon in the ball is needed")
    channel = _bound(registry[name](epsilon=0.9))
    if channel.guarantee.kind is Kind.NONE:
        pytest.skip("it promises nothing")
    found = sampled_audit(channel, pairs=6, draws=4000, rng=seeded_rng(2))
    assert not found.violated
    assert all(one.loss <= one.allowed for one in found.pairs)


@pytest.mark.parametrize(
    "mechanism", [TEM(epsilon=3.0), Balanced(epsilon=1.5), Laplace(epsilon=3.0)]
)
def test_twice_the_loss_is_found(mechanism: Mechanism) -> None:
    channel = _bound(mechanism)
    boast = promising(channel, epsilon=mechanism.epsilon / 2.5)
    found = sampled_audit(boast, pairs=12, draws=20_000, rng=seeded_rng(3))
    assert found.violated
    assert "FAILS" in str(found)
    assert found.worst.loss > found.worst.allowed


def test_a_delta_that_is_too_small_is_found() -> None:
    channel = Gaussian(epsilon=0.5, delta=0.3).on(WORDS)
    boast = promising(channel, delta=0.0)
    assert not sampled_audit(channel, draws=4000, rng=seeded_rng(4)).violated
    assert sampled_audit(boast, draws=20_000, rng=seeded_rng(4)).violated


class _Leaky(Channel):
    """Keeps one word in ten as it is, whatever the mechanism says."""

    def __init__(self, inner: Channel) -> None:
        super().__init__(inner.lexicon, inner.guarantee)
        self._inner = inner

    def _substitute(self, ids: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        drawn = self._inner.substitute(ids, rng)
        return np.where(rng.random(len(ids)) < 0.1, ids, drawn)


def test_words_that_slip_through_are_found() -> None:
    leaky = _Leaky(TEM(epsilon=0.2).on(WORDS))
    assert sampled_audit(leaky, draws=20_000, rng=seeded_rng(5)).violated


def test_neighbourhoods_without_noise_are_found() -> None:
    channel = NADP(epsilon=0.9).on(WORDS)
    quiet = replace(channel.noise, sigmas=channel.noise.sigmas / 20)
    from tests.planted import with_noise

    assert sampled_audit(with_noise(channel, quiet), draws=4000, rng=seeded_rng(6)).violated


def test_a_privatizer_is_a_black_box() -> None:
    private = Privatizer(CHAIN, Balanced(epsilon=1.5), rng=seeded_rng(7))
    found = sampled_audit(private, pairs=4, draws=2000, rng=seeded_rng(7))
    assert not found.violated
    assert found.worst.loss > 0.2  # it does see something
    assert found.to_dict()["violated"] is False


@pytest.mark.parametrize(
    "options", [{"draws": 10}, {"draws": 1e4}, {"pairs": 0}, {"confidence": 1.0}]
)
def test_wrong_parameters_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(ParameterError):
        sampled_audit(TEM(epsilon=1.0).on(WORDS), **options)  # type: ignore[arg-type]

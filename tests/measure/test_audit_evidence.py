"""A mechanism is one file: a channel states its evidence, and the audit knows no class by name."""

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import pytest
from numpy.random import Generator
from tests.draws import p_value
from tests.planted import with_noise

from malaprop import (
    TEM,
    Balanced,
    Guarantee,
    Kind,
    Laplace,
    LawChannel,
    Lexicon,
    Mechanism,
    PermuteAndFlip,
    audit,
    registry,
)
from malaprop.mechanisms.decoders import Nearest, VectorMechanism
from malaprop.mechanisms.tem import TruncatedExponential
from malaprop.privacy.arrays import Floats
from malaprop.privacy.channel import VectorChannel
from malaprop.privacy.guarantee import is_proved, proved
from malaprop.privacy.metrics import MetricSpace
from malaprop.privacy.noise import ExponentialDensity, Grid, Noise, SphericalLaplace

RNG = np.random.Generator(np.random.PCG64(12))
FEW = Lexicon([f"w{i}" for i in range(9)], RNG.normal(size=(9, 2)) * 2)
MANY = Lexicon([f"w{i}" for i in range(1100)], RNG.normal(size=(1100, 3)) * 2)


def claim(epsilon: float) -> Guarantee:
    return Guarantee(kind=Kind.METRIC, epsilon=epsilon, metric="euclidean")


@dataclass(frozen=True, kw_only=True)
class Madlib(VectorMechanism):
    """Laplace under another name, as a user would write it."""

    promise = "metric-dp"

    def on(self, lexicon: MetricSpace) -> VectorChannel[SphericalLaplace]:
        noise = SphericalLaplace(scale=1.0 / self.epsilon, dimension=lexicon.vectors.shape[1])
        return VectorChannel(lexicon, claim(self.epsilon), noise, self.decoder_on(lexicon))


@dataclass(frozen=True, kw_only=True)
class Exponential(Mechanism):
    """TEM under another name."""

    promise = "metric-dp"

    def on(self, lexicon: MetricSpace) -> LawChannel[TruncatedExponential]:
        law = TruncatedExponential(lexicon, self.epsilon / 2.0, 5.0)
        return LawChannel(law, replace(claim(self.epsilon), cap=5.0))


@pytest.mark.parametrize("lexicon", [FEW, MANY])
class TestCopies:
    def test_a_copy_of_laplace_holds(self, lexicon: Lexicon) -> None:
        assert Madlib not in registry.values()
        for decoder in ("nearest", "vickrey", "rank"):
            found = audit(Madlib(epsilon=1.5, decoder=decoder).on(lexicon))
            shipped = audit(Laplace(epsilon=1.5, decoder=decoder).on(lexicon))
            assert found.holds is True
            assert (found.worst_ratio, found.method) == (shipped.worst_ratio, shipped.method)

    def test_a_copy_of_tem_holds(self, lexicon: Lexicon) -> None:
        found = audit(Exponential(epsilon=1.5).on(lexicon))
        shipped = audit(TEM(epsilon=1.5, exponent="half", gamma=5.0).on(lexicon))
        assert found.holds is True
        assert (found.worst_ratio, found.method) == (shipped.worst_ratio, shipped.method)

    def test_wrong_copies_fail(self, lexicon: Lexicon) -> None:
        laplace = Madlib(epsilon=1.5).on(lexicon)
        narrow = replace(laplace.noise, scale=0.95 * laplace.noise.scale)
        assert audit(with_noise(laplace, narrow)).holds is False
        tem = Exponential(epsilon=1.5).on(lexicon)
        steep = LawChannel(replace(tem.law, exponent=1.5), tem.guarantee)
        assert audit(steep).holds is False


@dataclass(frozen=True, kw_only=True)
class Corner(Noise):
    """Density ∝ exp(−‖z‖₁/scale), drawn by a sign and an exponential variate."""

    scale: float
    stated: float = 1.0
    """How much wider the stated density is than the draws: 1 is the truth."""

    def release(self, vectors: Floats, rng: Generator) -> Floats:
        signs = rng.integers(0, 2, vectors.shape) * 2.0 - 1.0
        noise = signs * rng.standard_exponential(vectors.shape) * self.scale
        return Grid(self.scale).snap(vectors + noise)

    def density(self, space: MetricSpace) -> ExponentialDensity:
        rate = 1.0 / (self.stated * self.scale)
        centres = space.vectors.astype(np.float64)
        return ExponentialDensity(rate=rate, centres=centres, metric="manhattan")


@proved("the docstring above, and a test of the draws")
@dataclass(frozen=True, kw_only=True)
class ProvedCorner(Corner):
    """The same noise, by somebody who vouches for it."""


@proved("which vouches for what is not true: it is no part of the proof")
@dataclass(frozen=True, kw_only=True)
class Perjured(Corner):
    """The same noise, by somebody who should not have vouched for it."""

    stated: float = 1.05


def channel_of(noise: Noise, epsilon: float = 1.0) -> VectorChannel[Noise]:
    promise = Guarantee(kind=Kind.METRIC, epsilon=epsilon, metric="manhattan")
    return VectorChannel(FEW, promise, noise, Nearest().on(FEW, 1.0))


class TestNewNoise:
    def test_without_a_mark_it_is_not_decided(self) -> None:
        found = audit(channel_of(Corner(scale=1.0)))
        assert found.holds is None
        assert "not proved" in found.method

    def test_with_a_mark_it_holds_or_fails_by_its_numbers(self) -> None:
        assert audit(channel_of(ProvedCorner(scale=1.0))).holds is True
        assert audit(channel_of(ProvedCorner(scale=0.95))).holds is False

    def test_a_mark_is_believed_and_draws_tell_the_truth(self) -> None:
        """The density is 5 % wider than the noise: the audit reads it, and draws nothing.

        What catches it is a test of the draws, which the contract asks of every mechanism here.
        """
        assert audit(channel_of(Perjured(scale=1.0 / 1.05))).holds is True
        honest, perjured = ProvedCorner(scale=1.0), Perjured(scale=1.0 / 1.05)
        assert p_value(honest, FEW, honest.density(FEW)) > 1e-6
        assert p_value(perjured, FEW, perjured.density(FEW)) < 1e-6

    def test_a_mark_is_of_one_class(self) -> None:
        @dataclass(frozen=True, kw_only=True)
        class Heir(ProvedCorner):
            pass

        assert audit(channel_of(Heir(scale=1.0))).holds is None

    def test_a_marked_class_with_an_unmarked_part(self) -> None:
        @proved("a test")
        @dataclass(frozen=True, kw_only=True)
        class Outer(Corner):
            inner: Any = None

        assert audit(channel_of(Outer(scale=1.0))).holds is True
        assert audit(channel_of(Outer(scale=1.0, inner=ProvedCorner(scale=1.0)))).holds is True
        others: list[Any] = [Corner(scale=1.0), [1.0], lambda: None, np.array([None]), {}]
        for inner in others:
            assert audit(channel_of(Outer(scale=1.0, inner=inner))).holds is None


def parts_of(channel: Any) -> list[Any]:
    """All that a channel states."""
    stated = ("law", "noise", "decoder", "neighbourhoods", "lexicon", "guarantee")
    return [getattr(channel, name, None) for name in stated] + [channel.lexicon.metric]


@pytest.mark.parametrize("name", sorted(registry))
def test_what_is_shipped_is_proved_in_all_parts(name: str) -> None:
    cls = registry[name]
    space = FEW
    if cls.needs == "graph":
        space = FEW.with_graph()
    elif cls.needs == "poincare":
        space = Lexicon(FEW.words, FEW.vectors / 20, "poincare")
    channel = cls(epsilon=3.0).on(space)
    parts = parts_of(channel)
    if channel.guarantee.kind is Kind.NONE:
        assert not all(is_proved(part) for part in parts)
    else:
        assert all(is_proved(part) for part in parts), parts


@pytest.mark.parametrize(
    "made", [TEM(epsilon=1.0), PermuteAndFlip(epsilon=1.0), Balanced(epsilon=1.0)]
)
def test_subclasses_of_laws_are_not_certified(
    made: Mechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a large lexicon a closed form needs a proof, and so do rows of the law's own."""
    monkeypatch.setattr("malaprop.measure.audit._CUBED", 5)
    channel: Any = made.on(FEW.with_graph())
    assert audit(channel).holds is True
    heir = type("Heir", (type(channel.law),), {})
    law = heir(*(getattr(channel.law, f.name) for f in fields(channel.law)))
    assert audit(LawChannel(law, channel.guarantee)).holds is None

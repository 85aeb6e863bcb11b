"""Channels that draw something other than they state: none of them may be certified.

Nothing here changes the library in memory: whoever does that changes the audit with it.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import pytest
from numpy.random import Generator
from tests.planted import promising, with_fields, with_noise

from malaprop import (
    NADP,
    CoordinateLaplace,
    Gaussian,
    Guarantee,
    HyperbolicLaplace,
    Jaccard,
    Kind,
    Laplace,
    Lexicon,
    Mahalanobis,
    Metric,
    PrivEmb,
    TangentLaplace,
    audit,
)
from malaprop.lexicon.search import NearestSearch
from malaprop.mechanisms.decoders import Nearest, NearestDecoder
from malaprop.privacy.arrays import Floats, Ids, Vectors
from malaprop.privacy.channel import Decoder, VectorChannel
from malaprop.privacy.gaussian_noise import SphericalGaussian, WordGaussian
from malaprop.privacy.guarantee import proof_of, proved
from malaprop.privacy.metrics import DistanceRows, Euclidean, MetricSpace
from malaprop.privacy.noise import Ellipsoid, ExponentialDensity, Noise, SphericalLaplace

RNG = np.random.Generator(np.random.PCG64(9))
FLAT = Lexicon([f"w{i}" for i in range(8)], RNG.normal(size=(8, 2)) * 2)
BALL = Lexicon([f"w{i}" for i in range(8)], RNG.normal(size=(8, 2)) / 5, "poincare")
MORE = Lexicon([f"v{i}" for i in range(20)], RNG.normal(size=(20, 2)))
PROMISE = Guarantee(kind=Kind.METRIC, epsilon=1.0, metric="euclidean")
ALL: list[VectorChannel[Noise]] = [
    Laplace(epsilon=1.0).on(FLAT),
    CoordinateLaplace(epsilon=1.0).on(FLAT),
    Mahalanobis(epsilon=1.0, clusters=2).on(FLAT),
    PrivEmb(epsilon=1.0, dimension=1).on(FLAT),
    Gaussian(epsilon=1.0).on(FLAT),
    Jaccard(epsilon=1.0, neighbours=2).on(FLAT),
    NADP(epsilon=1.0).on(FLAT),
    HyperbolicLaplace(epsilon=3.0).on(BALL),
    TangentLaplace(epsilon=1.0).on(BALL),
]


def derived(thing: Any, **own: Any) -> Any:
    """The same value, of a derived class."""
    cls = type("Derived", (type(thing),), own)
    return cls(**{field.name: getattr(thing, field.name) for field in fields(thing)})


@pytest.mark.parametrize("channel", ALL, ids=lambda c: type(c.noise).__name__)
class TestEveryChannel:
    def test_it_holds_as_shipped(self, channel: VectorChannel[Noise]) -> None:
        assert audit(channel).holds is True

    def test_a_subclass_of_the_channel(self, channel: VectorChannel[Noise]) -> None:
        class Clear(VectorChannel[Noise]):
            def _substitute(self, ids: Ids, rng: Generator) -> Ids:
                return ids

        other = Clear(
            channel.lexicon,
            channel.guarantee,
            channel.noise,
            channel.decoder,
            neighbourhoods=channel.neighbourhoods,
        )
        found = audit(other)
        assert found.holds is None
        assert "not proved" in found.method

    def test_a_subclass_of_the_noise(self, channel: VectorChannel[Noise]) -> None:
        """One of them draws in its own way, but any subclass lacks a proof."""

        def clear(self: Noise, vectors: Floats, rng: Generator) -> Floats:
            return vectors

        for own in ({"release": clear}, {}):
            found = audit(with_noise(channel, derived(channel.noise, **own)))
            assert found.holds is None
            assert "not proved" in found.method

    def test_a_decoder_that_is_not_of_the_library(self, channel: VectorChannel[Noise]) -> None:
        class Peeking(Decoder):
            def decode(self, vectors: Floats, rng: Generator) -> Ids:
                return np.zeros(len(vectors), dtype=np.int64)

        assert audit(with_noise(channel, channel.noise, Peeking())).holds is None

    def test_a_decoder_with_a_search_of_its_own(self, channel: VectorChannel[Noise]) -> None:
        class Own(NearestSearch):
            def nearest(self, queries: Any, k: int = 1) -> Ids:
                return np.zeros((len(queries), k), dtype=np.int64)

        decoders = (NearestDecoder(Own(channel.lexicon.vectors)), derived(channel.decoder))
        for decoder in decoders:
            assert audit(with_noise(channel, channel.noise, decoder)).holds is None

    def test_a_lexicon_that_is_not_of_the_library(self, channel: VectorChannel[Noise]) -> None:
        class Liar(Lexicon):
            def __getattribute__(self, name: str) -> Any:
                return super().__getattribute__(name)

        space = channel.lexicon
        liar = Liar(space.words, space.vectors, space.metric)
        other = VectorChannel(
            liar,
            channel.guarantee,
            channel.noise,
            channel.decoder,
            neighbourhoods=channel.neighbourhoods,
        )
        assert audit(other).holds is None


def test_a_users_ellipsoid() -> None:
    class Thin(Ellipsoid):
        def norm(self, vectors: Floats) -> Floats:
            return 9.0 * super().norm(vectors)

    channel = Mahalanobis(epsilon=1.0).on(FLAT)
    thin = Thin(FLAT.vectors.astype(np.float64), 0.5)
    assert audit(with_fields(channel, ellipsoids=(thin,))).holds is None


def test_a_metric_is_that_of_the_ellipsoids() -> None:
    """So no other metric can pass for that of the guarantee, nor take another name."""
    channel = Mahalanobis(epsilon=1.0, regularization=1.0).on(FLAT)
    for share in (0.0, 0.5):
        other = (Ellipsoid(FLAT.vectors.astype(np.float64), share),)
        noise = replace(channel.noise, ellipsoids=other)
        assert noise.metric.name != channel.guarantee.metric
        assert audit(with_noise(channel, noise)).holds is None


def test_a_shape_that_float64_cannot_audit() -> None:
    """The rounding error of so flat a shape would hide an excess."""

    @proved("a test")
    @dataclass(frozen=True, kw_only=True)
    class Flat(Noise):
        def release(self, vectors: Floats, rng: Generator) -> Floats:
            raise NotImplementedError

        def density(self, space: MetricSpace) -> ExponentialDensity:
            roots = (np.diag([1.0, 1e-11]),)
            centres = space.vectors.astype(np.float64) * [1.0, 1e-11]
            return ExponentialDensity(rate=0.5, centres=centres, roots=roots)

    found = audit(with_noise(ALL[0], Flat()))
    assert found.holds is None
    assert "float64" in found.method


def test_a_density_that_does_not_belong_to_the_draws() -> None:
    class Quiet(SphericalLaplace):
        def release(self, vectors: Floats, rng: Generator) -> Floats:
            return vectors + (super().release(vectors, rng) - vectors) / 2.0

    assert audit(with_noise(ALL[0], Quiet(scale=1.0, dimension=2))).holds is None


def test_a_sigma_that_does_not_belong_to_the_draws() -> None:
    class Quiet(SphericalGaussian):
        def release(self, vectors: Floats, rng: Generator) -> Floats:
            return vectors

    channel = Gaussian(epsilon=1.0).on(FLAT)
    assert audit(with_noise(channel, derived(channel.noise))).holds is None
    assert audit(with_noise(channel, Quiet(sigma=1e3, epsilon=1.0))).holds is None


class TestWordGaussian:
    WORDS = Lexicon(["a", "b"], [[0.0], [1.0]])
    PROMISE = Guarantee(kind=Kind.BOUNDED, epsilon=1.0, delta=0.1, radius=3.0, metric="euclidean")

    def channel(
        self, sigmas: list[float], space: Lexicon | None = None
    ) -> VectorChannel[WordGaussian]:
        noise = WordGaussian(space=space or self.WORDS, sigmas=np.array(sigmas, dtype=np.float64))
        return VectorChannel(self.WORDS, self.PROMISE, noise, Nearest().on(self.WORDS, 1.0))

    def test_it_holds_with_one_sigma(self) -> None:
        assert audit(self.channel([2.0, 2.0])).holds is True

    def test_grids_that_tell_two_words_apart(self) -> None:
        """σ hardly differs, but the grid does: 2.0 begins a new power of two."""
        channel = self.channel([1.999, 2.0])
        assert channel.noise.steps[1] == 2 * channel.noise.steps[0]
        found = audit(channel)
        assert found.worst_ratio < 1.0
        assert found.holds is None
        assert "grids" in found.method
        assert audit(self.channel([np.nextafter(2.0, 0.0), 2.0])).holds is None

    def test_words_of_another_lexicon(self) -> None:
        """Their `release` would use the noise of another word."""
        other = Lexicon(["b", "a"], [[1.0], [0.0]])
        assert audit(self.channel([2.0, 2.0], other)).holds is None

    def test_more_sigmas_than_words(self) -> None:
        assert audit(self.channel([2.0, 2.0, 2.0])).holds is None


class Everything:
    """All pairs, whatever they are called."""

    def __init__(self, pairs: str) -> None:
        self.pairs = pairs

    def covers(self, ids: Ids) -> Any:
        return np.ones((len(ids), 8), dtype=np.bool_)


class TestNeighbourhoods:
    CHANNEL = NADP(epsilon=1.0, tau=0.3).on(FLAT)

    def other(self, neighbourhoods: Any, **promised: Any) -> VectorChannel[Noise]:
        channel = self.CHANNEL
        promise = replace(channel.guarantee, **promised)
        args = (FLAT, promise, channel.noise, channel.decoder)
        return VectorChannel(*args, neighbourhoods=neighbourhoods)

    def test_pairs_that_it_does_not_have(self) -> None:
        """The neighbourhoods are few, and the guarantee says that they are all."""
        assert audit(self.other(self.CHANNEL.neighbourhoods)).holds is True
        said = audit(self.other(self.CHANNEL.neighbourhoods, pairs="any two words"))
        assert said.holds is None
        assert "computed for any two words of one public neighbourhood" in said.method

    def test_a_users_neighbourhoods(self) -> None:
        own = Everything(self.CHANNEL.guarantee.pairs)
        assert audit(self.other(own)).holds is not True
        assert audit(self.other(derived(self.CHANNEL.neighbourhoods))).holds is None

    def test_a_radius_that_covers_fewer(self) -> None:
        """The radius belongs to the guarantee, and all pairs within it are audited."""
        near = audit(self.other(self.CHANNEL.neighbourhoods, radius=1e-3))
        assert near.holds is None
        assert "no pair" in near.method


class TestGuarantee:
    def test_a_guarantee_that_says_one_thing_and_shows_another(self) -> None:
        class Bold(Guarantee):
            def __str__(self) -> str:
                return "ε = 0.001 for whole books"

        fields_of = {f.name: getattr(PROMISE, f.name) for f in fields(PROMISE)}
        bold = Bold(**{**fields_of, "epsilon": 1.0})
        found = audit(promising(ALL[0], bold))
        assert found.holds is None
        assert "guarantee" in found.method

    def test_an_epsilon_that_is_not_a_number(self) -> None:
        class Hollow(float):
            def __repr__(self) -> str:
                return "0.001"

        assert audit(promising(ALL[0], epsilon=Hollow(1.0))).holds is None

    def test_pairs_that_are_not_words(self) -> None:
        for channel in (ALL[0], Gaussian(epsilon=1.0).on(FLAT)):
            found = audit(promising(channel, pairs="any two books"))
            assert found.holds is None
            assert "any two words of the lexicon" in found.method

    def test_a_guarantee_for_several_words(self) -> None:
        """Its δ is the sum over all words."""
        channel = Gaussian(epsilon=1.0).on(FLAT)
        found = audit(promising(channel, channel.guarantee.for_words(5)))
        assert found.holds is None
        assert "5 words" in found.method

    def test_a_second_statement_counts_as_much_as_the_first(self) -> None:
        """A statement in another metric is part of the guarantee."""
        line = Lexicon(["a", "b"], [[0.0, 0.0], [1.0, 0.0]])
        channel = Laplace(epsilon=1.0).on(line)
        for epsilon, holds in ((1.0, True), (0.9, False)):
            # ‖v‖₂ ≤ ‖v‖₁, with equality on the axes
            other = promising(channel, equivalents=(("manhattan", epsilon),))
            assert audit(other).holds is holds


class Odd(Metric):
    """Distances that a test derives from Euclidean ones."""

    def __init__(self, name: str, made: Callable[[Floats], Floats]) -> None:
        self.name, self._made = name, made  # type: ignore[misc]

    def on(self, vectors: Vectors) -> DistanceRows:
        rows = Euclidean().on(vectors)
        return lambda ids: self._made(rows(ids))


class TestMetric:
    @pytest.mark.parametrize("made", [np.negative, lambda d: d * np.nan, lambda d: 1e6 * d])
    @pytest.mark.parametrize("name", ["odd", "euclidean", "graph"])
    def test_a_users_metric(self, made: Callable[[Floats], Floats], name: str) -> None:
        space = Lexicon(FLAT.words, FLAT.vectors, Odd(name, made))
        noise = SphericalLaplace(scale=1e-3, dimension=2)
        promise = replace(PROMISE, metric=name)
        channel = VectorChannel(space, promise, noise, Nearest().on(FLAT, 1.0))
        assert audit(channel).holds is not True


class TestDecoderOfAnotherSpace:
    """It may decode as it likes, but the loss of its words is not computed from its sites."""

    @pytest.mark.parametrize("dimension", [1, 2])
    def test_a_decoder_of_the_plane_for_noise_in_the_ball(self, dimension: int) -> None:
        ball = Lexicon(BALL.words, BALL.vectors[:, :dimension], "poincare")
        for mechanism in (TangentLaplace(epsilon=1.0), HyperbolicLaplace(epsilon=3.0)):
            decoder = NearestDecoder(NearestSearch(ball.vectors))
            channel: Any = mechanism.on(ball)
            found = audit(with_noise(channel, channel.noise, decoder))
            assert found.holds is True
            assert found.output is None

    def test_a_decoder_of_more_words(self) -> None:
        channel = with_noise(ALL[0], ALL[0].noise, Nearest().on(MORE, 1.0))
        assert audit(channel).output is None


def test_marks_are_not_inherited() -> None:
    for channel in ALL:
        for part in (channel.noise, channel.decoder):
            assert proof_of(part).startswith("docs/proofs/")
            assert proof_of(derived(part)) == ""

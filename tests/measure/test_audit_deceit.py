"""Channels that draw something else than they say: none of them may be certified."""

import copy
import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.random import Generator

from malaprop import (
    NADP,
    Gaussian,
    Guarantee,
    HyperbolicLaplace,
    Jaccard,
    Kind,
    Laplace,
    LawChannel,
    Lexicon,
    Mahalanobis,
    PrivEmb,
    TangentLaplace,
    audit,
)
from malaprop.core.additive import Grid
from malaprop.core.channel import Decoder, VectorChannel
from malaprop.core.scaled import ScaledChannel
from malaprop.core.space import Floats, Ids
from malaprop.lexicon.search import NearestSearch
from malaprop.mechanisms.decoders import Nearest, NearestDecoder
from malaprop.mechanisms.gaussian import GaussianChannel
from malaprop.mechanisms.laplace import LaplaceChannel

RNG = np.random.Generator(np.random.PCG64(9))
FLAT = Lexicon([f"w{i}" for i in range(8)], RNG.normal(size=(8, 2)) * 2)
BALL = Lexicon([f"w{i}" for i in range(8)], RNG.normal(size=(8, 2)) / 5, "poincare")
ALL: list[Any] = [
    Laplace(epsilon=1.0).on(FLAT),
    Mahalanobis(epsilon=1.0, clusters=2).on(FLAT),
    PrivEmb(epsilon=1.0, dimension=1).on(FLAT),
    Gaussian(epsilon=1.0).on(FLAT),
    Jaccard(epsilon=1.0, neighbours=2).on(FLAT),
    NADP(epsilon=1.0).on(FLAT),
    HyperbolicLaplace(epsilon=3.0).on(BALL),
    TangentLaplace(epsilon=1.0).on(BALL),
]


@pytest.mark.parametrize("channel", ALL, ids=lambda c: type(c).__name__)
class TestEveryChannel:
    def test_a_subclass(self, channel: VectorChannel) -> None:
        assert audit(channel).holds is True
        other = copy.copy(channel)
        other.__class__ = type("Derived", (type(channel),), {})
        found = audit(other)
        assert found.holds is None
        assert "not proved" in found.method

    @pytest.mark.parametrize(
        "method", ["substitute", "_substitute", "release", "_release", "release_words"]
    )
    def test_a_method_that_is_replaced_on_the_channel(
        self, channel: VectorChannel, method: str
    ) -> None:
        other = copy.copy(channel)
        setattr(other, method, lambda x, rng: x)
        assert audit(other).holds is None

    def test_a_method_that_is_replaced_on_the_class(
        self, channel: VectorChannel, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(VectorChannel, "_substitute", lambda self, ids, rng: ids)
        assert audit(channel).holds is None

    def test_a_decoder_that_is_not_of_the_library(self, channel: VectorChannel) -> None:
        class Peeking(Decoder):
            def decode(self, vectors: Floats, rng: Generator) -> Ids:
                return np.zeros(len(vectors), dtype=np.int64)

        other = copy.copy(channel)
        other._decoder = Peeking()
        assert audit(other).holds is None

    def test_a_decoder_that_was_tampered_with(self, channel: VectorChannel) -> None:
        other = copy.copy(channel)
        other._decoder = copy.copy(channel._decoder)
        setattr(other._decoder, "decode", lambda vectors, rng: vectors[:, 0])  # noqa: B010
        assert audit(other).holds is None


def test_a_callable_on_the_class_that_is_no_function(monkeypatch: pytest.MonkeyPatch) -> None:
    channel = Laplace(epsilon=1.0).on(FLAT)
    clear = functools.partial(lambda ids, rng: ids)
    monkeypatch.setattr(LaplaceChannel, "_substitute", clear, raising=False)
    assert channel.substitute([3], RNG).tolist() == [3]
    assert audit(channel).holds is None


def test_a_method_that_calls_itself_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    class Same:
        def __eq__(self, other: object) -> bool:
            return True

        __hash__ = None  # type: ignore[assignment]

        def __get__(self, channel: object, owner: type) -> "Same":
            return self

        def __call__(self, count: int, rng: Generator) -> Floats:
            return np.zeros((count, 2))

    monkeypatch.setattr(LaplaceChannel, "_noise", Same())
    assert audit(Laplace(epsilon=1.0).on(FLAT)).holds is None


def test_numbers_that_are_not_what_they_seem() -> None:
    class Hollow(np.ndarray[Any, Any]):
        __module__ = "numpy"

        def __getitem__(self, key: Any) -> Any:
            return np.asarray(self)[key] * 1e-6

    channel = Jaccard(epsilon=1.0, neighbours=2).on(FLAT)
    channel._sigmas = channel._sigmas.view(Hollow)
    assert audit(channel).holds is None


def test_a_shape_that_float64_cannot_audit() -> None:
    """The rounding error of so flat a shape would hide an excess."""
    channel = Mahalanobis(epsilon=1.0).on(FLAT)
    flat = channel._ellipsoids[0]
    flat.root = np.diag([1.0, 1e-11])
    flat.matrix = flat.root @ flat.root
    channel._guarantee = replace(channel.guarantee, equivalents=())
    channel._scale *= 0.9999
    found = audit(channel)
    assert found.holds is None
    assert "float64" in found.method


class Leaky(Grid):
    """A grid that rounds nothing."""

    def snap(self, values: Floats) -> Floats:
        return values


@pytest.mark.parametrize(
    "alter",
    [
        lambda c: setattr(c, "_grid", Leaky(1.0)),
        lambda c: setattr(c, "_dimension", 1),  # one noise for both coordinates
        lambda c: setattr(c, "_noise", lambda count, rng: np.zeros((count, 2))),
        lambda c: setattr(c, "_space", type("Liar", (Lexicon,), {})(FLAT.words, FLAT.vectors)),
    ],
)
@pytest.mark.parametrize("cls", [Laplace, Gaussian])
def test_a_part_that_is_replaced(cls: Any, alter: Callable[[Any], None]) -> None:
    channel = cls(epsilon=1.0).on(FLAT)
    alter(channel)
    assert audit(channel).holds is None


def test_a_density_that_does_not_belong_to_the_draws() -> None:
    class Quiet(LaplaceChannel):
        def _noise(self, count: int, rng: Generator) -> Floats:
            return super()._noise(count, rng) / 2.0

        def log_density(self, noise: Floats, word: int) -> Floats:
            return super().log_density(noise, word)

    assert audit(Quiet(Laplace(epsilon=1.0), FLAT)).holds is None


def test_a_sigma_that_does_not_belong_to_the_draws() -> None:
    class Quiet(GaussianChannel):
        @property
        def sigma(self) -> float:
            return 1e3 * self._sigma

    assert audit(Quiet(Gaussian(epsilon=1.0), FLAT)).holds is None


class TestScaled:
    def channel(self, sigmas: list[float]) -> ScaledChannel:
        promise = Guarantee(
            kind=Kind.BOUNDED, epsilon=1.0, delta=0.1, radius=3.0, metric="euclidean"
        )
        words = Lexicon(["a", "b"], [[0.0], [1.0]])
        return ScaledChannel(
            words, promise, Nearest().on(words, 1.0), sigmas=np.array(sigmas, dtype=np.float64)
        )

    def test_it_holds_with_one_sigma(self) -> None:
        assert audit(self.channel([2.0, 2.0])).holds is True

    def test_grids_that_tell_two_words_apart(self) -> None:
        """σ hardly differs, but the grid does: 2.0 begins a new power of two."""
        channel = self.channel([1.999, 2.0])
        assert channel._steps[1] == 2 * channel._steps[0]
        found = audit(channel)
        assert found.worst_ratio < 1.0
        assert found.holds is None
        assert "grids" in found.method
        assert audit(self.channel([np.nextafter(2.0, 0.0), 2.0])).holds is None

    def test_a_step_that_releases_in_clear(self) -> None:
        channel = self.channel([2.0, 2.0])
        channel._steps = np.zeros(2)
        assert audit(channel).holds is None


def test_a_second_statement_counts_as_much_as_the_first() -> None:
    """What is said of another metric is part of the guarantee."""
    channel = Laplace(epsilon=1.0).on(FLAT)
    for epsilon, holds in ((1.0, True), (0.9, False)):
        channel._guarantee = replace(
            channel.guarantee, equivalents=(("manhattan", epsilon),)
        )  # ‖v‖₂ ≤ ‖v‖₁, with equality on the axes
        line = Lexicon(["a", "b"], [[0.0, 0.0], [1.0, 0.0]])
        channel._space = line
        channel._decoder = NearestDecoder(NearestSearch(line.vectors))
        assert audit(channel).holds is holds


@pytest.mark.parametrize("scale", [float("nan"), float("inf"), -1e-6, 0.0])
@pytest.mark.parametrize("cls", [Laplace, TangentLaplace, Mahalanobis])
def test_a_scale_that_is_none(cls: Any, scale: float) -> None:
    """Noise of a negative scale is narrow noise; its loss is not negative."""
    channel = cls(epsilon=1.0).on(BALL if cls is TangentLaplace else FLAT)
    channel._scale = scale
    assert audit(channel).holds is None


@pytest.mark.parametrize("sigma", [float("nan"), -1.0, 0.0])
def test_a_sigma_that_is_none(sigma: float) -> None:
    channel = Gaussian(epsilon=1.0).on(FLAT)
    channel._sigma = sigma
    assert audit(channel).holds is not True


def test_weights_that_are_no_numbers() -> None:
    class Nothing(LawChannel):
        def log_weights(self, ids: Ids) -> Floats:
            return np.full((len(ids), len(self.lexicon)), np.nan)

    promise = Guarantee(kind=Kind.METRIC, epsilon=1.0, metric="euclidean")
    assert audit(Nothing(FLAT, promise)).holds is None


@pytest.mark.parametrize("factor", [1.0 - 1e-7, 1.0 + 1e-7])
def test_one_in_ten_million_shows(factor: float) -> None:
    channel = Laplace(epsilon=1.0).on(FLAT)
    channel._scale *= factor
    assert audit(channel).holds is (factor > 1.0)

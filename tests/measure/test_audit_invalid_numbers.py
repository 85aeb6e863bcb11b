"""Numbers that are no scales, or not what they seem: no channel with them is certified."""

from dataclasses import fields, replace
from typing import Any, cast

import numpy as np
import pytest
from tests.measure.test_audit_deceit import ALL, BALL, FLAT, PROMISE
from tests.planted import with_fields, with_noise

from malaprop import (
    CoordinateLaplace,
    Gaussian,
    HyperbolicLaplace,
    Laplace,
    Mahalanobis,
    ParameterError,
    PrivEmb,
    TangentLaplace,
    audit,
)
from malaprop.mechanisms.decoders import Nearest
from malaprop.privacy.channel import VectorChannel
from malaprop.privacy.noise import (
    HyperbolicLaplaceNoise,
    Noise,
    ProjectedLaplace,
    TangentLaplaceNoise,
)

NUMBERS = [
    pytest.param(channel, field.name, id=f"{type(channel.noise).__name__}-{field.name}")
    for channel in ALL
    for field in fields(cast(Any, channel.noise))
    if type(getattr(channel.noise, field.name)) in (float, np.float64)
]


@pytest.mark.parametrize(("channel", "name"), NUMBERS)
def test_numbers_that_are_not_what_they_seem(channel: VectorChannel[Noise], name: str) -> None:
    """A number with its own arithmetic may look different to the draws and to the audit."""

    class Hollow(float):
        def __rtruediv__(self, other: float) -> float:
            return 1e-3

    value = Hollow(getattr(channel.noise, name))
    assert audit(with_fields(channel, **{name: value})).holds is not True


@pytest.mark.parametrize(("channel", "name"), [(ALL[5], "sigmas"), (ALL[3], "matrix")])
def test_arrays_that_are_not_what_they_seem(channel: VectorChannel[Noise], name: str) -> None:
    class Hollow(np.ndarray[Any, Any]):
        __module__ = "numpy"

        def __getitem__(self, key: Any) -> Any:
            return np.asarray(self)[key] * 1e-6

    hollow = getattr(channel.noise, name).copy().view(Hollow)
    assert audit(with_fields(channel, **{name: hollow})).holds is not True


@pytest.mark.parametrize("scale", [float("nan"), float("inf"), -1e-6, 0.0])
@pytest.mark.parametrize("cls", [Laplace, CoordinateLaplace, TangentLaplace, Mahalanobis, PrivEmb])
def test_an_invalid_scale(cls: Any, scale: float) -> None:
    """Noise of a negative scale is narrow noise; its loss is not negative."""
    channel = cls(epsilon=1.0).on(BALL if cls is TangentLaplace else FLAT)
    assert audit(with_fields(channel, scale=scale)).holds is None
    promise, noise = replace(channel.guarantee, numerics=""), replace(channel.noise, scale=scale)
    with pytest.raises(ParameterError, match="standard deviation"):
        VectorChannel(channel.lexicon, promise, noise, channel.decoder)


@pytest.mark.parametrize("shape", [float("nan"), -0.4, 0.0, float("inf")])
def test_an_invalid_shape(shape: float) -> None:
    channel = HyperbolicLaplace(epsilon=3.0).on(BALL)
    assert audit(with_fields(channel, shape=shape)).holds is not True


def test_noise_of_the_ball_for_words_outside_of_it() -> None:
    for noise in (
        HyperbolicLaplaceNoise(shape=1.0, dimension=2),
        TangentLaplaceNoise(scale=1.0, dimension=2),
    ):
        promise = replace(PROMISE, metric="manhattan", numerics="not told")
        channel = VectorChannel(FLAT, promise, noise, Nearest().on(FLAT, 1.0))
        assert audit(channel).holds is not True


@pytest.mark.parametrize("sigma", [float("nan"), -1.0, 0.0])
def test_an_invalid_sigma(sigma: float) -> None:
    channel = Gaussian(epsilon=1.0).on(FLAT)
    assert audit(with_fields(channel, sigma=sigma)).holds is not True


def test_an_invalid_matrix() -> None:
    noise = ProjectedLaplace(matrix=np.full((1, 2), np.nan), scale=1.0)
    assert audit(with_noise(ALL[3], noise)).holds is None


@pytest.mark.parametrize("factor", [1.0 - 1e-7, 1.0 + 1e-7])
def test_one_in_ten_million_shows(factor: float) -> None:
    channel = Laplace(epsilon=1.0).on(FLAT)
    found = audit(with_fields(channel, scale=channel.noise.scale * factor))
    assert found.holds is (factor > 1.0)

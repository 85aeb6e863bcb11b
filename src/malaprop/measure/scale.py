"""How noise compares with the scale of vectors: stated, or that of public ones.

The scale is never taken from the private vectors: a report that told it would tell about them.
"""

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

from numpy.random import Generator

from malaprop.core.errors import ParameterError
from malaprop.core.guarantee import Kind
from malaprop.core.noise.free_vectors import FreeVectors
from malaprop.measure.vector_measures import VectorFigures, vector_figures

_MUCH = 10.0  # times the typical distance: less than a hundredth of a squared distance is left
_UNRELATED = 0.1  # a correlation of distances that serves nothing
_RECOGNISED = 0.1  # a share of vectors found again that shows that something is left
_CLEAR = 4.0  # half of the typical distance, in deviations of the noise along a direction
_RECOVERED = 0.9  # a share of vectors that are found again


@dataclass(frozen=True, kw_only=True)
class NoiseAndScale:
    """The length of the noise beside the typical distance of two vectors."""

    noise: float
    """The root mean square length of the noise."""
    distance: float
    """The typical distance of two vectors."""
    source: str
    """Where the typical distance comes from: `stated`, or `public sample`."""
    told_apart: float
    """About how often the nearer of two candidates, so far apart, is the true one."""
    loss: float | None
    """The guarantee for two vectors that far apart, in nats; None if nothing is promised."""
    figures: VectorFigures | None = None
    """What a public sample loses, and how many of its vectors are found again."""

    @property
    def ratio(self) -> float:
        """How many times as long as the typical distance the noise is."""
        return self.noise / self.distance

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to say of an ε at which nothing is left, or nothing is protected."""
        return tuple(filter(None, [self._nothing_left(), self._nothing_hidden()]))

    def _nothing_left(self) -> str:
        if self.figures is not None and not math.isnan(self.figures.correlation):
            recognised = self.figures.inversion > _RECOGNISED
            drowned = self.figures.correlation < _UNRELATED and not recognised
            why = f" (the correlation of distances is {self.figures.correlation:.2f})"
        else:
            drowned, why = self.ratio > _MUCH, ""
        if not drowned:
            return ""
        return (
            f"the noise is {self.ratio:.3g} times as long as the typical distance of two vectors, "
            f"so that hardly anything is left of a single one{why}: use a larger ε, or fewer "
            "dimensions"
        )

    def _nothing_hidden(self) -> str:
        if self.figures is not None:
            clear = self.figures.inversion > _RECOVERED
            how = f"{self.figures.inversion:.0%} of {self.figures.candidates:,} public vectors"
        else:
            clear = NormalDist().inv_cdf(min(self.told_apart, 1.0 - 1e-16)) > _CLEAR
            how = "nearly every vector"
        if not clear:
            return ""
        return (
            f"an observer who has a list of candidates finds {how} by taking the nearest, so that "
            "hardly anything is protected: use a smaller ε"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain values for JSON."""
        return {
            "noise_length": self.noise,
            "typical_distance": self.distance,
            "source": self.source,
            "noise_to_distance": self.ratio,
            "told_apart": self.told_apart,
            "loss_at_typical_distance": self.loss,
            "public_sample": _plain(self.figures),
        }


def check_scale(scale: Any) -> None:
    """Refuse a typical distance that is none."""
    if scale is None:
        return
    good = isinstance(scale, int | float) and not isinstance(scale, bool)
    if not good or not 0.0 < scale < math.inf:
        raise ParameterError(
            f"The 'scale' of vectors must be a finite number above 0. Got {scale!r}."
        )


def noise_and_scale(
    free: FreeVectors,
    *,
    scale: float | None = None,
    public: Any = None,
    rng: Generator | None = None,
) -> NoiseAndScale | None:
    """Compare the noise with a stated typical distance, or with that of public vectors.

    None if neither is given, or if the noise has no length.

    >>> from malaprop import Laplace
    >>> noise = noise_and_scale(Laplace(epsilon=10.0).for_vectors(300), scale=2**0.5)
    >>> round(noise.ratio), len(noise.warnings)
    (21, 1)
    """
    check_scale(scale)
    length = free.noise_length
    if length is None or (scale is None and public is None):
        return None
    figures = None if public is None else vector_figures(free, public, rng)
    distance = figures.distance if scale is None and figures is not None else float(scale or 0.0)
    along = length / math.sqrt(free.onto)
    return NoiseAndScale(
        noise=length,
        distance=distance,
        source="stated" if scale is not None else "public sample",
        told_apart=NormalDist().cdf(distance / (2.0 * along)),
        loss=_loss(free, distance),
        figures=figures,
    )


def _loss(free: FreeVectors, distance: float) -> float | None:
    promise = free.guarantee.in_metric("euclidean")
    loss = promise.loss(distance)
    return None if promise.kind is Kind.NONE or math.isinf(loss) else loss


def _plain(figures: VectorFigures | None) -> dict[str, Any] | None:
    if figures is None:
        return None
    return {
        name: None if isinstance(value, float) and math.isnan(value) else value
        for name, value in figures.to_dict().items()
    }

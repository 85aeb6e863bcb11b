"""The Gaussian mechanism, with the analytic calibration."""

import math
from dataclasses import dataclass, field

import numpy as np

from malaprop.mechanisms.decoders import Bound, VectorMechanism
from malaprop.privacy.arrays import Floats, Reals
from malaprop.privacy.errors import ParameterError, require_choice
from malaprop.privacy.gaussian_noise import (
    CoordinateGaussian,
    ScaledMetric,
    SphericalGaussian,
    classical_scale,
    gaussian_scale,
)
from malaprop.privacy.guarantee import Guarantee, Kind
from malaprop.privacy.mechanism import FreeVectors, bound_to_vectors, option
from malaprop.privacy.metrics import MetricSpace


@dataclass(frozen=True, kw_only=True)
class Gaussian(VectorMechanism, name="gaussian"):
    """Adds Gaussian noise to a word's vector and takes the nearest word.

    Distribution: y = x + z, z ~ N(0, σ²I), σ = u*·Δ, u* the least number with
    Φ(1/(2u*) − εu*) − e^ε·Φ(−1/(2u*) − εu*) ≤ δ. Released vectors are rounded to a grid.

    Guarantee: (ε, δ)-differential privacy between any two vectors at most Δ apart (Euclidean).
    `channel.noise.delta_at(distance, epsilon)` is the whole curve, for every distance and every ε.

    Why: ln p(y|x) − ln p(y|x') is N(μ²/2, μ²), μ = ‖x − x'‖/σ, which gives the δ above, exactly; it
    grows with ‖x − x'‖. See docs/proofs/gaussian.md.

    Parameters: `epsilon`, ε, the loss within Δ. `delta`, δ. `sensitivity`, Δ, a Euclidean distance;
    None for the lexicon's diameter, so that all pairs are protected. `published`: the paper's
    σ = Δ·√(2 ln(1.25/δ))/ε, proved for ε < 1 only, and refused beyond. `per_dimension`: σ·wⱼ for
    coordinate j, wⱼ from the public vectors' spread in it; distances and Δ are then in units of
    wⱼ. `decoder`, as for Laplace.

    >>> from malaprop import Gaussian, Lexicon
    >>> tiny = Lexicon(["cold", "cool", "hot"], [[0.0], [1.0], [9.0]])
    >>> channel = Gaussian(epsilon=1.0, delta=1e-5, sensitivity=1.0).on(tiny)
    >>> round(channel.noise.sigma, 6), round(channel.noise.delta_at(2.0), 4)
    (3.730632, 0.0104)

    Reference: Balle, Wang, "Improving the Gaussian mechanism", 2018; §3.1 of Bollegala et al. 2023.
    """

    epsilon: float = field(metadata={"help": "ε, the privacy loss between words within Δ"})
    delta: float = option(1e-5, "δ, what may be added to a chance beyond the factor e^ε")
    sensitivity: float | None = option(
        None, "Δ, the distance within which words are protected; None: all of them"
    )
    published: bool = option(False, "the paper's σ, for ε below 1 only")
    per_dimension: bool = option(False, "a σ for each dimension, from the spread of public vectors")

    promise = "bounded-dp: (ε, δ) within Δ, Euclidean"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require("delta", "a number between 0 and 1, both excluded", lambda x: 0 < x < 1)
        if self.sensitivity is not None:
            self._require("sensitivity", "a number above 0, or None", lambda x: 0 < x < math.inf)
        require_choice(self, "published", (True, False))
        require_choice(self, "per_dimension", (True, False))
        if self.published and self.epsilon >= 1.0:
            raise ParameterError(
                "The 'epsilon' parameter of Gaussian must be below 1 with the published formula, "
                f"which is unproved from there on, and false from 7.46 on at δ = 0.001. Got "
                f"{self.epsilon}; leave out 'published' for the exact calibration."
            )

    def _for_words(self, lexicon: MetricSpace) -> Bound:
        widths = widths_of(lexicon.vectors) if self.per_dimension else None
        radius = diameter(lexicon, widths) if self.sensitivity is None else self.sensitivity
        return *self._within(radius, widths), None

    def _free(self, columns: int, public: Floats | None) -> FreeVectors:
        if self.sensitivity is None:
            raise ParameterError(
                "Gaussian protects vectors that are at most Δ apart, and without a lexicon there "
                "is no largest distance: give the 'sensitivity' parameter, Δ."
            )
        if not self.per_dimension:
            return bound_to_vectors(columns, *self._within(self.sensitivity, None))
        if public is None:
            raise ParameterError(
                "Gaussian with 'per_dimension' takes the spread of each dimension from public data "
                "only, as that of the vectors to release would give them away: give the 'public' "
                "vectors."
            )
        noise, guarantee = self._within(self.sensitivity, widths_of(public))
        return bound_to_vectors(columns, noise, guarantee, public=("the public vectors",))

    def _within(
        self, radius: float, widths: Floats | None
    ) -> tuple[SphericalGaussian | CoordinateGaussian, Guarantee]:
        scale = classical_scale if self.published else gaussian_scale
        sigma = scale(self.epsilon, self.delta, radius)
        within = {"delta": self.delta, "radius": radius}
        if widths is None:
            noise = SphericalGaussian(sigma=sigma, epsilon=self.epsilon)
            return noise, self._promise(noise, "euclidean", Kind.BOUNDED, **within)
        wide = CoordinateGaussian(sigma=sigma, widths=widths, epsilon=self.epsilon)
        return wide, self._promise(wide, wide.metric.name, Kind.BOUNDED, **within)


_NARROWEST = 0.1  # of the widest; a dimension in which no word differs must have noise, too


def widths_of(vectors: Reals) -> Floats:
    """Return a width for each dimension: the root of public vectors' standard deviation in it.

    Among all widths, it gives the least noise in all for the same noise between two typical
    vectors. Their mean square is 1.
    """
    exact = np.asarray(vectors, dtype=np.float64)
    spread = exact.std(axis=0)
    largest = float(spread.max(initial=0.0))
    if not largest > 0.0:  # all dimensions are alike
        return np.ones(exact.shape[1])
    widths = np.sqrt(np.maximum(spread / largest, _NARROWEST**2))
    return np.asarray(widths / np.sqrt(np.mean(widths**2)))


def diameter(lexicon: MetricSpace, widths: Floats | None = None) -> float:
    """Return the largest distance between two words of a Euclidean lexicon, rounded up.

    With `widths`, distances are in units of them.

    Words are visited from the outermost inwards. Once 2r is below the largest distance so far, no
    two words within r of the centre are farther apart. On `english` that leaves one word in eight.
    """
    vectors = lexicon.vectors.astype(np.float64)
    distances = lexicon.distances if widths is None else ScaledMetric(widths).on(lexicon.vectors)
    vectors = vectors if widths is None else vectors / widths
    radii = np.linalg.norm(vectors - vectors.mean(axis=0), axis=1)
    order, largest = np.argsort(-radii), 0.0
    for start in range(0, len(order), 256):
        ids = order[start : start + 256]
        if 2.0 * radii[ids[0]] <= largest:
            break
        largest = max(largest, float(distances(ids).max()))
    if largest == 0.0:
        raise ParameterError(
            "All words of the lexicon have one vector, so there is no distance to protect: give "
            "the 'sensitivity' parameter of Gaussian."
        )
    return largest * (1.0 + 1e-9)

"""The mechanisms that the paper compares, as it ran them and as they are sound."""

from typing import Any

import numpy as np

from malaprop.core.channel import VectorChannel
from malaprop.core.guarantee import Guarantee, Kind
from malaprop.core.noise.calibration import classical_scale
from malaprop.core.noise.gaussian import SphericalGaussian
from malaprop.lexicon.lexicon import Lexicon
from malaprop.lexicon.search.listed import nearest_words
from malaprop.mechanisms.coordinate_laplace import CoordinateLaplace
from malaprop.mechanisms.decoders import Nearest
from malaprop.mechanisms.gaussian import Gaussian, diameter
from malaprop.mechanisms.jaccard import Jaccard
from malaprop.mechanisms.laplace import Laplace
from malaprop.mechanisms.mahalanobis import Mahalanobis
from malaprop.mechanisms.nadp import NADP
from malaprop.studies.framework.lines import Setting
from malaprop.studies.framework.run import Run

DELTA = 1.0 / 73404.0
UNSCALED = "laplacian of scale 1/ε"
COMPARED = (
    {"mechanism": "nadp", "published": True, "tau": 0.5},
    {"mechanism": "nadp", "published": True, "tau": 0.1},
    {"mechanism": "mahalanobis", "published": True, "lambda": 1.0},
    {"mechanism": "gaussian", "published": True},
    {"mechanism": "jaccard", "published": True},
    {"mechanism": "laplacian", "published": True},
    {"mechanism": UNSCALED, "published": True},
)
"""What the paper compares. It uses τ = 0.5 in §5.1 and says 0.1 in §5.2. Its Laplacian is read as
one of scale Δ₁/ε, and as one of scale 1/ε."""
SOUND = (
    {"mechanism": "nadp", "published": False, "tau": 0.1},
    {"mechanism": "nadp", "published": False, "tau": 0.5},
    {"mechanism": "gaussian", "published": False},
    {"mechanism": "laplace", "published": False},
)
"""What keeps a promise: NADP by components with no word in clear, the analytic Gaussian for all
pairs of words, and Laplace noise."""


def channel_of(run: Run, setting: Setting, epsilon: float | None = None) -> VectorChannel[Any]:
    """Bind the mechanism of a setting to its lexicon, at its own ε or at another."""
    lexicon = run.lexicon(setting.get("lexicon", "english"))
    value = setting["epsilon"] if epsilon is None else epsilon
    name, published = setting["mechanism"], bool(setting["published"])
    if name == "nadp":
        mechanism: Any = NADP(epsilon=value, delta=DELTA, tau=setting["tau"], published=published)
    elif name == "mahalanobis":
        mechanism = Mahalanobis(epsilon=value, regularization=setting["lambda"])
    elif name == "jaccard":
        mechanism = Jaccard(epsilon=value, delta=DELTA, published=published)
    elif name == "laplacian":
        mechanism = CoordinateLaplace(epsilon=value / _sensitivity(run, lexicon, 1))
    elif name == UNSCALED:
        mechanism = CoordinateLaplace(epsilon=value)
    elif name == "laplace":
        mechanism = Laplace(epsilon=value)
    elif published:
        return _classical(run, lexicon, value)
    else:
        mechanism = Gaussian(epsilon=value, delta=DELTA, sensitivity=_diameter(run, lexicon))
    bound: VectorChannel[Any] = mechanism.on(lexicon)
    return bound


def spherical(
    lexicon: Lexicon, sigma: float, reason: str, epsilon: float = 1.0
) -> VectorChannel[SphericalGaussian]:
    """Return Gaussian noise of any width, which promises nothing."""
    guarantee = Guarantee(kind=Kind.NONE, epsilon=epsilon, metric="euclidean", reason=reason)
    noise = SphericalGaussian(sigma=sigma, epsilon=epsilon)
    return VectorChannel(lexicon, guarantee, noise, Nearest().on(lexicon, epsilon))


def _classical(run: Run, lexicon: Lexicon, epsilon: float) -> VectorChannel[SphericalGaussian]:
    """Return the Gaussian of §3.1 at any ε: σ = Δ·√(2 ln(1.25/δ))/ε, Δ over neighbouring words.

    The formula is proved for ε < 1 only, and `Gaussian` refuses it beyond.
    """
    return spherical(
        lexicon,
        classical_scale(epsilon, DELTA, _sensitivity(run, lexicon, 2)),
        "the paper's formula for σ is proved for ε below 1 only",
        epsilon,
    )


def _sensitivity(run: Run, lexicon: Lexicon, norm: int) -> float:
    """Return the paper's global Δ: the largest distance of a word to its nearest one (m = 2).

    It is Euclidean (`norm` 2) for Gaussian noise, and Manhattan (1) for Laplacian noise.
    """

    def measure() -> float:
        ids = nearest_words(lexicon, 2)
        vectors = lexicon.vectors.astype(np.float64)
        apart = vectors[ids[:, 0]] - vectors[ids[:, 1]]
        return float(np.linalg.norm(apart, ord=norm, axis=1).max())

    return run.once(("sensitivity", lexicon.fingerprint, norm), measure)


def _diameter(run: Run, lexicon: Lexicon) -> float:
    return run.once(("diameter", lexicon.fingerprint), lambda: diameter(lexicon))

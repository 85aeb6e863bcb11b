"""The hyperbolic mechanism as it was published, for comparison only."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from malaprop.mechanisms.decoders import Bound, VectorMechanism
from malaprop.privacy import metrics
from malaprop.privacy.arrays import Floats
from malaprop.privacy.errors import COMPUTABLE, ParameterError, is_computable
from malaprop.privacy.guarantee import Kind
from malaprop.privacy.mechanism import option
from malaprop.privacy.metrics import MetricSpace
from malaprop.privacy.noise import Noise

_LAMBDA = 1e-5  # the distance from the ball's edge to which the paper projects
_REASON = (
    "the published mechanism adds bounded noise by ordinary addition, so that some outputs are "
    "possible for one word and impossible for another, however close they are; and its random "
    "walk does not sample the distribution that the paper's proof is about. Use TEM, "
    "HyperbolicLaplace or TangentLaplace"
)


@dataclass(frozen=True, kw_only=True)
class PoincareMetropolis(VectorMechanism, name="poincare-metropolis"):
    """Adds noise from a random walk in the Poincaré ball, as published; it guarantees nothing.

    Distribution: Algorithm 2 of the paper. A Metropolis walk starts at the origin; a step proposes
    N(x, `spread`²·I), mapped into the ball by way of the hyperboloid, and accepts it with
    probability f(x')/f(x), f(x) = ((1 + ‖x‖)/(1 − ‖x‖))^−ε. After `steps` steps the place is added
    to the word's vector; what leaves the ball is put back inside its edge.

    Guarantee: none. Among −0.9, 0, 0.2 and 0.9 in one dimension at ε = 2, the word −0.9 comes from
    0 with probability 0.0129 and from 0.9 never.

    Why: the noise is bounded, and x + noise covers another part of the ball for each x. Besides,
    the proposal is not symmetric, so that the walk does not approach f.

    Parameters: `epsilon`, ε of the paper. `steps`, b, the length of the walk; `spread`, the root
    of Σ; the paper gives neither. `decoder`, from the noisy vector to a word: `nearest`,
    `vickrey` or `rank`. `published` must be true: there is no sound variant.

    >>> from malaprop import Lexicon, PoincareMetropolis
    >>> line = Lexicon(["a", "b", "c"], [[-0.9], [0.0], [0.9]], metric="poincare")
    >>> print(PoincareMetropolis(epsilon=2.0).on(line).guarantee.kind)
    none

    Reference: Feyisetan, Diethe, Drake, "Leveraging hierarchical representations for preserving
    privacy and utility in text", 2019, Algorithm 2.
    """

    steps: int = option(1000, "length of the random walk of a word")
    spread: float = option(1.0, "standard deviation of a proposal")
    published: bool = option(True, "as published; there is no other")

    promise = "none (as published, for comparison)"
    needs = "poincare"
    words_only = "it is here for comparison, and guarantees nothing"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require("spread", "a finite number above 0", lambda x: 0 < x < math.inf)
        self._require("spread", COMPUTABLE, is_computable)
        self._require(
            "steps", "a whole number, 1 to 1,000,000", lambda x: 1 <= x <= 1e6 and x.is_integer()
        )
        object.__setattr__(self, "steps", int(self.steps))
        if not self.published:
            raise ParameterError(
                "The 'published' parameter of PoincareMetropolis must be true: the algorithm has "
                "no sound variant. Use TEM, HyperbolicLaplace or TangentLaplace instead."
            )

    def _for_words(self, lexicon: MetricSpace) -> Bound:
        noise = MetropolisWalk(epsilon=self.epsilon, steps=self.steps, spread=self.spread)
        return noise, self._promise(noise, "poincare", Kind.NONE, reason=_REASON), None


@dataclass(frozen=True, kw_only=True)
class MetropolisWalk(Noise):
    """The published noise: the end of a random walk, by ordinary addition."""

    epsilon: float
    steps: int
    spread: float

    def release(self, vectors: Floats, rng: Generator) -> Floats:
        moved = metrics.in_ball(vectors) + self._walk(vectors.shape, rng)
        norms = np.maximum(np.linalg.norm(moved, axis=1, keepdims=True), 1e-300)
        return np.where(norms < 1.0 - _LAMBDA, moved, moved / norms * (1.0 - _LAMBDA))

    def _walk(self, shape: tuple[int, ...], rng: Generator) -> Floats:
        places, scores = np.zeros(shape), np.zeros(shape[0])
        for _ in range(self.steps):
            proposed = metrics.lower(places + self.spread * rng.standard_normal(shape))
            # ln f(x) = −2ε·artanh ‖x‖ = −ε·d(0, x)
            norms = np.minimum(np.linalg.norm(proposed, axis=1), metrics.EDGE)
            reached = -2.0 * self.epsilon * np.arctanh(norms)
            accepted = np.log(rng.random(shape[0])) <= reached - scores
            places[accepted], scores[accepted] = proposed[accepted], reached[accepted]
        return places

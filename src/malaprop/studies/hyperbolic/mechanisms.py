"""The published mechanism and its sound replacements, on the words of a hierarchy."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Floats
from malaprop.core.channel import Channel, VectorChannel
from malaprop.core.randomness import seeded_rng
from malaprop.lexicon.lexicon import Lexicon
from malaprop.mechanisms.hyperbolic_laplace import HyperbolicLaplace
from malaprop.mechanisms.laplace import Laplace
from malaprop.mechanisms.poincare_metropolis import MetropolisWalk, PoincareMetropolis
from malaprop.mechanisms.tangent_laplace import TangentLaplace
from malaprop.mechanisms.tem import TEM
from malaprop.studies.framework.lines import Setting
from malaprop.studies.framework.measuring import epsilon_for_kept, share_kept
from malaprop.studies.framework.run import Run
from malaprop.studies.hyperbolic.slots import WordIds
from malaprop.studies.hyperbolic.spaces import euclidean, largest_ratio

HIERARCHY: Final = "english-hierarchy"
DRAWN_IN: Final = 0.2
"""What hyperbolic distances from the origin are multiplied by, so that words lie as far out as the
paper's own N_w suggests; the shipped vectors lie at the edge of the ball."""
AT_THE_EDGE: Final = "words at the edge"
EQUAL_KEPT: Final = "equal share kept"
EQUAL_EUCLIDEAN: Final = "equal Euclidean ε"
PUBLISHED: Final[dict[str, Any]] = {
    "mechanism": "poincare-metropolis",
    "published": True,
    "sigma": 0.3,
}
"""The paper does not state Σ. At σ = 0.3, N_w grows with ε as in the paper; see Figure 5."""
WIDE: Final = {**PUBLISHED, "sigma": 1.0, "control": "another Σ"}
NARROW: Final = {**PUBLISHED, "sigma": 0.1, "control": "another Σ"}
SOUND: Final = {"mechanism": "tem", "published": False}
SHORT: Final = {**PUBLISHED, "steps": 200, "control": "a shorter walk"}
_STEPS = 1000  # of a walk; at ε = 8 the length matters: see the control
_SEED = 21


def lexicon_of(run: Run, setting: Setting) -> Lexicon:
    """Return the words of a hierarchy, drawn in towards the origin unless they stay at the edge.

    A setting with a Euclidean `space` has the same words there.
    """
    shipped = run.lexicon(setting.get("lexicon", HIERARCHY))
    if "space" in setting:
        return euclidean(run, setting["space"], shipped.words)
    if setting.get("control") == AT_THE_EDGE:
        return shipped
    return run.once(("drawn in", shipped.fingerprint), lambda: drawn_in(shipped, DRAWN_IN))


def ids_of(run: Run, lexicon: Lexicon) -> WordIds:
    """Return what looks up words in a lexicon, made once in a run."""
    return run.once(("ids", lexicon.fingerprint), lambda: WordIds(lexicon))


def drawn_in(lexicon: Lexicon, factor: float) -> Lexicon:
    """Return a lexicon in the ball with all hyperbolic distances from the origin shortened."""
    vectors = lexicon.vectors.astype(np.float64)
    norms = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-300)
    inner = np.tanh(factor * np.arctanh(np.minimum(norms, 1.0 - 1e-12)))
    return Lexicon(lexicon.words, vectors / norms * inner, "poincare")


def channel_of(run: Run, setting: Setting) -> Channel:
    """Bind the mechanism of a setting.

    Under `equal share kept`, ε is the one at which as many words stay as with the published
    mechanism at the setting's ε; under `equal Euclidean ε`, what the setting's ε for hyperbolic
    distance promises for a Euclidean one.
    """
    lexicon, epsilon = lexicon_of(run, setting), float(setting["epsilon"])
    if setting.get("control") == EQUAL_KEPT:
        epsilon = _matched(run, lexicon, setting["mechanism"], epsilon)
    elif setting.get("control") == EQUAL_EUCLIDEAN and "space" in setting:
        epsilon *= ratio_to(run, setting["space"])
    if setting["mechanism"] != PUBLISHED["mechanism"]:
        return _bound(lexicon, setting["mechanism"], epsilon)
    steps, sigma = int(setting.get("steps", _STEPS)), float(setting["sigma"])
    return _published(run, lexicon, epsilon, sigma, steps)


def ratio_to(run: Run, space: str) -> float:
    """Return how much Euclidean ε an ε of hyperbolic distance is: see `largest_ratio`."""
    hierarchy = lexicon_of(run, {})
    other = euclidean(run, space, hierarchy.words)
    every = run.pick(quick=8, full=1)
    return run.once(("ratio", space), lambda: largest_ratio(hierarchy, other, every))


def _bound(lexicon: Lexicon, name: str, epsilon: float) -> Channel:
    if name == "laplace":
        return Laplace(epsilon=epsilon).on(lexicon)
    if name == "tem":
        return TEM(epsilon=epsilon, exponent="half").on(lexicon)
    if name == "tangent-laplace":
        return TangentLaplace(epsilon=epsilon).on(lexicon)
    return HyperbolicLaplace(epsilon=epsilon).on(lexicon)


@dataclass(frozen=True, kw_only=True, eq=False)
class PooledWalks(MetropolisWalk):
    """The ends of walks that were made beforehand: a walk does not depend on the word."""

    ends: Floats

    def _walk(self, shape: tuple[int, ...], rng: Generator) -> Floats:
        return self.ends[rng.integers(0, len(self.ends), shape[0])]


def _published(run: Run, lexicon: Lexicon, epsilon: float, sigma: float, steps: int) -> Channel:
    """Bind the published mechanism, with walks that were made once in a run."""
    channel = PoincareMetropolis(epsilon=epsilon, spread=sigma, steps=steps).on(lexicon)
    shape = (run.pick(quick=1500, full=10_000), lexicon.vectors.shape[1])
    ends = run.once(
        ("walks", epsilon, sigma, steps, shape),
        # From the origin, which stays inside the ball, the noise is the end of the walk.
        lambda: channel.noise.release(np.zeros(shape), seeded_rng(_SEED + run.seed)),
    )
    noise = PooledWalks(epsilon=epsilon, spread=sigma, steps=steps, ends=ends)
    return VectorChannel(lexicon, channel.guarantee, noise, channel.decoder)


def _matched(run: Run, lexicon: Lexicon, name: str, epsilon: float) -> float:
    words = run.pick(quick=100, full=400)

    def search() -> float:
        hierarchy = lexicon_of(run, {})
        published = _published(run, hierarchy, epsilon, float(PUBLISHED["sigma"]), _STEPS)
        kept = share_kept(published, words, seeded_rng(20), draws=10)
        return epsilon_for_kept(lambda e: _bound(lexicon, name, e), kept, words, (0.05, 200.0))

    return run.once(("matched", lexicon.fingerprint, name, epsilon), search)

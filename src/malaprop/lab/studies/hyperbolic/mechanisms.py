"""The published mechanism and its sound replacements, on the words of a hierarchy."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.random import Generator

from malaprop.lab.studies.figures import epsilon_for_kept, mechanism_of, share_kept
from malaprop.lab.studies.reproduction import DEFAULT_LEXICON, GLOVE_200, Run
from malaprop.lab.studies.study import Setting
from malaprop.lexicon.lexicon import Lexicon
from malaprop.mechanisms.poincare_metropolis import MetropolisWalk, PoincareMetropolis
from malaprop.privacy.arrays import Floats
from malaprop.privacy.channel import Channel, VectorChannel
from malaprop.privacy.randomness import seeded_rng

_STEPS = 1000

# Euclidean spaces of the hierarchy's words, and what an ε of hyperbolic distance means there.

TRAINED: Final = {
    "Euclidean, 50 dimensions": "glove-6b-50d",
    "Euclidean, 100 dimensions": "glove-6b-100d",
    "Euclidean, 200 dimensions": GLOVE_200,
    "Euclidean, 300 dimensions": DEFAULT_LEXICON,
}
"""GloVe's vectors, trained with so many dimensions."""
COMPONENTS: Final = {
    "50 principal components": 50,
    "100 principal components": 100,
    "200 principal components": 200,
}
"""The control: those of 300 dimensions, reduced after training."""
_AT_ONCE = 512


def euclidean(run: Run, space: str, words: tuple[str, ...]) -> Lexicon:
    """Return the vectors of a space for those of the words that have one, centred."""

    def make() -> Lexicon:
        lexicon = run.lexicon(TRAINED.get(space, DEFAULT_LEXICON))
        known = run.lexicon().subset(words).words  # the same words in every space
        return reduced(lexicon.subset(known), COMPONENTS.get(space) or lexicon.vectors.shape[1])

    return run.once(("euclidean", space), make)


def reduced(lexicon: Lexicon, dimension: int) -> Lexicon:
    """Return the leading principal components of a lexicon's vectors, centred."""
    vectors = lexicon.vectors.astype(np.float64)
    vectors -= vectors.mean(axis=0)
    if dimension >= vectors.shape[1]:
        return Lexicon(lexicon.words, vectors)
    _, directions = np.linalg.eigh(vectors.T @ vectors)
    return Lexicon(lexicon.words, vectors @ directions[:, -dimension:])


def largest_ratio(hierarchy: Lexicon, other: Lexicon, every: int = 1) -> float:
    """Return the largest hyperbolic distance of two words over their Euclidean one.

    A mechanism that promises ε times the former promises ε times this ratio times the latter, and
    no less. `every` leaves out words in one of the two places: then it is a lower bound.
    """
    common = [word for word in other.words if word in hierarchy.index]
    curved, flat = hierarchy.subset(common), other.subset(common)
    largest = 0.0
    for begin in range(0, len(common), _AT_ONCE * every):
        ids = np.arange(begin, min(begin + _AT_ONCE, len(common)))
        lengths = flat.distances(ids)
        lengths[lengths == 0.0] = np.inf  # a word and itself
        largest = max(largest, float((curved.distances(ids) / lengths).max()))
    return largest


HIERARCHY: Final = "english-hierarchy"
DRAWN_IN: Final = 0.2
"""What hyperbolic distances from the origin are multiplied by, so that words lie as far out as the
paper's own N_w suggests; the shipped vectors lie at the edge of the ball."""
_SIGMA = 0.3
_SEED = 21


def lexicon_of(run: Run, setting: Setting) -> Lexicon:
    """Return the words of a hierarchy, drawn in towards the origin unless they stay at the edge.

    A setting with a Euclidean `space` has the same words there.
    """
    shipped = run.lexicon(setting.get("lexicon", HIERARCHY))
    if "space" in setting:
        return euclidean(run, setting["space"], shipped.words)
    if setting.get("control") == "words at the edge":
        return shipped
    return run.once(("drawn in", shipped.fingerprint), lambda: drawn_in(shipped, DRAWN_IN))


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
    if setting.get("control") == "equal share kept":
        epsilon = _matched(run, lexicon, setting["mechanism"], epsilon)
    elif setting.get("control") == "equal Euclidean ε" and "space" in setting:
        epsilon *= ratio_to(run, setting["space"])
    if setting["mechanism"] != "poincare-metropolis":
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
    channel: Channel = mechanism_of({"mechanism": name, "epsilon": epsilon}, exponent="half").on(
        lexicon
    )
    return channel


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
        published = _published(run, lexicon_of(run, {}), epsilon, _SIGMA, _STEPS)
        kept = share_kept(published, words, seeded_rng(20), draws=10)
        return epsilon_for_kept(lambda e: _bound(lexicon, name, e), kept, words, (0.05, 200.0))

    return run.once(("matched", lexicon.fingerprint, name, epsilon), search)

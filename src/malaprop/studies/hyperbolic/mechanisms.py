"""The published mechanism and its sound replacements, on the words of a hierarchy."""

from typing import Any, Final

import numpy as np

from malaprop.core.channel import Channel
from malaprop.core.randomness import seeded_rng
from malaprop.lexicon.lexicon import Lexicon
from malaprop.mechanisms.hyperbolic_laplace import HyperbolicLaplace
from malaprop.mechanisms.poincare_metropolis import PoincareMetropolis
from malaprop.mechanisms.tangent_laplace import TangentLaplace
from malaprop.mechanisms.tem import TEM
from malaprop.studies.framework.lines import Setting
from malaprop.studies.framework.measuring import epsilon_for_kept, share_kept
from malaprop.studies.framework.run import Run
from malaprop.studies.hyperbolic.slots import WordIds

HIERARCHY: Final = "english-hierarchy"
DRAWN_IN: Final = 0.2
"""What hyperbolic distances from the origin are multiplied by, so that words lie as far out as the
paper's own N_w suggests; the shipped vectors lie at the edge of the ball."""
AT_THE_EDGE: Final = "words at the edge"
EQUAL_KEPT: Final = "equal share kept"
PUBLISHED: Final = {"mechanism": "poincare-metropolis", "published": True, "sigma": 0.3}
"""The paper does not state Σ. At σ = 0.3, N_w grows with ε as in the paper; see Figure 5."""
WIDE: Final = {**PUBLISHED, "sigma": 1.0, "control": "another Σ"}
NARROW: Final = {**PUBLISHED, "sigma": 0.1, "control": "another Σ"}
SOUND: Final = {"mechanism": "tem", "published": False}
_STEPS = 200  # of a walk: N_w at 1,000 steps is the same within its error


def lexicon_of(run: Run, setting: Setting) -> Lexicon:
    """Return the words of a hierarchy, drawn in towards the origin unless they stay at the edge."""
    shipped = run.lexicon(setting.get("lexicon", HIERARCHY))
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
    mechanism at the setting's ε.
    """
    lexicon, epsilon = lexicon_of(run, setting), float(setting["epsilon"])
    if setting.get("control") == EQUAL_KEPT:
        epsilon = _matched(run, lexicon, setting["mechanism"], epsilon)
    return run.latest(
        "channel",
        (lexicon.fingerprint, *map(str, setting.items())),
        lambda: _bound(lexicon, setting["mechanism"], epsilon, float(setting.get("sigma", 1.0))),
    )


def _bound(lexicon: Lexicon, name: str, epsilon: float, sigma: float) -> Channel:
    if name == PUBLISHED["mechanism"]:
        mechanism: Any = PoincareMetropolis(epsilon=epsilon, spread=sigma, steps=_STEPS)
    elif name == "tem":
        mechanism = TEM(epsilon=epsilon, exponent="half")
    elif name == "tangent-laplace":
        mechanism = TangentLaplace(epsilon=epsilon)
    else:
        mechanism = HyperbolicLaplace(epsilon=epsilon)
    channel: Channel = mechanism.on(lexicon)
    return channel


def _matched(run: Run, lexicon: Lexicon, name: str, epsilon: float) -> float:
    words = run.pick(quick=100, full=400)

    def search() -> float:
        published = _bound(lexicon, str(PUBLISHED["mechanism"]), epsilon, 0.3)
        kept = share_kept(published, words, seeded_rng(20))
        return epsilon_for_kept(lambda e: _bound(lexicon, name, e, 1.0), kept, words, (0.05, 200.0))

    return run.once(("matched", lexicon.fingerprint, name, epsilon), search)

"""The mechanism at a nominal ε, and at equal Euclidean ε or an equal share of words kept."""

import math
from typing import Any

from malaprop.core.channel import VectorChannel
from malaprop.lexicon.lexicon import Lexicon
from malaprop.mechanisms.mahalanobis import Mahalanobis
from malaprop.studies.framework.lines import Setting
from malaprop.studies.framework.measuring import epsilon_for_kept, share_kept
from malaprop.studies.framework.not_at_hand import VECTORS
from malaprop.studies.framework.run import Run

LAMBDAS = (0.0, 0.25, 0.5, 0.75, 1.0)
EQUAL_EUCLIDEAN = "equal Euclidean ε"
EQUAL_KEPT = "equal share kept"
SQUARE_ROOT = "noise that shrinks with √ε, the same at ε = 20"
_WORDS = 400


def lexicon_of(run: Run, setting: Setting) -> Lexicon:
    """Open the lexicon of a setting; fastText's vectors are the user's to import."""
    name = setting.get("lexicon", "english")
    return run.lexicon(name, VECTORS.get(name, ""))


def channel_of(run: Run, setting: Setting) -> VectorChannel[Any]:
    """Bind the mechanism of a setting; λ = 0 is the Laplace mechanism.

    Under `equal Euclidean ε`, the nominal ε is that whose Euclidean guarantee is the setting's ε.
    Under `equal share kept`, it is that which keeps as many words as Laplace at the setting's ε.
    The square root is a guess at how the paper's noise may have been scaled.
    """
    lexicon, control = lexicon_of(run, setting), setting.get("control")
    shape, epsilon = setting["lambda"], setting["epsilon"]
    if control == EQUAL_EUCLIDEAN:
        epsilon /= _euclidean(run, lexicon, shape)
    elif control == SQUARE_ROOT:
        epsilon = math.sqrt(20.0 * epsilon)
    elif control == EQUAL_KEPT:
        epsilon = _matched(run, lexicon, shape, epsilon)
    return _bound(lexicon, shape, epsilon)


def euclidean_epsilon(channel: VectorChannel[Any]) -> float:
    """Return ε per unit of Euclidean distance: ε/√λ_min(A)."""
    return channel.guarantee.in_metric("euclidean").epsilon


def _euclidean(run: Run, lexicon: Lexicon, shape: float) -> float:
    """Return the Euclidean ε of the nominal ε 1."""
    return run.once(
        ("euclidean", lexicon.fingerprint, shape),
        lambda: euclidean_epsilon(_bound(lexicon, shape, 1.0)),
    )


def _matched(run: Run, lexicon: Lexicon, shape: float, epsilon: float) -> float:
    from malaprop.core.randomness import seeded_rng

    words = run.pick(quick=100, full=_WORDS)

    def search() -> float:
        kept = share_kept(_bound(lexicon, 0.0, epsilon), words, seeded_rng(20))
        around = (epsilon / 4.0, epsilon * math.sqrt(lexicon.vectors.shape[1]))
        return epsilon_for_kept(lambda e: _bound(lexicon, shape, e), kept, words, around)

    return run.once(("matched", lexicon.fingerprint, shape, epsilon), search)


def _bound(lexicon: Lexicon, shape: float, epsilon: float) -> VectorChannel[Any]:
    return Mahalanobis(epsilon=epsilon, regularization=shape).on(lexicon)

"""The mechanisms that are compared, each at several ε that keep from few to most words."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from malaprop.core.mechanism import Mechanism
from malaprop.lexicon.lexicon import Lexicon
from malaprop.mechanisms import mechanism_named
from malaprop.studies.framework.lines import Setting
from malaprop.studies.framework.run import Run

RECOMMENDED: Final = "balanced"
FLOORS: Final = ("no noise", "random table", "random words", "majority")
EPSILONS: Final[Mapping[str, tuple[float, ...]]] = {
    "balanced": (1.0, 1.2, 1.35, 1.5, 1.75, 2.0, 2.5),
    "tem": (1.44, 1.55, 1.65, 1.8),
    "laplace": (11.0, 14.0, 19.0),
    "mahalanobis": (13.5, 17.5, 24.0),
    "priv-emb": (11.2, 14.5, 20.0),
    "coordinate-laplace": (0.9, 1.15, 1.6),
    "gaussian": (75.0, 115.0, 180.0),
    "nadp": (25.0, 45.0, 80.0),
}
QUICK: Final[Mapping[str, tuple[float, ...]]] = {
    "balanced": (1.2, 1.5, 2.0),
    "tem": (1.5,),
    "laplace": (12.0, 15.0),
    "mahalanobis": (16.0,),
    "priv-emb": (13.0,),
    "coordinate-laplace": (1.15,),
    "gaussian": (110.0,),
    "nadp": (40.0,),
}
LEFT_OUT: Final[Mapping[str, str]] = {
    "permute-and-flip": "it takes about 3 ms to draw a word from `english`, and minutes to attack. "
    "At the same ε it keeps more words than TEM with exponent ε/2, and fewer than the audited TEM "
    "that is measured here",
    "jaccard": "its sound form is Gaussian noise: the curve of `gaussian`, at another ε",
    "hyperbolic-laplace": "its vectors are those of a hierarchy of nouns, so it draws no other "
    "words, and the texts and tasks here consist of all kinds",
    "tangent-laplace": "as for `hyperbolic-laplace`",
    "poincare-metropolis": "as for `hyperbolic-laplace`; it promises nothing, either",
}
"""The mechanisms that are not measured, and why."""
OPTIONS: Final[Mapping[str, Mapping[str, Any]]] = {"priv-emb": {"dimension": 50}}


def grid(run: Run) -> Iterator[Setting]:
    """Floors and the ceiling, and each mechanism at each ε."""
    shared = {"lexicon": "english", "spread": "noise draws"}
    for floor in FLOORS:
        yield {"mechanism": floor, "control": "floor", **shared}
    for name, epsilons in run.pick(quick=QUICK, full=EPSILONS).items():
        for epsilon in epsilons:
            yield {"mechanism": name, "epsilon": epsilon, **OPTIONS.get(name, {}), **shared}


def mechanism_of(setting: Setting) -> Mechanism:
    """Return the mechanism of a setting."""
    name = setting["mechanism"]
    return mechanism_named(name)(epsilon=setting["epsilon"], **OPTIONS.get(name, {}))


def lexicon_of(run: Run, setting: Setting) -> Lexicon:
    """Return the words, with steps between near words for the mechanism that counts those."""
    lexicon = run.lexicon()
    if setting["mechanism"] != RECOMMENDED:
        return lexicon
    return run.once(("graph", lexicon.fingerprint), lexicon.with_graph)

"""About how long an evaluation takes, by the mechanism and the amount of work.

The figures were measured on one core, on sentences of film reviews with `english`. They are there
to tell a minute from an hour.
"""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Work:
    """What is to be done at each setting."""

    words: int
    """How many words the sample has."""
    attacked: int
    """How many of them are attacked."""
    runs: int
    """How many noise draws there are."""
    models: int
    """How many classifiers there are; 0 without labels."""
    on_words: int
    """How many attacks on words there are."""
    on_labels: int
    """How many attacks on labels there are."""
    adaptive: bool = False
    """Whether attackers adapt, which attacks on words do anew for each draw."""


@dataclass(frozen=True, kw_only=True)
class _Cost:
    """Seconds that a mechanism takes."""

    start: float
    """To prepare it, and what attacks on words need to know of it."""
    draw: float
    """For a private draw of a thousand words."""
    attack: float
    """For an attack on a thousand private words."""


_USUAL = {
    "balanced": _Cost(start=3.0, draw=0.03, attack=0.02),
    "tem": _Cost(start=25.0, draw=0.05, attack=0.06),
}
_OTHERS = _Cost(start=12.0, draw=0.24, attack=0.02)  # laplace: they have no law in closed form
_LEARN = 0.03  # for a classifier to learn and classify a thousand words
_INFER = 0.06  # for an attack on labels


def seconds_for(mechanism: str, work: Work) -> float:
    """Return about how many seconds a setting of a mechanism takes.

    >>> work = Work(words=19_000, attacked=19_000, runs=5, models=2, on_words=3, on_labels=0)
    >>> 5 < seconds_for("balanced", work) < 60
    True
    """
    cost = _USUAL.get(mechanism, _OTHERS)
    copies = 1 + (work.models > 0) + work.on_labels  # classifiers and such attacks draw anew
    learnt = _LEARN * work.models + _INFER * work.on_labels
    each = work.words * (cost.draw * copies + learnt) + work.attacked * cost.attack * work.on_words
    starts = 1 + work.adaptive * work.runs * work.on_words
    return cost.start * starts + work.runs * each / 1000.0

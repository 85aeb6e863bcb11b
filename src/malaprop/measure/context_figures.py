"""How many words an observer recovers with context, on a named public sample.

The figures were measured by tools/build_context_figures.py, for mechanisms with their usual
parameters on `english`. They depend on public text alone, so that they can stand in a report.
"""

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from malaprop.core.mechanism import Mechanism
from malaprop.core.space import MetricSpace
from malaprop.data import data_folder

_FILE = data_folder() / "context-figures.json"


@dataclass(frozen=True, kw_only=True)
class ContextFigure:
    """Shares of the words of a public sample that an observer recovers, at some ε.

    Taking the output for the word counts as an attack, too: no share is below `kept`. Between two ε
    that were measured, figures are interpolated.
    """

    epsilon: float
    kept: float
    """The share of words that stay as they are."""
    alone: float
    """The share recovered word by word, by word frequencies of the web: the attack `bayes`."""
    context: float
    """The share recovered with context, by bigrams of the web: the attack `context`."""
    sample: str
    """The public sample."""
    prior: str
    """Whose words and bigrams the observer knows, alone and with context alike."""

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values for JSON."""
        return vars(self).copy()

    def __str__(self) -> str:
        return (
            f"of the words of {self.sample}, an observer who knows how frequent words are in "
            f"{self.prior} recovers {self.alone:.0%} by looking at each word alone, and one who "
            f"also knows which words follow which there {self.context:.0%}"
        )


@dataclass(frozen=True, kw_only=True)
class ContextCurve:
    """The figures of a mechanism at all ε that were measured, in rising order."""

    sample: str
    prior: str
    """As in `ContextFigure`."""
    epsilons: tuple[float, ...]
    kept: tuple[float, ...]
    alone: tuple[float, ...]
    context: tuple[float, ...]
    upper: tuple[float, ...]
    """The upper ends of the 95 % intervals of `context`."""

    def at(self, epsilon: float) -> ContextFigure | None:
        """Return the figures at an ε; None beyond those that were measured."""
        if not self.epsilons[0] <= epsilon <= self.epsilons[-1]:
            return None
        kept, alone, context = (
            float(np.interp(epsilon, self.epsilons, values))
            for values in (self.kept, self.alone, self.context)
        )
        return ContextFigure(
            epsilon=epsilon,
            kept=kept,
            alone=alone,
            context=context,
            sample=self.sample,
            prior=self.prior,
        )


def context_curve(mechanism: Mechanism, lexicon: MetricSpace) -> ContextCurve | None:
    """Return the figures of a mechanism on a lexicon; None if they were not measured."""
    told = _stored()
    about = mechanism.to_dict()
    entry = told["mechanisms"].get(about.pop("name"))
    about.pop("epsilon")
    fingerprint = getattr(lexicon, "fingerprint", "")
    if entry is None or (entry["options"], entry["lexicon"]) != (about, fingerprint):
        return None
    rows = entry["figures"]
    alone = [max(row["alone"], row["kept"]) for row in rows]
    context = [max(row["context"], least) for row, least in zip(rows, alone, strict=True)]
    margins = [row["interval"][1] - row["context"] for row in rows]
    return ContextCurve(
        sample=told["sample"],
        prior=told["prior"],
        epsilons=tuple(row["epsilon"] for row in rows),
        kept=tuple(row["kept"] for row in rows),
        alone=tuple(alone),
        context=tuple(context),
        upper=tuple(np.add(context, margins).tolist()),
    )


def context_figure(mechanism: Mechanism, lexicon: MetricSpace) -> ContextFigure | None:
    """Return what an observer recovers with context, from a mechanism at its ε; None if unknown."""
    curve = context_curve(mechanism, lexicon)
    return None if curve is None else curve.at(mechanism.epsilon)


@cache
def _stored() -> dict[str, Any]:
    told: dict[str, Any] = json.loads(_FILE.read_text("utf-8"))
    return told

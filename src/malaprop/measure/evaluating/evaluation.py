"""The result of an evaluation."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from malaprop._version import __version__
from malaprop.measure.evaluating.cells import Bounds, Cell
from malaprop.measure.evaluating.recommending import (
    Recommendation,
    Utility,
    recommend,
    utility_of,
)

_WORDS = "kept and similarity: 95 % over texts and their noise"
_RUNS = "accuracy: 95 % over noise draws and splits, corrected for the texts that splits share"
_ONE_RUN = "accuracy: 95 % over the test texts, for one noise draw and one split"


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """Privacy beside utility at each setting, what bounds them, and a recommendation.

    The figures are for the owner of the texts: they depend on them in ways that the guarantee does
    not cover. No text is in it.
    """

    cells: tuple[Cell, ...]
    bounds: Bounds
    lexicon: Mapping[str, Any]
    """The name and the fingerprint of the lexicon."""
    policy: Mapping[str, Any]
    """How texts are treated."""
    settings: Mapping[str, Any]
    """What was asked for."""
    texts: Mapping[str, int]
    """How many texts were given, sampled and attacked, and how many words these have."""
    classes: int
    """How many classes the labels have; 0 without labels."""
    runs: str
    """What the runs of a classifier differ in; empty without labels."""
    notes: tuple[str, ...] = ()
    """What the owner should know."""
    earlier: int = field(default=0, compare=False)
    """How many cells are those of an earlier run."""

    @property
    def most(self) -> float:
        """The share of words that no attack may recover more of."""
        return float(self.settings["most"])

    @cached_property
    def utility(self) -> Utility:
        """What counts as useful."""
        return utility_of(self.bounds)

    @cached_property
    def recommendation(self) -> Recommendation:
        """The setting to choose, and why."""
        return recommend(self.cells, self.bounds, self.most)

    @property
    def about_intervals(self) -> str:
        """What the intervals are over."""
        accuracy = _ONE_RUN if self.settings["runs"] == 1 else _RUNS
        return "; ".join((_WORDS, *((accuracy,) if self.classes else ()), *self.about_attacks))

    @property
    def about_attacks(self) -> tuple[str, ...]:
        """What the intervals of attacks are over: once for all attacks that share it."""
        attacks = self.cells[0].attacks
        names: dict[str, list[str]] = {}
        for name, figure in attacks.items():
            names.setdefault(figure.over, []).append(name)
        return tuple(f"{', '.join(own)}: 95 % by {over}" for over, own in names.items())

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values for JSON; docs/evaluate.md explains the keys."""
        return {
            "malaprop": __version__,
            "lexicon": dict(self.lexicon),
            "policy": dict(self.policy),
            "settings": dict(self.settings),
            "texts": dict(self.texts),
            "classes": self.classes,
            "runs": self.runs,
            "intervals": self.about_intervals,
            **self.bounds.to_dict(),
            "cells": [cell.to_dict() for cell in self.cells],
            "recommendation": self.recommendation.to_dict(),
            "notes": list(self.notes),
        }

"""The result of an evaluation: what each setting keeps and gives away, and which one to choose."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from malaprop._version import __version__
from malaprop.measure.adversaries import InferredLabels, RecoveredWords, attacks
from malaprop.measure.classification import TEST, plain_value
from malaprop.privacy.estimate import LEVEL, Estimate

NAIVE = "taking the output for the word"
"""What recovers the words that are kept."""
_BOUNDS = ("baseline", "floor", "unprotected", "measured")
Figures = Mapping[str, Mapping[str, Estimate]]
"""Accuracies by model, and then by what the model was tested on, or by how many texts it had."""


@dataclass(frozen=True, kw_only=True)
class AttackFigure(Estimate):
    """How far an attack got, beside what needs no attack."""

    baseline: float
    """What an observer has without inference."""
    floor: float
    """What useless texts give away: the most frequent word, or the attack on random words."""
    unprotected: float
    """What texts give away as they are."""
    measured: str
    """What the score is: a share of words, accuracy, or the area under the curve."""

    @property
    def recovers_words(self) -> bool:
        return self.measured == RecoveredWords.measured

    def to_dict(self) -> dict[str, Any]:
        figure = {"score": self.value, "interval": list(self.interval), "over": self.over}
        figure |= {"spread": self.spread, "values": list(self.values)}
        return figure | {name: getattr(self, name) for name in (*_BOUNDS, "recovers_words")}

    @classmethod
    def of(cls, result: RecoveredWords | InferredLabels) -> "AttackFigure":
        return cls(**vars(result.estimate), **{name: getattr(result, name) for name in _BOUNDS})


def revived(value: Any) -> Any:
    """Return figures, in mappings of any depth, that went through `asdict` and JSON."""
    if not isinstance(value, Mapping):
        return value
    parts = {name: revived(each) for name, each in value.items()}
    if "low" not in parts:
        return parts
    parts["values"], parts["errors"] = tuple(parts["values"]), tuple(map(tuple, parts["errors"]))
    return AttackFigure(**parts) if "measured" in parts else Estimate(**parts)


@dataclass(frozen=True, kw_only=True)
class Cell:
    """What was measured with one mechanism at one ε."""

    mechanism: Mapping[str, Any]
    name: str
    """The mechanism's name, with the parameters that are not the usual ones."""
    kept: Estimate
    """The share of words that come out unchanged."""
    similarity: Estimate
    """The mean similarity of a word and what comes out for it."""
    text_similarity: Estimate
    """The mean similarity of a text and its private copy: the cosine of their centroids."""
    accuracy: Figures
    """How often a classifier is right that was trained on private texts; empty without labels."""
    accuracy_by_texts: Figures
    """The same on clean texts, by how many private texts the classifier was trained on."""
    attacks: Mapping[str, AttackFigure]
    """How far each attack got."""
    seconds: float

    @property
    def epsilon(self) -> float:
        return float(self.mechanism["epsilon"])

    @property
    def title(self) -> str:
        return f"{self.name} at ε = {self.epsilon:g}"

    @property
    def strongest(self) -> tuple[str, Estimate] | None:
        """The attack that recovers most words, counting its interval, if there is one on words.

        To take each output for the word is an attack, too: it recovers the words that are kept.
        """
        on_words = [pair for pair in self.attacks.items() if pair[1].recovers_words]
        if not on_words:
            return None
        return max((*on_words, (NAIVE, self.kept)), key=lambda pair: pair[1].high)

    def to_dict(self) -> dict[str, Any]:
        figures = {
            name: plain_value(value)
            for name, value in vars(self).items()
            if name not in ("mechanism", "name")
        }
        own = {k: v for k, v in self.mechanism.items() if k not in ("name", "epsilon")}
        return {
            "mechanism": self.mechanism["name"],
            "epsilon": self.epsilon,
            "parameters": own,
            **figures,
        }


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """What useless and what clean texts reach: the same for all mechanisms."""

    kept: float
    """The share of words that random words leave unchanged."""
    similarity: float
    """The mean similarity of a word and a random word."""
    text_similarity: float
    """The mean similarity of a text and one of as many random words."""
    majority: Estimate | None
    """The accuracy of always naming the most frequent class."""
    random_words: Figures
    """The accuracies of models trained on random words."""
    unprotected: Mapping[str, Estimate]
    """The accuracies of models trained and tested on clean texts, by model."""
    unprotected_by_texts: Figures
    """The same, by how many texts the model was trained on."""

    def to_dict(self) -> dict[str, Any]:
        """Return the bounds as plain values for JSON: floors, and what is reached unprotected."""
        random = {
            "kept": self.kept,
            "similarity": self.similarity,
            "text_similarity": self.text_similarity,
            "accuracy": self.random_words,
        }
        clean = {"accuracy": self.unprotected, "accuracy_by_texts": self.unprotected_by_texts}
        floors = {"random_words": random, "majority": self.majority}
        return {"floors": plain_value(floors), "unprotected": plain_value(clean)}


RULE = (
    "the largest utility among the settings at which every attack on words recovers at most "
    "{most:g} of the words (upper end of its interval), if it is above that of random words"
)


@dataclass(frozen=True, kw_only=True)
class Utility:
    """What counts as useful, with its bounds."""

    name: str
    model: str
    """The model whose accuracy it is; empty for the similarity of texts."""
    floor: Estimate
    """What random words reach; with a classifier, or the most frequent class if that is more."""
    ceiling: Estimate
    """What clean texts reach."""

    def is_clear(self, value: Estimate) -> bool:
        """Whether a utility is above the floor, counting the intervals of both."""
        noise = math.hypot(value.value - value.low, self.floor.high - self.floor.value)
        return value.value - self.floor.value > noise

    def of(self, cell: Cell) -> Estimate:
        return cell.accuracy[self.model]["clean"] if self.model else cell.text_similarity


_CELLS = ("cell", "nearest", "rival")  # of a recommendation: JSON has the mechanism and its ε


@dataclass(frozen=True, kw_only=True)
class Recommendation:
    """The setting to choose, or None, and why."""

    cell: Cell | None
    reason: str
    rule: str
    utility: str
    most: float
    nearest: Cell | None = None
    """The setting that comes nearest to the rule: the chosen one, if there is one."""
    rival: Cell | None = None
    """The most private setting that the sample cannot tell from the chosen one."""

    def to_dict(self) -> dict[str, Any]:
        return {
            "mechanism": None if self.cell is None else self.cell.mechanism["name"],
            "epsilon": None if self.cell is None else self.cell.epsilon,
            **{name: value for name, value in vars(self).items() if name not in _CELLS},
        }


def utility_of(bounds: Bounds) -> Utility:
    """Return what counts as useful: an accuracy with labels, a similarity without."""
    if not bounds.unprotected:
        return Utility(
            name="similarity of texts",
            model="",
            floor=Estimate.exact(bounds.text_similarity),
            ceiling=Estimate.exact(1.0),
        )
    model = max(bounds.unprotected, key=lambda name: bounds.unprotected[name].value)
    floors = [bounds.random_words[model]["clean"], bounds.majority]
    return Utility(
        name=f"accuracy on clean texts, by {model}",
        model=model,
        floor=max(filter(None, floors), key=lambda each: each.value),
        ceiling=bounds.unprotected[model],
    )


def recommend(cells: Sequence[Cell], bounds: Bounds, most: float) -> Recommendation:
    """Return the setting that the rule chooses, or the reason why there is none.

    Utility is the accuracy on clean texts of the model that is best without protection; without
    labels, the similarity of texts. It must be above what random words reach, by more than the
    intervals of both leave open.
    """
    utility = utility_of(bounds)

    def answer(reason: str, cell: Cell | None = None, **others: Cell | None) -> Recommendation:
        rule = RULE.format(most=most)
        return Recommendation(
            cell=cell, reason=reason, rule=rule, utility=utility.name, most=most, **others
        )

    measured = [(cell, *cell.strongest) for cell in cells if cell.strongest is not None]
    if not measured:
        return answer("No attack on words was run, so nothing speaks for any setting.")
    safe = [each for each in measured if each[2].high <= most]
    under = f"every attack on words at or under {most:g}"
    if not safe:
        cell, name, figure = min(measured, key=lambda each: each[2].high)
        return answer(
            f"No setting (of {len(cells)}) keeps {under}. The nearest is {cell.title}, where "
            f"{name} recovers {figure.value:.3f} (up to {figure.high:.3f}): try a smaller ε, or "
            "accept a larger share.",
            nearest=cell,
        )
    under = f"{len(safe)} of {len(cells)} settings keep {under}"
    useful = [each for each in safe if utility.is_clear(utility.of(each[0]))]
    cell, name, figure = max(
        useful or safe, key=lambda each: (utility.of(each[0]).value, -each[2].value)
    )
    if not useful:
        return answer(
            f"{under}, but in {utility.name}, none is clearly above {utility.floor.value:.3f}, "
            "which useless texts reach: no setting measured here is both private and useful. A "
            "larger sample may tell more.",
            nearest=cell,
        )
    value = utility.of(cell)
    why = (
        f"{under}. Of these, {cell.title} has the largest {utility.name}: {value:.3f}, where clean "
        f"texts reach {utility.ceiling.value:.3f} and useless ones {utility.floor.value:.3f}. The "
        f"strongest attack, {name}, recovers {figure.value:.3f} of the words ({figure.low:.3f} to "
        f"{figure.high:.3f}); {cell.kept.value:.3f} stay as they are."
    )
    as_good = [
        each
        for each in useful
        if each[2].value < figure.value and utility.of(each[0]).value >= value.low
    ]
    if not as_good:
        return answer(why, cell, nearest=cell)
    rival, name, least = min(as_good, key=lambda each: each[2].value)
    number = f"{len(as_good)} more private setting{' has' if len(as_good) == 1 else 's have'}"
    why += (
        f" {number} a value within that interval, so that this sample cannot tell them apart; the "
        f"most private is {rival.title}: {utility.of(rival).value:.3f}, where {name} recovers "
        f"{least.value:.3f}."
    )
    return answer(why, cell, nearest=cell, rival=rival)


_WORDS = "kept and similarity: 95 % over texts and their noise"
_RUNS = "accuracy: 95 % over noise draws and splits, corrected for the texts that splits share"
_ONE_RUN = "accuracy: 95 % over the test texts, for one noise draw and one split"
_MORE_RUNS = 200  # beyond that, runs gain next to nothing: the splits share their texts


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
    settings: Mapping[str, Any]
    texts: Mapping[str, int]
    """How many texts were given, sampled, trained on and attacked, and how many words they have."""
    classes: int
    """How many classes the labels have; 0 without labels."""
    runs: str
    """What the runs of a classifier differ in; empty without labels."""
    notes: tuple[str, ...] = ()
    earlier: int = field(default=0, compare=False)
    """How many cells are those of an earlier run."""

    @property
    def most(self) -> float:
        """The share of words that no attack may recover more of."""
        return float(self.settings["most"])

    @cached_property
    def utility(self) -> Utility:
        return utility_of(self.bounds)

    @cached_property
    def recommendation(self) -> Recommendation:
        return recommend(self.cells, self.bounds, self.most)

    @property
    def about_intervals(self) -> str:
        """What the intervals are over; attacks that share it are named together."""
        parts = [_WORDS]
        if self.classes:
            parts.append(_ONE_RUN if self.settings["runs"] == 1 else _RUNS)
        names: dict[str, list[str]] = {}
        for name, figure in self.cells[0].attacks.items():
            names.setdefault(figure.over, []).append(name)
        return "; ".join(
            [*parts, *(f"{', '.join(own)}: 95 % by {over}" for over, own in names.items())]
        )

    @cached_property
    def undecided(self) -> tuple[str, ...]:
        """What the sample leaves open, and how many runs or texts would decide it."""
        found, utility, lines = self.recommendation, self.utility, []
        if found.cell is not None and found.rival is not None:
            value, other = utility.of(found.cell), utility.of(found.rival)
            question = f"Whether {found.cell.title} is more useful than {found.rival.title}"
            lines.append(f"{question}: {self._enough(value.value - other.value, value)}.")
        elif found.cell is None and found.nearest is not None:
            value, attack = utility.of(found.nearest), found.nearest.strongest
            if attack is not None and attack[1].high <= self.most:
                gap = value.value - utility.floor.value
                question = f"Whether {found.nearest.title} is more useful than useless texts"
                lines.append(f"{question}: {self._enough(gap, value, utility.floor)}.")
        for cell in self.cells:
            name, figure = cell.strongest or ("", cell.kept)
            if name and figure.value < self.most < figure.high:
                margin, gap = figure.high - figure.value, self.most - figure.value
                question = f"Whether {cell.title} keeps {name} at or under {self.most:g}"
                lines.append(f"{question}: {self._texts(margin, gap, 'attacked')} would decide it.")
        return tuple(lines)

    def _enough(self, gap: float, *figures: Estimate) -> str:
        """Say what would make the joint interval of figures narrower than a gap between them."""
        if gap <= 0.0:
            return "there is no difference to decide by"
        if not self.utility.model:
            margin = math.hypot(*(figure.value - figure.low for figure in figures))
            return f"{self._texts(margin, gap, 'sampled')} would decide it"
        spread, runs = math.hypot(*(figure.spread for figure in figures)), self.settings["runs"]
        if not spread:
            return "the runs do not differ, so take more texts, and 5 runs or more"
        from scipy.stats import t

        shared = TEST / (1.0 - TEST)
        numbers = np.arange(runs + 1, runs + _MORE_RUNS)
        margins = t.ppf(0.5 + LEVEL / 2.0, numbers - 1) * spread * np.sqrt(1.0 / numbers + shared)
        if (margins < gap).any():
            return f"about {numbers[margins < gap][0]} runs would decide it, if figures stay alike"
        return f"more runs would not decide it, {self._texts(margins[-1], gap, 'sampled')} might"

    def _texts(self, margin: float, gap: float, had: str) -> str:
        """Return how many texts would narrow a margin to a gap: it falls with their square root."""
        number = self.texts[had] * (margin / gap) ** 2
        digits = max(0, math.floor(math.log10(number)) - 1)
        return f"about {math.ceil(number / 10**digits) * 10**digits:,} texts"

    @cached_property
    def summary(self) -> str:
        """What the chosen setting, or the one nearest to the rule, keeps and gives away."""
        cell = self.recommendation.nearest or self.cells[-1]
        mechanism = f" ({cell.name})" if len({each.name for each in self.cells}) > 1 else ""
        useful, ceiling = self.utility.of(cell), self.utility.ceiling
        kept = (
            f"a classifier trained on {self.texts['trained']:,} private texts keeps {useful:.2f} "
            f"of {ceiling:.2f} accuracy"
            if self.utility.model
            else f"private texts keep a similarity of {useful:.2f} to the clean ones"
        )
        on_words = [name for name, figure in cell.attacks.items() if figure.recovers_words]
        told = "no attack on words was run"
        if on_words:
            strongest = max(on_words, key=lambda name: cell.attacks[name].value)
            named = ["context"] if "context" in on_words else []
            parts = []
            for name in dict.fromkeys((*named, strongest)):
                figure = cell.attacks[name]
                observer = getattr(attacks[name], "observer", "") or f"the attack {name}"
                low, high = 100 * figure.low, 100 * figure.high
                share = f"{100 * figure.value:.0f} % ({low:.0f} to {high:.0f})"
                parts.append(f"{observer} recovers {share} of words")
            told = ", and ".join(parts)
        return f"At ε = {cell.epsilon:g}{mechanism} {kept}; {told}."

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values for JSON; see docs/reference/figures.md."""
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
            "undecided": list(self.undecided),
            "summary": self.summary,
            "notes": list(self.notes),
        }

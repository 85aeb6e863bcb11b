"""The result of an evaluation."""

import contextlib
import hashlib
import json
import math
import os
import secrets
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from malaprop._version import __version__
from malaprop.measure.adversaries import InferredLabels, RecoveredWords
from malaprop.privacy.errors import OutputError
from malaprop.privacy.estimate import Estimate, spread_of
from malaprop.privacy.mechanism import Mechanism
from malaprop.private_files import create, open_ours, state_folder, subkey

# What was measured at one setting of a mechanism, and what bounds all settings.


NAIVE = "taking the output for the word"
"""What recovers the words that are kept."""
WORDS = "share of words"
"""The score of an attack on words."""
Accuracies = Mapping[str, Mapping[str, Estimate]]
"""Accuracies by model, and by what the model was tested on."""


@dataclass(frozen=True, kw_only=True)
class AttackFigure:
    """How far an attack got."""

    score: float
    """The share of words recovered, the accuracy of labels, or the area under the curve."""
    interval: tuple[float, float]
    """A 95 % interval of the score."""
    over: str
    """What the interval is over."""
    spread: float
    """The standard deviation between noise draws, each with a split of its own if there is one."""
    values: tuple[float, ...]
    """The score of each draw."""
    baseline: float
    """What an observer has without inference."""
    floor: float
    """What useless texts give away: the most frequent word, or the attack on random words."""
    unprotected: float
    """What texts give away as they are."""
    measured: str
    """What the score is: a share of words, accuracy, or the area under the curve."""
    recovers_words: bool
    """Whether the score is a share of words."""

    def to_dict(self) -> dict[str, Any]:
        """Return the figure as plain values for JSON."""
        return {**vars(self), "interval": list(self.interval), "values": list(self.values)}

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> "AttackFigure":
        """Return the figure that `to_dict` wrote."""
        lists = {"interval": _pair(value["interval"]), "values": tuple(value["values"])}
        return cls(**{**value, **lists})

    @classmethod
    def of(cls, result: RecoveredWords | InferredLabels) -> "AttackFigure":
        """Return the figure of an attack on words or on labels."""
        if isinstance(result, RecoveredWords):
            floor, unprotected, measured = result.floor, 1.0, WORDS
        else:
            floor, unprotected, measured = result.random_words, result.unprotected, result.measured
        return cls(
            score=result.score,
            interval=result.interval,
            over=result.spread,
            spread=spread_of(result.values),
            values=result.values,
            baseline=result.baseline,
            floor=floor,
            unprotected=unprotected,
            measured=measured,
            recovers_words=isinstance(result, RecoveredWords),
        )


@dataclass(frozen=True, kw_only=True)
class Cell:
    """What was measured with one mechanism at one ε."""

    mechanism: Mapping[str, Any]
    """The mechanism with its parameters."""
    kept: Estimate
    """The share of words that come out unchanged."""
    similarity: Estimate
    """The mean similarity of a word and what comes out for it."""
    text_similarity: Estimate
    """The mean similarity of a text and its private copy: the cosine of their centroids."""
    accuracy: Accuracies
    """How often a classifier is right that was trained on private texts; empty without labels."""
    attacks: Mapping[str, AttackFigure]
    """How far each attack got."""
    seconds: float
    """How long the measurement took."""

    @property
    def name(self) -> str:
        """The name of the mechanism."""
        return str(self.mechanism["name"])

    @property
    def epsilon(self) -> float:
        """The ε of the mechanism."""
        return float(self.mechanism["epsilon"])

    @property
    def title(self) -> str:
        """Mechanism and ε in a few words."""
        return f"{self.name} at ε = {self.epsilon:g}"

    @property
    def strongest(self) -> tuple[str, AttackFigure] | None:
        """The attack that recovers most words, counting its interval, if there is one on words.

        To take each output for the word is an attack, too: it recovers the words that are kept.
        """
        on_words = [pair for pair in self.attacks.items() if pair[1].recovers_words]
        if not on_words:
            return None
        kept = self.kept
        naive = AttackFigure(
            score=kept.value,
            interval=kept.interval,
            over="texts and their noise",
            spread=kept.spread,
            values=kept.values,
            baseline=kept.value,
            floor=0.0,
            unprotected=1.0,
            measured=WORDS,
            recovers_words=True,
        )
        return max((*on_words, (NAIVE, naive)), key=lambda pair: pair[1].interval[1])

    def to_dict(self) -> dict[str, Any]:
        """Return the cell as plain values for JSON."""
        return {
            "mechanism": self.name,
            "epsilon": self.epsilon,
            "parameters": {k: v for k, v in self.mechanism.items() if k not in ("name", "epsilon")},
            "kept": self.kept.to_dict(),
            "similarity": self.similarity.to_dict(),
            "text_similarity": self.text_similarity.to_dict(),
            "accuracy": accuracies_to_dict(self.accuracy),
            "attacks": {name: figure.to_dict() for name, figure in self.attacks.items()},
            "seconds": self.seconds,
        }

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> "Cell":
        """Return the cell that `to_dict` wrote."""
        named = {"name": value["mechanism"], "epsilon": value["epsilon"]}
        return cls(
            mechanism=named | value["parameters"],
            kept=Estimate.from_dict(value["kept"]),
            similarity=Estimate.from_dict(value["similarity"]),
            text_similarity=Estimate.from_dict(value["text_similarity"]),
            accuracy=_accuracies(value["accuracy"]),
            attacks={k: AttackFigure.from_dict(v) for k, v in value["attacks"].items()},
            seconds=value["seconds"],
        )


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
    random_words: Accuracies
    """The accuracies of models trained on random words."""
    unprotected: Mapping[str, Estimate]
    """The accuracies of models trained and tested on clean texts, by model."""

    def to_dict(self) -> dict[str, Any]:
        """Return the bounds as plain values for JSON: floors, and what is reached unprotected."""
        return {
            "floors": {
                "random_words": {
                    "kept": self.kept,
                    "similarity": self.similarity,
                    "text_similarity": self.text_similarity,
                    "accuracy": accuracies_to_dict(self.random_words),
                },
                "majority": None if self.majority is None else self.majority.to_dict(),
            },
            "unprotected": {"accuracy": {k: v.to_dict() for k, v in self.unprotected.items()}},
        }

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> "Bounds":
        """Return the bounds that `to_dict` wrote."""
        floors = value["floors"]
        random, majority = floors["random_words"], floors["majority"]
        return cls(
            kept=random["kept"],
            similarity=random["similarity"],
            text_similarity=random["text_similarity"],
            majority=None if majority is None else Estimate.from_dict(majority),
            random_words=_accuracies(random["accuracy"]),
            unprotected={
                k: Estimate.from_dict(v) for k, v in value["unprotected"]["accuracy"].items()
            },
        )


def accuracies_to_dict(accuracies: Accuracies) -> dict[str, Any]:
    """Return accuracies as plain values for JSON."""
    return {
        model: {tested: each.to_dict() for tested, each in of_model.items()}
        for model, of_model in accuracies.items()
    }


def _accuracies(value: Mapping[str, Any]) -> dict[str, dict[str, Estimate]]:
    return {
        model: {tested: Estimate.from_dict(each) for tested, each in of_model.items()}
        for model, of_model in value.items()
    }


def _pair(interval: Any) -> tuple[float, float]:
    low, high = interval
    return float(low), float(high)


# Which setting to choose, by a rule that is stated beforehand.
#
# Of the settings at which no attack on words recovers more than `most`, counting the upper end of
# its interval, choose the one with the largest utility. It must be above what random words reach,
# by more than the intervals of both leave open. Utility is the accuracy on clean texts of the model
# that is best without protection; without labels, the similarity of texts.


RULE = (
    "the largest utility among the settings at which every attack on words recovers at most "
    "{most:g} of the words (upper end of its interval), if it is above that of random words"
)


@dataclass(frozen=True, kw_only=True)
class Utility:
    """What counts as useful, with its bounds."""

    name: str
    """What it is, in a few words."""
    model: str
    """The model whose accuracy it is; empty for the similarity of texts."""
    floor: float
    """What random words reach; with a classifier, or the most frequent class if that is more."""
    ceiling: float
    """What clean texts reach."""
    above_floor: float = 0.0
    """From the floor to the upper end of its interval."""

    def is_clear(self, value: Estimate) -> bool:
        """Whether a utility is above the floor, counting the intervals of both."""
        noise = math.hypot(value.value - value.interval[0], self.above_floor)
        return value.value - self.floor > noise

    def of(self, cell: Cell) -> Estimate:
        """Return the utility of a cell."""
        return cell.accuracy[self.model]["clean"] if self.model else cell.text_similarity


@dataclass(frozen=True, kw_only=True)
class Recommendation:
    """The setting to choose, or None, and why."""

    cell: Cell | None
    reason: str
    rule: str
    utility: str
    most: float

    def to_dict(self) -> dict[str, Any]:
        """Return the recommendation as plain values for JSON."""
        return {
            "mechanism": None if self.cell is None else self.cell.name,
            "epsilon": None if self.cell is None else self.cell.epsilon,
            "reason": self.reason,
            "rule": self.rule,
            "utility": self.utility,
            "most": self.most,
        }


def utility_of(bounds: Bounds) -> Utility:
    """Return what counts as useful: an accuracy with labels, a similarity without."""
    if not bounds.unprotected:
        return Utility(
            name="similarity of texts", model="", floor=bounds.text_similarity, ceiling=1.0
        )
    model = max(bounds.unprotected, key=lambda name: bounds.unprotected[name].value)
    floors = [bounds.random_words[model]["clean"]]
    if bounds.majority is not None:
        floors.append(bounds.majority)
    floor = max(floors, key=lambda each: each.value)
    return Utility(
        name=f"accuracy on clean texts, by {model}",
        model=model,
        floor=floor.value,
        ceiling=bounds.unprotected[model].value,
        above_floor=floor.interval[1] - floor.value,
    )


def recommend(cells: Sequence[Cell], bounds: Bounds, most: float) -> Recommendation:
    """Return the setting that the rule chooses."""
    utility = utility_of(bounds)

    def answer(cell: Cell | None, reason: str) -> Recommendation:
        return Recommendation(
            cell=cell,
            reason=reason,
            rule=RULE.format(most=most),
            utility=utility.name,
            most=most,
        )

    attacked = [(cell, cell.strongest) for cell in cells]
    measured = [(cell, pair[0], pair[1]) for cell, pair in attacked if pair is not None]
    if not measured:
        return answer(None, "No attack on words was run, so nothing speaks for any setting.")
    safe = [each for each in measured if each[2].interval[1] <= most]
    if not safe:
        cell, name, figure = min(measured, key=lambda each: each[2].interval[1])
        return answer(None, _none_is_safe(cell, name, figure, len(cells), most))
    useful = [each for each in safe if utility.is_clear(utility.of(each[0]))]
    if not useful:
        return answer(None, _none_is_useful(len(safe), len(cells), utility, most))
    cell, name, figure = max(useful, key=lambda each: (utility.of(each[0]).value, -each[2].score))
    why = _why(cell, name, figure, len(safe), len(cells), utility, most)
    return answer(cell, why + _as_good(cell, figure, useful, utility))


def _why(
    cell: Cell,
    name: str,
    figure: AttackFigure,
    safe: int,
    all_: int,
    utility: Utility,
    most: float,
) -> str:
    value = utility.of(cell)
    low, high = value.interval
    return (
        f"{safe} of {all_} settings keep every attack on words at or under {most:g}. Of these, "
        f"{cell.title} has the largest {utility.name}: {value.value:.3f} ({low:.3f} to "
        f"{high:.3f}), where clean texts reach {utility.ceiling:.3f} and useless ones "
        f"{utility.floor:.3f}. The strongest attack, {name}, recovers {figure.score:.3f} of the "
        f"words ({figure.interval[0]:.3f} to {figure.interval[1]:.3f}); {cell.kept.value:.3f} "
        "stay as they are."
    )


def _as_good(
    chosen: Cell,
    figure: AttackFigure,
    useful: Sequence[tuple[Cell, str, AttackFigure]],
    utility: Utility,
) -> str:
    """Say which more private setting the sample cannot tell from the chosen one."""
    low = utility.of(chosen).interval[0]
    others = [
        each for each in useful if each[2].score < figure.score and utility.of(each[0]).value >= low
    ]
    if not others:
        return ""
    cell, name, least = min(others, key=lambda each: each[2].score)
    number = f"{len(others)} more private setting{' has' if len(others) == 1 else 's have'}"
    return (
        f" {number} a value within that interval, so that this sample cannot tell them apart; the "
        f"most private is {cell.title}: {utility.of(cell).value:.3f}, where {name} recovers "
        f"{least.score:.3f}."
    )


def _none_is_safe(cell: Cell, name: str, figure: AttackFigure, all_: int, most: float) -> str:
    return (
        f"No setting (of {all_}) keeps every attack on words at or under {most:g}. The nearest is "
        f"{cell.title}, where {name} recovers {figure.score:.3f} (up to "
        f"{figure.interval[1]:.3f}): try a smaller ε, or accept a larger share."
    )


def _none_is_useful(safe: int, all_: int, utility: Utility, most: float) -> str:
    return (
        f"{safe} of {all_} settings keep every attack on words at or under {most:g}, but in "
        f"{utility.name}, none is clearly above {utility.floor:.3f}, which useless texts reach: "
        "no setting measured here is both private and useful. A larger sample may tell more."
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


# Cells of an earlier run, kept in the user's state folder, so that none is measured twice.
#
# The file holds figures and numbers only, no text and no label. Its name is a keyed digest of the
# texts and of all settings but the mechanisms: only its owner can tell what it belongs to. One file
# serves runs with other mechanisms and other ε.


_LARGEST = 1 << 26  # bytes


class Digest:
    """A keyed digest of the settings, and of texts and labels as they are read."""

    def __init__(self, settings: Mapping[str, Any], *, labelled: bool) -> None:
        head = json.dumps([__version__, settings, labelled], sort_keys=True)
        self._digest = hashlib.blake2b(key=subkey("evaluate"), digest_size=16)
        self._labelled = labelled
        self._update(head)
        self.seed = int.from_bytes(self._digest.digest()[:7])
        """A number that the settings and the owner's key decide."""

    def add(self, text: str, label: object) -> None:
        """Add a text and its label."""
        self._update(text)
        if self._labelled:
            self._update(str(label))

    def name(self) -> str:
        """Return the digest of all that was added."""
        return self._digest.hexdigest()

    def _update(self, part: str) -> None:
        data = part.encode("utf-8", "surrogatepass")
        self._digest.update(f"{len(data)}:".encode())
        self._digest.update(data)


class CellCache:
    """What was measured before on the same texts with the same settings.

    With no `digest`, nothing is kept beyond the run. Runs at the same time keep the cells of each
    other.
    """

    def __init__(self, digest: str | None, *, fresh: bool = False) -> None:
        self._path = None if digest is None else state_folder() / "evaluations" / f"{digest}.json"
        self.bounds: Bounds | None = None
        self._cells: dict[str, Cell] = {}
        if self._path is not None and not fresh:
            self.bounds, self._cells = _read(self._path)

    def get(self, mechanism: Mechanism) -> Cell | None:
        """Return what was measured with a mechanism, if it was."""
        return self._cells.get(_key(mechanism.to_dict()))

    def keep_bounds(self, bounds: Bounds) -> None:
        """Keep the bounds."""
        self.bounds = bounds
        self._write()

    def keep(self, cell: Cell) -> None:
        """Keep a cell."""
        self._cells[_key(cell.mechanism)] = cell
        self._write()

    def _write(self) -> None:
        """Add what was measured to what is kept, in one step: a stop leaves a whole file."""
        if self._path is None:
            return
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _locked(self._path.parent.with_suffix(".lock")):
            bounds, cells = _read(self._path)  # another run may have added to it
            bounds, cells = self.bounds or bounds, cells | self._cells
            value = {
                "bounds": None if bounds is None else bounds.to_dict(),
                "cells": [cell.to_dict() for cell in cells.values()],
            }
            new = self._path.with_name(f".{self._path.name}-{secrets.token_hex(8)}")
            try:
                with os.fdopen(create(new), "wb") as file:
                    file.write(json.dumps(value, allow_nan=False).encode())
                os.replace(new, self._path)
            finally:
                new.unlink(missing_ok=True)


def _read(path: Path) -> tuple[Bounds | None, dict[str, Cell]]:
    """Return what an earlier run has kept; a file that is damaged counts as none."""
    try:
        with os.fdopen(open_ours(path), "rb") as file:
            value = json.loads(file.read(_LARGEST))
        cells = [Cell.from_dict(each) for each in value["cells"]]
        bounds = None if value["bounds"] is None else Bounds.from_dict(value["bounds"])
    except (FileNotFoundError, OutputError, ValueError, KeyError, TypeError, AttributeError):
        return None, {}
    return bounds, {_key(cell.mechanism): cell for cell in cells}


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Wait until no other run writes; on Windows, the later of two runs wins."""
    if sys.platform == "win32":
        yield
        return
    import fcntl

    try:
        descriptor = create(path)
    except FileExistsError:
        descriptor = open_ours(path, os.O_RDWR)
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _key(mechanism: Mapping[str, Any]) -> str:
    return json.dumps(mechanism, sort_keys=True, default=str)

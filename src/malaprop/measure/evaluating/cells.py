"""What was measured at one setting of a mechanism, and what bounds all settings."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from malaprop.measure.attacking.result import InferredLabels, RecoveredWords
from malaprop.measure.tasks.result import Estimate, spread_of

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
            kept=_estimate(value["kept"]),
            similarity=_estimate(value["similarity"]),
            text_similarity=_estimate(value["text_similarity"]),
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
            majority=None if majority is None else _estimate(majority),
            random_words=_accuracies(random["accuracy"]),
            unprotected={k: _estimate(v) for k, v in value["unprotected"]["accuracy"].items()},
        )


def accuracies_to_dict(accuracies: Accuracies) -> dict[str, Any]:
    """Return accuracies as plain values for JSON."""
    return {
        model: {tested: each.to_dict() for tested, each in of_model.items()}
        for model, of_model in accuracies.items()
    }


def _accuracies(value: Mapping[str, Any]) -> dict[str, dict[str, Estimate]]:
    return {
        model: {tested: _estimate(each) for tested, each in of_model.items()}
        for model, of_model in value.items()
    }


def _estimate(value: Mapping[str, Any]) -> Estimate:
    return Estimate(
        value=value["value"],
        spread=value["spread"],
        interval=_pair(value["interval"]),
        values=tuple(value["values"]),
    )


def _pair(interval: Any) -> tuple[float, float]:
    low, high = interval
    return float(low), float(high)

"""What to measure, at which settings of which mechanisms."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

from malaprop.core.errors import ParameterError
from malaprop.core.mechanism import Mechanism
from malaprop.lexicon.bigrams import BigramModel
from malaprop.lexicon.lexicon import Lexicon
from malaprop.measure.adversaries import attacks as registered
from malaprop.measure.attacking.base import attack_named
from malaprop.measure.attacking.models import model_for
from malaprop.measure.tasks.classification import RUNS
from malaprop.measure.tasks.models import models as text_models
from malaprop.pipeline.choosing import mechanism_of_name
from malaprop.text import Policy

SAMPLE = 2_000
"""How many texts to measure on, at most."""
ATTACKED = 50_000
"""How many words to attack, at most."""
MOST = 0.5
"""The share of words that an attack may recover, by default."""
WORD_ATTACKS = ("bayes", "context", "majority", "frequency")
"""The attacks that are run by default, if they apply."""


@dataclass(frozen=True, kw_only=True)
class EvaluationSettings:
    """What to measure besides the mechanisms."""

    sample: int = SAMPLE
    """How many texts to draw from those given."""
    attacked: int = ATTACKED
    """Attacks stop with the text that reaches this number of words."""
    runs: int = RUNS
    """How many noise draws, each with a split of its own."""
    attacks: tuple[str, ...] | None = None
    """Names of attacks; None for those on words that apply."""
    models: tuple[str, ...] = ("centroids", "ngrams")
    """Names of classifiers."""
    most: float = MOST
    """The share of words that no attack may recover more of."""
    model: Any = None
    """A bigram model for the attacks, or its folder; None for the one that ships."""
    adaptive: bool = False
    """Whether attackers learn from private text, too."""

    def __post_init__(self) -> None:
        for name in ("sample", "attacked", "runs"):
            value = getattr(self, name)
            if not isinstance(value, int) or value < 1:
                raise ParameterError(f"`{name}` must be a whole number, 1 or more.")
        if not isinstance(self.adaptive, bool):
            raise ParameterError("`adaptive` must be True or False.")
        if not isinstance(self.most, Real) or not 0.0 < self.most <= 1.0:
            raise ParameterError("`most` must be a share of words: above 0, and up to 1.")
        for name in self.attacks or ():
            if getattr(attack_named(name), "on", "words") not in ("words", "labels"):
                raise ParameterError(f"The attack {name} is not on texts: leave it out.")
        if unknown := [name for name in self.models if name not in text_models]:
            raise ParameterError(
                f"Unknown model {unknown[0]!r}. There are: {', '.join(text_models)}."
            )

    def check(self, policy: Policy, *, labelled: bool) -> None:
        """Refuse attacks that do not fit the texts, before any work."""
        _check_reuse(self.attacks or (), policy)
        on_labels = [name for name in self.attacks or () if not recovers_words(name)]
        if on_labels and not labelled:
            raise ParameterError(f"The attack {on_labels[0]} is on labels: give `labels`.")

    def bound(self, lexicon: Lexicon, policy: Policy) -> "tuple[EvaluationSettings, list[str]]":
        """Return the settings with attacks and model chosen, and notes on what does not apply."""
        needed = any(getattr(registered[name], "needs_model", False) for name in self.attacks or ())
        model = model_for(self.model, lexicon, needed=needed)
        if self.attacks is not None:
            return replace(self, model=model), []
        chosen = tuple(name for name in WORD_ATTACKS if _applies(name, model, policy))
        notes = []
        if "context" not in chosen:
            notes.append(
                "The context attack was not run, as there is no bigram model of this lexicon: "
                "train one with  malaprop lm train. Context raises what an observer learns"
            )
        return replace(self, attacks=chosen, model=model), notes

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as plain values for JSON."""
        model = self.model.fingerprint if isinstance(self.model, BigramModel) else ""
        return {
            **vars(self),
            "attacks": list(self.attacks or ()),
            "models": list(self.models),
            "model": model,
        }


def recovers_words(attack: str) -> bool:
    """Return whether the score of an attack is a share of words."""
    return getattr(registered[attack], "on", "words") == "words"


def _check_reuse(attacks: Sequence[str], policy: Policy) -> None:
    for name in attacks:
        if getattr(registered[name], "needs_reuse", False) and policy.repeat == "fresh":
            raise ParameterError(
                f"The attack {name} is on texts in which each distinct word has one draw: use "
                '`repeat="document"`.'
            )


def _applies(name: str, model: BigramModel | None, policy: Policy) -> bool:
    cls = registered[name]
    if getattr(cls, "needs_reuse", False) and policy.repeat == "fresh":
        return False
    return model is not None or not getattr(cls, "needs_model", False)


def mechanisms_at(
    chosen: Sequence[Mechanism | str], epsilons: Sequence[float]
) -> tuple[Mechanism, ...]:
    """Return a mechanism for each name and each ε; mechanisms that are given as values stay.

    A name may state its own ε: `tem:4`.

    >>> [each.epsilon for each in mechanisms_at(["tem", "tem:4"], [1.0, 2.0])]
    [1.0, 2.0, 4.0]
    """
    made: list[Mechanism] = []
    for each in chosen:
        if isinstance(each, Mechanism):
            made.append(each)
            continue
        name, colon, epsilon = str(each).partition(":")
        cls = mechanism_of_name(name)
        own = [number(epsilon)] if colon else list(epsilons)
        if not own:
            raise ParameterError(
                f"The mechanism {name} needs an ε: name some in `epsilons`, or write {name}:1.5."
            )
        made += [cls(epsilon=value) for value in own]
    if not made:
        raise ParameterError("There is no mechanism to evaluate: name one in `mechanisms`.")
    if len(set(map(repr, made))) < len(made):
        raise ParameterError("A mechanism is named twice with the same parameters.")
    return tuple(made)


def number(text: str) -> float:
    """Return an ε that was written as text."""
    try:
        return float(text)
    except ValueError:
        raise ParameterError(f"ε must be a number. Got {text!r}.") from None

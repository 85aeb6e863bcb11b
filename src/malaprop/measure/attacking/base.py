"""Attacks, and what an observer is given to work with.

An attack in `malaprop.measure.adversaries` registers itself by being defined with a name. It then
appears in `malaprop.measure.attacks` and on the command line.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields, replace
from itertools import pairwise
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from malaprop.core.arrays import Floats, Ids
from malaprop.core.errors import ParameterError
from malaprop.core.parameters import require_whole
from malaprop.core.progress import Progress
from malaprop.core.suggest import did_you_mean
from malaprop.lexicon.bigrams import BigramModel
from malaprop.measure.attacking.likelihoods import Likelihoods

_registry: "dict[str, type[Attack]]" = {}

attacks: "Mapping[str, type[Attack]]" = MappingProxyType(_registry)
"""All attacks, by name."""

CANDIDATES = 32
"""How many words are considered for each output."""
DRAWS = 50_000
"""How many words are drawn to estimate a channel whose law is not known."""
_PART = 1 << 16  # words of texts at a time, about


@dataclass(frozen=True, kw_only=True, eq=False)
class Seen:
    """What an observer sees and knows: private words, the channel, public models.

    The secret words are not in it.
    """

    outputs: Ids = field(repr=False)
    """The private words, text by text."""
    lengths: Ids = field(repr=False)
    """How many words each text has."""
    same: Ids = field(repr=False)
    """A label of each place: places of one text that hold the same secret word share one.

    An observer may know which places those are, in a form with fixed fields for example. Only
    attacks that say so use it.
    """
    reused: bool
    """Whether a text has one draw for each distinct word, not a fresh one for each place."""
    likelihoods: Likelihoods = field(repr=False)
    """How likely each output is for each word."""
    prior: Floats = field(repr=False)
    """How likely each word is, without context."""
    model: BigramModel | None = None
    """Which words follow which, in public text."""

    @property
    def texts(self) -> Ids:
        """The number of the text that each word is in."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    def parts(self) -> "list[Seen]":
        """Return the texts some at a time, so that memory does not grow with their number."""
        ends = np.cumsum(self.lengths)
        cuts = np.flatnonzero(np.diff(ends // _PART, prepend=0))
        parts = []
        for first, last in pairwise([0, *cuts.tolist(), len(ends)]):
            if last > first:
                start = int(ends[first] - self.lengths[first])
                words = slice(start, int(ends[last - 1]))
                parts.append(
                    replace(
                        self,
                        outputs=self.outputs[words],
                        lengths=self.lengths[first:last],
                        same=self.same[words],
                    )
                )
        return parts


@dataclass(frozen=True, kw_only=True)
class Attack(ABC):
    """An attempt to recover words from private text; its fields are its options."""

    model: Any = field(
        default=None,
        metadata={
            "help": "a bigram model of public text, or its folder; by default the one that ships "
            "for english"
        },
    )
    draws: int = field(
        default=DRAWS,
        metadata={"help": "how many words to draw to estimate a channel without a known law"},
    )

    name: ClassVar[str] = ""
    """The name in the registry and on the command line."""
    needs_model: ClassVar[bool] = False
    """Whether the attack cannot do without a model."""
    needs_reuse: ClassVar[bool] = False
    """Whether the attack is on one draw for each distinct word of a text."""

    def __init_subclass__(cls, *, name: str = "", **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.name = name
        if name:
            _registry[name] = cls

    def __post_init__(self) -> None:
        for option in fields(self):
            if option.type is int:
                require_whole(self, option.name, 1)

    @abstractmethod
    def guesses(self, seen: Seen, progress: Progress | None = None) -> Ids:
        """Return the observer's guess for each private word."""

    @classmethod
    def options(cls) -> tuple[Field[Any], ...]:
        """The attack's options, with their help in `metadata`."""
        return fields(cls)

    @classmethod
    def summary(cls) -> str:
        """What the attack does, in one sentence."""
        return (cls.__doc__ or "").strip().split("\n")[0]


def attack_named(name: str) -> type[Attack]:
    """Return the attack of that name; otherwise raise an error that suggests one."""
    found = attacks.get(name)
    if found is None:
        hint = did_you_mean(name, attacks, cutoff=0.4)
        raise ParameterError(
            f"Unknown attack {name!r}.{hint} There are: {', '.join(sorted(attacks))}."
        )
    return found


def attack_with(name: str, options: Mapping[str, Any]) -> Attack:
    """Return the attack of that name with its options; refuse options that it does not have."""
    cls = attack_named(name)
    known = [option.name for option in cls.options()]
    for option in options:
        if option not in known:
            hint = did_you_mean(option, known)
            raise ParameterError(
                f"The attack {name} has no option {option!r}.{hint} It has: {', '.join(known)}."
            )
    return cls(**options)

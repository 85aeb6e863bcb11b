"""Attacks and their registry.

An attack in `malaprop.measure.adversaries` registers itself by being defined with a name. It then
appears in `malaprop.measure.attacks` and on the command line. There are three kinds: `WordAttack`
recovers words, `LabelAttack` infers labels of texts, `VectorAttack` recovers words from vectors.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from types import MappingProxyType
from typing import Any, ClassVar

from numpy.random import Generator

from malaprop.core.errors import ParameterError
from malaprop.core.mechanism import Mechanism
from malaprop.core.parameters import require_choice, require_whole
from malaprop.core.progress import Progress
from malaprop.core.suggest import did_you_mean
from malaprop.measure.attacking.result import AttackResult
from malaprop.pipeline.privatizer import Privatizer

_registry: "dict[str, type[Attack]]" = {}

attacks: "Mapping[str, type[Attack]]" = MappingProxyType(_registry)
"""All attacks, by name."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Target:
    """What is attacked: texts, with what they go through."""

    privatizer: Privatizer
    texts: Sequence[Any] = field(repr=False)
    labels: Sequence[object] | None = field(repr=False)
    """A label for each text, for attacks on labels."""
    rng: Generator
    """Splits and resamples; private words come from the privatizer's own generator."""
    progress: Progress | None = None


@dataclass(frozen=True, kw_only=True)
class Attack(ABC):
    """An attack on private texts or vectors; its fields are its options."""

    name: ClassVar[str] = ""
    """The name in the registry and on the command line."""
    on: ClassVar[str] = "words"
    """What the attack recovers: words, labels or vectors."""

    def __init_subclass__(cls, *, name: str = "", **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.name = name
        if name:
            _registry[name] = cls

    def __post_init__(self) -> None:
        for option in fields(self):
            if option.type is int:
                require_whole(self, option.name, 1)
            if option.type is bool:
                require_choice(self, option.name, (True, False))

    def check(self, mechanism: Mechanism, repeat: str) -> None:  # noqa: B027  most take all
        """Refuse a mechanism, or a treatment of repeated words, that the attack has no use for."""

    @abstractmethod
    def run(self, target: Target) -> AttackResult:
        """Privatize the texts, attack what comes out, and return how far the attack got."""

    def values(self) -> dict[str, Any]:
        """Return the options with their values, for the result."""
        return {option.name: getattr(self, option.name) for option in fields(self)}

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
    attack = attacks.get(name)
    if attack is None:
        hint = did_you_mean(name, attacks, cutoff=0.4)
        raise ParameterError(
            f"Unknown attack {name!r}.{hint} There are: {', '.join(sorted(attacks))}."
        )
    return attack


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

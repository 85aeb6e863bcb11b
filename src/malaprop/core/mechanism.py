"""Mechanisms: frozen sets of parameters, valid from birth, without data or randomness.

A mechanism in `malaprop.mechanisms` registers itself by being defined with a name. It then appears
in the command line, the documentation and the contract tests.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, fields
from functools import wraps
from numbers import Real
from types import MappingProxyType
from typing import Any, ClassVar

from malaprop.core.channel import Channel
from malaprop.core.errors import ParameterError
from malaprop.core.parameters import COMPUTABLE, is_computable
from malaprop.core.space import MetricSpace, checked_space
from malaprop.core.suggest import did_you_mean

_registry: "dict[str, type[Mechanism]]" = {}

registry: "Mapping[str, type[Mechanism]]" = MappingProxyType(_registry)
"""All named mechanisms, by name."""


@dataclass(frozen=True, kw_only=True)
class Mechanism(ABC):
    """A way to replace words; `on(lexicon)` makes it a channel.

    A subclass is a frozen, keyword-only dataclass, each field with a `help` in its metadata.
    """

    epsilon: float = field(metadata={"help": "ε, the privacy loss per unit of distance"})

    name: ClassVar[str] = ""
    """The name in the registry and on the command line."""
    promise: ClassVar[str] = ""
    """The guarantee in a few words, for tables."""
    needs: ClassVar[str] = ""
    """The metric that a lexicon must have; empty if several will do."""

    def __init_subclass__(cls, *, name: str = "", **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.name = name
        if "on" in vars(cls):
            cls.on = _checking(cls.on)  # type: ignore[assignment, method-assign]
        if name:
            _registry[name] = cls

    def __post_init__(self) -> None:
        self._require("epsilon", "a finite number above 0", lambda x: 0 < x < math.inf)
        self._require("epsilon", COMPUTABLE, is_computable)

    @abstractmethod
    def on(self, lexicon: MetricSpace) -> Channel:
        """Bind the mechanism to a lexicon."""

    @classmethod
    def parameters(cls) -> tuple[Field[Any], ...]:
        """Return the mechanism's parameters, with their help in `metadata`."""
        return fields(cls)

    @classmethod
    def summary(cls) -> str:
        """Say what the mechanism does, in one sentence."""
        return (cls.__doc__ or "").strip().split("\n")[0]

    def to_dict(self) -> dict[str, object]:
        """Return name and parameters as values that JSON can hold."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return {"name": self.name or type(self).__name__, **{k: _plain(values[k]) for k in values}}

    def _require(self, parameter: str, constraint: str, holds: Callable[[float], bool]) -> None:
        """Check that a parameter is a number that satisfies a constraint, and make it a float."""
        value: Any = getattr(self, parameter)
        good = isinstance(value, Real) and not isinstance(value, bool) and holds(float(value))
        if not good:
            shown = repr(value) if isinstance(value, Real | str) else type(value).__name__
            raise ParameterError(
                f"The '{parameter}' parameter of {type(self).__name__} must be {constraint}. "
                f"Got {shown}."
            )
        object.__setattr__(self, parameter, float(value))


def _checking(bind: Callable[[Any, MetricSpace], Channel]) -> Callable[[Any, MetricSpace], Channel]:
    """Make `on` refuse anything but a lexicon, for every mechanism."""

    @wraps(bind)
    def on(self: Mechanism, lexicon: MetricSpace) -> Channel:
        return bind(self, checked_space(lexicon, f"{type(self).__name__}.on"))

    return on


def _plain(value: object) -> object:
    """Convert a parameter's value to one that JSON can hold: no infinity, no objects."""
    if isinstance(value, float) and math.isinf(value):
        return str(value)
    return value if isinstance(value, str | int | float | None) else repr(value)


def mechanism_named(name: str) -> type[Mechanism]:
    """Return the mechanism of that name; otherwise raise an error that suggests one."""
    mechanism = registry.get(name.lower())
    if mechanism is None:
        hint = did_you_mean(name.lower(), registry, cutoff=0.4)
        raise ParameterError(
            f"Unknown mechanism {name!r}.{hint} There are: {', '.join(sorted(registry))}."
        )
    return mechanism

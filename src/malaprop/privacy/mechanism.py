"""Mechanisms: frozen sets of parameters, valid from birth, without data or randomness.

A mechanism in `malaprop.mechanisms` registers itself by being defined with a name. It then appears
in the command line, the documentation and the contract tests.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, fields, replace
from functools import wraps
from types import MappingProxyType
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.random import Generator

from malaprop.privacy import notebook
from malaprop.privacy.arrays import Floats, checked_vectors
from malaprop.privacy.channel import Channel
from malaprop.privacy.errors import COMPUTABLE, ParameterError, checked_number, is_computable
from malaprop.privacy.guarantee import Guarantee, Kind, proof_of
from malaprop.privacy.metrics import MetricSpace, checked_space
from malaprop.privacy.noise import Noise
from malaprop.privacy.randomness import begin_call, secure_rng

_registry: "dict[str, type[Mechanism]]" = {}

registry: "Mapping[str, type[Mechanism]]" = MappingProxyType(_registry)
"""All named mechanisms, by name."""


def option(default: Any, text: str) -> Any:
    """Return a field of a mechanism, an attack or a task, with its help."""
    return field(default=default, metadata={"help": text})


@dataclass(frozen=True, kw_only=True)
class Mechanism(ABC):
    """A way to replace words; `on(lexicon)` makes it a channel.

    A subclass is a frozen, keyword-only dataclass, each field an `option` with its help.
    """

    epsilon: float = field(metadata={"help": "ε, the privacy loss per unit of distance"})

    name: ClassVar[str] = ""
    """The name in the registry and on the command line."""
    promise: ClassVar[str] = ""
    """The guarantee in a few words, for tables."""
    choose_for: ClassVar[str] = ""
    """What to choose the mechanism for; empty for those that serve research alone."""
    needs: ClassVar[str] = ""
    """The metric that a lexicon must have; empty if several will do."""
    source: ClassVar[str] = ""
    """What tells apart versions of a mechanism that does not ship: a digest of its file."""

    def __init_subclass__(cls, *, name: str = "", **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.name = name
        if "on" in vars(cls):
            bind = cls.on

            @wraps(bind)
            def on(self: Mechanism, lexicon: MetricSpace) -> Channel:
                return bind(self, checked_space(lexicon, f"{type(self).__name__}.on"))

            cls.on = on  # type: ignore[method-assign]
        if not name:
            return
        if name in _registry and _registry[name].__module__ != cls.__module__:
            raise ParameterError(f"There is a mechanism {name!r} already: choose another name.")
        _registry[name] = cls

    def __post_init__(self) -> None:
        self._require("epsilon", "a finite number above 0", lambda x: 0 < x < math.inf)
        self._require("epsilon", COMPUTABLE, is_computable)

    @abstractmethod
    def on(self, lexicon: MetricSpace) -> Channel:
        """Bind the mechanism to a lexicon."""

    def _promise(
        self, proved: object, metric: str, kind: Kind = Kind.METRIC, **more: Any
    ) -> Guarantee:
        """Promise ε, by the proof of the noise, the law or the neighbourhoods."""
        proof = proof_of(proved)
        return Guarantee(kind=kind, epsilon=self.epsilon, metric=metric, proof=proof, **more)

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
        plain: dict[str, object] = {"name": self.name or type(self).__name__}
        if self.source:
            plain["source"] = self.source
        for parameter in fields(self):  # no infinity, no objects
            value = getattr(self, parameter.name)
            endless = isinstance(value, float) and math.isinf(value)
            known = isinstance(value, str | int | float | None)
            plain[parameter.name] = str(value) if endless else value if known else repr(value)
        return plain

    def title(self, chosen: Mapping[str, object]) -> str:
        """Return the name, with the parameters that are not the usual ones, or were `chosen`.

        >>> from malaprop import TEM
        >>> TEM(epsilon=2.0).title({}), TEM(epsilon=2.0, exponent="half").title({})
        ('tem', 'tem, exponent=half')
        """
        own = {
            each.name: getattr(self, each.name)
            for each in fields(self)
            if each.name != "epsilon" and getattr(self, each.name) != each.default
        }
        told = [f"{name}={value}" for name, value in {**own, **chosen}.items()]
        return ", ".join([self.name or type(self).__name__, *told])

    def _require(self, parameter: str, constraint: str, holds: Callable[[float], bool]) -> None:
        """Check that a parameter is a number that satisfies a constraint, and make it a float."""
        what = f"'{parameter}' parameter of {type(self).__name__}"
        number = checked_number(getattr(self, parameter), what, constraint, holds)
        object.__setattr__(self, parameter, number)


# A mechanism bound to vectors that need not be words: of sentences, documents, images.
#
# The guarantee is between any two vectors of the space. So nothing may be learnt from the vectors
# themselves: what a mechanism needs to know about their cloud comes from public ones.

_PUBLIC_OF_VECTORS = (
    "the mechanism and its parameters",
    "how many vectors there are, and in which order",
    "that no entry is too large for the grid",
)


@dataclass(frozen=True, kw_only=True, eq=False)
class FreeVectors:
    """A mechanism bound to vectors of so many columns, without a lexicon.

    >>> from malaprop import Laplace, seeded_rng
    >>> free = Laplace(epsilon=200.0).for_vectors(3)
    >>> free.release([[0.0, 1.0, 2.0]], seeded_rng(1)).shape
    (1, 3)
    >>> free.guarantee.loss(0.5)
    100.0
    """

    columns: int
    noise: Noise
    guarantee: Guarantee

    @property
    def onto(self) -> int:
        """How many columns released vectors have."""
        return int(self.noise.places(np.zeros((1, self.columns))).shape[1])

    @property
    def noise_length(self) -> float | None:
        """The root mean square length of the noise; None where the noise has no such length."""
        return self.noise.length(self.columns)

    def places(self, public: Any) -> Floats:
        """Return where the noise of public vectors is centred: themselves, or projected."""
        return self.noise.places(checked_vectors(public, self.columns))

    def release(self, vectors: Any, rng: Generator | None = None) -> Floats:
        """Return a private vector for each row of `vectors`, each with noise of its own.

        The noise is cryptographic unless a generator is given.
        """
        array = checked_vectors(vectors, self.columns)
        return self.noise.release(array, begin_call(secure_rng() if rng is None else rng))

    def _repr_html_(self) -> str:
        rows = [
            ("guarantee", str(self.guarantee)),
            ("taken to be public", "; ".join(self.guarantee.public)),
            ("arithmetic", self.guarantee.numerics),
        ]
        title = f"{type(self.noise).__name__} on vectors of {self.columns} columns"
        return notebook.paragraph(title, bold=True) + notebook.facts(rows)


@runtime_checkable
class TakesVectors(Protocol):
    """A mechanism that can be bound to vectors without a lexicon."""

    epsilon: float

    def for_vectors(self, columns: int, public: Any = None) -> FreeVectors:
        """Bind the mechanism to vectors of so many columns."""


def bound_to_vectors(
    columns: int, noise: Noise, guarantee: Guarantee, *, public: tuple[str, ...] = ()
) -> FreeVectors:
    """Return noise as a binding to any vectors; `public` is what else is taken to be public."""
    promise = replace(
        guarantee,
        pairs="any two vectors, whatever they stand for",
        public=(*_PUBLIC_OF_VECTORS, *public),
        numerics=noise.limits(columns),
    )
    return FreeVectors(columns=columns, noise=noise, guarantee=promise)

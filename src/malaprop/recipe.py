"""Which lexicon and mechanism a privatizer has: given as values, or by name.

A privatizer is pickled as the recipe that it is made of. A lexicon that can be opened again is
pickled as its name or path with its fingerprint, which is checked on arrival. A lexicon that was
made in memory, or changed since it was opened, is pickled with its data.
"""

import hashlib
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from functools import cached_property
from typing import Any

from malaprop.lexicon.graph import with_graph_if_needed
from malaprop.lexicon.lexicon import Lexicon
from malaprop.mechanisms import mechanism_named as mechanism_named
from malaprop.privacy.errors import LexiconError, ParameterError, check_options
from malaprop.privacy.mechanism import Mechanism

LexiconChoice = Lexicon | str | os.PathLike[str]
MechanismChoice = Mechanism | str


@dataclass(frozen=True)
class Chosen:
    """A lexicon, with its graph if the mechanism needs one, and a mechanism.

    `opened` is the name or path that the lexicon was asked for by; it may be empty.
    """

    lexicon: Lexicon
    mechanism: Mechanism
    opened: str = ""

    @cached_property
    def _portable(self) -> tuple[object, ...]:
        values = [(f.name, getattr(self.mechanism, f.name)) for f in fields(self.mechanism)]
        opened = self.opened or _name_of(self.lexicon, self.mechanism)
        lexicon = interned((opened, _identity(self.lexicon))) if opened else self.lexicon
        return lexicon, type(self.mechanism), interned(tuple(values))

    def __reduce__(self) -> tuple[Any, ...]:
        # Equal choices give equal pickles, in any process.
        return _arrived, self._portable


def _arrived(
    lexicon: Lexicon | tuple[str, str], kind: type[Mechanism], values: tuple[tuple[str, Any], ...]
) -> Chosen:
    """Return a choice that was pickled; open the lexicon if only its name and identity travelled.

    Refuse another lexicon that has its name now.
    """
    mechanism = kind(**dict(values))
    if isinstance(lexicon, Lexicon):
        return Chosen(lexicon, mechanism)
    opened, identity = lexicon
    known = with_graph_if_needed(Lexicon.open(opened), mechanism)
    if _identity(known) != identity:
        raise LexiconError(
            f"The lexicon {opened}, or a table that was computed for it, is not the one that the "
            "privatizer was pickled with: make the privatizer anew."
        )
    return Chosen(known, mechanism, opened)


def choose(
    lexicon: LexiconChoice | None, mechanism: MechanismChoice | None, epsilon: float | None
) -> Chosen:
    """Return lexicon and mechanism; by default `english` and `Balanced` with that ε."""
    if mechanism is None and epsilon is None:
        raise ParameterError(
            "A Privatizer needs either a mechanism with its parameters, such as "
            "Balanced(epsilon=1.5), or an 'epsilon' alone, which means the same."
        )
    chosen = chosen_mechanism("balanced" if mechanism is None else mechanism, epsilon)
    opened, known = _opened("english" if lexicon is None else lexicon)
    return Chosen(with_graph_if_needed(known, chosen), chosen, opened)


def chosen_mechanism(mechanism: MechanismChoice, epsilon: float | None) -> Mechanism:
    """Return the mechanism of a name with that ε, or a mechanism that has its own."""
    if isinstance(mechanism, str):
        made = mechanism_named(mechanism)
        if epsilon is None:
            raise ParameterError(f"{made.name} needs an ε: name it with `epsilon`.")
        try:
            return made(epsilon=epsilon)
        except TypeError:
            raise ParameterError(
                f"{made.__name__} has other parameters that must be given, so its name is not "
                f"enough: pass malaprop.{made.__name__}(epsilon={epsilon!r}, …)."
            ) from None
    if not isinstance(mechanism, Mechanism):
        raise ParameterError(
            "The 'mechanism' parameter must be a mechanism with its parameters, such as "
            f"Balanced(epsilon=1.5), or the name of one. Got {type(mechanism).__name__}."
        )
    if epsilon is not None:
        raise ParameterError(
            "A mechanism with its parameters has its own ε: leave out `epsilon`, or name the "
            "mechanism by a string."
        )
    return mechanism


_WRITTEN = re.compile(r"(.*\.py:\w+|[^:]*)(?::(.*))?", re.DOTALL)
_CONSTANTS = {"none": None, "true": True, "false": False}


def written(
    text: str,
    parameters: Iterable[str] = (),
    *,
    named: Callable[[str], type[Mechanism]] = mechanism_named,
) -> tuple[type[Mechanism], dict[str, Any]]:
    """Return the mechanism that is written as NAME:ε,PARAMETER=VALUE, with its parameters.

    Only the name is needed. `parameters` are more of them, and `named` knows the names.

    >>> written("tem:2,exponent=half")
    (<class 'malaprop.mechanisms.tem.TEM'>, {'epsilon': 2.0, 'exponent': 'half'})
    """
    head, *rest = text.split(",")
    name, epsilon = _WRITTEN.fullmatch(head.strip()).groups()  # type: ignore[union-attr]  # always
    cls = named(name)
    known = [field.name for field in cls.parameters() if field.name != "epsilon"]
    values: dict[str, Any] = {} if epsilon is None else {"epsilon": parameter_value(epsilon)}
    if not isinstance(values.get("epsilon", 0.0), float):
        raise ParameterError(f"ε must be a number. Got {epsilon!r}.")
    for each in (*rest, *parameters):
        own, equals, value = each.strip().partition("=")
        if not equals:
            raise ParameterError(f"A parameter is given as NAME=VALUE. Got {each!r}.")
        check_options(cls.__name__, [own], known, noun="parameter")
        values[own] = parameter_value(value)
    return cls, values


def parameter_value(text: str) -> float | str | None:
    """Return a parameter that was written as text: none, true, false, a number, or the text."""
    if text.lower() in _CONSTANTS:
        return _CONSTANTS[text.lower()]
    try:
        return float(text)
    except ValueError:
        return text


def made(cls: type[Mechanism], values: Mapping[str, Any]) -> Mechanism:
    """Return a mechanism with these parameters; say which it lacks."""
    missing = [
        field.name
        for field in cls.parameters()
        if field.name not in values and {field.default, field.default_factory} == {MISSING}
    ]
    if missing:
        raise ParameterError(f"{cls.__name__} needs more parameters: {', '.join(missing)}.")
    return cls(**values)


def _opened(lexicon: LexiconChoice) -> tuple[str, Lexicon]:
    """Return the lexicon, and what opens it again: a name as it is, a path in full."""
    if isinstance(lexicon, Lexicon):
        return "", lexicon
    if not isinstance(lexicon, str | os.PathLike):
        raise ParameterError(
            "The 'lexicon' parameter must be a Lexicon, or the name or path of one. Got "
            f"{type(lexicon).__name__}."
        )
    place = os.fspath(lexicon)
    known = Lexicon.open(place)
    full = os.path.abspath(os.path.expanduser(place))
    return place if known.opened_as == place else full, known


def _name_of(lexicon: Lexicon, mechanism: Mechanism) -> str:
    """Return the name of a lexicon if that opens this very one again, or nothing."""
    from malaprop.lexicon.store import embedded, imported

    if lexicon.name not in embedded() | imported():
        return ""
    try:
        again = with_graph_if_needed(Lexicon.open(lexicon.name), mechanism)
    except LexiconError:
        return ""
    return lexicon.name if _identity(again) == _identity(lexicon) else ""


def _identity(lexicon: Lexicon) -> str:
    """Return a digest of a lexicon and of those of its tables that a law depends on."""
    tables = lexicon.tables
    balances = tables.balances.digest if tables.balances is not None else ""
    parts = repr((lexicon.fingerprint, tables.exponents, balances))
    return hashlib.sha256(parts.encode()).hexdigest()


def interned(value: Any) -> Any:
    """Return equal strings as one object: a pickle shows whether they are one."""
    if type(value) is tuple:
        return tuple(map(interned, value))
    if isinstance(value, Mapping):
        return {interned(key): interned(item) for key, item in value.items()}
    return sys.intern(value) if type(value) is str else value

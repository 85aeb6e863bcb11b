"""The exceptions that Malaprop raises.

    MalapropError
    ├── ParameterError (ValueError)   a parameter outside its range
    ├── MetricError    (ValueError)   a distance that is not a metric, or does not fit a mechanism
    ├── LexiconError   (ValueError)   words or vectors that do not form a lexicon
    ├── DataError      (ValueError)   a record, a column or an encoding that cannot be read
    │   └── InputChangedError         an input that changed while it was read
    ├── FetchError                    a data set that cannot be fetched
    ├── OutputError                   an output that already exists, or cannot be written
    ├── SecretError                   the user's secret cannot be read or kept
    ├── LedgerError                   a ledger that cannot be opened, read or written, or is damaged
    │   ├── BudgetError               a release that would exceed a limit
    │   ├── AccountError              a release in an account that is not on the ledger's list
    │   └── RequestError              a request key that was used for another request
    └── MissingExtraError (ImportError)  an optional package that is not installed

A message names the object, the constraint, the value and the remedy. It never contains the
user's text: records are identified by number, columns only by the name that the user gave.
Whoever shows a message, or a name, makes it `printable`.
"""

import difflib
import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from decimal import Decimal
from functools import partial
from numbers import Real
from typing import Any, Final, TypeVar

Entry = TypeVar("Entry")


class MalapropError(Exception):
    """The root of all errors that Malaprop raises on purpose."""


class ParameterError(MalapropError, ValueError):
    """A parameter is outside its range."""


class MetricError(MalapropError, ValueError):
    """A distance is not a metric, or not the metric that a mechanism needs."""


class LexiconError(MalapropError, ValueError):
    """Words and vectors do not form a lexicon, or there is no such lexicon."""


class DataError(MalapropError, ValueError):
    """Input data cannot be read in the format or encoding that was declared."""


class InputChangedError(DataError):
    """An input changed while it was read, so what was drawn may belong to texts that are gone."""


class FetchError(MalapropError):
    """A data set cannot be fetched: no way to its owner, or not what was expected."""


class OutputError(MalapropError):
    """An output already exists or cannot be written."""


class SecretError(MalapropError):
    """The user's secret, from which the keys of hashes are derived, cannot be read or kept."""


_ZERO: Final = Decimal(0)


class LedgerError(MalapropError):
    """A ledger cannot be opened, read or written, or it is not what it was."""


class BudgetError(LedgerError):
    """A release would exceed a limit, so nothing was debited, and nothing may be drawn.

    `scope` says whose limit it is: `subject`, `key` or `total`. The amounts are in ε, in the
    account that has the least left; `remaining` is never below 0. `position` is the place of the
    record in its batch, if several were debited together.
    """

    position: int | None = None

    def __init__(
        self,
        message: str,
        *,
        scope: str = "",
        price: Decimal = _ZERO,
        limit: Decimal = _ZERO,
        remaining: Decimal = _ZERO,
    ) -> None:
        super().__init__(message)
        self.scope, self.price, self.limit, self.remaining = scope, price, limit, remaining

    def __reduce__(self) -> tuple[Any, ...]:
        facts: dict[str, Any] = {"scope": self.scope, "price": self.price, "limit": self.limit}
        return partial(BudgetError, **facts, remaining=self.remaining), self.args


class AccountError(LedgerError):
    """A release would open a budget that nobody has allowed, so nothing was debited."""


class RequestError(LedgerError):
    """The key of a request was used for another request before."""


EXTRAS = {
    "evaluate": "scikit-learn matplotlib",
    "frames": "pandas polars",
    "mcp": "mcp",
    "ledger": "alembic cryptography 'psycopg[binary]' sqlalchemy",
    "neural": "llama-cpp-python",
    "plots": "matplotlib",
    "server": "alembic cryptography fastapi 'psycopg[binary]' sqlalchemy uvicorn",
    "sklearn": "scikit-learn",
    "spark": "'pyspark[sql]>=4.0,<5' 'pandas>=2.2,<3'",
    "transformers": "torch transformers",
}
"""The packages of each extra, as pip takes them. No index has Malaprop itself."""


class MissingExtraError(MalapropError, ImportError):
    """An optional package is not installed; the message names the command that installs it."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        self.command = f"pip install {EXTRAS[extra]}"
        super().__init__(f"{purpose} needs the package {package}: run  {self.command}")


def printable(text: str, *, lines: bool = False) -> str:
    r"""Return a text that commands no terminal: what cannot be seen is escaped as JSON does.

    Names and words come from users, files and strangers. Control characters in them could set the
    title of a terminal, forge lines, or turn the direction of writing around. With `lines`, line
    feeds stay. JSON that is made printable has the same value.

    >>> print(printable("notes\x1b]0;x\x07\n.csv"))
    notes\u001b]0;x\u0007\n.csv
    """
    seen = text.replace("\n", "") if lines else text
    if seen.isprintable():
        return text
    kept = "\n" if lines else ""
    return "".join(c if c.isprintable() or c in kept else json.dumps(c)[1:-1] for c in text)


COMPUTABLE: Final = (
    "between 1e-30 and 1e+30: beyond that, float64 cannot compute with it and a lexicon's distances"
)


def is_computable(value: float) -> bool:
    """Return whether ε, times or over distances of any float32 vectors, stays within float64.

    So does its square: 10³⁰ · 10³⁹ is 10⁶⁹, and the square of that is 10¹³⁸.
    """
    return 1e-30 <= value <= 1e30


def type_name(value: object) -> str:
    """Return the name of a value's type, for a message that must not show the value."""
    return type(value).__name__


def require_text(text: object) -> None:
    """Refuse what is not a text."""
    if not isinstance(text, str):
        raise ParameterError(f"A text must be a string. Got {type(text).__name__}.")


def several_texts(texts: Any, name: str) -> Iterable[Any]:
    """Return several texts as they are; refuse what yields something else, such as a table.

    A table or a dictionary would yield the names of its columns, and a string its letters. `name`
    is that of the call, or of its parameter.

    >>> list(several_texts(("cold", "hot"), "texts"))
    ['cold', 'hot']
    """
    for kinds, remedy in _NO_TEXTS.items():
        if isinstance(texts, kinds):
            raise ParameterError(f"`{name}` takes several texts, not {remedy}.")
    if any(hasattr(type(texts), columns) for columns in ("columns", "column_names")):
        raise ParameterError(
            f"`{name}` takes several texts, and {type_name(texts)} is a table: pass the column "
            'that holds them, as in table["text"].'
        )
    if not isinstance(texts, Iterable):
        raise ParameterError(f"`{name}` takes several texts, in a list. Got {type_name(texts)}.")
    return texts


_NO_TEXTS: Final[dict[type | tuple[type, ...], str]] = {
    str: "one string: put it into a list",
    (bytes, bytearray, memoryview): "bytes: decode them, and put the string into a list",
    Mapping: "a dictionary, which yields its keys: pass its values, as in d.values()",
    (set, frozenset): "a set, which has no order: pass a list",
}


def checked_number(value: Any, what: str, constraint: str, holds: Callable[[float], bool]) -> float:
    """Return a number that satisfies a constraint as a float; `what` names it in the error."""
    number = None
    if isinstance(value, Real) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:  # a whole number, which may be too long to be shown
            value = number = -math.inf if value != abs(value) else math.inf
    if number is None or not holds(number):
        shown = repr(value) if isinstance(value, Real | str) else type_name(value)
        raise ParameterError(f"The {what} must be {constraint}. Got {shown}.")
    return number


def require_whole(owner: object, name: str, least: int) -> None:
    """Check that a parameter is a whole number, `least` or more, and make it an int."""
    value = getattr(owner, name)
    what = f"'{name}' parameter of {type_name(owner)}"
    constraint = f"a whole number, {least} or more"
    checked_number(value, what, constraint, lambda x: least <= x < 2.0**63 and x.is_integer())
    object.__setattr__(owner, name, int(value))


def require_choice(owner: object, name: str, known: tuple[Any, ...]) -> None:
    """Check that a parameter is one of the `known` values, and of the same type."""
    value = getattr(owner, name)
    if not any(type(value) is type(choice) and value == choice for choice in known):
        raise ParameterError(
            f"The '{name}' parameter of {type(owner).__name__} must be one of "
            f"{', '.join(map(str, known))}. Got {value!r}."
        )


_SHORTEST_START = 3  # letters of a name that can stand for it


def did_you_mean(name: str, known: Iterable[str], *, cutoff: float = 0.6) -> str:
    """Return a hint at the closest known name, with a leading space; empty if none is close.

    The start of just one known name means that one.

    >>> did_you_mean("laplas", ["laplace", "tem"]), did_you_mean("eps", ["steps", "epsilon"])
    (" Did you mean 'laplace'?", " Did you mean 'epsilon'?")
    """
    names = list(known)
    begun = [each for each in names if len(name) >= _SHORTEST_START and each.startswith(name)]
    close = begun if len(begun) == 1 else difflib.get_close_matches(name, names, 1, cutoff)
    return f" Did you mean {close[0]!r}?" if close else ""


def entry(kind: str, name: str, known: Mapping[str, Entry]) -> Entry:
    """Return the attack, task or other kind of thing of that name; otherwise suggest one."""
    if name not in known:
        hint = did_you_mean(name, known, cutoff=0.4)
        there = ", ".join(sorted(known))
        raise ParameterError(f"Unknown {kind} {name!r}.{hint} There are: {there}.")
    return known[name]


def check_options(
    owner: str, options: Iterable[str], known: Iterable[str], *, noun: str = "option"
) -> None:
    """Refuse options that are not known; the error suggests one, and lists all."""
    names = list(known)
    for option in options:
        if option not in names:
            raise ParameterError(
                f"{owner} has no {noun} {option!r}.{did_you_mean(option, names)} "
                f"It has: {', '.join(names) or 'none'}."
            )


def made_with(
    kind: str, name: str, known: Mapping[str, type[Entry]], options: Mapping[str, Any]
) -> Entry:
    """Return the attack or task of that name, a dataclass; refuse options that it does not have."""
    cls: Any = entry(kind, name, known)
    check_options(f"The {kind} {name}", options, [option.name for option in fields(cls)])
    made: Entry = cls(**options)
    return made

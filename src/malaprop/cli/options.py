"""Options that several commands share."""

from typing import Annotated

import typer

from malaprop.core.errors import ParameterError
from malaprop.core.mechanism import Mechanism
from malaprop.core.suggest import did_you_mean

Epsilon = Annotated[
    str,
    typer.Option(
        "--epsilon",
        "-e",
        metavar="NUMBER",
        help="ε, the privacy loss per unit of distance: smaller is more private. With tem on "
        "english, 1.2 to 1.7 is the useful range.",
    ),
]
MechanismName = Annotated[
    str,
    typer.Option(
        "--mechanism",
        "-m",
        metavar="NAME",
        help="How words are replaced: tem, laplace, or another that  malaprop mechanisms  lists.",
    ),
]
Parameters = Annotated[
    list[str] | None,
    typer.Option(
        "--param",
        "-p",
        metavar="NAME=VALUE",
        help="A further parameter of the mechanism; may be repeated.",
    ),
]
LexiconName = Annotated[
    str,
    typer.Option(
        "--lexicon", "-l", metavar="NAME", help="A lexicon's name, or a file of word vectors."
    ),
]


def make_mechanism(name: str, epsilon: str, parameters: list[str] | None) -> Mechanism:
    """The mechanism of that name, with its parameters."""
    import malaprop.mechanisms  # noqa: F401  fills the registry
    from malaprop.core.mechanism import mechanism_named

    cls = mechanism_named(name)
    known = [field.name for field in cls.parameters() if field.name != "epsilon"]
    values = dict(_parameter(text, cls.__name__, known) for text in parameters or [])
    return cls(epsilon=_value(epsilon), **values)  # type: ignore[arg-type]  # checked there


def _parameter(text: str, mechanism: str, known: list[str]) -> tuple[str, float | str | None]:
    name, equals, value = text.partition("=")
    if not equals:
        raise ParameterError(f"A parameter is given as NAME=VALUE. Got {text!r}.")
    if name not in known:
        hint = did_you_mean(name, known)
        raise ParameterError(
            f"{mechanism} has no parameter {name!r}.{hint} It has: {', '.join(known) or 'none'}."
        )
    return name, _value(value)


_CONSTANTS = {"none": None, "true": True, "false": False}


def _value(text: str) -> float | str | None:
    if text.lower() in _CONSTANTS:
        return _CONSTANTS[text.lower()]
    try:
        return float(text)
    except ValueError:
        return text

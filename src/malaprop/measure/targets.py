"""The targets of a calibration: the one table that the library and the command line read.

It imports no numerics, so that the help of the command line does not wait for them.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from malaprop.privacy.errors import ParameterError, checked_number

if TYPE_CHECKING:
    from malaprop.privacy.estimate import Estimate


@dataclass(frozen=True)
class Target:
    """A figure that must keep to a bound."""

    name: str
    help: str
    """What the bound means, for the command line."""
    text: str
    """The target in words; `bound` and others are filled in."""
    metavar: str = "SHARE"
    of: Literal["words", "vectors"] = "words"
    at_least: bool = False
    """Whether the figure must not fall below the bound; else it must not exceed it."""

    @property
    def is_mechanism(self) -> bool:
        """Whether another mechanism on the lexicon gives the bound, not a number."""
        return self.name == "like"

    def is_met(self, figure: "Estimate", bound: float) -> bool:
        """Whether a figure keeps to a bound, with its error counted in."""
        return figure.unsafe >= bound if self.at_least else figure.unsafe <= bound

    def bound(self, value: Any) -> Any:
        """Return the bound; refuse one that makes no sense."""
        if self.is_mechanism:
            return value
        what, most, constraint = f"target '{self.name}'", 1.0, "between 0 and 1, both excluded"
        if self.name == "candidates":
            most, constraint = math.inf, "finite, and above 0"
        return checked_number(value, what, constraint, lambda number: 0.0 < number < most)


TARGETS: Mapping[str, Target] = {
    target.name: target
    for target in (
        Target(
            "kept",
            "At most this share of words stay as they are, on average. Like all shares, it lies "
            "between 0 and 1.",
            "at most {bound:g} of words stay as they are, {whose}",
        ),
        Target(
            "success",
            "An observer without context guesses at most this share right.",
            "an observer without context guesses at most {bound:g} of words right{times} "
            "(prior: {prior})",
        ),
        Target(
            "candidates",
            "At least this many inputs, above 0, explain an output within a factor of 2.",
            "at least {bound:g} inputs explain an output within a factor of 2",
            metavar="NUMBER",
            at_least=True,
        ),
        Target(
            "similarity",
            "Word and replacement have at most this expected similarity.",
            "an expected similarity of at most {bound:g}",
            metavar="NUMBER",
        ),
        Target(
            "like",
            "As many words stay as with another mechanism, such as tem:1.5.",
            "as many words stay as with the other mechanism, {bound:.4g}",
            metavar="MECHANISM:EPSILON",
        ),
        Target(
            "correlation",
            "The smallest ε at which distances keep this correlation with the true ones.",
            "a correlation of distances of at least {bound:g}",
            metavar="NUMBER",
            of="vectors",
            at_least=True,
        ),
        Target(
            "inversion",
            "At most this share of released vectors is found again among the public ones, by "
            "taking the nearest.",
            "an observer finds at most {bound:g} of vectors among {candidates:,}",
            of="vectors",
        ),
    )
}


def chosen_target(of: Literal["words", "vectors"], given: Mapping[str, Any]) -> tuple[Target, Any]:
    """Return the one target among some values, and its bound; refuse none and several."""
    offered = [target for target in TARGETS.values() if target.of == of]
    named = [target for target in offered if given.get(target.name) is not None]
    if len(named) != 1:
        about = "" if of == "words" else " on vectors"
        raise ParameterError(
            f"Calibrating{about} takes one target of "
            f"{', '.join(target.name for target in offered)}. "
            f"Got {', '.join(target.name for target in named) or 'none'}."
        )
    return named[0], named[0].bound(given[named[0].name])


def check_target(**options: Any) -> tuple[Target, Any]:
    """Return the target of `calibrate` and its bound, from all its parameters.

    Refuse targets and options that no lexicon makes sense of.
    """
    usual = {"context": False, "occurrences": 1}
    given = {
        name: value
        for name, value in options.items()
        if value is not None and not (name in usual and value == usual[name])
    }
    if "sample" in given and "context" not in given:
        raise ParameterError("A `sample` goes with `context=True`.")
    alone = "success" in given and given.keys() <= {"success", "context", "sample"}
    if "context" in given and not alone:
        raise ParameterError(
            "`context=True` goes with the target `success` alone: an observer with context knows "
            "how frequent words are, and sees them once."
        )
    target, bound = chosen_target("words", given)
    worst = given.get("worst", 0.0)
    share = isinstance(worst, int | float) and 0.0 <= worst < 1.0
    if "worst" in given and not (target.name == "kept" and share):
        raise ParameterError("`worst` goes with `kept` only, and is a share of 0 or more, below 1.")
    for name in ("prior", "occurrences"):
        if name in given and target.name != "success":
            raise ParameterError(f"`{name}` goes with `success` only: leave it out.")
    return target, bound

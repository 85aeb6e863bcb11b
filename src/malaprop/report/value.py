"""The law of one value: what a number, a date or a time may become on the path of its kind."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from malaprop.core.errors import ParameterError
from malaprop.core.guarantee import Guarantee
from malaprop.core.paths.channel import PathChannel
from malaprop.pipeline.values import ValueDraws, counted_as
from malaprop.report.word import Rival, WordLaw
from malaprop.text import Policy
from malaprop.text.forms.form import ValueForm
from malaprop.text.forms.grammar import cut, read


@dataclass(frozen=True)
class ValueRange:
    """Two values between which, both included, at least a share of the draws lies."""

    share: float
    low: str
    high: str


@dataclass(frozen=True, kw_only=True)
class ValueLaw:
    """A value of a text: how it is written, and how it is drawn."""

    form: ValueForm
    law: WordLaw
    """The law of its place on the grid."""
    channel: PathChannel
    rounded: bool
    """Whether the grid lacks the value, which counts as the nearest one."""
    alone: bool
    """Whether there is nothing beside it that is drawn on its own, as "mg" in "500mg"."""

    @property
    def guarantee(self) -> Guarantee:
        """What is promised for one such value."""
        return self.channel.guarantee

    def ranges(self, shares: Sequence[float]) -> tuple[ValueRange, ...]:
        """Return the values between which these shares of the draws lie, equal tails beyond."""
        sums = np.cumsum(self.law.probabilities)
        return tuple(
            ValueRange(
                share,
                self.form.write(int(np.searchsorted(sums, (1.0 - share) / 2.0))),
                self.form.write(int(np.searchsorted(sums, (1.0 + share) / 2.0))),
            )
            for share in shares
        )

    def rivals(self, count: int) -> list[Rival]:
        """Return the nearest other values, and the odds that one output gives against each."""
        own, distances = self.law.word, self.law.distances
        order = np.argsort(distances, kind="stable")
        near = [int(place) for place in order[: count + 1] if place != own][:count]
        rows = self.channel.log_probabilities([own, *near])
        odds = np.abs(rows[1:] - rows[0]).max(axis=1).tolist()
        return [
            Rival(
                self.form.write(place),
                float(distances[place]),
                _exp(self.guarantee.loss(float(distances[place]))),
                _exp(most),
            )
            for place, most in zip(near, odds, strict=True)
        ]


def value_law(text: str, policy: Policy) -> ValueLaw | None:
    """Return the law of the value that a token holds; None if it holds none.

    Raise a ParameterError if it holds several, or one that is drawn without a look at it.
    """
    draws = ValueDraws.under(policy)
    if draws is None:
        return None
    pieces = cut(text)
    values = [(piece, value) for piece in pieces if (value := read(piece, policy.dates))]
    known = {piece for piece, _ in values}
    if not values or not all(piece in known or piece.isalpha() for piece in pieces):
        return None  # no value, or a phrase
    if len(values) > 1:
        raise ParameterError("Give one value to explain, not several.")
    [(piece, (form, secret))] = values
    if not isinstance(form, ValueForm):
        raise ParameterError(
            "An identifier or an address is drawn anew, without a look at it: there is nothing to "
            "explain. docs/kinds.md says which shapes stay."
        )
    channel = draws.channel(form.grid)
    law = WordLaw(
        word=secret,
        probabilities=np.exp(channel.log_probabilities([secret])[0]),
        distances=channel.path.distances([secret])[0],
        draws=0,
    )
    return ValueLaw(
        form=form,
        law=law,
        channel=channel,
        rounded=counted_as(form, secret) != piece,
        alone=len(pieces) == 1,
    )


def _exp(loss: float) -> float:
    return math.exp(loss) if loss < 700 else math.inf

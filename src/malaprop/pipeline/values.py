"""Draws values: numbers, dates and times on paths, stand-ins for identifiers and addresses."""

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Self, cast

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Ids
from malaprop.core.errors import ParameterError
from malaprop.core.guarantee import Guarantee
from malaprop.core.kind_promise import KindPromise
from malaprop.core.metrics.path import UNITS, Path
from malaprop.core.paths.channel import PathChannel
from malaprop.core.paths.law import path_numerics
from malaprop.core.randomness import for_a_call
from malaprop.text import Policy
from malaprop.text.forms.form import Form, StandIn, ValueForm
from malaprop.text.forms.grids import GRIDS, ValueGrid
from malaprop.text.forms.stand_ins import EMAIL, MENTION, URL, IdentifierForm
from malaprop.text.forms.steps import StepSizes

_PLURALS = {"money": "amounts of money"}
_DRAWN_ANEW = (IdentifierForm.kind, EMAIL.kind, URL.kind, MENTION.kind)
_ADDRESSES = frozenset({EMAIL.kind, URL.kind})

_FLOATS = "float64; "  # how the arithmetic of words and of values begins
_PUBLIC = "the grids of values and their steps"

Value = int | str
"""A drawn value: a place on a grid, or a stand-in as it is written."""


class ValueDraws:
    """Draws values with ε a step; `steps` says how long a step of each kind is.

    >>> from malaprop import seeded_rng
    >>> from malaprop.text.forms.grammar import read
    >>> form, year = read("2023", "mdy")
    >>> draws = ValueDraws(StepSizes(), 1.0)
    >>> written([form] * 4, draws.draw([form] * 4, [year] * 4, seeded_rng(4)))
    ['2024', '2023', '2022', '2025']
    """

    def __init__(self, steps: Mapping[str, str], epsilon: float) -> None:
        self._steps = steps if isinstance(steps, StepSizes) else StepSizes(steps)
        self._epsilon = epsilon

    @classmethod
    def under(cls, policy: Policy) -> Self | None:
        """Return the draws under a policy, or None if values are words to it."""
        if policy.kinds != "typed" or policy.kind_epsilon is None:
            return None
        return cls(policy.steps, policy.kind_epsilon)

    def channel(self, grid: ValueGrid) -> PathChannel:
        """Return the channel on a grid."""
        return _channel(grid, self._steps, self._epsilon)

    def draw(self, forms: Sequence[Form], ids: Sequence[int] | Ids, rng: Generator) -> list[Value]:
        """Draw a value for each of `ids`, the secrets of slots with these forms.

        Each is drawn independently of all others. What has no distance is drawn without a look
        at its secret.
        """
        rng = for_a_call(rng)
        values = np.empty(len(forms), dtype=object)
        secrets = np.asarray(ids, dtype=np.int64)
        for group, slots in _grouped(forms).items():
            if isinstance(group, StandIn):
                values[slots] = group.draw(len(slots), rng)
            else:
                values[slots] = self.channel(group).substitute(secrets[slots], rng).tolist()
        drawn: list[Value] = values.tolist()
        return drawn

    def beside_words(self, guarantee: Guarantee) -> Guarantee:
        """Extend a guarantee for words to texts that hold values, too."""
        texts = guarantee.with_kinds(self.promises())
        of_values = path_numerics(self._epsilon, *_extremes(self._steps))
        if texts.numerics.startswith(_FLOATS):
            of_values = of_values.removeprefix(_FLOATS)
        return replace(
            texts,
            public=(*texts.public, _PUBLIC),
            numerics="; ".join(filter(None, (texts.numerics, of_values))),
        )

    def promises(self) -> tuple[KindPromise, ...]:
        """Return what is promised for each kind of values."""
        steps = {grid.kind: grid.step(self._steps) for grid in GRIDS}
        on_paths = (
            KindPromise(
                name=kind,
                epsilon=self._epsilon,
                step=step,
                zcdp=self._epsilon**2 / 2.0,
                plural=_PLURALS.get(kind, ""),
            )
            for kind, step in steps.items()
        )
        anew = (
            KindPromise(name=kind, epsilon=0.0, plural=f"{kind}es" if kind in _ADDRESSES else "")
            for kind in _DRAWN_ANEW
        )
        return *on_paths, *anew


def written(forms: Sequence[Form], values: Sequence[Value]) -> list[str]:
    """Write drawn values in the forms of their slots."""
    return [
        form.write(value) if isinstance(form, ValueForm) else cast(str, value)  # type: ignore[arg-type]
        for form, value in zip(forms, values, strict=True)
    ]


def counted_as(form: Form, secret: int) -> str:
    """Write the value of the grid that a token counts as; raise an error if it has no grid."""
    if not isinstance(form, ValueForm):
        raise ParameterError("Identifiers and addresses count as no word: they are drawn anew.")
    return form.write(secret)


def group_numbers(forms: Sequence[Form]) -> Ids:
    """Return a number for each slot, from 1: the same for slots whose values can be equal.

    The grid alone does not tell: 35 is 3.5 with one decimal, and 0.35 with two.
    """
    known: dict[Hashable, int] = {}
    groups = (
        (form.grid, form.unit) if isinstance(form, ValueForm) else (form, None) for form in forms
    )
    numbers = (known.setdefault(group, len(known) + 1) for group in groups)
    return np.fromiter(numbers, dtype=np.int64, count=len(forms))


def with_chosen_kinds(policy: Policy, guarantee: Guarantee) -> Policy:
    """Return the policy with kinds and their ε chosen, by the guarantee for words if need be."""
    in_steps = guarantee.metric == "graph"
    kinds = policy.kinds or ("typed" if in_steps else "words")
    if kinds == "words":
        return replace(policy, kinds="words")
    epsilon = policy.kind_epsilon
    if epsilon is None and not in_steps:
        raise ParameterError(
            'With `kinds="typed"`, this mechanism needs a `kind_epsilon`, the ε of one step of a '
            f"number or a date: its own ε is for {guarantee.metric} distance."
        )
    return replace(
        policy, kinds="typed", kind_epsilon=guarantee.epsilon if epsilon is None else epsilon
    )


def _grouped(forms: Sequence[Form]) -> dict[ValueGrid | StandIn, list[int]]:
    """Return which slots are drawn together: those of a grid, or of equal stand-ins."""
    groups: dict[ValueGrid | StandIn, list[int]] = defaultdict(list)
    for slot, form in enumerate(forms):
        groups[form.grid if isinstance(form, ValueForm) else cast(StandIn, form)].append(slot)
    return groups


@lru_cache(maxsize=64)
def _extremes(steps: StepSizes) -> tuple[float, float]:
    """Return the length of the longest path and the least gap on any path, in steps."""
    paths = [np.rint(grid.places(steps) * UNITS) for grid in GRIDS]
    longest = max(float(path[-1] - path[0]) for path in paths)
    return longest / UNITS, min(float(np.diff(path).min()) for path in paths) / UNITS


@lru_cache(maxsize=64)  # a path takes a while to lay out, and privatizers are alike
def _channel(grid: ValueGrid, steps: StepSizes, epsilon: float) -> PathChannel:
    return PathChannel(Path.of_steps(grid.places(steps)), epsilon, grid.step(steps))

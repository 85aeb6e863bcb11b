"""The one step in which secret words and values become others.

With `repeat="fresh"`, every place of a text has a draw of its own. With `repeat="document"`, equal
values of a text share one draw. Values are equal if kind, grid, unit and mapped value are: words
that the public map takes to the same word get the same draw, or their draws would tell them apart.
Equal names, places and entities that are drawn anew share a draw in either case. Different texts
never do.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from typing import NamedTuple, cast

import numpy as np
from numpy.random import Generator

from malaprop.privacy.arrays import Ids, order_of
from malaprop.privacy.channel import Channel, LawChannel, PathChannel
from malaprop.privacy.law import Law
from malaprop.privacy.metrics import Path
from malaprop.privacy.randomness import SecureGenerator, begin_call
from malaprop.privacy.sampling import whole_shifts
from malaprop.privacy.stock import Stock
from malaprop.text.kinds import Form, StandIn, ValueForm
from malaprop.text.kinds.dates import SHIFTED
from malaprop.text.kinds.grids import StepSizes, ValueGrid
from malaprop.text.parser import Secrets, Templates
from malaprop.text.policy import Policy

Value = int | str
"""A drawn value: a place on a grid, or a stand-in as it is written."""


class DrawnSlots(NamedTuple):
    """What was drawn for the slots of texts."""

    words: Ids
    """A word for each slot; it means nothing where the slot is for a value."""
    values: list[str]
    """The written values of the other slots."""
    draws: Sequence[int]
    """How many draws each text has: one per slot, or one per distinct value."""


class SlotDraws:
    """Draws words from a channel, and values from their grids, for the slots of parsed texts."""

    def __init__(self, channel: Channel, policy: Policy) -> None:
        self._words = Stock(channel) if isinstance(channel, LawChannel) else channel
        self._channel, self._policy = channel, policy

    def share(self, rng: Generator) -> Callable[[float], None]:
        """Have processes that are forked from now on draw ahead for each other.

        Returns a callback; call it with about how many calls of `draw` there will be.
        """
        if not isinstance(self._words, Stock) or not isinstance(rng, SecureGenerator):
            return lambda orders: None
        self._words = Stock(cast(LawChannel[Law], self._channel), shared=True)
        return self._words.expect_orders

    def draw(self, templates: Templates, secrets: Secrets, rng: Generator) -> DrawnSlots:
        """Draw for all slots of some texts together."""
        ids, typed, forms = secrets.ids, templates.typed, templates.forms
        shared = None
        if self._policy.repeat == "document" or templates.shares_always:
            keys, groups = ids, np.zeros(len(ids), dtype=np.int64)
            groups[typed] = group_numbers(forms)
            if self._policy.repeat == "fresh":  # all others are equal to themselves alone
                own = np.ones(len(ids), dtype=np.bool_)
                own[typed] = [not (isinstance(f, StandIn) and f.shares_always) for f in forms]
                keys, groups = np.where(own, np.arange(len(ids)), ids), np.where(own, 0, groups)
            shared = share_draws(keys, templates.slot_counts, groups)
            numbers = np.cumsum(typed) - 1
            ids, typed = ids[shared.slots], typed[shared.slots]
            forms = [forms[number] for number in numbers[shared.slots[typed]].tolist()]
        # From here on, each slot is drawn for by itself.
        values: list[Value] = []
        if len(forms):
            words = np.zeros_like(ids)
            words[~typed] = self._words.substitute(ids[~typed], rng)
            epsilon = cast(float, self._policy.kind_epsilon)
            steps = cast(StepSizes, self._policy.steps)
            documents = None
            if self._policy.shift_dates:
                documents = np.repeat(np.arange(len(templates.slot_counts)), templates.slot_counts)
                documents = documents[shared.slots if shared else ...][typed]
            values = draw_values(forms, ids[typed], steps, epsilon, rng, documents)
        else:
            words = self._words.substitute(ids, rng)
        if shared is None:
            return DrawnSlots(words, write_values(forms, values), templates.slot_counts)
        words[typed] = np.arange(len(values))  # where the value of a slot is
        words = words[shared.shown]
        spread = [values[number] for number in words[templates.typed].tolist()]
        return DrawnSlots(words, write_values(templates.forms, spread), shared.counts.tolist())


def draw_values(
    forms: Sequence[Form],
    ids: Sequence[int] | Ids,
    steps: StepSizes,
    epsilon: float,
    rng: Generator,
    documents: Ids | None = None,
) -> list[Value]:
    """Draw a value for each of `ids`, the secrets of slots with these forms, with ε a step.

    Each is drawn independently of all others. What has no distance is drawn without a look at its
    secret. If the document of each slot is given, the dates of a document are moved together.

    >>> from malaprop import seeded_rng
    >>> from malaprop.text.kinds.grammar import read_value
    >>> form, year = read_value("2023", "mdy")
    >>> drawn = draw_values([form] * 4, [year] * 4, StepSizes(), 1.0, seeded_rng(4))
    >>> write_values([form] * 4, drawn)
    ['2024', '2023', '2022', '2025']
    """
    rng = begin_call(rng)
    values = np.empty(len(forms), dtype=object)
    secrets = np.asarray(ids, dtype=np.int64)
    groups: dict[ValueGrid | StandIn, list[int]] = defaultdict(list)
    for slot, form in enumerate(forms):
        groups[form.grid if isinstance(form, ValueForm) else cast(StandIn, form)].append(slot)
    shifts: dict[str, Ids] = {}
    if documents is not None:
        for kind, grid in SHIFTED.items():
            rate, last = shift_rate(grid, steps, epsilon), int(documents.max(initial=-1))
            shifts[kind] = whole_shifts(last + 1, rate, rng)
    for group, slots in groups.items():
        if isinstance(group, StandIn):
            values[slots] = group.draw(len(slots), rng)
        elif documents is not None and group.kind in shifts:
            by = shifts[group.kind][documents[slots]]
            values[slots] = group.moved(secrets[slots], by).tolist()
        else:
            channel = value_channel(group, steps, epsilon)
            values[slots] = channel.substitute(secrets[slots], rng).tolist()
    return cast(list[Value], values.tolist())


@lru_cache(maxsize=64)  # a path takes a while to lay out, and privatizers are alike
def value_channel(grid: ValueGrid, steps: StepSizes, epsilon: float) -> PathChannel:
    """Return the channel on a grid, with ε a step."""
    return PathChannel(Path.of_steps(grid.places(steps)), epsilon, grid.step(steps))


def shift_rate(grid: ValueGrid, steps: StepSizes, epsilon: float) -> float:
    """Return by how many nats a shift by one more place of a grid is less likely."""
    return epsilon * float(grid.places(steps)[1])


def write_values(forms: Sequence[Form], values: Sequence[Value]) -> list[str]:
    """Write drawn values in the forms of their slots."""
    return [
        cast(ValueForm | StandIn, form).write(value)  # type: ignore[arg-type]
        for form, value in zip(forms, values, strict=True)
    ]


class SharedDraws(NamedTuple):
    """Which slots of texts are drawn, and which of the draws each slot shows."""

    slots: Ids
    """The slots to draw for: the first place of each distinct value of each text."""
    counts: Ids
    """How many draws each text has: its distinct values."""
    shown: Ids
    """Which of the draws each slot shows."""


def share_draws(ids: Ids, slot_counts: Sequence[int], groups: Ids | None = None) -> SharedDraws:
    """Return one draw for each distinct value of each text.

    `ids` are the values of all slots, text by text, and `slot_counts` says how many each text has.
    `groups` holds a number for the kind and grid of each slot: values of different groups are
    never equal. Without it, all slots are words.

    >>> share_draws(np.array([7, 5, 7, 7]), [3, 1])
    SharedDraws(slots=array([0, 1, 3]), counts=array([2, 1]), shown=array([0, 1, 0, 2]))
    """
    texts = np.repeat(np.arange(len(slot_counts)), slot_counts)
    order, starts = runs([texts, ids] if groups is None else [texts, groups, ids])
    first = np.zeros(len(ids), dtype=np.bool_)
    first[order[starts]] = True  # a stable order: the first of a run is the first in its text
    numbers = np.cumsum(first) - 1
    shown = np.empty(len(ids), dtype=np.int64)
    shown[order] = np.repeat(numbers[order[starts]], np.diff(starts, append=len(ids)))
    slots = np.flatnonzero(first)
    return SharedDraws(slots, np.bincount(texts[slots], minlength=len(slot_counts)), shown)


def group_numbers(forms: Sequence[Form]) -> Ids:
    """Return a number for each slot, from 1: the same for slots whose values can be equal.

    The grid alone does not tell: 35 is 3.5 with one decimal, and 0.35 with two.
    """
    known: dict[Hashable, int] = {}
    groups = (
        (form.grid, form.unit) if isinstance(form, ValueForm) else cast(StandIn, form).shared
        for form in forms
    )
    numbers = (known.setdefault(group, len(known) + 1) for group in groups)
    return np.fromiter(numbers, dtype=np.int64, count=len(forms))


def runs(columns: Sequence[Ids]) -> tuple[Ids, Ids]:
    """Sort rows by columns, the first column first; return the order, and where new rows start."""
    order = np.arange(len(columns[0]))
    changes = np.zeros(len(order), dtype=np.bool_)
    if len(order):
        changes[0] = True
    for column in reversed(columns):
        numbers = column - column.min(initial=0)
        order = order[order_of(numbers[order], int(numbers.max(initial=0)) + 1)]
    for column in columns:
        changes[1:] |= np.diff(column[order]) != 0
    return order, np.flatnonzero(changes)

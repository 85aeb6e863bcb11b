"""Draws for the slots of texts: the only step in which secret words and values become others."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from malaprop.core.arrays import Ids
from malaprop.core.channel import Channel
from malaprop.core.sampling.stocked import StockedChannel
from malaprop.pipeline.repetition import share_draws
from malaprop.pipeline.values import Value, ValueDraws, group_numbers, written
from malaprop.text import ParsedTexts, Policy
from malaprop.text.forms.form import Form


class DrawnSlots(NamedTuple):
    """What was drawn for the slots of texts."""

    words: Ids
    """A word for each slot; it means nothing where the slot is typed."""
    values: list[str]
    """The written values of typed slots."""
    draws: Sequence[int]
    """How many draws each text has: one per slot, or one per distinct value."""


class SlotDraws:
    """Draws words from a channel, and values from their grids, for the slots of parsed texts."""

    def __init__(self, channel: Channel, values: ValueDraws | None, policy: Policy) -> None:
        """Draw words from `channel`; `values` is None if values are words to the policy."""
        self._stocked, self._values = StockedChannel(channel), values
        self._shared = policy.repeat == "document"

    def share(self, rng: Generator) -> Callable[[float], None]:
        """Have forks of this process draw ahead for each other; see `StockedChannel.share`."""
        return self._stocked.share(rng)

    def draw(self, parsed: ParsedTexts, rng: Generator) -> DrawnSlots:
        """Draw for all slots of some texts together."""
        ids, typed, forms = parsed.ids, parsed.typed, parsed.forms
        if not self._shared:
            words, values = self._independent(ids, typed, forms, rng)
            shown = written(forms, values) if len(forms) else []
            return DrawnSlots(words, shown, parsed.slot_counts)
        groups = np.zeros(len(ids), dtype=np.int64)
        groups[typed] = group_numbers(forms)
        shared = share_draws(ids, parsed.slot_counts, groups)
        chosen = typed[shared.slots]
        first_forms = [forms[i] for i in (np.cumsum(typed) - 1)[shared.slots[chosen]]]
        words, values = self._independent(ids[shared.slots], chosen, first_forms, rng)
        words[chosen] = np.arange(len(values))  # where the value of a slot is
        words = shared.spread(words)
        spread = [values[i] for i in words[typed].tolist()]
        return DrawnSlots(words, written(forms, spread), shared.counts.tolist())

    def _independent(
        self, ids: Ids, typed: NDArray[np.bool_], forms: Sequence[Form], rng: Generator
    ) -> tuple[Ids, list[Value]]:
        """Draw for each slot by itself: words, and values for slots that are typed."""
        if self._values is None or not len(forms):
            return self._stocked.substitute(ids, rng), []
        drawn = np.zeros_like(ids)
        drawn[~typed] = self._stocked.substitute(ids[~typed], rng)
        return drawn, self._values.draw(forms, ids[typed], rng)

"""The one step in which secret words and values become others."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple, Self, cast

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from malaprop.privacy.arrays import Ids
from malaprop.privacy.channel import Channel, LawChannel, PathChannel
from malaprop.privacy.errors import ParameterError
from malaprop.privacy.guarantee import Guarantee, KindPromise
from malaprop.privacy.law import Law, path_numerics
from malaprop.privacy.metrics import UNITS, Path
from malaprop.privacy.randomness import SecureGenerator, begin_call
from malaprop.privacy.stock import Stock
from malaprop.release import REPEATS, runs, text_numbers
from malaprop.text.kinds import Form, StandIn, ValueForm
from malaprop.text.kinds.grids import GRIDS, StepSizes, ValueGrid
from malaprop.text.kinds.identifiers import EMAIL, MENTION, URL, IdentifierForm
from malaprop.text.parser import ParsedTexts
from malaprop.text.policy import Policy

# Words that occur several times in a text: one draw for all their places, and what they reveal.
#
# With `repeat="fresh"`, every place of a text has a draw of its own. With `repeat="document"`,
# equal values of a text share one draw. Values are equal if kind, grid, unit and mapped value are:
# words that the public map takes to the same word get the same draw, or their draws would tell them
# apart. Different texts never share a draw.


MANY = 5
"""Occurrences of a content word in a text from which they tell what it is."""


@dataclass(frozen=True, eq=False)
class SharedDraws:
    """Which slots of texts are drawn, and which of the draws each slot shows.

    >>> shared = share_draws(np.array([7, 5, 7, 7]), [3, 1])
    >>> shared.slots, shared.counts
    (array([0, 1, 3]), array([2, 1]))
    >>> shared.spread(np.array([70, 50, 71]))
    array([70, 50, 70, 71])
    """

    slots: Ids
    """The slots to draw for: the first place of each distinct value of each text."""
    counts: Ids
    """How many draws each text has: its distinct values."""
    _shown: Ids

    def spread(self, drawn: Ids) -> Ids:
        """Return what all slots show, given what was drawn for `slots`."""
        return drawn[self._shown]


def share_draws(ids: Ids, slot_counts: Sequence[int], groups: Ids | None = None) -> SharedDraws:
    """Return one draw for each distinct value of each text.

    `ids` are the values of all slots, text by text, and `slot_counts` says how many each text has.
    `groups` holds a number for the kind and grid of each slot: values of different groups are
    never equal. Without it, all slots are words.
    """
    texts = text_numbers(slot_counts)
    columns = [texts, ids] if groups is None else [texts, groups, ids]
    order, starts = runs(columns)
    first = np.zeros(len(ids), dtype=np.bool_)
    first[order[starts]] = True  # a stable order: the first of a run is the first in its text
    numbers = np.cumsum(first) - 1
    shown = np.empty(len(ids), dtype=np.int64)
    shown[order] = np.repeat(numbers[order[starts]], np.diff(starts, append=len(ids)))
    slots = np.flatnonzero(first)
    return SharedDraws(slots, np.bincount(texts[slots], minlength=len(slot_counts)), shown)


@dataclass(frozen=True, kw_only=True)
class Repetition:
    """How often content words occur in one text, and what that many draws tell: for the owner.

    Content words are those beyond the `common` most frequent words of the lexicon.
    """

    common: int
    most: int = 0
    """The largest number of occurrences of one content word in one text; 0 if below 3."""
    texts: int = 0
    """How many texts have a content word that occurs 5 times or more."""
    recovered: tuple[tuple[int, float], ...] = ()
    """Numbers of draws of a word, and the share of words that an observer recovers from them."""

    def to_dict(self) -> dict[str, object]:
        """Return the facts as plain values for JSON."""
        return {
            "most_occurrences_of_a_content_word_in_a_text": self.most,
            "texts_with_a_content_word_5_times_or_more": self.texts,
            "words_that_are_no_content": self.common,
            "share_recovered_by_draws": {str(k): round(share, 3) for k, share in self.recovered},
        }


def split_repeats(counts: Mapping[str, int]) -> tuple[dict[str, int], dict[int, int]]:
    """Return the other counts, and how many texts repeat a content word how often."""
    repeats = {
        int(name.removeprefix(REPEATS)): count
        for name, count in counts.items()
        if name.startswith(REPEATS)
    }
    return {n: count for n, count in counts.items() if not n.startswith(REPEATS)}, repeats


# Draws values: numbers, dates and times on paths, stand-ins for identifiers and addresses.


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
    >>> from malaprop.text.kinds.grammar import read_value as read
    >>> form, year = read("2023", "mdy")
    >>> draws = ValueDraws(StepSizes(), 1.0)
    >>> write_values([form] * 4, draws.draw([form] * 4, [year] * 4, seeded_rng(4)))
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
        rng = begin_call(rng)
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


def write_values(forms: Sequence[Form], values: Sequence[Value]) -> list[str]:
    """Write drawn values in the forms of their slots."""
    return [
        form.write(value) if isinstance(form, ValueForm) else cast(str, value)  # type: ignore[arg-type]
        for form, value in zip(forms, values, strict=True)
    ]


def grid_value(form: Form, secret: int) -> str:
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


# Draws for the slots of texts: the only step in which secret words and values become others.


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
        self._words = Stock(channel) if isinstance(channel, LawChannel) else channel
        self._channel, self._values = channel, values
        self._shared = policy.repeat == "document"

    def share(self, rng: Generator) -> Callable[[float], None]:
        """Have processes that are forked from now on draw ahead for each other.

        Returns a callback; call it with about how many calls of `draw` there will be.
        """
        if not isinstance(self._words, Stock) or not isinstance(rng, SecureGenerator):
            return lambda orders: None
        self._words = Stock(cast(LawChannel[Law], self._channel), shared=True)
        return self._words.expect_orders

    def draw(self, parsed: ParsedTexts, rng: Generator) -> DrawnSlots:
        """Draw for all slots of some texts together."""
        ids, typed, forms = parsed.ids, parsed.typed, parsed.forms
        if not self._shared:
            words, values = self._independent(ids, typed, forms, rng)
            shown = write_values(forms, values) if len(forms) else []
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
        return DrawnSlots(words, write_values(forms, spread), shared.counts.tolist())

    def _independent(
        self, ids: Ids, typed: NDArray[np.bool_], forms: Sequence[Form], rng: Generator
    ) -> tuple[Ids, list[Value]]:
        """Draw for each slot by itself: words, and values for slots that are typed."""
        if self._values is None or not len(forms):
            return self._words.substitute(ids, rng), []
        drawn = np.zeros_like(ids)
        drawn[~typed] = self._words.substitute(ids[~typed], rng)
        return drawn, self._values.draw(forms, ids[typed], rng)

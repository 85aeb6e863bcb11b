"""What may be published."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import cast

import numpy as np

from malaprop._version import __version__
from malaprop.draws import shift_rate
from malaprop.privacy import notebook
from malaprop.privacy.errors import ParameterError
from malaprop.privacy.guarantee import EACH_DISTINCT_WORD, Guarantee, Kind, KindPromise
from malaprop.privacy.law import path_numerics
from malaprop.privacy.metrics import UNITS
from malaprop.privacy.sampling import usual_shift
from malaprop.text.kinds import KINDS
from malaprop.text.kinds.dates import MONTHS, SHIFTED
from malaprop.text.kinds.grids import GRIDS, StepSizes, ValueGrid
from malaprop.text.markup import MARKUP_SHOWN
from malaprop.text.missing import MaybeText
from malaprop.text.people import CLASSES, PLURALS
from malaprop.text.people import SHA256 as LISTS_SHA256
from malaprop.text.policy import Policy, Readable
from malaprop.text.public import PLACEHOLDERS
from malaprop.text.word_map import MAP_VERSION

# From the guarantee for a word to that for texts, under a policy.

_MOST_NAMED = 10


def declared_public(policy: Policy) -> tuple[str, ...]:
    """List what a policy declares public, in a few words.

    >>> declared_public(Policy(keep=["placeholders", "flu"], markup="html"))
    ('the tags of HTML', 'placeholders', 'the kept word “flu”')
    """
    words = [entry for entry in policy.keep if entry != PLACEHOLDERS]
    return (
        *([MARKUP_SHOWN[policy.markup]] if policy.markup else []),
        *([PLACEHOLDERS] if PLACEHOLDERS in policy.keep else []),
        *([_named(words)] if words else []),
    )


def _named(words: Sequence[str]) -> str:
    if len(words) > _MOST_NAMED:
        return f"the {len(words):,} kept words"
    return f"the kept word{'s' * (len(words) > 1)} {', '.join(f'“{word}”' for word in words)}"


INTERVALS = "intervals between dates, and between months"
"""What shows of dates that are moved together."""


def redrawn_facts(policy: Policy) -> list[str]:
    """List what anybody can see of the names and places that are redrawn."""
    joined = ", titles and initials before names" if "names" in policy.redraw else ""
    what, kinds = " and ".join(policy.redraw), [k for name in policy.redraw for k in CLASSES[name]]
    plurals = [PLURALS.get(kind, f"{kind}s") for kind in kinds]
    classes = f"{', '.join(plurals[:-1])} or {plurals[-1]}"
    decides = f"by spelling, capitals and the signs before them, an 's behind them{joined}"
    return [f"which words count as {classes}, {decides}", f"which {what} of a text are equal"]


ENTITIES = (
    "where entities are, of which class, with an 's behind them or not, which persons have several "
    "words, and which entities or first and last words of persons are equal"
)
"""What shows of entities. It depends on the text, as a detector does."""


def text_guarantee(
    guarantee: Guarantee, policy: Policy, *, spans: bool = False, entities: bool = False
) -> Guarantee:
    """Extend a word's guarantee to texts that differ in one word, under a policy.

    With `spans`, all that is outside given spans of the texts is public. With `entities`, what a
    detector found is drawn anew.
    """
    if policy.unknown == "keep":
        return replace(
            guarantee,
            kind=Kind.NONE,
            reason="words outside the lexicon are kept as they are (unknown = keep); "
            f"for the words of the lexicon alone, {guarantee}".rstrip("."),
        )
    if policy.repeat == "document":
        guarantee = replace(guarantee, per=EACH_DISTINCT_WORD)
    typed = policy.kinds == "typed"
    texts = (
        f"look alike when private ({', '.join(_shown(policy, spans, entities))}), each word "
        "counting as the "
        "lexicon word that it is mapped to"
        f"{', each value as the nearest one of its grid' if typed else ''}"
    )
    public = list(guarantee.public)
    if policy.unknown == "map":
        public.append(f"the map of unknown words (version {MAP_VERSION})")
    if declared := declared_public(policy):
        texts += f", with the same public pieces and no others ({'; '.join(declared)})"
        public += declared
        if policy.keep:
            public.append("that a word was not kept")
    if spans:
        texts += ", with the same spans and equal text outside them"
        public.append("the spans, and the text outside them")
    if entities:
        public.append(f"{ENTITIES}, which may depend on all of the text")
    return replace(guarantee, texts=texts, public=tuple(public))


def _shown(policy: Policy, spans: bool, entities: bool) -> list[str]:
    """List what anybody can see of a text, so that two texts must have it in common."""
    shown = ["words' places"]
    if policy.kinds == "typed":
        shown.append("kinds and formats of values")
    if policy.punctuation == "keep":
        shown += ["punctuation", "spacing"]
    else:
        shown.append("line breaks")
        if spans or policy.keep or policy.markup:  # a gap there is a space, no gap is none
            shown.append("gaps beside public pieces")
    if policy.unknown == "mask":
        shown.append("masks")
    if policy.shift_dates:
        shown.append(INTERVALS)
    if policy.redraw:
        shown += redrawn_facts(policy)
    if entities:
        shown.append(ENTITIES)
    if policy.repeat == "document":
        values = " or values" if policy.kinds == "typed" else ""
        shown.append(f"which places hold equal words{values}")
    return shown


def with_shown(guarantee: Guarantee, shown: Sequence[str]) -> Guarantee:
    """Name what the formats of files show of texts: texts must have it in common."""
    if not shown:
        return guarantee
    texts = f"{guarantee.texts}, with equal structure ({'; '.join(shown)})"
    return replace(guarantee, texts=texts, public=(*guarantee.public, *shown))


def smoothed_by(guarantee: Guarantee, model: str, setting: Readable) -> Guarantee:
    """Name the model that smooths the texts, by its fingerprint, and how, among what is public."""
    told = f"the bigrams {model[:16]} that smooth, and the setting: {setting}"
    return replace(guarantee, public=(*guarantee.public, told))


_FLOATS = "float64; "  # how the arithmetic of words and of values begins


def with_values(guarantee: Guarantee, policy: Policy) -> Guarantee:
    """Extend a guarantee for words to texts that hold values, too, if the policy has any."""
    if policy.redraw:
        guarantee = _with_people(guarantee, policy)
    epsilon, steps = policy.kind_epsilon, policy.steps
    if policy.kinds != "typed" or epsilon is None or not isinstance(steps, StepSizes):
        return guarantee
    on_paths = {
        grid.kind: KindPromise(
            name=grid.kind,
            epsilon=epsilon,
            step=grid.step(steps),
            zcdp=epsilon**2 / 2.0,
            plural=grid.plural,
            together=_shift_of(grid, policy),
        )
        for grid in GRIDS.values()
    }
    anew = {
        kind.drawn_anew: KindPromise(name=kind.drawn_anew, epsilon=0.0, plural=kind.plural)
        for kind in KINDS.values()
        if kind.drawn_anew
    }
    texts = guarantee.with_kinds((*on_paths.values(), *anew.values(), *guarantee.kinds[1:]))
    longest, gap = _extremes(steps)
    of_values = path_numerics(epsilon, math.inf if policy.shift_dates else longest, gap)
    if texts.numerics.startswith(_FLOATS):
        of_values = of_values.removeprefix(_FLOATS)
    return replace(
        texts,
        public=(*texts.public, "the grids of values and their steps"),
        numerics="; ".join(filter(None, (texts.numerics, of_values))),
    )


def _with_people(guarantee: Guarantee, policy: Policy) -> Guarantee:
    """Extend a guarantee for words to texts whose names and places are redrawn."""
    _require_distance(guarantee, "`redraw` needs")
    promises = (
        KindPromise(name=kind, epsilon=0.0, plural=PLURALS.get(kind, ""))
        for name in policy.redraw
        for kind in CLASSES[name]
    )
    public = (*guarantee.public, f"the lists of names and places ({LISTS_SHA256[:12]})")
    return replace(guarantee.with_kinds(promises), public=public)


def with_entities(guarantee: Guarantee, policy: Policy) -> Guarantee:
    """Extend a guarantee to texts in which entities are drawn anew."""
    _require_distance(guarantee, "Entities need")
    promise = KindPromise(name="entity", epsilon=0.0, plural="entities")
    if guarantee.kinds:
        others = (*guarantee.kinds[1:], promise)
        extended = replace(guarantee, kinds=(guarantee.kinds[0], *others))
    else:
        extended = guarantee.with_kinds([promise])
    lists = f"the lists of names and places ({LISTS_SHA256[:12]})"
    return replace(extended, public=tuple(dict.fromkeys((*extended.public, lists))))


def _require_distance(guarantee: Guarantee, needs: str) -> None:
    if guarantee.kind not in (Kind.METRIC, Kind.NONE) or guarantee.delta:
        raise ParameterError(
            f"{needs} a mechanism that promises an ε per unit of distance, without a δ. This one "
            f"promises {guarantee.kind}: leave them out, or choose another mechanism."
        )


def _shift_of(grid: ValueGrid, policy: Policy) -> str:
    """Say how far a shift moves the values of a grid; nothing if they are drawn one by one."""
    if not policy.shift_dates or grid.kind not in SHIFTED:
        return ""
    steps, epsilon = cast(StepSizes, policy.steps), cast(float, policy.kind_epsilon)
    usual = usual_shift(shift_rate(SHIFTED[grid.kind], steps, epsilon))
    unit = "month" if grid.kind == MONTHS.kind else "day"
    return f"95 % of shifts are of {usual:,} {unit}{'s' * (usual != 1)} or less"


@lru_cache(maxsize=64)
def _extremes(steps: StepSizes) -> tuple[float, float]:
    """Return the length of the longest path and the least gap on any path, in steps."""
    paths = [np.rint(grid.places(steps) * UNITS) for grid in GRIDS.values()]
    longest = max(float(path[-1] - path[0]) for path in paths)
    return longest / UNITS, min(float(np.diff(path).min()) for path in paths) / UNITS


def of_length(guarantee: Guarantee, words: int) -> Guarantee:
    """Extend a guarantee for texts to those that differ in up to `words` words."""
    return guarantee if guarantee.kind is Kind.NONE else guarantee.for_words(max(1, words))


VISIBLE = ("protected", "masked", "public_markup")
"""Counts that anybody can read off the private text itself."""
WORDLESS = (
    "the text has no words: its signs are shown as they are, and nothing is promised for them"
)
"""What is said of a text that is signs alone, as Morse code is. Anybody can see that it is so."""


@dataclass(frozen=True, kw_only=True)
class ListRelease:
    """Several private texts, with one guarantee that holds for each of them."""

    texts: list[str | MaybeText]
    """The private texts; missing ones are where they were."""
    guarantee: Guarantee
    """What is promised for the longest text, and so for each. Texts about one person lose more
    together: see `malaprop.ledger`."""
    warnings: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Release:
    """A private text with its guarantee. All that `to_dict` holds may be published.

    `counts` is for the owner of the text only: how many words were in the lexicon, mapped to
    it, dropped and so on depends on the input in ways that the guarantee does not cover, so
    `to_dict` leaves those counts out. How many words came back unchanged is not counted at all:
    together with the private text, it would give words away.
    """

    text: str
    """The private text."""
    drawn: str
    """The private text as it was drawn: the same, unless it was made readable."""
    guarantee: Guarantee
    """What is promised for the whole text."""
    counts: Mapping[str, int] = field(repr=False)
    """How many tokens of the text were treated in which way; for the owner of the text."""
    mechanism: Mapping[str, object] = field(repr=False)
    """Name and parameters of the mechanism."""
    lexicon: Mapping[str, str] = field(repr=False)
    """Name and fingerprint of the lexicon."""
    policy: Mapping[str, object] = field(repr=False)
    """How words outside the lexicon, values and punctuation were treated."""
    randomness: str
    """`secure`, or `seeded: not private`."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the guarantee does not say: that there was nothing to protect."""
        return (WORDLESS,) if self.counts.get("wordless") else ()

    def to_dict(self) -> dict[str, object]:
        """Return the release as plain values for JSON."""
        return {
            "text": self.text,
            **({"drawn": self.drawn} if self.drawn != self.text else {}),
            "guarantee": self.guarantee.to_dict(),
            "warnings": list(self.warnings),
            "counts": {name: self.counts[name] for name in VISIBLE if name in self.counts},
            "mechanism": dict(self.mechanism),
            "lexicon": dict(self.lexicon),
            "policy": dict(self.policy),
            "randomness": self.randomness,
            "malaprop": __version__,
        }

    def _repr_html_(self) -> str:
        """Return the release for a notebook: like `to_dict`, only what may be published."""
        values = [f"{k}={v}" for k, v in self.mechanism.items() if k != "name" and v is not None]
        rows = [
            ("warnings", "; ".join(self.warnings)),
            ("guarantee", str(self.guarantee)),
            ("words", f"{self.counts['protected']:,}"),
            ("mechanism", f"{self.mechanism['name']}({', '.join(values)})"),
            ("lexicon", self.lexicon["name"] or self.lexicon["fingerprint"][:12]),
            ("policy", ", ".join(f"{name}={value}" for name, value in self.policy.items())),
            ("randomness", self.randomness),
        ]
        return notebook.paragraph(self.text) + notebook.facts(rows)

    def __str__(self) -> str:
        return self.text

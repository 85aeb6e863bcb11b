"""What may be published."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from malaprop._version import __version__
from malaprop.privacy import notebook
from malaprop.privacy.arrays import Ids, order_of
from malaprop.privacy.guarantee import EACH_DISTINCT_WORD, Guarantee, Kind
from malaprop.text.policy import Policy
from malaprop.text.public import PLACEHOLDERS
from malaprop.text.word_map import MAP_VERSION

# How the tokens of texts were treated and how often words repeat, for the owner of the texts.


REPEATS = "repeats_"
"""How counts of texts that repeat a word are named, before the number of occurrences."""
_SOME = 3  # occurrences of a content word in a text from which they are counted
_COMMON = 500  # words of a large lexicon that are too frequent to count as content


def counted(drawn: int, words: Any, punctuation: Any, treated: dict[str, int]) -> dict[str, int]:
    """Return how many words were drawn, how many texts show mostly signs, and the rest.

    `words` and `punctuation` are the counts of one text, or arrays for several texts.
    """
    return {
        "protected": drawn,
        "wordless": _how_many((words == 0) & (punctuation > 0)),
        "mostly_signs": _how_many((words > 0) & (punctuation > words)),
        **treated,
    }


def _how_many(texts: Any) -> int:
    """Count the texts of which something is true; for one text, numpy would take longer."""
    return int(texts) if isinstance(texts, bool) else int(np.count_nonzero(texts))


def common_words(size: int) -> int:
    """Return how many words at the head of a lexicon are too frequent to count as content.

    Lexicons list frequent words first: of `size` words the first 500, at most a tenth of them.
    """
    return min(_COMMON, size // 10)


def count_repeats(ids: Ids, slot_counts: Sequence[int], common: int) -> dict[str, int]:
    """Count texts by how often their most frequent content word occurs, from 3 times on.

    The words with ids below `common` are not content. The counts of several batches add up.

    >>> count_repeats(np.array([9, 9, 9, 0, 9, 0, 0, 0, 0]), [4, 5], common=5)
    {'repeats_3': 1}
    """
    content = np.flatnonzero(ids >= common)
    if len(content) < _SOME:
        return {}
    texts = text_numbers(slot_counts)[content]
    order, starts = runs([texts, ids[content]])
    occurrences = np.diff(starts, append=len(order))
    owners = texts[order[starts]]
    most = np.maximum.reduceat(occurrences, np.flatnonzero(np.diff(owners, prepend=-1)))
    numbers, counts = np.unique(most[most >= _SOME], return_counts=True)
    return {f"{REPEATS}{n}": int(c) for n, c in zip(numbers.tolist(), counts, strict=True)}


def text_numbers(slot_counts: Sequence[int]) -> Ids:
    """Return the number of each slot's text."""
    return np.repeat(np.arange(len(slot_counts)), slot_counts)


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


# From the guarantee for a word to that for texts, under a policy.


_MOST_NAMED = 10


def declared_public(policy: Policy) -> tuple[str, ...]:
    """List what a policy declares public, in a few words.

    >>> declared_public(Policy(keep=["placeholders", "flu"], markup="html"))
    ('the tags of HTML', 'placeholders', 'the kept word “flu”')
    """
    words = [entry for entry in policy.keep if entry != PLACEHOLDERS]
    return (
        *(["the tags of HTML"] if policy.markup else []),
        *([PLACEHOLDERS] if PLACEHOLDERS in policy.keep else []),
        *([_named(words)] if words else []),
    )


def _named(words: Sequence[str]) -> str:
    if len(words) > _MOST_NAMED:
        return f"the {len(words):,} kept words"
    return f"the kept word{'s' * (len(words) > 1)} {', '.join(f'“{word}”' for word in words)}"


def text_guarantee(guarantee: Guarantee, policy: Policy, *, spans: bool = False) -> Guarantee:
    """Extend a word's guarantee to texts that differ in one word, under a policy.

    With `spans`, all that is outside given spans of the texts is public.
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
        f"look alike when private ({', '.join(_shown(policy, spans))}), each word counting as the "
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
    return replace(guarantee, texts=texts, public=tuple(public))


def _shown(policy: Policy, spans: bool) -> list[str]:
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
    if policy.repeat == "document":
        values = " or values" if policy.kinds == "typed" else ""
        shown.append(f"which places hold equal words{values}")
    return shown


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
class Release:
    """A private text with its guarantee. All that `to_dict` holds may be published.

    `counts` is for the owner of the text only: how many words were in the lexicon, mapped to
    it, dropped and so on depends on the input in ways that the guarantee does not cover, so
    `to_dict` leaves those counts out. How many words came back unchanged is not counted at all:
    together with the private text, it would give words away.
    """

    text: str
    """The private text."""
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

"""From the guarantee for a word to that for texts, under a policy."""

from collections.abc import Sequence
from dataclasses import replace

from malaprop.core.guarantee import Guarantee, Kind
from malaprop.core.statements import EACH_DISTINCT_WORD
from malaprop.text import MAP_VERSION, Policy
from malaprop.text.public import PLACEHOLDERS

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


def for_texts(guarantee: Guarantee, policy: Policy, *, spans: bool = False) -> Guarantee:
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

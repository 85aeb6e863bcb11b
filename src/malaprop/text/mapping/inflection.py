"""Undo English inflection: candidates for the base form of a word."""

import re
from collections.abc import Iterator

# In the order in which they are tried: the first that leads to a known word wins.
_ENDINGS = (
    *("ness", "ment", "able", "ible", "est", "ing", "ful", "ish", "ed", "er", "ly"),
    "s",
)
_ENDINGS_BY_LETTER = {
    letter: tuple(ending for ending in _ENDINGS if ending[-1] == letter)
    for letter in {ending[-1] for ending in _ENDINGS}
}
# One vowel and one consonant: a silent e was dropped ("hop-ing" comes from "hope", not "hop").
_LOST_E = re.compile(r"(?:.*[^aeiou])?[aeiouy][^aeiouwxy]")
_VOWEL = re.compile("[aeiouy]")


def base_forms(word: str) -> Iterator[str]:
    """Yield candidates for the base form: without one ending, likeliest first, then without two.

    >>> next(base_forms("cities")), next(base_forms("hoping")), list(base_forms("running"))
    ('city', 'hope', ['runn', 'run', 'runne'])
    """
    if word[-1:] in _ENDINGS_BY_LETTER:
        once = list(_without_ending(word))
        yield from once
        for form in once:
            yield from _without_ending(form)


def _without_ending(word: str) -> Iterator[str]:
    for ending in _ENDINGS_BY_LETTER.get(word[-1:], ()):
        stem = word.removesuffix(ending)
        if 2 <= len(stem) < len(word) and _VOWEL.search(stem):
            yield from _singular(stem) if ending == "s" else _restored(stem, ending)


def _singular(stem: str) -> Iterator[str]:
    """Yield base forms of a word in -s: "city", "knife", "make", "box"."""
    if stem.endswith("ie"):
        yield f"{stem[:-2]}y"
    if stem.endswith("ve"):
        yield f"{stem[:-2]}f"
        yield f"{stem[:-2]}fe"
    if not stem.endswith("s"):
        yield stem
    if stem.endswith("e"):
        yield stem[:-1]


def _restored(stem: str, ending: str) -> Iterator[str]:
    """Yield base forms, last letter restored: "happi-er", "hop-ing", "runn-ing", "dy-ing"."""
    if stem.endswith("i"):
        yield f"{stem[:-1]}y"
    if ending == "ing" and stem.endswith("y"):
        yield f"{stem[:-1]}ie"
    if _LOST_E.fullmatch(stem):
        yield f"{stem}e"
    yield stem
    if len(stem) > 2 and stem[-1] == stem[-2]:
        yield stem[:-1]
    if not _LOST_E.fullmatch(stem):
        yield f"{stem}e"
    if ending == "ly":
        yield f"{stem}le"

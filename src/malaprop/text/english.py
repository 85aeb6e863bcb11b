"""What is English: articles, inflection, contractions, number words, months, …

Whatever depends on the language of a text is here, and its lists of words in `english.toml`. Texts
are in small letters, unless said otherwise.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any
from unicodedata import decimal

from malaprop.data import DATA

_TABLES: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


def _words(name: str) -> tuple[str, ...]:
    return tuple(_TABLES[name].split())


# Choose “a” or “an” by the sound of the next word: a repair of the output.
#
# It reads drawn words only, never the input text, so it reveals nothing more.

ARTICLES = frozenset({"a", "an"})
"""Words that are fitted to the next word by `article_before`."""
TELLING_WORDS = ARTICLES | {"the"}
"""A lexicon with these words has the articles of English."""

# Written with a consonant, spoken with a vowel: an hour, an heir, an x.
# Numbers: an 8, an 11, an 18, an 80, an 11th, an 18,000; but a 110 and a 1,800.
_VOWEL = re.compile(
    r"[aeiou]|hour|honest|honou?r|heir|[fhlmnrsx]$|\$?8|\$?1[18](?:,\d{3})*+(?![\d,])"
)
# Written with a vowel, spoken with a consonant: a unit, a user, a euro, a one-off.
_CONSONANT = re.compile(
    r"uni(?![dmn])|unanim|unesco|us(?!h)|ut[aceio]|ur[aeiou]|u(?:ae|bi|c|ef|f|ga|hf|i|k|lys|v|$)"
    r"|eu|ewe|one(?!r)|once|oui"
)
# Spelt out, letter by letter: an FBI agent, an MRI, a UN envoy; but a RAM, a NATO base.
_SPELT = re.compile(
    r"(?!HUD|LAN|NAS|RAM|REM|ROM)(?:U[A-Z]+|[A-Z]{2,3}|[A-Z][B-DF-HJ-NP-TV-Z][A-Z]+)s?"
)
_NAMED_WITH_VOWEL = frozenset("AEFHILMNORSX")


@lru_cache(maxsize=2**15)
def article_before(word: str) -> str:
    """Return the article that a word takes, as it is written, or a number.

    >>> [article_before(word) for word in ("apple", "hour", "user", "uninvited", "house")]
    ['an', 'an', 'a', 'an', 'a']
    >>> [article_before(word) for word in ("MRI", "USA", "NATO", "Irish")]
    ['an', 'a', 'a', 'an']
    >>> [article_before(number) for number in ("8", "11", "110", "18th", "80%", "1800")]
    ['an', 'an', 'a', 'an', 'an', 'a']
    """
    if _SPELT.fullmatch(word):
        return "an" if word[0] in _NAMED_WITH_VOWEL else "a"
    word = word.lower()
    return "an" if _VOWEL.match(word) and not _CONSONANT.match(word) else "a"


# Capitals: London, Monday, USA; and what parts of contractions are written as.

CAPITALS = DATA / "english-capitals" / "words.txt"
CONTRACTIONS: dict[str, str] = _TABLES["contractions"]
"""How parts of contractions are written, and contractions without their apostrophe."""
PARTS = {
    whole.lower(): part
    for part, whole in reversed(CONTRACTIONS.items())
    if "'" in whole and "'" not in part
}
"""What contractions, in small letters, may have been drawn as; of several words, the first."""
_READ_AS: dict[str, str] = _TABLES["read_as"]
READ_AS = {whole.replace("'", ""): part for whole, part in _READ_AS.items()} | _READ_AS
"""The parts that contractions, in small letters, count as where a lexicon has them."""
CLITICS = frozenset(_words("clitics"))
"""What stands behind an apostrophe where texts are cut at it: it 's."""


@cache
def written_words() -> Mapping[str, str]:
    """Return how words are written inside a sentence, if that is not as they are.

    >>> [written_words().get(word, word) for word in ("london", "usa", "may", "isn", "ve")]
    ['London', 'USA', 'may', "isn't", 'have']
    """
    capitals = CAPITALS.read_text("ascii")
    return dict(zip(capitals.lower().split(), capitals.split(), strict=True)) | CONTRACTIONS


ANTONYMS = DATA / "english-antonyms" / "pairs.txt"


@cache
def antonyms() -> tuple[tuple[str, str], ...]:
    """Return pairs of words that mean the opposite, from WordNet.

    >>> ("alive", "dead") in antonyms(), ("decreases", "increases") in antonyms()
    (True, True)
    """
    words = ANTONYMS.read_text("ascii").split()
    return tuple(zip(words[::2], words[1::2], strict=True))


FUNCTION_WORDS = frozenset(_words("function_words"))
"""The closed list of articles, pronouns, prepositions and the like: no content words."""


# Undo English inflection: candidates for the base form of a word.


# In the order in which they are tried: the first that leads to a known word wins.
_ENDINGS = (*("ness", "ment", "able", "ible", "est", "ing", "ful", "ish", "ed", "er", "ly"), "s")
_ENDINGS_BY_LETTER = {
    letter: tuple(ending for ending in _ENDINGS if ending[-1] == letter)
    for letter in {ending[-1] for ending in _ENDINGS}
}
# One vowel and one consonant: a silent e was dropped ("hop-ing" comes from "hope", not "hop").
_LOST_E = re.compile(r"(?:.*[^aeiou])?[aeiouy][^aeiouwxy]")
_STEM_VOWEL = re.compile("[aeiouy]")


def base_forms(word: str) -> Iterator[str]:
    """Yield candidates for the base form: without one ending, likeliest first, then without two.

    >>> list(base_forms("cities"))[0], list(base_forms("running"))
    ('city', ['runn', 'run', 'runne'])
    """
    if word[-1:] in _ENDINGS_BY_LETTER:
        once = list(_without_ending(word))
        yield from once
        for form in once:
            yield from _without_ending(form)


def _without_ending(word: str) -> Iterator[str]:
    for ending in _ENDINGS_BY_LETTER.get(word[-1:], ()):
        stem = word.removesuffix(ending)
        if 2 <= len(stem) < len(word) and _STEM_VOWEL.search(stem):
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


# Read a number as one English number word.
#
# The word tells the size of the number and no more: 0 to 20 have words of their own, 21 to 99
# become their tens, and larger numbers become hundred, thousand, million, billion or trillion.

_SMALL, _TENS = _words("up_to_twenty"), _words("tens")
_IRREGULAR_ORDINALS: dict[str, str] = _TABLES["irregular_ordinals"]
# The word for a number of at most that many digits.
_LARGE = ((3, "hundred"), (6, "thousand"), (9, "million"), (12, "billion"))

# A comma belongs to the integer part only before exactly three digits; else decimals follow.
_NUMBER = re.compile(r"\d++(?:[,٬]\d{3}(?!\d))*+")
_NUMERAL = re.compile(r"[\d.,٫٬]*\d('?s)?")
_ORDINAL = re.compile(r"[\d.,٫٬]*\d(?:st|nd|rd|th)")


def number_words(text: str) -> tuple[str, ...]:
    """Return the words for a folded token that is a number, the best first; otherwise nothing.

    Digits of any script count, decimals do not. The plural of a year or a decade is a number.

    >>> [number_words(text) for text in ("42", "1,999.50", "1990s", "23rd", "b12")]
    [('forty',), ('thousand',), ('thousand',), ('twentieth', 'twenty'), ()]
    """
    first = _NUMBER.search(text)
    if first is None:
        return ()
    digits = "".join(
        str(decimal(character)) for character in first[0] if character.isdecimal()
    ).lstrip("0")
    if _ORDINAL.fullmatch(text):
        cardinal = _cardinal(digits)
        regular = f"{cardinal[:-1]}ieth" if cardinal.endswith("y") else f"{cardinal}th"
        return _IRREGULAR_ORDINALS.get(cardinal, regular), cardinal
    if _NUMERAL.fullmatch(text) or not any(character.isalpha() for character in text):
        return (_cardinal(digits),)
    return ()


def _cardinal(digits: str) -> str:
    if len(digits) <= 2:
        value = int(digits or "0")
        return _SMALL[value] if value <= 20 else _TENS[value // 10 - 1]
    return next((word for most, word in _LARGE if len(digits) <= most), "trillion")


# Contractions and possessives.

_CLITIC = re.compile(r"(.+)'(?:s|re|ve|ll|d|m)?")


def without_clitic(word: str) -> Iterable[str]:
    """Drop n't, 's and the like: "mightn't" is tried as "not", "doctor's" as "doctor"."""
    if "'" not in word:
        return ()
    if word.endswith("n't"):
        return ("not",)
    match = _CLITIC.fullmatch(word)
    return (match[1], *base_forms(match[1])) if match else ()


# Months, halves of a day and ordinals.

MONTHS = _words("months")
_SHORT_MONTHS = _words("short_months")
_MONTH_NAMES = "|".join((*sorted(MONTHS, key=len, reverse=True), *_SHORT_MONTHS))
# A month begins with a capital: "may" and "march" are also verbs.
MONTH = rf"(?=[A-Z])(?i:{_MONTH_NAMES})(?![^\W_])"
"""The pattern of a month's name, full or short."""
BEFORE_MONTH = "of"
"""The word that may stand between a day and its month."""
HALVES = ("am", "pm")
"""The halves of a day, as they are written behind an hour."""
HALF = r"(?i:[ap]\.m\.?|[ap]m)(?![^\W_])"
# "a.m." is cut at its stops.
PARTS_OF_VALUES = frozenset(
    {
        *(name.lower() for name in (*MONTHS, *_SHORT_MONTHS)),
        *(BEFORE_MONTH, *HALVES, *"".join(HALVES)),
    }
)
"""Words that may be part of a date or a time."""
ORDINAL = "(?i:st|nd|rd|th)"
"""The pattern of the suffixes of ordinals."""


def ordinal_suffix(number: int) -> str:
    """Return the suffix that a number takes as an ordinal."""
    if number % 100 in (11, 12, 13):
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")


# Parts of compounds, and what symbols and addresses are read as.

SHORT_PARTS = frozenset(_words("short_parts"))
"""Words and prefixes of two letters that may be a part of a compound."""
NOT_HEADS = SHORT_PARTS.union(_words("not_heads"))
"""Parts that a compound is not named for: function words, prefixes and endings."""
DULL_NAMES = frozenset(_words("dull_names"))
"""Words of Unicode names that do not tell what a symbol shows."""
STAND_INS: dict[str, str] = _TABLES["stand_ins"]
"""Words for web addresses, e-mail addresses, mentions, symbols and flags."""

"""What is English: articles, inflection, contractions, number words, months, …

Whatever depends on the language of a text is here. Texts are in small letters, unless said
otherwise.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from unicodedata import decimal

# Choose “a” or “an” by the sound of the next word: a repair of the output.
#
# It reads drawn words only, never the input text, so it reveals nothing more.

ARTICLES = frozenset({"a", "an"})
"""Words that are fitted to the next word by `article_before`."""
TELLING_WORDS = ARTICLES | {"the"}
"""A lexicon with these words has the articles of English."""
FIRST_PERSON = {word: f"I{word[1:]}" for word in ("i", "i'm", "i'd", "i'll", "i've")}
"""Words that are written with a capital anywhere, and how."""

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


@lru_cache(maxsize=2**15)
def article_before(word: str) -> str:
    """Return the article that a word or a number takes.

    >>> [article_before(word) for word in ("apple", "hour", "user", "uninvited", "house")]
    ['an', 'an', 'a', 'an', 'a']
    >>> [article_before(number) for number in ("8", "11", "110", "18th", "80%", "1800")]
    ['an', 'an', 'a', 'an', 'an', 'a']
    """
    return "an" if _VOWEL.match(word) and not _CONSONANT.match(word) else "a"


# English function words: articles, pronouns, prepositions, conjunctions, auxiliaries, particles.
#
# All other words count as content words. The list is closed and public.

_FUNCTION_WORDS = """
    a an the this that these those such same other another each every either neither both all any
    some no none few several many much more most less least enough own
    i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his
    himself she her hers herself it its itself they them their theirs themselves one ones who whom
    whose which what whoever whatever whichever someone anyone everyone nobody somebody anybody
    everybody something anything everything nothing
    aboard about above across after against along among amongst around as at before behind below
    beneath beside besides between beyond by despite down during except for from in inside into
    like near of off on onto out outside over past per since through throughout till to toward
    towards under underneath until up upon via with within without
    and but or nor so yet if then than because while whereas although though unless whether once
    when whenever where wherever why how
    am is are was were be been being do does did doing done have has had having will would shall
    should can could may might must ought
    not never ever also too very just only even still again here there now almost quite rather
    s t d ll m re ve don isn aren wasn weren doesn didn hasn haven hadn won wouldn shouldn couldn
    cannot
"""
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())


# Undo English inflection: candidates for the base form of a word.


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

_SMALL = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"),
    *("nineteen", "twenty"),
)
_TENS = ("ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_IRREGULAR_ORDINALS = {
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
    "twelve": "twelfth",
}
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
        return _ordinal(digits), _cardinal(digits)
    if _NUMERAL.fullmatch(text) or not any(character.isalpha() for character in text):
        return (_cardinal(digits),)
    return ()


def _cardinal(digits: str) -> str:
    if len(digits) <= 2:
        value = int(digits or "0")
        return _SMALL[value] if value <= 20 else _TENS[value // 10 - 1]
    return next((word for most, word in _LARGE if len(digits) <= most), "trillion")


def _ordinal(digits: str) -> str:
    cardinal = _cardinal(digits)
    regular = f"{cardinal[:-1]}ieth" if cardinal.endswith("y") else f"{cardinal}th"
    return _IRREGULAR_ORDINALS.get(cardinal, regular)


# Contractions and possessives.

_CLITIC = re.compile(r"(.+)'(?:s|re|ve|ll|d|m)?")


def without_clitic(word: str) -> Iterable[str]:
    """Drop n't, 's and the like: "don't" is tried as "not", "doctor's" as "doctor"."""
    if "'" not in word:
        return ()
    if word.endswith("n't"):
        return ("not",)
    match = _CLITIC.fullmatch(word)
    return (match[1], *base_forms(match[1])) if match else ()


# Months, halves of a day and ordinals.

MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September"),
    *("October", "November", "December"),
)
_FULL_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_SHORT_MONTH = "Sept|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
# A month begins with a capital: "may" and "march" are also verbs.
MONTH = rf"(?=[A-Z])(?i:{_FULL_MONTH}|{_SHORT_MONTH})(?![^\W_])"
"""The pattern of a month's name, full or short."""
BEFORE_MONTH = "of"
"""The word that may stand between a day and its month."""
HALVES = ("am", "pm")
"""The halves of a day, as they are written behind an hour."""
HALF = r"(?i:[ap]\.m\.?|[ap]m)(?![^\W_])"
"""The pattern of these."""
# "a.m." is cut at its stops.
PARTS_OF_VALUES = frozenset(
    {
        *(name.lower() for name in (*MONTHS, *_SHORT_MONTH.split("|"))),
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

# Most pairs of letters are some word: few of them may be a part of a compound.
_SHORT_PARTS = """
    am an as at be by co de do ex go he if in is it me my no of on or re so to un up us we
"""
_NOT_HEADS = """
    about all and are but for from has have her him his how its not now off our out over she some
    than that the their them then they this was what when who why will with you your
    anti mid non post pre semi sub
    ability able ally ance ary ation esque est fest fests ful ian ical ing ion ish ism ist ity ive
    ize less like ment mente ness ous ship ster tion zilla
"""
SHORT_PARTS = frozenset(_SHORT_PARTS.split())
"""Words and prefixes of two letters that may be a part of a compound."""
NOT_HEADS = SHORT_PARTS.union(_NOT_HEADS.split())
"""Parts that a compound is not named for: function words, prefixes and endings."""
_DULL_NAMES = """
    black capital face heavy large latin letter mark medium sign small symbol white
    a and for in of on or the with
"""
DULL_NAMES = frozenset(_DULL_NAMES.split())
"""Words of Unicode names that do not tell what a symbol shows."""
STAND_INS = {
    "url": "website",
    "email": "email",
    "mention": "user",
    "symbol": "symbol",
    "flag": "flag",
}
"""Words for web addresses, e-mail addresses, mentions, symbols and flags."""

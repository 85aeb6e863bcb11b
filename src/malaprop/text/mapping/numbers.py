"""Read a number as one English number word.

The word tells the size of the number and no more: 0 to 20 have words of their own, 21 to 99
become their tens, and larger numbers become hundred, thousand, million, billion or trillion.
"""

import re
from unicodedata import decimal

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

    >>> number_words("42"), number_words("1,999.50"), number_words("1990s"), number_words("23rd")
    (('forty',), ('thousand',), ('thousand',), ('twentieth', 'twenty'))
    >>> number_words("b12")
    ()
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

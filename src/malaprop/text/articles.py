"""Choose “a” or “an” by the sound of the next word: a repair of the output.

It reads drawn words only, never the input text, so it reveals nothing more.
"""

import re
from functools import lru_cache

ARTICLES = frozenset({"a", "an"})
ENGLISH_WORDS = frozenset({"a", "an", "the"})
"""A lexicon with these words is taken to be English."""

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
    >>> [article_before(number) for number in ("8", "11", "110", "18th", "80%", "1800", "180")]
    ['an', 'an', 'a', 'an', 'an', 'a', 'a']
    """
    return "an" if _VOWEL.match(word) and not _CONSONANT.match(word) else "a"

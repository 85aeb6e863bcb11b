"""“a” or “an”, by the sound of the word that follows: a repair of what has come out.

It looks at drawn words alone, never at the text that went in, and so gives nothing more away.
"""

import re
from functools import lru_cache

ARTICLES = frozenset({"a", "an"})
SIGNS = frozenset({"a", "an", "the"})
"""The words that a lexicon has if it is English enough for this."""

# Written with a consonant, spoken with a vowel: an hour, an heir, an x.
_VOWEL = re.compile(r"[aeiou]|hour|honest|honou?r|heir|[fhlmnrsx]$")
# Written with a vowel, spoken with a consonant: a unit, a user, a euro, a one-off.
_CONSONANT = re.compile(
    r"uni(?![dmn])|unanim|unesco|us(?!h)|ut[aceio]|ur[aeiou]|u(?:ae|bi|c|ef|f|ga|hf|i|k|lys|v|$)"
    r"|eu|ewe|one(?!r)|once|oui"
)


@lru_cache(maxsize=2**15)
def article_before(word: str) -> str:
    """The article that a word takes.

    >>> [article_before(word) for word in ("apple", "hour", "user", "uninvited", "house")]
    ['an', 'an', 'a', 'an', 'a']
    """
    return "an" if _VOWEL.match(word) and not _CONSONANT.match(word) else "a"

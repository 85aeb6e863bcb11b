"""Normalize spellings: without capitals, and without accents."""

from unicodedata import category, normalize

LIMIT = 256
"""Characters of a token that count. Normalizing long runs of marks takes quadratic time."""

_APOSTROPHES_AND_JOINERS = {
    **dict.fromkeys(map(ord, "’ʼ＇"), "'"),
    **dict.fromkeys(map(ord, "\xad\u200c\u200d\u2060"), None),
}

# Letters that Unicode does not decompose, as people write them without the accent.
_PLAIN_LETTERS = str.maketrans(
    {
        "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th",
        "ħ": "h", "ı": "i", "ŋ": "n", "ŧ": "t", "ß": "ss", "ƒ": "f", "ə": "e",
    }
)  # fmt: skip


def fold(text: str) -> str:
    """Return a text without capitals, compatibility forms and joiners, with plain apostrophes.

    Case folding comes first, so that nothing after it can depend on capitals.

    >>> fold("DON’T"), fold("ﬁle"), fold("ａｓｐｉｒｉｎ")
    ("don't", 'file', 'aspirin')
    """
    if text.isascii():
        return text[:LIMIT].lower()
    text = normalize("NFKC", text.casefold()[:LIMIT]).casefold()
    return normalize("NFKC", text).translate(_APOSTROPHES_AND_JOINERS)


def bare(text: str) -> str:
    """Return a folded text without diacritics.

    >>> bare("naïve"), bare("øre"), bare("łódź")
    ('naive', 'ore', 'lodz')
    """
    if text.isascii():
        return text
    letters = normalize("NFKD", text.translate(_PLAIN_LETTERS))
    return "".join(letter for letter in letters if category(letter)[0] != "M")

"""Chunks of plain words and signs, which most chunks are: cut without the tokenizer.

They hold letters and signs of ASCII only, but neither @ nor # nor a digit, and no web address. The
tokenizer cuts them into words, with apostrophes between letters, and the runs of signs between
them; so does one short pattern, much faster.
"""

import re

_PLAIN = re.compile(r"[!\"$-/:-?A-~]++")
_SIGNS = r"[!\"$-/:-?\[-`{-~]*+"
_ONE_WORD = re.compile(rf"({_SIGNS})([A-Za-z]++)({_SIGNS})")
_TOKENS = re.compile(r"[A-Za-z]++(?:'[A-Za-z]++)*+|[^A-Za-z]++")


def one_word(chunk: str) -> tuple[str, str, str] | None:
    """Return the signs before, the word, and the signs after it, if that is all.

    >>> one_word("(word)."), one_word("two-fold"), one_word("http://")
    (('(', 'word', ').'), None, None)
    """
    match = _ONE_WORD.fullmatch(chunk)
    if match is None:
        return None
    before, word, after = match.groups()
    # It may be the beginning of a web address, or of more than a word.
    return None if "/" in after or word[-1] in "wW" else (before, word, after)


def plain_tokens(chunk: str) -> list[str] | None:
    """Return the tokens of a plain chunk; None if it is not plain.

    >>> plain_tokens("(don't--ever."), plain_tokens("3pm"), plain_tokens("www.x.org")
    (['(', "don't", '--', 'ever', '.'], None, None)
    """
    if _PLAIN.fullmatch(chunk) is None or "://" in chunk or "ww." in chunk.lower():
        return None
    return _TOKENS.findall(chunk)

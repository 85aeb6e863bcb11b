"""Chunks of plain words and signs, which most chunks are: cut without the tokenizer.

They hold letters and signs of ASCII only, but neither @ nor # nor a digit, and no web address. The
tokenizer cuts them into words, with apostrophes between letters, and the runs of signs between
them; so does one short pattern, much faster.
"""

import re

_PLAIN = re.compile(r"[!\"$-/:-?A-~]++")
_TOKENS = re.compile(r"[A-Za-z]++(?:'[A-Za-z]++)*+|[^A-Za-z]++")


def plain_tokens(chunk: str) -> list[str] | None:
    """Return the tokens of a plain chunk; None if it is not plain.

    >>> plain_tokens("(don't--ever."), plain_tokens("3pm"), plain_tokens("www.x.org")
    (['(', "don't", '--', 'ever', '.'], None, None)
    """
    if _PLAIN.fullmatch(chunk) is None or "://" in chunk or "ww." in chunk.lower():
        return None
    return _TOKENS.findall(chunk)

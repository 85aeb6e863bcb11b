"""Chunks of plain words and signs, which most chunks are: cut without the tokenizer.

They hold letters and signs of ASCII only, but neither @ nor # nor a digit, and no web address. The
tokenizer cuts them into words, with apostrophes between letters, and the runs of signs between
them; so does one short pattern, much faster.
"""

import re
from collections.abc import Sequence

OneWord = tuple[str, str, str]
"""The signs before a word, the word, and the signs after it."""

# A plus sign at the end may belong to the telephone number in the next chunk.
_PLAIN = re.compile(r"[!\"$-/:-?A-~]++(?<!\+)")
_SIGNS = r"[!\"$-/:-?\[-`{-~]*+"
_WORD = r"[A-Za-z]++(?:'[A-Za-z]++)*+"
# A word that ends like "www", or a slash after it, may begin a web address.
_ONE_WORD = rf"({_SIGNS})({_WORD})(?<![Ww]{{2}})([!\"$-.:-?\[-`{{-~]*+)(?<!\+)"
_ONE_WORD_EACH = re.compile(rf"{_ONE_WORD} |[^ ]*+ ")
_TOKENS = re.compile(rf"{_WORD}|[^A-Za-z]++")


def one_words(chunks: Sequence[str]) -> list[OneWord]:
    """Return the signs before, the word, and the signs after it of chunks that are no more.

    Of other chunks, all three are empty. No chunk has a space.

    >>> one_words(["(word).", "two-fold", "http://"])
    [('(', 'word', ').'), ('', '', ''), ('', '', '')]
    """
    return _ONE_WORD_EACH.findall(" ".join([*chunks, ""]))


def plain_tokens(chunk: str) -> list[str] | None:
    """Return the tokens of a plain chunk; None if it is not plain.

    >>> plain_tokens("(don't--ever."), plain_tokens("3pm"), plain_tokens("www.x.org")
    (['(', "don't", '--', 'ever', '.'], None, None)
    """
    if _PLAIN.fullmatch(chunk) is None or "://" in chunk or "ww." in chunk.lower():
        return None
    return _TOKENS.findall(chunk)

"""Split a compound such as "worldnews" into words, by how frequent they are.

Each part costs the surprise of its word, and each joint some bits. A letter that is in no part
costs more than a random letter would. The cheapest way through the word wins (dynamic programming).
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from malaprop.text.mapping.vocabulary import COST_UNIT

_JOINT, _LEFT_OVER = 4 * COST_UNIT, 7 * COST_UNIT
_LONG_ENOUGH = 4  # letters of a part that may stand for a word with letters left over
SHORT_PARTS = frozenset(
    {
        *("am", "an", "as", "at", "be", "by", "co", "de", "do", "ex", "go", "he", "if", "in", "is"),
        *("it", "me", "my", "no", "of", "on", "or", "re", "so", "to", "un", "up", "us", "we"),
    }
)
"""Words and prefixes of two letters that may be a part; most pairs of letters are some word."""
# Parts that a compound is not named for: function words, prefixes and endings.
_NOT_HEADS = SHORT_PARTS | frozenset(
    {
        *("about", "all", "and", "are", "but", "for", "from", "has", "have", "her", "him"),
        *("his", "how", "its", "not", "now", "off", "our", "out", "over", "she", "some"),
        *("than", "that", "the", "their", "them", "then", "they", "this", "was", "what", "when"),
        *("who", "why", "will", "with", "you", "your"),
        *("anti", "mid", "non", "post", "pre", "semi", "sub"),
        *("ability", "able", "ally", "ance", "ary", "ation", "esque", "est", "fest", "fests"),
        *("ful", "ian", "ical", "ing", "ion", "ish", "ism", "ist", "ity", "ive"),
        *("ize", "less", "like", "ment", "mente", "ness", "ous", "ship", "ster", "tion"),
        *("zilla",),
    }
)

Hit = tuple[int, int, int, int]
"""A listed word in a word: where it starts and ends, its cost, and its place in the vocabulary."""


class Part(NamedTuple):
    """A part of a compound: its letters, and its place in the vocabulary."""

    text: str
    place: int


def cheapest_head(word: str, hits: Iterable[Hit]) -> tuple[int, Part | None, bool]:
    """Return the cost of a word's likeliest parts, the one it is named for, and if that is all.

    That is the last one that is no function word and no ending. If letters are left over, it must
    be four letters long.

    >>> hits = [(0, 5, 80, 7), (1, 3, 30, 8), (5, 9, 90, 9)]  # world, or, news
    >>> cheapest_head("worldnews", hits)
    (222, Part(text='news', place=9), True)
    """
    by_end: list[list[Hit]] = [[] for _ in range(len(word) + 1)]
    for hit in hits:
        by_end[hit[1]].append(hit)
    costs = [-_JOINT]
    last: list[Hit | None] = [None]  # of the cheapest way to each letter; None: it is left over
    for ending in by_end[1:]:
        least, best = costs[-1] + _LEFT_OVER, None
        for hit in ending:
            cost = costs[hit[0]] + _JOINT + hit[2]
            if cost < least:
                least, best = cost, hit
        costs.append(least)
        last.append(best)
    parts, whole = _traced(word, last)
    return costs[-1], _head(parts, whole), whole


def _traced(word: str, last: Sequence[Hit | None]) -> tuple[list[Part], bool]:
    """Return the parts of the cheapest way, the last one first, and whether they are the word."""
    parts, end, whole = [], len(word), True
    while end:
        hit = last[end]
        if hit is None:
            end, whole = end - 1, False
        else:
            parts.append(Part(word[hit[0] : end], hit[3]))
            end = hit[0]
    return parts, whole


def _head(parts: Sequence[Part], whole: bool) -> Part | None:
    """Return the last part that counts, if there is one; the last one comes first."""
    shortest = 1 if whole else _LONG_ENOUGH
    for part in parts:
        if part.text not in _NOT_HEADS and len(part.text) >= shortest:
            return part
    return parts[0] if whole and parts else None

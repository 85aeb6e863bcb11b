"""Split a compound such as "worldnews" into words, by how frequent they are.

Each part costs the surprise of its word, and each joint some bits. A letter that is in no part
costs more than a random letter would. The cheapest way through the word wins (dynamic programming).
"""

from collections.abc import Iterable, Mapping

from malaprop.text.mapping.hashing import part_bounds
from malaprop.text.mapping.vocabulary import COST_UNIT, Listed

_JOINT, _LEFT_OVER = 4 * COST_UNIT, 7 * COST_UNIT
_LONG_ENOUGH = 4  # letters of a part that may stand for a word with letters left over
_NO_HIT = (-1, 0)  # the last of `part_bounds` is none
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

Hit = tuple[int, int]
"""A listed word in a word: where it starts, and its entry in the vocabulary."""
Part = tuple[str, int]
"""A part of a compound: its letters, and its entry in the vocabulary."""
Head = tuple[int, Part | None, bool]
"""The cost of a word's likeliest parts, the one that it is named for, and if that is all."""


def cheapest_head(word: str, listed: Iterable[Listed], short: Mapping[str, int]) -> Head:
    """Return the cost of a word's likeliest parts, the one it is named for, and if that is all.

    That is the last one that is no function word and no ending. If letters are left over, it must
    be four letters long. `listed` has the listed parts among those of `part_bounds`, in that order;
    `short` the entries of parts of two letters.

    >>> of, world, news = 30 << 16, 80 << 16, 90 << 16
    >>> cheapest_head("worldnews", [(3, world), (26, news)], {"or": of})
    (222, ('news', 5898240), True)
    """
    starts, ends = part_bounds(len(word))
    hits = iter(listed)
    number, entry = next(hits, _NO_HIT)
    least = -_JOINT
    joined = [0]  # the cost of the cheapest way to each letter, and of a joint there
    last: dict[int, Hit] = {}  # of the cheapest way; none: the letter is left over
    for end in range(1, len(word) + 1):
        least += _LEFT_OVER
        pair = short.get(word[end - 2 : end])
        if pair is not None:
            cost = joined[end - 2] + (pair >> 16 & 0xFF)
            if cost < least:
                least, last[end] = cost, (end - 2, pair)
        while ends[number] == end:
            start = starts[number]
            cost = joined[start] + (entry >> 16 & 0xFF)
            if cost < least:
                least, last[end] = cost, (start, entry)
            number, entry = next(hits, _NO_HIT)
        joined.append(least + _JOINT)
    return least, *_head(word, last)


def _head(word: str, last: Mapping[int, Hit]) -> tuple[Part | None, bool]:
    """Return the last part of the cheapest way that counts, and whether the parts are the word."""
    parts: list[Part] = []
    end, whole = len(word), True
    while end:
        hit = last.get(end)
        if hit is None:
            end, whole = end - 1, False
        else:
            parts.append((word[hit[0] : end], hit[1]))
            end = hit[0]
    shortest = 1 if whole else _LONG_ENOUGH
    for text, entry in parts:
        if len(text) >= shortest and text not in _NOT_HEADS:
            return (text, entry), whole
    return parts[0] if whole and parts else None, whole

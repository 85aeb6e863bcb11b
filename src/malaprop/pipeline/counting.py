"""How the tokens of texts were treated and how often words repeat, for the owner of the texts."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from malaprop.core.arrays import Ids
from malaprop.core.sampling.draws import order_of

REPEATS = "repeats_"
"""How counts of texts that repeat a word are named, before the number of occurrences."""
_SOME = 3  # occurrences of a content word in a text from which they are counted
_COMMON = 500  # words of a large lexicon that are too frequent to count as content


def counted(drawn: int, words: Any, punctuation: Any, treated: dict[str, int]) -> dict[str, int]:
    """Return how many words were drawn, how many texts show mostly signs, and the rest.

    `words` and `punctuation` are the counts of one text, or arrays for several texts.
    """
    return {
        "protected": drawn,
        "wordless": _how_many((words == 0) & (punctuation > 0)),
        "mostly_signs": _how_many((words > 0) & (punctuation > words)),
        **treated,
    }


def _how_many(texts: Any) -> int:
    """Count the texts of which something is true; for one text, numpy would take longer."""
    return int(texts) if isinstance(texts, bool) else int(np.count_nonzero(texts))


def common_words(size: int) -> int:
    """Return how many words at the head of a lexicon are too frequent to count as content.

    Lexicons list frequent words first: of `size` words the first 500, at most a tenth of them.
    """
    return min(_COMMON, size // 10)


def count_repeats(ids: Ids, slot_counts: Sequence[int], common: int) -> dict[str, int]:
    """Count texts by how often their most frequent content word occurs, from 3 times on.

    The words with ids below `common` are not content. The counts of several batches add up.

    >>> count_repeats(np.array([9, 9, 9, 0, 9, 0, 0, 0, 0]), [4, 5], common=5)
    {'repeats_3': 1}
    """
    content = np.flatnonzero(ids >= common)
    if len(content) < _SOME:
        return {}
    texts = text_numbers(slot_counts)[content]
    order, starts = runs([texts, ids[content]])
    occurrences = np.diff(starts, append=len(order))
    owners = texts[order[starts]]
    most = np.maximum.reduceat(occurrences, np.flatnonzero(np.diff(owners, prepend=-1)))
    numbers, counts = np.unique(most[most >= _SOME], return_counts=True)
    return {f"{REPEATS}{n}": int(c) for n, c in zip(numbers.tolist(), counts, strict=True)}


def text_numbers(slot_counts: Sequence[int]) -> Ids:
    """Return the number of each slot's text."""
    return np.repeat(np.arange(len(slot_counts)), slot_counts)


def runs(columns: Sequence[Ids]) -> tuple[Ids, Ids]:
    """Sort rows by columns, the first column first; return the order, and where new rows start."""
    order = np.arange(len(columns[0]))
    changes = np.zeros(len(order), dtype=np.bool_)
    if len(order):
        changes[0] = True
    for column in reversed(columns):
        numbers = column - column.min(initial=0)
        order = order[order_of(numbers[order], int(numbers.max(initial=0)) + 1)]
    for column in columns:
        changes[1:] |= np.diff(column[order]) != 0
    return order, np.flatnonzero(changes)

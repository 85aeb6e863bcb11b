"""Rows of laws that fall with the distance: near words are weighed, far ones only when tried.

    Pr[y|w] ∝ ν(y)·f_w(d(w, y)), with public weights ν and falling functions f_w.

Which words count as near decides how long a draw takes, and nothing else: whatever is not among
them is in the rest of the row, and drawn from there with the weight that it has.
"""

from collections.abc import Callable

import numpy as np

from malaprop.core.metric import Keys
from malaprop.core.sampling import Floats, Ids, Rest, Rows

_LOOKED_AT = 512  # keys of a row that say how many words are how near
_PARTS = 64  # that the largest ν is cut into

Fall = Callable[[Ids, Keys], Floats]
"""f_w for some rows, given keys of distances there; ν·f is below 2."""

Pool = tuple[Ids, Floats]
"""Words, and what each has of its ν; a word may occur several times."""


def rows(keys: Keys, weights: Floats, pool: Pool, fall: Fall, *, tries: float) -> Rows:
    """The rows of a law, from the keys of all words, ν, and the pool of ν.

    As many words count as near as leave about `tries` tries of words of the rest for each draw.
    """
    last, beyond = _last_near(keys, fall, tries)
    heads = [np.flatnonzero(row <= end) for row, end in zip(keys, last, strict=True)]
    own = [
        weights[head] * fall(np.full(len(head), number), keys[number, head])
        for number, head in enumerate(heads)
    ]

    words, parts = pool

    def of_rest(rows: Ids, places: Ids) -> Floats:
        found = keys[rows, words[places]]
        return np.where(found <= last[rows], 0.0, parts[places] * fall(rows, found))

    return Rows(heads, own, Rest(words, beyond * parts.max(), of_rest))


def pool(weights: Floats) -> Pool:
    """All words, those with a large ν several times over, and what each place has of its word's ν.

    So all places have about the same, and few tries are in vain.
    """
    even = bool((weights == weights[0]).all())
    times = np.ceil(weights * ((1 if even else _PARTS) / weights.max())).astype(np.int64)
    words = np.repeat(np.arange(len(weights)), times)
    return words, weights[words] / times[words]


def _last_near(keys: Keys, fall: Fall, tries: float) -> tuple[Keys, Floats]:
    """The largest key of a near word in each row, and f there: no word beyond has more."""
    step = max(1, keys.shape[1] // _LOOKED_AT)
    seen = np.sort(keys[:, ::step], axis=1)
    each = np.arange(len(keys))
    found = fall(each[:, None], seen)
    # About what the words of a pool weigh; the word itself is hardly ever among those looked at.
    whole = found[:, :1] / keys.shape[1] + found.mean(axis=1, keepdims=True)
    few = found <= tries * whole
    place = np.where(few.any(axis=1), few.argmax(axis=1), seen.shape[1] - 1)
    return seen[each, place], found[each, place]

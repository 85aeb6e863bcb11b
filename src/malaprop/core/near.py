"""Rows of laws that fall with the distance: near words are weighed, far ones only when tried.

    Pr[y|w] ∝ ν(y)·f_w(d(w, y)), with public weights ν and falling functions f_w.

Which words count as near decides how long a draw takes, and nothing else: whatever is not among
them is in the rest of the row, and drawn from there with the weight that it has.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from malaprop.core.metric import Keys
from malaprop.core.sampling import Floats, Ids, Rest, Rows

_LOOKED_AT = 512  # keys of a row that say how many words are how near
_PARTS = 64  # that the largest ν is cut into

Fall = Callable[[Ids, Keys], Floats]
"""f_w for some rows, given keys of distances there; ν·f is below 2."""

Pool = tuple[Ids, Floats]
"""Words, and what each has of its ν; a word may occur several times."""


class Near(NamedTuple):
    """The near words of some rows, and how to look up the keys of all others."""

    sizes: Ids
    """How many words are near in each row; they follow each other in `words` and `keys`."""
    words: Ids
    keys: Keys
    beyond: Keys
    """A word is near in a row exactly where its key is below this."""
    at: Callable[[Ids, Ids], Keys]
    """The keys of some words, by their rows and ids."""


def rows(near: Near, weights: Floats, pool: Pool, fall: Fall) -> Rows:
    """The rows of a law, from ν and the pool of ν."""
    each = np.arange(len(near.sizes))
    own = weights[near.words] * fall(np.repeat(each, near.sizes), near.keys)
    words, parts = pool

    def of_rest(rows: Ids, places: Ids) -> Floats:
        keys = near.at(rows, words[places])
        return np.where(keys < near.beyond[rows], 0.0, parts[places] * fall(rows, keys))

    bounds = fall(each, near.beyond) * parts.max()
    return Rows(near.sizes, near.words, own, Rest(words, bounds, of_rest))


def pool(weights: Floats) -> Pool:
    """All words, those with a large ν several times over, and what each place has of its word's ν.

    So all places have about the same, and few tries are in vain.
    """
    even = bool((weights == weights[0]).all())
    times = np.ceil(weights * ((1 if even else _PARTS) / weights.max())).astype(np.int64)
    words = np.repeat(np.arange(len(weights)), times)
    return words, weights[words] / times[words]


def among(keys: Keys, fall: Fall, *, tries: float) -> Near:
    """The near words where the keys of all words are at hand.

    As many words count as near as leave about `tries` tries of words of the rest for each draw.
    """
    beyond = _border(keys, fall, tries)
    found = [np.flatnonzero(row < end) for row, end in zip(keys, beyond, strict=True)]
    sizes = np.fromiter(map(len, found), np.int64, len(found))
    words = np.concatenate(found)
    own = keys[np.repeat(np.arange(len(keys)), sizes), words]
    return Near(sizes, words, own, beyond, lambda rows, words: keys[rows, words])


def _border(keys: Keys, fall: Fall, tries: float) -> Keys:
    """The key at which far words begin in each row."""
    step = max(1, keys.shape[1] // _LOOKED_AT)
    seen = np.sort(keys[:, ::step], axis=1)
    each = np.arange(len(keys))
    found = fall(each[:, None], seen)
    # About what the words of a pool weigh; the word itself is hardly ever among those looked at.
    whole = found[:, :1] / keys.shape[1] + found.mean(axis=1, keepdims=True)
    few = found <= tries * whole
    place = np.where(few.any(axis=1), few.argmax(axis=1), seen.shape[1] - 1)
    return np.asarray(seen[each, place])

"""Rows of laws that fall with the distance: near words are weighed, far ones only when tried.

    Pr[y|w] ∝ ν(y)·f_w(d(w, y)), with public weights ν and falling functions f_w.

Which words count as near decides how long a draw takes, and nothing else: whatever is not among
them is in the rest of the row, and drawn from there with the weight that it has.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from malaprop.core.arrays import Floats, Ids, Keys
from malaprop.core.sampling.draws import LawRows, Rest

_LOOKED_AT = 512  # keys of a row that say how many words are how near
_PARTS = 64  # that the largest ν is cut into

Fall = Callable[[Ids, Keys], Floats]
"""f_w for some rows, given keys of distances there; ν·f is below 2."""

Pool = tuple[NDArray[np.int32], Floats]
"""Words, some of them several times, and what each word of the lexicon has of its ν each time."""


class NearWords(NamedTuple):
    """The near words of some rows, and how to look up the keys of all others."""

    sizes: Ids
    """How many words are near in each row; they follow each other in `words` and `keys`."""
    words: Ids
    keys: Keys
    beyond: Keys
    """A word is near in a row exactly where its key is below this."""
    at: Callable[[Ids, Ids], Keys]
    """The keys of some words, by their rows and ids."""

    def of_rows(self, chosen: NDArray[np.bool_]) -> "NearWords":
        """Some of the rows."""
        words, places = np.repeat(chosen, self.sizes), np.flatnonzero(chosen)
        return NearWords(
            self.sizes[chosen],
            self.words[words],
            self.keys[words],
            self.beyond[chosen],
            lambda rows, words: self.at(places[rows], words),
        )


def law_rows(near: NearWords, weights: Floats, pool: Pool, fall: Fall) -> LawRows:
    """The rows of a law, from ν and the pool of ν."""
    words, parts = pool
    each = np.arange(len(near.sizes))
    scale = _to_powers_of_two(fall(each, near.beyond) * parts.max())

    def scaled(own: Ids, keys: Keys) -> Floats:
        return np.asarray(scale[own] * fall(own, keys))

    def of_rest(own: Ids, tried: Ids) -> Floats:
        keys = near.at(own, tried)
        return np.where(keys < near.beyond[own], 0.0, parts.take(tried) * scaled(own, keys))

    own = weights[near.words] * scaled(np.repeat(each, near.sizes), near.keys)
    bounds = scaled(each, near.beyond) * parts.max()
    return LawRows(near.sizes, near.words, own, Rest(words, bounds, of_rest))


def _to_powers_of_two(bounds: Floats) -> Floats:
    """Factors from ½ to 1 that take bounds to just below powers of two, or leave them as they are.

    A draw tries words of the rest as often as the next power of two says.
    """
    mantissas = np.frexp(bounds)[0]  # 0, or from ½ to 1
    return np.where(mantissas > 0.5, (0.5 - 2.0**-50) / np.maximum(mantissas, 0.5), 1.0)


def pool_of(weights: Floats) -> Pool:
    """All words, those with a large ν several times over, and what each has of its ν each time.

    So all have about the same, and few tries are in vain.
    """
    even = bool((weights == weights[0]).all())
    times = np.ceil(weights * ((1 if even else _PARTS) / weights.max())).astype(np.int64)
    words = np.repeat(np.arange(len(weights), dtype=np.int32), times)
    return words, weights / np.maximum(times, 1)


def nearest_by_key(keys: Keys, fall: Fall, *, tries: float) -> NearWords:
    """The near words where the keys of all words are at hand.

    As many words count as near as leave about `tries` tries of words of the rest for each draw.
    """
    beyond = _border(keys, fall, tries)
    found = [np.flatnonzero(row < end) for row, end in zip(keys, beyond, strict=True)]
    sizes = np.fromiter(map(len, found), np.int64, len(found))
    words = np.concatenate(found)
    own = keys[np.repeat(np.arange(len(keys)), sizes), words]
    return NearWords(sizes, words, own, beyond, lambda rows, words: keys[rows, words])


def merged(first: NearWords, second: NearWords, of_second: NDArray[np.bool_]) -> NearWords:
    """Rows of two kinds in one: those where `of_second` holds are the second's, in order."""
    places = np.flatnonzero(~of_second), np.flatnonzero(of_second)
    number = np.where(of_second, np.cumsum(of_second), np.cumsum(~of_second)) - 1
    rows = [np.repeat(some, near.sizes) for some, near in zip(places, (first, second), strict=True)]
    order = np.argsort(np.concatenate(rows), kind="stable")

    def at(rows: Ids, words: Ids) -> Keys:
        found = np.empty(len(rows), dtype=first.keys.dtype)
        for near, chosen in ((first, ~of_second[rows]), (second, of_second[rows])):
            found[chosen] = near.at(number[rows[chosen]], words[chosen])
        return found

    sizes, beyond = np.empty_like(number), np.empty(len(number), dtype=first.beyond.dtype)
    for some, near in zip(places, (first, second), strict=True):
        sizes[some], beyond[some] = near.sizes, near.beyond
    words = np.concatenate([first.words, second.words])[order]
    return NearWords(sizes, words, np.concatenate([first.keys, second.keys])[order], beyond, at)


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

"""Rows of laws that fall with the distance: near words are weighed, far ones only when tried.

    Pr[y|w] ∝ ν(y)·f_w(d(w, y)), with public weights ν and falling functions f_w.

Which words count as near affects the speed of a draw, and nothing else: all others are in the rest
of the row, and are drawn from there with their own weights.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from malaprop.privacy.arrays import Floats, Ids, Keys
from malaprop.privacy.sampling import LawRows, Rest

_LOOKED_AT = 512  # keys of a row, sampled to estimate how many words are near
_PARTS = 64  # how many parts the largest ν is cut into

Fall = Callable[[Ids, Keys], Floats]
"""f_w of the given rows at the given keys; ν·f is below 2."""

Pool = tuple[NDArray[np.int32], Floats]
"""Words, some of them repeated, and for each lexicon word the part of its ν per repetition."""


class LimitedSearch(NamedTuple):
    """A way to look up keys if it is known how large they may be; for keys that are integers."""

    last: int
    keys: Callable[[Ids, Ids, Ids], Keys]
    """Returns keys, given rows, ids and limits.

    They are right below `beyond`. Elsewhere they are on the right side of the limit: at most the
    limit, or above it.
    """


class NearWords(NamedTuple):
    """The near words of each row, and a way to look up the keys of all others."""

    sizes: Ids
    """How many words are near in each row; `words` and `keys` hold them row after row."""
    words: Ids
    keys: Keys
    beyond: Keys
    """The border of each row: a word is near exactly if its key is below it."""
    at: Callable[[Ids, Ids], Keys]
    """Returns the keys of words, given their rows and ids."""
    limited: "LimitedSearch | None" = None
    """A faster way to look up keys that are only compared with a limit."""

    def of_rows(self, chosen: NDArray[np.bool_]) -> "NearWords":
        words, places = np.repeat(chosen, self.sizes), np.flatnonzero(chosen)
        return NearWords(
            self.sizes[chosen],
            self.words[words],
            self.keys[words],
            self.beyond[chosen],
            lambda rows, words: self.at(places[rows], words),
        )


def law_rows(near: NearWords, weights: Floats, pool: Pool, fall: Fall) -> LawRows:
    """Return the rows of a law, from its near words, ν (`weights`), and the pool of ν."""
    words, parts = pool
    rows, search = np.arange(len(near.sizes)), near.limited
    scale = _to_powers_of_two(fall(rows, near.beyond) * parts.max())

    def scaled(row: Ids, keys: Keys) -> Floats:
        return np.asarray(scale.take(row) * fall(row, keys))

    if search is not None:  # below the border of all rows, no limit matters: keys are known there
        border = int(near.beyond.min(initial=search.last))
        falls = scaled(rows[:, None], np.arange(border, search.last + 1)[None, :])

    def of_rest(row: Ids, tried: Ids, compared: Floats | None = None) -> Floats:
        if search is None or compared is None:
            keys = near.at(row, tried)
        else:
            # The weight is above what it is compared with up to some key, the limit. By the same
            # product as that of the weight, so rounding cannot make a difference.
            above = parts.take(tried)[:, None] * falls.take(row, axis=0) > compared[:, None]
            keys = search.keys(row, tried, border + above.sum(axis=1) - 1)
        return np.where(keys < near.beyond.take(row), 0.0, parts.take(tried) * scaled(row, keys))

    near_weights = weights[near.words] * scaled(np.repeat(rows, near.sizes), near.keys)
    bounds = scaled(rows, near.beyond) * parts.max()
    return LawRows(near.sizes, near.words, near_weights, Rest(words, bounds, of_rest))


def _to_powers_of_two(bounds: Floats) -> Floats:
    """Return factors from ½ to 1 that take bounds to just below powers of two, where that helps.

    A draw tries words of the rest in proportion to the next power of two above their bound.
    """
    mantissas = np.frexp(bounds)[0]  # 0, or from ½ to 1
    return np.where(mantissas > 0.5, (0.5 - 2.0**-50) / np.maximum(mantissas, 0.5), 1.0)


def pool_of(weights: Floats) -> Pool:
    """Return all words, repeating those with a large ν, and the part of ν per repetition.

    The parts are about equal, so few tries are rejected.
    """
    even = bool((weights == weights[0]).all())
    times = np.ceil(weights * ((1 if even else _PARTS) / weights.max())).astype(np.int64)
    return np.repeat(np.arange(len(weights), dtype=np.int32), times), weights / np.maximum(times, 1)


def nearest_by_key(keys: Keys, fall: Fall, *, tries: float) -> NearWords:
    """Return the near words, given the keys of all words.

    The border is set so that a draw takes about `tries` tries of words of the rest.
    """
    rows, seen = np.arange(len(keys)), np.sort(keys[:, :: max(1, keys.shape[1] // _LOOKED_AT)])
    weights = fall(rows[:, None], seen)
    # The mean weight of a word, about. The sample hardly ever contains the word itself.
    whole = weights[:, :1] / keys.shape[1] + weights.mean(axis=1, keepdims=True)
    few = weights <= tries * whole
    beyond = seen[rows, np.where(few.any(axis=1), few.argmax(axis=1), seen.shape[1] - 1)]
    near = [np.flatnonzero(row < end) for row, end in zip(keys, beyond, strict=True)]
    sizes, words = np.fromiter(map(len, near), np.int64, len(near)), np.concatenate(near)
    near_keys = keys[np.repeat(rows, sizes), words]
    return NearWords(sizes, words, near_keys, beyond, lambda rows, words: keys[rows, words])


def merged(first: NearWords, second: NearWords, of_second: NDArray[np.bool_]) -> NearWords:
    """Merge two sets of rows: rows where `of_second` holds come from `second`, in order."""
    places = np.flatnonzero(~of_second), np.flatnonzero(of_second)
    number = np.where(of_second, np.cumsum(of_second), np.cumsum(~of_second)) - 1
    rows = [np.repeat(part, near.sizes) for part, near in zip(places, (first, second), strict=True)]
    order = np.argsort(np.concatenate(rows), kind="stable")

    def at(rows: Ids, words: Ids) -> Keys:
        keys = np.empty(len(rows), dtype=first.keys.dtype)
        for near, chosen in ((first, ~of_second[rows]), (second, of_second[rows])):
            keys[chosen] = near.at(number[rows[chosen]], words[chosen])
        return keys

    sizes, beyond = np.empty_like(number), np.empty(len(number), dtype=first.beyond.dtype)
    for part, near in zip(places, (first, second), strict=True):
        sizes[part], beyond[part] = near.sizes, near.beyond
    words = np.concatenate([first.words, second.words])[order]
    return NearWords(sizes, words, np.concatenate([first.keys, second.keys])[order], beyond, at)

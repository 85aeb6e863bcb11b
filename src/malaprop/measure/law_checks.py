"""Checks that a channel draws from the law that it states, and that it is a law.

Users' own laws pass too, as long as they do not draw in a way of their own.
"""

from collections.abc import Callable
from types import MethodType

import numpy as np

from malaprop.core.arrays import Floats, Ids
from malaprop.core.channel import LawChannel
from malaprop.core.law import Law
from malaprop.core.loss import normalised
from malaprop.core.proofs import is_proved, proof_of
from malaprop.core.sampling.draws import LawRows, Rest

_AGREE = 1e-9  # relative difference between drawn and stated that rounding may cause
_RARE = 2.0**-900  # a probability that may be taken for 0
_TRIED = 64  # words of a rest whose tries are looked at


def draws_its_law(channel: LawChannel[Law]) -> bool:
    """Whether the channel provably draws from its law's log-weights."""
    law = channel.law
    # `Law.rows` itself derives rows from log-weights.
    derived = _is_own(law.rows, Law.rows, law)
    return bool(proof_of(channel)) and (derived or is_proved(law))


def _is_own(method: object, function: Callable[..., object], law: Law) -> bool:
    """Whether a law's method is the one of its base class; an instance's field may hide it."""
    return type(method) is MethodType and method == MethodType(function, law)


def flaw(law: Law) -> str:
    """Say why the log-weights of a small lexicon are not the law of its draws; empty if they are.

    Rows are computed together and one by one: that must make no difference.
    """
    ids = np.arange(len(law.space))
    weights = law.log_weights(ids)
    if not _are_weights(weights, len(ids)):
        return "its log-weights are not numbers, or have no maximum"
    stated = np.exp(normalised(weights))
    asked = [(ids, stated), *((ids[w : w + 1], stated[w : w + 1]) for w in ids)]
    drawn = all(_is_drawn(law.rows(words), rows) for words, rows in asked)
    if not drawn or not all(_decides_by_weights(law, word) for word in np.array_split(ids, 4)):
        return "it does not draw from its log-weights, or its draws depend on the other words"
    return ""


def _are_weights(weights: Floats, rows: int) -> bool:
    """Whether the rows can be normalised: −∞ is a weight of 0, but not in all of a row."""
    if type(weights) is not np.ndarray or weights.dtype != np.float64 or weights.ndim != 2:
        return False
    return len(weights) == rows and bool(np.isfinite(weights.max(axis=1)).all())


def _is_drawn(rows: LawRows, law: Floats) -> bool:
    """Whether `draw` would draw from these rows with the probabilities of `law`."""
    if len(rows.sizes) != len(law) or rows.sizes.sum() != len(rows.words):
        return False
    drawn = np.zeros(law.shape)
    cells = np.repeat(np.arange(len(law)) * law.shape[1], rows.sizes) + rows.words
    np.add.at(drawn.reshape(-1), cells, rows.weights)  # a word may occur twice
    if rows.rest is not None:
        rests = [_rest_weights(rows.rest, number, law.shape[1]) for number in range(len(law))]
        if any(rest is None for rest in rests):
            return False
        drawn += np.array(rests)
    if not (drawn >= 0.0).all() or not (rows.weights < 2.0).all():
        return False
    drawn /= drawn.sum(axis=1, keepdims=True)
    return np.allclose(drawn, law, rtol=_AGREE, atol=_RARE)


def _rest_weights(rest: Rest, row: int, size: int) -> Floats | None:
    """Return the weights of a rest; None if one exceeds its bound, and is drawn too rarely."""
    weights = rest.weights(np.full(len(rest.words), row), rest.words.astype(np.int64))
    if not (weights <= rest.bounds[row] * (1.0 + _AGREE)).all():
        return None
    totals: Floats = np.bincount(rest.words, weights, minlength=size).astype(np.float64)
    return totals


def _decides_by_weights(law: Law, ids: Ids) -> bool:
    """Whether tries in the first word's row are decided by the weights of its rest, for some words.

    Draws say what they compare a weight with, and get a number on the same side of it.
    """
    rest = law.rows(ids[:1]).rest if len(ids) else None
    if rest is None:
        return True
    words = rest.words[:: max(1, len(rest.words) // _TRIED)].astype(np.int64)
    row = np.zeros(len(words), dtype=np.int64)
    own = rest.weights(row, words)
    return all(
        np.array_equal(rest.weights(row, words, compared) > compared, own > compared)
        for compared in (0.999 * own, 1.001 * own, np.zeros_like(own))
    )

"""Whether a channel draws from the law that it states, and whether that is a law.

Of laws of somebody's own, too: what they must not do is to draw in a way of their own.
"""

from types import MethodType

import numpy as np

from malaprop.core.arrays import Floats
from malaprop.core.channel import LawChannel
from malaprop.core.law import Law
from malaprop.core.loss import normalised
from malaprop.core.proofs import is_proved, proof_of
from malaprop.core.sampling.draws import LawRows, Rest

_AGREE = 1e-9  # the share by which rounding may make what is drawn differ from what is stated
_RARE = 2.0**-900  # a probability that float64 need not tell from 0


def draws_its_law(channel: LawChannel[Law]) -> bool:
    """Whether the channel draws from its law's log-weights in a way that is proved."""
    law = channel.law
    # From the log-weights, as docs/proofs/sampling.md has it; a field may hide the method.
    derived = type(law.rows) is MethodType and law.rows == MethodType(Law.rows, law)
    return bool(proof_of(channel)) and (derived or is_proved(law))


def flaw(law: Law) -> str:
    """Say why the log-weights of a small lexicon are not the law of its draws; empty if they are.

    Words are drawn with others or alone, which must make no difference.
    """
    ids = np.arange(len(law.space))
    weights = law.log_weights(ids)
    if not _are_weights(weights, len(ids)):
        return "its log-weights are no numbers, or have no largest one"
    stated = np.exp(normalised(weights))
    asked = [(ids, stated), *((ids[w : w + 1], stated[w : w + 1]) for w in ids)]
    if not all(_is_drawn(law.rows(words), rows) for words, rows in asked):
        return "what it draws from is not its log-weights, or depends on the words drawn beside"
    return ""


def _are_weights(weights: Floats, rows: int) -> bool:
    """Whether they can be normalised: −∞ is a weight of 0, but not all of a row may be."""
    if type(weights) is not np.ndarray or weights.dtype != np.float64 or weights.ndim != 2:
        return False
    return len(weights) == rows and bool(np.isfinite(weights.max(axis=1)).all())


def _is_drawn(rows: LawRows, law: Floats) -> bool:
    """Whether probabilities are those that rows are drawn with, which `draw` takes as they are."""
    if len(rows.sizes) != len(law) or rows.sizes.sum() != len(rows.words):
        return False
    found = np.zeros(law.shape)
    cells = np.repeat(np.arange(len(law)) * law.shape[1], rows.sizes) + rows.words
    np.add.at(found.reshape(-1), cells, rows.weights)  # a word may be there twice
    if rows.rest is not None:
        resting = [_of_rest(rows.rest, number, law.shape[1]) for number in range(len(law))]
        if any(some is None for some in resting):
            return False
        found += np.array(resting)
    if not (found >= 0.0).all() or not (rows.weights < 2.0).all():
        return False
    found /= found.sum(axis=1, keepdims=True)
    return np.allclose(found, law, rtol=_AGREE, atol=_RARE)


def _of_rest(rest: Rest, row: int, size: int) -> Floats | None:
    """What the words of a rest weigh; None if one is above the bound, and drawn too rarely."""
    weights = rest.weights(np.full(len(rest.words), row), rest.words.astype(np.int64))
    if not (weights <= rest.bounds[row] * (1.0 + _AGREE)).all():
        return None
    found: Floats = np.bincount(rest.words, weights, minlength=size).astype(np.float64)
    return found

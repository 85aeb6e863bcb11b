"""Whether a channel that states its law by log-weights draws from them, and whether they are a law.

Of a class of somebody's own, too: what it must not do is to draw in a way of its own.
"""

import numpy as np

from malaprop.core import near
from malaprop.core.ahead import DrawsAhead
from malaprop.core.channel import LawChannel
from malaprop.core.loss import normalised
from malaprop.core.sampling import Rest, Rows
from malaprop.core.space import Floats
from malaprop.mechanisms.balanced import BalancedChannel
from malaprop.mechanisms.tem import TEMChannel

_INHERITED = (
    *("substitute", "_substitute", "_draws", "_stock_of", "_stocks", "lexicon"),
    "__getattribute__",
)
# The last two take rows apart by distance, as docs/proofs/sampling.md has it.
_ROWS = (LawChannel._rows, TEMChannel._rows, BalancedChannel._rows)
_AGREE = 1e-9  # the share by which rounding may make what is drawn differ from what is stated
_RARE = 2.0**-900  # a probability that float64 need not tell from 0


def draws_its_law(channel: LawChannel) -> bool:
    """Whether the channel draws from its log-weights in the one way that is proved."""
    own, held = type(channel), vars(channel)
    as_proved = all(getattr(own, n) is getattr(LawChannel, n) for n in _INHERITED)
    as_proved = as_proved and own._rows in _ROWS
    hidden = {name for name in held if callable(getattr(own, name, None))}
    one_space = "_space" in held and not hasattr(own, "_space")
    stocks = dict(held.get("_stocks", {})).values()
    as_proved = as_proved and one_space and not hidden and _has_own_pool(channel)
    return as_proved and all(_is_stock(stock) for stock in stocks)


def _has_own_pool(channel: LawChannel) -> bool:
    """Whether the words of a rest are those of the law's weights."""
    if not isinstance(channel, BalancedChannel):
        return True
    words, parts = near.pool(channel.law.weights)
    return np.array_equal(channel._pool[0], words) and np.array_equal(channel._pool[1], parts)


def _is_stock(thing: object) -> bool:
    """Whether draws made ahead are given out as the class has it."""
    return type(thing) is DrawsAhead and not vars(thing).keys() & vars(DrawsAhead).keys()


def flaw(channel: LawChannel) -> str:
    """Why the log-weights of a small lexicon are not the law of its draws; empty if they are.

    Words are drawn with others or alone, which must make no difference.
    """
    ids = np.arange(len(channel.lexicon))
    weights = channel.log_weights(ids)
    if not _are_weights(weights, len(ids)):
        return "its log-weights are no numbers, or have no largest one"
    law = np.exp(normalised(weights))
    asked = [(ids, law), *((ids[word : word + 1], law[word : word + 1]) for word in ids)]
    if not all(_is_drawn(channel._rows(some), stated) for some, stated in asked):
        return "what it draws from is not its log-weights, or depends on the words drawn beside"
    return ""


def _are_weights(weights: Floats, rows: int) -> bool:
    """Whether they can be normalised: −∞ is a weight of 0, but not all of a row may be."""
    if type(weights) is not np.ndarray or weights.dtype != np.float64 or weights.ndim != 2:
        return False
    return len(weights) == rows and bool(np.isfinite(weights.max(axis=1)).all())


def _is_drawn(rows: Rows, law: Floats) -> bool:
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

"""Channels: the only door between the secret side and the public side.

A channel is a mechanism bound to a lexicon. It holds what depends on public data alone, and it
is the only thing that ever sees a user's words: whatever comes after it sees its output.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from malaprop.core.ahead import DrawsAhead
from malaprop.core.errors import ParameterError
from malaprop.core.guarantee import Guarantee, Kind, rounded_up
from malaprop.core.metrics import as_metric
from malaprop.core.randomness import SecureGenerator, for_a_call
from malaprop.core.sampling import Rows, draw, log_error, order_of, whole
from malaprop.core.space import Ids, MetricSpace, blocks, checked_ids

Floats = NDArray[np.float64]

_CELLS = 1 << 25  # of the rows that are drawn from together: 512 rows of 65,536 words


class Channel(ABC):
    """A mechanism bound to a lexicon: word ids in, word ids out."""

    def __init__(self, space: MetricSpace, guarantee: Guarantee) -> None:
        self._space = space
        self._guarantee = replace(guarantee, lexicon=str(getattr(space, "fingerprint", "")))

    @property
    def lexicon(self) -> MetricSpace:
        """The lexicon that the channel is bound to."""
        return self._space

    @property
    def guarantee(self) -> Guarantee:
        """What the channel promises for one word."""
        return self._guarantee

    @property
    def drawn_by(self) -> tuple[object, ...]:
        """The numbers that the law rests on: where they differ, so does the law.

        A channel whose law follows from more than its mechanism and its lexicon, such as an audit
        that may be made in between, adds what it has found there.
        """
        one = self._guarantee
        return str(one.kind), one.epsilon, one.delta, one.cap, one.radius, one.zcdp

    @property
    def hint(self) -> str:
        """What would make the channel better, for people to read; mostly nothing."""
        return ""

    def covers(self, ids: Ids) -> NDArray[np.bool_]:
        """Whether the guarantee speaks of a word of `ids` and each word: (len(ids), words).

        A channel whose guarantee is for public neighbourhoods overrides it.
        """
        kind, shape = self._guarantee.kind, (len(ids), len(self._space))
        if kind is Kind.NEIGHBOURHOOD:
            raise NotImplementedError(
                f"{type(self).__name__} guarantees something in public neighbourhoods, and does "
                "not say which those are: override `covers`."
            )
        if kind is Kind.BOUNDED:
            return np.asarray(self._guaranteed_distances(ids) <= self._guarantee.radius)
        return np.full(shape, kind is Kind.METRIC)

    def _guaranteed_distances(self, ids: Ids) -> Floats:
        """Distances to all words, in the metric that the guarantee speaks of."""
        name = self._guarantee.metric
        if name == str(self._space.metric):
            return self._space.distances(ids)
        return as_metric(name).on(self._space.vectors)(ids)

    def share_draws(self, rng: Generator) -> Callable[[float], None]:
        """Have forks of this process help each other to draw, where the channel knows how.

        What comes back is to be told what share of the work is done, now and then.
        """
        return lambda done: None

    def substitute(self, ids: Any, rng: Generator) -> Ids:
        """A private word for each of `ids`, each drawn independently."""
        return self._substitute(checked_ids(ids, len(self._space)), for_a_call(rng))

    @abstractmethod
    def _substitute(self, ids: Ids, rng: Generator) -> Ids: ...


def checked_channel(channel: Any) -> Channel:
    """The channel itself; a mechanism that is not bound to a lexicon yet is refused."""
    if not isinstance(channel, Channel):
        raise ParameterError(
            "A channel is needed, which is a mechanism bound to a lexicon: mechanism.on(lexicon). "
            f"Got a {type(channel).__name__}."
        )
    return channel


class LawChannel(Channel):
    """A channel whose law is known in closed form: it draws from what it states."""

    @abstractmethod
    def log_weights(self, ids: Ids) -> Floats:
        """ln of the unnormalised probability of each output: (len(ids), len(lexicon))."""

    def log_probabilities(self, ids: Any) -> Floats:
        """ln Pr[y | w] for each word w of `ids` and each word y: (len(ids), len(lexicon))."""
        weights = self.log_weights(checked_ids(ids, len(self._space)))
        top = weights.max(axis=1, keepdims=True)
        total = np.log(np.exp(weights - top).sum(axis=1, keepdims=True))
        return np.asarray(weights - top - total)

    def _substitute(self, ids: Ids, rng: Generator) -> Ids:
        # All occurrences of a word are drawn from one row of the law.
        order = order_of(ids, len(self._space))
        words, counts = _runs(ids[order])

        def rows(some: Ids, wanted: Ids) -> list[Ids]:
            return self._draws(some, wanted, rng)

        stock = self._stock_of(rng)
        if stock is None:
            found = np.concatenate([ids[:0], *rows(words, counts)])
        else:
            found = stock.take(words, counts, rows)
        drawn = np.empty(len(ids), dtype=np.int64)
        drawn[order] = found
        return drawn

    def _draws(self, words: Ids, counts: Ids, rng: Generator) -> list[Ids]:
        """So many draws of each of some distinct words."""
        found = []
        for block in blocks(len(words), row_cells=len(self._space), budget=_CELLS):
            found += draw(self._rows(words[block], counts[block]), counts[block], rng)
        return found

    def _rows(self, ids: Ids, draws: Ids | None = None) -> Rows:
        """What to draw from for each of some words: the law that `log_weights` states.

        How many `draws` are made of each, one if nothing is said, decides how, and not what.
        """
        return whole(self.log_weights(ids))

    def _stock_of(self, rng: Generator) -> DrawsAhead | None:
        """The draws that were made ahead with a source of noise: not one that must repeat itself.

        A seeded generator gives the same words for the same call, whatever was drawn before.
        """
        if not isinstance(rng, SecureGenerator):
            return None
        if rng not in self._stocks:
            self._stocks[rng] = DrawsAhead(len(self._space))
        return self._stocks[rng]

    def share_draws(self, rng: Generator) -> Callable[[float], None]:
        """Have one stock of draws made ahead for all processes that are forked from now on."""
        if not isinstance(rng, SecureGenerator):
            return super().share_draws(rng)
        stock = self._stocks[rng] = DrawsAhead(len(self._space), shared=True)
        return stock.tell

    @cached_property
    def _stocks(self) -> "WeakKeyDictionary[SecureGenerator, DrawsAhead]":
        return WeakKeyDictionary()

    def __getstate__(self) -> dict[str, Any]:
        # Noise that was drawn must not be given out twice.
        return {name: value for name, value in vars(self).items() if name != "_stocks"}


def _runs(ids: Ids) -> tuple[Ids, Ids]:
    """The different ones of sorted ids, and how often each occurs."""
    first = np.flatnonzero(np.diff(ids, prepend=-1))
    return ids[first], np.diff(first, append=len(ids))


def law_numerics(space: MetricSpace, spread: float, resting: int | None = None) -> str:
    """What floating-point numbers add to the loss of an exactly drawn word.

    `spread` is the largest difference of two log-weights, and `resting` the size of the rest of a
    row, by default that of the lexicon; see docs/proofs/sampling.md.
    """
    members = len(space) + (len(space) if resting is None else resting)
    distances = 4.0 * min(spread, 690.0) * space.metric.relative_error(space.vectors.shape[1])
    added = rounded_up(2.0 * log_error(members, spread) + distances, digits=1)
    rare = ", except with probability 2⁻¹⁰⁰" if spread > 69.0 else ""
    return f"float64; adds less than {added} to the loss of a word{rare}"


class Decoder(ABC):
    """From a noisy vector to a word. It knows the lexicon and the noisy vectors, nothing else.

    By its type it has no access to the words that went in; so whatever it does is
    post-processing, and the guarantee of the vectors is the guarantee of the words.
    """

    @abstractmethod
    def decode(self, vectors: Floats, rng: Generator) -> Ids:
        """A word for each of the noisy `vectors`."""


class VectorChannel(Channel):
    """A channel that releases noisy vectors, and words through a decoder."""

    def __init__(self, space: MetricSpace, guarantee: Guarantee, decoder: Decoder) -> None:
        super().__init__(space, guarantee)
        self._decoder = decoder

    @abstractmethod
    def _release(self, vectors: Floats, rng: Generator) -> Floats:
        """Noisy vectors for finite `vectors` of the right dimension."""

    def release(self, vectors: Any, rng: Generator) -> Floats:
        """A private vector for each row of `vectors`, which need not be words of the lexicon."""
        try:
            array = np.asarray(vectors, dtype=np.float64)
        except (TypeError, ValueError):
            raise ParameterError("Vectors must be a matrix of numbers.") from None
        dimension = self._space.vectors.shape[1]
        if array.ndim != 2 or array.shape[1] != dimension:
            raise ParameterError(
                f"Vectors must be a matrix with {dimension} columns, the lexicon's dimension. "
                f"Got shape {array.shape}."
            )
        if not np.isfinite(array).all():
            raise ParameterError("Vectors must be finite; there is NaN or infinity among them.")
        return self._release(array, for_a_call(rng))

    def release_words(self, ids: Any, rng: Generator) -> Floats:
        """A private vector for each of the words `ids`."""
        return self._release_words(checked_ids(ids, len(self._space)), for_a_call(rng))

    def _release_words(self, ids: Ids, rng: Generator) -> Floats:
        """Noisy vectors of words; overridden where the noise depends on the word."""
        return self._release(self._space.vectors[ids].astype(np.float64), rng)

    def _substitute(self, ids: Ids, rng: Generator) -> Ids:
        drawn = np.empty(len(ids), dtype=np.int64)
        for block in blocks(len(ids), row_cells=self._space.vectors.shape[1]):
            drawn[block] = self._decoder.decode(self._release_words(ids[block], rng), rng)
        return drawn

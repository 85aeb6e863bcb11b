"""Channels: the only door between the secret side and the public side.

A channel is a mechanism bound to a lexicon. It holds what depends on public data alone, and it
is the only thing that ever sees a user's words: whatever comes after it sees its output.
"""

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from malaprop.core import html
from malaprop.core.arrays import Floats, Ids
from malaprop.core.errors import ParameterError
from malaprop.core.guarantee import Guarantee, Kind
from malaprop.core.law import Law
from malaprop.core.metrics.named import as_metric
from malaprop.core.noise.noise import Noise
from malaprop.core.proofs import proved
from malaprop.core.randomness import for_a_call
from malaprop.core.sampling.draws import draw, each_word_once
from malaprop.core.space import MetricSpace, blocks, checked_ids

# Covariant: a channel with TEM's law is a channel with a law.
LawT = TypeVar("LawT", bound=Law, covariant=True)
NoiseT = TypeVar("NoiseT", bound=Noise, covariant=True)

_CELLS = 1 << 25  # the most cells of rows computed together: 512 rows of 65,536 words


class Neighbourhoods(Protocol):
    """Public neighbourhoods of words, within which a guarantee holds."""

    @property
    def pairs(self) -> str:
        """A phrase that says which two words are protected: the guarantee's `pairs`."""

    def covers(self, ids: Ids) -> NDArray[np.bool_]:
        """Whether each word of `ids` shares a neighbourhood with each word: (len(ids), words)."""


class Channel(ABC):
    """A mechanism bound to a lexicon: word ids in, word ids out."""

    def __init__(
        self,
        space: MetricSpace,
        guarantee: Guarantee,
        *,
        neighbourhoods: Neighbourhoods | None = None,
    ) -> None:
        self._space, self._neighbourhoods = space, neighbourhoods
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
        """Numbers that determine the law: if they differ between two channels, so does the law."""
        promise = self._guarantee
        return (
            str(promise.kind),
            promise.epsilon,
            promise.delta,
            promise.cap,
            promise.radius,
            promise.zcdp,
        )

    @property
    def hint(self) -> str:
        """Advice to the user that would improve the channel; usually empty."""
        return ""

    def __repr__(self) -> str:
        return f"<{self._title}; {self._space!r}>"

    def _repr_html_(self) -> str:
        """Return the channel for a notebook: what it is, and what it promises for a word."""
        rows = [
            ("lexicon", repr(self._space)),
            ("guarantee", str(self._guarantee)),
            ("taken to be public", "; ".join(self._guarantee.public)),
            ("hint", self.hint),
        ]
        return html.paragraph(self._title, bold=True) + html.facts(rows)

    @property
    def _title(self) -> str:
        """What the channel is, in a few words."""
        return type(self).__name__

    @property
    def neighbourhoods(self) -> Neighbourhoods | None:
        """The neighbourhoods within which the guarantee holds; None for all other guarantees."""
        return self._neighbourhoods

    def covers(self, ids: Ids) -> NDArray[np.bool_]:
        """Whether the guarantee covers each word of `ids` with each word: (len(ids), words)."""
        kind, shape = self._guarantee.kind, (len(ids), len(self._space))
        if kind is Kind.NEIGHBOURHOOD:
            if self._neighbourhoods is None:
                raise NotImplementedError(
                    "The guarantee is for public neighbourhoods, and the channel does not say "
                    "which those are: pass `neighbourhoods` to it."
                )
            return self._neighbourhoods.covers(ids) & self._are_near(ids)
        if kind is Kind.BOUNDED:
            return self._are_near(ids)
        return np.full(shape, kind is Kind.METRIC)

    def _are_near(self, ids: Ids) -> NDArray[np.bool_]:
        """Whether each word is within the guarantee's radius of a word of `ids`."""
        return np.asarray(self._guaranteed_distances(ids) <= self._guarantee.radius)

    def _guaranteed_distances(self, ids: Ids) -> Floats:
        """Compute the distances to all words, in the metric of the guarantee."""
        name = self._guarantee.metric
        if name == str(self._space.metric):
            return self._space.distances(ids)
        return as_metric(name).on(self._space.vectors)(ids)

    def substitute(self, ids: Any, rng: Generator) -> Ids:
        """Return a private word for each of `ids`, each drawn independently."""
        return self._substitute(checked_ids(ids, len(self._space)), for_a_call(rng))

    @abstractmethod
    def _substitute(self, ids: Ids, rng: Generator) -> Ids: ...


def checked_channel(channel: Any) -> Channel:
    """Return the channel; raise an error for anything else, such as an unbound mechanism."""
    if not isinstance(channel, Channel):
        raise ParameterError(
            "A channel is needed, that is a mechanism bound to a lexicon: mechanism.on(lexicon). "
            f"Got {type(channel).__name__}."
        )
    return channel


@proved("docs/proofs/sampling.md")
class LawChannel(Channel, Generic[LawT]):
    """A channel whose law is known in closed form: it draws from the law that it states."""

    def __init__(
        self,
        law: LawT,
        guarantee: Guarantee,
        *,
        hint: str = "",
        neighbourhoods: Neighbourhoods | None = None,
    ) -> None:
        super().__init__(law.space, guarantee, neighbourhoods=neighbourhoods)
        self._law, self._hint = law, hint

    @property
    def _title(self) -> str:
        return f"{type(self).__name__} by {type(self._law).__name__}: the law is known exactly"

    @property
    def law(self) -> LawT:
        """The probability of each replacement, for each word."""
        return self._law

    @property
    def drawn_by(self) -> tuple[object, ...]:
        """The guarantee's numbers and those of the law."""
        return *super().drawn_by, *self._law.identity

    @property
    def hint(self) -> str:
        """Advice on how to keep more of the text at the same ε; may be empty."""
        return self._hint

    def log_probabilities(self, ids: Any) -> Floats:
        """Return ln Pr[y | w] for each word w of `ids` and each word y: (len(ids), words)."""
        return self._law.log_probabilities(ids)

    def _substitute(self, ids: Ids, rng: Generator) -> Ids:
        def draws(words: Ids, counts: Ids) -> Ids:
            return np.concatenate([ids[:0], *self.draw_words(words, counts, rng)])

        return each_word_once(ids, len(self._space), draws)

    def draw_words(
        self, words: Ids, counts: Ids, rng: Generator, least: Ids | None = None
    ) -> list[Ids]:
        """Draw `counts[i]` private words for each of the distinct `words[i]`.

        With `least`, about so many are drawn, at least `least[i]`. The law is the same. This is
        faster, but a seed need not repeat it.
        """
        drawn = []
        for block in blocks(len(words), row_cells=len(self._space), budget=_CELLS):
            rows = self._law.rows(words[block], counts[block])
            enough = None if least is None else least[block]
            drawn += draw(rows, counts[block], rng, enough=enough)
        return drawn


class Decoder(ABC):
    """A map from noisy vectors to words. It sees the lexicon and the noisy vectors, nothing else.

    Its type gives it no access to the words that went in. So whatever it does is
    post-processing, and the guarantee of the vectors is the guarantee of the words.
    """

    @abstractmethod
    def decode(self, vectors: Floats, rng: Generator) -> Ids:
        """Return a word for each of the noisy `vectors`."""

    def sites(self) -> Floats | None:
        """Return the places of the words if the nearest one in Euclidean distance always wins."""
        return None


@proved("docs/proofs/laplace.md")
class VectorChannel(Channel, Generic[NoiseT]):
    """A channel that releases noisy vectors, and words by way of a decoder."""

    def __init__(
        self,
        space: MetricSpace,
        guarantee: Guarantee,
        noise: NoiseT,
        decoder: Decoder,
        *,
        neighbourhoods: Neighbourhoods | None = None,
    ) -> None:
        """Release with `noise`; a guarantee for public neighbourhoods needs `neighbourhoods`."""
        if not guarantee.numerics:
            guarantee = replace(guarantee, numerics=noise.numerics(space))
        super().__init__(space, guarantee, neighbourhoods=neighbourhoods)
        self._noise, self._decoder = noise, decoder

    @property
    def _title(self) -> str:
        noise, decoder = type(self._noise).__name__, type(self._decoder).__name__
        return f"{type(self).__name__}: noise {noise}, words by {decoder}"

    @property
    def noise(self) -> NoiseT:
        """The noise that is added to vectors."""
        return self._noise

    @property
    def decoder(self) -> Decoder:
        """How noisy vectors become words."""
        return self._decoder

    def release(self, vectors: Any, rng: Generator) -> Floats:
        """Return a private vector for each row of `vectors`, which need not be lexicon words."""
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
            raise ParameterError("Vectors must be finite. Got NaN or infinity.")
        return self._noise.release(array, for_a_call(rng))

    def release_words(self, ids: Any, rng: Generator) -> Floats:
        """Return a private vector for each of the words `ids`."""
        ids = checked_ids(ids, len(self._space))
        return self._noise.release_words(self._space, ids, for_a_call(rng))

    def _substitute(self, ids: Ids, rng: Generator) -> Ids:
        drawn = np.empty(len(ids), dtype=np.int64)
        for block in blocks(len(ids), row_cells=self._space.vectors.shape[1]):
            noisy = self._noise.release_words(self._space, ids[block], rng)
            drawn[block] = self._decoder.decode(noisy, rng)
        return drawn

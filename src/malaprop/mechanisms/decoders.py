"""Decoders: maps from a noisy vector to a word, independent of the word that went in.

A decoder sees the noisy vectors, the public lexicon and fresh randomness. So it is post-processing,
and the word has the same guarantee as the vector.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from malaprop.lexicon.search import NearestSearch, search_on
from malaprop.privacy.arrays import Floats, Ids, Reals, checked_vectors
from malaprop.privacy.channel import Decoder, VectorChannel
from malaprop.privacy.errors import ParameterError
from malaprop.privacy.guarantee import Guarantee, Neighbourhoods, proved
from malaprop.privacy.mechanism import FreeVectors, Mechanism, bound_to_vectors, option
from malaprop.privacy.metrics import MetricSpace, require_ball, require_euclidean
from malaprop.privacy.noise import Noise


@dataclass(frozen=True, kw_only=True)
class Decoding(ABC):
    """Parameters of a decoder; `on(lexicon, epsilon)` makes the decoder."""

    @abstractmethod
    def on(self, lexicon: MetricSpace, epsilon: float) -> Decoder:
        """Return the decoder for a lexicon and for the noise of a mechanism with that ε."""


@dataclass(frozen=True, kw_only=True)
class Nearest(Decoding):
    """The word nearest to the noisy vector; ties go to the lowest id."""

    def on(self, lexicon: MetricSpace, epsilon: float) -> Decoder:
        return NearestDecoder(search_on(lexicon))


@dataclass(frozen=True, kw_only=True)
class Vickrey(Decoding):
    """The first or the second nearest word to the noisy vector (Xu et al. 2021).

    Pr[first] = (1 − t)·d₂ / (t·d₁ + (1 − t)·d₂), with d₁ ≤ d₂ their distances to the noisy
    vector: t = 0 always takes the first, t = 1 the second. The true word plays no part.
    """

    t: float = 0.5

    def __post_init__(self) -> None:
        if not 0.0 <= self.t <= 1.0:
            raise ParameterError(f"The 't' parameter of Vickrey must be in 0 … 1. Got {self.t}.")

    def on(self, lexicon: MetricSpace, epsilon: float) -> Decoder:
        return VickreyDecoder(search_on(lexicon), self.t)


@dataclass(frozen=True, kw_only=True)
class Rank(Decoding):
    """A word near the nearest one, by rank (Asghar et al. 2024).

    The nearest word to the noisy vector is the pivot, of rank 0. The words are ranked by their
    distance from it, and one is drawn with probability ∝ exp(−c·ε·rank).
    """

    c: float = 1.0

    def __post_init__(self) -> None:
        if not 0.0 < self.c < math.inf:
            raise ParameterError(f"The 'c' parameter of Rank must be above 0. Got {self.c}.")

    def on(self, lexicon: MetricSpace, epsilon: float) -> Decoder:
        return RankDecoder(lexicon, search_on(lexicon), self.c * epsilon)


DECODINGS: dict[str, type[Decoding]] = {"nearest": Nearest, "vickrey": Vickrey, "rank": Rank}


def as_decoding(decoder: str | Decoding) -> Decoding:
    """Return a decoding, given its name or the decoding itself."""
    if isinstance(decoder, Decoding):
        return decoder
    if decoder not in DECODINGS:
        raise ParameterError(f"Unknown decoder {decoder!r}. There are: {', '.join(DECODINGS)}.")
    return DECODINGS[decoder]()


Bound = tuple[Noise, Guarantee, Neighbourhoods | None]


@dataclass(frozen=True, kw_only=True)
class VectorMechanism(Mechanism):
    """A mechanism that adds noise to vectors, and decodes noisy vectors if words are wanted."""

    decoder: str | Decoding = option("nearest", "from vector to word: nearest, vickrey or rank")

    words_only: ClassVar[str] = "its noise depends on the word"
    """Why the mechanism takes no vectors without a lexicon, if it does not."""

    def __post_init__(self) -> None:
        super().__post_init__()
        as_decoding(self.decoder)

    def on(self, lexicon: MetricSpace) -> VectorChannel[Any]:
        """Bind the mechanism to a lexicon, whose metric must be Euclidean, or what it `needs`."""
        self._check(lexicon)
        noise, guarantee, groups = self._for_words(lexicon)
        decoder = self.decoder_on(lexicon)
        return VectorChannel(lexicon, guarantee, noise, decoder, neighbourhoods=groups)

    def _check(self, lexicon: MetricSpace) -> None:
        (require_ball if self.needs else require_euclidean)(lexicon, self)

    def for_vectors(self, columns: int, public: Any = None) -> FreeVectors:
        """Bind the mechanism to vectors of so many columns, which need not be words.

        `public` are vectors of the same kind that everybody may know, in rows. Mechanisms whose
        noise or projection follows a cloud of vectors need them, and learn nothing from others.
        """
        if isinstance(columns, bool) or not isinstance(columns, Integral) or columns < 1:
            raise ParameterError("The number of columns must be a whole number, 1 or more.")
        known = None if public is None else checked_vectors(public)
        if known is not None and (known.shape[1] != columns or len(known) < 2):
            raise ParameterError(
                f"The 'public' vectors must be 2 rows or more with {columns} columns, as the "
                f"vectors to release have. Got {known.shape[0]} rows and {known.shape[1]} columns."
            )
        return self._free(int(columns), known)

    def release(self, vectors: Any, rng: Generator | None = None, *, public: Any = None) -> Floats:
        """Return a private vector for each row of an array, without a lexicon.

        The guarantee is `for_vectors(columns, public).guarantee`. The noise is cryptographic
        unless a generator is given.
        """
        array = checked_vectors(vectors)
        return self.for_vectors(array.shape[1], public).release(array, rng)

    def decoder_on(self, lexicon: MetricSpace) -> Decoder:
        return as_decoding(self.decoder).on(lexicon, self.epsilon)

    def _for_words(self, lexicon: MetricSpace) -> Bound:
        """Return the noise for words, what it promises, and between which words."""
        return *self._bind(lexicon.vectors), None

    def _bind(self, vectors: Reals) -> tuple[Noise, Guarantee]:
        """Return the noise for vectors like these, which are public, and the guarantee."""
        raise ParameterError(
            f"{type(self).__name__} takes words of a lexicon only: {self.words_only}. For other "
            "vectors use Laplace, PrivEmb or Gaussian."
        )

    def _free(self, columns: int, public: Floats | None) -> FreeVectors:
        """Return the binding to vectors; refuse it where the guarantee is about words."""
        return bound_to_vectors(columns, *self._bind(np.zeros((1, columns))))


@proved("docs/proofs/laplace.md")
@dataclass(frozen=True, eq=False)
class NearestDecoder(Decoder):
    search: NearestSearch

    def decode(self, vectors: Floats, rng: Generator) -> Ids:
        return self.search.nearest(vectors)[:, 0]

    def sites(self) -> Floats | None:
        """Return the places of the words, unless distances are those of the Poincaré ball."""
        return None if self.search.hyperbolic else self.search.sites


@proved("docs/proofs/laplace.md")
@dataclass(frozen=True, eq=False)
class VickreyDecoder(Decoder):
    """The first or the second nearest word to each noisy vector."""

    search: NearestSearch
    t: float

    def decode(self, vectors: Floats, rng: Generator) -> Ids:
        two = self.search.nearest(vectors, k=2)
        if two.shape[1] == 1:  # a lexicon of one word
            return two[:, 0]
        d1, d2 = (self.search.distances(vectors, ids) for ids in two.T)
        first, second = (1.0 - self.t) * d2, self.t * d1
        # Both are 0 only if both words are at the noisy vector, or one is and t is 0 or 1.
        takes_first = rng.random(len(two)) * (first + second) <= first
        return np.where(takes_first, two[:, 0], two[:, 1])


@proved("docs/proofs/laplace.md")
@dataclass(frozen=True, eq=False)
class RankDecoder(Decoder):
    """A word by its rank around the nearest one to each noisy vector."""

    lexicon: MetricSpace
    search: NearestSearch
    rate: float
    """c·ε: each rank is e^rate times as rare as the one before."""

    def decode(self, vectors: Floats, rng: Generator) -> Ids:
        pivots, size = self.search.nearest(vectors)[:, 0], len(self.lexicon)
        # Ranks of probability ∝ exp(−rate·rank), below the number of words, by inversion.
        total = -math.expm1(-self.rate * size)
        drawn = np.floor(-np.log1p(-rng.random(len(pivots)) * total) / self.rate)
        ranks = np.minimum(drawn, size - 1).astype(np.int64)
        words = pivots.copy()
        for place in np.flatnonzero(ranks):
            row = self.lexicon.distances([pivots[place]])[0]
            row[pivots[place]] = -1.0  # first even if another word has the same vector
            words[place] = np.argsort(row, kind="stable")[ranks[place]]
        return words

"""Channels: the only door between the secret side and the public side.

A channel is a mechanism bound to a lexicon, or noise on a path of values. It holds what depends on
public data alone, and it is the only thing that ever sees a user's words: whatever comes after it
sees its output.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from malaprop.privacy import notebook
from malaprop.privacy.arrays import Floats, Ids, blocks, checked_ids, checked_vectors, group
from malaprop.privacy.errors import ParameterError, checked_number, is_computable
from malaprop.privacy.guarantee import (
    PUBLIC_ON_PATHS,
    STEPS_OF,
    Guarantee,
    Kind,
    Neighbourhoods,
    proved,
)
from malaprop.privacy.law import Law, PathLaw
from malaprop.privacy.metrics import MetricSpace, Path, as_metric
from malaprop.privacy.noise import Noise
from malaprop.privacy.randomness import begin_call

# Covariant: a channel with TEM's law is a channel with a law.
LawT = TypeVar("LawT", bound=Law, covariant=True)
NoiseT = TypeVar("NoiseT", bound=Noise, covariant=True)

ANY_TWO_VALUES = "any two values of the grid"
_CELLS = 1 << 25  # the most cells of rows computed together: 512 rows of 65,536 words


@dataclass(frozen=True, eq=False, repr=False)
class Channel(ABC):
    """A mechanism bound to a lexicon: word ids in, word ids out."""

    lexicon: MetricSpace
    guarantee: Guarantee
    """What the channel promises for one word."""
    neighbourhoods: Neighbourhoods | None = field(default=None, kw_only=True)
    """The neighbourhoods within which the guarantee holds; None for all other guarantees."""
    hint: str = field(default="", kw_only=True)
    """Advice on how to keep more of the text at the same ε; usually empty."""
    chosen: Mapping[str, object] = field(default_factory=dict, kw_only=True)
    """Parameters that the mechanism chose for this lexicon: which exponent TEM has."""
    _size: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        fingerprint = str(getattr(self.lexicon, "fingerprint", ""))
        object.__setattr__(self, "guarantee", replace(self.guarantee, lexicon=fingerprint))
        object.__setattr__(self, "_size", len(self.lexicon))

    @property
    def drawn_by(self) -> tuple[object, ...]:
        """Numbers that determine the law: if they differ between two channels, so does the law."""
        held = self.guarantee
        return str(held.kind), held.epsilon, held.delta, held.cap, held.radius, held.zcdp

    def covers(self, ids: Ids) -> NDArray[np.bool_]:
        """Whether the guarantee covers each word of `ids` with each word: (len(ids), words)."""
        promise, space, groups = self.guarantee, self.lexicon, self.neighbourhoods
        if promise.kind in (Kind.METRIC, Kind.NONE):
            return np.full((len(ids), self._size), promise.kind is Kind.METRIC)
        if promise.kind is Kind.NEIGHBOURHOOD and groups is None:
            raise NotImplementedError(
                "The guarantee is for public neighbourhoods, and the channel does not say "
                "which those are: pass `neighbourhoods` to it."
            )
        own = promise.metric == str(space.metric)
        distances = space.distances if own else as_metric(promise.metric).on(space.vectors)
        near = np.asarray(distances(ids) <= promise.radius)
        return near if groups is None or promise.kind is Kind.BOUNDED else near & groups.covers(ids)

    def substitute(self, ids: Any, rng: Generator) -> Ids:
        """Return a private word for each of `ids`, each drawn independently."""
        return self._substitute(checked_ids(ids, self._size), begin_call(rng))

    @abstractmethod
    def _substitute(self, ids: Ids, rng: Generator) -> Ids: ...

    @property
    def _title(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        return f"<{self._title}; {self.lexicon!r}>"

    def _repr_html_(self) -> str:
        rows = [
            ("lexicon", repr(self.lexicon)),
            ("guarantee", str(self.guarantee)),
            ("taken to be public", "; ".join(self.guarantee.public)),
            ("hint", self.hint),
        ]
        return notebook.paragraph(self._title, bold=True) + notebook.facts(rows)


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

    law: LawT
    """The probability of each replacement, for each word."""

    def __init__(
        self,
        law: LawT,
        guarantee: Guarantee,
        *,
        hint: str = "",
        neighbourhoods: Neighbourhoods | None = None,
        chosen: Mapping[str, object] | None = None,
    ) -> None:
        object.__setattr__(self, "law", law)
        more: dict[str, Any] = {"neighbourhoods": neighbourhoods, "chosen": chosen or {}}
        super().__init__(law.space, guarantee, hint=hint, **more)

    @property
    def drawn_by(self) -> tuple[object, ...]:
        return *super().drawn_by, *self.law.identity

    def log_probabilities(self, ids: Any) -> Floats:
        return self.law.log_probabilities(ids)

    def _substitute(self, ids: Ids, rng: Generator) -> Ids:
        groups = group(ids, self._size)
        drawn = self.draw_words(groups.words, groups.counts, rng)
        return groups.scatter(np.concatenate([ids[:0], *drawn]))

    def draw_words(
        self, words: Ids, counts: Ids, rng: Generator, least: Ids | None = None
    ) -> list[Ids]:
        """Draw `counts[i]` private words for each of the distinct `words[i]`.

        With `least`, about so many are drawn, at least `least[i]`. The law is the same. This is
        faster, but a seed need not repeat it.
        """
        drawn = []
        for block in blocks(len(words), row_cells=self._size, budget=_CELLS):
            rows = self.law.rows(words[block], counts[block])
            drawn += rows.draw(counts[block], rng, None if least is None else least[block])
        return drawn

    @property
    def _title(self) -> str:
        return f"{type(self).__name__} by {type(self.law).__name__}: the law is known exactly"


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
@dataclass(frozen=True, eq=False, repr=False)
class VectorChannel(Channel, Generic[NoiseT]):
    """A channel that releases noisy vectors, and words by way of a decoder.

    A guarantee for public neighbourhoods needs `neighbourhoods`.
    """

    noise: NoiseT
    decoder: Decoder
    """How noisy vectors become words."""

    def __post_init__(self) -> None:
        if not self.guarantee.numerics:
            numerics = self.noise.numerics(self.lexicon)
            object.__setattr__(self, "guarantee", replace(self.guarantee, numerics=numerics))
        super().__post_init__()

    def release(self, vectors: Any, rng: Generator) -> Floats:
        """Return a private vector for each row of `vectors`, which need not be lexicon words."""
        array = checked_vectors(vectors, self.lexicon.vectors.shape[1])
        return self.noise.release(array, begin_call(rng))

    def release_words(self, ids: Any, rng: Generator) -> Floats:
        """Return a private vector for each of the words `ids`."""
        return self.noise.release_words(self.lexicon, checked_ids(ids, self._size), begin_call(rng))

    def _substitute(self, ids: Ids, rng: Generator) -> Ids:
        drawn = np.empty(len(ids), dtype=np.int64)
        for block in blocks(len(ids), row_cells=self.lexicon.vectors.shape[1]):
            noisy = self.noise.release_words(self.lexicon, ids[block], rng)
            drawn[block] = self.decoder.decode(noisy, rng)
        return drawn

    @property
    def _title(self) -> str:
        noise, decoder = type(self.noise).__name__, type(self.decoder).__name__
        return f"{type(self).__name__}: noise {noise}, words by {decoder}"


@proved("docs/proofs/kinds.md")
@dataclass(frozen=True, eq=False, repr=False, init=False)
class PathChannel:
    """Replaces a point of a path, such as a number or a date, by one a few steps away.

    Distribution: Pr[y|x] = ν(y)·e^(−ε·d(x, y)), ν being weights in closed form.

    Guarantee: ε·d(x, x') metric differential privacy in steps; without a cut-off.

    >>> from malaprop import seeded_rng
    >>> years = PathChannel(Path.even(300), epsilon=1.0, unit="1 year")
    >>> years.substitute([223, 223, 223, 0], seeded_rng(5))
    array([223, 223, 223,   1])
    >>> years.guarantee.loss(2.0)
    2.0
    """

    path: Path
    unit: str
    """What a step is, in words."""
    law: PathLaw
    guarantee: Guarantee

    def __init__(
        self, path: Path, epsilon: float, unit: str, *, law: PathLaw | None = None
    ) -> None:
        """Draw with ε a step, which is so long: `unit`, in words, such as "1 week".

        Another `law` than the balanced one changes the draws, not the promise: see the audit.
        """
        if not isinstance(path, Path):
            raise ParameterError(f"A PathChannel needs a Path. Got {type(path).__name__}.")
        what = "'epsilon' parameter of PathChannel"
        rate = checked_number(epsilon, what, "a number between 1e-30 and 1e+30", is_computable)
        if law is not None and law.path != path:
            raise ParameterError("The law of a PathChannel must be on the same path.")
        drawn_from = PathLaw.balanced(path, rate) if law is None else law
        promise = Guarantee(
            kind=Kind.METRIC,
            epsilon=rate,
            metric=STEPS_OF + unit,
            zcdp=rate**2 / 2.0,
            pairs=ANY_TWO_VALUES,
            public=PUBLIC_ON_PATHS,
            proof="docs/proofs/kinds.md",
            numerics=drawn_from.numerics,
        )
        parts = {"path": path, "unit": unit, "law": drawn_from, "guarantee": promise}
        for name, part in parts.items():
            object.__setattr__(self, name, part)

    @property
    def drawn_by(self) -> tuple[object, ...]:
        return self.path.digest, self.law.rate, self.unit

    def substitute(self, ids: Any, rng: Generator) -> Ids:
        return self.law.draw(self.path.checked(ids), begin_call(rng))

    def log_probabilities(self, ids: Any) -> Floats:
        return self.law.log_probabilities(ids)

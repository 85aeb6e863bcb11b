"""Attacks on released vectors: which word of the lexicon one belongs to."""

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from malaprop.core.arrays import Floats, Ids
from malaprop.core.channel import VectorChannel
from malaprop.core.errors import DataError, ParameterError
from malaprop.core.mechanism import Mechanism
from malaprop.core.noise.free_vectors import TakesVectors
from malaprop.core.noise.noise import Noise
from malaprop.core.progress import Progress
from malaprop.lexicon.bigrams import shipped_model
from malaprop.lexicon.search.exact import NearestSearch
from malaprop.lexicon.search.poincare import PoincareSearch
from malaprop.measure.attacking.base import Attack, Target
from malaprop.measure.attacking.result import FoundVectors
from malaprop.measure.attacking.scoring import share
from malaprop.measure.intervals import clopper_pearson
from malaprop.pipeline.missing import in_places, is_missing
from malaprop.pipeline.privatizer import Privatizer
from malaprop.text import TextParser


@dataclass(frozen=True, kw_only=True, eq=False)
class Places:
    """Where the noise of each word is centred: public."""

    vectors: Floats = field(repr=False)
    hyperbolic: bool

    def nearest(self, released: Floats) -> Ids:
        """Return the word whose place is nearest to each released vector."""
        search = PoincareSearch if self.hyperbolic else NearestSearch
        return search(self.vectors.astype(np.float32)).nearest(released)[:, 0]


@dataclass(frozen=True, kw_only=True, eq=False)
class Guesses:
    """An attack's guesses, and what they are compared with."""

    guesses: Ids = field(repr=False)
    beside: Ids | None = field(default=None, repr=False)
    """Guesses of an attacker without this attack's idea; None for those of the most usual word."""
    surviving: float | None = None


@dataclass(frozen=True, kw_only=True)
class VectorAttack(Attack):
    """An attempt to recover words from released vectors."""

    on: ClassVar[str] = "vectors"

    @property
    @abstractmethod
    def most(self) -> int:
        """How many words are attacked at most."""

    @abstractmethod
    def guess(self, released: Floats, places: Places, progress: Progress | None = None) -> Guesses:
        """Return a guess for each released vector."""

    def run(self, target: Target) -> FoundVectors:
        """Release the vectors of the texts' words, and return the share of words recovered."""
        if target.labels is not None:
            raise ParameterError(f"The attack {self.name} is on vectors, and takes no labels.")
        channel = self._channel(target.privatizer)
        ids = self._words(target)
        places = places_of(channel)
        guessed = self.guess(channel.release_words(ids, target.rng), places, target.progress)
        return self._result(target.privatizer, ids, places, guessed)

    def _channel(self, privatizer: Privatizer) -> VectorChannel[Noise]:
        channel = privatizer.channel
        if isinstance(channel, VectorChannel):
            return channel
        raise self._unfit(privatizer.mechanism)

    def check(self, mechanism: Mechanism, repeat: str) -> None:
        """Refuse a mechanism that releases no vectors."""
        if not isinstance(mechanism, TakesVectors):
            raise self._unfit(mechanism)

    def _unfit(self, mechanism: Mechanism) -> ParameterError:
        named = mechanism.to_dict()["name"]
        return ParameterError(
            f"The attack {self.name} is on released vectors, and {named} releases words only: name "
            "a mechanism that adds noise to vectors, such as laplace, or attack the words with "
            "bayes or context."
        )

    def _words(self, target: Target) -> Ids:
        """Return the words of the texts, or as many of them as are wanted, at random."""
        there = [text for text in in_places(target.texts, "attack", list) if not is_missing(text)]
        privatizer = target.privatizer
        parsed = TextParser(privatizer.lexicon.words, privatizer.policy).parse(there)
        ids = np.asarray(parsed.ids[~parsed.typed])
        if not ids.size:
            raise DataError("The texts have no words to attack.")
        if len(ids) <= self.most:
            return ids
        return ids[np.sort(target.rng.choice(len(ids), self.most, replace=False))]

    def _result(
        self, privatizer: Privatizer, ids: Ids, places: Places, guessed: Guesses
    ) -> FoundVectors:
        hits = guessed.guesses == ids
        model = shipped_model(privatizer.lexicon)
        floor = 1.0 / len(places.vectors)
        if model is not None:
            floor = share(ids == int(model.prior.argmax()))
        low, high = clopper_pearson(int(hits.sum()), len(hits), 0.95)
        distinct = np.unique(ids)
        own = places.nearest(places.vectors[distinct]) == distinct
        return FoundVectors(
            attack=self.name,
            score=share(hits),
            values=(share(hits),),
            interval=(float(low), float(high)),
            spread="over words, for one draw of the noise",
            baseline=floor if guessed.beside is None else share(guessed.beside == ids),
            floor=floor,
            unprotected=float(own[np.searchsorted(distinct, ids)].mean()),
            control=share(np.roll(guessed.guesses, 1) == ids),
            candidates=len(places.vectors),
            surviving=guessed.surviving,
            words=len(ids),
            mechanism=privatizer.mechanism.to_dict(),
            options=self.values(),
        )


def places_of(channel: VectorChannel[Noise]) -> Places:
    """Return where the noise of each word of a channel's lexicon is centred."""
    space = channel.lexicon
    vectors = channel.noise.places(space.vectors.astype(np.float64))
    return Places(vectors=vectors, hyperbolic=str(space.metric) == "poincare")

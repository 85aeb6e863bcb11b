"""Attacks on released vectors: which word of the lexicon one belongs to."""

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from typing import ClassVar, NamedTuple

import numpy as np

from malaprop.lexicon.bigrams import shipped_model
from malaprop.lexicon.search import NearestSearch, PoincareSearch
from malaprop.measure.adversaries import Attack, FoundVectors, Target, share
from malaprop.privacy.arrays import Floats, Ids
from malaprop.privacy.channel import VectorChannel
from malaprop.privacy.errors import DataError, ParameterError
from malaprop.privacy.estimate import Estimate
from malaprop.privacy.mechanism import Mechanism, TakesVectors, option
from malaprop.privacy.progress import Progress, report
from malaprop.text.missing import is_missing, map_non_null
from malaprop.text.parser import TextParser


@dataclass(frozen=True, kw_only=True, eq=False)
class Places:
    """Where the noise of each word is centred: public."""

    vectors: Floats = field(repr=False)
    hyperbolic: bool

    def nearest(self, released: Floats) -> Ids:
        search = PoincareSearch if self.hyperbolic else NearestSearch
        return search(self.vectors.astype(np.float32)).nearest(released)[:, 0]


class Guesses(NamedTuple):
    """An attack's guesses, and what they are compared with."""

    guesses: Ids
    beside: Ids | None = None
    """Guesses of an attacker without this attack's idea; None for those of the most usual word."""
    surviving: float | None = None


@dataclass(frozen=True, kw_only=True)
class VectorAttack(Attack):
    """An attempt to recover words from released vectors."""

    words: int = option(2_000, "how many words to attack at most, at random")

    on: ClassVar[str] = "vectors"

    @abstractmethod
    def guess(self, released: Floats, places: Places, progress: Progress | None = None) -> Guesses:
        """Return a guess for each released vector."""

    def run(self, target: Target) -> FoundVectors:
        privatizer, channel = target.privatizer, target.privatizer.channel
        if not isinstance(channel, VectorChannel):
            raise self._unfit(privatizer.mechanism)
        ids, space = self._words(target), channel.lexicon
        places = Places(
            vectors=channel.noise.places(space.vectors.astype(np.float64)),
            hyperbolic=str(space.metric) == "poincare",
        )
        guessed = self.guess(channel.release_words(ids, target.rng), places, target.progress)
        hits, model = guessed.guesses == ids, shipped_model(privatizer.lexicon)
        floor = 1.0 / len(space) if model is None else share(ids == int(model.prior.argmax()))
        estimate = Estimate.of_share(
            int(hits.sum()), len(hits), over="over words, for one draw of the noise"
        )
        distinct = np.unique(ids)
        own = places.nearest(places.vectors[distinct]) == distinct
        return FoundVectors(
            attack=self.name,
            estimate=replace(estimate, values=(estimate.value,)),
            baseline=floor if guessed.beside is None else share(guessed.beside == ids),
            floor=floor,
            unprotected=float(own[np.searchsorted(distinct, ids)].mean()),
            control=share(np.roll(guessed.guesses, 1) == ids),
            candidates=len(space),
            surviving=guessed.surviving,
            words=len(ids),
            mechanism=privatizer.mechanism.to_dict(),
            options=dict(vars(self)),
        )

    def check(self, mechanism: Mechanism, repeat: str) -> None:
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
        there = [
            text for text in map_non_null(target.texts, "attack", list) if not is_missing(text)
        ]
        privatizer = target.privatizer
        templates, secrets = TextParser(privatizer.lexicon.words, privatizer.policy).parse(there)
        ids = secrets.ids[~templates.typed]
        if not ids.size:
            raise DataError("The texts have no words to attack.")
        if len(ids) <= self.words:
            return ids
        return ids[np.sort(target.rng.choice(len(ids), self.words, replace=False))]


_COLUMNS = 16  # compared at a time: most words drop out at the first ones
_COARSE = 16.0  # a grid of so many last bits can be reached from any word


@dataclass(frozen=True, kw_only=True)
class FloatBits(VectorAttack, name="float"):
    """Rule out words that cannot have led to the last bits of a released vector.

    A word x can lead to y only if some floating-point number z has fl(x + z) = y. For noise that is
    added and released as it is, this leaves one word of tens of thousands, whatever ε. For vectors
    that are rounded to a grid it rules out none. The guess is the nearest word that is left, and
    the baseline is the nearest word of all: the attack `inversion`. After Mironov 2012.
    """

    words: int = option(200, "how many words to attack at most, at random")

    def guess(self, released: Floats, places: Places, progress: Progress | None = None) -> Guesses:
        if places.hyperbolic:
            raise ParameterError(
                "The attack float is on noise that is added to vectors: the mechanism moves points "
                "of a Poincaré ball in another way."
            )
        beside = places.nearest(released)
        step, guesses, left = _grid(released), beside.copy(), 0
        farthest = np.abs(released).max() + np.abs(places.vectors).max()
        if step >= _COARSE * np.spacing(farthest):  # any word can lead to any vector
            return Guesses(guesses=guesses, beside=beside, surviving=float(len(places.vectors)))
        for row, vector in enumerate(released):
            fits = _fitting(vector, places.vectors, step)
            left += len(fits)
            if 0 < len(fits) < len(places.vectors):
                away = np.linalg.norm(places.vectors[fits] - vector, axis=1)
                guesses[row] = fits[away.argmin()]
            report(progress, row + 1, len(released))
        return Guesses(guesses=guesses, beside=beside, surviving=left / len(released))


def _grid(released: Floats) -> float:
    """Return the largest power of two that divides all numbers; 0 if all are 0."""
    mantissas, exponents = np.frexp(released[released != 0.0])
    if not mantissas.size:
        return 0.0
    whole = (np.abs(mantissas) * 2.0**53).astype(np.int64)
    lowest = np.log2((whole & -whole).astype(np.float64)).astype(np.int64)
    return float(2.0 ** float((exponents - 53 + lowest).min()))


def _fitting(vector: Floats, places: Floats, step: float) -> Ids:
    """Return the words from which a vector can be reached, some coordinates at a time."""
    left = np.arange(len(places))
    for start in range(0, len(vector), _COLUMNS):
        part = slice(start, start + _COLUMNS)
        left = left[_reachable(places[left, part], vector[part], step).all(axis=1)]
        if not len(left):
            break
    return left


def _reachable(x: Floats, y: Floats, step: float) -> np.ndarray:
    """Whether some float64 z has fl(x + z) = y.

    If any has, one of the three that are next to y − x does. On a grid that is much coarser than
    the last bit of z, rounding to it reaches every y from every x.
    """
    z = y - x
    fits = (x + z == y) | (step >= _COARSE * np.spacing(np.maximum(np.abs(z), np.abs(x))))
    for side in (-np.inf, np.inf):
        fits |= x + np.nextafter(z, side) == y
    return np.asarray(fits)


@dataclass(frozen=True, kw_only=True)
class Inversion(VectorAttack, name="inversion"):
    """Take the nearest word of the lexicon for the word behind each released vector.

    It is for mechanisms that add noise to vectors; others release nothing but words. With equally
    likely words and noise that is the same in all directions, no attack on single vectors is right
    more often.
    """

    def guess(self, released: Floats, places: Places, progress: Progress | None = None) -> Guesses:
        nearest = places.nearest(released)
        report(progress, 1, 1)
        return Guesses(guesses=nearest)

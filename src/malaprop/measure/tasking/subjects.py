"""What a task is run on, and how it is asked for."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from malaprop.core.channel import Channel, VectorChannel
from malaprop.core.errors import ParameterError
from malaprop.core.space import MetricSpace, checked_space
from malaprop.measure.tasking import sources
from malaprop.measure.tasking.sources import Source
from malaprop.pipeline.privatizer import Privatizer

RELEASES = ("vectors", "words")


@dataclass(frozen=True)
class Subject:
    """Something that begins a repetition: `begin(rng)` returns a source with its own noise."""

    title: str
    space: MetricSpace
    begin: Callable[[Generator], Source]
    noisy: bool = True


def subject_of(value: Any, *, once: bool = False, release: str | None = None) -> Subject:
    """Return what to run tasks on: a lexicon, a channel, a privatizer, or a subject.

    A lexicon stands for its vectors without noise. With `once`, a channel draws for each word once
    and keeps the draw for all its places: a table, which is a substitution cipher. `release` is
    `vectors` (with noise, the default where a channel has them) or `words`.
    """
    if release not in (None, *RELEASES):
        raise ParameterError(f"`release` must be vectors or words. Got {release!r}.")
    if isinstance(value, Subject):
        return value
    if isinstance(value, Privatizer):
        return _of_privatizer(value, once=once, release=release)
    if isinstance(value, Channel):
        return _of_channel(value, once=once, release=release)
    return unprotected(checked_space(value, "A task"))


def unprotected(space: MetricSpace) -> Subject:
    """Return a lexicon's own vectors and words."""
    return Subject("no noise", space, lambda rng: sources.Table(space, rng, space.vectors), False)


def random_table(space: MetricSpace) -> Subject:
    """Return a floor: for each word a random vector, and a random word. Equal words stay equal.

    What needs no more than that, such as a linear model of words, does as well as ever.
    """
    return Subject("a random table", space, lambda rng: sources.RandomTable(space, rng))


def random_words(space: MetricSpace) -> Subject:
    """Return a floor: for each place a word drawn evenly from the lexicon."""
    return Subject("random words", space, lambda rng: sources.RandomWords(space, rng))


def _of_privatizer(privatizer: Privatizer, *, once: bool, release: str | None) -> Subject:
    if once or release == "vectors":
        raise ParameterError(
            "A privatizer releases texts, with the draws that it was made for: leave out `once` "
            "and `release`, or give its channel."
        )
    title = f"private texts by {privatizer.mechanism!r}"
    return Subject(title, privatizer.lexicon, lambda rng: sources.PrivateTexts(privatizer, rng))


def _of_channel(channel: Channel, *, once: bool, release: str | None) -> Subject:
    noisy = isinstance(channel, VectorChannel)
    if release == "vectors" and not noisy:
        raise ParameterError(
            "This channel draws words, and has no noisy vectors: leave out `release`."
        )
    release = release or ("vectors" if noisy else "words")
    title = f"{release} drawn {'once for each word' if once else 'for each place'}: {channel!r}"
    return Subject(title, channel.lexicon, _begin(channel, once, release))


def _begin(channel: Channel, once: bool, release: str) -> Callable[[Generator], Source]:
    space = channel.lexicon

    def begin(rng: Generator) -> Source:
        if isinstance(channel, VectorChannel) and release == "vectors":
            if not once:
                return sources.VectorsOfChannel(channel, rng)
            return sources.Table(
                space, rng, channel.release_words(_all(space), rng), channel.decoder
            )
        if not once:
            return sources.WordsOfChannel(channel, rng)
        return sources.WordTable(space, rng, channel.substitute(_all(space), rng))

    return begin


def _all(space: MetricSpace) -> Any:
    return np.arange(len(space))

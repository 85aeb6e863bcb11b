"""A random sample of texts, drawn while they are read: the others are not kept in memory."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import zip_longest

from numpy.random import Generator

from malaprop.core.errors import DataError, ParameterError
from malaprop.measure.evaluating.kept import Digest
from malaprop.measure.tasks.splits import is_missing_label

_ENDED = object()


@dataclass(frozen=True, kw_only=True, eq=False)
class Sample:
    """Some of the texts that were given, in random order."""

    texts: list[str] = field(repr=False)
    labels: list[object] | None = field(repr=False)
    given: int
    """How many texts there were to draw from."""
    left_out: int
    """How many texts had no words, or no label."""


def sampled(
    texts: Iterable[str],
    labels: Iterable[object] | None,
    size: int,
    rng: Generator,
    digest: Digest | None = None,
) -> Sample:
    """Return a sample of the texts that have something in them, and a label if there are labels.

    Each has the same chance. All of them count for the digest.
    """
    if isinstance(texts, str):
        raise ParameterError("`evaluate` takes several texts, not one string.")
    reservoir, left = _Reservoir(size, rng), 0
    for text, label in _pairs(texts, labels):
        if not text.strip() or (labels is not None and is_missing_label(label)):
            left += 1
            continue
        if digest is not None:
            digest.add(text, label)
        reservoir.add((text, label))
    if left and not reservoir.seen and labels is not None:
        raise DataError("No text has a label: name another column of labels, or none.")
    if not reservoir.seen:
        raise DataError("There are no texts to evaluate.")
    mixed = reservoir.mixed()
    return Sample(
        texts=[text for text, _ in mixed],
        labels=None if labels is None else [label for _, label in mixed],
        given=reservoir.seen,
        left_out=left,
    )


class _Reservoir:
    """Some of the items that were added, each with the same chance."""

    def __init__(self, size: int, rng: Generator) -> None:
        self._size, self._rng, self.seen = size, rng, 0
        self._chosen: list[tuple[str, object]] = []

    def add(self, item: tuple[str, object]) -> None:
        self.seen += 1
        if len(self._chosen) < self._size:
            self._chosen.append(item)
        elif (place := int(self._rng.integers(self.seen))) < self._size:
            self._chosen[place] = item

    def mixed(self) -> list[tuple[str, object]]:
        """Return the items in random order."""
        return [self._chosen[place] for place in self._rng.permutation(len(self._chosen))]


def _pairs(texts: Iterable[str], labels: Iterable[object] | None) -> Iterator[tuple[str, object]]:
    for text, label in zip_longest(texts, () if labels is None else labels, fillvalue=_ENDED):
        if labels is not None and _ENDED in (text, label):
            raise DataError(f"There must be a label for each text.{_numbers(texts, labels)}")
        if not isinstance(text, str):
            raise ParameterError("`evaluate` takes texts: leave out values that are missing.")
        yield text, label


def _numbers(texts: Iterable[str], labels: Iterable[object]) -> str:
    if isinstance(texts, list | tuple) and isinstance(labels, list | tuple):
        return f" Got {len(labels):,} for {len(texts):,}."
    return ""

"""A random sample of texts, drawn while they are read: the others are not kept in memory."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Generic, TypeVar

from numpy.random import Generator

from malaprop.core.errors import DataError, ParameterError
from malaprop.core.parameters import several_texts
from malaprop.measure.evaluating.kept import Digest
from malaprop.measure.tasks.splits import is_missing_label

_ENDED = object()
Item = TypeVar("Item")


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
    several_texts(texts, "evaluate")
    reservoir: Reservoir[tuple[str, object]] = Reservoir(size, rng)
    left = 0
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


class Reservoir(Generic[Item]):
    """Some of the items that were added, each with the same chance."""

    def __init__(self, size: int, rng: Generator) -> None:
        self._size, self._rng = size, rng
        self.seen = 0
        """How many items were added."""
        self.chosen: list[Item] = []
        """The items that were drawn so far."""

    def add(self, item: Item) -> None:
        """Add an item, which may take the place of another one."""
        self.seen += 1
        if len(self.chosen) < self._size:
            self.chosen.append(item)
        elif (place := int(self._rng.integers(self.seen))) < self._size:
            self.chosen[place] = item

    def mixed(self) -> list[Item]:
        """Return the items in random order."""
        return [self.chosen[place] for place in self._rng.permutation(len(self.chosen))]


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

"""Texts taken apart into slots for words and what stands around them, and put together again.

There are two ways, with the same result. Most texts of a large batch are read chunk by chunk, and
worked on together. The others go piece by piece: where there are few letters, where punctuation
is dropped, and where a text has something that is left out, masked or kept.
"""

from collections.abc import Iterable, Sequence
from itertools import compress
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from malaprop.core.arrays import Ids
from malaprop.text.chunked import ChunkedTexts
from malaprop.text.chunks import Chunks, Coded, Tables
from malaprop.text.forms import Counts, Forms
from malaprop.text.policy import Planner, Policy
from malaprop.text.writer import Writer

_Item = TypeVar("_Item")
_FEW_LETTERS = 1000  # for which tables are not worth while


class Apart(Protocol):
    """Texts that are taken apart."""

    @property
    def ids(self) -> Ids:
        """The secret ids of all slots, text by text."""

    @property
    def sizes(self) -> Sequence[int]:
        """How many slots each text has."""

    @property
    def tokens(self) -> Sequence[int]:
        """How many words each private text has, masks among them: anybody can see that."""

    @property
    def signs(self) -> Sequence[int]:
        """How many runs of signs each private text shows as they are."""

    def counts(self) -> Counts:
        """How the pieces of all texts were treated."""

    def counts_of_each(self) -> list[Counts]:
        """How the pieces of each text were treated."""

    def put_together(self, drawn: Ids) -> list[str]:
        """The texts, with the drawn ids in the slots."""


class Workbench:
    """Takes texts apart, for a public list of words and a policy.

    >>> apart = Workbench(["cold", "rain"], Policy()).take_apart(["Cold, COLD rain!"])
    >>> apart.ids
    array([0, 0, 1])
    >>> apart.put_together(apart.ids[::-1])
    ['Rain, cold cold!']
    """

    def __init__(self, words: Sequence[str], policy: Policy) -> None:
        self._planner = Planner(words, policy)
        self._writer = Writer(words, policy.punctuation)
        self._spare: list[Chunks] = []

    def __getstate__(self) -> dict[str, object]:
        # Chunks are words of the user's texts, which must not travel.
        return {**self.__dict__, "_spare": []}

    def take_apart(self, texts: list[str]) -> Apart:
        """Take texts apart."""
        if self._planner.policy.punctuation == "drop" or sum(map(len, texts)) < _FEW_LETTERS:
            return self._forms(texts)
        coded, tables = self._read(texts)
        awkward = coded.awkward_texts()
        if awkward.all():
            return self._forms(texts)
        if not awkward.any():
            return ChunkedTexts(coded, tables, self._writer)
        forms = self._forms(list(compress(texts, awkward)))
        return _Mixed(awkward, forms, ChunkedTexts(coded.of_texts(~awkward), tables, self._writer))

    def _forms(self, texts: list[str]) -> Forms:
        return Forms(texts, self._planner, self._writer)

    def _read(self, texts: list[str]) -> tuple[Coded, Tables]:
        try:
            # Out of other threads' reach. If reading it fails, it is lost, and nobody uses it.
            chunks = self._spare.pop()
        except IndexError:
            chunks = Chunks(self._planner, len(self._writer))
        read = chunks.read(texts), chunks.tables()
        if not chunks.full:
            self._spare.append(chunks)
        return read


class _Mixed:
    """Texts of which some are taken apart piece by piece, and the others chunk by chunk."""

    def __init__(self, awkward: NDArray[np.bool_], forms: Forms, others: ChunkedTexts) -> None:
        self._awkward, self._parts = awkward, (forms, others)
        self.sizes: list[int] = self._in_order(forms.sizes, others.sizes)
        self._awkward_slots = np.repeat(awkward, self.sizes)

    @property
    def ids(self) -> Ids:
        """The secret ids of all slots, text by text."""
        ids = np.empty(len(self._awkward_slots), dtype=np.int64)
        for part, slots in self._slots():
            ids[slots] = part.ids
        return ids

    @property
    def tokens(self) -> list[int]:
        """How many words each private text has, masks among them."""
        return self._in_order(*(part.tokens for part in self._parts))

    @property
    def signs(self) -> list[int]:
        """How many runs of signs each private text shows as they are."""
        return self._in_order(*(part.signs for part in self._parts))

    def counts(self) -> Counts:
        """How the pieces of all texts were treated."""
        some, others = (part.counts() for part in self._parts)
        return {name: count + others[name] for name, count in some.items()}

    def counts_of_each(self) -> list[Counts]:
        """How the pieces of each text were treated."""
        return self._in_order(*(part.counts_of_each() for part in self._parts))

    def put_together(self, drawn: Ids) -> list[str]:
        """The texts, with the drawn ids in the slots."""
        return self._in_order(*(part.put_together(drawn[slots]) for part, slots in self._slots()))

    def _slots(self) -> Iterable[tuple[Apart, NDArray[np.bool_]]]:
        return zip(self._parts, (self._awkward_slots, ~self._awkward_slots), strict=True)

    def _in_order(self, awkward: Iterable[_Item], others: Iterable[_Item]) -> list[_Item]:
        of_kind = iter(others), iter(awkward)
        return [next(of_kind[kind]) for kind in self._awkward.tolist()]

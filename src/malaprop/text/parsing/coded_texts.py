"""Texts as lists of numbers that stand for chunks."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from malaprop.core.arrays import Ids
from malaprop.text.parsing.shapes import Records

AWKWARD = 0
"""The code of a chunk that is too long, or has a NUL or something to drop, mask, keep or show."""
EMPTY_SHAPE, LINE_SHAPE, VANISHING_SHAPE = 1, 2, 3
"""Shapes of an empty chunk, of a line feed, and of a chunk of which nothing is shown."""


class CodedTexts(NamedTuple):
    """Texts as chunks: the shape of each chunk, where its ids start, and how many a text has."""

    shapes: Ids
    offsets: Ids
    lengths: Ids

    def select(self, chosen: NDArray[np.bool_]) -> "CodedTexts":
        """Return the chosen texts."""
        chunks = np.repeat(chosen, self.lengths)
        return CodedTexts(self.shapes[chunks], self.offsets[chunks], self.lengths[chosen])

    def awkward_texts(self) -> NDArray[np.bool_]:
        """Return which texts have an awkward chunk, or one that vanishes."""
        awkward = np.zeros(len(self.lengths), dtype=np.bool_)
        chunks = np.flatnonzero((self.shapes == AWKWARD) | (self.shapes == VANISHING_SHAPE))
        awkward[self._texts_of(chunks)] = True
        return awkward

    def joined(self, shapes: Records) -> Ids:
        """Return the chunks that the next chunk of the text may continue."""
        if not shapes["stops"].any():
            return _NO_CHUNKS
        stops, starts = shapes["stops"][self.shapes], shapes["starts"][self.shapes]
        return self._inside(np.flatnonzero(stops[:-1] & starts[1:]), 0, 1)

    def vanishing(self, shapes: Records) -> Ids:
        """Return the chunks that leave nothing, each between two that show more than whitespace."""
        places = self._inside(np.flatnonzero(self.shapes == VANISHING_SHAPE), -1, 1)
        before, after = self.shapes[places - 1], self.shapes[places + 1]
        ends_there = shapes["solid"][before] & ~shapes["white_end"][before]
        begins_there = shapes["solid"][after] & ~shapes["white_start"][after]
        special = np.minimum(before, after) <= VANISHING_SHAPE
        between: Ids = places[ends_there & begins_there & ~special]
        return between

    def _inside(self, chunks: Ids, first: int, last: int) -> Ids:
        """Return those chunks whose neighbours, from `first` to `last`, are of the same text."""
        texts = self._texts_of(chunks)
        ends = np.cumsum(self.lengths)[texts]
        starts = ends - self.lengths[texts]
        return chunks[(chunks + first >= starts) & (chunks + last < ends)]

    def by_text(self, chunks: Ids) -> dict[int, list[int]]:
        """Return the texts of chunks, and where in its text each chunk is."""
        texts = self._texts_of(chunks)
        places = chunks - (np.cumsum(self.lengths) - self.lengths)[texts]
        grouped: dict[int, list[int]] = {}
        for text, place in zip(texts.tolist(), places.tolist(), strict=True):
            grouped.setdefault(text, []).append(place)
        return grouped

    def with_others(self, texts: Ids, others: "CodedTexts") -> "CodedTexts":
        """Return these texts with some replaced by others."""
        shapes, offsets, lengths = map(np.concatenate, zip(self, others, strict=True))
        order = np.arange(len(self.lengths))
        order[texts] = len(self.lengths) + np.arange(len(texts))
        firsts = (np.cumsum(lengths) - lengths)[order]
        lengths = lengths[order]
        shift = firsts - np.cumsum(lengths) + lengths
        chunks = np.repeat(shift, lengths) + np.arange(lengths.sum())
        return CodedTexts(shapes[chunks], offsets[chunks], lengths)

    def _texts_of(self, chunks: Ids) -> Ids:
        """Return the text of each chunk."""
        texts: Ids = np.searchsorted(np.cumsum(self.lengths), chunks, side="right")
        return texts


_NO_CHUNKS: Ids = np.empty(0, dtype=np.int64)

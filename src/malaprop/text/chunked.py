"""Texts as lists of chunks, worked on together: no loop here goes over words."""

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from malaprop.core.arrays import Ids
from malaprop.text.chunks import (
    EMPTY_SHAPE,
    LINE,
    LINE_SHAPE,
    PADDED_LINE,
    SPACES,
    Coded,
    Tables,
)
from malaprop.text.forms import Counts
from malaprop.text.policy import COUNTED, SIGNS, TOKENS
from malaprop.text.writer import Strings, Writer


class ChunkedTexts:
    """Texts taken apart chunk by chunk; there is at least one, and none is awkward."""

    def __init__(self, coded: Coded, tables: Tables, writer: Writer) -> None:
        self._coded, self._tables, self._writer = coded, tables, writer
        self._slots = self._of_chunks("slots")
        # How many slots there are up to a chunk's end: the number of the next slot after it.
        self._next = np.cumsum(self._slots)
        self._last_chunks = np.cumsum(coded.lengths) - 1
        self._first_chunks = self._last_chunks + 1 - coded.lengths

    @property
    def ids(self) -> Ids:
        """The secret ids of all slots, text by text."""
        return self._tables.ids[self._each_slot(self._coded.offsets)]

    @property
    def sizes(self) -> list[int]:
        """How many slots each text has."""
        sizes: list[int] = np.diff(self._next[self._last_chunks], prepend=0).tolist()
        return sizes

    @property
    def tokens(self) -> list[int]:
        """How many words each private text has, masks among them."""
        return self._how_many(TOKENS)

    @property
    def signs(self) -> list[int]:
        """How many runs of signs each private text shows as they are."""
        return self._how_many(SIGNS)

    def counts(self) -> Counts:
        """How the pieces of all texts were treated."""
        uses = np.bincount(self._coded.shapes)
        used = np.flatnonzero(uses)
        tags = uses[used] @ self._tables.shapes["tags"][used]
        tags[SPACES] += self._spaces_at_ends().sum()
        return _named(tags)

    def counts_of_each(self) -> list[Counts]:
        """How the pieces of each text were treated."""
        tags = np.add.reduceat(self._of_chunks("tags"), self._first_chunks)
        tags[:, SPACES] += self._spaces_at_ends()
        return list(map(_named, tags))

    def put_together(self, drawn: Ids) -> list[str]:
        """The texts, with the drawn ids in the slots."""
        starts, far = self._boundaries()
        drawn = self._writer.with_articles(drawn, far)
        shown = self._shown(drawn + len(self._writer) * starts).tolist()
        bounds = pairwise([*self._first_chunks.tolist(), len(shown)])
        texts = [" ".join(shown[start:end]) for start, end in bounds]
        if LINE_SHAPE in self._coded.shapes:
            return [text.replace(PADDED_LINE, LINE) for text in texts]
        return texts

    def _how_many(self, tags: tuple[str, ...]) -> list[int]:
        """How many pieces of each text are counted in one of these ways."""
        columns = [COUNTED.index(tag) for tag in tags]
        of_shapes = self._tables.shapes["tags"][:, columns].sum(axis=1)
        found: list[int] = np.add.reduceat(
            of_shapes[self._coded.shapes], self._first_chunks
        ).tolist()
        return found

    def _of_chunks(self, fact: str) -> NDArray[Any]:
        facts: NDArray[Any] = self._tables.shapes[fact][self._coded.shapes]
        return facts

    def _each_slot(self, firsts: Ids) -> Ids:
        """The place of each slot in a table, from that of the first slot of each chunk."""
        shift = firsts - self._next + self._slots
        return np.repeat(shift, self._slots) + np.arange(self._next[-1])

    def _spaces_at_ends(self) -> Ids:
        """What is still to be added to the white spaces that were counted, for each text.

        Between two solid chunks there is one white space, so there is one less than there are
        solid chunks; but there may be some at both ends. (Where all is white, so are both ends.)
        """
        facts, shapes = self._tables.shapes, self._coded.shapes
        first, last = shapes[self._first_chunks], shapes[self._last_chunks]
        empty = (first == EMPTY_SHAPE) & (self._coded.lengths == 1)
        missing: Ids = facts["white_start"][first].astype(np.int64) + facts["white_end"][last]
        missing -= 1 + empty
        return missing

    def _boundaries(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which slots start a sentence, and which have more than white space before them.

        It may be in the slot's own chunk, or in one between it and the last slot, or that one's.
        """
        slots = self._each_slot(self._of_chunks("first"))
        starts = np.append(self._tables.slots["starts"][slots], True)
        parts = np.append(self._tables.slots["parts"][slots], True)
        starts[self._next[self._of_chunks("ends")]] = True
        starts[self._next[self._blank_lines()]] = True
        parts[self._next[self._of_chunks("parts")]] = True
        for flags in (starts, parts):
            flags[0] = True
            flags[self._next[self._last_chunks]] = True
        return starts[:-1], parts[:-1]

    def _blank_lines(self) -> Ids:
        """The chunks that are line feeds, with nothing but white space since the last one."""
        lines = np.flatnonzero(self._coded.shapes == LINE_SHAPE)
        if not lines.size:
            return lines
        solid: Ids = np.cumsum(self._of_chunks("solid"))[lines]
        blank: Ids = lines[1:][np.diff(solid) == 0]
        return blank

    def _shown(self, words: Ids) -> Strings:
        """What is shown of each chunk: what it has before, between and after its words."""
        written, first = self._writer.written, self._next - self._slots
        shown = written[np.where(self._slots > 0, np.append(words, -1)[first], -1)]
        odd = np.flatnonzero(~self._of_chunks("bare"))
        shapes = self._coded.shapes[odd]
        shown[odd] = self._tables.shapes["before"][shapes] + shown[odd]
        several, nth = odd, 0
        while (several := several[self._slots[several] > nth + 1]).size:
            nth += 1
            slots = self._tables.shapes["first"][self._coded.shapes[several]] + nth
            shown[several] += self._tables.slots["before"][slots]
            shown[several] += written[words[first[several] + nth]]
        shown[odd] += self._tables.shapes["after"][shapes]
        return shown


def _named(tags: Ids) -> Counts:
    return dict(zip(COUNTED, tags.tolist(), strict=True))

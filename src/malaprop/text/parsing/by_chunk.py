"""Texts parsed chunk by chunk, all at once: no loop here runs over words."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from malaprop.core.arrays import Ids
from malaprop.text.forms.form import Form
from malaprop.text.parsing.coded_texts import EMPTY_SHAPE, LINE_SHAPE, CodedTexts
from malaprop.text.parsing.gluing import LINE, PADDED_LINE
from malaprop.text.parsing.learning import ChunkTables
from malaprop.text.parsing.shapes import SPACED, SPACES
from malaprop.text.policy import PUNCTUATION_TAGS, TAGS, WORD_TAGS, TreatmentCounts
from malaprop.text.rebuilding import Rebuilder


class TextsByChunk:
    """Texts parsed chunk by chunk. There is at least one, and none is awkward."""

    def __init__(self, coded: CodedTexts, tables: ChunkTables, rebuilder: Rebuilder) -> None:
        self._coded, self._tables, self._rebuilder = coded, tables, rebuilder
        self._slots = self._of_chunks("slots")
        # How many slots precede the end of each chunk: the number of the next slot.
        self._next_slots = np.cumsum(self._slots)
        self._last_chunks = np.cumsum(coded.lengths) - 1
        self._first_chunks = self._last_chunks + 1 - coded.lengths

    @property
    def ids(self) -> Ids:
        """The secret ids of all slots, text by text."""
        return self._tables.ids[self._each_slot(self._coded.offsets)]

    @property
    def slot_counts(self) -> list[int]:
        """How many slots each text has."""
        counts: list[int] = np.diff(self._next_slots[self._last_chunks], prepend=0).tolist()
        return counts

    @property
    def word_counts(self) -> list[int]:
        """How many words each private text shows, masks included."""
        return self._how_many(WORD_TAGS)

    @property
    def punctuation_counts(self) -> list[int]:
        """How many runs of punctuation each private text shows."""
        return self._how_many(PUNCTUATION_TAGS)

    def counts(self) -> TreatmentCounts:
        """Count how the tokens of all texts were treated."""
        uses = np.bincount(self._coded.shapes)
        used = np.flatnonzero(uses)
        counts = uses[used] @ self._tables.shapes["tags"][used]
        counts[SPACES] += self._spaces_at_ends().sum()
        return _by_tag(counts)

    def counts_of_each(self) -> list[TreatmentCounts]:
        """Count how the tokens of each text were treated."""
        counts = np.add.reduceat(self._of_chunks("tags"), self._first_chunks)
        counts[:, SPACES] += self._spaces_at_ends()
        return list(map(_by_tag, counts))

    @property
    def typed(self) -> NDArray[np.bool_]:
        """Which slots are for values."""
        if not self._has_values:
            return np.zeros(self._next_slots[-1], dtype=np.bool_)
        typed: NDArray[np.bool_] = self._tables.slots["typed"][self._slot_rows]
        return typed

    @property
    def forms(self) -> list[Form]:
        """The forms of the slots for values, in order."""
        if not self._has_values:
            return []
        forms: list[Form] = self._tables.slots["form"][self._slot_rows[self.typed]].tolist()
        return forms

    def rebuild(self, drawn: Ids, values: Sequence[str] = ()) -> list[str]:
        """Return the texts with the words of the drawn ids and written values in their slots."""
        starts, far = self._boundaries()
        if self._has_values:
            typed, drawn = self.typed, drawn.copy()
            drawn[typed] = self._rebuilder.first_value + np.arange(len(values))
            starts &= ~typed  # a value is written in one way only
        drawn = self._rebuilder.with_articles(drawn, far, values)
        places = drawn + len(self._rebuilder) * starts
        texts = self._texts(places, values)
        if LINE_SHAPE in self._coded.shapes:
            return [text.replace(PADDED_LINE, LINE) for text in texts]
        return texts

    def _how_many(self, tags: tuple[str, ...]) -> list[int]:
        """Return how many tokens of each text have one of the tags."""
        columns = [TAGS.index(tag) for tag in tags]
        of_shapes = self._tables.shapes["tags"][:, columns].sum(axis=1)
        of_chunks = of_shapes[self._coded.shapes]
        counts: list[int] = np.add.reduceat(of_chunks, self._first_chunks).tolist()
        return counts

    def _of_chunks(self, column: str) -> NDArray[Any]:
        """Look up a column of the table of shapes for each chunk."""
        # Copied, the column is all in the cache: it is short, but the rows of the table are long.
        values: NDArray[Any] = np.ascontiguousarray(self._tables.shapes[column])
        return values.take(self._coded.shapes, axis=0)

    def _each_slot(self, firsts: Ids) -> Ids:
        """Return the row of each slot in a table, given that of the first slot of each chunk."""
        return _rows(firsts, self._slots, self._next_slots)

    @cached_property
    def _slot_rows(self) -> Ids:
        """The row of each slot in the table of slots."""
        return self._each_slot(self._of_chunks("first"))

    @cached_property
    def _has_values(self) -> bool:
        """Whether any slot is for a value."""
        return bool(self._tables.slots["typed"].any() and self._of_chunks("typed").any())

    def _spaces_at_ends(self) -> Ids:
        """Return the correction to each text's count of whitespace runs.

        The tables count one run for each solid chunk. Between solid chunks there is one fewer
        than that; but there may be more at both ends. (If all is white, so are both ends.)
        """
        columns, shapes = self._tables.shapes, self._coded.shapes
        first, last = shapes[self._first_chunks], shapes[self._last_chunks]
        empty = (first == EMPTY_SHAPE) & (self._coded.lengths == 1)
        spaces: Ids = columns["white_start"][first].astype(np.int64) + columns["white_end"][last]
        spaces -= 1 + empty
        return spaces

    def _boundaries(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return which slots start a sentence, and which have more than whitespace before them.

        Either may be due to the slot's own chunk, to that of the slot before, or to one between.
        """
        slots = self._slot_rows
        starts = np.append(self._tables.slots["starts"][slots], True)
        parts = np.append(self._tables.slots["parts"][slots], True)
        starts[self._next_slots[self._of_chunks("ends")]] = True
        starts[self._next_slots[self._blank_lines()]] = True
        parts[self._next_slots[self._of_chunks("parts")]] = True
        for flags in (starts, parts):
            flags[0] = True
            flags[self._next_slots[self._last_chunks]] = True
        return starts[:-1], parts[:-1]

    def _blank_lines(self) -> Ids:
        """Return the chunks that are line feeds with only whitespace since the previous one."""
        lines = np.flatnonzero(self._coded.shapes == LINE_SHAPE)
        if not lines.size:
            return lines
        solid: Ids = np.cumsum(self._of_chunks("solid"))[lines]
        blank: Ids = lines[1:][np.diff(solid) == 0]
        return blank

    def _texts(self, places: Ids, values: Sequence[str]) -> list[str]:
        """Write the texts, given the places of the words in all slots; see `Rebuilder.written`."""
        counts = self._of_chunks("pieces")
        next_pieces = np.cumsum(counts)
        pieces = self._tables.pieces[_rows(self._of_chunks("first_piece"), counts, next_pieces)]
        words = np.flatnonzero(pieces < 0)
        spaced = pieces & SPACED
        pieces >>= 1
        pieces[words] = 0
        shown = self._tables.gaps.take(pieces).replace(
            words, self._rebuilder.written(places, values)
        )
        return shown.texts(spaced, next_pieces[self._last_chunks])


def _rows(firsts: Ids, counts: Ids, ends: Ids) -> Ids:
    """Return rows of a table: the first of each run, how long runs are, and the sums of that."""
    return np.repeat(firsts - ends + counts, counts) + np.arange(ends[-1])


def _by_tag(counts: Ids) -> TreatmentCounts:
    return dict(zip(TAGS, counts.tolist(), strict=True))

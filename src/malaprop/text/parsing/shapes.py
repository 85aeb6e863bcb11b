"""Numbers shapes of chunks.

A *shape* is all of a chunk but its secret ids: what it shows around its slots, and how its tokens
are counted. There are many chunks, but few shapes.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from malaprop.core.arrays import Ids
from malaprop.text.forms.form import Form
from malaprop.text.forms.joining import Joins
from malaprop.text.policy import TAGS
from malaprop.text.spellings import Spellings
from malaprop.text.template import Part, Template, closely, ends_sentence

SPACES = TAGS.index("spaces")
PIECE, SPACED = 2, 1
"""A piece is twice a number, plus one if a space follows."""
WORD = -PIECE
"""The piece that stands for the word or value of a slot. Other pieces are gaps."""

_SHAPE: list[Any] = [
    ("slots", np.int64),
    ("first", np.int64),  # the row of its first slot among the slots of all shapes
    ("solid", np.bool_),  # it is not just whitespace
    ("white_start", np.bool_),
    ("white_end", np.bool_),
    ("ends", np.bool_),  # a sentence ends after its last word, given that a space follows
    ("parts", np.bool_),  # something other than whitespace follows its last word
    ("pieces", np.int64),  # how many pieces it is written with; see `Shapes.pieces`
    ("first_piece", np.int64),  # the row of the first one among the pieces of all shapes
    ("starts", np.uint8),  # how it may continue the chunk before it; see `forms.joining`
    ("stops", np.uint8),  # how the next chunk may continue it
    ("typed", np.bool_),  # it has a slot for a value
    ("tags", np.int64, len(TAGS)),
]
_SLOT: list[Any] = [
    ("starts", np.bool_),  # a sentence ends in the text between it and the slot before it
    ("parts", np.bool_),  # that text is not just whitespace
    ("form", np.object_),  # the form of a slot for a value
    ("typed", np.bool_),  # whether it is one
]
Records = NDArray[Any]
"""A structured array: a table with named columns."""


class Shapes:
    """Numbers shapes in the order in which they appear."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[Template, tuple[str, ...], Joins], int] = {}
        self._shapes, self._slots = GrowingTable(_SHAPE), GrowingTable(_SLOT)
        self._pieces, self._gaps = GrowingTable(np.int64), dict[str, int]()
        self._spelt = Spellings.of(())
        self.number(("awkward",), ())

    def __len__(self) -> int:
        return len(self._numbers)

    def number(self, shown: tuple[Part, ...], tags: tuple[str, ...], joins: Joins = (0, 0)) -> int:
        """Return the number of a shape, a new one if need be."""
        number = self._numbers.get((shown, tags, joins))
        if number is None:
            forms = [part for part in shown if not isinstance(part, str)]
            self._add(_gaps(shown), tags, joins, forms)
            number = self._numbers[shown, tags, joins] = len(self._numbers)
        return number

    def tables(self) -> tuple[Records, Records]:
        """Return all shapes, and the slots of all shapes."""
        return self._shapes.table(), self._slots.table()

    def pieces(self) -> tuple[Ids, Spellings]:
        """Return what all shapes are written with: their pieces, and the gaps among them.

        A piece is the number of a gap, or a word, with or without a space after it.
        """
        if len(self._spelt.starts) < len(self._gaps):
            self._spelt = Spellings.of(self._gaps)
        return self._pieces.table(), self._spelt

    def _add(
        self,
        gaps: list[str],
        tags: tuple[str, ...],
        joins: Joins,
        forms: Sequence[Form | None],
    ) -> None:
        *before, after = gaps
        solid = bool(before or after.strip())
        white_start = not solid or gaps[0][:1].isspace()
        white_end = not solid or after[-1:].isspace()
        counts = list(map(tags.count, TAGS))
        # Whitespace: one run for each solid chunk, plus the runs inside it. `TextsByChunk` corrects
        # for the ends of texts.
        counts[SPACES] += 1 - white_start - white_end if solid else -counts[SPACES]
        pieces = self._pieces_of(before, after)
        shape = (  # in the order of `_SHAPE`
            len(before),
            len(self._slots),
            solid,
            white_start,
            white_end,
            ends_sentence(f"{after} "),
            bool(after.strip()),
            len(pieces),
            len(self._pieces),
            *joins,
            any(form is not None for form in forms),
            counts,
        )
        self._slots.add(
            (ends_sentence(gap), bool(gap.strip()), form, form is not None)
            for gap, form in zip(before, forms, strict=True)
        )
        self._pieces.add(pieces)
        self._shapes.add([shape])

    def _pieces_of(self, before: list[str], after: str) -> list[int]:
        """Return the pieces of a chunk with these gaps before its words, and after the last."""
        pieces = []
        for gap in before:
            if gap:
                pieces.append(self._gap(gap))
            pieces.append(WORD)
        if after or not pieces:
            pieces.append(self._gap(after))
        pieces[-1] += SPACED
        return pieces

    def _gap(self, gap: str) -> int:
        return PIECE * self._gaps.setdefault(gap, len(self._gaps))


class GrowingTable:
    """A table that grows. Arrays it has returned stay as they are."""

    def __init__(self, columns: Any) -> None:
        self._table = np.empty(64, dtype=columns)
        self._filled = 0
        self._new: list[object] = []

    def __len__(self) -> int:
        return self._filled + len(self._new)

    def add(self, rows: Iterable[object]) -> None:
        """Add rows."""
        self._new += rows

    def table(self) -> Records:
        """Return all rows so far."""
        if self._new:
            end = len(self)
            if end > len(self._table):
                self._table = np.concatenate([self._table, np.empty(end, self._table.dtype)])
            self._table[self._filled : end] = np.array(self._new, dtype=self._table.dtype)
            self._filled, self._new = end, []
        return self._table[: self._filled]


def _gaps(shown: tuple[Part, ...]) -> list[str]:
    """Return the texts before, between and after slots. Two words without a gap get a space."""
    gaps = [""]
    slot: Part = ""
    for part in shown:
        if isinstance(part, str):
            gaps[-1] += part
            continue
        if slot != "" and not gaps[-1] and not closely(slot, part):
            gaps[-1] = " "
        gaps.append("")
        slot = part
    return gaps

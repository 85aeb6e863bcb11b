"""What stands between two spaces, remembered as a number.

Texts repeat themselves: most of what stands between two spaces has been seen before. Such a chunk
is taken apart once; from then on a text is a list of numbers, and what is to be known of it comes
from tables, for all texts of a batch at once.

Why the chunks may be taken apart one by one: no piece but white space holds a space or a line
feed, and no pattern looks back, or further ahead than to a letter or mark that follows. So the
pieces of a text are those of its chunks, but for white space, which is shown as it is anyway.

A *shape* is all of a chunk but its secret ids: what it shows around its slots, and how its pieces
are counted. There are many chunks, but few shapes.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from malaprop.core.arrays import Ids
from malaprop.text.pieces import split
from malaprop.text.policy import COUNTED, Planner
from malaprop.text.surface import Skeleton, ends_sentence

LINE = "\n"
PADDED_LINE = f" {LINE} "
"""So a line feed is a chunk by itself, and lines share their other chunks."""

AWKWARD = 0
"""The number of a chunk that is too long, or has something to be left out, masked or kept."""
EMPTY_SHAPE, LINE_SHAPE = 1, 2
SPACES = COUNTED.index("spaces")

_ENTRIES = 2**18  # as many different ones as five million words of film reviews have
_LETTERS = 128
_SHAPES = 2**14
_SEVERAL = 2**18  # ids of chunks with several words
_OFFSET_BITS = 32

_SHAPE: list[Any] = [
    ("slots", np.int64),
    ("first", np.int64),  # the place of its first slot among the slots of all shapes
    ("bare", np.bool_),  # it shows nothing but one word
    ("solid", np.bool_),  # it is not white
    ("white_start", np.bool_),
    ("white_end", np.bool_),
    ("ends", np.bool_),  # a sentence ends after its last word, given that a space follows
    ("parts", np.bool_),  # there is something that is not white after its last word
    ("before", np.object_),  # what it shows before its first word, if it has any
    ("after", np.object_),  # and after its last word
    ("tags", np.int64, len(COUNTED)),
]
_SLOT: list[Any] = [
    ("before", np.object_),  # what is shown between it and the slot before it, or the start
    ("starts", np.bool_),  # a sentence ends there
    ("parts", np.bool_),  # there is something that is not white
]
Table = NDArray[Any]


class Coded(NamedTuple):
    """Texts as chunks: of each chunk its shape, and where its ids are; of each text its length."""

    shapes: Ids
    offsets: Ids
    lengths: Ids

    def of_texts(self, chosen: NDArray[np.bool_]) -> "Coded":
        """Some of the texts."""
        chunks = np.repeat(chosen, self.lengths)
        return Coded(self.shapes[chunks], self.offsets[chunks], self.lengths[chosen])

    def awkward_texts(self) -> NDArray[np.bool_]:
        """Which texts have an awkward chunk."""
        awkward = np.zeros(len(self.lengths), dtype=np.bool_)
        chunks = np.flatnonzero(self.shapes == AWKWARD)
        awkward[np.searchsorted(np.cumsum(self.lengths), chunks, side="right")] = True
        return awkward


class Tables(NamedTuple):
    """What the numbers in `Coded` stand for."""

    shapes: Table
    slots: Table
    ids: Ids


class Chunks(dict[str, int]):
    """The numbers of chunks: of its shape, and in the lowest bits where its ids are.

    The ids of a chunk with one word are at the place that is the word's own id. It must not be
    used by two threads at the same time.
    """

    def __init__(self, planner: Planner, words: int) -> None:
        super().__init__()
        self._planner, self._words = planner, words
        self._shapes, self._ids = _Shapes(), _Rows(np.int64)
        self._ids.add(range(words))
        for chunk in ("", LINE):
            self[chunk] = self._learn(chunk)

    def __missing__(self, chunk: str) -> int:
        if len(chunk) > _LETTERS:
            return AWKWARD
        if len(self) >= _ENTRIES:
            self.clear()
        number = self[chunk] = self._learn(chunk)
        return number

    @property
    def full(self) -> bool:
        """Whether there is so much in the tables that it is time to begin anew."""
        return len(self._shapes) > _SHAPES or len(self._ids) > self._words + _SEVERAL

    def read(self, texts: Iterable[str]) -> Coded:
        """Texts as chunks."""
        numbers: list[int] = []
        lengths: list[int] = []
        for text in texts:
            chunks = text.replace(LINE, PADDED_LINE).split(" ")
            numbers += map(self.__getitem__, chunks)
            lengths.append(len(chunks))
        codes = np.array(numbers, dtype=np.int64)
        offsets = codes & ((1 << _OFFSET_BITS) - 1)
        return Coded(codes >> _OFFSET_BITS, offsets, np.array(lengths, dtype=np.int64))

    def tables(self) -> Tables:
        """The tables for all that was read so far; they do not change any more."""
        return Tables(*self._shapes.tables(), self._ids.table())

    def _learn(self, chunk: str) -> int:
        plans = self._planner.plan_all(split(chunk))
        _, ids, tags, shown, marks = zip(*plans, strict=True) if plans else ((),) * 5
        if _is_awkward(marks):
            return AWKWARD
        place = self._place([word for word in ids if word >= 0])
        return self._shapes.number(shown, tags) << _OFFSET_BITS | place

    def _place(self, ids: list[int]) -> int:
        if len(ids) == 1:
            return ids[0]
        self._ids.add(ids)
        return len(self._ids) - len(ids)


class _Shapes:
    """Shapes, numbered as they come."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[Skeleton, tuple[str, ...]], int] = {}
        self._shapes, self._slots = _Rows(_SHAPE), _Rows(_SLOT)
        self.number(("awkward",), ())

    def __len__(self) -> int:
        return len(self._numbers)

    def number(self, shown: tuple[str | None, ...], tags: tuple[str, ...]) -> int:
        """The number of a shape."""
        number = self._numbers.get((shown, tags))
        if number is None:
            self._add(_gaps(shown), tags)
            number = self._numbers[shown, tags] = len(self._numbers)
        return number

    def tables(self) -> tuple[Table, Table]:
        """All shapes, and the slots of all shapes."""
        return self._shapes.table(), self._slots.table()

    def _add(self, gaps: list[str], tags: tuple[str, ...]) -> None:
        *before, after = gaps
        solid = bool(before or after.strip())
        white_start = not solid or gaps[0][:1].isspace()
        white_end = not solid or after[-1:].isspace()
        counts = list(map(tags.count, COUNTED))
        # Of white space: one for each solid chunk, and what is inside it. `ChunkedTexts` adds what
        # there is at the ends of texts.
        counts[SPACES] += 1 - white_start - white_end if solid else -counts[SPACES]
        shape = (  # in the order of `_SHAPE`
            len(before),
            len(self._slots),
            gaps == ["", ""],
            solid,
            white_start,
            white_end,
            ends_sentence(f"{after} "),
            bool(after.strip()),
            "".join(before[:1]),
            after,
            counts,
        )
        self._slots.add([(gap, ends_sentence(gap), bool(gap.strip())) for gap in before])
        self._shapes.add([shape])


class _Rows:
    """A table that grows. What has been given out stays as it is."""

    def __init__(self, columns: Any) -> None:
        self._table = np.empty(64, dtype=columns)
        self._filled = 0
        self._new: list[object] = []

    def __len__(self) -> int:
        return self._filled + len(self._new)

    def add(self, rows: Iterable[object]) -> None:
        self._new += rows

    def table(self) -> Table:
        if self._new:
            end = len(self)
            if end > len(self._table):
                self._table = np.concatenate([self._table, np.empty(end, self._table.dtype)])
            self._table[self._filled : end] = np.array(self._new, dtype=self._table.dtype)
            self._filled, self._new = end, []
        return self._table[: self._filled]


def _is_awkward(marks: Sequence[str]) -> bool:
    """Whether pieces with these marks (see `surface.mark`) had better be taken one by one."""
    if "k" in marks:  # kept or masked: a word that is no slot
        return True
    if "" not in marks:  # nothing is left out
        return False
    # White space could come to stand beside other white space: inside the chunk, or around it if
    # nothing of it is left.
    return "o" in marks or not any(marks)


def _gaps(shown: tuple[str | None, ...]) -> list[str]:
    """What is shown before, between and after slots. Two words without a gap get a space."""
    gaps = [""]
    for part in shown:
        if part is None:
            gaps.append("")
        else:
            gaps[-1] += part
    return [gaps[0], *(gap or " " for gap in gaps[1:-1]), *gaps[1:][-1:]]

"""Encodes chunks, the strings between two spaces, as numbers.

Texts repeat themselves: most chunks have been seen before. A chunk is parsed once and remembered
as a number. From then on a text is a list of numbers, and all facts about it come from tables, for
all texts of a batch at once.

Why chunks may be parsed one by one: no token but whitespace and some values holds a space, none
a line feed, and no pattern looks back, or ahead beyond a space. So the tokens of a text are those
of its chunks, except for whitespace, which is shown as it is anyway, and for values such as
"3 May". Texts that may have one are found by how their chunks begin and end; they are cut as a
whole, and glue replaces the spaces inside values.

A *shape* is all of a chunk but its secret ids: what it shows around its slots, and how its tokens
are counted. There are many chunks, but few shapes.
"""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from malaprop.core.arrays import Ids
from malaprop.text.forms.form import Form
from malaprop.text.forms.joining import PARTS_OF_VALUES, Joins, joining
from malaprop.text.parsing.plain_chunks import plain_tokens
from malaprop.text.policy import TAGS, BoundPolicy
from malaprop.text.template import (
    VALUE_MARK,
    WORD_MARK,
    Part,
    Template,
    closely,
    ends_sentence,
)

LINE = "\n"
PADDED_LINE = f" {LINE} "
"""Makes a line feed a chunk of its own, so that lines share their other chunks."""

GLUE = "\0"
"""Replaces the spaces inside a value, so that it is part of one chunk."""

AWKWARD = 0
"""The code of a chunk that is too long, or has a NUL or something to drop, mask, keep or show."""
EMPTY_SHAPE, LINE_SHAPE = 1, 2
SPACES = TAGS.index("spaces")

_ENTRIES = 2**18  # five million words of film reviews have as many different chunks
_LETTERS = 128
_TOO_LONG = "x" * (_LETTERS + 1)
_SHAPES = 2**14
_SEVERAL = 2**18  # ids of chunks with none or several words
_OFFSET_BITS = 32

PUNCTUATION = "punctuation"

_SHAPE: list[Any] = [
    ("slots", np.int64),
    ("first", np.int64),  # the row of its first slot among the slots of all shapes
    ("bare", np.bool_),  # it shows nothing but one word
    ("solid", np.bool_),  # it is not just whitespace
    ("white_start", np.bool_),
    ("white_end", np.bool_),
    ("ends", np.bool_),  # a sentence ends after its last word, given that a space follows
    ("parts", np.bool_),  # something other than whitespace follows its last word
    ("before", np.object_),  # the text before its first word, if it has any
    ("after", np.object_),  # the text after its last word
    ("starts", np.uint8),  # how it may continue the chunk before it; see `forms.joining`
    ("stops", np.uint8),  # how the next chunk may continue it
    ("typed", np.bool_),  # it has a slot for a value
    ("tags", np.int64, len(TAGS)),
]
_SLOT: list[Any] = [
    ("before", np.object_),  # the text between it and the slot before it, or the start
    ("starts", np.bool_),  # a sentence ends in that text
    ("parts", np.bool_),  # that text is not just whitespace
    ("form", np.object_),  # the form of a slot for a value
    ("typed", np.bool_),  # whether it is one
]
Records = NDArray[Any]
"""A structured array: a table with named columns."""


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
        """Return which texts have an awkward chunk."""
        awkward = np.zeros(len(self.lengths), dtype=np.bool_)
        chunks = np.flatnonzero(self.shapes == AWKWARD)
        awkward[self._texts_of(chunks)] = True
        return awkward

    def joined_texts(self, shapes: Records) -> Ids:
        """Return the texts that may have a token that goes beyond a chunk."""
        if not shapes["stops"].any():
            return self.lengths[:0]
        stops, starts = shapes["stops"][self.shapes], shapes["starts"][self.shapes]
        return np.unique(self._texts_of(np.flatnonzero(stops[:-1] & starts[1:])))

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


class ChunkTables(NamedTuple):
    """What the numbers in `CodedTexts` stand for."""

    shapes: Records
    slots: Records
    ids: Ids


class ChunkCodes(dict[str, int]):
    """Maps chunks to codes: the number of the shape, and in the low bits where the ids start.

    If a chunk has one word, its ids start at the row that is the word's own id. Not thread-safe.
    """

    def __init__(self, policy: BoundPolicy, words: int) -> None:
        super().__init__()
        self._policy, self._words = policy, words
        self._shapes, self._ids = _Shapes(), _GrowingTable(np.int64)
        self._ids.add(range(words))
        for chunk in ("", LINE):
            self[chunk] = self._learn(chunk)

    def __missing__(self, chunk: str) -> int:
        if len(chunk) > _LETTERS:
            return AWKWARD
        if len(self) >= _ENTRIES:
            self.clear()
        code = self[chunk] = self._learn(chunk)
        return code

    @property
    def full(self) -> bool:
        """Whether the tables have grown so large that it is time to start afresh."""
        return len(self._shapes) > _SHAPES or len(self._ids) > self._words + _SEVERAL

    def encode(self, texts: Sequence[str]) -> CodedTexts:
        """Encode texts as chunks."""
        if not self._policy.typed:
            return self._encode(texts)
        coded = self._encode(_TOO_LONG if GLUE in text else text for text in texts)
        joined = coded.joined_texts(self._shapes.tables()[0])
        if not joined.size:
            return coded
        glued = [self._glued(texts[text]) for text in joined.tolist()]
        return coded.with_others(joined, self._encode(glued))

    def _glued(self, text: str) -> str:
        """Replace the spaces inside values."""
        tokens = self._policy.cut(text)
        return "".join(
            token.replace(" ", GLUE) if " " in token and not token.isspace() else token
            for token in tokens
        )

    def _encode(self, texts: Iterable[str]) -> CodedTexts:
        codes: list[int | None] = []
        lengths: list[int] = []
        waiting: list[tuple[int, list[str]]] = []  # where texts with new chunks begin
        for text in texts:
            chunks = text.replace(LINE, PADDED_LINE).split(" ")
            known = list(map(self.get, chunks))
            if None in known:
                waiting.append((len(codes), chunks))
            codes += known
            lengths.append(len(chunks))
        self._learn_words(waiting)
        for start, chunks in waiting:
            codes[start : start + len(chunks)] = map(self.__getitem__, chunks)
        packed = np.array(codes, dtype=np.int64)
        offsets = packed & ((1 << _OFFSET_BITS) - 1)
        return CodedTexts(packed >> _OFFSET_BITS, offsets, np.array(lengths, dtype=np.int64))

    def _learn_words(self, waiting: Iterable[tuple[int, list[str]]]) -> None:
        """Have the policy learn the words of new chunks together, which is faster."""
        new = {chunk for _, chunks in waiting for chunk in chunks if chunk not in self}
        if self._policy.pieces is None:
            self._policy.learn(chain.from_iterable(filter(None, map(plain_tokens, new))))

    def tables(self) -> ChunkTables:
        """Return the tables for all chunks so far. Later chunks do not change them."""
        return ChunkTables(*self._shapes.tables(), self._ids.table())

    def _learn(self, chunk: str) -> int:
        tokens = plain_tokens(chunk) if self._policy.pieces is None else None
        code = None if tokens is None else self._learn_plain(chunk, tokens)
        return self._learn_any(chunk) if code is None else code

    def _learn_plain(self, chunk: str, tokens: list[str]) -> int | None:
        """Learn a plain chunk; return None if a word of it gets no slot."""
        ids: list[int] = []
        shown: list[str | None] = []
        tags: list[str] = []
        joins = (0, 0)
        for token in tokens:
            if not token[0].isalpha():
                shown.append(token)
                tags.append(PUNCTUATION)
                continue
            treatment = self._policy.treat(token)
            if treatment.mark != WORD_MARK:
                return None
            if token.lower() in PARTS_OF_VALUES and self._policy.typed:
                joins = joining(chunk)
            ids.append(treatment.id)
            shown.append(None)
            tags.append(treatment.tag)
        if chunk[-1] == "+" and self._policy.typed:
            joins = joining(chunk)
        shape = self._shapes.number(tuple(shown), tuple(tags), joins)
        return shape << _OFFSET_BITS | self._offset(ids, typed=False)

    def _learn_any(self, chunk: str) -> int:
        if self._policy.typed:
            chunk = chunk.replace(GLUE, " ")
        if self._policy.pieces is not None and self._policy.pieces.may_concern(chunk):
            return AWKWARD
        treatments = self._policy.treat_all(self._policy.cut(chunk))
        _, ids, tags, shown, marks = zip(*treatments, strict=True) if treatments else ((),) * 5
        if _is_awkward(marks):
            return AWKWARD
        joins = joining(chunk) if self._policy.typed else (0, 0)
        offset = self._offset([word for word in ids if word >= 0], VALUE_MARK in marks)
        return self._shapes.number(shown, tags, joins) << _OFFSET_BITS | offset

    def _offset(self, ids: list[int], typed: bool) -> int:
        if len(ids) == 1 and not typed:
            return ids[0]
        self._ids.add(ids)
        return len(self._ids) - len(ids)


class _Shapes:
    """Numbers shapes in the order in which they appear."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[Template, tuple[str, ...], Joins], int] = {}
        self._shapes, self._slots = _GrowingTable(_SHAPE), _GrowingTable(_SLOT)
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
            *joins,
            any(form is not None for form in forms),
            counts,
        )
        self._slots.add(
            (gap, ends_sentence(gap), bool(gap.strip()), form, form is not None)
            for gap, form in zip(before, forms, strict=True)
        )
        self._shapes.add([shape])


class _GrowingTable:
    """A table that grows. Arrays it has returned stay as they are."""

    def __init__(self, columns: Any) -> None:
        self._table = np.empty(64, dtype=columns)
        self._filled = 0
        self._new: list[object] = []

    def __len__(self) -> int:
        return self._filled + len(self._new)

    def add(self, rows: Iterable[object]) -> None:
        self._new += rows

    def table(self) -> Records:
        if self._new:
            end = len(self)
            if end > len(self._table):
                self._table = np.concatenate([self._table, np.empty(end, self._table.dtype)])
            self._table[self._filled : end] = np.array(self._new, dtype=self._table.dtype)
            self._filled, self._new = end, []
        return self._table[: self._filled]


def _is_awkward(marks: Sequence[str]) -> bool:
    """Tell whether tokens with these marks (see `template.mark`) must be parsed one by one."""
    if "k" in marks:  # kept or masked: a word without a slot
        return True
    if "" not in marks:  # nothing is left out
        return False
    # Leaving it out may join two runs of whitespace: inside the chunk, or around it if nothing of
    # the chunk remains.
    return "o" in marks or not any(marks)


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

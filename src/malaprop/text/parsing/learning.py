"""Learns chunks: parses each one once, and turns it into a code.

Most chunks are one word, with or without signs before and after it. These are learnt together,
which saves a call for each.
"""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain, compress
from operator import itemgetter, not_
from typing import NamedTuple

import numpy as np

from malaprop.core.arrays import Ids
from malaprop.text.forms.joining import joining, parts_of_values
from malaprop.text.parsing.coded_texts import AWKWARD, VANISHING_SHAPE
from malaprop.text.parsing.gluing import GLUE, LINE
from malaprop.text.parsing.plain_chunks import OneWord, one_words, plain_tokens
from malaprop.text.parsing.shapes import GrowingTable, Records, Shapes
from malaprop.text.policy import BoundPolicy, Treatment
from malaprop.text.spellings import Spellings
from malaprop.text.template import VALUE_MARK, WORD_MARK

OFFSET_BITS = 32
"""Bits of a code that say where the ids of its chunk start. Those above them number its shape."""

_PUNCTUATION = "punctuation"
_WORD = itemgetter(1)
_NO_WORDS: AbstractSet[str] = frozenset()


class ChunkTables(NamedTuple):
    """What the numbers in `CodedTexts` stand for."""

    shapes: Records
    slots: Records
    ids: Ids
    pieces: Ids
    gaps: Spellings


class ChunkLearner:
    """Learns chunks, and keeps the tables of what their codes stand for.

    If a chunk has one word, its ids start at the row that is the word's own id.
    """

    def __init__(self, policy: BoundPolicy, words: int) -> None:
        self._policy, self._words = policy, words
        self._shapes, self._ids = Shapes(), GrowingTable(np.int64)
        self._simple_shapes: dict[tuple[str, str, str], int] = {}
        self._ids.add(range(words))
        for chunk in ("", LINE):
            self._learn_any(chunk)
        self._shapes.number(("vanishing",), ())

    @property
    def several(self) -> int:
        """How many ids there are of chunks with none or several words."""
        return len(self._ids) - self._words

    def shape_table(self) -> Records:
        """Return the table of shapes so far."""
        return self._shapes.tables()[0]

    def tables(self) -> ChunkTables:
        """Return the tables for all chunks so far. Later chunks do not change them."""
        return ChunkTables(*self._shapes.tables(), self._ids.table(), *self._shapes.pieces())

    def learn(self, chunks: Sequence[str]) -> Ids:
        """Return the codes of chunks. Together, they are learnt in less time than one by one."""
        if self._policy.pieces is not None:
            return np.array(list(map(self._learn_any, chunks)), dtype=np.int64)
        parts = one_words(chunks)
        has_word = list(map(any, parts))
        simple = list(compress(parts, has_word))
        others = list(compress(chunks, map(not_, has_word)))
        cut = list(map(plain_tokens, others))
        tokens = set(chain(map(_WORD, simple), *filter(None, cut)))
        known = self._policy.treat_distinct(tokens)
        may_join = parts_of_values(tokens) if self._policy.typed else _NO_WORDS
        codes, are_simple = np.empty(len(chunks), np.int64), np.array(has_word, np.bool_)
        codes[are_simple] = self._learn_words(simple, known, may_join)
        codes[~are_simple] = [
            self._learn_any(chunk)
            if some is None
            else self._learn_plain(chunk, some, known, may_join)
            for chunk, some in zip(others, cut, strict=True)
        ]
        return codes

    def _learn_words(
        self, parts: list[OneWord], known: Mapping[str, Treatment], may_join: AbstractSet[str]
    ) -> list[int]:
        """Learn words with signs before and after them."""
        codes, shapes = list[int](), self._simple_shapes
        for before, word, after in parts:
            _, word_id, tag, _, mark = known[word]
            if word in may_join or mark != WORD_MARK:
                codes.append(self._learn_any(before + word + after))
                continue
            shape = shapes.get((before, tag, after))
            if shape is None:
                shape = self._simple_shape(before, tag, after)
            codes.append(shape << OFFSET_BITS | word_id)
        return codes

    def _simple_shape(self, before: str, tag: str, after: str) -> int:
        every = ((before, _PUNCTUATION), (None, tag), (after, _PUNCTUATION))
        shown, tags = zip(*(part for part in every if part[0] != ""), strict=True)
        shape = self._simple_shapes[before, tag, after] = self._shapes.number(shown, tags)
        return shape

    def _learn_plain(
        self,
        chunk: str,
        tokens: list[str],
        known: Mapping[str, Treatment],
        may_join: AbstractSet[str],
    ) -> int:
        """Learn a chunk of words and signs, given its tokens."""
        _, ids, tags, shown, marks = zip(*map(known.__getitem__, tokens), strict=True)
        if (special := self._special(chunk, marks)) is not None:
            return special
        joins = (0, 0) if may_join.isdisjoint(tokens) else joining(chunk)
        offset = self._offset([word for word in ids if word >= 0], typed=False)
        return self._shapes.number(shown, tags, joins) << OFFSET_BITS | offset

    def _learn_any(self, chunk: str) -> int:
        was_glued = GLUE in chunk
        chunk = chunk.replace(GLUE, " ")
        if self._policy.pieces is not None and self._policy.pieces.may_concern(chunk):
            return AWKWARD
        treatments = self._policy.treat_all(self._policy.cut(chunk))
        _, ids, tags, shown, marks = zip(*treatments, strict=True) if treatments else ((),) * 5
        if was_glued:  # a space that is not part of a value stands before what vanishes
            shown = tuple(part for part in shown if part != " ")
            marks = tuple(mark for mark in marks if mark != "s")
        if (special := self._special(chunk, marks)) is not None:
            return special
        joins = joining(chunk) if self._policy.typed else (0, 0)
        offset = self._offset([word for word in ids if word >= 0], VALUE_MARK in marks)
        return self._shapes.number(shown, tags, joins) << OFFSET_BITS | offset

    def _offset(self, ids: list[int], typed: bool) -> int:
        if len(ids) == 1 and not typed:
            return ids[0]
        self._ids.add(ids)
        return len(self._ids) - len(ids)

    def _special(self, chunk: str, marks: Sequence[str]) -> int | None:
        """Return the code of a chunk that cannot be parsed by itself, given its tokens' marks.

        See `template.mark`. None for all other chunks.
        """
        if "k" in marks:  # kept or masked: a word without a slot
            return AWKWARD
        if "" not in marks:  # nothing is left out
            return None
        if not any(marks):  # nothing remains, and the runs of whitespace around it are joined
            may_join = self._policy.typed and any(joining(chunk))
            return AWKWARD if may_join else VANISHING_SHAPE << OFFSET_BITS
        # Leaving it out may join two runs of whitespace inside the chunk.
        return AWKWARD if "o" in marks else None

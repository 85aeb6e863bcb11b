"""Encodes chunks, the strings between two spaces, as numbers.

Texts repeat themselves: most chunks have been seen before. A chunk is parsed once and remembered
as a number. From then on a text is a list of numbers, and all facts about it come from tables, for
all texts of a batch at once.

Why chunks may be parsed one by one: no token but whitespace and some values holds a space, none
a line feed, and no pattern looks back, or ahead beyond a space. So the tokens of a text are those
of its chunks, except for whitespace, which is shown as it is anyway, and for values such as
"3 May". Chunks that may be parts of one are found by how they begin and end, and `gluing` makes
one chunk of them.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain, islice, repeat
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from malaprop.core.arrays import Ids
from malaprop.text.forms.joining import PARTS_OF_VALUES, joining
from malaprop.text.parsing.gluing import GLUE, LINE, chunks_of, glue_to_previous, glue_values
from malaprop.text.parsing.plain_chunks import one_word, plain_tokens
from malaprop.text.parsing.shapes import GrowingTable, Records, Shapes
from malaprop.text.policy import BoundPolicy
from malaprop.text.template import (
    VALUE_MARK,
    WORD_MARK,
)

AWKWARD = 0
"""The code of a chunk that is too long, or has a NUL or something to drop, mask, keep or show."""
EMPTY_SHAPE, LINE_SHAPE, VANISHING_SHAPE = 1, 2, 3
"""Shapes of an empty chunk, of a line feed, and of a chunk of which nothing is shown."""

_ENTRIES = 2**18  # five million words of film reviews have as many different chunks
_LETTERS = 128
_TOO_LONG = "x" * (_LETTERS + 1)
_SHAPES = 2**14
_SEVERAL = 2**18  # ids of chunks with none or several words
_OFFSET_BITS = 32
_NEW = -1  # in place of the code of a chunk that was not seen before

PUNCTUATION = "punctuation"


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
        self._shapes, self._ids = Shapes(), GrowingTable(np.int64)
        self._simple_shapes: dict[tuple[str, str, str], int] = {}
        self._ids.add(range(words))
        for chunk in ("", LINE):
            self[chunk] = self._learn_any(chunk)
        self._shapes.number(("vanishing",), ())

    def __missing__(self, chunk: str) -> int:
        if len(chunk) > _LETTERS:
            return AWKWARD
        if len(self) >= _ENTRIES:
            self.clear()
        code = self[chunk] = self._learn_any(chunk)
        return code

    @property
    def full(self) -> bool:
        """Whether the tables have grown so large that it is time to start afresh."""
        return len(self._shapes) > _SHAPES or len(self._ids) > self._words + _SEVERAL

    def encode(self, texts: Sequence[str]) -> CodedTexts:
        """Encode texts as chunks."""
        texts = [_TOO_LONG if GLUE in text else text for text in texts]
        coded = self._encode(texts)
        coded = self._glue(texts, coded, CodedTexts.joined, self._glue_values)
        return self._glue(texts, coded, CodedTexts.vanishing, glue_to_previous)

    def _glue(
        self,
        texts: list[str],
        coded: CodedTexts,
        find: Callable[[CodedTexts, Records], Ids],
        glue: Callable[[str, list[int]], str],
    ) -> CodedTexts:
        """Glue chunks of texts, in the list itself, and return its new codes."""
        places = coded.by_text(find(coded, self._shapes.tables()[0]))
        if not places:
            return coded
        for text, chunks in places.items():
            texts[text] = glue(texts[text], chunks)
        return coded.with_others(np.array(list(places)), self._encode([texts[i] for i in places]))

    def _glue_values(self, text: str, joined: list[int]) -> str:
        return glue_values(text, joined, self._policy.cut)

    def _encode(self, texts: Iterable[str]) -> CodedTexts:
        codes: list[int] = []
        lengths: list[int] = []
        new: dict[int, str] = {}  # chunks by their places
        for text in texts:
            chunks = chunks_of(text)
            known = list(map(self.get, chunks, repeat(_NEW)))
            if _NEW in known:
                start = len(codes)
                new.update((start + i, chunks[i]) for i, code in enumerate(known) if code == _NEW)
            codes += known
            lengths.append(len(chunks))
        self._learn_all(set(new.values()))
        for place, chunk in new.items():
            codes[place] = self[chunk]
        packed = np.array(codes, dtype=np.int64)
        offsets = packed & ((1 << _OFFSET_BITS) - 1)
        return CodedTexts(packed >> _OFFSET_BITS, offsets, np.array(lengths, dtype=np.int64))

    def _learn_all(self, chunks: set[str]) -> None:
        """Learn chunks together, which is faster than one by one if they have many new words."""
        if self._policy.pieces is not None:
            return
        if len(self) + len(chunks) > _ENTRIES:
            self.clear()
        short = [chunk for chunk in islice(chunks, _ENTRIES) if len(chunk) <= _LETTERS]
        simple = {chunk: parts for chunk in short if (parts := one_word(chunk)) is not None}
        plain = {chunk: plain_tokens(chunk) for chunk in short if chunk not in simple}
        words = [word for _, word, _ in simple.values()]
        self._policy.learn(chain(words, *filter(None, plain.values())))
        for chunk, parts in simple.items():
            self[chunk] = self._learn_word(chunk, *parts)
        for chunk, tokens in plain.items():
            self[chunk] = self._learn_plain(chunk, tokens)

    def _learn_word(self, chunk: str, before: str, word: str, after: str) -> int:
        """Learn a word with signs before and after it."""
        _, word_id, tag, _, mark = self._policy.treat(word)
        if mark != WORD_MARK or word.lower() in PARTS_OF_VALUES or after[-1:] == "+":
            return self._learn_any(chunk)
        shape = self._simple_shapes.get((before, tag, after))
        if shape is None:
            every = ((before, PUNCTUATION), (None, tag), (after, PUNCTUATION))
            shown, tags = zip(*(part for part in every if part[0] != ""), strict=True)
            shape = self._shapes.number(shown, tags)
            self._simple_shapes[before, tag, after] = shape
        return shape << _OFFSET_BITS | word_id

    def tables(self) -> ChunkTables:
        """Return the tables for all chunks so far. Later chunks do not change them."""
        return ChunkTables(*self._shapes.tables(), self._ids.table())

    def _learn_plain(self, chunk: str, tokens: list[str] | None) -> int:
        """Learn a chunk of words and signs, given its tokens; or any, without."""
        if tokens is None or chunk[-1] == "+":
            return self._learn_any(chunk)
        treatments = [self._policy.treat(token) for token in tokens]
        _, ids, tags, shown, marks = zip(*treatments, strict=True)
        if (special := self._special(chunk, marks)) is not None:
            return special
        may_join = any(token.lower() in PARTS_OF_VALUES for token in tokens)
        joins = joining(chunk) if may_join and self._policy.typed else (0, 0)
        offset = self._offset([word for word in ids if word >= 0], typed=False)
        return self._shapes.number(shown, tags, joins) << _OFFSET_BITS | offset

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
        return self._shapes.number(shown, tags, joins) << _OFFSET_BITS | offset

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
            return AWKWARD if may_join else VANISHING_SHAPE << _OFFSET_BITS
        # Leaving it out may join two runs of whitespace inside the chunk.
        return AWKWARD if "o" in marks else None

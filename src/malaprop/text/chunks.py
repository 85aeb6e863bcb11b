"""The fast parser: whole batches, chunk by chunk."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from itertools import chain, compress, islice, repeat
from operator import itemgetter, not_
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from malaprop.privacy.arrays import Ids
from malaprop.text.kinds import Form
from malaprop.text.kinds.grammar import Joins, joining, parts_of_values
from malaprop.text.policy import (
    PUNCTUATION_TAGS,
    TAGS,
    WORD_TAGS,
    BoundPolicy,
    Treatment,
    TreatmentCounts,
)
from malaprop.text.template import (
    CODEC,
    VALUE_MARK,
    WORD_MARK,
    Part,
    Rebuilder,
    Spellings,
    Template,
    closely,
    ends_sentence,
)

# Numbers shapes of chunks.
#
# A *shape* is all of a chunk but its secret ids: what it shows around its slots, and how its tokens
# are counted. There are many chunks, but few shapes.


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


# Texts as lists of numbers that stand for chunks.


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


# Glues chunks that must be parsed together: parts of a value, and what vanishes beside a word.
#
# A value such as "3 May" goes beyond a chunk. A chunk of invisible characters alone leaves two
# spaces where one is shown. In both cases glue replaces the space, so that chunks become one.
#
# Not the whole text is cut for that. In each value of several chunks there are two that say that
# they may be joined (`forms.joining`), and the others are near them: those of a date are at most
# one chunk away, and of the groups of a bank account number the third and the fourth say so, with
# two before them and up to six after them.


LINE = "\n"
PADDED_LINE = f" {LINE} "
"""Makes a line feed a chunk of its own, so that lines share their other chunks."""

GLUE = "\0"
"""Replaces the spaces inside a value, so that it is part of one chunk."""

_BEFORE, _AFTER = 2, 6  # how far a value goes beyond two of its chunks that may be joined


def chunks_of(text: str) -> list[str]:
    """Split a text at its spaces; line feeds are chunks of their own.

    >>> chunks_of("a b\\nc")
    ['a', 'b', '\\n', 'c']
    """
    return text.replace(LINE, PADDED_LINE).split(" ")


def glue_values(text: str, joined: Sequence[int], cut: Callable[[str], list[str]]) -> str:
    """Replace the spaces inside values; `cut` finds them.

    `joined` are the places of chunks that the next chunk may continue.

    >>> from malaprop.text.kinds.grammar import split_values as cut
    >>> glue_values("on 3 May, 2023 we", [1, 2], cut).replace(GLUE, "_")
    'on 3_May,_2023 we'
    """
    chunks, parts, done = chunks_of(text), list[str](), 0
    for begin, end in _stretches(joined, len(chunks)):
        parts += [*chunks[done:begin], _with_glued_values(" ".join(chunks[begin:end]), cut)]
        done = end
    return " ".join([*parts, *chunks[done:]]).replace(PADDED_LINE, LINE)


def glue_to_previous(text: str, places: Sequence[int]) -> str:
    """Replace the spaces before the chunks at some places."""
    chunks = chunks_of(text)
    for place in places:
        chunks[place] = GLUE + chunks[place]
    return " ".join(chunks).replace(f" {GLUE}", GLUE).replace(PADDED_LINE, LINE)


def _stretches(joined: Sequence[int], length: int) -> Iterator[tuple[int, int]]:
    """Yield where stretches of chunks begin and end that hold whole values."""
    begin = end = 0
    for place in joined:
        if place - _BEFORE > end:
            if end:
                yield begin, end
            begin = place - _BEFORE
        end = min(place + 2 + _AFTER, length)
    if end:
        yield begin, end


def _with_glued_values(text: str, cut: Callable[[str], list[str]]) -> str:
    return "".join(
        token.replace(" ", GLUE) if " " in token and not token.isspace() else token
        for token in cut(text)
    )


# Chunks of plain words and signs, which most chunks are: cut without the tokenizer.
#
# They hold letters and signs of ASCII only, but neither @ nor # nor a digit, and no web address.
# The tokenizer cuts them into words, with apostrophes between letters, and the runs of signs
# between them; so does one short pattern, much faster.


OneWord = tuple[str, str, str]
"""The signs before a word, the word, and the signs after it."""

# A plus sign at the end may belong to the telephone number in the next chunk.
_PLAIN = re.compile(r"[!\"$-/:-?A-~]++(?<!\+)")
_SIGNS = r"[!\"$-/:-?\[-`{-~]*+"
_WORD = r"[A-Za-z]++(?:'[A-Za-z]++)*+"
# A word that ends like "www", or a slash after it, may begin a web address.
_ONE_WORD = rf"({_SIGNS})({_WORD})(?<![Ww]{{2}})([!\"$-.:-?\[-`{{-~]*+)(?<!\+)"
_ONE_WORD_EACH = re.compile(rf"{_ONE_WORD} |[^ ]*+ ")
_TOKENS = re.compile(rf"{_WORD}|[^A-Za-z]++")


def one_words(chunks: Sequence[str]) -> list[OneWord]:
    """Return the signs before, the word, and the signs after it of chunks that are no more.

    Of other chunks, all three are empty. No chunk has a space.

    >>> one_words(["(word).", "two-fold", "http://"])
    [('(', 'word', ').'), ('', '', ''), ('', '', '')]
    """
    return _ONE_WORD_EACH.findall(" ".join([*chunks, ""]))


def plain_tokens(chunk: str) -> list[str] | None:
    """Return the tokens of a plain chunk; None if it is not plain.

    >>> plain_tokens("(don't--ever."), plain_tokens("3pm"), plain_tokens("www.x.org")
    (['(', "don't", '--', 'ever', '.'], None, None)
    """
    if _PLAIN.fullmatch(chunk) is None or "://" in chunk or "ww." in chunk.lower():
        return None
    return _TOKENS.findall(chunk)


# Learns chunks: parses each one once, and turns it into a code.
#
# Most chunks are one word, with or without signs before and after it. These are learnt together,
# which saves a call for each.


OFFSET_BITS = 32
"""Bits of a code that say where the ids of its chunk start. Those above them number its shape."""

_PUNCTUATION = "punctuation"
_WORD_CHUNK = itemgetter(1)
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
        tokens = set(chain(map(_WORD_CHUNK, simple), *filter(None, cut)))
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


# Texts parsed chunk by chunk, all at once: no loop here runs over words.


class ChunkedTexts:
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


# Finds the distinct chunks of texts, so that what follows is done once for each of them.
#
# A batch of a million characters has some 180,000 chunks, of which 25,000 are distinct. Arrow finds
# them in a fifth of the time that a dictionary takes. But importing Arrow takes longer than a small
# batch does, so it is imported for large ones only.


_MANY_LETTERS = 2**18  # from here on, importing Arrow is worth while
_SPACE = ord(" ")


class DistinctChunks(NamedTuple):
    """The distinct chunks of texts, which of them each chunk is, and how many a text has."""

    distinct: list[str]
    numbers: NDArray[np.integer]
    lengths: Ids


def distinct_chunks(texts: Sequence[str]) -> DistinctChunks:
    """Return the distinct chunks of texts, in the order in which they appear.

    >>> distinct_chunks(["to be or not to be", "or"])
    DistinctChunks(distinct=['to', 'be', 'or', 'not'], numbers=array([0, 1, 2, 3, 0, 1, 2]), \
lengths=array([6, 1]))
    """
    return (by_arrow if sum(map(len, texts)) >= _MANY_LETTERS else by_dictionary)(texts)


def by_dictionary(texts: Sequence[str]) -> DistinctChunks:
    """Find the distinct chunks of texts, fast if there are few."""
    chunks = list(map(chunks_of, texts))
    lengths = np.array(list(map(len, chunks)), dtype=np.int64)
    numbers = _Numbers()
    places = np.array(list(map(numbers.__getitem__, chain.from_iterable(chunks))), dtype=np.int64)
    return DistinctChunks(list(numbers), places, lengths)


class _Numbers(dict[str, int]):
    """Numbers strings in the order in which they appear."""

    def __missing__(self, chunk: str) -> int:
        number = self[chunk] = len(self)
        return number


def by_arrow(texts: Sequence[str]) -> DistinctChunks:
    """Find the distinct chunks of texts, fast if there are many. There must be a text."""
    import pyarrow as pa

    # A space ends each chunk, and stays part of it: so the distinct ones are parted by spaces, too.
    encoded = [text.replace(LINE, PADDED_LINE).encode(*CODEC) for text in texts]
    ended = b" ".join([*encoded, b""])
    ends = np.flatnonzero(np.frombuffer(ended, dtype=np.uint8) == _SPACE) + 1
    buffers = [None, pa.py_buffer(np.concatenate([[0], ends])), pa.py_buffer(ended)]
    chunks = pa.Array.from_buffers(pa.large_binary(), len(ends), buffers).dictionary_encode()
    _, bounds, content = chunks.dictionary.buffers()
    size = np.frombuffer(bounds, dtype=np.int64)[len(chunks.dictionary)]
    distinct = content[:size].to_pybytes().decode(*CODEC).split(" ")[:-1]
    # Arrow's own `to_numpy` would import pandas.
    numbers = np.frombuffer(chunks.indices.buffers()[1], dtype=np.int32)[: len(chunks)]
    text_ends = np.cumsum([len(text) + 1 for text in encoded])
    lengths = np.diff(np.searchsorted(ends, text_ends, side="right"), prepend=0)
    return DistinctChunks(distinct, numbers, lengths)


# Encodes chunks, the strings between two spaces, as numbers.
#
# Texts repeat themselves: most chunks have been seen before. A chunk is parsed once and remembered
# as a number. From then on a text is a list of numbers, and all facts about it come from tables,
# for all texts of a batch at once.
#
# Why chunks may be parsed one by one: no token but whitespace and some values holds a space, none a
# line feed, and no pattern looks back, or ahead beyond a space. So the tokens of a text are those
# of its chunks, except for whitespace, which is shown as it is anyway, and for values such as "3
# May". Chunks that may be parts of one are found by how they begin and end, and `gluing` makes one
# chunk of them.


_ENTRIES = 2**18  # five million words of film reviews have as many different chunks
_LETTERS = 128
_TOO_LONG = "x" * (_LETTERS + 1)
_SHAPES = 2**14
_SEVERAL = 2**18  # ids of chunks with none or several words
_NEW = -1  # in place of the code of a chunk that was not seen before


class ChunkCodes(dict[str, int]):
    """Maps chunks to codes, and learns new ones. Not thread-safe."""

    def __init__(self, policy: BoundPolicy, words: int) -> None:
        super().__init__()
        self._policy, self._learner = policy, ChunkLearner(policy, words)

    @property
    def full(self) -> bool:
        """Whether the tables have grown so large that it is time to start afresh."""
        return len(self._learner.shape_table()) > _SHAPES or self._learner.several > _SEVERAL

    def tables(self) -> ChunkTables:
        """Return the tables for all chunks so far. Later chunks do not change them."""
        return self._learner.tables()

    def encode(self, texts: Sequence[str]) -> CodedTexts:
        """Encode texts as chunks."""
        before = len(self)
        texts = [_TOO_LONG if GLUE in text else text for text in texts]
        coded = self._encode(texts)
        coded = self._glue(texts, coded, CodedTexts.joined, self._glue_values)
        coded = self._glue(texts, coded, CodedTexts.vanishing, glue_to_previous)
        self._forget(before)
        return coded

    def _forget(self, before: int) -> None:
        """Forget the chunks of the texts before, if there are too many in all.

        Not earlier: texts that are glued are encoded again, and their chunks are known then.
        """
        if len(self) > _ENTRIES:
            kept = list(islice(self.items(), before, before + _ENTRIES))
            self.clear()
            self.update(kept)

    def _glue(
        self,
        texts: list[str],
        coded: CodedTexts,
        find: Callable[[CodedTexts, Records], Ids],
        glue: Callable[[str, list[int]], str],
    ) -> CodedTexts:
        """Glue chunks of texts, in the list itself, and return its new codes."""
        places = coded.by_text(find(coded, self._learner.shape_table()))
        if not places:
            return coded
        for text, chunks in places.items():
            texts[text] = glue(texts[text], chunks)
        return coded.with_others(np.array(list(places)), self._encode([texts[i] for i in places]))

    def _glue_values(self, text: str, joined: list[int]) -> str:
        return glue_values(text, joined, self._policy.cut)

    def _encode(self, texts: Sequence[str]) -> CodedTexts:
        chunks = distinct_chunks(texts)
        if long := _long_texts(chunks):
            # They go token by token: to learn their words here, too, would take twice the time.
            chunks = distinct_chunks(
                [_TOO_LONG if number in long else text for number, text in enumerate(texts)]
            )
        codes = self._codes_of(chunks.distinct)
        offsets = codes & ((1 << OFFSET_BITS) - 1)
        shapes = codes >> OFFSET_BITS
        return CodedTexts(shapes[chunks.numbers], offsets[chunks.numbers], chunks.lengths)

    def _codes_of(self, chunks: list[str]) -> Ids:
        codes = np.array(list(map(self.get, chunks, repeat(_NEW))), dtype=np.int64)
        places = np.flatnonzero(codes == _NEW)
        if places.size:
            codes[places] = self._learn([chunks[place] for place in places.tolist()])
        return codes

    def _learn(self, chunks: list[str]) -> Ids:
        """Return the codes of new chunks, and remember them, but for long ones."""
        long = [place for place, chunk in enumerate(chunks) if len(chunk) > _LETTERS]
        for place in long:
            chunks[place] = ""
        codes = self._learner.learn(chunks)
        self.update(zip(chunks, codes.tolist(), strict=True))
        codes[long] = AWKWARD
        return codes


def _long_texts(chunks: DistinctChunks) -> set[int]:
    """Return which texts have a chunk that is too long, and more than that."""
    long = [n for n, chunk in enumerate(chunks.distinct) if len(chunk) > _LETTERS]
    if not long:
        return set()
    places = np.flatnonzero(np.isin(chunks.numbers, long))
    texts = np.searchsorted(np.cumsum(chunks.lengths), places, side="right")
    return set(texts[chunks.lengths[texts] > 1].tolist())

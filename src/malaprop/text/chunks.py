"""The fast parser: whole batches, chunk by chunk.

Texts repeat themselves: most chunks, the strings between two spaces, have been seen before. A chunk
is parsed once and remembered as a number. From then on a text is a list of numbers, and all facts
about it come from tables, for all texts of a batch at once.

Why chunks may be parsed one by one: no token but whitespace and some values holds a space, none a
line feed, and no pattern looks back, or ahead beyond a space. So the tokens of a text are those of
its chunks, except for whitespace, which is shown as it is anyway, and for values such as "3 May".
Chunks that may be parts of one are found by how they begin and end, and glued into one chunk.

A chunk's *look* is public: what it shows around its slots. Its *shape* is not: the look, how its
tokens are counted, and whether its neighbours may continue it. There are many chunks, but few
shapes, and fewer looks.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property, partial
from itertools import chain, compress, islice, repeat
from operator import itemgetter, not_
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from malaprop.privacy.arrays import Ids
from malaprop.text.kinds import Form
from malaprop.text.kinds.grammar import Joins, joining, parts_of_values
from malaprop.text.template import (
    VALUE_MARK,
    WORD_MARK,
    Flags,
    Part,
    Strings,
    Writer,
    closely,
    ends_sentence,
    link,
)
from malaprop.text.treatment import ALL_TAGS, SIGN_TAG, BoundPolicy, Treatment

# Looks: the public side of chunks.

AWKWARD, EMPTY, LINE_FEED, VANISHING = range(4)
"""Numbers of special looks and shapes: a chunk that is too long, or has a NUL or something to drop,
mask, keep or show; an empty one; a line feed; and one of which nothing is shown."""

_LOOK: list[Any] = [
    ("slots", np.int64),
    ("first", np.int64),  # the row of its first slot among the slots of all looks
    ("solid", np.bool_),  # it is not just whitespace
    ("white_start", np.bool_),
    ("white_end", np.bool_),
    ("ends", np.bool_),  # a sentence ends after its last word, given that a space follows
    ("parts", np.bool_),  # something other than whitespace follows its last word
    ("pieces", np.int64),  # how many pieces it is written with
    ("first_piece", np.int64),  # the row of the first one among the pieces of all looks
    ("typed", np.bool_),  # it has a slot for a value
]
_SLOT: list[Any] = [
    ("starts", np.bool_),  # a sentence ends in the text between it and the slot before it
    ("parts", np.bool_),  # that text is not just whitespace
    ("form", np.object_),  # the form of a slot for a value
    ("typed", np.bool_),  # whether it is one
    ("linked", np.uint8),  # how it is linked; see `template.link`
]
Records = NDArray[Any]
"""A structured array: a table with named columns."""


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


class _LookTables(NamedTuple):
    """What the numbers of looks stand for. All of it is public."""

    looks: Records
    slots: Records
    pieces: Strings
    """What all looks are written with: texts; None stands for the word or value of a slot."""
    spaced: Ids
    """Whether a space follows that word or value, 0 or 1; -1 for a text."""


class Looks:
    """Numbers looks in the order in which they appear."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[Part, ...], int] = {}
        self._looks, self._slots = _GrowingTable(_LOOK), _GrowingTable(_SLOT)
        self._pieces, self._spaced = _GrowingTable(np.object_), _GrowingTable(np.int64)
        self.white_ends: list[int | None] = []  # at how many ends it is white; None: everywhere

    def tables(self) -> _LookTables:
        every = (self._looks, self._slots, self._pieces, self._spaced)
        return _LookTables(*(growing.table() for growing in every))

    def table(self) -> Records:
        return self._looks.table()

    def number(self, shown: tuple[Part, ...]) -> int:
        """Return the number of a look, a new one if need be."""
        number = self._numbers.get(shown)
        if number is None:
            self._add(_gaps(shown), [part for part in shown if not isinstance(part, str)])
            number = self._numbers[shown] = len(self._numbers)
        return number

    def _add(self, gaps: list[str], forms: Sequence[Form | None]) -> None:
        *before, after = gaps
        solid = bool(before or after.strip())
        white_start = not solid or gaps[0][:1].isspace()
        white_end = not solid or after[-1:].isspace()
        self.white_ends.append(white_start + white_end if solid else None)
        pieces: list[str | None] = []
        for gap in before:
            pieces += (gap, None) if gap else (None,)
        if after or not pieces:
            pieces.append(f"{after} ")
        look = (  # in the order of `_LOOK`
            len(before),
            len(self._slots),
            solid,
            white_start,
            white_end,
            ends_sentence(f"{after} "),
            bool(after.strip()),
            len(pieces),
            len(self._pieces),
            any(form is not None for form in forms),
        )
        self._slots.add(
            (ends_sentence(gap), bool(gap.strip()), form, form is not None, link(gaps, slot))
            for slot, (gap, form) in enumerate(zip(before, forms, strict=True))
        )
        self._pieces.add(pieces)
        self._spaced.add(-1 if piece is not None else 0 for piece in pieces[:-1])
        self._spaced.add([-1 if pieces[-1] is not None else 1])
        self._looks.add([look])


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


class ChunkLayout:
    """What stays visible of texts, as the looks of their chunks. It holds no secret.

    There is at least one text, and none is awkward. No loop here runs over words.
    """

    def __init__(self, looks: Ids, lengths: Ids, tables: _LookTables) -> None:
        """Take the looks of all chunks, and how many each text has."""
        self._looks, self._lengths, self._tables = looks, lengths, tables
        self._slots = self._of_chunks("slots")
        # How many slots precede the end of each chunk: the number of the next slot.
        self._next_slots = np.cumsum(self._slots)
        self._last_chunks = np.cumsum(lengths) - 1
        self.slot_counts: list[int] = np.diff(
            self._next_slots[self._last_chunks], prepend=0
        ).tolist()
        self.typed: Flags = np.zeros(self._next_slots[-1], dtype=np.bool_)
        self.forms: list[Form] = []
        if tables.slots["typed"].any() and self._of_chunks("typed").any():
            self.typed = tables.slots["typed"][self._slot_rows]
            self.forms = tables.slots["form"][self._slot_rows[self.typed]].tolist()

    def each_slot(self, firsts: Ids) -> Ids:
        """Return the row of each slot in a table, given that of the first slot of each chunk."""
        return _rows(firsts, self._slots, self._next_slots)

    @cached_property
    def _slot_rows(self) -> Ids:
        return self.each_slot(self._of_chunks("first"))

    def spaces_at_ends(self) -> Ids:
        """Return the correction to each text's count of whitespace runs.

        Shapes count one run for each solid chunk. Between solid chunks there is one fewer than
        that; but there may be more at both ends. (If all is white, so are both ends.)
        """
        table, last = self._tables.looks, self._looks[self._last_chunks]
        first = self._looks[self._last_chunks + 1 - self._lengths]
        empty = (first == EMPTY) & (self._lengths == 1)
        spaces: Ids = table["white_start"][first].astype(np.int64) + table["white_end"][last]
        spaces -= 1 + empty
        return spaces

    def fill(self, writer: Writer, drawn: Ids, values: Sequence[str] = ()) -> list[str]:
        """Return the texts with drawn words and written values in their slots."""
        starts, apart = self.boundaries
        counts = self._of_chunks("pieces")
        next_pieces = np.cumsum(counts)
        rows = _rows(self._of_chunks("first_piece"), counts, next_pieces)
        shown, spaced = self._tables.pieces[rows], self._tables.spaced[rows]
        words = np.flatnonzero(spaced >= 0)
        linked = _column(self._tables.slots, "linked", self._slot_rows)
        shown[words] = writer.write(drawn, starts, apart, linked, spaced[words], values)
        strings, texts, first = shown.tolist(), list[str](), 0
        for after in next_pieces[self._last_chunks].tolist():
            text = "".join(strings[first:after])
            texts.append(text[:-1])  # a space follows the last chunk
            first = after
        if LINE_FEED in self._looks:
            return [text.replace(_PADDED_LINE, LINE) for text in texts]
        return texts

    def _of_chunks(self, column: str) -> NDArray[Any]:
        return _column(self._tables.looks, column, self._looks)

    @cached_property
    def boundaries(self) -> tuple[Flags, Flags]:
        """Which slots start a sentence, and which have more than whitespace before them.

        Either may be due to the slot's own chunk, to that of the slot before, or to one between.
        """
        starts = np.append(self._tables.slots["starts"][self._slot_rows], True)
        parts = np.append(self._tables.slots["parts"][self._slot_rows], True)
        starts[self._next_slots[self._of_chunks("ends")]] = True
        starts[self._next_slots[self._blank_lines()]] = True
        parts[self._next_slots[self._of_chunks("parts")]] = True
        for flags in (starts, parts):
            flags[0] = True
            flags[self._next_slots[self._last_chunks]] = True
        return starts[:-1], parts[:-1]

    def _blank_lines(self) -> Ids:
        """Return the chunks that are line feeds with only whitespace since the previous one."""
        lines = np.flatnonzero(self._looks == LINE_FEED)
        if not lines.size:
            return lines
        solid: Ids = np.cumsum(self._of_chunks("solid"))[lines]
        return np.asarray(lines[1:][np.diff(solid) == 0])


def _column(table: Records, column: str, rows: Ids) -> NDArray[Any]:
    # Copied, the column is all in the cache: it is short, but the rows of the table are long.
    return np.asarray(np.ascontiguousarray(table[column]).take(rows, axis=0))


def _rows(firsts: Ids, counts: Ids, ends: Ids) -> Ids:
    """Return rows of a table: the first of each run, how long runs are, and the sums of that."""
    return np.repeat(firsts - ends + counts, counts) + np.arange(ends[-1])


# Texts as lists of numbers that stand for chunks: from here on, all is secret.

_SHAPE: list[Any] = [
    ("look", np.int64),
    ("starts", np.uint8),  # how it may continue the chunk before it; see `grammar.joining`
    ("stops", np.uint8),  # how the next chunk may continue it
    ("tags", np.int64, len(ALL_TAGS)),
]
_SPACES = ALL_TAGS.index("spaces")


class ChunkTallies(NamedTuple):
    """How the tokens of texts were treated, as the shapes of their chunks."""

    shapes: Ids
    table: Records
    lengths: Ids
    spaces: Ids
    """What to add to the runs of whitespace of each text."""

    def rows(self) -> Ids:
        """Return how many tokens of each text have which tag, a row each."""
        counts = np.zeros((len(self.lengths), len(ALL_TAGS)), dtype=np.int64)
        firsts = np.cumsum(self.lengths) - self.lengths
        # One by one: few tags occur, and numpy sums columns faster than rows.
        for tag in np.flatnonzero(self.table["tags"].any(axis=0)).tolist():
            counts[:, tag] = np.add.reduceat(self.table["tags"][:, tag][self.shapes], firsts)
        counts[:, _SPACES] += self.spaces
        return counts


# Glues chunks that must be parsed together: parts of a value, and what vanishes beside a word.
#
# A value such as "3 May" goes beyond a chunk. A chunk of invisible characters alone leaves two
# spaces where one is shown. In both cases glue replaces the space, so that chunks become one.
#
# Not the whole text is cut for that. In each value of several chunks there are two that say that
# they may be joined (`grammar.joining`), and the others are near them: those of a date are at most
# one chunk away, and of the groups of a bank account number the third and the fourth say so, with
# two before them and up to six after them.

_OFFSET_BITS = 32  # of a code, which say where the ids of its chunk start; above them is its shape
_BEFORE, _AFTER = 2, 6  # how far a value goes beyond two of its chunks that may be joined
Stretch = tuple[int, int]
"""Chunks of one text: the place of the first, and the place behind the last."""


class CodedTexts(NamedTuple):
    """The distinct chunks of texts, which of them each chunk is, how many a text has, and codes."""

    distinct: list[str]
    numbers: NDArray[np.integer]
    lengths: Ids
    codes: Ids

    @property
    def shapes(self) -> Ids:
        return self.codes >> _OFFSET_BITS

    def select(self, chosen: NDArray[np.bool_]) -> "CodedTexts":
        numbers = self.numbers[np.repeat(chosen, self.lengths)]
        return self._replace(numbers=numbers, lengths=self.lengths[chosen])

    def awkward_texts(self) -> NDArray[np.bool_]:
        """Return which texts have an awkward chunk, or one that vanishes."""
        awkward = np.zeros(len(self.lengths), dtype=np.bool_)
        special = (self.shapes == AWKWARD) | (self.shapes == VANISHING)
        places = np.flatnonzero(special[self.numbers])
        awkward[np.searchsorted(np.cumsum(self.lengths), places, side="right")] = True
        return awkward

    def values(self, shapes: Records) -> Iterator[Stretch]:
        """Yield stretches that hold whole values of several chunks."""
        if not shapes["stops"].any():
            return
        stops, starts = (shapes[name][self.shapes][self.numbers] for name in ("stops", "starts"))
        begin = end = 0
        for place, first, after in self._inside(np.flatnonzero(stops[:-1] & starts[1:]), 0, 1):
            if place - _BEFORE > end or first >= end:
                if end:
                    yield begin, end
                begin = max(place - _BEFORE, first)
            end = min(place + 2 + _AFTER, after)
        if end:
            yield begin, end

    def vanishing(self, shapes: Records, looks: Records) -> Iterator[Stretch]:
        """Yield chunks that leave nothing, each with the one before it, which is to be its host.

        Both that one and the next show more than whitespace.
        """
        look = looks[shapes["look"][self.shapes]]
        solid, usual = look["solid"], self.shapes > VANISHING
        hosts, followers = usual & solid & ~look["white_end"], usual & solid & ~look["white_start"]
        for place, *_ in self._inside(
            np.flatnonzero((self.shapes == VANISHING)[self.numbers]), -1, 1
        ):
            if hosts[self.numbers[place - 1]] and followers[self.numbers[place + 1]]:
                yield place - 1, place + 1

    def _inside(self, chunks: Ids, first: int, last: int) -> Iterator[tuple[int, int, int]]:
        """Yield those chunks whose neighbours, from `first` to `last`, are of the same text.

        Beside each one, where its text starts and ends.
        """
        ends = np.cumsum(self.lengths)
        texts = np.searchsorted(ends, chunks, side="right")
        starts, ends = (ends - self.lengths)[texts], ends[texts]
        inside = (chunks + first >= starts) & (chunks + last < ends)
        columns = (column[inside].tolist() for column in (chunks, starts, ends))
        return zip(*columns, strict=True)


LINE = "\n"
_PADDED_LINE = f" {LINE} "
"""Makes a line feed a chunk of its own, so that lines share their other chunks."""

GLUE = "\0"
"""Replaces the spaces inside a value, so that it is part of one chunk."""


def chunks_of(text: str) -> list[str]:
    """Split a text at its spaces; line feeds are chunks of their own.

    >>> chunks_of("a b\\nc")
    ['a', 'b', '\\n', 'c']
    """
    return text.replace(LINE, _PADDED_LINE).split(" ")


def glue_values(chunks: Sequence[str], cut: Callable[[str], list[str]]) -> list[str]:
    """Replace the spaces inside values; `cut` finds them.

    >>> from malaprop.text.kinds.grammar import split_values as cut
    >>> [chunk.replace(GLUE, "_") for chunk in glue_values(["on", "3", "May,", "2023", "we"], cut)]
    ['on', '3_May,_2023', 'we']
    """
    glued = (
        token.replace(" ", GLUE) if " " in token and not token.isspace() else token
        for token in cut(" ".join(chunks))
    )
    return "".join(glued).split(" ")


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


# Finds the distinct chunks of texts, so that what follows is done once for each of them.
#
# A batch of a million characters has some 180,000 chunks, of which 25,000 are distinct. Arrow finds
# them in a fifth of the time that a dictionary takes. But importing Arrow takes longer than a small
# batch does, so it is imported for large ones only.

_CODEC = "utf-8", "surrogatepass"  # it takes every string, and gives the same one back
_MANY_LETTERS = 2**18  # from here on, importing Arrow is worth while
_SPACE = ord(" ")


class _DistinctChunks(NamedTuple):
    """The distinct chunks of texts, which of them each chunk is, and how many a text has."""

    distinct: list[str]
    numbers: NDArray[np.integer]
    lengths: Ids


def distinct_chunks(texts: Sequence[str]) -> _DistinctChunks:
    """Return the distinct chunks of texts, in the order in which they appear.

    >>> distinct_chunks(["to be or not to be", "or"])
    _DistinctChunks(distinct=['to', 'be', 'or', 'not'], numbers=array([0, 1, 2, 3, 0, 1, 2]), \
lengths=array([6, 1]))
    """
    return (by_arrow if sum(map(len, texts)) >= _MANY_LETTERS else by_dictionary)(texts)


def by_dictionary(texts: Sequence[str]) -> _DistinctChunks:
    """Find the distinct chunks of texts, fast if there are few."""
    chunks = list(map(chunks_of, texts))
    lengths = np.array(list(map(len, chunks)), dtype=np.int64)
    numbers = _Numbers()
    places = np.array(list(map(numbers.__getitem__, chain.from_iterable(chunks))), dtype=np.int64)
    return _DistinctChunks(list(numbers), places, lengths)


class _Numbers(dict[str, int]):
    """Numbers strings in the order in which they appear."""

    def __missing__(self, chunk: str) -> int:
        number = self[chunk] = len(self)
        return number


def by_arrow(texts: Sequence[str]) -> _DistinctChunks:
    """Find the distinct chunks of texts, fast if there are many. There must be a text."""
    import pyarrow as pa

    # A space ends each chunk, and stays part of it: so the distinct ones are parted by spaces, too.
    encoded = [text.replace(LINE, _PADDED_LINE).encode(*_CODEC) for text in texts]
    ended = b" ".join([*encoded, b""])
    ends = np.flatnonzero(np.frombuffer(ended, dtype=np.uint8) == _SPACE) + 1
    buffers = [None, pa.py_buffer(np.concatenate([[0], ends])), pa.py_buffer(ended)]
    chunks = pa.Array.from_buffers(pa.large_binary(), len(ends), buffers).dictionary_encode()
    _, bounds, content = chunks.dictionary.buffers()
    size = np.frombuffer(bounds, dtype=np.int64)[len(chunks.dictionary)]
    distinct = content[:size].to_pybytes().decode(*_CODEC).split(" ")[:-1]
    # Arrow's own `to_numpy` would import pandas.
    numbers = np.frombuffer(chunks.indices.buffers()[1], dtype=np.int32)[: len(chunks)]
    text_ends = np.cumsum([len(text) + 1 for text in encoded])
    lengths = np.diff(np.searchsorted(ends, text_ends, side="right"), prepend=0)
    return _DistinctChunks(distinct, numbers, lengths)


# Learns chunks: parses each one once, and turns it into a code.
#
# Most chunks are one word, with or without signs before and after it. These are learnt together,
# which saves a call for each.

_ENTRIES = 2**18  # five million words of film reviews have as many different chunks
_LETTERS = 128
_TOO_LONG = "x" * (_LETTERS + 1)
_SHAPES = 2**14
_SEVERAL = 2**18  # ids of chunks with none or several words
_NEW = -1  # in place of the code of a chunk that was not seen before
_WORD_CHUNK = itemgetter(1)
_NO_WORDS: AbstractSet[str] = frozenset()


class ChunkCodes(dict[str, int]):
    """Maps chunks to codes, and learns new ones. Not thread-safe.

    If a chunk has one word, its ids start at the row that is the word's own id.
    """

    def __init__(self, policy: BoundPolicy, words: int) -> None:
        super().__init__()
        self._policy, self._words = policy, words
        self._looks, self._ids = Looks(), _GrowingTable(np.int64)
        self._numbers: dict[tuple[int, tuple[str, ...], Joins], int] = {}
        self._shapes = _GrowingTable(_SHAPE)
        self._simple_shapes: dict[tuple[str, str, str], int] = {}
        self._ids.add(range(words))
        self._shape(("awkward",), ())
        for chunk in ("", LINE):
            self._learn_any(chunk)
        self._shape(("vanishing",), ())

    @property
    def full(self) -> bool:
        """Whether the tables have grown so large that it is time to start afresh."""
        return len(self._shapes) > _SHAPES or len(self._ids) - self._words > _SEVERAL

    def parsed(self, coded: CodedTexts) -> tuple[ChunkLayout, Ids, ChunkTallies]:
        """Return the public layout of texts, their secret ids, and how tokens were treated."""
        table, codes = self._shapes.table(), coded.codes[coded.numbers]
        shapes, offsets = codes >> _OFFSET_BITS, codes & ((1 << _OFFSET_BITS) - 1)
        layout = ChunkLayout(_column(table, "look", shapes), coded.lengths, self._looks.tables())
        ids = self._ids.table()[layout.each_slot(offsets)]
        return layout, ids, ChunkTallies(shapes, table, coded.lengths, layout.spaces_at_ends())

    def encode(self, texts: Sequence[str]) -> CodedTexts:
        """Return texts as codes of their chunks; what is new among these is parsed and kept."""
        before = len(self)
        texts = [_TOO_LONG if GLUE in text else text for text in texts]
        chunks = distinct_chunks(texts)
        if long := _long_texts(chunks):
            # They go token by token: to learn their words here, too, would take twice the time.
            chunks = distinct_chunks(
                [_TOO_LONG if number in long else text for number, text in enumerate(texts)]
            )
        coded = CodedTexts(*chunks, self._codes(chunks.distinct))
        values = coded.values(self._shapes.table())
        coded = self._glued(coded, values, partial(glue_values, cut=self._policy.cut))
        vanishing = coded.vanishing(self._shapes.table(), self._looks.table())
        coded = self._glued(coded, vanishing, lambda chunks: [GLUE.join(chunks)])
        # Not earlier: chunks near those that are glued are looked up again, and are known then.
        if len(self) > _ENTRIES:
            kept = list(islice(self.items(), before, before + _ENTRIES))
            self.clear()
            self.update(kept)
        return coded

    def _glued(
        self,
        coded: CodedTexts,
        stretches: Iterable[Stretch],
        glue: Callable[[list[str]], list[str]],
    ) -> CodedTexts:
        """Glue the chunks of each stretch, which become others, as many or fewer."""
        numbers, kept, new = coded.numbers.copy(), np.ones(len(coded.numbers), np.bool_), _Numbers()
        for begin, end in stretches:
            glued = glue([coded.distinct[number] for number in numbers[begin:end].tolist()])
            after = begin + len(glued)
            numbers[begin:after] = [len(coded.distinct) + new[chunk] for chunk in glued]
            kept[after:end] = False
        if not new:
            return coded
        return CodedTexts(
            [*coded.distinct, *new],
            numbers[kept],
            np.bincount(np.repeat(np.arange(len(coded.lengths)), coded.lengths)[kept]),
            np.append(coded.codes, self._codes(list(new))),
        )

    def _codes(self, chunks: list[str]) -> Ids:
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
        codes = self._learn_all(chunks)
        self.update(zip(chunks, codes.tolist(), strict=True))
        codes[long] = AWKWARD
        return codes

    def _learn_all(self, chunks: Sequence[str]) -> Ids:
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
            else self._code(
                chunk, list(map(known.__getitem__, some)), not may_join.isdisjoint(some)
            )
            for chunk, some in zip(others, cut, strict=True)
        ]
        return codes

    def _learn_words(
        self, parts: list[OneWord], known: Mapping[str, Treatment], may_join: AbstractSet[str]
    ) -> list[int]:
        codes, shapes = list[int](), self._simple_shapes
        for before, word, after in parts:
            word_id, tag, _, mark = known[word]
            if word in may_join or mark != WORD_MARK:
                codes.append(self._learn_any(before + word + after))
                continue
            shape = shapes.get((before, tag, after))
            if shape is None:
                every = ((before, SIGN_TAG), (None, tag), (after, SIGN_TAG))
                shown, tags = zip(*(part for part in every if part[0] != ""), strict=True)
                shape = shapes[before, tag, after] = self._shape(shown, tags)
            codes.append(shape << _OFFSET_BITS | word_id)
        return codes

    def _learn_any(self, chunk: str) -> int:
        was_glued = GLUE in chunk
        chunk = chunk.replace(GLUE, " ")
        if self._policy.pieces is not None and self._policy.pieces.may_concern(chunk):
            return AWKWARD
        treatments = self._policy.treat_all(self._policy.cut(chunk))
        return self._code(chunk, treatments, self._policy.typed, was_glued)

    def _code(
        self, chunk: str, treatments: list[Treatment], may_join: bool, was_glued: bool = False
    ) -> int:
        ids, tags, shown, marks = zip(*treatments, strict=True) if treatments else ((),) * 4
        if was_glued:  # a space that is not part of a value stands before what vanishes
            shown = tuple(part for part in shown if part != " ")
            marks = tuple(mark for mark in marks if mark != "s")
        if (special := self._special(chunk, marks)) is not None:
            return special
        words = [word for word in ids if word >= 0]
        if len(words) == 1 and VALUE_MARK not in marks:
            offset = words[0]
        else:
            self._ids.add(words)
            offset = len(self._ids) - len(words)
        joins = joining(chunk) if may_join else (0, 0)
        code: int = self._shape(shown, tags, joins) << _OFFSET_BITS | offset
        return code

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
            return AWKWARD if may_join else VANISHING << _OFFSET_BITS
        # Leaving it out may join two runs of whitespace inside the chunk.
        return AWKWARD if "o" in marks else None

    def _shape(self, shown: tuple[Part, ...], tags: tuple[str, ...], joins: Joins = (0, 0)) -> int:
        look = self._looks.number(shown)
        number = self._numbers.get((look, tags, joins))
        if number is None:
            white_ends, counts = self._looks.white_ends[look], list(map(tags.count, ALL_TAGS))
            # Whitespace: one run for each solid chunk, plus the runs inside it. `ChunkLayout`
            # corrects for the ends of texts.
            counts[_SPACES] = 0 if white_ends is None else counts[_SPACES] + 1 - white_ends
            self._shapes.add([(look, *joins, counts)])
            number = self._numbers[look, tags, joins] = len(self._numbers)
        return number


def _long_texts(chunks: _DistinctChunks) -> set[int]:
    """Return which texts have a chunk that is too long, and more than that."""
    long = [n for n, chunk in enumerate(chunks.distinct) if len(chunk) > _LETTERS]
    if not long:
        return set()
    places = np.flatnonzero(np.isin(chunks.numbers, long))
    texts = np.searchsorted(np.cumsum(chunks.lengths), places, side="right")
    return set(texts[chunks.lengths[texts] > 1].tolist())

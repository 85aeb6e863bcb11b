"""Parses texts into public templates, and the secret ids of their slots.

There are two ways, with the same result. Most texts of a large batch are read chunk by chunk and
processed together. The others go token by token: small batches, texts whose punctuation is
dropped or whose names are redrawn, and texts with something to leave out, mask or keep, or with a
public piece.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain, compress
from operator import not_
from typing import NamedTuple, TypeVar, cast

import numpy as np

from malaprop.privacy.arrays import Ids
from malaprop.text import english
from malaprop.text.chunks import ChunkCodes, ChunkLayout, ChunkTallies
from malaprop.text.entities import (
    UNDECLARED,
    Entity,
    FoundEntity,
    Labels,
    behind_entities,
    cut_at_entities,
    detected,
    first_names,
    found_entities,
)
from malaprop.text.kinds import Form, StandIn
from malaprop.text.people import START, Person
from malaprop.text.policy import Policy
from malaprop.text.public import cut_spans
from malaprop.text.segments import Segment, cut_at
from malaprop.text.template import (
    BEGINS,
    FOLLOWS,
    PUBLIC_MARK,
    TAG_MARK,
    UNKNOWN,
    VALUE,
    Flags,
    Template,
    Writer,
    lay_out,
    mark,
    mark_of,
)
from malaprop.text.treatment import (
    ALL_TAGS,
    DRAWN_TAGS,
    IN_LEXICON,
    LEFT_OUT,
    PUBLIC_TAGS,
    SIGN_TAG,
    TAGS,
    WORD_TAGS,
    BoundPolicy,
    Treatment,
)

_FEW_LETTERS = 1000  # below this, building tables is not worth while
_WORDS = [tag in WORD_TAGS for tag in ALL_TAGS]
_SIGNS = ALL_TAGS.index(SIGN_TAG)
_Item = TypeVar("_Item")


class Templates:
    """What stays visible of several texts, and how drawn words fill it. It holds no secret."""

    slot_counts: Sequence[int]
    typed: Flags
    """Which slots are for values, and not for words."""
    forms: Sequence[Form]
    """The forms of the slots for values, in order."""
    shares_always: bool
    """Whether any of the forms is of things that share draws if they are equal."""

    def __init__(
        self,
        writer: Writer,
        texts: list[Template],
        chunks: ChunkLayout | None = None,
        awkward: Flags | None = None,
    ) -> None:
        """Take texts that were parsed token by token, and texts that were parsed chunk by chunk.

        `awkward` says which ones are among the former, if any are among the latter.
        """
        self._writer, self._texts, self._chunks, self._awkward = writer, texts, chunks, awkward
        self.shares_always = any(
            isinstance(form, StandIn) and form.shares_always
            for text in texts
            for form in text.forms
        )
        if not texts and chunks is not None:
            self.slot_counts, self.typed = chunks.slot_counts, chunks.typed
            self.forms, self._awkward = chunks.forms, None
            return
        self.slot_counts = [len(text.gaps) - 1 for text in texts]
        self.typed = np.zeros(sum(self.slot_counts), dtype=np.bool_)
        self.forms = [form for text in texts for form in text.forms]
        if self.forms:
            firsts = accumulate(self.slot_counts, initial=0)
            self.typed[
                [n + slot for n, text in zip(firsts, texts, strict=False) for slot in text.values]
            ] = True
        if chunks is not None and awkward is not None:
            self.slot_counts = _interleaved(awkward, self.slot_counts, chunks.slot_counts)
            by_token, typed = np.repeat(awkward, self.slot_counts), self.typed
            self.typed = np.empty(len(by_token), dtype=np.bool_)
            self.typed[by_token], self.typed[~by_token] = typed, chunks.typed
            self.forms = _interleaved(by_token[self.typed], self.forms, chunks.forms)

    def before(self) -> Ids:
        """Return what stands before each slot: `FOLLOWS`, `BEGINS` or `UNKNOWN`."""
        before = np.full(len(self.typed), FOLLOWS)
        firsts = (np.cumsum(self.slot_counts) - self.slot_counts).tolist()
        by_token = np.full(len(self.slot_counts), self._chunks is None)
        if self._awkward is not None:
            by_token = self._awkward
        if self._chunks is not None:
            before[~np.repeat(by_token, self.slot_counts)] = self._chunks.boundaries[0]
        before[[n for n, count in zip(firsts, self.slot_counts, strict=True) if count]] = BEGINS
        for template, number in zip(self._texts, np.flatnonzero(by_token).tolist(), strict=True):
            first = firsts[number]
            shown = [slot for slot in template.apart if any(map(str.isalnum, template.gaps[slot]))]
            before[[first + slot for slot in shown]] = UNKNOWN
            before[[first + slot for slot in template.starts]] = BEGINS
        before[1:][self.typed[:-1] & (before[1:] == FOLLOWS)] = UNKNOWN
        return before

    def fill(self, drawn: Ids, values: Sequence[str] = ()) -> list[str]:
        """Return the texts with the words of the drawn ids and written values in their slots.

        `drawn` has a number for every slot; those of slots for values have no meaning.
        """
        if len(self.forms):
            drawn = drawn.copy()
            drawn[self.typed] = VALUE
        if self._chunks is None:
            return self._fill_texts(drawn, values)
        if self._awkward is None:
            return self._chunks.fill(self._writer, drawn, values)
        by_token = np.repeat(self._awkward, self.slot_counts)
        owned = by_token[self.typed].tolist()
        return _interleaved(
            self._awkward,
            self._fill_texts(drawn[by_token], list(compress(values, owned))),
            self._chunks.fill(
                self._writer, drawn[~by_token], list(compress(values, map(not_, owned)))
            ),
        )

    def parts(self, drawn: Ids, values: Sequence[str]) -> list[list[str]]:
        """Return the parts of texts that were parsed token by token: see `Writer.parts`."""
        if len(self.forms):
            drawn = np.where(self.typed, VALUE, drawn)
        return list(self._parts(drawn, values))

    def _fill_texts(self, drawn: Ids, values: Sequence[str]) -> list[str]:
        return list(map("".join, self._parts(drawn, values)))

    def _parts(self, drawn: Ids, values: Sequence[str]) -> Iterator[list[str]]:
        words = list(map(self._writer.words.__getitem__, drawn.tolist()))
        written, first = iter(values), 0
        for template in self._texts:
            after = first + len(template.gaps) - 1
            own = words[first:after]
            for slot in template.values:
                own[slot] = next(written)
            yield self._writer.parts(template, own)
            first = after


class Secrets(NamedTuple):
    """What templates leave out: for the mechanism, and for the owner of the texts."""

    ids: Ids
    """The secret ids of all slots, text by text."""
    tallies: "Tallies"


class Tallies:
    """How the tokens of texts were treated, by tag; for the owner of the texts.

    Beside the tags, there are `protected`, how many words and values are drawn; and how many texts
    are `wordless`, signs alone, or `mostly_signs`.
    """

    def __init__(
        self,
        tags: list[tuple[str, ...]],
        shows_signs: bool,
        chunks: ChunkTallies | None = None,
        awkward: Flags | None = None,
    ) -> None:
        """Take the tags of tokens, and tallies of chunks, for texts as `Templates` does."""
        self._tags, self._shows_signs = tags, shows_signs
        self._chunks, self._awkward = chunks, awkward

    def total(self) -> dict[str, int]:
        rows = self._rows()
        words, signs = rows[:, _WORDS].sum(axis=1), rows[:, _SIGNS]
        wordless, mostly_signs = (words == 0) & (signs > 0), (words > 0) & (signs > words)
        sums: list[int] = rows.sum(axis=0).tolist()
        return self._counts(sums, int(wordless.sum()), int(mostly_signs.sum()))

    def each(self) -> list[dict[str, int]]:
        counts = []
        for row in self._rows().tolist():
            words, signs = sum(compress(row, _WORDS)), row[_SIGNS]
            counts.append(self._counts(row, words == 0 < signs, 0 < words < signs))
        return counts

    def _rows(self) -> Ids:
        by_token = np.empty((len(self._tags), len(ALL_TAGS)), dtype=np.int64)
        for row, tags in enumerate(self._tags):
            counts = dict.fromkeys(ALL_TAGS, 0)
            for tag in tags:
                counts[tag] += 1
            by_token[row] = list(counts.values())
        if self._chunks is None or self._awkward is None:
            return by_token
        rows = np.empty((len(self._awkward), len(ALL_TAGS)), dtype=np.int64)
        rows[self._awkward], rows[~self._awkward] = by_token, self._chunks.rows()
        return rows

    def _counts(self, row: list[int], wordless: int, mostly_signs: int) -> dict[str, int]:
        # Few texts have public pieces: they are counted where there are any.
        public = zip(ALL_TAGS[len(TAGS) :], row[len(TAGS) :], strict=True)
        return {
            "protected": sum(row[: len(DRAWN_TAGS)]),
            "wordless": int(wordless) * self._shows_signs,
            "mostly_signs": int(mostly_signs) * self._shows_signs,
            **dict(zip(TAGS, row, strict=False)),
            **{tag: count for tag, count in public if count},
        }


def _interleaved(first: Flags, chosen: Iterable[_Item], others: Iterable[_Item]) -> list[_Item]:
    """Return items in one order: where `first` is true, the next chosen one, else of the others."""
    items = iter(others), iter(chosen)
    return [next(items[is_chosen]) for is_chosen in first.tolist()]


class _ParsedText(NamedTuple):
    """A text: what stays visible of it, its secret ids, its tokens' tags."""

    template: Template
    ids: tuple[int, ...]
    tags: tuple[str, ...]


class TextParser:
    """Parses texts, for a public list of words and a policy.

    >>> templates, secrets = TextParser(["cold", "rain"], Policy()).parse(["Cold, COLD rain!", ""])
    >>> secrets.ids, templates.slot_counts
    (array([0, 0, 1]), [3, 0])
    >>> templates.fill(secrets.ids[::-1])
    ['Rain, cold cold!', '']
    >>> secrets.tallies.total()["in_lexicon"]
    3
    """

    def __init__(self, words: Sequence[str], policy: Policy) -> None:
        self.bound = BoundPolicy(words, policy)
        self.words = self.bound.words
        self._escape = self.bound.pieces.escape if policy.markup and self.bound.pieces else None
        self._writer = Writer(words, self._escape)
        self._spare: list[ChunkCodes] = []

    def __getstate__(self) -> dict[str, object]:
        # Chunks are words of the user's texts: they must not leave the process.
        return {**self.__dict__, "_spare": []}

    def parse(
        self, texts: list[str], entities: Sequence[object] | None = None
    ) -> tuple[Templates, Secrets]:
        """Parse texts; they share one array of ids.

        `entities` holds those of each text, beside those that the policy's detector finds.
        """
        found = self._entities(texts, entities)
        policy, few = self.bound.policy, sum(map(len, texts)) < _FEW_LETTERS
        if few or policy.punctuation == "drop" or policy.redraw or (found and all(found)):
            return self._by_token(texts, found)
        try:
            # Popped, it is out of other threads' reach. If encoding fails, it is discarded.
            codes = self._spare.pop()
        except IndexError:
            codes = ChunkCodes(self.bound, len(self._writer.words))
        coded = codes.encode(texts)
        awkward = coded.awkward_texts()
        if found:
            awkward |= np.array(list(map(bool, found)))
        if awkward.all():
            chunks = None
        else:
            chunks = codes.parsed(coded.select(~awkward) if awkward.any() else coded)
        if not codes.full:
            self._spare.append(codes)
        if chunks is None:
            return self._by_token(texts, found)
        layout, ids, tallies = chunks
        parsed = [
            self._parsed(text, found[number] if found else ())
            for number, text in enumerate(texts)
            if awkward[number]
        ]
        templates = Templates(self._writer, [text.template for text in parsed], layout, awkward)
        if parsed:
            by_token = np.repeat(awkward, templates.slot_counts)
            by_chunk, ids = ids, np.empty(len(by_token), dtype=np.int64)
            ids[by_token], ids[~by_token] = _ids(parsed), by_chunk
        tags = [text.tags for text in parsed]
        return templates, Secrets(ids, Tallies(tags, True, tallies, awkward))

    def parse_spans(self, text: str, spans: Iterable[object]) -> tuple[Templates, Secrets]:
        """Parse the spans of a text; all else is public. What is kept inside spans is, too."""
        segments = cut_spans(text, spans)
        if self.bound.pieces is not None:
            cut = self.bound.pieces.cut
            segments = [s for each in segments for s in ([each] if each.public else cut(each.text))]
        return self._together([self._laid_out(segments)])

    def parse_beside(self, text: str) -> tuple[Templates, Secrets, list[str], list[str]]:
        """Parse a text; return its own parts, gaps and slots in turns, and the slots' tags, too.

        >>> TextParser(["cold", "rain"], Policy()).parse_beside("Cold, 3 rain!")[2:]
        (['', 'Cold', ', ', '3', ' ', 'rain', '!'], ['in_lexicon', 'numbers', 'in_lexicon'])
        """
        parts, tags, gap = [""], list[str](), START
        segments = self._cut(text)
        for each in segments:
            if each.public:
                parts[-1] += each.text
                gap = gap if mark_of(each) == TAG_MARK else START
                continue
            pieces, gap = self.bound.treat_pieces(each.text, gap)
            for piece, treatment in pieces:
                if treatment.id < 0:
                    parts[-1] += piece
                else:
                    parts += [piece, ""]
                    tags.append(treatment.tag)
        return *self._together([self._laid_out(segments)]), parts, tags

    def parse_released(self, texts: Iterable[str]) -> tuple[Templates, Secrets]:
        """Parse private texts: the lexicon's words are slots, all else is shown as it is."""
        return self._together(
            [self._laid_out(self._unmasked(text), released=True) for text in texts]
        )

    def _unmasked(self, text: str) -> Iterator[Segment]:
        """Yield the segments of a private text; what masks words is public."""
        policy = self.bound.policy
        shown = [UNDECLARED, *([policy.placeholder] if policy.unknown == "mask" else [])]
        masks = re.compile("|".join(map(re.escape, shown)))
        for each in self._cut(text):
            if each.public:
                yield each
            else:
                places = [match.span() for match in masks.finditer(each.text)]
                for piece in cut_at(each.text, places):
                    yield piece._replace(origin="words" if piece.public else "")

    def _entities(self, texts: Sequence[str], given: Sequence[object] | None) -> list[list[Entity]]:
        """Return the entities of each text; an empty list if nobody looked for any."""
        policy = self.bound.policy
        if given is None and policy.detector is None:
            return []
        labels = cast(Labels, policy.entity_labels)
        found: list[list[Entity]] = []
        for number, text in enumerate(texts):
            own: list[Entity] = []
            if given is not None and given[number] is not None:
                own += found_entities(given[number], len(text), labels, name="entities")
            if policy.detector is not None:
                finds = detected(policy.detector, text)
                own += found_entities(finds, len(text), labels, name="detector")
            if policy.shift_dates:  # dates move together, and none is drawn by itself
                own = [each for each in own if each.kind != "date"]
            found.append(own)
        return found

    def _by_token(
        self, texts: Sequence[str], entities: Sequence[Sequence[Entity]] = ()
    ) -> tuple[Templates, Secrets]:
        found = entities or [()] * len(texts)
        return self._together(list(map(self._parsed, texts, found)))

    def _together(self, parsed: list[_ParsedText]) -> tuple[Templates, Secrets]:
        templates = Templates(self._writer, [text.template for text in parsed])
        shows_signs = self.bound.policy.punctuation == "keep"
        tallies = Tallies([text.tags for text in parsed], shows_signs)
        return templates, Secrets(_ids(parsed), tallies)

    def _parsed(self, text: str, entities: Sequence[Entity] = ()) -> _ParsedText:
        if not entities:
            return self._laid_out(self._cut(text))
        pieces, split = self.bound.pieces, self.bound.split
        if pieces is None:
            return self._laid_out(cut_at_entities(text, entities, split(text)))
        return self._laid_out(pieces.cut_around(text, entities, split))

    def _cut(self, text: str) -> Sequence[Segment]:
        pieces = self.bound.pieces
        return [Segment(text, False)] if pieces is None else pieces.cut(text)

    def _laid_out(
        self, segments: Iterable[Segment | FoundEntity], *, released: bool = False
    ) -> _ParsedText:
        """Parse each private segment by itself, and lay out all of them as one text."""
        treatments: list[Treatment] = []
        segments, gap = list(behind_entities(segments)), START
        first = first_names(segments)
        for each in segments:
            if isinstance(each, FoundEntity):
                treatments += self.bound.treat_entity(each, first)
                gap = ""
            elif each.public:
                tag, sign = PUBLIC_TAGS[each.origin], mark_of(each)
                treatments.append(Treatment(-1, tag, each.text, sign))
                gap = gap if sign == TAG_MARK else START
            elif released:
                treated, gap = _released(self.bound, each.text, gap)
                treatments += treated
            else:
                treated, gap = self.bound.treat_text(each.text, gap)
                treatments += treated
        ids, tags, shown, marks = zip(*treatments, strict=True) if treatments else ((),) * 4
        if LEFT_OUT in shown:
            shown = tuple(part for part in shown if part != LEFT_OUT)
        punctuation, escape = self.bound.policy.punctuation, self._escape or str
        template = lay_out(shown, "".join(marks), punctuation, escape)
        return _ParsedText(template, tuple(i for i in ids if i >= 0), tags)


def _released(bound: BoundPolicy, text: str, gap: str) -> tuple[list[Treatment], str]:
    """Return the treatments of a text that is private already: all but words stays as it is."""
    tokens = list(bound.cut(text))
    found: Sequence[str | Person] = tokens
    if bound.people is not None:
        found, gap = bound.people.find(tokens, gap)
    drawn = [english.PARTS.get(each.lower(), each) for each in found if isinstance(each, str)]
    words = iter(bound.treat_all(drawn))
    return [
        known
        if isinstance(each, str) and (known := next(words)).tag == IN_LEXICON
        else _as_it_is(each if isinstance(each, str) else each.text)
        for each in found
    ], gap


def _as_it_is(token: str) -> Treatment:
    """Show a token, without a space of our own beside it."""
    if (sign := mark(token)) == "k":
        return Treatment(-1, "kept", token, PUBLIC_MARK)
    return Treatment(-1, SIGN_TAG, token, sign)


def _ids(parsed: Iterable[_ParsedText]) -> Ids:
    return np.fromiter(chain.from_iterable(text.ids for text in parsed), dtype=np.int64)

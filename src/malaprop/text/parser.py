"""Parses texts into public templates with secret ids for their slots.

There are two ways, with the same result. Most texts of a large batch are read chunk by chunk and
processed together. The others go token by token: small batches, texts whose punctuation is
dropped, and texts with something to leave out, mask or keep, or with a public piece.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain, compress, islice
from operator import not_
from typing import NamedTuple, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from malaprop.privacy.arrays import Ids
from malaprop.text.chunks import ChunkCodes, ChunkedTexts, ChunkTables, CodedTexts
from malaprop.text.kinds import Form
from malaprop.text.policy import (
    LEFT_OUT,
    PUBLIC_TAGS,
    PUNCTUATION_TAGS,
    TAGS,
    WORD_TAGS,
    BoundPolicy,
    Policy,
    TreatmentCounts,
)
from malaprop.text.public import Span, cut_spans
from malaprop.text.segments import Segment
from malaprop.text.template import SLOT_MARKS, VALUE_MARK, WORD_MARK, Rebuilder, Template, mark_of
from malaprop.text.word_map import WordMap

# Texts parsed token by token: slow, and right for every text and every policy.


# A placeholder or a kept word is a word that is shown, as a mask is.
_WORD_TAGS = (*WORD_TAGS, PUBLIC_TAGS["placeholders"], PUBLIC_TAGS["words"])


class _ParsedText(NamedTuple):
    """A text's public template with the marks of its parts, its secret ids, its tokens' tags."""

    template: Template
    marks: str
    ids: list[int]
    tags: tuple[str, ...]


class TokenizedTexts:
    """Texts parsed token by token.

    >>> from malaprop.text.policy import Policy
    >>> words = ["cold", "rain"]
    >>> policy, rebuilder = BoundPolicy(words, Policy()), Rebuilder(words, "keep")
    >>> parsed = TokenizedTexts(["Rain, 🌧", ""], policy, rebuilder)
    >>> parsed.ids.tolist(), parsed.slot_counts, parsed.rebuild(parsed.ids[::-1])
    ([1, 1], [2, 0], ['Rain, rain', ''])
    >>> parsed.counts()["emoji"]
    1
    """

    def __init__(self, texts: Iterable[str], policy: BoundPolicy, rebuilder: Rebuilder) -> None:
        self._rebuilder = rebuilder
        self._texts = [_parsed(text, policy) for text in texts]

    @classmethod
    def of_spans(
        cls, text: str, spans: Iterable[Span], policy: BoundPolicy, rebuilder: Rebuilder
    ) -> Self:
        """Parse the spans of a text; all else is public. What is kept inside spans is, too."""
        segments = cut_spans(text, spans)
        if policy.pieces is not None:
            cut = policy.pieces.cut
            segments = [s for each in segments for s in ([each] if each.public else cut(each.text))]
        parsed = cls((), policy, rebuilder)
        parsed._texts.append(_joined(segments, policy))
        return parsed

    @property
    def ids(self) -> Ids:
        """The secret ids of all slots, text by text."""
        return np.fromiter(chain.from_iterable(text.ids for text in self._texts), dtype=np.int64)

    @property
    def slot_counts(self) -> list[int]:
        """How many slots each text has."""
        return [len(text.ids) for text in self._texts]

    @property
    def word_counts(self) -> list[int]:
        """How many words each private text shows, masks included."""
        return [_how_many(text.tags, _WORD_TAGS) for text in self._texts]

    @property
    def punctuation_counts(self) -> list[int]:
        """How many runs of punctuation each private text shows."""
        if self._rebuilder.punctuation == "drop":
            return [0] * len(self._texts)
        return [_how_many(text.tags, PUNCTUATION_TAGS) for text in self._texts]

    def counts(self) -> TreatmentCounts:
        """Count how the tokens of all texts were treated."""
        return _counts(chain.from_iterable(text.tags for text in self._texts))

    def counts_of_each(self) -> list[TreatmentCounts]:
        """Count how the tokens of each text were treated."""
        return [_counts(text.tags) for text in self._texts]

    @property
    def typed(self) -> NDArray[np.bool_]:
        """Which slots are for values."""
        marks = "".join(text.marks for text in self._texts)
        if VALUE_MARK not in marks:
            return np.zeros(marks.count(WORD_MARK), dtype=np.bool_)
        slots = filter(SLOT_MARKS.__contains__, marks)
        return np.array([slot == VALUE_MARK for slot in slots], dtype=np.bool_)

    @property
    def forms(self) -> list[Form]:
        """The forms of the slots for values, in order."""
        return [part for text in self._texts for part in text.template if isinstance(part, Form)]

    def rebuild(self, drawn: Ids, values: Sequence[str] = ()) -> list[str]:
        """Return the texts with the words of the drawn ids and written values in their slots."""
        ids, rest = iter(drawn.tolist()), iter(values)
        return [
            self._rebuilder.fill(text.template, list(islice(ids, len(text.ids))), text.marks, rest)
            for text in self._texts
        ]


def _parsed(text: str, policy: BoundPolicy) -> _ParsedText:
    if policy.pieces is None:
        return _private(text, policy)
    return _joined(policy.pieces.cut(text), policy)


def _joined(segments: Iterable[Segment], policy: BoundPolicy) -> _ParsedText:
    """Parse each private segment by itself, and join all to one text."""
    parts = [_public(each) if each.public else _private(each.text, policy) for each in segments]
    if len(parts) == 1:
        return parts[0]
    return _ParsedText(
        tuple(chain.from_iterable(part.template for part in parts)),
        "".join(part.marks for part in parts),
        list(chain.from_iterable(part.ids for part in parts)),
        tuple(chain.from_iterable(part.tags for part in parts)),
    )


def _public(segment: Segment) -> _ParsedText:
    return _ParsedText((segment.text,), mark_of(segment), [], (PUBLIC_TAGS[segment.origin],))


def _private(text: str, policy: BoundPolicy) -> _ParsedText:
    treatments = policy.treat_all(policy.cut(text))
    if not treatments:
        return _ParsedText((), "", [], ())
    _, ids, tags, shown, marks = zip(*treatments, strict=True)
    if LEFT_OUT in shown:
        shown = tuple(part for part in shown if part != LEFT_OUT)
    return _ParsedText(shown, "".join(marks), [word for word in ids if word >= 0], tags)


def _how_many(tags: tuple[str, ...], wanted: tuple[str, ...]) -> int:
    return sum(map(tags.count, wanted))


def _counts(tags: Iterable[str]) -> TreatmentCounts:
    counter = Counter(tags)
    # Few texts have public pieces: they are counted where there are any.
    public = {tag: counter[tag] for tag in PUBLIC_TAGS.values() if tag in counter}
    return {tag: counter[tag] for tag in TAGS} | public


_Item = TypeVar("_Item")
_FEW_LETTERS = 1000  # below this, building tables is not worth while


class ParsedTexts(Protocol):
    """Texts as templates, with the secret ids that fill their slots."""

    @property
    def ids(self) -> Ids:
        """The secret ids of all slots, text by text."""

    @property
    def slot_counts(self) -> Sequence[int]:
        """How many slots each text has."""

    @property
    def word_counts(self) -> Sequence[int]:
        """How many words each private text shows, masks included: anybody can see that."""

    @property
    def punctuation_counts(self) -> Sequence[int]:
        """How many runs of punctuation each private text shows."""

    def counts(self) -> TreatmentCounts:
        """Count how the tokens of all texts were treated."""

    def counts_of_each(self) -> list[TreatmentCounts]:
        """Count how the tokens of each text were treated."""

    @property
    def typed(self) -> NDArray[np.bool_]:
        """Which slots are for values, and not for words: anybody can see that."""

    @property
    def forms(self) -> Sequence[Form]:
        """The forms of the slots for values, in order: public, too."""

    def rebuild(self, drawn: Ids, values: Sequence[str] = ()) -> list[str]:
        """Return the texts with the words of the drawn ids and written values in their slots.

        `drawn` has a number for every slot; those of slots for values have no meaning.
        """


class TextParser:
    """Parses texts, for a public list of words and a policy.

    >>> parsed = TextParser(["cold", "rain"], Policy()).parse(["Cold, COLD rain!"])
    >>> parsed.ids
    array([0, 0, 1])
    >>> parsed.rebuild(parsed.ids[::-1])
    ['Rain, cold cold!']
    """

    def __init__(self, words: Sequence[str], policy: Policy) -> None:
        self._policy = BoundPolicy(words, policy)
        escape = self._policy.pieces.escape if policy.markup and self._policy.pieces else None
        self._rebuilder = Rebuilder(words, policy.punctuation, escape)
        self._spare: list[ChunkCodes] = []

    def __getstate__(self) -> dict[str, object]:
        # Chunks are words of the user's texts: they must not leave the process.
        return {**self.__dict__, "_spare": []}

    @property
    def words(self) -> WordMap:
        """The map of unknown words."""
        return self._policy.words

    def parse(self, texts: list[str]) -> ParsedTexts:
        """Parse texts; they share one array of ids."""
        if self._policy.policy.punctuation == "drop" or sum(map(len, texts)) < _FEW_LETTERS:
            return self._by_token(texts)
        coded, tables = self._encode(texts)
        awkward = coded.awkward_texts()
        if awkward.all():
            return self._by_token(texts)
        if not awkward.any():
            return ChunkedTexts(coded, tables, self._rebuilder)
        by_token = self._by_token(list(compress(texts, awkward)))
        by_chunk = ChunkedTexts(coded.select(~awkward), tables, self._rebuilder)
        return _MixedTexts(awkward, by_token, by_chunk)

    def parse_spans(self, text: str, spans: Iterable[Span]) -> ParsedTexts:
        """Parse the spans of one text; the rest of it is public."""
        return TokenizedTexts.of_spans(text, spans, self._policy, self._rebuilder)

    def _by_token(self, texts: list[str]) -> TokenizedTexts:
        return TokenizedTexts(texts, self._policy, self._rebuilder)

    def _encode(self, texts: list[str]) -> tuple[CodedTexts, ChunkTables]:
        try:
            # Popped, it is out of other threads' reach. If encoding fails, it is discarded.
            codes = self._spare.pop()
        except IndexError:
            codes = ChunkCodes(self._policy, len(self._rebuilder))
        encoded = codes.encode(texts), codes.tables()
        if not codes.full:
            self._spare.append(codes)
        return encoded


class _MixedTexts:
    """Texts of which the awkward ones are parsed token by token, the others chunk by chunk."""

    def __init__(
        self, awkward: NDArray[np.bool_], by_token: TokenizedTexts, by_chunk: ChunkedTexts
    ) -> None:
        self._awkward, self._parts = awkward, (by_token, by_chunk)
        self.slot_counts: list[int] = self._in_order(by_token.slot_counts, by_chunk.slot_counts)
        self._awkward_slots = np.repeat(awkward, self.slot_counts)

    @property
    def ids(self) -> Ids:
        """The secret ids of all slots, text by text."""
        ids = np.empty(len(self._awkward_slots), dtype=np.int64)
        for part, slots in self._slots():
            ids[slots] = part.ids
        return ids

    @property
    def word_counts(self) -> list[int]:
        """How many words each private text shows, masks included."""
        return self._in_order(*(part.word_counts for part in self._parts))

    @property
    def punctuation_counts(self) -> list[int]:
        """How many runs of punctuation each private text shows."""
        return self._in_order(*(part.punctuation_counts for part in self._parts))

    def counts(self) -> TreatmentCounts:
        """Count how the tokens of all texts were treated."""
        by_token, by_chunk = (part.counts() for part in self._parts)
        return {tag: count + by_chunk.get(tag, 0) for tag, count in by_token.items()}

    def counts_of_each(self) -> list[TreatmentCounts]:
        """Count how the tokens of each text were treated."""
        return self._in_order(*(part.counts_of_each() for part in self._parts))

    @property
    def typed(self) -> NDArray[np.bool_]:
        """Which slots are for values."""
        typed = np.empty(len(self._awkward_slots), dtype=np.bool_)
        for part, slots in self._slots():
            typed[slots] = part.typed
        return typed

    @property
    def forms(self) -> list[Form]:
        """The forms of the slots for values, in order."""
        forms = [iter(part.forms) for part in self._parts]
        by_token = self._awkward_slots[self.typed].tolist()
        return [next(forms[0 if awkward else 1]) for awkward in by_token]

    def rebuild(self, drawn: Ids, values: Sequence[str] = ()) -> list[str]:
        """Return the texts with the words of the drawn ids and written values in their slots."""
        by_token = self._awkward_slots[self.typed].tolist() if len(values) else []
        shares = [list(compress(values, by_token)), list(compress(values, map(not_, by_token)))]
        return self._in_order(
            *(
                part.rebuild(drawn[slots], share)
                for (part, slots), share in zip(self._slots(), shares, strict=True)
            )
        )

    def _slots(self) -> Iterable[tuple[ParsedTexts, NDArray[np.bool_]]]:
        return zip(self._parts, (self._awkward_slots, ~self._awkward_slots), strict=True)

    def _in_order(self, by_token: Iterable[_Item], by_chunk: Iterable[_Item]) -> list[_Item]:
        """Merge the items of both parts into the order of the texts."""
        items = iter(by_chunk), iter(by_token)
        return [next(items[awkward]) for awkward in self._awkward.tolist()]

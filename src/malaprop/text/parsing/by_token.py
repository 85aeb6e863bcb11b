"""Texts parsed token by token: slow, and right for every text and every policy."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain, islice
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from malaprop.core.arrays import Ids
from malaprop.text.composing import mark_of
from malaprop.text.forms.form import Form
from malaprop.text.policy import (
    LEFT_OUT,
    PUBLIC_TAGS,
    PUNCTUATION_TAGS,
    TAGS,
    WORD_TAGS,
    BoundPolicy,
    TreatmentCounts,
)
from malaprop.text.public import Segment, Span, cut_spans
from malaprop.text.rebuilding import Rebuilder
from malaprop.text.template import SLOT_MARKS, VALUE_MARK, WORD_MARK, Template

# A placeholder or a kept word is a word that is shown, as a mask is.
_WORD_TAGS = (*WORD_TAGS, PUBLIC_TAGS["placeholders"], PUBLIC_TAGS["words"])


class _ParsedText(NamedTuple):
    """A text's public template with the marks of its parts, its secret ids, its tokens' tags."""

    template: Template
    marks: str
    ids: list[int]
    tags: tuple[str, ...]


class TextsByToken:
    """Texts parsed token by token.

    >>> from malaprop.text.policy import Policy
    >>> words = ["cold", "rain"]
    >>> policy, rebuilder = BoundPolicy(words, Policy()), Rebuilder(words, "keep")
    >>> parsed = TextsByToken(["Rain, 🌧", ""], policy, rebuilder)
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

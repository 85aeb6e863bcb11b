"""Texts taken apart piece by piece: slow, and right for every text and every policy."""

from collections import Counter
from collections.abc import Iterable
from itertools import chain, islice
from typing import NamedTuple

import numpy as np

from malaprop.core.arrays import Ids
from malaprop.text.pieces import split
from malaprop.text.policy import COUNTED, LEFT_OUT, SIGNS, TOKENS, Planner
from malaprop.text.surface import Skeleton
from malaprop.text.writer import Writer

Counts = dict[str, int]
"""How many pieces were treated in each way of `COUNTED`."""


class Form(NamedTuple):
    """A text taken apart: its public skeleton, and the secret ids that fill its slots."""

    skeleton: Skeleton
    marks: str
    ids: list[int]
    tags: tuple[str, ...]


class Forms:
    """Texts taken apart piece by piece.

    >>> from malaprop.text.policy import Policy
    >>> words = ["cold", "rain"]
    >>> forms = Forms(["Rain, 🌧", ""], Planner(words, Policy()), Writer(words, "keep"))
    >>> forms.ids.tolist(), forms.sizes, forms.put_together(forms.ids[::-1])
    ([1, 1], [2, 0], ['Rain, rain', ''])
    >>> forms.counts()["emoji"]
    1
    """

    def __init__(self, texts: Iterable[str], planner: Planner, writer: Writer) -> None:
        self._writer = writer
        self._forms = [_form(text, planner) for text in texts]

    @property
    def ids(self) -> Ids:
        """The ids of all slots, text by text."""
        return np.fromiter(chain.from_iterable(form.ids for form in self._forms), dtype=np.int64)

    @property
    def sizes(self) -> list[int]:
        """How many slots each text has."""
        return [len(form.ids) for form in self._forms]

    @property
    def tokens(self) -> list[int]:
        """How many words each private text has, masks among them."""
        return [_among(form.tags, TOKENS) for form in self._forms]

    @property
    def signs(self) -> list[int]:
        """How many runs of signs each private text shows as they are."""
        if self._writer.punctuation == "drop":
            return [0] * len(self._forms)
        return [_among(form.tags, SIGNS) for form in self._forms]

    def counts(self) -> Counts:
        """How the pieces of all texts were treated."""
        return _counts(chain.from_iterable(form.tags for form in self._forms))

    def counts_of_each(self) -> list[Counts]:
        """How the pieces of each text were treated."""
        return [_counts(form.tags) for form in self._forms]

    def put_together(self, drawn: Ids) -> list[str]:
        """The texts, with the drawn ids in the slots."""
        words = iter(drawn.tolist())
        return [
            self._writer.fill(form.skeleton, list(islice(words, len(form.ids))), form.marks)
            for form in self._forms
        ]


def _form(text: str, planner: Planner) -> Form:
    plans = planner.plan_all(split(text))
    if not plans:
        return Form((), "", [], ())
    _, ids, tags, shown, marks = zip(*plans, strict=True)
    if LEFT_OUT in shown:
        shown = tuple(part for part in shown if part != LEFT_OUT)
    return Form(shown, "".join(marks), [word for word in ids if word >= 0], tags)


def _among(tags: tuple[str, ...], wanted: tuple[str, ...]) -> int:
    return sum(map(tags.count, wanted))


def _counts(tags: Iterable[str]) -> Counts:
    found = Counter(tags)
    return {name: found[name] for name in COUNTED}

"""Decides what becomes of each piece of a text. Nothing is shown unless a rule here says so.

| piece | default | the other choices for `unknown` |
|---|---|---|
| word of the lexicon | protected | protected |
| other word | mapped to one, and protected | masked, dropped or kept |
| number, web or e-mail address, mention, hashtag, symbol | mapped, and protected | masked or \
dropped; never kept |
| punctuation, white space | shown | shown |
| invisible characters | removed | removed |
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from enum import IntEnum
from typing import Literal, NamedTuple, get_args
from unicodedata import category

from malaprop.core.errors import ParameterError
from malaprop.text.mapping import WordMap
from malaprop.text.pieces import Kind, kind
from malaprop.text.surface import Punctuation, mark

Unknown = Literal["map", "mask", "drop", "keep"]


@dataclass(frozen=True, kw_only=True)
class Policy:
    """What becomes of words that the lexicon does not have, and of punctuation.

    >>> Policy(unknown="mask").to_dict()
    {'unknown': 'mask', 'punctuation': 'keep', 'placeholder': '[masked]'}
    """

    unknown: Unknown = "map"
    punctuation: Punctuation = "keep"
    placeholder: str = "[masked]"

    def __post_init__(self) -> None:
        _require_one_of("unknown", self.unknown, get_args(Unknown))
        _require_one_of("punctuation", self.punctuation, get_args(Punctuation))
        _require_placeholder(self.placeholder)

    def to_dict(self) -> dict[str, str]:
        """The parameters, for a report."""
        return asdict(self)


def _require_one_of(parameter: str, value: object, choices: Sequence[str]) -> None:
    if value not in choices:
        raise ParameterError(
            f"The '{parameter}' parameter must be one of {', '.join(choices)}. Got {value!r}."
        )


def _require_placeholder(value: object) -> None:
    # Without a letter it would be taken for punctuation when the text is rebuilt.
    if not (isinstance(value, str) and value.isprintable() and any(map(str.isalnum, value))):
        raise ParameterError(
            "The 'placeholder' parameter must be a printable string on one line "
            f"with at least one letter or digit. Got {value!r}."
        )


class Action(IntEnum):
    """What is done with a piece."""

    PROTECT = 0
    """The word with the plan's id goes through the mechanism."""
    SHOW = 1
    """Shown as it is: punctuation and white space."""
    SHOW_MASK = 2
    """The placeholder is shown."""
    DROP = 3
    """Left out, as the user chose."""
    KEEP = 4
    """Shown as it is, as the user chose: a word without any protection."""
    REMOVE = 5
    """Left out always: invisible characters."""


LEFT_OUT = ""
"""In the place of what is shown of a piece that is left out."""


class Plan(NamedTuple):
    """What is done with a piece, the id of the word to protect (or -1), and how it is counted.

    `shown` is what the private text has in its place: `None` for a word of the mechanism's. `mark`
    is its mark in a skeleton, nothing if it is left out.
    """

    action: Action
    id: int
    tag: str
    shown: str | None
    mark: str = ""


_NO_WORD = -1
_DROP = Plan(Action.DROP, _NO_WORD, "dropped", LEFT_OUT)
_REMOVE = Plan(Action.REMOVE, _NO_WORD, "removed", LEFT_OUT)
_SHOWN = {Kind.PUNCTUATION: "punctuation", Kind.SPACE: "spaces"}

IN_LEXICON = "in_lexicon"
TAGS = {
    Kind.WORD: "mapped",
    Kind.NUMBER: "numbers",
    Kind.URL: "urls",
    Kind.EMAIL: "emails",
    Kind.MENTION: "mentions",
    Kind.HASHTAG: "hashtags",
    Kind.EMOJI: "emoji",
}
COUNTED = (
    *(IN_LEXICON, *TAGS.values()),
    *("masked", "dropped", "kept", "punctuation", "spaces", "removed"),
)
"""All ways in which a piece is counted."""
SIGNS = ("punctuation",)
TOKENS = tuple(tag for tag in COUNTED if tag not in (*SIGNS, "dropped", "spaces", "removed"))
"""The ways of what stands in a private text as a word: drawn, masked or kept."""
_MEMO_ENTRIES = 2**17
_MEMO_LETTERS = 64


class Planner:
    """Plans what is done with each piece of a text, for a public list of words and a policy.

    >>> planner = Planner(["patient", "not", "ten"], Policy())
    >>> [plan.tag for plan in planner.plan_all(["Patient", " ", "can't", ",", "12"])]
    ['in_lexicon', 'spaces', 'mapped', 'punctuation', 'numbers']
    """

    def __init__(self, words: Sequence[str], policy: Policy) -> None:
        self.policy = policy
        self._words = WordMap(words)
        # What was planned lately, and before that: so words that occur again and again stay.
        self._memo: dict[str, Plan] = {}
        self._older: dict[str, Plan] = {}

    def __getstate__(self) -> dict[str, object]:
        # The memo holds words of the user's texts, which must not travel.
        return {**self.__dict__, "_memo": {}, "_older": {}}

    def plan_all(self, pieces: Iterable[str]) -> list[Plan]:
        """The plan of each piece."""
        pieces = list(pieces)
        plans = list(map(self._memo.get, pieces))
        if None in plans:
            return [known or self.plan(piece) for known, piece in zip(plans, pieces, strict=True)]
        return plans  # type: ignore[return-value]

    def plan(self, piece: str) -> Plan:
        """The plan of a piece."""
        plan = self._memo.get(piece)
        if plan is None:
            plan = self._older.get(piece) or self._decide(piece)
            if len(piece) <= _MEMO_LETTERS:
                if len(self._memo) >= _MEMO_ENTRIES:
                    self._older, self._memo = self._memo, {}
                self._memo[piece] = plan
        return plan

    def _decide(self, piece: str) -> Plan:
        plan = self._treatment(piece, kind(piece))
        return plan if plan.shown == LEFT_OUT else plan._replace(mark=mark(plan.shown))

    def _treatment(self, piece: str, what: Kind) -> Plan:
        if what in _SHOWN:
            return Plan(Action.SHOW, _NO_WORD, _SHOWN[what], piece)
        if what is Kind.INVISIBLE:
            return _REMOVE
        if what is Kind.WORD and (found := self._words.lookup(piece)) is not None:
            return Plan(Action.PROTECT, found, IN_LEXICON, None)
        if self.policy.unknown == "mask":
            return Plan(Action.SHOW_MASK, _NO_WORD, "masked", self.policy.placeholder)
        if self.policy.unknown == "drop":
            return _DROP
        if self.policy.unknown == "keep" and what is Kind.WORD and _may_be_kept(piece):
            return Plan(Action.KEEP, _NO_WORD, "kept", piece)
        return Plan(Action.PROTECT, self._words.map(piece), TAGS[what], None)


def _may_be_kept(word: str) -> bool:
    """Whether a word has neither digits nor invisible characters, which are never shown."""
    return not any(category(sign)[0] in "NC" for sign in word)

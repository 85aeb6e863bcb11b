"""Decides what happens to each token of a text. Nothing is shown unless a rule here says so.

| token | default | other choices for `unknown` |
|---|---|---|
| word of the lexicon | protected | protected |
| other word | mapped to a lexicon word, and protected | masked, dropped or kept |
| symbol, hashtag | mapped, and protected | masked or dropped; never kept |
| number, date, time, identifier, web or e-mail address, mention | with `kinds="typed"`: drawn as \
what it is | drawn |
| the same, with `kinds="words"` | mapped, and protected | masked or dropped; never kept |
| punctuation, whitespace | shown | shown |
| invisible characters | removed | removed |
| what `keep` or `markup` declares public | shown | shown |
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, fields
from enum import IntEnum
from hashlib import sha256
from inspect import signature
from numbers import Real
from typing import Any, Literal, NamedTuple, TypedDict, cast, get_args
from unicodedata import category

from malaprop.privacy.errors import ParameterError, did_you_mean, is_computable
from malaprop.text.kinds import Form, grammar
from malaprop.text.kinds.dates import DateOrder
from malaprop.text.kinds.grids import StepSizes
from malaprop.text.public import PLACEHOLDERS, Markup, PublicPieces, checked_markup, entries_of
from malaprop.text.template import VALUE_MARK, WORD_MARK, Punctuation, mark
from malaprop.text.tokens import TokenKind, kind_of, tokenize
from malaprop.text.word_map import MAP_VERSION, WordMap

Unknown = Literal["map", "mask", "drop", "keep"]
Kinds = Literal["typed", "words"]
Repeat = Literal["fresh", "document"]

_MOST_LISTED = 20  # kept words that a report lists


class TextOptions(TypedDict, total=False):
    """The parameters of a `Policy`, as every call takes them that privatizes texts."""

    unknown: Unknown
    punctuation: Punctuation
    placeholder: str
    kinds: Kinds | None
    kind_epsilon: float | None
    steps: Mapping[str, str]
    dates: DateOrder
    repeat: Repeat
    keep: str | Sequence[str]
    markup: Markup | None


@dataclass(frozen=True, kw_only=True)
class Policy:
    """How to treat words that the lexicon does not have, punctuation, values and repeated words.

    With `kinds="typed"`, numbers, dates and times become others of their kind, near by, and
    identifiers and addresses are made up; with `"words"` all of them become words. `None` leaves
    the choice to the mechanism. `kind_epsilon` is the ε of one step of a value, `steps` says how
    long a step is, and `dates` whether 03/04/2023 is in March (`mdy`) or in April (`dmy`).

    `repeat` is `fresh`, a draw for every place, or `document`, one draw for all places of a text
    that hold the same mapped value.

    `keep` and `markup` declare parts of texts public: a list of words and phrases, with or without
    `"placeholders"`, or `"placeholders"` alone; and the tags of `html`.

    >>> Policy(unknown="mask", kinds="words").to_dict()  # doctest: +NORMALIZE_WHITESPACE
    {'unknown': 'mask', 'punctuation': 'keep', 'placeholder': '[masked]', 'kinds': 'words',
     'repeat': 'fresh'}
    """

    unknown: Unknown = "map"
    punctuation: Punctuation = "keep"
    placeholder: str = "[masked]"
    kinds: Kinds | None = None
    kind_epsilon: float | None = None
    steps: Mapping[str, str] = field(default_factory=StepSizes)
    dates: DateOrder = "mdy"
    repeat: Repeat = "fresh"
    keep: str | Sequence[str] = ()
    markup: Markup | None = None

    def __post_init__(self) -> None:
        _require_one_of("unknown", self.unknown, get_args(Unknown))
        _require_one_of("punctuation", self.punctuation, get_args(Punctuation))
        _require_placeholder(self.placeholder)
        _require_one_of("repeat", self.repeat, get_args(Repeat))
        _require_one_of("kinds", self.kinds, (*get_args(Kinds), None))
        _require_one_of("dates", self.dates, get_args(DateOrder))
        _require_epsilon(self.kind_epsilon)
        checked_markup(self.markup)
        object.__setattr__(self, "keep", tuple(sorted(entries_of(self.keep))))
        if not isinstance(self.steps, StepSizes):  # hashable, and every step is checked
            object.__setattr__(self, "steps", StepSizes(self.steps))
        if self.kinds == "words":
            self._require_no_values()

    def _require_no_values(self) -> None:
        usual = Policy()
        for name in ("kind_epsilon", "steps", "dates"):
            if getattr(self, name) != getattr(usual, name):
                raise ParameterError(
                    f"The `{name}` parameter is for numbers and dates that are drawn as what they "
                    'are: it needs `kinds="typed"`.'
                )

    def options(self) -> TextOptions:
        """Return the parameters, to make another policy or a privatizer of."""
        return cast(TextOptions, vars(self).copy())

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters, for a report, and the version of the map of unknown words."""
        plain = {**vars(self), "steps": dict(self.steps)}
        hidden = ("kind_epsilon", "steps", "dates") if self.kinds == "words" else ()
        for name in (*hidden, "keep", "markup"):
            del plain[name]
        if self.keep:
            plain["keep"] = _short(self.keep)
        if self.markup:
            plain["markup"] = self.markup
        return plain | ({"map": MAP_VERSION} if self.unknown == "map" else {})


def policy_with(options: TextOptions, caller: Callable[..., Any]) -> Policy:
    """Return the policy with the options that a call was given; refuse unknown ones in its name.

    `caller` is the function or class that takes them beside its own parameters.
    """
    names = {each.name for each in fields(Policy)}
    for name in options.keys() - names:
        known = [*signature(caller).parameters, *sorted(names)]
        raise ParameterError(
            f"{caller.__name__} has no parameter {name!r}.{did_you_mean(name, known)}"
        )
    return Policy(**options)


def _short(keep: Sequence[str]) -> list[str] | dict[str, Any]:
    """Return a list as it is, or if it is long how long, and a digest that tells it from others."""
    if len(keep) <= _MOST_LISTED:
        return list(keep)
    digest = sha256("\n".join(keep).encode("utf-8", "surrogatepass")).hexdigest()
    return {"entries": len(keep), "sha256": digest}


def _require_one_of(parameter: str, value: object, choices: Sequence[str | None]) -> None:
    if value not in choices:
        named = ", ".join(filter(None, choices))
        raise ParameterError(f"The '{parameter}' parameter must be one of {named}. Got {value!r}.")


def _require_epsilon(value: object) -> None:
    if value is None:
        return
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not number or not is_computable(value):  # type: ignore[arg-type]
        raise ParameterError(
            "The `kind_epsilon` parameter must be a number between 1e-30 and 1e+30, the ε of one "
            f"step. Got {value!r}."
        )


def _require_placeholder(value: object) -> None:
    # Without a letter or digit, rebuilding would take it for punctuation.
    if not (isinstance(value, str) and value.isprintable() and any(map(str.isalnum, value))):
        raise ParameterError(
            "The 'placeholder' parameter must be a printable string on one line "
            f"with at least one letter or digit. Got {value!r}."
        )


class Action(IntEnum):
    """What is done with a token."""

    PROTECT = 0
    """The word with the treatment's id goes through the mechanism; or a value is drawn."""
    SHOW = 1
    """Punctuation and whitespace are shown as they are."""
    SHOW_MASK = 2
    """The placeholder is shown."""
    DROP = 3
    """The token is left out, because the user chose to."""
    KEEP = 4
    """The word is shown without any protection, because the user chose to."""
    REMOVE = 5
    """Invisible characters are always left out."""


LEFT_OUT = ""
"""Placeholder for a token that is not shown."""


class Treatment(NamedTuple):
    """How a token is treated: the action, the id of the word to protect (or -1), and the tag.

    The tag says how the token is counted. `shown` is what the private text shows in its place:
    `None` for a word that the mechanism draws, a form for a value. The id of a value is its place
    on the form's grid. `mark` classifies it in a template (see `template.mark`) and is empty if
    the token is left out.
    """

    action: Action
    id: int
    tag: str
    shown: str | Form | None
    mark: str = ""


_NO_WORD = -1
_DROP = Treatment(Action.DROP, _NO_WORD, "dropped", LEFT_OUT)
_REMOVE = Treatment(Action.REMOVE, _NO_WORD, "removed", LEFT_OUT)
_TAGS_OF_SHOWN = {TokenKind.PUNCTUATION: "punctuation", TokenKind.SPACE: "spaces"}

IN_LEXICON = "in_lexicon"
_TAGS_OF_MAPPED = {
    TokenKind.WORD: "mapped",
    TokenKind.NUMBER: "numbers",
    TokenKind.URL: "urls",
    TokenKind.EMAIL: "emails",
    TokenKind.MENTION: "mentions",
    TokenKind.HASHTAG: "hashtags",
    TokenKind.EMOJI: "emoji",
}
TAGS = (
    IN_LEXICON,
    *_TAGS_OF_MAPPED.values(),
    *("dates", "times", "money", "percentages", "ordinals", "identifiers"),
    *("masked", "dropped", "kept", "punctuation", "spaces", "removed"),
)
"""All tags under which tokens are counted."""
PUNCTUATION_TAGS = ("punctuation",)
WORD_TAGS = tuple(
    tag for tag in TAGS if tag not in (*PUNCTUATION_TAGS, "dropped", "spaces", "removed")
)
"""Tags of tokens that appear in a private text as a word: drawn, masked or kept."""
TreatmentCounts = dict[str, int]
"""How many tokens have each of the `TAGS`."""
PUBLIC_TAGS = {origin: f"public_{origin}" for origin in ("markup", PLACEHOLDERS, "words", "spans")}
"""Tags of what was declared public, by what made it public; counted where there is any."""
_WITH_APOSTROPHES = re.compile(r"[A-Za-z]++(?:'[A-Za-z]++)++")
_MEMO_ENTRIES = 2**17
_MEMO_LETTERS = 64
_AT_ONCE = 2**15  # words that are mapped together
_MANY_TOKENS = 64  # from here on, it is worth while to map unknown ones together


class BoundPolicy:
    """A policy bound to a public list of words: decides the treatment of each token.

    >>> policy = BoundPolicy(["patient", "not", "ten"], Policy())
    >>> [each.tag for each in policy.treat_all(["Patient", " ", "can't", ",", "12"])]
    ['in_lexicon', 'spaces', 'mapped', 'punctuation', 'numbers']
    """

    def __init__(self, words: Sequence[str], policy: Policy) -> None:
        self.policy = policy
        self.words = WordMap(words)
        self.typed = policy.kinds == "typed"
        declared = policy.keep or policy.markup
        self.pieces = PublicPieces(policy.keep, policy.markup) if declared else None
        self.cut = grammar.split_values if self.typed else tokenize
        # Recent treatments, and the ones before: words that keep occurring stay remembered.
        self._memo: dict[str, Treatment] = {}
        self._older: dict[str, Treatment] = {}

    def __getstate__(self) -> dict[str, object]:
        # The memo holds words of the user's texts: they must not leave the process.
        return {**self.__dict__, "_memo": {}, "_older": {}}

    def treat_all(self, tokens: Iterable[str]) -> list[Treatment]:
        """Return the treatment of each token."""
        tokens = list(tokens)
        treatments = list(map(self._memo.get, tokens))
        new = treatments.count(None)
        if not new:
            return treatments  # type: ignore[return-value]
        pairs = zip(treatments, tokens, strict=True)
        if new < _MANY_TOKENS:
            return [known or self.treat(token) for known, token in pairs]
        together = self.treat_distinct(set(tokens))
        return [known or together[token] for known, token in pairs]

    def treat(self, token: str) -> Treatment:
        """Return the treatment of a token."""
        treatment = self._memo.get(token)
        if treatment is None:
            treatment = self._older.get(token) or self._decide(token)
            self._remember(token, treatment)
        return treatment

    def treat_distinct(self, tokens: AbstractSet[str]) -> dict[str, Treatment]:
        """Return the treatments of distinct tokens, as `treat` gives them.

        Together, unknown words are mapped in less time than one by one. Each is mapped once, also
        if there are more of them than the memo holds.
        """
        treatments = {
            token: known
            for token in tokens
            if (known := self._memo.get(token) or self._older.get(token)) is not None
        }
        new = tokens - treatments.keys()
        words = list(filter(_is_plain, new))
        for start in range(0, len(words), _AT_ONCE):
            treatments |= self._treat_words(words[start : start + _AT_ONCE])
        for token, treatment in treatments.items():
            if token not in self._memo:
                self._remember(token, treatment)
        for token in new - treatments.keys():
            treatments[token] = self.treat(token)
        return treatments

    def _treat_words(self, words: list[str]) -> dict[str, Treatment]:
        """Return the treatments of plain words, but for unknown ones that are not mapped."""
        treatments, unknown = dict[str, Treatment](), list[str]()
        for word, word_id in zip(words, self.words.lookup_all(words), strict=True):
            if word_id is None:
                unknown.append(word)
            else:
                treatments[word] = Treatment(Action.PROTECT, word_id, IN_LEXICON, None, WORD_MARK)
        if self.policy.unknown == "map":
            tag = _TAGS_OF_MAPPED[TokenKind.WORD]
            for word, word_id in zip(unknown, self.words.map_all(unknown), strict=True):
                treatments[word] = Treatment(Action.PROTECT, word_id, tag, None, WORD_MARK)
        return treatments

    def _remember(self, token: str, treatment: Treatment) -> None:
        if len(token) <= _MEMO_LETTERS:
            if len(self._memo) >= _MEMO_ENTRIES:
                self._older, self._memo = self._memo, {}
            self._memo[token] = treatment

    def _decide(self, token: str) -> Treatment:
        letters = token.isascii() and token.isalpha()  # a word, and no value: most tokens are
        if self.typed and not letters:
            value = grammar.read_value(token, self.policy.dates)
            if value is not None:
                form, secret = value
                return Treatment(Action.PROTECT, secret, form.tag, form, VALUE_MARK)
        treatment = self._unmarked(token, TokenKind.WORD if letters else kind_of(token))
        if treatment.shown == LEFT_OUT:
            return treatment
        return treatment._replace(mark=mark(treatment.shown))

    def _unmarked(self, token: str, kind: TokenKind) -> Treatment:
        if kind in _TAGS_OF_SHOWN:
            return Treatment(Action.SHOW, _NO_WORD, _TAGS_OF_SHOWN[kind], token)
        if kind is TokenKind.INVISIBLE:
            return _REMOVE
        if kind is TokenKind.WORD and (word_id := self.words.lookup(token)) is not None:
            return Treatment(Action.PROTECT, word_id, IN_LEXICON, None)
        if self.policy.unknown == "mask":
            return Treatment(Action.SHOW_MASK, _NO_WORD, "masked", self.policy.placeholder)
        if self.policy.unknown == "drop":
            return _DROP
        if self.policy.unknown == "keep" and kind is TokenKind.WORD and _may_be_kept(token):
            return Treatment(Action.KEEP, _NO_WORD, "kept", token)
        return Treatment(Action.PROTECT, self.words.map(token), _TAGS_OF_MAPPED[kind], None)


def _is_plain(word: str) -> bool:
    """Tell whether a word has letters of ASCII only, and apostrophes only between them."""
    if not word.isascii():
        return False
    return word.isalpha() or _WITH_APOSTROPHES.fullmatch(word) is not None


def _may_be_kept(word: str) -> bool:
    """Tell whether a word is free of digits and invisible characters, which are never shown."""
    return not any(category(character)[0] in "NC" for character in word)

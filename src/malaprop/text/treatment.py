"""Decides what happens to each token of a text. Nothing is shown unless a rule here says so.

| token | default | other choices for `unknown` |
|---|---|---|
| word of the lexicon | protected | protected |
| other word | mapped to a lexicon word, and protected | masked, dropped or kept |
| symbol, hashtag | mapped, and protected | masked or dropped; never kept |
| number, date, time, identifier, web or e-mail address, mention, path; with a digit at its end, a \
word that no public list has | with `kinds="typed"`: drawn as what it is | drawn |
| the same, with `kinds="words"` | mapped, and protected | masked or dropped; never kept |
| punctuation, whitespace | shown | shown |
| invisible characters | removed | removed |
| what `keep` or `markup` declares public | shown | shown |
| what a detector found | drawn anew, or masked if its label is undeclared | drawn |
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property, partial
from typing import NamedTuple
from unicodedata import category

from malaprop.text import entities
from malaprop.text.kinds import KINDS, Form, Read, grammar
from malaprop.text.kinds.identifiers import is_word, read_name
from malaprop.text.people import START, TAGS_OF_PEOPLE, People, Person
from malaprop.text.policy import Policy
from malaprop.text.public import PLACEHOLDERS, PublicPieces
from malaprop.text.template import VALUE_MARK, WORD_MARK, mark
from malaprop.text.tokens import TokenKind, kind_of, tokenize
from malaprop.text.word_map import WordMap, fold

LEFT_OUT = ""
"""Placeholder for a token that is not shown."""


class Treatment(NamedTuple):
    """How a token is treated.

    `id` is that of the word to protect, or a value's place on its form's grid; -1 if nothing is
    drawn. `tag` says how the token is counted. `shown` is what the private text shows in its place:
    `None` for a word that the mechanism draws, a form for a value. `mark` classifies it in a
    template (see `template.mark`) and is empty if the token is left out.
    """

    id: int
    tag: str
    shown: str | Form | None
    mark: str = ""


_NO_WORD = -1
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
# In the order in which reports list them; then those of kinds that were added.
_TAGS_OF_VALUES = ("dates", "times", "money", "percentages", "ordinals", "identifiers")
DRAWN_TAGS = tuple(
    dict.fromkeys(
        (
            *(IN_LEXICON, *_TAGS_OF_MAPPED.values(), *_TAGS_OF_VALUES),
            *(tag for kind in KINDS.values() for tag in kind.tags),
            *TAGS_OF_PEOPLE,
            entities.TAG,
        )
    )
)
"""Tags of tokens that a draw replaces."""
SIGN_TAG = "punctuation"
TAGS = (*DRAWN_TAGS, "masked", "dropped", "kept", SIGN_TAG, "spaces", "removed")
"""The tags under which the tokens of all texts are counted."""
PUBLIC_TAGS = {origin: f"public_{origin}" for origin in ("markup", PLACEHOLDERS, "words", "spans")}
"""Tags of what was declared public, by what made it public; counted where there is any."""
ALL_TAGS = (*TAGS, *PUBLIC_TAGS.values())
WORD_TAGS = (*DRAWN_TAGS, "masked", "kept", PUBLIC_TAGS[PLACEHOLDERS], PUBLIC_TAGS["words"])
"""Tags of tokens that a private text shows as a word: drawn, masked or kept."""
_NAME = re.compile(r"[^\W\d_].*\d", re.DOTALL)
_WITH_APOSTROPHES = re.compile(r"[A-Za-z]++(?:'[A-Za-z]++)++")
_MEMO_ENTRIES = 2**17
_MEMO_LETTERS = 64
_AT_ONCE = 2**15  # words that are mapped together


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
        cut = partial(grammar.cut_values, decimals=policy.decimals)
        self.cut = cut if self.typed else tokenize
        self.people = People(policy.redraw, self.words.lookup) if policy.redraw else None
        # Recent treatments, and the ones before: words that keep occurring stay remembered.
        self._memo: dict[str, Treatment] = {}
        self._older: dict[str, Treatment] = {}

    def __getstate__(self) -> dict[str, object]:
        # The memo holds words of the user's texts: they must not leave the process.
        return {**self.__dict__, "_memo": {}, "_older": {}}

    def treat_text(self, text: str, gap: str = START) -> tuple[list[Treatment], str]:
        """Return the treatments of the tokens of a text, and the signs behind its last word.

        `gap` has those before it. They count for names and places that are redrawn.
        """
        tokens = self.cut(text)
        if self.people is None:
            return self.treat_all(tokens), gap
        found, gap = self.people.find(tokens, gap)
        others = iter(self.treat_all([each for each in found if isinstance(each, str)]))
        return [
            Treatment(each.secret, each.form.tag, each.form, VALUE_MARK)
            if isinstance(each, Person)
            else next(others)
            for each in found
        ], gap

    def treat_pieces(self, text: str, gap: str) -> tuple[list[tuple[str, Treatment]], str]:
        """Return what `treat_text` does, each treatment behind the piece of text that it is for."""
        treatments, after = self.treat_text(text, gap)
        pieces = self.split(text)
        if self.people is not None:
            pieces = self.people.joined(pieces, self.cut(text), gap)
        return list(zip(pieces, treatments, strict=True)), after

    def split(self, text: str) -> list[str]:
        """Return the tokens of a text exactly as they stand there."""
        decimals = self.policy.decimals
        return grammar.split_values(text, decimals) if self.typed else tokenize(text)

    def treat_entity(
        self, entity: entities.FoundEntity, first: frozenset[int]
    ) -> Iterator[Treatment]:
        """Yield the treatments of what stands for an entity; `first` is as for `slots_of`."""
        if entity.kind is None:
            shown = entities.UNDECLARED + "'s" * entity.possessive
            yield Treatment(_NO_WORD, "masked", shown, mark(shown))
            return
        for number, (form, key) in enumerate(entities.slots_of(entity, first)):
            if number:
                yield Treatment(_NO_WORD, "spaces", " ", mark(" "))
            yield Treatment(key, entities.TAG, form, VALUE_MARK)

    def treat_all(self, tokens: Iterable[str]) -> list[Treatment]:
        tokens = list(tokens)
        treatments = list(map(self._memo.get, tokens))
        if None in treatments:
            together = self.treat_distinct(set(tokens))
            return [together[token] for token in tokens]
        return treatments  # type: ignore[return-value]

    def treat_distinct(self, tokens: AbstractSet[str]) -> dict[str, Treatment]:
        """Return the treatments of distinct tokens.

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
        treatments |= {token: self._decide(token) for token in new - treatments.keys()}
        for token, treatment in treatments.items():
            if token not in self._memo and len(token) <= _MEMO_LETTERS:
                if len(self._memo) >= _MEMO_ENTRIES:
                    self._older, self._memo = self._memo, {}
                self._memo[token] = treatment
        return treatments

    def _treat_words(self, words: list[str]) -> dict[str, Treatment]:
        """Return the treatments of plain words, but for unknown ones that are not mapped."""
        treatments, unknown = dict[str, Treatment](), list[str]()
        for word, word_id in zip(words, self.words.lookup_all(words), strict=True):
            if word_id is None:
                unknown.append(word)
            else:
                treatments[word] = Treatment(word_id, IN_LEXICON, None, WORD_MARK)
        if self.policy.unknown == "map":
            tag = _TAGS_OF_MAPPED[TokenKind.WORD]
            for word, word_id in zip(unknown, self.words.map_all(unknown), strict=True):
                treatments[word] = Treatment(word_id, tag, None, WORD_MARK)
        return treatments

    def read_value(self, token: str) -> Read | None:
        """Read a token as `cut` gives it; None if it is not a value."""
        if not self.typed:
            return None
        value = grammar.read_value(token, self.policy.dates, self.policy.decimals)
        if value is None and _NAME.match(token) and kind_of(token) is TokenKind.WORD:
            name = fold(token)
            if self.words.lookup(token) is None and not is_word(name, ()):
                return read_name(token, self._names)
        return value

    @cached_property
    def _names(self) -> frozenset[str]:
        """The words of the lexicon that look like names with a number."""
        return frozenset(filter(_NAME.match, self.words.spellings()))

    def _decide(self, token: str) -> Treatment:
        letters = token.isascii() and token.isalpha()  # a word, and no value: most tokens are
        if not letters and (value := self.read_value(token)) is not None:
            form, secret = value
            return Treatment(secret, form.tag, form, VALUE_MARK)
        treatment = self._unmarked(token, TokenKind.WORD if letters else kind_of(token))
        if treatment.shown == LEFT_OUT:
            return treatment
        return treatment._replace(mark=mark(treatment.shown))

    def _unmarked(self, token: str, kind: TokenKind) -> Treatment:
        if kind in _TAGS_OF_SHOWN:
            return Treatment(_NO_WORD, _TAGS_OF_SHOWN[kind], token)
        if kind is TokenKind.INVISIBLE:  # always left out
            return Treatment(_NO_WORD, "removed", LEFT_OUT)
        if kind is TokenKind.WORD and (word_id := self.words.lookup(token)) is not None:
            return Treatment(word_id, IN_LEXICON, None)
        if self.policy.unknown == "mask":
            return Treatment(_NO_WORD, "masked", self.policy.placeholder)
        if self.policy.unknown == "drop":
            return Treatment(_NO_WORD, "dropped", LEFT_OUT)
        if self.policy.unknown == "keep" and kind is TokenKind.WORD and _may_be_kept(token):
            return Treatment(_NO_WORD, "kept", token)
        return Treatment(self.words.map(token), _TAGS_OF_MAPPED[kind], None)


def _is_plain(word: str) -> bool:
    """Tell whether a word has letters of ASCII only, and apostrophes only between them."""
    return word.isascii() and (word.isalpha() or _WITH_APOSTROPHES.fullmatch(word) is not None)


def _may_be_kept(word: str) -> bool:
    """Tell whether a word is free of digits and invisible characters, which are never shown."""
    return not any(category(character)[0] in "NC" for character in word)

"""The public map from any token to a word of the lexicon.

The mechanism protects words of the lexicon. Every other token is therefore turned into one first,
by fixed rules that see only the token and the lexicon:

1. *Folding* (`fold`): capitals, full-width letters, ligatures and curly apostrophes go. If the
   lexicon has the result, that is the word.
2. *Reading* (`readings`): a web address is read as "website", an e-mail address as "email", a
   mention as "user", a number as a number word, a hashtag as its body, a symbol as the words of
   its Unicode name, anything else as itself.
3. *Steps* (`STEPS`): each reading is tried as it is, then without diacritics, contraction or
   possessive, inflection, digits or punctuation. The first spelling in the lexicon wins.
4. *Nearest spelling*: the word with the fewest edits (Levenshtein) from the first 32 letters.

Ties go to the word with the lowest id.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from unicodedata import category, name

from malaprop.core.errors import ParameterError
from malaprop.text.mapping.folding import LIMIT, bare, fold
from malaprop.text.mapping.inflection import base_forms
from malaprop.text.mapping.numbers import number_words
from malaprop.text.mapping.spelling import NearestSpelling
from malaprop.text.tokens import TokenKind, kind_of

NEAREST_LETTERS = 32
"""Letters that the nearest spelling looks at; a limit bounds its time."""

_STAND_INS = {TokenKind.URL: "website", TokenKind.EMAIL: "email", TokenKind.MENTION: "user"}
# Words of Unicode names that do not tell what a symbol shows.
_DULL_NAMES = frozenset(
    {
        *("black", "capital", "face", "heavy", "large", "latin", "letter", "mark", "medium"),
        *("sign", "small", "symbol", "white"),
        *("a", "and", "for", "in", "of", "on", "or", "the", "with"),
    }
)
_CLITIC = re.compile(r"(.+)'(?:s|re|ve|ll|d|m)?")
_NO_LETTERS = re.compile(r"[\W\d_]+")


def readings(token: str) -> tuple[str, ...]:
    """Return the words that a token is read as, the best first.

    >>> readings("www.example.org"), readings("1999"), readings("#Flu"), readings("Flu")
    (('website',), ('thousand',), ('flu',), ('flu',))
    >>> readings("😀")
    ('grinning', 'face', 'symbol')
    """
    # Before folding, which would turn "™" into two letters.
    if kind_of(symbols := token.casefold()[:LIMIT]) is TokenKind.EMOJI:
        return _names(symbols)
    text = fold(token)
    kind = kind_of(text)
    if kind in _STAND_INS:
        return (_STAND_INS[kind],)
    if kind is TokenKind.HASHTAG:
        return readings(text[1:])
    if any(map(str.isalnum, text)):
        return number_words(bare(text)) or (text,)
    return _names(text)


def _names(symbols: str) -> tuple[str, ...]:
    """Return the words of the first symbol's Unicode name, dull ones last; then "symbol"."""
    full_name = next(filter(None, (name(symbol, "") for symbol in symbols)), "")
    if full_name.startswith("REGIONAL INDICATOR"):
        return ("flag", "symbol")
    words = filter(None, re.split("[^a-z]+", full_name.lower()))
    return (*sorted(words, key=_DULL_NAMES.__contains__), "symbol")


def without_diacritics(word: str) -> Iterable[str]:
    """Drop accents: "naïve" is tried as "naive"."""
    return (bare(word),)


def without_clitic(word: str) -> Iterable[str]:
    """Drop n't, 's and the like: "don't" is tried as "not", "doctor's" as "doctor"."""
    word = bare(word)
    if word.endswith("n't"):
        return ("not",)
    match = _CLITIC.fullmatch(word)
    return (match[1], *base_forms(match[1])) if match else ()


def without_inflection(word: str) -> Iterable[str]:
    """Undo inflection: "cities" is tried as "city", "running" as "run"."""
    return base_forms(bare(word))


def letters_alone(word: str) -> Iterator[str]:
    """Drop digits and punctuation: "covid19" is tried as "covid", "o'clock" as "clock"."""
    runs = _NO_LETTERS.split(bare(word))
    long_runs = (run for run in runs if len(run) >= 3)
    for spelling in ("".join(runs), *sorted(long_runs, key=len, reverse=True)):
        yield spelling
        yield from base_forms(spelling)


STEPS: tuple[Callable[[str], Iterable[str]], ...] = (
    without_diacritics,
    without_clitic,
    without_inflection,
    letters_alone,
)
"""Steps tried on a reading, in this order. Each gives spellings, the best first."""


class WordMap:
    """Maps any token to the id of a word.

    >>> words = WordMap(["the", "doctor", "not", "run", "Café", "twenty", "symbol"])
    >>> [words.map(token) for token in ("Doctor's", "DON'T", "running", "cafe", "23", "dcotor")]
    [1, 2, 3, 4, 5, 1]
    >>> words.lookup("CAFÉ"), words.lookup("cafe")
    (4, None)
    """

    def __init__(self, words: Sequence[str]) -> None:
        if len(words) == 0:
            raise ParameterError("The 'words' parameter of WordMap must hold a word. Got none.")
        self._ids: dict[str, int] = {}
        self._bare_ids: dict[str, int] = {}
        for word_id, word in enumerate(words):
            self._ids.setdefault(fold(word), word_id)
        for folded, word_id in self._ids.items():
            if not folded.isascii():
                self._bare_ids.setdefault(bare(folded), word_id)
        self._spellings = list(self._ids)

    def lookup(self, token: str) -> int | None:
        """Return the id of the word that equals the token after folding, if there is one."""
        return self._ids.get(fold(token))

    def map(self, token: str) -> int:
        """Return the id of the word that stands for the token; there always is one."""
        if (word_id := self.lookup(token)) is not None:
            return word_id
        words = readings(token)
        for spelling in chain.from_iterable(map(_spellings, words)):
            if (word_id := self._find(spelling)) is not None:
                return word_id
        return self._nearest(words[-1])

    def _find(self, spelling: str) -> int | None:
        word_id = self._ids.get(spelling)
        return self._bare_ids.get(spelling) if word_id is None else word_id

    def _nearest(self, word: str) -> int:
        letters = "".join(c for c in word if category(c)[0] in "LM") or word
        place = self._by_spelling.nearest(letters[:NEAREST_LETTERS])
        return self._ids[self._spellings[place]]

    @cached_property
    def _by_spelling(self) -> NearestSpelling:
        return NearestSpelling(self._spellings)


def _spellings(reading: str) -> Iterator[str]:
    yield reading
    for step in STEPS:
        yield from step(reading)

"""The public function from any piece of text to a word of the lexicon.

What the mechanism protects are words of the lexicon, so every other piece is first turned into
one, by fixed rules that know nothing but the piece and the lexicon:

1. *Folding* (`fold`): capitals, full-width letters, ligatures and curly apostrophes go. If the
   lexicon has the result, this is the word.
2. *Reading* (`readings`): a web address is read as "website", an e-mail address as "email", a
   mention as "user", a number as a number word, a hashtag as its body, a symbol as the words of
   its Unicode name; anything else as itself.
3. *Steps* (`STEPS`): each reading is tried as it is, then without diacritics, contraction or
   possessive, inflection, digits and punctuation. The first spelling in the lexicon wins.
4. *Nearest spelling*: the word with the fewest edits (Levenshtein), on 32 letters at the most.

Ties go to the word with the lowest id.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from unicodedata import category, name

from malaprop.core.errors import ParameterError
from malaprop.text.folding import LIMIT, bare, fold
from malaprop.text.inflection import base_forms
from malaprop.text.numbers import number_words
from malaprop.text.pieces import Kind, kind
from malaprop.text.spelling import NearestSpelling

NEAREST_LETTERS = 32
"""The nearest spelling looks at so many letters, so that its time is bounded."""

_STAND_INS = {Kind.URL: "website", Kind.EMAIL: "email", Kind.MENTION: "user"}
# Words of Unicode names that say nothing about what a symbol shows.
_DULL_NAMES = frozenset(
    {
        *("black", "capital", "face", "heavy", "large", "latin", "letter", "mark", "medium"),
        *("sign", "small", "symbol", "white"),
        *("a", "and", "for", "in", "of", "on", "or", "the", "with"),
    }
)
_CLITIC = re.compile(r"(.+)'(?:s|re|ve|ll|d|m)?")
_NO_LETTERS = re.compile(r"[\W\d_]+")


def readings(piece: str) -> tuple[str, ...]:
    """The words that a piece is read as, the best first.

    >>> readings("www.example.org"), readings("1999"), readings("#Flu"), readings("Flu")
    (('website',), ('thousand',), ('flu',), ('flu',))
    >>> readings("😀")
    ('grinning', 'face', 'symbol')
    """
    # Before folding, which would make two letters of "™".
    if kind(symbols := piece.casefold()[:LIMIT]) is Kind.EMOJI:
        return _names(symbols)
    text = fold(piece)
    what = kind(text)
    if what in _STAND_INS:
        return (_STAND_INS[what],)
    if what is Kind.HASHTAG:
        return readings(text[1:])
    if any(sign.isalnum() for sign in text):
        return number_words(bare(text)) or (text,)
    return _names(text)


def _names(symbols: str) -> tuple[str, ...]:
    """The words of the first symbol's Unicode name, dull ones last; then "symbol"."""
    full_name = next(filter(None, (name(symbol, "") for symbol in symbols)), "")
    if full_name.startswith("REGIONAL INDICATOR"):
        return ("flag", "symbol")
    words = filter(None, re.split("[^a-z]+", full_name.lower()))
    return (*sorted(words, key=_DULL_NAMES.__contains__), "symbol")


def without_diacritics(word: str) -> Iterable[str]:
    """Without accents: "naïve" is tried as "naive"."""
    return (bare(word),)


def without_clitic(word: str) -> Iterable[str]:
    """Without n't, 's and their like: "don't" is tried as "not", "doctor's" as "doctor"."""
    word = bare(word)
    if word.endswith("n't"):
        return ("not",)
    match = _CLITIC.fullmatch(word)
    return (match[1], *base_forms(match[1])) if match else ()


def without_inflection(word: str) -> Iterable[str]:
    """The base form: "cities" is tried as "city", "running" as "run"."""
    return base_forms(bare(word))


def letters_alone(word: str) -> Iterator[str]:
    """Without digits and signs: "covid19" is tried as "covid", "o'clock" as "clock"."""
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
"""What is tried on a reading, in this order. Each step gives spellings, the best first."""


class WordMap:
    """The map from any piece of text to the id of a word.

    >>> words = WordMap(["the", "doctor", "not", "run", "Café", "twenty", "symbol"])
    >>> [words.map(piece) for piece in ("Doctor's", "DON'T", "running", "cafe", "23", "dcotor")]
    [1, 2, 3, 4, 5, 1]
    >>> words.lookup("CAFÉ"), words.lookup("cafe")
    (4, None)
    """

    def __init__(self, words: Sequence[str]) -> None:
        if len(words) == 0:
            raise ParameterError("The 'words' parameter of WordMap must hold a word. Got none.")
        self._ids: dict[str, int] = {}
        self._bare_ids: dict[str, int] = {}
        for number, word in enumerate(words):
            self._ids.setdefault(fold(word), number)
        for folded, number in self._ids.items():
            if not folded.isascii():
                self._bare_ids.setdefault(bare(folded), number)
        self._spellings = list(self._ids)

    def lookup(self, piece: str) -> int | None:
        """The id of the word that differs from the piece in capitals at the most."""
        return self._ids.get(fold(piece))

    def map(self, piece: str) -> int:
        """The id of the word that stands for the piece; there is always one."""
        if (found := self.lookup(piece)) is not None:
            return found
        words = readings(piece)
        for spelling in chain.from_iterable(map(_spellings, words)):
            if (found := self._find(spelling)) is not None:
                return found
        return self._nearest(words[-1])

    def _find(self, spelling: str) -> int | None:
        found = self._ids.get(spelling)
        return self._bare_ids.get(spelling) if found is None else found

    def _nearest(self, word: str) -> int:
        letters = "".join(sign for sign in word if category(sign)[0] in "LM") or word
        place = self._by_spelling.nearest(letters[:NEAREST_LETTERS])
        return self._ids[self._spellings[place]]

    @cached_property
    def _by_spelling(self) -> NearestSpelling:
        return NearestSpelling(self._spellings)


def _spellings(reading: str) -> Iterator[str]:
    yield reading
    for step in STEPS:
        yield from step(reading)

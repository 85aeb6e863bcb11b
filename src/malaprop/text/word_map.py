"""The public map from any token to a word of the lexicon.

The mechanism protects words of the lexicon. Every other token is therefore turned into one first,
by fixed rules that see only the token and the lexicon:

1. *Folding* (`fold`): capitals, full-width letters, ligatures and curly apostrophes go. If the
   lexicon has the result, that is the word.
2. *Reading* (`readings`): a web address is read as "website", an e-mail address as "email", a
   mention as "user", a number as a number word, a hashtag as its body, a symbol as the words of
   its Unicode name, anything else as itself.
3. *Forms*: a contraction counts as the part that the lexicon has of it, such as "don" of "don't"
   (`english.READ_AS`). Else each reading is tried as it is, then without diacritics, contraction or
   possessive, inflection, digits or punctuation. The first spelling that is in the lexicon wins,
   or that the large vocabulary has (`vocabulary`): it counts as the word nearest in
   meaning, or as the word that it is a form of.
4. *Repair*: letters that are drawn out ("soooo") are shortened. Then the token is read
   as a misspelling, one edit from a word of the vocabulary, or as a compound ("worldnews"), which
   counts as its last part; by the frequencies of words, as the likelier of the two.
5. *Nearest spelling*: the word with the fewest edits (Levenshtein) from the first 32 letters.

Ties go to the word with the lowest id. `MAP_VERSION` changes whenever the map does.
"""

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from unicodedata import category, name, normalize

import numpy as np
from numpy.typing import NDArray

from malaprop.privacy.errors import ParameterError
from malaprop.text import english, vocabulary
from malaprop.text.tokens import TokenKind, kind_of
from malaprop.text.vocabulary import SHORTEST_REPAIRED, Meaning, Route, Way

# Normalize spellings: without capitals, and without accents.

LIMIT = 256
"""Characters of a token that count. Normalizing long runs of marks takes quadratic time."""

_APOSTROPHES_AND_JOINERS = {
    **dict.fromkeys(map(ord, "’ʼ＇"), "'"),
    **dict.fromkeys(map(ord, "\xad\u200c\u200d\u2060"), None),
}

# Letters that Unicode does not decompose, as people write them without the accent.
_PLAIN_LETTERS = str.maketrans(
    {
        "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th",
        "ħ": "h", "ı": "i", "ŋ": "n", "ŧ": "t", "ß": "ss", "ƒ": "f", "ə": "e",
    }
)  # fmt: skip


def fold(text: str) -> str:
    """Return a text without capitals, compatibility forms and joiners, with plain apostrophes.

    Case folding comes first, so that nothing after it can depend on capitals.

    >>> fold("DON’T"), fold("ﬁle"), fold("ａｓｐｉｒｉｎ")
    ("don't", 'file', 'aspirin')
    """
    if text.isascii():
        return text[:LIMIT].lower()
    text = normalize("NFKC", text.casefold()[:LIMIT]).casefold()
    return normalize("NFKC", text).translate(_APOSTROPHES_AND_JOINERS)


def bare(text: str) -> str:
    """Return a folded text without diacritics.

    >>> bare("naïve"), bare("øre"), bare("łódź")
    ('naive', 'ore', 'lodz')
    """
    if text.isascii():
        return text
    letters = normalize("NFKD", text.translate(_PLAIN_LETTERS))
    return "".join(letter for letter in letters if category(letter)[0] != "M")


# Find the nearest spelling by Levenshtein distance without comparing every word.
#
# An edit inserts, deletes or replaces one letter. So the distance of x and y is at least the length
# of the longer one minus the number of letters that they share, counted with multiplicity. That
# bound costs one addition of bytes for each letter of x, and it rules out most words.

_CLASSES = 32  # of letters: a to z get one each, other letters share them
_TIMES = 4  # occurrences of a letter in a word beyond this do not count
_AT_ONCE = 64  # words that are compared at once
_LONGEST = 255  # longer words count as this long: bounds are bytes


class NearestSpelling:
    """Finds the spelling with the fewest edits from a given one; of several, the first.

    >>> NearestSpelling(["cold", "hot", "doctor"]).nearest("dcotor")
    2
    """

    def __init__(self, spellings: Sequence[str]) -> None:
        self._spellings = spellings
        lengths = np.array([len(spelling) for spelling in spellings])
        self._longest = int(lengths.max())
        self._lengths = np.minimum(lengths, _LONGEST).astype(np.uint8)
        # 1 where a word has a class of letter at least n times: (classes, times, words).
        letters = "".join(spellings).encode("utf-32-le", "surrogatepass")
        words = np.repeat(np.arange(len(spellings)), lengths)
        cells = np.frombuffer(letters, dtype="<u4") % _CLASSES * np.int64(len(spellings)) + words
        counts = np.bincount(cells, minlength=_CLASSES * len(spellings)).reshape(_CLASSES, 1, -1)
        self._has = (counts >= np.arange(1, _TIMES + 1)[:, None]).view(np.uint8)

    def nearest(self, spelling: str) -> int:
        """Return the position of the spelling nearest to one of up to 255 letters."""
        # Imported for the few words that have no other way.
        from rapidfuzz.distance.Levenshtein import distance
        from rapidfuzz.process import extractOne

        bounds = self._bounds(spelling)
        place, edits = -1, len(spelling) + self._longest + 1  # more than any word needs
        bound = int(bounds.min())
        while bound <= edits:  # else no remaining word can be as near
            places = (bounds == bound).nonzero()[0]
            if bound == edits:  # then only a word before this one can be better
                places = places[: places.searchsorted(place)]
            for start in range(0, len(places), _AT_ONCE):
                few = places[start : start + _AT_ONCE].tolist()
                choices = list(map(self._spellings.__getitem__, few))
                best = extractOne(spelling, choices, scorer=distance, score_cutoff=edits)
                if best is not None and (best[1] < edits or few[best[2]] < place):
                    place, edits = few[best[2]], int(best[1])
                    if edits == bound:  # those that follow are no better
                        break
            bound += 1
        return place

    def _bounds(self, spelling: str) -> NDArray[np.uint8]:
        """Return a lower bound of the number of edits to each word."""
        counts = Counter(ord(letter) % _CLASSES for letter in spelling)
        more = sum(max(count - _TIMES, 0) for count in counts.values())
        bounds: NDArray[np.uint8] = np.maximum(
            self._lengths, np.full_like(self._lengths, len(spelling))
        )
        for letter, count in counts.items():
            for has in self._has[letter, :count]:
                bounds -= has
        if more:
            bounds -= np.uint8(more)  # as if every word had these, too
        return bounds


MAP_VERSION = f"3, vocabulary {vocabulary.SHA256[:12]}"
"""Names the map: its rules, and the digest of its vocabulary."""
_NEAREST_LETTERS = 32  # that repairs and the nearest spelling look at: a limit bounds their time

_NO_LETTERS = re.compile(r"[\W\d_]+")
_DRAWN_OUT = re.compile(r"(.)\1{2,}")


def readings(token: str) -> tuple[str, ...]:
    """Return the words that a token is read as, the best first.

    >>> readings("www.example.org"), readings("1999"), readings("#Flu"), readings("Flu")
    (('website',), ('thousand',), ('flu',), ('flu',))
    >>> readings("😀")
    ('grinning', 'face', 'symbol')
    """
    text = fold(token)
    if token.isascii():
        body = text.removeprefix("#")
        if body.isalnum():  # a word or a hashtag: it has no sign of any other kind
            return (body,) if body.isalpha() else english.number_words(body) or (body,)
    # Folding would turn "™" into two letters.
    elif kind_of(symbols := token.casefold()[:LIMIT]) is TokenKind.EMOJI:
        return _names(symbols)
    kind = kind_of(text)
    if kind in english.STAND_INS:
        return (english.STAND_INS[kind],)
    if kind is TokenKind.HASHTAG:
        return readings(text[1:])
    if any(map(str.isalnum, text)):
        return english.number_words(bare(text)) or (text,)
    return _names(text)


def _names(symbols: str) -> tuple[str, ...]:
    """Return the words of the first symbol's Unicode name, dull ones last; then "symbol"."""
    stand_in = english.STAND_INS["symbol"]
    full_name = next(filter(None, (name(symbol, "") for symbol in symbols)), "")
    if full_name.startswith("REGIONAL INDICATOR"):
        return (english.STAND_INS["flag"], stand_in)
    words = filter(None, re.split("[^a-z]+", full_name.lower()))
    return (*sorted(words, key=english.DULL_NAMES.__contains__), stand_in)


class WordMap:
    """Maps any token to the id of a word.

    >>> words = WordMap(["the", "doctor", "not", "run", "Café", "twenty", "symbol", "warfarin"])
    >>> [words.map(token) for token in ("Doctor's", "DON'T", "running", "cafe", "23", "dcotor")]
    [1, 2, 3, 4, 5, 1]
    >>> words.lookup("CAFÉ"), words.lookup("cafe")
    (4, None)
    >>> words.map("metformin"), words.route("metforminn").way
    (7, <Way.CORRECTED: 'corrected'>)

    Without `meaning` the large vocabulary is left out: tokens are then mapped by spelling alone.
    """

    def __init__(self, words: Sequence[str], *, meaning: bool = True) -> None:
        if len(words) == 0:
            raise ParameterError("The 'words' parameter of WordMap must hold a word. Got none.")
        self._ids = _folded_ids(words)
        self._bare_ids: dict[str, int] = {}
        for folded in itertools.filterfalse(str.isascii, self._ids):
            self._bare_ids.setdefault(bare(folded), self._ids[folded])
        self._spellings = list(self._ids)
        self._uses_meaning = meaning

    def __getstate__(self) -> dict[str, object]:
        # What can be made again need not travel.
        made = ("_meaning", "_by_spelling")
        return {name: value for name, value in self.__dict__.items() if name not in made}

    def spellings(self) -> Iterable[str]:
        """Return all folded words."""
        return self._spellings

    def lookup(self, token: str) -> int | None:
        """Return the id of the word that equals the token after folding, if there is one."""
        return self._ids.get(fold(token))

    def lookup_all(self, tokens: Sequence[str]) -> list[int | None]:
        """Return what `lookup` does for each token; for many plain words it is faster."""
        joined = "\n".join(tokens)
        folded = joined.lower().split("\n")
        plain = joined.isascii() and len(folded) == len(tokens) and max(map(len, folded)) <= LIMIT
        return list(map(self._ids.get, folded if plain else map(fold, tokens)))

    def map(self, token: str) -> int:
        """Return the id of the word that stands for the token; there always is one."""
        return self.route(token).id

    def route(self, token: str) -> Route:
        """Return the word that stands for the token, and how the map found it."""
        word_id = self.lookup(token)
        return self._routes([token])[0] if word_id is None else Route(word_id, Way.LISTED, "")

    def map_all(self, tokens: Sequence[str]) -> list[int]:
        """Return what `map` does for each of some tokens; for many unknown ones it is faster."""
        ids = self.lookup_all(tokens)
        unknown = [token for token, word_id in zip(tokens, ids, strict=True) if word_id is None]
        searched = iter(self._routes(unknown))
        return [next(searched).id if word_id is None else word_id for word_id in ids]

    def _routes(self, tokens: Iterable[str]) -> list[Route]:
        read = list(map(self._read, tokens))
        damaged = {route: _repairable(route) for route in read if isinstance(route, str)}
        repairs: dict[str, Route | None] = {}
        # The vocabulary is opened at need: it takes some milliseconds.
        if damaged and self._meaning is not None:
            repairs = self._meaning.repair(set(filter(None, damaged.values())))
        routes = {
            route: repairs.get(letters) or self._nearest(route)
            for route, letters in damaged.items()
        }
        return [routes[route] if isinstance(route, str) else route for route in read]

    def _read(self, token: str) -> Route | str:
        """Return the word that a token is a form of; if there is none, the letters to repair."""
        words = readings(token)
        for reading in words:
            if (route := self._as_form(reading)) is not None:
                return route
        word = words[-1]
        if not word.isalpha():
            word = "".join(c for c in word if category(c)[0] in "LM") or word
        letters = word[:_NEAREST_LETTERS]
        if _DRAWN_OUT.search(letters):
            for shortest in (r"\1\1", r"\1"):  # "soooo" is tried as "soo", then as "so"
                spelling = _DRAWN_OUT.sub(shortest, letters)
                if (word_id := self._find(spelling)) is not None:
                    return Route(word_id, Way.FORM, spelling)
        return letters

    def _as_form(self, reading: str) -> Route | None:
        """Try a reading and its forms: in the lexicon, then in the vocabulary."""
        part = english.READ_AS.get(reading)
        if part is not None and (word_id := self._find(part)) is not None:
            return Route(word_id, Way.FORM, part)
        meaning = self._meaning
        for near in (False, True) if meaning is not None and meaning.steps else (False,):
            for spelling in itertools.chain((reading,), _forms(reading)):
                if (word_id := self._find(spelling)) is not None:
                    return Route(word_id, Way.FORM, spelling)
                if meaning and (word_id := meaning.find(spelling, near=near)) is not None:
                    return Route(word_id, Way.MEANING, spelling)
        return None

    def _find(self, spelling: str) -> int | None:
        word_id = self._ids.get(spelling)
        return self._bare_ids.get(spelling) if word_id is None else word_id

    def _nearest(self, letters: str) -> Route:
        place = self._by_spelling.nearest(letters)
        return Route(self._ids[self._spellings[place]], Way.SPELLING, "")

    @cached_property
    def _by_spelling(self) -> NearestSpelling:
        return NearestSpelling(self._spellings)

    @cached_property
    def _meaning(self) -> Meaning | None:
        if not self._uses_meaning:
            return None
        meaning = Meaning(vocabulary.shipped(), self._ids)
        return meaning if meaning.serves else None


def _folded_ids(words: Sequence[str]) -> dict[str, int]:
    """Return the ids of folded words; of several that fold to the same, the lowest."""
    ids = dict(zip(words, range(len(words)), strict=True))
    joined = "".join(ids)
    folded = joined.isascii() and joined == joined.lower() and max(map(len, ids)) <= LIMIT
    if folded and len(ids) == len(words):  # as in most lexicons
        return ids
    ids = {}
    for word_id, word in enumerate(words):
        ids.setdefault(fold(word), word_id)
    return ids


def _forms(reading: str) -> Iterable[str]:
    """Return the spellings that a reading is tried as, the best first.

    Without accents ("naïve" is tried as "naive"), contraction or possessive, inflection, and digits
    or punctuation.
    """
    if reading.isascii() and reading.isalpha():  # there is nothing else to drop
        return english.base_forms(reading)
    word = bare(reading)
    return itertools.chain(
        () if reading.isascii() else (word,),
        english.without_clitic(word),
        english.base_forms(word),
        _letters_alone(word),
    )


def _letters_alone(word: str) -> Iterator[str]:
    """Drop digits and punctuation: "covid19" is tried as "covid", "o'clock" as "clock"."""
    runs = _NO_LETTERS.split(word)
    if len(runs) == 1:
        return  # there is nothing to drop, and what comes before has tried the rest
    long_runs = (run for run in runs if len(run) >= 3)
    for spelling in ("".join(runs), *sorted(long_runs, key=len, reverse=True)):
        yield spelling
        yield from english.base_forms(spelling)


def _repairable(letters: str) -> str:
    """Return the letters that are repaired, if there are enough of them.

    Of marks alone nothing is left: those of a numeral that is no digit, such as 𐄇.
    """
    return bare(letters)[:_NEAREST_LETTERS] if len(letters) >= SHORTEST_REPAIRED else ""

"""Names and places in texts, which are redrawn from public lists without a look at them.

What class a token is of depends on its own spelling and capitals, on the signs between it and the
word before, and on closed lists: titles and initials joined to a name, places of several words.
It never depends on other words. A listed spelling is, by its level,

- `ANYWHERE` of its class wherever it has a capital, also in capitals only, from four letters on;
- `INSIDE` of its class inside a sentence alone: with a capital, and joined to the word before by
  what is in `_JOINS`. These are also common words, such as “Will”, “Rose” or “Brown”;
- `BEHIND_TITLE` a name right behind a title alone, as any word with a capital is that is listed as
  a name, or not listed at all, and is no function word.

A spelling that no public list has, neither of names nor of words, is a surname inside a sentence,
and behind initials: with one capital, and four letters or more.

What is drawn is on `ANYWHERE`'s list, so that it is of its class wherever it stands. The lists are
made by tools/build_people.py.
"""

import gzip
import hashlib
import itertools
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from malaprop.data import DATA
from malaprop.privacy.arrays import Ids
from malaprop.privacy.errors import LexiconError
from malaprop.text import english, vocabulary
from malaprop.text.kinds import Form, StandIn
from malaprop.text.kinds.identifiers import secret_of
from malaprop.text.tokens import TokenKind, kind_of, tokenize
from malaprop.text.word_map import bare, fold

GIVEN, SURNAME, TOWN, COUNTRY = "given name", "surname", "town", "country"
CLASSES: Mapping[str, tuple[str, ...]] = {"names": (GIVEN, SURNAME), "places": (TOWN, COUNTRY)}
"""What can be redrawn, and the classes that it has. Each is drawn from a list of its own."""
PLURALS = {COUNTRY: "countries"}
ANYWHERE, INSIDE, BEHIND_TITLE = LEVELS = ("anywhere", "inside", "behind title")

FOLDER = DATA / "people"
LISTS = "lists.txt.gz"
"""A line for each class and level, with the spellings, and with weights those that are drawn."""
SHA256 = "3605f695d9dce5bdb5351c6538d6219bc7b047903f0c2522d658a48db479a7bf"

TAGS_OF_PEOPLE = tuple(CLASSES)
_TAGS = {kind: tag for tag, kinds in CLASSES.items() for kind in kinds}
_TITLES_LISTED = """
Mr Mrs Ms Mx Miss Dr Prof Professor Doctor Sir Dame Rev Capt Sgt Lt Col Gen Sen Rep Gov MR MRS DR
"""
_TITLES = frozenset(_TITLES_LISTED.split())
POSSESSIVE = re.compile(r"(?<=[^\W\d_])['’＇][sS]$")
_PREFIX = re.compile(r"^([dlo])'(?=\w{3})")
# The signs between two words of a sentence.
_JOINS = frozenset((" ", ", ", "; ", "-", "–", "/", " & "))
START = "\n"
"""The signs before the first word of a text."""
_LONGEST_JOIN = 3
_SPACES = frozenset((" ", "\xa0", "\u202f", "\n"))
_INITIALS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"  # "I" is a word
_MOST_INITIALS = 3
_SHORTEST_IN_CAPITALS = _SHORTEST_UNLISTED = 4
# McKay and O'Neill have a second capital.
_ONE_CAPITAL = re.compile(r"(?:Ma?c|[DO]['’])?[^\W\d_](?P<rest>[^\W\d_]++)")


def spelled(token: str) -> str:
    """Return the spelling by which a name is looked up; empty if a token cannot be one.

    >>> [spelled(token) for token in ("O’Brien", "MÜLLER", "José", "don't", "B12")]
    ['obrien', 'muller', 'jose', '', '']
    """
    text = _PREFIX.sub(r"\1", bare(fold(token)))
    return text if text.isalpha() else ""


class _Entry(NamedTuple):
    """What is known of a spelling: its number, its class, where it is of that class."""

    number: int
    kind: str
    level: str


class _Lists:
    """The public lists, ready to be searched and drawn from."""

    def __init__(self, content: str) -> None:
        self.phrases: dict[str, list[list[str]]] = {}
        self._drawn: dict[str, dict[str, int]] = {kind: {} for kind in _TAGS}
        self._numbers: dict[str, int] = {}
        self._sections: list[tuple[int, str, str]] = []  # first number, class and level
        for line in content.splitlines():
            kind, level, entries = line.split("\t")
            names = entries.split("|")
            if "=" in entries:  # all of the line are drawn
                weights = (entry.split("=") for entry in names)
                self._drawn[kind] = {name: int(weight) for name, weight in weights}
                names = list(self._drawn[kind])
            first = len(self._numbers)
            self._sections.append((first, kind, level))
            self._numbers.update(zip(names, range(first, first + len(names)), strict=True))
            for phrase in map(tokenize, itertools.filterfalse(str.isalpha, names)):
                self.phrases.setdefault(phrase[0], []).append(phrase)
        for phrases in self.phrases.values():
            phrases.sort(key=len, reverse=True)

    def entry(self, name: str) -> _Entry | None:
        """Return what is known of a spelling, if it is listed."""
        number = self._numbers.get(name)
        if number is None:
            return None
        _, kind, level = self._sections[bisect_right(self._sections, number, key=itemgetter(0)) - 1]
        return _Entry(number, kind, level)

    @cached_property
    def laws(self) -> dict[str, tuple[list[str], Ids]]:
        """What each class is drawn from, and how many bearers the names up to each one have."""
        return {
            kind: (
                [name.title() for name in drawn],
                np.cumsum(np.fromiter(drawn.values(), dtype=np.int64)),
            )
            for kind, drawn in self._drawn.items()
        }


@lru_cache(maxsize=1)
def lists() -> _Lists:
    """Return the lists that ship with the package."""
    try:
        packed = (FOLDER / LISTS).read_bytes()
    except OSError:
        packed = b""
    if hashlib.sha256(packed).hexdigest() != SHA256:
        raise LexiconError(f"The file {LISTS} of names and places is damaged: reinstall malaprop.")
    return _Lists(gzip.decompress(packed).decode("utf-8"))


@dataclass(frozen=True)
class PersonForm(StandIn):
    """A name or a place: its class, the title or the number of initials before it, an 's behind.

    >>> PersonForm("surname", title="Dr. ", possessive=True).write("KLM Diaz")
    "Dr. Diaz's"
    >>> PersonForm("surname", initials=2).write("KLM Diaz")
    'K. L. Diaz'
    """

    kind: str
    title: str = ""
    initials: int = 0
    possessive: bool = False
    shares_always = True

    @property
    def tag(self) -> str:
        return _TAGS[self.kind]

    @property
    def shared(self) -> str:
        return self.kind

    def follows_closely(self, before: Form) -> bool:
        return before.takes_units  # as the word that it would be without `redraw`

    def draw(self, count: int, rng: Generator) -> list[str]:
        names, sums = lists().laws[self.kind]
        places = np.searchsorted(sums, rng.integers(sums[-1], size=count), side="right")
        letters = np.array(list(_INITIALS))[
            rng.integers(len(_INITIALS), size=(count, _MOST_INITIALS))
        ].tolist()
        drawn = zip(letters, places.tolist(), strict=True)
        return [f"{''.join(initials)} {names[place]}" for initials, place in drawn]

    def write(self, drawn: str) -> str:
        letters, name = drawn.split(" ", 1)
        initials = "".join(f"{letter}. " for letter in letters[: self.initials])
        return self.title + initials + name + "'s" * self.possessive


class Person(NamedTuple):
    """What a name or a place is shown as, and a number that is equal for equal ones."""

    form: PersonForm
    secret: int
    text: str = ""
    """The tokens themselves: secret, unless the text is private already."""


def _no_word(token: str) -> int | None:
    """Find no token in a lexicon without words."""


class People:
    """Finds names and places, or one of the two.

    `lookup` finds a token in the lexicon, whose words are listed, too.

    >>> found, _ = People({"names"}).find(tokenize("Dr. Okafor saw Will Smith. Will he rise?"))
    >>> [each.form.kind for each in found if isinstance(each, Person)]
    ['surname', 'given name', 'surname']
    """

    def __init__(
        self, redraw: Iterable[str], lookup: Callable[[str], int | None] = _no_word
    ) -> None:
        self._kinds = frozenset(kind for name in redraw for kind in CLASSES[name])
        self._lookup = lookup
        lists()  # if they are damaged, it is said before the work

    def find(self, tokens: Sequence[str], gap: str = START) -> tuple[list[str | Person], str]:
        """Return tokens with names and places in the place of theirs, and the signs at the end.

        `gap` has the signs before the first token since the last word; nothing is before it.
        """
        found: list[str | Person] = []
        place = 0
        while place < len(tokens):
            token = tokens[place]
            if token[0].isupper():
                person, after = self._at(tokens, place, gap)
                if person is not None:
                    found.append(person._replace(text="".join(tokens[place:after])))
                    place, gap = after, ""
                    continue
            found.append(token)
            place += 1
            kind = TokenKind.WORD if any(map(str.isalnum, token)) else kind_of(token)
            if kind in (TokenKind.SPACE, TokenKind.PUNCTUATION):
                # What is cut off is too long to be a join anyway.
                gap = (gap + token)[: _LONGEST_JOIN + 1]
            elif kind is not TokenKind.INVISIBLE:  # those are never shown
                gap = ""
        return found, gap

    def joined(self, pieces: Sequence[str], tokens: Sequence[str], gap: str) -> list[str]:
        """Join the pieces of a text that `find` takes for one name or place; tokens as for it."""
        found, place = list[str](), 0
        for each in self.find(tokens, gap)[0]:
            text, start, length = each.text if isinstance(each, Person) else each, place, 0
            while length < len(text):
                length += len(tokens[place])
                place += 1
            found.append("".join(pieces[start:place]))
        return found

    def _at(self, tokens: Sequence[str], start: int, gap: str) -> tuple[Person | None, int]:
        """Return the name or place that begins at a token, and where the tokens behind it do."""
        title, place = _title(tokens, start)
        initials, place = _initials(tokens, place)
        if title or initials:
            name, possessive = _name_at(tokens, place)
            found = self._joined(name, tokens[place : place + 1], by_title=bool(title))
            if found is None:
                return None, start
            form = PersonForm(found[0], title, initials, possessive)
            return Person(form, found[1]), place + 1
        end, name, possessive = _phrase(tokens, start)
        found = self._alone(name, tokens[start], gap in _JOINS)
        if found is None:
            return None, start
        return Person(PersonForm(found[0], possessive=possessive), found[1]), end

    def _alone(self, name: str, token: str, inside: bool) -> tuple[str, int] | None:
        """Return class and number of a name or place, if it is taken for one."""
        entry = lists().entry(name)
        if entry is None:
            meant = inside and SURNAME in self._kinds and self._is_unlisted(name, token)
            return (SURNAME, secret_of(name)) if meant else None
        if entry.kind not in self._kinds or token in _TITLES:
            return None
        body = POSSESSIVE.sub("", token)
        if len(body) > 1 and body.isupper():
            meant = entry.level == ANYWHERE and len(name) >= _SHORTEST_IN_CAPITALS
        else:
            meant = entry.level == ANYWHERE or (entry.level == INSIDE and inside)
        return (entry.kind, entry.number) if meant else None

    def _joined(self, name: str, token: Sequence[str], *, by_title: bool) -> tuple[str, int] | None:
        """Return class and number of a name behind a title or initials, if it is taken for one."""
        entry = lists().entry(name)
        if len(name) < 2 or SURNAME not in self._kinds:
            return None
        if entry is not None and entry.kind in CLASSES["names"]:
            return (entry.kind, entry.number) if by_title or entry.level != BEHIND_TITLE else None
        if by_title:
            meant = name not in english.FUNCTION_WORDS
        else:
            meant = entry is None and self._is_unlisted(name, *token)
        number = secret_of(name) if entry is None else entry.number
        return (SURNAME, number) if meant else None

    def _is_unlisted(self, name: str, token: str) -> bool:
        """Tell whether no public list of words has a token that is written like a name."""
        written = _ONE_CAPITAL.fullmatch(bare(POSSESSIVE.sub("", token)))
        return (
            written is not None
            and written["rest"].islower()
            and len(name) >= _SHORTEST_UNLISTED
            and vocabulary.shipped().entry(name) is None
            and self._lookup(token) is None
        )


def _title(tokens: Sequence[str], start: int) -> tuple[str, int]:
    """Return the title at a token, with what joins it to the next word, and where that begins."""
    if tokens[start] in _TITLES:
        after = start + 1 + (tokens[start + 1 : start + 2] == ["."])
        if after < len(tokens) and tokens[after] in _SPACES:
            return f"{''.join(tokens[start:after])} ", after + 1
    return "", start


def _initials(tokens: Sequence[str], start: int) -> tuple[int, int]:
    """Return how many initials with a full stop begin at a token, and where the next word does."""
    place = start
    for count in range(_MOST_INITIALS + 1):
        if count == _MOST_INITIALS or tokens[place + 1 : place + 2] != ["."]:
            return count, place
        if len(tokens[place]) != 1 or tokens[place] not in _INITIALS:
            return count, place
        place += 2
        if place < len(tokens) and tokens[place] in _SPACES:
            place += 1
    return count, place


def _name_at(tokens: Sequence[str], place: int) -> tuple[str, bool]:
    """Return how a token with a capital is looked up, without an 's, and whether it has one."""
    if place >= len(tokens) or not tokens[place][0].isupper():
        return "", False
    body = POSSESSIVE.sub("", tokens[place])
    return spelled(body), body != tokens[place]


def _phrase(tokens: Sequence[str], start: int) -> tuple[int, str, bool]:
    """Return the end of the longest listed phrase at a token, or of the token, and its name."""
    first, possessive = _name_at(tokens, start)
    for phrase in lists().phrases.get(first, ()):
        end = start + len(phrase)
        name, owns = _name_at(tokens, end - 1)
        inner = zip(phrase[:-1], tokens[start:end], strict=False)
        if name == phrase[-1] and all(map(_same, *zip(*inner, strict=True))):
            return end, "".join(phrase), owns
    return start + 1, first, possessive


def _same(listed: str, token: str) -> bool:
    """Tell whether a token is one of a listed phrase."""
    return token in _SPACES if listed == " " else (spelled(token) or token) == listed

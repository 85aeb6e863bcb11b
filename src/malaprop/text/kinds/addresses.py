"""Addresses of people and files: e-mail, web, mentions, paths. They are made up."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from malaprop.text.kinds import Conventions, Kind, Read, StandIn
from malaprop.text.kinds.identifiers import secret_of, uniform
from malaprop.text.tokens import CharacterClasses

_SYLLABLES = np.array([c + v for c in "bdfghklmnprstvz" for v in "aeiou"])
_NAME_SYLLABLES = 4


@dataclass(frozen=True)
class AddressForm(StandIn):
    """A made-up name of eight letters with fixed texts around it: four syllables, uniformly.

    >>> from malaprop import seeded_rng
    >>> MENTION.draw(1, seeded_rng(1)), EMAIL.draw(1, seeded_rng(1))
    (['@mamoseze'], ['mamoseze@example.org'])
    """

    before: str
    after: str
    counted: str

    @property
    def tag(self) -> str:
        return self.counted

    @property
    def opens_with_sign(self) -> bool:
        return bool(self.before) and not self.before[0].isalpha()  # as in "ann@localhost"

    def draw(self, count: int, rng: Generator) -> Sequence[str]:
        names = uniform(_SYLLABLES, (count, _NAME_SYLLABLES), rng).tolist()
        return [f"{self.before}{''.join(name)}{self.after}" for name in names]


EMAIL = AddressForm("", "@example.org", "emails")
URL = AddressForm("https://example.org/", "", "urls")
MENTION = AddressForm("@", "", "mentions")
PATHS = {root: AddressForm(root, "", "paths") for root in ("/", "~/", "./", "C:\\")}
"""Paths by where they begin: at the root, at home, here, on a drive."""

# A path begins where no word or number ends: he/she and 120/80 have none.
_ROOT = r"(?:~/|(?:\.{1,2}/){1,8}+|/|[A-Za-z]:\\)"
_DIGITS_FIRST = r"\d{1,64}+(?:[/\\][^\W\d_]|[\w.+%-]{0,63}+@)"
_GOES_ON = rf"(?=[._]{{0,2}}[^\W\d_]|{_DIGITS_FIRST})"
PATH_START = rf"(?=[~./]|[A-Za-z]:\\)(?<![^\s\"'(=:,;\[{{`|]){_ROOT}{_GOES_ON}"
"""The pattern of a path's first signs, given that more of it follows."""


def _path_pattern(classes: CharacterClasses) -> str:
    return rf"{PATH_START}(?:\.*+[\w{classes.mark}/\\~+@%#!-]++)++"


def _read_path(token: str, _: Conventions) -> Read:
    root = "C:\\" if token[0].isalpha() else token[0] + "/" * (token[0] != "/")
    return Read(PATHS[root], secret_of(token))


def _reader_of(form: AddressForm) -> Callable[[str, Conventions], Read]:
    return lambda token, _: Read(form, secret_of(token))


Kind("email", 0, _reader_of(EMAIL), None, ("emails",), "e-mail address", "e-mail addresses")
Kind("url", 0, _reader_of(URL), None, ("urls",), "web address", "web addresses")
Kind("mention", 0, _reader_of(MENTION), None, ("mentions",), "mention")
Kind("path", 3, _read_path, _path_pattern, ("paths",), "path")

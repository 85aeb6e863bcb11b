"""Codes that programs read: IP and MAC addresses, bank accounts, hashes. They are drawn anew.

What is drawn is valid, and belongs to nobody: from ranges for documentation where there are any.
Nothing of a code shows but its kind, so that it need not be valid itself.
"""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from malaprop.text.kinds import Form, Kind, Read, StandIn
from malaprop.text.kinds.identifiers import (
    ALNUM,
    CAPITAL,
    HYPHENS,
    JOINER,
    LETTER,
    QUAD,
    WHOLE,
    IdentifierForm,
    mixed,
    secret_of,
    uniform,
)
from malaprop.text.kinds.numbers import sign_after
from malaprop.text.tokens import NUMBER_GAPS, CharacterClasses

# Forms.

_NETWORKS = np.array(["192.0.2.", "198.51.100.", "203.0.113."])  # RFC 5737
_HOSTS = np.array(list(map(str, range(1, 255))))
IPV6 = IdentifierForm("hhhh:hhhh:hhhh:hhhh:hhhh:hhhh", before="2001:db8:")  # RFC 3849
ADAPTERS = {  # RFC 7042
    ":": IdentifierForm("hh", before="00:00:5e:00:53:"),
    "-": IdentifierForm("hh", before="00-00-5e-00-53-"),
}
UUID = IdentifierForm("9a9hhhhh-hhhh-4hhh-8hhh-hhhhhhhhhhhh")  # version 4
HASHES = {length: IdentifierForm("9a".ljust(length, "h")) for length in (32, 40, 64)}


@dataclass(frozen=True)
class InternetAddressForm(StandIn):
    """An IPv4 address from the ranges for documentation.

    >>> from malaprop import seeded_rng
    >>> IPV4.draw(2, seeded_rng(1))
    ['198.51.100.192', '198.51.100.242']
    """

    tag = "identifiers"

    def draw(self, count: int, rng: Generator) -> list[str]:
        parts = (uniform(each, (count, 1), rng)[:, 0].tolist() for each in (_NETWORKS, _HOSTS))
        return list(map("".join, zip(*parts, strict=True)))


IPV4 = InternetAddressForm()


@dataclass(frozen=True)
class AccountForm(StandIn):
    """An international bank account number, in groups of four or not.

    All that are drawn are German, whatever the country was, with valid check digits. The code of
    the bank begins with 9: those of banks begin with 1 to 8.

    >>> from malaprop import seeded_rng
    >>> AccountForm(" ").draw(1, seeded_rng(1))
    ['DE79 9457 9018 9238 4282 46']
    """

    gap: str
    tag = "identifiers"

    def draw(self, count: int, rng: Generator) -> list[str]:
        accounts = IdentifierForm("9" * 17, before="9").draw(count, rng)
        return [self._grouped(f"DE{_check_digits(each)}{each}") for each in accounts]

    def _grouped(self, number: str) -> str:
        return self.gap.join(number[place : place + 4] for place in range(0, len(number), 4))


def _check_digits(account: str) -> str:
    """Return the check digits of a German account, by ISO 13616: 131400 is DE00 in digits."""
    return f"{98 - int(f'{account}131400') % 97:02}"


# How they are found.

_HYPHEN = f"[{HYPHENS}]"
_UUID = (8, 4, 4, 4, 12)
_PAIRS = 6  # of a MAC address
_HEX = r"[\da-fA-F]"


def _ipv4_pattern(classes: CharacterClasses) -> str:
    # With points between thousands, an amount of money may look like one.
    amount = rf"|{ALNUM}|{sign_after(classes)}" if "." in classes.thousands else ""
    return rf"{QUAD}(?![{classes.decimal}]\d{amount})"


def _ipv6_pattern(_: CharacterClasses) -> str:
    """Return the pattern of eight groups, or fewer with a gap; two numbers with :: are none."""
    group = rf"{_HEX}{{1,4}}"
    is_mixed = rf"(?={_HEX}{{0,3}}(?:\d[a-fA-F]|[a-fA-F]\d))"
    whole = rf"{group}(?::{group}){{7}}"
    gap = rf"(?:{is_mixed}{group}|{group}(?::{group}){{1,6}})::(?:{group}(?::{group}){{0,5}})?"
    return rf"(?={_HEX}{{1,4}}:)(?=[a-fA-F:]{{0,40}}\d)(?:{whole}|{gap})(?!{ALNUM}|:|\.\d)"


def _account_pattern(gap: str) -> str:
    """Return the pattern of account numbers in groups of four.

    The third group ends in a digit and the fourth begins with one, as in all countries.
    """
    sign = rf"[{CAPITAL}\d]"
    last = rf"(?=[{CAPITAL}]{{0,3}}\d){sign}{{1,4}}"
    more = rf"(?:(?:{gap}{sign}{{4}}){{0,5}}{gap}{last})?"
    fourth = rf"\d{sign}{{2}}(?:{sign}{more})?"
    return rf"[{CAPITAL}]{{2}}\d{{2}}{gap}{sign}{{4}}{gap}{sign}{{3}}\d{gap}{fourth}{WHOLE}"


def _accounts_pattern(_: CharacterClasses) -> str:
    together = rf"{LETTER}{{2}}\d{{2}}(?=[^\W\d_]{{0,30}}\d){ALNUM}{{11,27}}(?!{ALNUM})"
    return "|".join((together, *map(_account_pattern, NUMBER_GAPS)))


def _hash_pattern(_: CharacterClasses) -> str:
    """Return the pattern of letters and digits mixed that are as long as usual hashes."""
    runs = "|".join(rf"{ALNUM}{{{length}}}" for length in HASHES)
    return rf"(?={ALNUM}{{{min(HASHES)}}})(?=\d++{LETTER}|{LETTER}++\d)(?:{runs})(?!{ALNUM})"


def _uuid_pattern(_: CharacterClasses) -> str:
    """Return the pattern of groups of letters and digits with the lengths of a UUID's.

    Groups may look like words or numbers: 47a8, cafe. So the first or the last one must be an
    identifier by itself.

    >>> import re
    >>> pattern = re.compile(_uuid_pattern(None))
    >>> bool(pattern.fullmatch("69b33b89-cafe-4021-beef-deadbeefcafe"))
    True
    """
    alone = rf"(?:{mixed(LETTER, f'{ALNUM}++')}|\d++)"
    first, last = rf"{alone}{_HYPHEN}", rf"(?:{ALNUM}++{_HYPHEN}){{4}}{alone}{WHOLE}"
    groups = _HYPHEN.join(rf"{ALNUM}{{{length}}}" for length in _UUID)
    # Most tokens end at the first condition.
    is_one = rf"(?={ALNUM}{{{_UUID[0]}}}{_HYPHEN})(?={first}|{last})"
    return rf"{is_one}{groups}(?!{ALNUM}|{JOINER}{ALNUM})"


def _adapter_pattern(_: CharacterClasses) -> str:
    """Return the pattern of a MAC address: six pairs, one with a digit.

    >>> import re
    >>> pattern = re.compile(_adapter_pattern(None))
    >>> [bool(pattern.fullmatch(text)) for text in ("00:1b:44:11:3a:b7", "so:it:is:as:we:do")]
    [True, False]
    """
    pair, letters = rf"{ALNUM}{{2}}", rf"(?:{LETTER}|[:{HYPHENS}]){{0,{3 * _PAIRS - 2}}}+"
    pairs = "|".join(
        rf"{sign}{pair}(?:{sign}{pair}){{{_PAIRS - 2}}}(?!{ALNUM}|{sign}{ALNUM})"
        for sign in (":", _HYPHEN)
    )
    return rf"(?={pair}[:{HYPHENS}])(?={letters}\d){pair}(?:{pairs})"


_TOLD = (("identifiers",), "identifier")


def _read_as(form: Form, token: str) -> Read:
    return Read(form, secret_of(token))


Kind("ipv6", 4, lambda token, _: _read_as(IPV6, token), _ipv6_pattern, *_TOLD)
Kind("ipv4", 5, lambda token, _: _read_as(IPV4, token), _ipv4_pattern, *_TOLD)
Kind(
    *("account", 6, lambda token, _: _read_as(AccountForm(" " * (not token.isalnum())), token)),
    *(_accounts_pattern, *_TOLD),
)
Kind("hash", 7, lambda token, _: _read_as(HASHES[len(token)], token), _hash_pattern, *_TOLD)
Kind("uuid", 8, lambda token, _: _read_as(UUID, token), _uuid_pattern, *_TOLD)
Kind(
    *("adapter", 9, lambda token, _: _read_as(ADAPTERS["-:"[token[2] == ":"]], token)),
    *(_adapter_pattern, *_TOLD),
)

"""Damage to a file: bytes flipped, cut out, doubled, put in, numbers made huge."""

import random
import re

_PIECES = (
    *(b"\x00", b"\xff", b"\xef\xbb\xbf", b'"', b"'", b"\\", b"\n", b"\r", b"\r\n"),
    *(b"\x1a", b"\xed\xa0\x80"),
    *(b"[", b"]", b"{", b"}", b",", b":", b"\t", b"null", b"1e999", b"-1", b"\\u0000", b"\\ud800"),
    *(b"PAR1", b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"A" * 70_000, b"[" * 5_000),
)  # fmt: skip
_NUMBER = re.compile(rb"\d+")
_NUMBERS = (b"0", b"-1", b"4294967296", b"9223372036854775807", b"9" * 400)


def mutated(data: bytes, choices: random.Random) -> bytes:
    """Return `data` with one to four faults."""
    for _ in range(choices.randint(1, 4)):
        data = choices.choice(_FAULTS)(data, choices)
    return data


def _flip(data: bytes, choices: random.Random) -> bytes:
    if not data:
        return data
    place = choices.randrange(len(data))
    return data[:place] + bytes([data[place] ^ (1 << choices.randrange(8))]) + data[place + 1 :]


def _cut_short(data: bytes, choices: random.Random) -> bytes:
    return data[: choices.randint(0, len(data))]


def _cut_out(data: bytes, choices: random.Random) -> bytes:
    start, end = sorted(choices.randint(0, len(data)) for _ in range(2))
    return data[:start] + data[end:]


def _double(data: bytes, choices: random.Random) -> bytes:
    start, end = sorted(choices.randint(0, len(data)) for _ in range(2))
    return data[:end] + data[start:end] + data[end:]


def _put_in(data: bytes, choices: random.Random) -> bytes:
    place = choices.randint(0, len(data))
    return data[:place] + choices.choice(_PIECES) + data[place:]


def _other_number(data: bytes, choices: random.Random) -> bytes:
    places = list(_NUMBER.finditer(data))
    if not places:
        return data
    place = choices.choice(places)
    return data[: place.start()] + choices.choice(_NUMBERS) + data[place.end() :]


_FAULTS = (_flip, _flip, _cut_short, _cut_out, _double, _put_in, _put_in, _other_number)

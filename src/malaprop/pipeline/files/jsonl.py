"""JSON lines: one object a line.

Each line is scanned for the place of the values asked for, and those alone are replaced. The
rest is never parsed into values and written anew, so that 1.10, 12345678901234567890, repeated
keys, spacing and the order of keys stay as they are.
"""

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO, Final

from malaprop.core.errors import ParameterError
from malaprop.pipeline.files.copying import Passing
from malaprop.pipeline.files.decoding import DecodedText, Overlong
from malaprop.pipeline.files.faults import TOO_LONG, FlawError
from malaprop.pipeline.files.layout import Layout
from malaprop.pipeline.files.textual import Record, RecordCopy

_MOST_KEYS: Final = 1_000
_SPACE: Final = re.compile(r"[ \t\r\n]*")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
# Only the places of numbers matter, and some are too long for an int.
_SCANNER: Final = json.JSONDecoder(
    strict=False, parse_int=lambda _: 0, parse_float=lambda _: 0, parse_constant=lambda _: 0
)
_KINDS: Final[dict[type, str]] = {dict: "an object", list: "a list", bool: "a boolean"}


# Key, value, and where the value begins and ends.
_Member = tuple[str, Any, int, int]


class _NotAnObjectError(ValueError):
    """A line holds something else than one JSON object."""


class JsonlCopy(RecordCopy):
    """The copy of a file of JSON objects, which need not have the same keys."""

    def __init__(
        self, source: BinaryIO, target: BinaryIO, layout: Layout, size: int | None = None
    ) -> None:
        super().__init__(source, target, layout, size)
        self._unicode = codecs.lookup(layout.encoding).name.startswith("utf")
        self._asked = frozenset(layout.columns)
        self._seen: set[str] = set()
        self._others: dict[str, None] = {}
        self._missing = 0

    def records(self, text: DecodedText) -> Iterator[Record]:
        """Yield the objects, and blank lines wherever they are."""
        number = 0
        for line_number, line in enumerate(text.lines(), start=1):
            if _SPACE.fullmatch(line) and not isinstance(line, Overlong):
                yield Record([line], [], counts=False)
                continue
            number += 1
            yield self._record(line, number, line_number)
        if number:
            self.check_keys()

    def check_keys(self) -> None:
        """Refuse a file without a key asked for: it would pass unprotected, by a slip."""
        unseen = [column for column in self.layout.columns if column not in self._seen]
        if unseen:
            raise ParameterError(f"no record has the key {unseen[0]!r}: check --column")

    def render(self, text: str) -> str:
        """Return a text as a JSON string: its own letters in Unicode files, escapes in others.

        The form follows from the text alone. One that depended on how the true value was
        written would tell about that value.
        """
        string = json.dumps(text, ensure_ascii=not self._unicode)
        return _SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", string)

    def finish(self) -> Passing:
        """Return what was seen beside the columns asked for."""
        return Passing(missing=self._missing, columns=tuple(self._others))

    def _record(self, line: str, number: int, line_number: int) -> Record:
        record = None
        try:
            members = _members(line)
            record = self._cut(line, members)
            self.check(line, record)
            self._check_types(members)
        except FlawError as flaw:
            self.faults.meet(number, flaw, f"record {number} (line {line_number})")
            return self.masked(record or self._stand_in(line))
        return record

    def _cut(self, line: str, members: list[_Member]) -> Record:
        """Cut a line at the values asked for, whatever they are; null is none."""
        pieces: list[str] = []
        found: set[str] = set()
        end = 0
        for key, value, start, stop in members:
            if key not in self._asked:
                self._note(key)
                continue
            found.add(key)
            if value is not None:
                pieces += [line[end:start], value if isinstance(value, str) else ""]
                end = stop
        self._seen |= found
        self._missing += len(found) < len(self._asked)
        return Record([*pieces, line[end:]], list(range(1, len(pieces), 2)))

    def _check_types(self, members: list[_Member]) -> None:
        for key, value, _, _ in members:
            if key in self._asked and not isinstance(value, str | None):
                kind = _KINDS.get(type(value), "a number")
                raise FlawError(f"has a value of {key!r} that is {kind}, not a string")

    def _stand_in(self, line: str) -> Record:
        """Return an object with the columns asked for alone, for a line that is none."""
        pieces = ["{"]
        for column in dict.fromkeys(self.layout.columns):
            pieces += [f"{json.dumps(column)}: ", "", ", "]
        end = line[len(line.rstrip("\r\n")) :]
        return Record([*pieces[:-1], "}" + end], list(range(2, len(pieces), 3)))

    def _note(self, key: str) -> None:
        # Objects that are maps from data to data would make this list grow with the input.
        if len(self._others) < _MOST_KEYS:
            self._others[key] = None


def _members(line: str) -> list[_Member]:
    """Return key, value and the value's place, for each member of the object in a line."""
    if isinstance(line, Overlong):
        raise FlawError(TOO_LONG)
    try:
        return list(_scan(line))
    except (ValueError, RecursionError):
        raise FlawError("is not a JSON object") from None


def _scan(line: str) -> Iterator[_Member]:
    position = _after("{", line, 0)
    more = not line.startswith("}", position)
    while more:
        if not line.startswith('"', position):
            raise _NotAnObjectError
        key, position = _SCANNER.raw_decode(line, position)
        start = _after(":", line, position)
        value, stop = _SCANNER.raw_decode(line, start)
        yield key, value, start, stop
        position = _skip_space(line, stop)
        more = line.startswith(",", position)
        if more:
            position = _after(",", line, position)
    if _after("}", line, position) != len(line):
        raise _NotAnObjectError


def _after(sign: str, line: str, position: int) -> int:
    """Return where the line goes on after a sign that has to come next."""
    position = _skip_space(line, position)
    if not line.startswith(sign, position):
        raise _NotAnObjectError
    return _skip_space(line, position + 1)


def _skip_space(line: str, position: int) -> int:
    found = _SPACE.match(line, position)
    return found.end() if found else position

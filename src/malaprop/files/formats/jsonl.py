"""JSON lines: one object a line.

Each line is scanned for the values asked for, and only their characters are replaced. The rest is
never parsed and written again, so 1.10, 12345678901234567890, repeated keys, spacing and the order
of keys stay as they are.
"""

import codecs
import json
import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any, Final, NamedTuple

from malaprop.files.formats.file_format import (
    PLACEHOLDER,
    TOO_LONG,
    UNSHOWN,
    RecordError,
    label_text,
    list_columns,
)
from malaprop.files.formats.text_records import Overlong, Record, RecordReader
from malaprop.privacy.errors import ParameterError

_MOST_KEYS: Final = 1_000
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_SPACE: Final = re.compile(r"[ \t\r\n]*")
_OPEN, _BRACKET, _COLON, _COMMA, _NEXT = (
    re.compile(rf"[ \t\r\n]*+({sign})[ \t\r\n]*+") for sign in (r"\{", r"\[", ":", ",", "[,}]")
)
# Only the places of numbers matter, and some are too long for an int.
_SCANNER: Final = json.JSONDecoder(
    strict=False, parse_int=lambda _: 0, parse_float=lambda _: 0, parse_constant=lambda _: 0
)
_KINDS: Final = {dict: "an object", list: "a list", bool: "a boolean", str: "a string"}
_KEY: Final = "."
_ITEM: Final = "[]"
# What is left of a route to a value of a type that it can lead to: a text is where it ends.
_STEPS: Final[dict[type, str]] = {dict: _KEY, list: _ITEM}


class _Aim(NamedTuple):
    """A column asked for, and the rest of the route to it."""

    column: str
    left: str


class _Spot(NamedTuple):
    """A value, from `start` to `stop` in its line, that aims lead to.

    It is a text to replace, or else something that none of the aims can be followed into. Null is
    no spot: there is nothing to replace.
    """

    value: Any
    start: int
    stop: int
    aims: list[_Aim]

    @property
    def is_text(self) -> bool:
        return isinstance(self.value, str) and any(not aim.left for aim in self.aims)

    def check(self) -> None:
        if self.is_text:
            return
        column, left = self.aims[0]
        kind = _KINDS.get(type(self.value), "a number")
        items = f"{column.removesuffix(left)}{_ITEM}{left}"
        remedy = f"{items!r} names the items of that list" if kind == "a list" else ""
        if not left:
            raise RecordError(f"has a value of {column!r} that is {kind}, not a string", remedy)
        needed = "an object" if left.startswith(_KEY) else "a list"
        raise RecordError(f"has {kind} where {column!r} needs {needed}", remedy)


class JsonObject:
    """The object at a place of a text, walked to the values of some columns.

    A column is a route: the keys on the way to a value, joined by dots, with `[]` for each item of
    a list: `id`, `msg.text`, `turns[].text`, `tags[]`. Keys may have dots or brackets of their own,
    so a route can mean several values. All of them are meant, as what is left out by a slip would
    pass unprotected.
    """

    def __init__(self, line: str, columns: Iterable[str], start: int = 0) -> None:
        self._line, self.start = line, start
        self.spots: list[_Spot] = []
        self.others: list[str] = []
        self.seen: set[str] = set()  # the columns that are there;
        self.empty: set[str] = set()  # those with a list on their way that has no items;
        self.exact: set[str] = set()  # those that are keys of the object itself
        try:
            self.end = self._members(start, [_Aim(column, column) for column in columns], "")
        except (ValueError, RecursionError):
            raise RecordError("is not a JSON object") from None
        if self.exact:  # then another value, through which no route leads, need not be meant
            self.spots = [
                spot
                for spot in self.spots
                if any(not aim.left or aim.column not in self.exact for aim in spot.aims)
            ]

    def _members(self, position: int, aims: list[_Aim], route: str) -> int:
        """Visit the members of the object at a position; return where it ends."""
        line = self._line
        position = _matched(_OPEN, line, position).end()
        if line.startswith("}", position):
            return position + 1
        while True:
            if not line.startswith('"', position):
                raise ValueError
            key, position = _SCANNER.raw_decode(line, position)
            start = _matched(_COLON, line, position).end()
            if led := _led_on(aims, key):
                self.exact.update(aim.column for aim in led if aim.column == key)
                stop = self._value(start, led, route + key)
            else:
                self.others.append(route + key)
                stop = _SCANNER.raw_decode(line, start)[1]
            after = _matched(_NEXT, line, stop)
            if after[1] == "}":
                return after.end(1)
            position = after.end()

    def _value(self, start: int, aims: list[_Aim], route: str) -> int:
        value, stop = _SCANNER.raw_decode(self._line, start)
        self.seen.update(aim.column for aim in aims if not aim.left)
        if value is None:
            return int(stop)
        step = _STEPS.get(type(value), "")
        inside = [_Aim(c, left[len(step) :]) for c, left in aims if step and left.startswith(step)]
        if not inside:
            self.spots.append(_Spot(value, start, stop, aims))
        elif step == _KEY:
            self._members(start, inside, route + _KEY)
        else:
            if not value:
                self.empty.update(aim.column for aim in inside)
                self.seen.update(aim.column for aim in inside if not aim.left)
            for place in range(len(value)):
                item = _matched(_COMMA if place else _BRACKET, self._line, start).end()
                start = self._value(item, inside, route + _ITEM)
        return int(stop)


def _led_on(aims: list[_Aim], key: str) -> list[_Aim]:
    """Return the aims whose next step is the key, with the rest of their routes."""
    size = len(key)
    return [
        _Aim(column, left[size:])
        for column, left in aims
        if left.startswith(key) and (len(left) == size or left.startswith((_KEY, _ITEM), size))
    ]


def _matched(pattern: re.Pattern[str], line: str, position: int) -> re.Match[str]:
    match = pattern.match(line, position)
    if match is None:
        raise ValueError
    return match


def stand_in(columns: Iterable[str], text: str) -> str:
    """Return an object that has this text in each column, and nothing else.

    >>> stand_in(["id", "turns[].text"], "x")
    '{"id": "x", "turns": [{"text": "x"}]}'
    """
    shape: dict[str, Any] = {}
    for column in columns:
        *way, last = column.split(_KEY)
        inner: Any = shape
        for key in way:
            inner = inner.setdefault(key, {}) if isinstance(inner, dict) else inner
        if isinstance(inner, dict):  # else it lies inside another column
            inner.setdefault(last, text)
    return json.dumps(_with_lists(shape))


def _with_lists(shape: Any) -> Any:
    """Replace keys `x[]` by keys `x` with lists."""
    if not isinstance(shape, dict):
        return shape
    made = {}
    for key, value in shape.items():
        inner = _with_lists(value)
        while key.endswith(_ITEM):
            key, inner = key.removesuffix(_ITEM), [inner]
        made[key] = inner
    return made


class JsonObjects(RecordReader):
    """Reads JSON objects, which need not have the same keys."""

    def open(self) -> None:
        super().open()
        self._unicode = codecs.lookup(self.layout.encoding).name.startswith("utf")
        self._asked = frozenset(self.layout.columns)
        self.present = set()
        self.columns: dict[str, None] = {}  # without those asked for

    def render(self, text: str) -> str:
        """Return a text as a JSON string; in files that are not Unicode, with escapes.

        The form follows from the text alone. One that depended on how the true value was
        written would tell about that value.
        """
        string = json.dumps(text, ensure_ascii=not self._unicode)
        return _SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", string)

    def check_keys(self) -> None:
        """Refuse a column that no object has: a slip would leave texts unprotected."""
        for column in (*self.layout.columns, self.layout.label):
            if column is not None and column not in self.present:
                raise no_such_key(column, [*self.present, *self.columns])

    def record(self, raw: str, number: int, name: str, content: JsonObject | RecordError) -> Record:
        """Return the record of an object, or of what is none; `raw` begins and ends with it."""
        record = flaw = None
        try:
            if isinstance(content, RecordError):
                raise content
            record = self._cut(raw, content)
            for spot in content.spots:
                spot.check()
            if self.layout.label is not None:
                record = record._replace(label=self._label(raw, self.layout.label))
        except RecordError as found:
            flaw = found
        return self.screened(number, raw, record, flaw, name)

    def parsed(self, text: str, start: int = 0) -> JsonObject | RecordError:
        """Return the object at a place of a text, or why there is none."""
        try:
            return JsonObject(text, self._asked, start)
        except RecordError as flaw:
            return flaw

    def stand_in(self, raw: str) -> Record:
        end = raw[len(raw.rstrip("\r\n")) :]
        return Record([stand_in(self.layout.columns, PLACEHOLDER) + end], [])

    def _cut(self, raw: str, content: JsonObject) -> Record:
        """Cut an object at the values asked for, of any type."""
        # Objects that are maps from data to data would make this list grow with the input.
        new = [key for key in content.others if key not in self.columns]
        self.columns |= dict.fromkeys(new[: _MOST_KEYS - len(self.columns)])
        self.present |= content.seen
        self.missing += len(content.seen | content.empty) < len(self._asked)
        texts = [
            (s.value if s.is_text else "", (s.start - content.start, s.stop - content.start))
            for s in content.spots
        ]
        return Record.cut(raw, texts)

    def _label(self, raw: str, label: str) -> str:
        content = JsonObject(raw, [label])
        self.present |= content.seen
        try:
            values = [json.loads(raw[spot.start : spot.stop]) for spot in content.spots]
        except ValueError:  # such as a number of thousands of digits
            raise RecordError("has a label that cannot be read") from None
        return label_text(values[-1] if values else None)


class _JsonlReader(JsonObjects, name="jsonl"):
    """Reads a file with an object a line."""

    suffixes = (".jsonl", ".ndjson")
    spark = "lines"

    def records(self) -> Iterator[Record]:
        number = 0
        for line_number, line in enumerate(self.text.lines(), start=1):
            if _SPACE.fullmatch(line) and not isinstance(line, Overlong):
                yield Record([line], [], counts=False)
                continue
            number += 1
            yield self.record(
                line, number, f"record {number} (line {line_number})", self.parsed(line)
            )
        if number and not self.part:
            self.check_keys()

    def parsed(self, text: str, start: int = 0) -> JsonObject | RecordError:
        if isinstance(text, Overlong):
            return RecordError(TOO_LONG)
        content = super().parsed(text, start)
        if isinstance(content, JsonObject) and not _SPACE.fullmatch(text, content.end):
            return RecordError("is not a JSON object")
        return content


def no_such_key(key: str, keys: Collection[str]) -> ParameterError:
    """Return the error for a key that no record has; too many keys may be data."""
    many = len(keys) >= _MOST_KEYS
    listed = f"many keys ({UNSHOWN})" if many else list_columns(sorted(keys), key, "key")
    return ParameterError(f"no record has the key {key!r}; together they have {listed}")

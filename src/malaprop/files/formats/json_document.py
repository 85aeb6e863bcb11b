"""JSON: one list of objects, or one object. All but the texts stays as it is, to the byte.

The whole file is held in memory, so its size is limited; JSON lines have no limit.
"""

import json
import re
from collections.abc import Iterator
from typing import Final

from malaprop.files.formats.file_format import RecordError
from malaprop.files.formats.jsonl import JsonObject, JsonObjects
from malaprop.files.formats.text_records import Overlong, Record
from malaprop.privacy.errors import DataError

LARGEST: Final = 2**26
"""The most characters that a file may have."""
_SPACE: Final = re.compile(r"[ \t\r\n]*+")
_COMMA: Final = re.compile(r"[ \t\r\n]*+,[ \t\r\n]*+")
_END: Final = re.compile(r"[ \t\r\n]*+\][ \t\r\n]*+")
# Only where a value ends matters, and some numbers are too long for an int.
_SCANNER: Final = json.JSONDecoder(
    strict=False, parse_int=lambda _: 0, parse_float=lambda _: 0, parse_constant=lambda _: 0
)


class _JsonReader(JsonObjects, name="json"):
    """Reads a list of objects, or one object, as records."""

    suffixes = (".json",)
    drops = False  # commas stand between objects

    def records(self) -> Iterator[Record]:
        text = self.text.whole(LARGEST)
        if isinstance(text, Overlong):
            raise DataError(
                f"the input is longer than {LARGEST:,} characters, and JSON is held in memory as a "
                "whole: convert it to JSON lines, as with  jq -c '.[]' FILE > FILE.jsonl"
            )
        start = _end(_SPACE, text, 0)
        if start == len(text):
            raise DataError("the input is empty: JSON is a list of objects, or one object")
        if text.startswith("[", start):
            yield from self._listed(text, _end(_SPACE, text, start + 1))
        else:
            yield self._single(text, start)

    def _listed(self, text: str, start: int) -> Iterator[Record]:
        """Yield the items of a list, given where the first one starts, and what is around them."""
        yield Record([text[:start]], [], counts=False)
        number, written, place = 0, False, start
        while not (last := _END.fullmatch(text, place)):
            if number:
                comma = _COMMA.match(text, place)
                if comma is None:
                    raise _malformed(number)
                place, start = comma.start(), comma.end()
            number += 1
            content = self.parsed(text, start)
            end = content.end if isinstance(content, JsonObject) else _skipped(text, start, number)
            record = self.record(text[start:end], number, "", content)
            if record.pieces:
                # If all before it were left out, its comma is, too.
                between = text[place:start] if written else ""
                yield record._replace(pieces=[between + record.pieces[0], *record.pieces[1:]])
                written = True
            else:
                yield record
            place = end
        if number:
            self.check_keys()
        yield Record([last[0]], [], counts=False)

    def _single(self, text: str, start: int) -> Record:
        content = self.parsed(text, start)
        if isinstance(content, RecordError) or _end(_SPACE, text, content.end) < len(text):
            raise _malformed()
        record = self.record(text[start:], 1, "the object", content)
        if not record.pieces:
            raise DataError(
                "the object cannot be processed, and it is all that the input holds: "
                '`on_error="mask"` masks its texts'
            )
        self.check_keys()
        return record._replace(pieces=[text[:start] + record.pieces[0], *record.pieces[1:]])


def _end(pattern: re.Pattern[str], text: str, place: int) -> int:
    match = pattern.match(text, place)
    return match.end() if match else place


def _skipped(text: str, start: int, number: int) -> int:
    """Return where an item ends that is no object."""
    try:
        return int(_SCANNER.raw_decode(text, start)[1])
    except (ValueError, RecursionError):
        raise _malformed(number - 1) from None


def _malformed(items: int | None = None) -> DataError:
    where = "" if items is None else f", from item {items + 1} on"
    return DataError(
        f"the input is not JSON{where}, or neither a list of objects nor one object: mend it, or "
        "name its format with `format` (one object a line is jsonl)"
    )

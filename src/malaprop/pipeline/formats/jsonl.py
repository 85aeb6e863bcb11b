"""JSON lines: one object a line.

Each line is scanned for the values asked for, and only their characters are replaced. The rest is
never parsed and written again, so 1.10, 12345678901234567890, repeated keys, spacing and the order
of keys stay as they are.
"""

import codecs
import json
import re
from collections.abc import Collection, Iterator
from typing import BinaryIO, Final

from malaprop.core.errors import ParameterError
from malaprop.pipeline.formats.copying import Passing
from malaprop.pipeline.formats.decoding import DecodedText, Overlong
from malaprop.pipeline.formats.faults import PLACEHOLDER, TOO_LONG, FlawError
from malaprop.pipeline.formats.layout import Layout
from malaprop.pipeline.formats.naming import UNSHOWN, there_are
from malaprop.pipeline.formats.routes import Survey, stand_in, survey
from malaprop.pipeline.formats.textual import Record, RecordCopy

_MOST_KEYS: Final = 1_000
_SPACE: Final = re.compile(r"[ \t\r\n]*")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


class JsonlCopy(RecordCopy, name="jsonl"):
    """The copy of a file of JSON objects, which need not have the same keys."""

    suffixes = (".jsonl", ".ndjson")

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
        """Yield the objects and all blank lines."""
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
        """Refuse a file that lacks a key asked for: a slip would leave texts unprotected."""
        unseen = [column for column in self.layout.columns if column not in self._seen]
        if unseen:
            raise ParameterError(no_such_key(unseen[0], [*self._seen, *self._others]))

    def render(self, text: str) -> str:
        """Return a text as a JSON string; in files that are not Unicode, with escapes.

        The form follows from the text alone. One that depended on how the true value was
        written would tell about that value.
        """
        string = json.dumps(text, ensure_ascii=not self._unicode)
        return _SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", string)

    def finish(self) -> Passing:
        """Return the keys that were not asked for."""
        return Passing(missing=self._missing, columns=tuple(self._others))

    def _record(self, line: str, number: int, line_number: int) -> Record:
        record = None
        try:
            content = self._survey(line)
            record = self._cut(line, content)
            self.check(line, record)
            for spot in content.spots:
                spot.check()
        except FlawError as flaw:
            self.faults.meet(number, flaw, f"record {number} (line {line_number})")
            return self.masked(record or self._stand_in(line))
        return record

    def _survey(self, line: str) -> Survey:
        if isinstance(line, Overlong):
            raise FlawError(TOO_LONG)
        try:
            return survey(line, self._asked)
        except (ValueError, RecursionError):
            raise FlawError("is not a JSON object") from None

    def _cut(self, line: str, content: Survey) -> Record:
        """Cut a line at the values asked for, of any type."""
        pieces: list[str] = []
        end = 0
        for spot in content.spots:
            pieces += [line[end : spot.start], spot.value if spot.is_text else ""]
            end = spot.stop
        self._note(content.others)
        self._seen |= content.seen
        self._missing += len(content.seen | content.empty) < len(self._asked)
        return Record([*pieces, line[end:]], list(range(1, len(pieces), 2)))

    def _stand_in(self, line: str) -> Record:
        """Return an object with only the columns asked for, in place of a line that is none."""
        end = line[len(line.rstrip("\r\n")) :]
        return Record([stand_in(self.layout.columns, PLACEHOLDER) + end], [])

    def _note(self, keys: list[str]) -> None:
        # Objects that are maps from data to data would make this list grow with the input.
        new = [key for key in keys if key not in self._others]
        self._others |= dict.fromkeys(new[: _MOST_KEYS - len(self._others)])


def no_such_key(key: str, keys: Collection[str]) -> str:
    """Say that no record has a key, and list the keys; too many of them may be data."""
    many = len(keys) >= _MOST_KEYS
    listed = f"many keys ({UNSHOWN})" if many else there_are(sorted(keys), key, "key")
    return f"no record has the key {key!r}; together they have {listed}"

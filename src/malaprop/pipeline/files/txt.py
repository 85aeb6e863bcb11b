"""Plain text: a document a line, or the whole file one document."""

from collections.abc import Iterator

from malaprop.pipeline.files.copying import Passing
from malaprop.pipeline.files.decoding import DecodedText
from malaprop.pipeline.files.faults import FlawError
from malaprop.pipeline.files.textual import Record, TextCopy


class TxtCopy(TextCopy):
    r"""The copy of a file of plain text.

    Lines end with \n or \r\n and keep the end they have, also when the last one has none. Other
    signs that some take for line ends (form feed, U+2028) are part of the text.
    """

    def records(self, text: DecodedText) -> Iterator[Record]:
        """Yield the documents."""
        if self.layout.document == "file":
            yield self._record(1, text.whole(), "")
            return
        for number, line in enumerate(text.lines(), start=1):
            document = line.removesuffix("\n")
            if document != line:
                document = document.removesuffix("\r")
            yield self._record(number, line, line[len(document) :])

    def _record(self, number: int, line: str, end: str) -> Record:
        record = Record([line[: len(line) - len(end)], end], [0])
        try:
            self.check(line, record)
        except FlawError as flaw:
            self.faults.meet(number, flaw)
            return self.masked(record)
        return record

    def finish(self) -> Passing:
        """Return that nothing passes unchanged."""
        return Passing()

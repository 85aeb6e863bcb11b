"""Plain text: a document a line, or the whole file one document."""

from collections.abc import Iterator

from malaprop.pipeline.files.copying import Passing
from malaprop.pipeline.files.decoding import DecodedText
from malaprop.pipeline.files.textual import Record, TextCopy


class TxtCopy(TextCopy):
    r"""The copy of a file of plain text.

    Lines end with \n or \r\n and keep the end they have, also when the last one has none. Other
    signs that some take for line ends (form feed, U+2028) are part of the text.
    """

    def records(self, text: DecodedText) -> Iterator[Record]:
        """Yield the documents."""
        if self.layout.document == "file":
            yield Record([text.whole()], [0])
            return
        for line in text.lines():
            document = line.removesuffix("\n")
            if document != line:
                document = document.removesuffix("\r")
            yield Record([document, line[len(document) :]], [0])

    def finish(self) -> Passing:
        """Return that nothing passes unchanged."""
        return Passing()

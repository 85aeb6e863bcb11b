"""Plain text: a document a line, or the whole file one document."""

from collections.abc import Generator

from malaprop.files.formats.file_format import BATCH_RECORDS, has_lone_surrogates
from malaprop.files.formats.text_records import Overlong, Record, TextBatch, TextReader


class _TxtReader(TextReader, name="txt"):
    r"""Reads a file of plain text.

    Lines end with \n or \r\n and keep their ends; the last one may have none. Other characters
    that some programs take for line ends (form feed, U+2028) are part of the text. For speed, lines
    are checked in blocks, and one by one only in a block with a fault.
    """

    suffixes = (".txt", ".text", ".log")
    has_columns = False

    def batches(self) -> Generator[TextBatch, None, None]:
        if self.layout.document == "file":
            whole = self.text.whole()
            yield self._batch(1, [whole], [""], sound=_is_sound(whole))
            return
        first = 1
        for block in self.text.blocks(self.batch_characters):
            lines, ends = _lines(block)
            sound = _is_sound(block)
            for start in range(0, len(lines), BATCH_RECORDS):
                stop = start + BATCH_RECORDS
                yield self._batch(first + start, lines[start:stop], ends[start:stop], sound=sound)
            first += len(lines)

    def _batch(self, first: int, texts: list[str], ends: list[str], *, sound: bool) -> TextBatch:
        """Return a batch of documents; `first` is the number of the first one."""
        if sound:
            pieces = [""] * (2 * len(texts))
            pieces[::2], pieces[1::2] = texts, ends
            return TextBatch(
                pieces=pieces, cells=list(range(0, len(pieces), 2)), records=len(texts)
            )
        batch = TextBatch()
        for number, (text, end) in enumerate(zip(texts, ends, strict=True), start=first):
            batch.add(self.screened(number, text, Record([text, end], [0])))
        return batch


def _is_sound(block: str) -> bool:
    return not (isinstance(block, Overlong) or "\0" in block or has_lone_surrogates(block))


def _lines(block: str) -> tuple[list[str], list[str]]:
    if isinstance(block, Overlong):  # a line of which nothing but its end is there
        return [block], [str(block) if block.endswith("\n") else ""]
    lines = block.split("\n")
    ends = ["\n"] * (len(lines) - 1) + [""]
    if len(lines) > 1 and not lines[-1]:  # nothing follows the last line end
        del lines[-1], ends[-1]
    if "\r\n" in block:
        for place, line in enumerate(lines):
            if line.endswith("\r") and ends[place]:
                lines[place], ends[place] = line[:-1], "\r\n"
    return lines, ends

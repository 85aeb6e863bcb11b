"""HTML and Markdown: the whole file is one text, which says how it is marked up."""

from collections.abc import Iterator
from typing import ClassVar

from malaprop.files.formats.text_records import Record, RecordReader
from malaprop.text.markup import MARKUP_SHOWN, HtmlText, MarkdownText, MarkedText


class _DocumentReader(RecordReader):
    has_columns = False
    newline = ""
    text_type: ClassVar[type[MarkedText]]

    @property
    def start(self) -> str:
        """What is written before the text."""
        return ""

    def records(self) -> Iterator[Record]:
        whole = self.text.whole()
        # One that is too long is no text of that type.
        text = self.text_type(whole.removeprefix(self.start)) if type(whole) is str else whole
        yield self.screened(1, whole, Record([self.start, text], [1]), name="the document")


class _HtmlReader(_DocumentReader, name="html"):
    """Reads a page; what is written says that it is HTML, and in which encoding.

    The page's own declarations are dropped with all that is no text.
    """

    suffixes = (".html", ".htm", ".xhtml")
    text_type = HtmlText
    public = (MARKUP_SHOWN["html"],)

    @property
    def start(self) -> str:
        return f'<!DOCTYPE html><meta charset="{self.text.codec}">'


class _MarkdownReader(_DocumentReader, name="markdown"):
    suffixes = (".md", ".markdown")
    text_type = MarkdownText
    public = (MARKUP_SHOWN["markdown"],)

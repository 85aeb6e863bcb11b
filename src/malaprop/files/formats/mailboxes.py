"""Files of mails: `.eml`, one each, and `.mbox`, one after the other."""

import re
from abc import abstractmethod
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, BinaryIO, ClassVar, Final

from malaprop.files.compression import Unpacked
from malaprop.files.formats.file_format import (
    BATCH_RECORDS,
    PLACEHOLDER,
    Reader,
    RecordError,
    Writer,
)
from malaprop.files.formats.text_records import DecodedText, Overlong
from malaprop.privacy.errors import DataError
from malaprop.text.markup import MARKUP_SHOWN

if TYPE_CHECKING:
    from malaprop.files.mail import Mail

LARGEST: Final = 2**25
"""The most bytes that a mail may have, with all that is attached."""
_MARK: Final = "\xef\xbb\xbf"  # that of UTF-8, byte by byte
_FROM: Final = re.compile(r"From [^\n]*\d\d?:\d\d")
_QUOTED: Final = re.compile(r">++From ")
_UNQUOTED: Final = re.compile(rb"(?m)^(>*+From )")
_ENVELOPE: Final = b"From nobody@example.org Thu Jan  1 00:00:00 1970\n"


@dataclass
class MailBatch:
    """Consecutive mails, and their texts in one list."""

    mails: "list[Mail]" = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    records: int = 0
    characters: int = 0


class _MailReader(Reader[MailBatch]):
    """Reads mails as bytes, each as a character; `encoding` is for texts without a charset."""

    has_columns = False
    line_end: ClassVar[str]
    separated: ClassVar[bool] = False
    """Whether a line stands before each mail, as several are in a file."""
    public = (
        "of mails, which headers there are, of a closed list, and how many people they name",
        "which of the people in a mail are the same, and which mails of a file answer which",
        f"which texts of a mail are HTML, and {MARKUP_SHOWN['html']}",
    )

    def open(self) -> None:
        from malaprop.files.mail import BYTES, MailParser

        self.text = DecodedText(self.source, BYTES, "\n", lenient=False)
        self._parser = MailParser(self.layout.encoding)

    @property
    def consumed(self) -> int:
        source = self.source
        return source.consumed if isinstance(source, Unpacked) else self.text.consumed

    @property
    def left_out(self) -> tuple[tuple[str, int], ...]:
        return tuple(sorted((name, n) for name, n in self._parser.left_out.items() if n))

    @abstractmethod
    def mails(self) -> Iterator[str]:
        """Yield the mails of the source; each byte is a character."""

    def batches(self) -> Generator[MailBatch, None, None]:
        from malaprop.files.mail import MASKED

        batch = MailBatch()
        for number, raw in enumerate(self.mails(), start=1):
            batch.records += 1
            try:
                mail, texts = self._parser.read(_bounded(raw))
            except RecordError as flaw:
                self.faults.meet(number, flaw)
                if self.layout.on_error == "mask":
                    batch.mails.append(MASKED)
                continue
            batch.mails.append(mail)
            batch.texts += texts
            batch.characters += sum(map(len, texts))
            if batch.records >= BATCH_RECORDS or batch.characters >= self.batch_characters:
                yield batch
                batch = MailBatch()
        if batch.records:
            yield batch

    def writer(self, target: BinaryIO) -> "_MailWriter":
        return _MailWriter(target, self.line_end, separated=self.separated)


class _EmlReader(_MailReader, name="eml"):
    suffixes = (".eml",)
    line_end = "\r\n"

    def mails(self) -> Iterator[str]:
        raw = self.text.whole(LARGEST)
        yield raw if isinstance(raw, Overlong) else raw.removeprefix(_MARK)


class _MboxReader(_MailReader, name="mbox"):
    """Reads a mailbox: each mail begins with a line `From …`, behind a blank one.

    Such lines within mails are told from others by a `>` before them.
    """

    suffixes = (".mbox", ".mbx")
    line_end = "\n"
    separated = True

    def mails(self) -> Iterator[str]:
        lines: list[str] = []
        size, started, blank = 0, False, True
        for line in self.text.pieces():
            if blank and _FROM.match(line.removeprefix("" if started else _MARK)):
                if started:
                    del lines[-1:]  # the blank one
                    yield Overlong() if size > LARGEST else "".join(lines)
                lines, size, started = [], 0, True
            elif not started:
                if line.strip():
                    raise DataError(
                        "the input is no mailbox: its first line does not begin a mail; name its "
                        "format with `format` (eml for a single mail)"
                    )
            else:
                size += len(line)
                if size <= LARGEST:
                    lines.append(line[1:] if _QUOTED.match(line) else line)
                else:
                    lines.clear()
            blank = line in ("\n", "\r\n")
        if started:
            if blank:
                del lines[-1:]
            yield Overlong() if size > LARGEST else "".join(lines)


def _bounded(raw: str) -> str:
    if isinstance(raw, Overlong):
        raise RecordError(f"is longer than {LARGEST:,} bytes")
    return raw


class _MailWriter(Writer[MailBatch, list[str]]):
    """Builds mails of what is public of them, and of private texts."""

    def __init__(self, target: BinaryIO, line_end: str, *, separated: bool) -> None:
        self._target, self._line_end, self._separated = target, line_end, separated
        self._mark = ""
        """Tells identifiers of this file from those of others: follows from its first texts."""

    def write(self, batch: MailBatch, private: list[str]) -> None:
        from malaprop.files.mail import MASKED, MailBuilder

        texts = iter(private)
        for mail in batch.mails:
            own = iter((PLACEHOLDER, PLACEHOLDER)) if mail is MASKED else texts
            builder = MailBuilder(own, self._mark_of(private), line_end=self._line_end)
            written = builder.built(mail)
            if self._separated:
                written = _ENVELOPE + _UNQUOTED.sub(rb">\1", written).rstrip(b"\n") + b"\n\n"
            self._target.write(written)

    def _mark_of(self, private: Iterable[str]) -> str:
        if not self._mark:
            told = "\0".join(private).encode("utf-8", "surrogatepass")
            self._mark = blake2b(told, digest_size=8).hexdigest()
        return self._mark

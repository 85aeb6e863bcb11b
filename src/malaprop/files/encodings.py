"""The encoding of a file of text that nobody named: UTF-8 first, else what a detector finds."""

import codecs
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, Final

from malaprop.files.formats.file_format import unpacked
from malaprop.files.formats.text_records import TextReader
from malaprop.files.run import Listener, RunProgress, TextJob
from malaprop.privacy.errors import DataError

UTF8: Final = "utf-8"
_CHUNK: Final = 2**20
_SAMPLE: Final = 2**18  # bytes of lines that are not plain ASCII: more tell the detector no more
_LARGE: Final = 2**26  # bytes of a file that takes a moment to look through
_MARKS: Final = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_TOLD: Final = {name for _, name in _MARKS}  # by the file itself
# Where several fit equally well, the first one is the likeliest.
_LIKELY: Final = (
    *("cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "koi8_r"),
    *("cp932", "euc_jp", "gb18030", "big5", "euc_kr", "mac_roman", "cp850"),
)
# English with accents or typographic quotes is in the first one, unless another fits much better.
_BETTER: Final = 0.12
_LEAST_WIDE, _FEW, _MANY = 16, 0.05, 0.6
_WIDE: Final = ("utf_16_le", "utf_16_be")


def with_encoding(job: TextJob, listener: Listener) -> TextJob:
    """Return a job whose layout has the encoding of its input, if that is not UTF-8.

    The file is looked through once, or twice if it is not UTF-8. If nothing can be told, it counts
    as UTF-8, and its broken records are found when it is read.
    """
    if not (job.lasting and issubclass(job.layout.kind, TextReader)):
        return job
    if (job.size or 0) > _LARGE:
        note = f"looking for the encoding of {Path(job.source).name}"
        listener(RunProgress(stage="preparing", note=note))
    try:
        encoding = _found(job)
    except DataError:  # damaged, which reading will tell, too
        return job
    if encoding == UTF8:
        return job
    layout = replace(job.layout, encoding=encoding)
    return replace(job, layout=layout, guessed=encoding not in _TOLD)


def _found(job: TextJob) -> str:
    sample, first = bytearray(), b""
    decoder, sound = codecs.getincrementaldecoder(UTF8)(), True
    for chunk in _chunks(job):
        first = first or chunk
        if marked := next((name for mark, name in _MARKS if first.startswith(mark)), ""):
            return marked
        if sound:
            try:
                decoder.decode(chunk)
            except UnicodeDecodeError:
                sound = False
        if not chunk.isascii() and len(sample) < _SAMPLE:
            lines = (line for line in chunk.splitlines(keepends=True) if not line.isascii())
            sample += b"".join(lines)[:_SAMPLE]
    wide = _is_wide(first)
    if sound and not wide:
        return UTF8
    if not wide and _mostly_utf8(bytes(sample)):
        return UTF8
    guess = _guessed(first[:_SAMPLE] if wide else bytes(sample), wide=wide)
    return guess if guess and _can_be_read(job, guess) else UTF8


def _chunks(job: TextJob) -> Iterator[bytes]:
    with job.open_source() as file:
        source: BinaryIO = unpacked(file, job.source)
        yield from iter(lambda: source.read(_CHUNK), b"")


def _is_wide(start: bytes) -> bool:
    """Whether most of every other byte are zero, as in UTF-16 that is mostly of Latin letters."""
    halves = start[::2], start[1::2]
    zeros = sorted(half.count(0) / max(len(half), 1) for half in halves)
    return len(start) >= _LEAST_WIDE and zeros[0] < _FEW and zeros[1] > _MANY


def _mostly_utf8(sample: bytes) -> bool:
    """Whether more characters of two bytes or more are whole than bytes are broken."""
    text = sample.decode(UTF8, "surrogateescape")
    broken = sum("\udc80" <= character <= "\udcff" for character in text)
    return 2 * broken <= sum(not character.isascii() for character in text)


def _guessed(sample: bytes, *, wide: bool) -> str:
    from charset_normalizer import from_bytes

    matches = from_bytes(sample, cp_isolation=list(_WIDE if wide else _LIKELY))
    best = matches.best()
    if best is None:
        return ""
    tied = {
        name
        for match in matches
        for name in match.could_be_from_charset
        if match.chaos <= best.chaos + _BETTER * (name == _LIKELY[0])
        and match.coherence >= best.coherence - _BETTER * (name == _LIKELY[0])
    }
    name = next((name for name in (*_LIKELY, *_WIDE) if name in tied), best.encoding)
    return codecs.lookup(name).name


def _can_be_read(job: TextJob, encoding: str) -> bool:
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        for chunk in _chunks(job):
            decoder.decode(chunk)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True

"""The encoding of a file of text that nobody named: UTF-8 first, else what a detector finds.

Signs stay as they are, so letters must not be read as signs: an encoding in which signs stand
within words is none.
"""

import codecs
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
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
# Japanese as it was once mailed: plain ASCII, with sequences that begin other letters.
_ESCAPE, _ESCAPED = re.compile(rb"\x1b\$[@B]"), "iso2022_jp"
# Where several fit equally well, the first one is the likeliest.
_LIKELY: Final = (
    *("cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "koi8_r"),
    *("cp932", "euc_jp", "gb18030", "big5", "euc_kr", "mac_roman", "cp850", "iso8859_2"),
)
_ASIAN: Final = frozenset({"cp932", "euc_jp", "gb18030", "big5", "euc_kr", _ESCAPED})
# Signs within words, which dashes and quotes may be: of all characters that are not ASCII.
_INNER: Final = re.compile(
    r"(?<=[^\W\d_])[^\w\s\0-\x7f\u2010-\u2019\u2022-\u2027\xb7\xad](?=[^\W\d_])"
)
_INNER_ASIAN: Final = re.compile(
    r"(?<=[^\W\d_])[^\w\s\0-\x7f\xb7\u2010-\u2027\u3001-\u303f\u30fb\uff00-\uffef](?=[^\W\d_])"
)
_MARK, _MOST_INNER = "M", 0.02
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
    decoder, sound, escaped = codecs.getincrementaldecoder(UTF8)(), True, False
    for chunk in _chunks(job):
        first = first or chunk
        if marked := next((name for mark, name in _MARKS if first.startswith(mark)), ""):
            return marked
        if sound:
            try:
                decoder.decode(chunk)
            except UnicodeDecodeError:
                sound = False
        escaped = escaped or _ESCAPE.search(chunk) is not None
        if not chunk.isascii() and len(sample) < _SAMPLE:
            lines = (line for line in chunk.splitlines(keepends=True) if not line.isascii())
            sample += b"".join(lines)[:_SAMPLE]
    wide = _is_wide(first)
    if sound and not wide:
        return _ESCAPED if escaped and _fits(job, _ESCAPED) else UTF8
    if not wide and _mostly_utf8(bytes(sample)):
        return UTF8
    guesses = _guesses(first[:_SAMPLE] if wide else bytes(sample), wide=wide)
    return next((guess for guess in guesses if _fits(job, guess)), UTF8)


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


def _guesses(sample: bytes, *, wide: bool) -> list[str]:
    """Return the encodings that a sample may have, the likeliest first."""
    from charset_normalizer import from_bytes

    matches = from_bytes(sample, cp_isolation=list(_WIDE if wide else _LIKELY))
    best = matches.best()
    if best is None:
        return []
    tied = {
        name
        for match in matches
        for name in match.could_be_from_charset
        if match.chaos <= best.chaos + _BETTER * (name == _LIKELY[0])
        and match.coherence >= best.coherence - _BETTER * (name == _LIKELY[0])
    }
    first = [name for name in (*_LIKELY, *_WIDE) if name in tied]
    others = [name for match in matches for name in match.could_be_from_charset]
    return [codecs.lookup(name).name for name in dict.fromkeys([*first, best.encoding, *others])]


def _fits(job: TextJob, encoding: str) -> bool:
    """Whether a file can be read in an encoding, and its words then hold no signs."""
    decoder = codecs.getincrementaldecoder(encoding)()
    signs = SignsInWords(encoding)
    try:
        for chunk in chain(_chunks(job), [b""]):
            signs.look_at(decoder.decode(chunk, final=not chunk))
    except UnicodeDecodeError:
        return False
    return not signs.many


class SignsInWords:
    """Counts the signs that stand within words, where letters that are misread often do."""

    def __init__(self, encoding: str) -> None:
        self._pattern = _INNER_ASIAN if encoding in _ASIAN else _INNER
        self._inner, self._others = Counter[str](), 0

    def look_at(self, text: str) -> None:
        if not text.isascii():
            self._inner.update(self._pattern.findall(text))
            self._others += len(text) - len(text.encode("ascii", "ignore"))

    @property
    def many(self) -> bool:
        """Whether the texts are likely to be in another encoding."""
        # Marks are parts of letters.
        inner = sum(n for sign, n in self._inner.items() if unicodedata.category(sign)[0] != _MARK)
        return inner > _MOST_INNER * self._others

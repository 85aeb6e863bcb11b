"""Mails: what is public of one, its texts, and a mail built of both.

What is written is built anew. Of a mail, it has texts that were privatized, and besides only what
closed lists have: no header, name of a part or line between parts is copied. Subjects, dates and
texts are privatized. People are numbered, mail by mail, and so are identifiers, file by file. Of
parts that say the same in several ways, one is taken: each way would be another draw of every word.
"""

import base64
import binascii
import codecs
import quopri
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from email.message import EmailMessage, Message, MIMEPart
from email.parser import BytesParser
from email.policy import compat32, default
from email.utils import format_datetime, getaddresses, parsedate_to_datetime
from hashlib import blake2b
from typing import Final, Literal, NamedTuple, TypeAlias, cast

from malaprop.files.encodings import SignsInWords
from malaprop.files.formats.file_format import RecordError, check_text
from malaprop.text.markup import HtmlText

_DEEPEST: Final = 20  # parts within parts
_MOST_PARTS: Final = 1_000
_LONGEST_SUBJECT: Final = 10_000
_MOST_NAMED: Final = 1_000  # people, or identifiers, in a header: to write more takes too long
_REMEMBERED: Final = 2**18  # identifiers of a file: others get new ones each time
BYTES: Final = "latin-1"
"""In which each byte is a character."""

_PEOPLE: Final = ("From", "Sender", "Reply-To", "To", "Cc", "Bcc")
_IDENTIFIERS: Final = ("Message-ID", "In-Reply-To", "References")
_IDENTIFIER: Final = re.compile(r"<[^<>\s]++>")
_KEPT: Final = {
    "Importance": {"low", "normal", "high"},
    "Priority": {"non-urgent", "normal", "urgent"},
    "X-Priority": {"1", "2", "3", "4", "5"},
    "Sensitivity": {"personal", "private", "company-confidential"},
    "Precedence": {"bulk", "list", "junk"},
    "Auto-Submitted": {"no", "auto-generated", "auto-replied"},
}
"""Headers that stay, with the values that they may have."""
_STRUCTURE: Final = frozenset({"mime-version", "content-type", "content-transfer-encoding"})
_READ: Final = frozenset(
    name.lower() for name in (*_PEOPLE, *_IDENTIFIERS, *_KEPT, "Subject", "Date")
)
_TRANSFER: Final = frozenset({"", "7bit", "8bit", "binary", "quoted-printable", "base64"})

# Charsets: those of people's mails. Python has codecs that are none.
_CHARSET: Final = re.compile(r"[A-Za-z0-9][\w.:+-]{0,39}", re.ASCII)
_CODECS: Final = re.compile(
    r"utf-(8|7|16|32)(-[lb]e)?|utf-8-sig|ascii|iso8859-\d+|cp\d+|koi8-[rut]|mac-\w+|gb2312|gbk|gb18030"
    r"|hz|big5|big5hkscs|shift_jis\w*|euc_\w+|iso2022_\w+|johab|tis-620|kz1048|ptcp154"
)
_FALLBACK: Final = "cp1252"
_ENCODED_WORD: Final = re.compile(r"=\?([^?*\s]{1,40})(?:\*[^?\s]*)?\?([BbQq])\?([^?\s]*)\?=")
_BETWEEN_WORDS: Final = re.compile(r"(?<=\?=)\s++(?==\?)")

Kind = Literal["plain", "html"]
_Message: TypeAlias = "Message[str, str]"


class Mail(NamedTuple):
    """What is public of a mail. Its texts are the subject, the date and those of its parts."""

    headers: tuple[tuple[str, str], ...] = ()
    identifiers: tuple[tuple[str, tuple[int, ...]], ...] = ()
    has_subject: bool = False
    has_date: bool = False
    parts: "tuple[Kind | Mail, ...]" = ()


MASKED: Final = Mail(has_subject=True, parts=("plain",))


class MailParser:
    """Reads mails of one file; remembers identifiers, and counts what is left out."""

    def __init__(self, encoding: str) -> None:
        self._encoding = encoding
        self._identifiers: dict[bytes, int] = {}
        self._numbered = 0
        self.left_out = Counter[str]()
        self._clear()

    def _clear(self) -> None:
        self._people: dict[str, int] = {}
        self._parts = 0
        self._left: Counter[str] = Counter()
        self._texts: list[str] = []

    def read(self, raw: str) -> tuple[Mail, list[str]]:
        """Return what is public of a mail, and its texts; each byte of it is a character."""
        self._clear()
        try:
            # The modern policy reads headers by a grammar, which fails on some that are broken.
            message = BytesParser(policy=compat32).parsebytes(raw.encode(BYTES))
            mail = self._mail(message, 0)
            for text in self._texts:
                check_text(text)
        except RecordError:
            raise
        except Exception:  # the parser meets all that people send
            raise RecordError("cannot be read as a mail") from None
        self.left_out += self._left
        return mail, self._texts

    def _mail(self, message: _Message, depth: int) -> Mail:
        headers: dict[str, str] = {}
        for name, value in message.raw_items():
            self._left["headers"] += name.lower() not in _READ | _STRUCTURE
            headers.setdefault(name.lower(), re.sub(r"\s*[\r\n]+\s*", " ", str(value)))
        if not depth and not (headers.keys() & (_READ | _STRUCTURE)):
            raise RecordError("has no headers of a mail")
        shown = [
            (name, self._stand_ins(headers[name.lower()], only_one=name == "Sender"))
            for name in _PEOPLE
            if headers.get(name.lower(), "").strip()
        ]
        for name, values in _KEPT.items():
            value = headers.get(name.lower(), "").strip().lower()
            if value in values:
                shown.append((name, value))
            elif value:
                self._left["headers"] += 1
        identifiers = [
            (name, self._numbers(headers.get(name.lower(), ""))) for name in _IDENTIFIERS
        ]
        subject, date = headers.get("subject"), _date_text(headers.get("date", ""))
        if subject is not None:
            self._texts.append(self._header_text(subject))
        if date:
            self._texts.append(date)
        return Mail(
            headers=tuple(shown),
            identifiers=tuple((name, numbers) for name, numbers in identifiers if numbers),
            has_subject=subject is not None,
            has_date=bool(date),
            parts=tuple(self._leaves(message, depth)),
        )

    def _stand_ins(self, header: str, *, only_one: bool) -> str:
        """Return a header that names as many people, by the number of each in its mail."""
        pairs = getaddresses([header])
        keys = (address.strip() or name.strip() for name, address in pairs)
        people = dict.fromkeys(key.lower() for key in keys if key) or ("?",)
        numbers = [self._people.setdefault(key, len(self._people) + 1) for key in people]
        shown = numbers[: 1 if only_one else _MOST_NAMED]
        return ", ".join(f"Person {n} <person{n}@example.org>" for n in shown)

    def _numbers(self, header: str) -> tuple[int, ...]:
        """Return the numbers of a header's identifiers in the file."""
        return tuple(map(self._number, _IDENTIFIER.findall(header)[-_MOST_NAMED:]))

    def _number(self, identifier: str) -> int:
        key = blake2b(identifier.encode("utf-8", "surrogateescape"), digest_size=8).digest()
        if key not in self._identifiers:
            if len(self._identifiers) >= _REMEMBERED:
                del self._identifiers[next(iter(self._identifiers))]
            self._numbered += 1
            self._identifiers[key] = self._numbered
        return self._identifiers[key]

    def _leaves(self, message: _Message, depth: int) -> Iterator[Kind | Mail]:
        """Yield the texts and mails in a part; the texts are kept in the same order."""
        self._parts += 1
        if depth > _DEEPEST or self._parts > _MOST_PARTS:
            raise RecordError("has too many parts, or parts nested too deep")
        type_, inner = message.get_content_type(), _inner(message)
        if type_ == "message/rfc822" and inner and inner[0].keys():
            yield self._mail(inner[0], depth + 1)
        elif type_ == "multipart/alternative" and inner:
            yield from self._chosen(inner, depth)
        elif message.get_content_maintype() == "multipart":
            if not inner:
                raise RecordError("has parts that cannot be told apart")
            for part in inner:
                yield from self._leaves(part, depth + 1)
        elif (
            type_ not in ("text/plain", "text/html")
            or message.get_content_disposition() == "attachment"
            or message.get_filename() is not None
        ):
            self._left["attachments"] += 1
        else:
            text = self._text(message)
            self._texts.append(HtmlText(text) if type_ == "text/html" else text)
            yield "html" if type_ == "text/html" else "plain"

    def _chosen(self, parts: Sequence[_Message], depth: int) -> Iterator[Kind | Mail]:
        """Yield what is in one of the parts that say the same: in plain text, if there is one."""
        plain = [part for part in parts if part.get_content_type() == "text/plain"]
        others = [part for part in reversed(parts) if part not in plain]
        for part in (*plain, *others):
            before = len(self._texts)
            leaves = list(self._leaves(part, depth + 1))
            if any(map(str.strip, self._texts[before:])):
                self._left["alternatives"] += len(parts) - 1
                yield from leaves
                return
            del self._texts[before:]

    def _text(self, message: _Message) -> str:
        transfer = str(message.get("content-transfer-encoding", "")).strip().lower()
        if transfer not in _TRANSFER:
            raise RecordError("has a text in an unknown transfer encoding")
        known = len(message.defects)
        data = message.get_payload(decode=True)
        if len(message.defects) > known or not isinstance(data, bytes):
            raise RecordError("has a text whose transfer encoding is broken")
        charset = message.get_param("charset")
        return self._decoded(data, charset if isinstance(charset, str) else "").replace(
            "\r\n", "\n"
        )

    def _decoded(self, data: bytes, charset: str) -> str:
        """Decode a text; if its charset is unknown or wrong, by what is likely."""
        named = (charset, self._encoding, "utf-8")
        for name in (*named, _FALLBACK):
            codec = _codec(name)
            if codec:
                try:
                    text = data.decode(codec)
                except (UnicodeError, ValueError):
                    continue
                if name in named or not _is_misread(text):
                    return text
        raise RecordError(
            "has a text that is not in the charset that it names", "name another with `encoding`"
        )

    def _header_text(self, header: str) -> str:
        """Return the text of a header, with encoded words decoded. Broken ones are text."""
        text = self._decoded(header.encode("utf-8", "surrogateescape"), "utf-8")
        if len(text) > _LONGEST_SUBJECT:
            raise RecordError(f"has a subject of more than {_LONGEST_SUBJECT:,} characters")
        pieces: list[tuple[str, bytes]] = []  # adjacent words of a charset may share a character
        end = 0
        text = _BETWEEN_WORDS.sub("", text)
        for word in _ENCODED_WORD.finditer(text):
            if (data := _word_bytes(word[2], word[3])) is None:
                continue
            if end < word.start():
                pieces.append(("", text[end : word.start()].encode("utf-8", "surrogatepass")))
            charset = word[1].lower()
            if pieces and pieces[-1][0] == charset and end == word.start():
                data = pieces.pop()[1] + data
            pieces.append((charset, data))
            end = word.end()
        pieces.append(("", text[end:].encode("utf-8", "surrogatepass")))
        return " ".join("".join(self._decoded(data, name) for name, data in pieces).split())


def _inner(message: _Message) -> list[_Message]:
    """Return the parts of a part, or the mail in it; none if there are none."""
    payload = message.get_payload()
    return cast("list[_Message]", payload) if isinstance(payload, list) else []


def _word_bytes(form: str, text: str) -> bytes | None:
    """Return what is in an encoded word, or None if it is broken."""
    try:
        data = text.encode("ascii")
        if form in "Qq":
            return quopri.decodestring(data, header=True)
        return base64.b64decode(data + b"=" * (-len(data) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None


def _codec(name: str) -> str | None:
    """Return the codec for a charset, if it is one of people's mails."""
    if not _CHARSET.fullmatch(name):
        return None
    try:
        codec = codecs.lookup(name).name
    except LookupError:
        return None
    return codec if _CODECS.fullmatch(codec) else None


def _is_misread(text: str) -> bool:
    signs = SignsInWords(_FALLBACK)
    signs.look_at(text)
    return signs.many


def _date_text(header: str) -> str:
    """Return a date as it is privatized: its clock is that of UTC."""
    try:
        date = parsedate_to_datetime(header)
        if date.tzinfo is not None:
            date = date.astimezone(UTC)
    except (ValueError, TypeError, IndexError, OverflowError):
        return ""
    return date.replace(tzinfo=None).isoformat(" ", "seconds")


class MailBuilder:
    """Builds a mail of its private texts, in order; `mark` is in its identifiers."""

    def __init__(self, texts: Iterator[str], mark: str, *, line_end: str) -> None:
        self._policy = default.clone(linesep=line_end)
        self._texts, self._mark = texts, mark
        self._boundaries = 0

    def built(self, mail: Mail) -> bytes:
        """Return the mail as it is written."""
        return self._message(mail).as_bytes(policy=self._policy)

    def _message(self, mail: Mail) -> EmailMessage:
        message = EmailMessage(policy=self._policy)
        # A header must not take private words for an encoded word, and decode them.
        subject = (
            " ".join(next(self._texts).split()).replace("=?", "= ?") if mail.has_subject else None
        )
        date = _as_date(next(self._texts)) if mail.has_date else None
        for name, value in mail.headers:
            message[name] = value
        for name, numbers in mail.identifiers:
            message[name] = " ".join(f"<{number}.{self._mark}@example.org>" for number in numbers)
        if date is not None:
            message["Date"] = format_datetime(date)
        if subject is not None:
            message["Subject"] = subject
        if len(mail.parts) == 1 and isinstance(mail.parts[0], str):
            self._fill(message, mail.parts[0])
            return message
        if not mail.parts:
            message.set_content("")
            return message
        message["MIME-Version"] = "1.0"
        message["Content-Type"] = "multipart/mixed"
        self._boundaries += 1
        message.set_boundary(f"==malaprop-{self._boundaries}==")
        message.set_payload([])
        for part in mail.parts:
            inner = MIMEPart(policy=self._policy)
            if isinstance(part, Mail):
                inner.set_content(self._message(part))
            else:
                self._fill(inner, part)
            message.attach(cast(EmailMessage, inner))
        return message

    def _fill(self, part: MIMEPart, kind: Kind) -> None:
        text = next(self._texts)
        # Quoted, no line is one between parts.
        transfer = "quoted-printable" if "==" in text else None
        part.set_content(text, subtype=kind, charset="utf-8", cte=transfer)


def _as_date(text: str) -> datetime | None:
    """Return the date that a private text states; words that are no date make none."""
    try:
        return datetime.strptime(text.strip(), "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC)
    except ValueError:
        return None

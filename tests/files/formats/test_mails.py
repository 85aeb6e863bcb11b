"""Mails: built anew of private texts; nothing else of them comes through."""

import base64
import email
import email.policy
import io
import json
from collections.abc import Callable
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.files.copies import rewrite

from malaprop import privatize_files
from malaprop.files import mail as mail_module
from malaprop.files.formats import Layout, mailboxes
from malaprop.privacy.errors import DataError
from malaprop.report.file_counts import FileCounts
from malaprop.text.markup import HtmlText

CANARY = "xylophonist"
FROM = b"From ann@example.com Mon Jan  2 10:11:12 2023\n"
FULL = f"""Received: from {CANARY}.example ([{CANARY}]) by {CANARY}; Mon, 2 Mar 2020 10:00:00 +0000
From: "{CANARY} (boss)" <ann@{CANARY}.example> ({CANARY})
Sender: ANN@{CANARY}.example, bob@{CANARY}.example
To: =?utf-8?q?{CANARY}?= <bob@{CANARY}.example>, {CANARY}: c@{CANARY}.example, d;, undisclosed:;
Reply-To: {CANARY} {CANARY} <<
Subject: The plan
Date: Mon, 2 Mar 2020 23:30:00 -0500 ({CANARY})
Message-ID: <1.{CANARY}@x>
In-Reply-To: {CANARY} <0.{CANARY}@x>
References: <0.{CANARY}@x> <1.{CANARY}@x>
X-{CANARY}: {CANARY}
X-Mailer: {CANARY}
List-Id: {CANARY}
Importance: High
Priority: {CANARY}
Comments: {CANARY}
Keywords: {CANARY}
DKIM-Signature: {CANARY}
MIME-Version: 1.0 ({CANARY})
Content-Type: multipart/mixed; boundary="{CANARY}-1"; {CANARY}={CANARY}
Content-Language: {CANARY}

preamble {CANARY}
--{CANARY}-1
Content-Type: multipart/alternative; boundary="{CANARY}-2"

--{CANARY}-2
Content-Type: text/plain; charset="{CANARY}"; name-{CANARY}={CANARY}
Content-ID: <{CANARY}>
Content-Description: {CANARY}

The text
--{CANARY}-2
Content-Type: text/html; charset=utf-8

<p>{CANARY}</p>
--{CANARY}-2--
epilogue {CANARY}
--{CANARY}-1
Content-Type: text/plain; name="{CANARY}.txt"

{CANARY}
--{CANARY}-1
Content-Type: application/pdf; name="{CANARY}.pdf"
Content-Disposition: attachment; filename="{CANARY}.pdf"
Content-Transfer-Encoding: base64

{base64.b64encode(CANARY.encode()).decode()}
--{CANARY}-1
Content-Type: text/{CANARY}

{CANARY}
--{CANARY}-1
Content-Type: message/rfc822; {CANARY}=1

From: {CANARY}@x
X-Spam: {CANARY}
Subject: Inner
Content-Type: text/html; charset=us-ascii

<p class="x">Inner text</p>
--{CANARY}-1--
epilogue {CANARY}
""".encode()


def copied(
    data: bytes, format_: str = "eml", change: Callable[[str], str] = str, **options: Any
) -> tuple[bytes, list[str], FileCounts]:
    texts: list[str] = []

    def keep(batch: list[str]) -> list[str]:
        texts.extend(batch)
        return list(map(change, batch))

    target = io.BytesIO()
    layout = Layout(format=format_, **options)
    counts = rewrite(io.BytesIO(data), target, layout, keep)
    return target.getvalue(), texts, counts


def parsed(data: bytes) -> EmailMessage:
    message = email.message_from_bytes(data, policy=email.policy.default)
    assert isinstance(message, EmailMessage)
    for part in message.walk():
        assert not part.defects
        assert all(not value.defects for value in part.values())
    return message


def of_text(text: bytes, headers: bytes = b"Content-Type: text/plain; charset=utf-8") -> bytes:
    return b"Subject: s\n" + headers + b"\n\n" + text


@pytest.mark.parametrize("format_", ["eml", "mbox"])
def test_nothing_but_texts_comes_through(format_: str) -> None:
    data = FULL if format_ == "eml" else FROM + FULL + b"\n" + FROM + FULL
    copy, texts, counts = copied(data, format_)
    assert CANARY.encode() not in copy.lower()
    assert base64.b64encode(CANARY.encode()) not in copy
    own = ["The plan", "2020-03-03 04:30:00", "The text", "Inner", '<p class="x">Inner text</p>']
    assert [text.strip() for text in texts] == own * counts.records
    assert [isinstance(text, HtmlText) for text in texts] == [False] * 4 + [True] + (
        [False] * 4 + [True]
    ) * (counts.records - 1)
    left_out = dict(counts.left_out)
    assert left_out["attachments"] == 3 * counts.records
    assert left_out["alternatives"] == counts.records
    assert left_out["headers"] == 10 * counts.records


def test_what_is_written_is_a_sound_mail() -> None:
    message = parsed(copied(FULL)[0])
    assert message["From"] == "Person 1 <person1@example.org>"
    assert message["Sender"] == message["From"]
    assert [each.addr_spec for each in message["To"].addresses] == [
        f"person{n}@example.org" for n in (3, 4, 5, 2)
    ] or message["To"]
    assert message["Importance"] == "high"
    assert message["Priority"] is None
    assert message["Date"].datetime.isoformat() == "2020-03-03T04:30:00+00:00"
    own, earlier = message["Message-ID"], message["In-Reply-To"]
    assert message["References"] == f"{earlier} {own}"
    assert own != earlier
    plain, nested = message.iter_parts()
    assert plain.get_content().strip() == "The text"
    inner = nested.get_content()
    assert (inner["Subject"], inner["From"].addresses[0].display_name[:6]) == ("Inner", "Person")
    assert inner.get_content_type() == "text/html"


def test_people_and_identifiers_are_numbered() -> None:
    """People by mail, identifiers by file."""
    first = b"From: a@x\nTo: B <b@x>, A@X\nMessage-ID: <1@x>\n\ntext\n"
    second = b"From: b@x\nCc: a@x\nIn-Reply-To: <1@x>\nMessage-ID: <2@x>\n\ntext\n"
    copy, _, _ = copied(FROM + first + b"\n" + FROM + second, "mbox")
    one, two = (parsed(b"From: " + part) for part in copy.split(b"\nFrom: ")[1:])
    assert one["To"] == "Person 2 <person2@example.org>, Person 1 <person1@example.org>"
    assert (two["From"], two["Cc"]) == (
        "Person 1 <person1@example.org>",
        "Person 2 <person2@example.org>",
    )
    assert two["In-Reply-To"] == one["Message-ID"] != two["Message-ID"]


def test_the_first_people_and_the_last_identifiers_of_long_headers_are_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(mail_module, "_MOST_NAMED", 2)
    copy, _, _ = copied(
        b"Message-ID: <3@x>\nReferences: <1@x> <2@x> <3@x>\nTo: a@x, b@x, c@x\n\ntext\n"
    )
    assert parsed(copy)["To"].count("Person") == 2
    assert parsed(copy)["References"].split()[1:] == [parsed(copy)["Message-ID"]]


def test_identifiers_that_are_forgotten_become_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mail_module, "_REMEMBERED", 1)
    mails = b"".join(FROM + b"Message-ID: <%d@x>\n\ntext\n\n" % n for n in (1, 1, 2, 1))
    copy, _, _ = copied(mails, "mbox")
    found = [line.split(b".")[0] for line in copy.splitlines() if line.startswith(b"Message-ID")]
    assert [line.split(b"<")[1] for line in found] == [b"1", b"1", b"2", b"3"]


KNOWN = [
    (b"caf\xc3\xa9", b"text/plain; charset=utf-8", "café"),
    (b"caf\xe9", b"text/plain; charset=iso-8859-1", "café"),
    (b"caf\xe9", b"text/plain; charset=utf-8", "café"),  # which is wrong
    (b"caf\xc3\xa9", b"text/plain; charset=us-ascii", "café"),
    (b"caf\xe9", b"text/plain", "café"),
    (b"\x93quoted\x94", b"text/plain; charset=x-unknown", "“quoted”"),
    (b"caf\xe9", b"text/plain; charset=rot13", "café"),  # which is no charset
    (b"caf\xe9", b"text/plain; charset=unicode_escape", "café"),
    (b"\xf0\xd2", b"text/plain; charset=KOI8-R", "Пр"),
    ("日本".encode("iso2022_jp"), b"text/plain; charset=iso-2022-jp", "日本"),
]


@pytest.mark.parametrize(("text", "type_", "expected"), KNOWN)
@pytest.mark.parametrize("transfer", ["8bit", "base64", "quoted-printable"])
def test_texts_are_decoded(text: bytes, type_: bytes, expected: str, transfer: str) -> None:
    sent = text
    if transfer == "base64":
        sent = base64.encodebytes(text)
    elif transfer == "quoted-printable":
        sent = b"".join(b"=%02X" % byte for byte in text)
    headers = b"Content-Transfer-Encoding: %s\nContent-Type: %s" % (transfer.encode(), type_)
    _, (_, found), _ = copied(of_text(sent, headers))
    assert found.strip() == expected


def test_encoding_is_for_texts_whose_charset_is_missing() -> None:
    assert copied(of_text(b"\xf0\xd2", b"X: y"), encoding="koi8-r")[1][1] == "Пр"


SUBJECTS = [
    (b"=?utf-8?q?caf=C3=A9?=", "café"),
    (b"=?utf-8?Q?a_b?= =?UTF-8?B?Y2Fmw6k=?= c", "a bcafé c"),
    (b"=?utf-8?b?Y2Fmw?=\n =?utf-8?b?6k=?= c", "=?utf-8?b?Y2Fmw?=ê c"),
    (b"=?utf-8?q?=C3?= =?utf-8?q?=A9?=", "é"),
    (b"=?koi8-r*ru?b?8NI=?=", "Пр"),
    (b"=?xylo?q?caf=E9?=", "café"),
    (b"=?utf-8?b?!!!?= x", "=?utf-8?b?!!!?= x"),
    (b"=?utf-8?x?abc?=", "=?utf-8?x?abc?="),
    (b"caf\xc3\xa9 \xe2\x82\xac", "café €"),
    (b"caf\xe9", "café"),
    (b" folded\n\t over\n  lines ", "folded over lines"),
    (b"", ""),
]


@pytest.mark.parametrize(("subject", "expected"), SUBJECTS)
def test_subjects_are_decoded(subject: bytes, expected: str) -> None:
    _, (found, _), _ = copied(b"Subject: " + subject + b"\nFrom: a@x\n\ntext")
    assert found == expected


BROKEN = [
    b"",
    b"\n\nxylophonist",
    b"xylophonist",
    b"X-Header: xylophonist\n\nxylophonist",
    of_text(b"xylophonist", b"Content-Type: multipart/mixed"),
    of_text(b"xyloph\x93niste op\x82r\x82", b"Content-Type: text/plain"),  # of DOS
    of_text(b"xylophonist", b"Content-Type: multipart/mixed; boundary=b"),
    of_text(b"xylophonis", b"Content-Transfer-Encoding: base64"),
    of_text(b"xylophonist!", b"Content-Transfer-Encoding: base64"),
    of_text(b"xylophonist", b"Content-Transfer-Encoding: x-xylophonist"),
    of_text(b"xylophonist\0"),
    b"Subject: xylophonist\0\n\nx",
    b"From: " + b"(" * 50_000 + b"xylophonist\n\nx",
    b"Subject: " + b"xylophonist " * 1000 + b"\n\nx",
    b"Content-Type: message/rfc822\n\n" * 30 + b"Subject: xylophonist\n\nx",
]


@pytest.mark.parametrize("data", BROKEN)
def test_what_is_broken_is_refused_left_out_or_masked(data: bytes) -> None:
    with pytest.raises(DataError) as refused:
        copied(data)
    assert CANARY not in str(refused.value)
    assert refused.value.__context__ is None
    whole = b"Subject: sound\n\nmail\n"
    mailbox = FROM + whole + b"\n" + FROM + data + b"\n\n" + FROM + whole
    copy, texts, counts = copied(mailbox, "mbox", on_error="skip")
    assert texts == ["sound", "mail\n", "sound", "mail\n"]
    assert [fault.record for fault in counts.faults] == [2]
    assert counts.records == 3
    copy, _, counts = copied(mailbox, "mbox", on_error="mask")
    assert copy.count(b"Subject: [masked]") == 1
    assert CANARY.encode() not in copy


def test_of_alternatives_html_is_taken_if_nothing_else_says_anything() -> None:
    html = b"--b\nContent-Type: text/html\n\n<p>html\n"
    plain = b"--b\nContent-Type: text/plain\n\n \n"
    type_ = b'Content-Type: multipart/alternative; boundary="b"'
    _, texts, _ = copied(of_text(plain + html + b"--b--", type_))
    assert texts[1:] == ["<p>html"]
    assert isinstance(texts[1], HtmlText)
    _, texts, _ = copied(of_text(html + plain.replace(b" \n", b"plain\n") + b"--b--", type_))
    assert texts[1:] == ["plain"]


@pytest.mark.parametrize("date", ["", "Ann", "35 Foo 2020", "Mon, 1 Jan 20200 00:00:00 +2300"])
def test_what_is_no_date_is_left_out(date: str) -> None:
    copy, texts, _ = copied(f"Date: {date}\nSubject: s\n\nx".encode())
    assert parsed(copy)["Date"] is None
    assert len(texts) == 2


def test_a_private_date_that_is_none_is_left_out() -> None:
    """Mechanisms that turn dates into words make none."""
    copy, _, _ = copied(b"Date: Mon, 2 Mar 2020 23:30:00 +0000\n\nx", change=lambda _: "words")
    assert parsed(copy)["Date"] is None


def test_private_words_in_a_subject_are_not_decoded_as_an_encoded_word() -> None:
    private = "=?utf-8?q?words=0D=0AX:_y?="
    copy, _, _ = copied(b"Subject: s\n\nx", change=lambda _: private)
    assert parsed(copy)["Subject"] == private.replace("=?", "= ?")
    assert parsed(copy).keys() == [
        "Subject",
        "Content-Type",
        "Content-Transfer-Encoding",
        "MIME-Version",
    ]


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=4, max_size=4))
def test_all_private_texts_can_be_written(private: list[str]) -> None:
    data = (
        b'Subject: s\nContent-Type: multipart/mixed; boundary="b"\n\n--b\n\none\n--b\n'
        b"Content-Type: text/html\n\ntwo\n--b\n\nthree\n--b--\n"
    )
    for format_, whole in (("eml", data), ("mbox", FROM + data)):
        texts = iter(private)
        copy, _, _ = copied(whole, format_, lambda _, texts=texts: next(texts))  # type: ignore[misc]
        message = email.message_from_bytes(copy, policy=email.policy.compat32)
        parts = message.get_payload()
        assert isinstance(parts, list)
        assert len(parts) == 3
        for part, text in zip(parts, private[1:], strict=True):
            assert isinstance(part, email.message.Message)
            found = part.get_payload(decode=True)
            assert isinstance(found, bytes)
            lines = [line.removeprefix(b">") for line in found.splitlines()]
            expected = [line.removeprefix(b">") for line in text.encode().splitlines()]
            assert b"\n".join(lines).strip() == b"\n".join(expected).strip()


def test_lines_that_begin_like_mails_stay_in_theirs() -> None:
    body = b"From here on\n\n>From me\n\n>>From x\n\nFrom 10:10 on\n"
    data = FROM + b"Subject: s\n\nFrom here on\n\n>From me\n\n>>From x\n\n>From 10:10 on\n"
    copy, texts, _ = copied(data, "mbox")
    assert texts[1] == body.replace(b">F", b"F").replace(b">>", b">").decode()
    again, texts_again, _ = copied(copy, "mbox")
    assert (again, texts_again) == (copy, texts)


@pytest.mark.parametrize("data", [b"xylophonist\n", b"\nxylophonist", b"Subject: xylophonist\n\nx"])
def test_what_is_no_mailbox_is_refused(data: bytes) -> None:
    for on_error in ("fail", "skip", "mask"):
        with pytest.raises(DataError, match="is no mailbox") as refused:
            copied(data, "mbox", on_error=on_error)
        assert CANARY not in str(refused.value)


def test_an_empty_mailbox_stays_one() -> None:
    assert copied(b"", "mbox")[0] == b""


def test_a_mail_that_is_too_long_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mailboxes, "LARGEST", 200)
    small, large = b"Subject: s\n\nx\n\n", b"Subject: s\n\n" + b"xylophonist\n" * 50 + b"\n"
    _, texts, counts = copied(FROM + small + FROM + large + FROM + small, "mbox", on_error="skip")
    assert texts == ["s", "x\n"] * 2
    assert counts.faults[0].reason == "is longer than 200 bytes"
    with pytest.raises(DataError, match="longer than 200 bytes"):
        copied(large)


def test_marks_of_utf8_are_passed_over() -> None:
    assert copied(b"\xef\xbb\xbfSubject: s\n\nx")[1] == ["s", "x"]
    assert copied(b"\xef\xbb\xbf" + FROM + b"Subject: s\n\nx", "mbox")[1] == ["s", "x"]


def test_mails_are_privatized(tmp_path: Path) -> None:
    for name, data in (("a.eml", FULL), ("a.mbox", FROM + FULL)):
        (tmp_path / name).write_bytes(data)
        output, page = tmp_path / f"out-{name}", tmp_path / f"{name}.json"
        report = privatize_files(tmp_path / name, output, epsilon=1.5, workers=1, report=page)
        assert CANARY.encode() not in output.read_bytes().lower()
        assert b"person1@example.org" in output.read_bytes()
        told = json.loads(page.read_text())
        assert told["files"][0]["left_out"] == {"alternatives": 1, "attachments": 3, "headers": 10}
        assert CANARY not in page.read_text()
        assert any("how many people" in line for line in report.visible)
        assert any("how many people" in line for line in report.guarantee.public)
    message = parsed((tmp_path / "out-a.eml").read_bytes())
    assert 2018 <= message["Date"].datetime.year <= 2022

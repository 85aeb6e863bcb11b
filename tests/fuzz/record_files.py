"""Fuzz each file format: a damaged file is copied faithfully or refused, and nothing is told."""

import csv
import io
import json
import random
import re
from collections import Counter
from collections.abc import Callable
from email.message import EmailMessage

from tests.files.copies import rewrite
from tests.fuzz.mutations import mutated

from malaprop.files.formats import FORMATS, Layout, registry
from malaprop.files.formats.file_format import packed, unpacked
from malaprop.privacy.errors import MalapropError
from malaprop.report.file_counts import FaultyRecord

CANARY = "xylophonist"
"""A word that stands in each private text, and must not be told."""

REBUILT = ("eml", "mbox")
"""Formats of which files are built anew: their line ends are their own."""
_ENDS = ("\n", "\r\n")
_TEXTS = (
    f"{CANARY} was here",
    f'{CANARY}, "quoted"\nand broken',
    f"\t{CANARY} \\ 'ß' 😀 \u2028",
    CANARY,
    "",
)


def fuzz(cases: int, seed: int) -> dict[str, int]:
    """Copy as many damaged files of each format; return how many were copied and refused."""
    figures: Counter[str] = Counter()
    choices = random.Random(seed)
    for format_ in FORMATS:
        make = MAKERS[format_]
        for _ in range(cases):
            whole = make(choices)
            _check_whole(whole, format_)
            figures[f"{format_} {_check_damaged(mutated(whole, choices), format_, choices)}"] += 1
    for ending in (".gz", ".zst"):
        for _ in range(cases):
            figures[f"{ending} {_check_packed(_csv(choices), ending, choices)}"] += 1
    return dict(figures)


def _layout(format_: str, on_error: str = "fail") -> Layout:
    columns = ("note",) if registry[format_].has_columns else ()
    return Layout(format=format_, columns=columns, on_error=on_error)  # type: ignore[arg-type]


def _check_whole(data: bytes, format_: str) -> None:
    """Of a sound file, all private texts are replaced, and nothing else is lost."""
    target = io.BytesIO()
    counts = rewrite(io.BytesIO(data), target, _layout(format_), lambda texts: ["?"] * len(texts))
    assert CANARY.encode() not in target.getvalue()
    assert not counts.faulty


def _check_damaged(data: bytes, format_: str, choices: random.Random) -> str:
    """A damaged file is refused, or its copy holds the same texts, and is copied to the byte."""
    on_error = choices.choice(("fail", "skip", "mask"))
    try:
        texts, copy, faults = _copied(data, format_, on_error)
    except MalapropError as error:
        if not _is_header(data, format_):
            _check_told([str(error)])
        return "refused"
    _check_told([fault.reason for fault in faults])
    if not faults:
        texts_again, copy_again, _ = _copied(copy, format_, on_error)
        if format_ in REBUILT:
            _check_rebuilt(data, format_, on_error)
            texts, texts_again = _words(texts), _words(texts_again)
        assert texts_again == texts, "the copy has other texts"
        # What is outside the texts of a file with an index (Parquet), Arrow writes in its own way.
        stable = copy_again == copy or registry[format_].seeks or format_ in REBUILT
        assert stable, "the copy is not stable"
    return "copied"


def _check_rebuilt(data: bytes, format_: str, on_error: str) -> None:
    """Whatever the damage, nothing but texts comes through."""
    target, layout = io.BytesIO(), _layout(format_, on_error)
    rewrite(io.BytesIO(data), target, layout, lambda texts: ["?"] * len(texts))
    assert CANARY[:8].encode() not in target.getvalue(), "something else came through"


def _words(texts: list[str]) -> list[str]:
    return [" ".join(text.split()) for text in texts if text.strip()]


def _check_packed(data: bytes, ending: str, choices: random.Random) -> str:
    """A damaged packed file is refused; where there is a checksum, all that passes is the same."""
    target = io.BytesIO()
    packing = packed(target, f"notes.csv{ending}")
    assert packing is not None
    packing.write(data)
    packing.finish()
    source = unpacked(io.BytesIO(mutated(target.getvalue(), choices)), f"notes.csv{ending}")
    try:
        read = b"".join(iter(lambda: source.read(1 << 16), b""))
    except MalapropError as error:
        _check_told([str(error)])
        return "refused"
    # Files may stand one after another. Our Zstandard has no checksum, so that a flip may pass.
    same = read == data * (len(read) // len(data))
    assert same or ending == ".zst", "something else was unpacked"
    return "unpacked"


def _is_header(data: bytes, format_: str) -> bool:
    """Whether the damage put a text into the header; names of columns may be told."""
    first = re.split(rb"[\r\n]", data.strip())[0]
    return bool(registry[format_].separator) and CANARY.encode() in first


def _check_told(messages: list[str]) -> None:
    assert not any(CANARY in message for message in messages), "a message tells the user's text"


def _copied(
    data: bytes, format_: str, on_error: str
) -> tuple[list[str], bytes, tuple[FaultyRecord, ...]]:
    target = io.BytesIO()
    texts: list[str] = []

    def keep(batch: list[str]) -> list[str]:
        texts.extend(batch)
        return batch

    counts = rewrite(io.BytesIO(data), target, _layout(format_, on_error), keep)
    return texts, target.getvalue(), counts.faults


def _rows(choices: random.Random) -> list[tuple[str, str, str]]:
    count = choices.randint(1, 5)
    return [(f"{i:03}", choices.choice(_TEXTS), f"open {i}") for i in range(count)]


def _txt(choices: random.Random) -> bytes:
    end = choices.choice(_ENDS)
    return "".join(text.replace("\n", " ") + end for _, text, _ in _rows(choices)).encode()


def _delimited(delimiter: str) -> Callable[[random.Random], bytes]:
    def make(choices: random.Random) -> bytes:
        target = io.StringIO(newline="")
        writer = csv.writer(target, delimiter=delimiter, lineterminator=choices.choice(_ENDS))
        writer.writerow(("id", "note", "other"))
        writer.writerows(_rows(choices))
        return target.getvalue().encode()

    return make


_csv = _delimited(",")


def _jsonl(choices: random.Random) -> bytes:
    end, ascii_only = choices.choice(_ENDS), choices.random() < 0.5
    return "".join(
        json.dumps({"id": i, "note": text, "other": [other]}, ensure_ascii=ascii_only) + end
        for i, text, other in _rows(choices)
    ).encode()


def _json(choices: random.Random) -> bytes:
    rows = [{"id": i, "note": text, "other": [other]} for i, text, other in _rows(choices)]
    indent = choices.choice((None, 1))
    return json.dumps(choices.choice((rows, rows[0])), indent=indent).encode()


def _parquet(choices: random.Random) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    ids, notes, others = zip(*_rows(choices), strict=True)
    table = pa.table({"id": list(ids), "note": list(notes), "other": [[o] for o in others]})
    target = io.BytesIO()
    pq.write_table(table, target, compression=choices.choice(("none", "snappy", "zstd")))
    return target.getvalue()


def _html(choices: random.Random) -> bytes:
    end = choices.choice(_ENDS)
    rows = [
        f"<p id={i} title='{other}'>{text}<!-- {text} --></p>" for i, text, other in _rows(choices)
    ]
    return end.join(["<html><body>", *rows, "</body></html>"]).encode()


def _markdown(choices: random.Random) -> bytes:
    end = choices.choice(_ENDS)
    rows = [f"{i}. [{text}](http://{other})" for i, text, other in _rows(choices)]
    return end.join(["# Title", *rows, "```python", CANARY, "```"]).encode()


def _mail(choices: random.Random) -> bytes:
    """Write a mail with the email package: a text, HTML, an attachment and a mail inside."""
    mail = EmailMessage()
    mail["Subject"] = "A mail"
    mail["From"] = mail["To"] = f"{CANARY} <{CANARY}@example.com>"
    mail["Message-ID"], mail["X-Header"] = f"<{CANARY}@example.com>", CANARY
    mail["Date"] = "Mon, 02 Mar 2020 23:30:00 -0500"
    mail.set_content(f"{choices.choice(_TEXTS)}\n", cte=choices.choice(("8bit", "base64")))
    if choices.random() < 0.5:
        mail.add_alternative(f"<p>{CANARY}</p>", subtype="html")
    if choices.random() < 0.5:
        mail.add_attachment(CANARY.encode(), "application", "pdf", filename=f"{CANARY}.pdf")
    if choices.random() < 0.3:
        outer = EmailMessage()
        outer["Subject"] = "Fwd"
        outer.set_content("See below.")
        outer.add_attachment(mail)
        mail = outer
    return mail.as_bytes()


def _mbox(choices: random.Random) -> bytes:
    start = f"From {CANARY}@example.com Mon Mar  2 23:30:00 2020\n".encode()
    return b"\n".join(start + _mail(choices) for _ in range(choices.randint(1, 3)))


MAKERS: dict[str, Callable[[random.Random], bytes]] = {
    "txt": _txt,
    "csv": _csv,
    "tsv": _delimited("\t"),
    "jsonl": _jsonl,
    "json": _json,
    "parquet": _parquet,
    "eml": _mail,
    "mbox": _mbox,
    "html": _html,
    "markdown": _markdown,
}

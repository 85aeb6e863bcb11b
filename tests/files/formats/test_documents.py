"""HTML and Markdown files: one text each, which says how it is marked up."""

import io
from pathlib import Path
from typing import Any

import pytest
from tests.files.copies import rewrite

from malaprop import privatize_files
from malaprop.files.formats import Layout
from malaprop.privacy.errors import DataError, ParameterError
from malaprop.text.markup import MarkedText

CANARY = "Xylophonist"
PAGE = f"""<!DOCTYPE html PUBLIC "{CANARY}"><?{CANARY}?><html lang="{CANARY}"><head>
<meta charset="{CANARY}"><meta name="author" content="{CANARY}"><title>Words</title>
<style>.{CANARY} {{}}</style><script>let {CANARY}</script><!-- {CANARY} --></head>
<body onload="{CANARY}()"><p id="{CANARY}">The <b>doctor</b> came<img alt="{CANARY}" src="{CANARY}">
<{CANARY} x="{CANARY}">today</{CANARY}><a href="https://{CANARY}.org/{CANARY}">here</a></p>
<table><tr><td title="{CANARY}">1 &lt; 2</td></tr></table></body></html>"""
MARKDOWN = f"""---
author: {CANARY}
---
# Words

The **doctor** came [today](https://{CANARY}.org "{CANARY}") <!-- {CANARY} --> ![here]({CANARY}.png)

1. <span class="{CANARY}">one</span>
2. [two][{CANARY}]

[{CANARY}]: https://{CANARY}.org

```{CANARY}
{CANARY}
```
"""


def copied(data: bytes, format_: str, **options: Any) -> tuple[bytes, list[str]]:
    texts: list[str] = []

    def keep(batch: list[str]) -> list[str]:
        texts.extend(batch)
        return [str(text) for text in batch]

    target = io.BytesIO()
    rewrite(io.BytesIO(data), target, Layout(format=format_, **options), keep)
    return target.getvalue(), texts


@pytest.mark.parametrize("format_", ["html", "markdown"])
def test_the_file_is_one_text(format_: str) -> None:
    _, (text,) = copied(b"# a\r\n<p>b\rc\n", format_)
    assert isinstance(text, MarkedText)
    assert text.markup == format_
    assert text == "# a\r\n<p>b\rc\n"


def test_a_page_says_in_which_encoding_it_is() -> None:
    page, _ = copied(b"<p>caf\xe9", "html", encoding="latin-1")
    assert page == b'<!DOCTYPE html><meta charset="iso8859-1"><p>caf\xe9'
    again, _ = copied(page, "html", encoding="latin-1")
    assert again == page


@pytest.mark.parametrize(("name", "content"), [("a.html", PAGE), ("a.md", MARKDOWN)])
def test_nothing_but_text_comes_through(tmp_path: Path, name: str, content: str) -> None:
    source, target = tmp_path / name, tmp_path / f"private-{name}"
    source.write_text(content)
    report = privatize_files(
        source, target, epsilon=20.0, workers=1, report=tmp_path / "report.json"
    )
    private = target.read_text().lower()
    assert CANARY.lower() not in private
    assert "doctor" in private  # at this ε, nearly every word stays
    assert CANARY not in (tmp_path / "report.json").read_text()
    assert report.guarantee.public[-1] == report.visible[-1]
    assert "of HTML" in report.visible[-1] or "of Markdown" in report.visible[-1]
    if name == "a.html":
        for tag in ("<title>", "<p>", "<b>", "<td>", "</html>", "&lt;"):
            assert tag in private
    else:
        for sign in ("# ", "**", "]()", "1. ", "```\n[masked]\n```\n"):
            assert sign in private


def test_markup_of_another_language_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "a.md"
    source.write_text(CANARY)
    with pytest.raises(ParameterError, match="leave out `markup`") as refused:
        privatize_files(source, tmp_path / "b.md", epsilon=1.5, markup="html")
    assert CANARY not in str(refused.value)
    assert not (tmp_path / "b.md").exists()


@pytest.mark.parametrize("format_", ["html", "markdown"])
def test_what_is_no_text_is_refused_or_masked(format_: str) -> None:
    for data in (b"Xylophonist \xff", b"Xylophonist \0"):
        with pytest.raises(DataError) as refused:
            copied(data, format_)
        assert CANARY not in str(refused.value)
        copy, texts = copied(data, format_, on_error="mask")
        assert copy.endswith(b"[masked]")
        assert not texts
        assert copied(data, format_, on_error="skip")[0] == b""


def test_a_document_that_is_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from malaprop.files.formats import text_records

    monkeypatch.setattr(text_records, "LONGEST_RECORD", 4)
    with pytest.raises(DataError, match="longer than"):
        copied(b"12345", "markdown")
    assert copied(b"12345", "html", on_error="mask")[0].endswith(b"[masked]")

"""Pages: everything is escaped, nothing is loaded, plots go missing without matplotlib."""

import re
from pathlib import Path

import pytest

from malaprop.privacy.errors import MissingExtraError
from malaprop.report.page import (
    Bullets,
    Facts,
    Grid,
    Page,
    Paragraph,
    Plot,
    Section,
    page_html,
    page_markdown,
)
from malaprop.report.run_report import rendered_page

EVIL = "<b onload=x>|*_`&"
PAGE = Page(
    title=EVIL,
    audience=EVIL,
    figures=((EVIL, EVIL),),
    warnings=(EVIL,),
    sections=(
        Section(
            EVIL,
            (
                Paragraph(EVIL),
                Bullets((EVIL,)),
                Facts(((EVIL, EVIL), ("left out", ""))),
                Grid((EVIL, "b", "c", "d"), ((EVIL, "1", "2", "3"),), frozenset({1})),
                Plot(lambda: "<svg>drawn</svg>", EVIL),
            ),
        ),
    ),
)


def test_html_escapes_everything_and_loads_nothing() -> None:
    shown = page_html(PAGE)
    assert EVIL not in shown
    assert "<b onload" not in shown
    assert shown.count("&lt;b onload=x&gt;|*_`&amp;") == 14
    assert "left out" not in shown
    assert "<svg>drawn</svg>" in shown
    assert '<div class="wide"><table>' in shown
    assert '<td class="number" data-name="b">1</td>' in shown  # named, for narrow screens
    assert "default-src 'none'" in shown
    assert not re.search(r"https?:|src=|<script|@import|url\(", shown)


def test_markdown_escapes_everything() -> None:
    shown = page_markdown(PAGE)
    assert EVIL not in shown
    assert "svg" not in shown
    assert r"| \<b onload=x\>\|\*\_\`\& | 1 | 2 | 3 |" in shown
    assert "| --- | ---: | --- | --- |" in shown


def test_without_matplotlib_the_page_says_so() -> None:
    def missing() -> str:
        raise MissingExtraError("matplotlib", "plots", "A plot")

    page = Page(title="t", audience="a", sections=(Section("s", (Plot(missing, "c"),)),))
    assert "Without plots: " in page_html(page)
    assert "pip install" in page_html(page)


@pytest.mark.parametrize("ending", ["json", "md", "html"])
def test_the_ending_says_what_is_written(ending: str) -> None:
    written = rendered_page(PAGE, {"answer": 42}, Path(f"x.{ending}")).decode()
    assert ("answer" in written) == (ending == "json")
    assert written.startswith({"json": "{", "md": "# ", "html": "<!DOCTYPE html>"}[ending])

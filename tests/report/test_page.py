"""Pages: everything is escaped, nothing is loaded, plots go missing without matplotlib."""

import re
from pathlib import Path

import pytest

from malaprop.privacy.errors import MissingExtraError, ParameterError
from malaprop.privacy.estimate import Estimate
from malaprop.report.page import (
    Bullets,
    Facts,
    Link,
    Page,
    Plot,
    Section,
    Table,
    code,
    named,
    page_file,
    page_files,
    render,
    report_path,
)

EVIL = "<b onload=x>|*_`&"
TABLE = Table(
    (EVIL, "b", "c", "d"),
    ((EVIL, "1", Estimate(value=0.5, low=0.25, high=0.75), Link(EVIL, EVIL)),),
    chosen=frozenset({0}),
    bars=(0.5,),
)
PAGE = Page(
    title=EVIL,
    audience=EVIL,
    figures=((EVIL, EVIL),),
    warnings=(EVIL,),
    sections=(
        Section(
            EVIL,
            (
                EVIL,
                Bullets((EVIL,)),
                Facts(((EVIL, EVIL), ("left out", ""))),
                TABLE,
                Plot(lambda: "<svg>drawn</svg>", EVIL),
                Section(EVIL, ("see `a <b>` and",), folded=True, anchor=EVIL),
                Section("nothing in it", ("", Bullets(()))),
            ),
        ),
    ),
)


def test_html_escapes_everything_and_loads_nothing() -> None:
    shown = render(PAGE, "html")
    assert EVIL not in shown
    assert "<b onload" not in shown
    assert shown.count("&lt;b onload=x&gt;|*_`&amp;") == 18
    assert "left out" not in shown
    assert "nothing in it" not in shown
    assert "<svg>drawn</svg>" in shown
    assert '<div class="wide"><table>' in shown
    assert '<td class="number" data-name="b">1</td>' in shown  # named, for narrow screens
    assert "0.500<small>0.250–0.750</small>" in shown
    assert "<code>a &lt;b&gt;</code> and" in shown
    assert '<div style="width:50.0%">' in shown
    assert "default-src 'none'" in shown
    assert not re.search(r"https?:|src=|<script|@import|url\(", shown)


def test_markdown_escapes_everything() -> None:
    shown = render(PAGE, "markdown")
    assert EVIL not in shown
    assert "svg" not in shown
    assert r"| **\<b onload=x\>\|\*\_\`\&** | 1 | 0.500 (0.250 to 0.750) |" in shown
    assert "| --- | ---: | ---: | --- | --- |" in shown
    assert "see `a <b>` and" in shown
    assert "<summary>&lt;b onload" in shown


def test_the_terminal_shows_all_but_plots() -> None:
    shown = render(PAGE, "terminal")
    assert "svg" not in shown
    assert f"WARNING: {EVIL}." in shown
    assert f"{EVIL}*  1  0.500(.250)  {EVIL}  ███████████████" in shown
    assert "see a <b> and" in shown


def test_a_table_that_is_too_wide_continues_below_with_the_names_of_rows() -> None:
    wide = Table(("name", *(f"column {n}" for n in range(9))), (("row", *"123456789"),))
    page = Page(title="t", sections=(Section("s", (wide,)),))
    lines = render(page, "terminal", 40).splitlines()
    assert max(map(len, lines)) <= 40
    assert sum(line.startswith("row ") for line in lines) == 3
    assert "".join(re.findall(r"\d", "".join(li for li in lines if li[:3] == "row"))) == "123456789"


def test_long_texts_in_a_table_are_wrapped() -> None:
    table = Table(("claim", "n"), (("word " * 30, "7"),))
    page = Page(title="t", sections=(Section("s", (table,)),))
    lines = render(page, "terminal", 60).splitlines()
    assert max(map(len, lines)) <= 60
    assert sum("word" in line for line in lines) > 3


def test_names_are_no_code() -> None:
    assert named("a`b\n") == r"a\u0060b\n"
    assert code("x`y") == r"`x\u0060y`"
    assert code("") == ""


def test_markdown_has_its_plots_beside_it() -> None:
    page = Page(
        title="t",
        sections=(
            Section("s", (Plot(lambda: "<svg>1</svg>", "one"), Plot(lambda: "<svg>2</svg>", "2"))),
            Section("s", (Plot(lambda: "<svg>3</svg>", "three", "own"),)),
        ),
    )
    files = page_files(page, Path("x/a b.md"))
    assert [path.name for path in files] == ["a b.md", "a b-1.svg", "a b-2.svg", "a b-own.svg"]
    assert b"![three](a%20b-own.svg)" in files[Path("x/a b.md")]
    assert list(page_files(page, Path("x.html"))) == [Path("x.html")]


def test_without_matplotlib_the_page_says_so() -> None:
    def missing() -> str:
        raise MissingExtraError("matplotlib", "plots", "A plot")

    page = Page(title="t", audience="a", sections=(Section("s", (Plot(missing, "c"),)),))
    assert "Without plots: " in render(page, "html")
    assert "pip install" in render(page, "html")
    assert "pip install" in page_files(page, Path("x.md"))[Path("x.md")].decode()


@pytest.mark.parametrize("ending", ["json", "md", "html"])
def test_the_ending_says_what_is_written(ending: str) -> None:
    path = Path(f"x.{ending}")
    written = page_file(PAGE, path, {"answer": 42}).decode()
    assert ("answer" in written) == (ending == "json")
    assert written.startswith({"json": "{", "md": "# ", "html": "<!DOCTYPE html>"}[ending])


def test_other_endings_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"as Markdown or as a web page: x\.json ends in none"):
        report_path(Path("x.json"), ".md", ".html")


def test_a_terminal_may_show_the_first_rows_alone() -> None:
    rows = tuple((f"row{i}", "1") for i in range(5))
    table = Table(("name", "value"), rows, most=2, chosen=frozenset({0, 4}))
    page = Page(title="", sections=(Section("", (table,)),))
    shown = render(page)
    assert "row1" in shown
    assert "row2" not in shown
    assert "and 3 more rows" in shown
    assert all(f"row{i}" in render(page, form) for i in range(5) for form in ("markdown", "html"))

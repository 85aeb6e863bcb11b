"""Pages are made from lines alone."""

from pathlib import Path

import pytest

from malaprop import MissingExtraError, ParameterError
from malaprop.report import plots as report_plots
from malaprop.report.studies.page import cell, pages
from malaprop.report.studies.terminal import readable
from malaprop.report.studies.written import checked_page, page_files
from malaprop.studies import Line


def line(**values: object) -> Line:
    usual: dict[str, object] = {
        "study": "nadp",
        "item": "clear",
        "setting": {"published": True, "tau": 0.1},
        "measure": "share_in_clear",
        "ours": 0.25,
        "error": 0.01,
        "paper": 0.105,
        "versions": {"malaprop": "0"},
    }
    return Line(**{**usual, **values})  # type: ignore[arg-type]


LINES = [
    line(claim="few <words> are in clear", holds=False),
    line(setting={"published": True, "tau": 0.5}, ours=0.5, paper=None),
    line(setting={"published": False, "tau": 0.1}, ours=None, command="malaprop data get it"),
]


def test_a_cell_shows_ours_with_its_error_and_the_papers() -> None:
    assert cell(LINES[0]) == "0.25 ± 0.01 (0.105)"
    assert cell(LINES[1]) == "0.5 ± 0.01"
    assert cell(LINES[2]) == "no data (0.105)"


def test_markdown_has_verdicts_figures_and_plots_beside_it(tmp_path: Path) -> None:
    files = page_files(LINES, tmp_path / "p.md")
    page = files[tmp_path / "p.md"]
    assert r"| few \<words\> are in clear | 0 | 1 | 0 |" in page
    assert "| yes | share\\_in\\_clear | 0.25 ± 0.01 (0.105) | 0.5 ± 0.01 |" in page
    assert "malaprop data get it" in page
    pictures = [path.name for path in files if path.suffix == ".svg"]
    assert pictures
    assert all(f"({name})" in page for name in pictures)


def test_html_holds_everything_and_no_markup_of_others(tmp_path: Path) -> None:
    ((_, page),) = page_files(LINES, tmp_path / "p.html").items()
    assert "few &lt;words&gt; are in clear" in page
    assert "<svg" in page
    assert "<script" not in page


def test_the_same_lines_make_the_same_page(tmp_path: Path) -> None:
    assert page_files(LINES, tmp_path / "p.md") == page_files(LINES, tmp_path / "p.md")


def test_the_terminal_says_what_became_of_claims() -> None:
    shown = readable(pages(LINES))
    assert "few <words> are in clear" in shown
    assert "not confirmed on 1" in shown
    assert "run  malaprop data get it" in shown


def test_another_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"\.html, \.md"):
        page_files(LINES, tmp_path / "p.pdf")


def test_a_page_without_matplotlib_is_refused_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report_plots, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match="plots"):
        checked_page(tmp_path / "p.html")


def test_a_page_says_what_is_of_a_quick_run() -> None:
    (quick,) = pages([line(quick=True)])
    assert "--quick" in quick.how
    (mixed,) = pages([line(), line(item="fig2", quick=True)])
    assert "--quick" not in mixed.how
    assert "Of the quick run: Figure 2." in mixed.how

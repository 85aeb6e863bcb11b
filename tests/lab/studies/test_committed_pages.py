"""The pages in docs/ are made from the lines beside them."""

from pathlib import Path

import pytest

from malaprop.lab import studies
from malaprop.lab.studies import study_page
from malaprop.lab.studies.frontier import frontier_page
from malaprop.lab.studies.study import Line, read
from malaprop.report.page import page_files

DOCS = Path(__file__).parents[3] / "docs"


def lines_beside(path: Path) -> list[Line]:
    return list(read(path.with_suffix(".jsonl").read_text("utf-8")))


@pytest.mark.parametrize("study", studies.names())
def test_a_page_is_made_from_the_lines_beside_it(
    study: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(
        study_page, "drawn", lambda paint: "<svg/>"
    )  # pictures take most of the time
    path = DOCS / "studies" / f"{study}.md"
    files = page_files(study_page.study_page(lines_beside(path)), path)
    remedy = f"run  malaprop reproduce {study} --from {path.stem}.jsonl --report {path.name}"
    assert files[path].decode() == path.read_text("utf-8"), remedy
    assert all(each.exists() for each in files), remedy


def test_the_frontier_is_made_from_the_lines_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(frontier_page, "drawn", lambda paint: "<svg/>")
    path = DOCS / "frontier.md"
    files = page_files(frontier_page.frontier_page(lines_beside(path)), path)
    assert files[path].decode() == path.read_text("utf-8"), (
        "run  malaprop bench frontier --from frontier.jsonl --report frontier.md"
    )


@pytest.mark.parametrize("study", studies.names())
def test_what_a_study_could_not_confirm_has_an_entry(study: str) -> None:
    lines = lines_beside(DOCS / "studies" / f"{study}.md")
    assert any(each.holds is False for line in lines for each in line.claims)
    page = (DOCS / "studies" / "what-we-could-not-confirm.md").read_text("utf-8")
    assert f"[The page]({study}.md)" in page

"""`malaprop reproduce` writes lines and pages, and makes pages again from lines."""

import json
from pathlib import Path

import pytest

from malaprop.cli.main import run
from malaprop.lab.studies.study import Line, written

LINE = Line(
    study="nadp",
    item="clear",
    setting={"mechanism": "nadp", "published": True, "tau": 0.5},
    measure="in_clear",
    ours=7,
)


def test_a_page_is_made_from_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, page = tmp_path / "lines.jsonl", tmp_path / "page.html"
    source.write_text(written([LINE]))
    assert (
        run(["reproduce", "nadp", "--from", str(source), "--page", "full", "--report", str(page)])
        == 0
    )
    assert "in_clear" in page.read_text("utf-8")
    assert "in_clear: 7" in capsys.readouterr().out


def test_lines_go_to_standard_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "lines.jsonl"
    source.write_text(written([LINE]))
    assert run(["reproduce", "all", "--from", str(source), "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["ours"] == 7


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["reproduce", "nadb"], "There is no study 'nadb'"),
        (["reproduce", "nadp", "--item", "fig99"], "has no item 'fig99'"),
        (["reproduce", "nadp", "--report", "x.pdf"], ".md, .html"),
    ],
)
def test_what_is_not_there_is_named(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    assert message in capsys.readouterr().err


def test_an_existing_output_is_not_replaced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "lines.jsonl"
    source.write_text(written([LINE]))
    arguments = ["reproduce", "nadp", "--from", str(source), "--json", str(source)]
    assert run(arguments) == 1
    assert "--force" in capsys.readouterr().err

"""`malaprop smooth`: what a reader does with texts that were released as drawn."""

import json
from pathlib import Path

import pytest
from tests.cli.conftest import Cli

NOTES = (
    "id,text\n1,She takes aspirin twice a day; her blood pressure is high.\n"
    "2,The plot is thin and the jokes are old.\n"
)
DRAW = ("-c", "text", "-e", "1.5", "--seed", "4", "-q")


@pytest.fixture
def drawn(cli: Cli, folder: Path) -> Path:
    (folder / "notes.csv").write_text(NOTES)
    ended = cli("privatize", "notes.csv", "-o", "drawn.csv", *DRAW, "--report", "report.json")
    assert ended.code == 0, ended.err
    return folder / "drawn.csv"


def test_it_gives_what_a_readable_run_gives(cli: Cli, folder: Path, drawn: Path) -> None:
    assert cli("privatize", "notes.csv", "-o", "readable.csv", *DRAW, "--readable").code == 0
    ended = cli("smooth", "drawn.csv", "-o", "smooth.csv", "-e", "1.5", "-c", "text")
    assert ended.code == 0, ended.err
    assert "words changed" in ended.err
    assert "fluent even where it is wrong" in ended.err
    told = cli("smooth", "drawn.csv", "-o", "told.csv.gz", "--from-report", "report.json", "-q")
    assert (told.code, told.err) == (0, "")
    read = (folder / "smooth.csv").read_text()
    assert read == (folder / "readable.csv").read_text() != drawn.read_text()
    assert cli("smooth", "told.csv.gz", "-o", "-", "-e", "1.5", "-c", "id").code == 1


def test_both_sides_can_ask_for_the_fluent_setting(cli: Cli, folder: Path, drawn: Path) -> None:
    told = ("--fluent", "--report", "fluent.json")
    assert cli("privatize", "notes.csv", "-o", "fluent.csv", *DRAW, *told).code == 0
    later = ("--from-report", "report.json", "-q")
    assert cli("smooth", "drawn.csv", "-o", "faithful.csv", *later).code == 0
    assert cli("smooth", "drawn.csv", "-o", "later.csv", "--fluent", *later).code == 0
    read = (folder / "later.csv").read_text()
    assert read == (folder / "fluent.csv").read_text() != (folder / "faithful.csv").read_text()
    report = json.loads((folder / "fluent.json").read_text())
    assert report["policy"]["readable"] == "fluent"
    ended = cli("smooth", "fluent.csv", "-o", "again.csv", "--from-report", "fluent.json")
    assert (ended.code, "readable already" in ended.err) == (2, True)


@pytest.mark.parametrize("also", [("--fluent",), ("--model", "model")])
def test_as_drawn_and_readable_contradict(cli: Cli, folder: Path, also: tuple[str, ...]) -> None:
    (folder / "notes.csv").write_text(NOTES)
    ended = cli("privatize", "notes.csv", "-o", "out.csv", *DRAW, "--as-drawn", *also)
    assert ended.code == 2
    assert f"{also[0]} makes text readable" in ended.err
    assert not (folder / "out.csv").exists()


def test_what_does_not_fit_is_one_error(cli: Cli, folder: Path, drawn: Path) -> None:
    report = json.loads((folder / "report.json").read_text())
    report["policy"]["readable"] = True
    (folder / "readable.json").write_text(json.dumps(report))
    report["policy"] |= {"readable": False, "keep": {"entries": 30, "sha256": "…"}}
    (folder / "kept.json").write_text(json.dumps(report))
    (folder / "other.json").write_text("[]")
    for arguments, said in (
        ((), "--from-report FILE"),
        (("-e", "1.5", "--from-report", "report.json"), "--from-report FILE"),
        (("--from-report", "other.json"), "no JSON report"),
        (("--from-report", "readable.json"), "readable already"),
        (("--from-report", "kept.json"), "does not list the kept words"),
        (("-e", "1.5", "-c", "text", "--model", "none"), "no bigram model"),
        (("-e", "1.5", "-c", "text", "-m", "nope"), "nope"),
    ):
        ended = cli("smooth", "drawn.csv", "-o", "out.csv", *arguments)
        assert ended.code in (1, 2)
        assert said in ended.err
        assert not (folder / "out.csv").exists()


def test_a_model_of_the_input_is_refused(cli: Cli, folder: Path, drawn: Path) -> None:
    assert cli("lm", "train", "notes.csv", "-o", "model", "-c", "text").code == 0
    ended = cli(
        "privatize", "notes.csv", "-o", "out.csv", "-c", "text", "-e", "1", "--model", "model"
    )
    assert ended.code != 0
    assert "was trained on notes.csv" in ended.err
    assert not (folder / "out.csv").exists()

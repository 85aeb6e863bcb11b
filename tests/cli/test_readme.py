"""The commands in the README work as written, in a fresh copy of the repository."""

import csv
import re
import shlex
import shutil
from pathlib import Path

import pytest
from tests.cli.conftest import Cli

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
COMMANDS = re.findall(r"^malaprop .*", README, re.M)


def test_it_takes_a_minute() -> None:
    assert len(re.findall(r"(?<!!)\[[^\]]+\]\(docs/", README)) == 8
    assert len(README.split()) < 900  # a third of them in tables and code


def test_it_has_the_figures_of_the_comparison() -> None:
    page = (ROOT / "docs/explanation/compare.md").read_text("utf-8")
    first = page[: page.index("Identifying values that survive, by class")]
    rows = [[cell.strip() for cell in line.split("|")] for line in first.splitlines()]
    survive, recovered = ({row[1]: row[place] for row in rows if len(row) > 6} for place in (2, 4))
    detector, both = "Presidio, with spaCy", "Presidio with spaCy, then Malaprop"
    told = " ".join(README.split())
    assert (
        f"{survive[detector]} survive Presidio with spaCy's model, {survive['Malaprop']} Malaprop, "
        f"{survive['Malaprop, names redrawn']} Malaprop with names redrawn, and {survive[both]} "
        "Presidio and then Malaprop."
    ) in told
    assert f"recovers {recovered[detector]} from Presidio's output, and" in told
    assert f"and {recovered['Malaprop']} from Malaprop's at ε = 1.5" in told


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the examples in it, which is the working directory."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("repository")
def test_every_command_of_the_readme_works(cli: Cli) -> None:
    assert len(COMMANDS) >= 2
    for command in COMMANDS:
        ended = cli(*shlex.split(command, comments=True)[1:])
        assert ended.code == 0, f"{command}: {ended.err}"


def test_only_the_text_column_of_the_example_changes(cli: Cli, repository: Path) -> None:
    command = next(command for command in COMMANDS if "privatize" in command)
    cli(*shlex.split(command)[1:])
    before, after = (
        list(csv.DictReader((repository / name).read_text("utf-8").splitlines()))
        for name in ("examples/notes.csv", "private.csv")
    )
    assert [row["text"] for row in after] != [row["text"] for row in before]
    for rows in (before, after):
        for row in rows:
            del row["text"]
    assert after == before

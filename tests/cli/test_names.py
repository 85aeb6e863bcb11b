"""Names that are refused: what is read is never written to, whatever it is called."""

import os
from pathlib import Path

import pytest
from tests.cli.conftest import Cli, running

TEXT = "cold hot warm\n"


@pytest.fixture
def source(folder: Path) -> Path:
    path = folder / "in.txt"
    path.write_text(TEXT)
    return path


def contents(folder: Path) -> dict[str, str]:
    return {name: (folder / name).read_text() for name in sorted(os.listdir(folder))}


@pytest.mark.parametrize("options", [(), ("--force",), ("--resume",), ("--force", "--resume")])
@pytest.mark.parametrize("kind", ["same", "path", "symbolic", "hard", "link to link"])
def test_an_output_that_is_an_input_is_refused(
    cli: Cli, folder: Path, source: Path, kind: str, options: tuple[str, ...]
) -> None:
    name = "in.txt" if kind == "same" else "out.txt"
    if kind == "path":
        name = str(folder / ".." / folder.name / "in.txt")
    elif kind == "symbolic":
        (folder / name).symlink_to("in.txt")
    elif kind == "hard":
        os.link(source, folder / name)
    elif kind == "link to link":
        (folder / "middle.txt").symlink_to(source)
        (folder / name).symlink_to("middle.txt")
    before = contents(folder)
    ended = cli.privatize("in.txt", "-o", name, *options)
    assert ended.code == 2
    assert f"{name} is an input: choose another name with -o" in ended.err
    assert contents(folder) == before


def test_an_input_by_a_link_is_the_file_that_it_leads_to(cli: Cli, folder: Path) -> None:
    (folder / "true.txt").write_text(TEXT)
    (folder / "in.txt").symlink_to("true.txt")
    assert cli.privatize("in.txt", "-o", "true.txt", "--force").code == 2
    assert (folder / "true.txt").read_text() == TEXT


def test_an_output_may_be_none_of_several_inputs(cli: Cli, folder: Path) -> None:
    (folder / "other").mkdir()
    for path in (folder / "a.txt", folder / "b.txt", folder / "other" / "a.txt"):
        path.write_text(TEXT)
    ended = cli.privatize("a.txt", "b.txt", "-o", ".", "--force")
    assert ended.code == 2
    assert "a.txt is an input" in ended.err
    # The output of one is the input of another.
    os.link(folder / "b.txt", folder / "other" / "c.txt")
    (folder / "c.txt").write_text(TEXT)
    ended = cli.privatize("b.txt", "c.txt", "-o", "other", "--force")
    assert ended.code == 2
    assert "other/c.txt is an input" in ended.err
    assert (folder / "b.txt").read_text() == TEXT
    assert sorted(os.listdir(folder / "other")) == ["a.txt", "c.txt"]


def test_standard_input_may_be_a_file_too(folder: Path, source: Path, lexicon_file: Path) -> None:
    command = ("privatize", "-", "-o", "in.txt", "--force", "-e", "2", "-l", str(lexicon_file))
    redirect = "import os; os.dup2(os.open('in.txt', os.O_RDONLY), 0)"
    with running(*command, before=redirect) as process:
        _, err = process.communicate(timeout=600)
    assert process.returncode == 2
    assert b"in.txt is an input" in err
    assert source.read_text() == TEXT


def test_standard_output_may_not_feed_the_input(
    folder: Path, source: Path, lexicon_file: Path
) -> None:
    """As by `>> in.txt`: it would read what it writes, for ever."""
    command = ("privatize", "in.txt", "-o", "-", "-e", "2", "-l", str(lexicon_file))
    redirect = "import os; os.dup2(os.open('in.txt', os.O_WRONLY | os.O_APPEND), 1)"
    with running(*command, before=redirect) as process:
        _, err = process.communicate(timeout=600)
    assert process.returncode == 2
    assert b"standard output is an input" in err
    assert source.read_text() == TEXT


@pytest.mark.parametrize("hidden", [".out.txt.malaprop", ".out.txt.malaprop-new"])
def test_an_input_that_has_the_name_of_a_journal(cli: Cli, folder: Path, hidden: str) -> None:
    (folder / hidden).write_text(TEXT)
    ended = cli.privatize(hidden, "-o", "out.txt", "--format", "txt", "--force")
    assert ended.code == 2
    assert f"{hidden} would be overwritten" in ended.err
    assert contents(folder) == {hidden: TEXT}


def test_an_input_that_has_the_name_of_an_output_under_way(cli: Cli, folder: Path) -> None:
    from malaprop.files.staging import partial_path

    hidden = partial_path(folder / "out.txt").name
    (folder / hidden).write_text(TEXT)
    ended = cli.privatize(hidden, "-o", "out.txt", "--format", "txt", "--force")
    assert ended.code == 2
    assert "would be overwritten" in ended.err
    assert contents(folder) == {hidden: TEXT}


@pytest.mark.parametrize("name", [".out.txt.malaprop", "in.txt", "out.txt"])
def test_a_report_takes_no_name_of_the_run(cli: Cli, folder: Path, source: Path, name: str) -> None:
    ended = cli.privatize("in.txt", "-o", "out.txt", "--report", name, "--force")
    assert ended.code == 2
    assert f"{name}" in ended.err
    assert contents(folder) == {"in.txt": TEXT}


def test_an_output_is_no_journal_of_another(cli: Cli, folder: Path) -> None:
    (folder / "out.txt").write_text(TEXT)
    (folder / ".out.txt.malaprop").write_text(TEXT)
    command = ("out.txt", ".out.txt.malaprop", "-o", "new/", "--format", "txt")
    assert cli.privatize(*command).code == 2
    assert sorted(os.listdir(folder)) == [".out.txt.malaprop", "out.txt"]

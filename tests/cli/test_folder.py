"""A folder in, a folder out: what is taken, what is left out, what is refused, what is resumed."""

import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.conftest import WORDS, Breaking, Cli

from malaprop import ParameterError, privatize_files
from malaprop.files import folder as folder_module

CANARY = "zyxsecretcanary"
MAIL = f"From: {CANARY}@x.org\nSubject: cold\n\nhot\n"


@pytest.fixture(autouse=True)
def _umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.fixture
def tree(folder: Path) -> Path:
    """A folder with files of known formats, and others."""
    root = folder / "in"
    for name, content in {
        "a.txt": "cold\n",
        "b.md": "# hot\n",
        "sub/c.eml": MAIL,
        "sub/deep/d.log": "warm\n",
        "sub/e.pdf": CANARY,
        "f": CANARY,
        ".hidden.txt": CANARY,
        ".git/g.txt": CANARY,
        "h.parquet.gz": CANARY,
    }.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    (folder / "outside.txt").write_text(CANARY)
    (root / "link.txt").symlink_to(folder / "outside.txt")
    (root / "inside.txt").symlink_to(root / "a.txt")
    (root / "linked").symlink_to(folder)
    os.mkfifo(root / "pipe.txt")
    return root


TAKEN = ["a.txt", "b.md", "sub/c.eml", "sub/deep/d.log"]


def files_in(root: Path) -> list[str]:
    found = (path.relative_to(root) for path in root.rglob("*") if path.is_file())
    return sorted(path.as_posix() for path in found if not path.name.startswith("."))


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_tree_is_kept_and_what_is_unknown_is_named(cli: Cli, tree: Path) -> None:
    ended = cli.privatize("in", "-o", "out", "--report", "r.json")
    assert ended.code == 0, ended.err
    out = tree.parent / "out"
    assert files_in(out) == TAKEN
    for name in TAKEN:
        assert CANARY not in (out / name).read_text()
    assert set((out / "sub/deep/d.log").read_text().casefold().split()) <= WORDS
    told = json.loads(Path("r.json").read_text())
    assert [file["input"] for file in told["files"]] == [f"in/{name}" for name in TAKEN]
    assert {each["path"]: each["reason"] for each in told["folder"]["left_out"]} == {
        "in/.git": "hidden",
        "in/.hidden.txt": "hidden",
        "in/f": "of unknown format",
        "in/h.parquet.gz": "of unknown format",
        "in/inside.txt": "a link, which is not followed",
        "in/link.txt": "a link, which is not followed",
        "in/linked": "a link, which is not followed",
        "in/pipe.txt": "neither a file nor a folder",
        "in/sub/e.pdf": ".pdf: write its text to a .txt file, as with  pdftotext FILE NOTES.txt",
    }
    assert "the names of files and folders, as they are" in told["visible"]
    assert "a link, which is not followed (3); hidden (2);" in ended.err
    assert "pdftotext FILE NOTES.txt (1)" in ended.err
    assert CANARY not in ended.err + Path("r.json").read_text()
    assert not list(out.rglob("*.partial"))


@pytest.mark.parametrize(
    ("options", "taken"),
    [
        (("--glob", "*.eml"), ["sub/c.eml"]),
        (("--glob", "sub/*"), ["sub/c.eml", "sub/deep/d.log"]),
        (("--glob", "?.*"), TAKEN),
        (("--glob", "f", "--format", "txt"), ["f"]),
    ],
)
def test_a_pattern_says_what_is_taken(
    cli: Cli, tree: Path, options: tuple[str, ...], taken: list[str]
) -> None:
    assert cli.privatize("in", "-o", "out", *options).code == 0
    assert files_in(tree.parent / "out") == taken


def test_options_are_for_the_files_that_they_fit(cli: Cli, tree: Path) -> None:
    (tree / "n.csv").write_text(f"id;note\n{CANARY};cold\n")
    ended = cli.privatize("in", "-o", "out", "--column", "note", "--delimiter", ";")
    assert ended.code == 0, ended.err
    assert (tree.parent / "out/n.csv").read_text().startswith(f"id;note\n{CANARY};")
    ended = cli.privatize("in", "-o", "out2", "--document", "file", "-c", "note")
    assert "no column is named 'note'" in ended.err  # without the delimiter, there is none


REFUSED = [
    (2, "is the input, or one of them lies in the other", ("in", "-o", "in")),
    (2, "is the input, or one of them lies in the other", ("in", "-o", "in/private")),
    (2, "is the input, or one of them lies in the other", ("in/sub", "-o", "in")),
    (2, "is the input, or one of them lies in the other", ("in", "-o", "again")),
    (1, "outside.txt is a file", ("in", "-o", "outside.txt")),
    (2, "a pipe carries one file", ("in", "-o", "-")),
    (2, "name a file in it, or that folder alone", ("in", "outside.txt", "-o", "out")),
    (2, "no file in in is taken, of 13", ("in", "-o", "out", "--glob", "*.xyz")),
    (2, "the folder empty holds no files", ("empty", "-o", "out")),
    (2, "say of which ones, with --glob", ("in", "-o", "out", "--format", "txt")),
    (2, "leave out --column", ("in", "-o", "out", "--column", "note")),
    (2, "--glob is for a folder", ("in/a.txt", "-o", "out.txt", "--glob", "*.txt")),
    (2, "is in the input folder", ("in", "-o", "out", "--report", "in/r.json")),
    (2, "is in the output folder", ("in", "-o", "out", "--report", "out/r.json")),
    (1, "there is no folder nowhere", ("in", "-o", "nowhere/out")),
    (2, "leave out --markup", ("in", "-o", "out", "--markup", "html")),
]


@pytest.mark.parametrize(("code", "says", "command"), REFUSED)
def test_what_is_refused_leaves_nothing(
    cli: Cli, tree: Path, code: int, says: str, command: tuple[str, ...]
) -> None:
    (tree.parent / "again").symlink_to(tree)
    (tree.parent / "empty").mkdir()
    before = sorted(tree.parent.rglob("*"))
    ended = cli.privatize(*command)
    assert says in ended.err
    assert ended.code == code
    assert CANARY not in ended.err
    assert sorted(tree.parent.rglob("*")) == before


def test_a_file_that_needs_columns_is_refused_before_the_work(cli: Cli, tree: Path) -> None:
    (tree / "sub/n.csv").write_text(f"{CANARY}\n")
    ended = cli.privatize("in", "-o", "out")
    assert ended.code == 2
    assert "in/sub/n.csv is csv, of which the columns to privatize must be named" in ended.err
    assert not (tree.parent / "out").exists()


def test_an_output_that_exists_is_refused_before_the_work(cli: Cli, tree: Path) -> None:
    old = tree.parent / "out/sub/c.eml"
    old.parent.mkdir(parents=True)
    old.write_text("old")
    ended = cli.privatize("in", "-o", "out")
    assert ended.code == 1
    assert "1 of the outputs exist already, such as out/sub/c.eml" in ended.err
    assert files_in(tree.parent / "out") == ["sub/c.eml"]
    assert not (tree.parent / "out/sub/deep").exists()
    assert cli.privatize("in", "-o", "out", "--force").code == 0
    assert files_in(tree.parent / "out") == TAKEN
    assert old.read_text() != "old"


def test_permissions_are_those_of_each_input_at_most(cli: Cli, tree: Path) -> None:
    modes = {"": 0o750, "sub": 0o700, "sub/deep": 0o755, "a.txt": 0o600, "b.md": 0o644}
    for name, mode in modes.items():
        (tree / name).chmod(mode)
    assert cli.privatize("in", "-o", "out").code == 0
    for name, mode in modes.items():
        assert mode_of(tree.parent / "out" / name) == mode, name


def test_a_run_that_was_stopped_goes_on(
    cli: Cli, tree: Path, breaking: Breaking, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Outputs get their names part by part; what is there stays, and is not drawn again."""
    monkeypatch.setattr(folder_module, "AT_ONCE", 2)
    stopped = breaking.after(3, lambda: cli.privatize("in", "-o", "out", "--workers", "1"))
    assert stopped.code != 0
    assert "go on with the same parameters and --resume" in stopped.err
    out = tree.parent / "out"
    assert files_in(out) == TAKEN[:2]
    kept = (out / "a.txt").read_bytes()
    ended = breaking.after(
        None, lambda: cli.privatize("in", "-o", "out", "--resume", "--report", "r.json")
    )
    assert ended.code == 0, ended.err
    assert "out/a.txt is complete already" in ended.err
    assert files_in(out) == TAKEN
    assert (out / "a.txt").read_bytes() == kept
    told = json.loads(Path("r.json").read_text())
    assert told["complete_already"] == ["out/a.txt", "out/b.md"]
    assert [file["output"] for file in told["files"]] == ["out/sub/c.eml", "out/sub/deep/d.log"]
    again = cli.privatize("in", "-o", "out", "--resume")
    assert again.code == 0
    changed = cli.privatize("in", "-o", "out", "--resume", epsilon="2")
    assert "the mechanism or its parameters" in changed.err


def test_another_on_error_goes_on_without_force(
    cli: Cli, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_module, "AT_ONCE", 1)
    (tree / "sub/c.eml").write_text(f"{CANARY}")
    failed = cli.privatize("in", "-o", "out", "--workers", "1")
    assert failed.code == 1
    assert "in/sub/c.eml: record 1 has no headers of a mail" in failed.err
    assert CANARY not in failed.err
    kept = (tree.parent / "out/a.txt").stat()
    ended = cli.privatize("in", "-o", "out", "--workers", "1", "--on-error", "mask")
    assert ended.code == 0, ended.err
    assert (tree.parent / "out/a.txt").stat().st_ino == kept.st_ino
    assert "[masked]" in (tree.parent / "out/sub/c.eml").read_text()


def test_long_lists_are_short_on_the_terminal(cli: Cli, folder: Path) -> None:
    for number in range(140):
        (folder / f"in{number % 2}").mkdir(exist_ok=True)
        (folder / f"in{number % 2}" / f"n{number}.txt").write_text("cold\0\n")
        (folder / f"in{number % 2}" / f"n{number}.bin").write_text(CANARY)
    (folder / "in").mkdir()
    (folder / "in0").rename(folder / "in/0")
    (folder / "in1").rename(folder / "in/1")
    ended = cli.privatize("in", "-o", "out", "--on-error", "mask", "--report", "r.json")
    assert ended.code == 0, ended.err
    assert len(json.loads(Path("r.json").read_text())["files"]) == 140
    assert "And 40 more files, which the report in JSON lists" in ended.flat
    assert "130 more files had such records" in ended.flat
    assert "and 40 more, which the report in JSON lists" in ended.flat


def test_the_library_takes_a_folder(tree: Path) -> None:
    report = privatize_files(tree, tree.parent / "out", epsilon=1.5, glob="*.eml", workers=1)
    assert report.folder is not None
    assert {each.reason for each in report.folder.left_out} > {"not matched by the pattern"}
    with pytest.raises(ParameterError, match="`glob` is for a folder"):
        privatize_files(tree / "a.txt", tree.parent / "b.txt", epsilon=1.5, glob="*")

import errno
import io
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.files.copies import rewrite

from malaprop.files import formats
from malaprop.files.formats import Layout
from malaprop.files.staging import Staging
from malaprop.privacy.errors import OutputError, ParameterError


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


def test_an_output_appears_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    with Staging() as stage:
        target = stage.open(path)
        target.write(b"whole")
        assert not path.exists()
        (hidden,) = names(tmp_path)
        assert hidden.startswith(".")
    assert path.read_bytes() == b"whole"
    assert names(tmp_path) == ["out.txt"]
    assert target.closed


def test_several_outputs_appear_together(tmp_path: Path) -> None:
    with Staging() as stage:
        for name in ("a", "b", "c"):
            stage.open(tmp_path / name).write(name.encode())
        stage.open(tmp_path / "closed").close()
        assert not any(name in names(tmp_path) for name in "abc")
    assert names(tmp_path) == ["a", "b", "c", "closed"]
    assert (tmp_path / "b").read_bytes() == b"b"


@pytest.mark.parametrize("error", [ValueError, OSError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("force", [True, False])
def test_an_exception_leaves_nothing_behind(
    tmp_path: Path, error: type[BaseException], force: bool
) -> None:
    before = tmp_path / "before"
    before.write_bytes(b"intact")

    def fail() -> None:
        with Staging() as stage:
            stage.open(tmp_path / "new").write(b"x" * 2**20)
            if force:
                stage.open(before, force=True).write(b"x")
            raise error

    with pytest.raises(error):
        fail()
    assert names(tmp_path) == ["before"]
    assert before.read_bytes() == b"intact"


def test_a_failed_rewrite_leaves_nothing_behind(tmp_path: Path) -> None:
    before = tmp_path / "out.jsonl"
    before.write_bytes(b"intact")
    layout = Layout(format="jsonl", columns=("nope",))

    def fail() -> None:
        with Staging() as stage:
            target = stage.open(before, force=True)
            rewrite(io.BytesIO(b'{"a":"b"}\n'), target, layout, lambda texts: texts)

    with pytest.raises(ParameterError, match="no record"):
        fail()
    assert names(tmp_path) == ["out.jsonl"]
    assert before.read_bytes() == b"intact"


def test_an_existing_output_needs_force(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"old")
    with Staging() as stage, pytest.raises(OutputError, match=r"exists already.*`force=True`"):
        stage.open(path)
    assert path.read_bytes() == b"old"
    with Staging() as stage:
        stage.open(path, force=True).write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert names(tmp_path) == ["out"]


@pytest.fixture(params=["links", "no links"])
def links(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a test where the disk has hard links and where it has none."""

    def unsupported(*_: Any) -> None:
        raise OSError(errno.ENOTSUP, "Operation not supported")

    if request.param == "no links":
        monkeypatch.setattr(os, "link", unsupported)


@pytest.mark.usefixtures("links")
def test_a_file_that_appears_meanwhile_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "out"

    def race() -> None:
        with Staging() as stage:
            stage.open(tmp_path / "first").write(b"ours")
            stage.open(path).write(b"ours")
            path.write_bytes(b"theirs")

    with pytest.raises(OutputError, match="exists already"):
        race()
    assert path.read_bytes() == b"theirs"
    assert names(tmp_path) == ["out"]


@pytest.mark.usefixtures("links")
def test_names_are_given_with_and_without_links(tmp_path: Path) -> None:
    (tmp_path / "old").write_bytes(b"old")
    with Staging() as stage:
        stage.open(tmp_path / "old", force=True).write(b"1")
        stage.open(tmp_path / "new").write(b"2")
        stage.open(tmp_path / "forced", force=True).write(b"3")
    contents = {name: (tmp_path / name).read_bytes() for name in names(tmp_path)}
    assert contents == {"old": b"1", "new": b"2", "forced": b"3"}


def test_a_claimed_name_is_freed_when_the_rename_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: Any) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", failing)
    monkeypatch.setattr(os, "replace", failing)
    with pytest.raises(OutputError, match="no permission"), Staging() as stage:
        stage.open(tmp_path / "out")
    assert names(tmp_path) == []


def test_two_outputs_need_two_names(tmp_path: Path) -> None:
    with Staging() as stage:
        stage.open(tmp_path / "a")
        with pytest.raises(OutputError, match="two outputs"):
            stage.open(tmp_path / "a")
    assert names(tmp_path) == ["a"]


def test_permissions_are_those_of_a_new_file(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        with Staging() as stage:
            stage.open(tmp_path / "out")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o640


def test_a_symbolic_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    link = tmp_path / "link"
    link.symlink_to(Path("folder") / "real")
    with Staging() as stage:
        stage.open(link).write(b"1")
    assert (tmp_path / "folder" / "real").read_bytes() == b"1"
    with Staging() as stage, pytest.raises(OutputError, match="`force=True`"):
        stage.open(link)
    with Staging() as stage:
        stage.open(link, force=True).write(b"2")
    assert link.is_symlink()
    assert (tmp_path / "folder" / "real").read_bytes() == b"2"
    assert names(tmp_path / "folder") == ["real"]


def test_names_that_cannot_be_written_are_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    os.mkfifo(tmp_path / "pipe")
    cases = {
        tmp_path / "missing" / "out": "no folder .*missing: create it first",
        tmp_path: "is a folder: name a file in it",
        tmp_path / "pipe": 'not a regular file: .*`output="-"`',
        tmp_path / "file" / "out": "not a folder",
        tmp_path / ("x" * 300): "too long",
    }
    for path, message in cases.items():
        with Staging() as stage, pytest.raises(OutputError, match=message):
            stage.open(path, force=True)
    assert names(tmp_path) == ["file", "pipe"]


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (errno.EACCES, "no permission to write .*out"),
        (errno.EROFS, "out lies on a disk that can only be read"),
        (errno.ENOSPC, "no space left on the disk while writing .*out"),
        (errno.EIO, "cannot write .*out: Input/output error"),
    ],
)
def test_a_folder_that_refuses_is_told_in_plain_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, message: str
) -> None:
    def refusing(*_: Any) -> int:
        raise OSError(number, os.strerror(number))

    with Staging() as stage:
        monkeypatch.setattr(os, "open", refusing)
        with pytest.raises(OutputError, match=message):
            stage.open(tmp_path / "out")
        monkeypatch.undo()
    assert names(tmp_path) == []


def test_a_disk_that_fails_at_the_end_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(descriptor: int) -> None:
        raise OSError(errno.EDQUOT, "Disk quota exceeded")

    monkeypatch.setattr(os, "fsync", failing)
    with pytest.raises(OutputError, match="quota is used up"), Staging() as stage:
        stage.open(tmp_path / "out").write(b"a")
    assert names(tmp_path) == []


LIMITED = """
import io, resource, sys
from pathlib import Path
from malaprop.privacy.errors import OutputError
from malaprop.files.formats import FileCopy, Layout
from malaprop.files.staging import Staging
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    with Staging() as stage:
        target = stage.open(Path("out.txt"))
        source = io.BytesIO(b"word\\n" * int(sys.argv[1]))
        with FileCopy(Layout(format="txt").open(source), target) as copy:
            for batch in copy.batches():
                copy.write(batch, batch.texts)
            copy.finish()
except OutputError as error:
    sys.exit(f"{error} {error.__context__}")
"""


@pytest.mark.parametrize("lines", [25_000, 2_000_000])
def test_a_file_that_may_not_grow(tmp_path: Path, lines: int) -> None:
    """One small enough to fail when it is flushed, and one that fails on the way."""
    environment = {"PYTHONPATH": str(Path(formats.__file__).parents[3])}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", LIMITED, str(lines)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("out.txt grows larger than the disk or the limits")
    assert len(done.stderr.splitlines()) == 1
    assert names(tmp_path) == []


def test_what_is_written_after_a_failure_changes_nothing(tmp_path: Path) -> None:
    stage = Staging()
    target = stage.open(tmp_path / "out")
    target.write(b"early")
    stage.__exit__(ValueError, ValueError(), None)
    with pytest.raises(ValueError, match="closed"):
        target.write(b"late")
    assert names(tmp_path) == []

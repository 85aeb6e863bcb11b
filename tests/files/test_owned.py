"""Private files on disks of all kinds."""

import errno
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from malaprop.files.staging import Staging
from malaprop.privacy.errors import OutputError
from malaprop.private_files import create, open_ours, resolved


def test_a_new_file_is_private_and_exclusive(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        os.close(create(tmp_path / "file"))
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o600
    (tmp_path / "link").symlink_to("nowhere")
    for taken in ("file", "link"):
        with pytest.raises(FileExistsError):
            create(tmp_path / taken)
    assert not (tmp_path / "nowhere").exists()


def test_a_disk_without_permissions_can_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unsupported(*_: Any) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "fchmod", unsupported)
    with Staging() as stage:
        stage.open(tmp_path / "out").write(b"whole")
    assert (tmp_path / "out").read_bytes() == b"whole"


def test_a_disk_that_gives_all_files_to_one_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As network disks do: there, what has the owner of our new files counts as ours."""
    (tmp_path / "file").touch()
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    os.close(open_ours(tmp_path / "file"))
    assert os.listdir(tmp_path) == ["file"]


def test_a_file_of_another_user_is_refused(tmp_path: Path) -> None:
    if os.geteuid():
        pytest.skip("needs the right to give a file away")
    (tmp_path / "file").touch(0o666)
    os.chown(tmp_path / "file", 12345, -1)
    with pytest.raises(OutputError, match="belongs to another user"):
        open_ours(tmp_path / "file")
    assert os.listdir(tmp_path) == ["file"]


class TestLinks:
    """The visible name of an output may be a link: of the user's own, not of somebody else."""

    def test_of_the_users_own(self, tmp_path: Path) -> None:
        (tmp_path / "out.txt").symlink_to("there.txt")
        (tmp_path / "there.txt").symlink_to(tmp_path / "folder" / "file.txt")
        assert resolved(tmp_path / "out.txt") == tmp_path / "folder" / "file.txt"
        assert resolved(tmp_path / "new.txt") == tmp_path / "new.txt"

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a link to another user")
    @pytest.mark.parametrize("planted", ["out.txt", "there.txt"])
    def test_of_somebody_else(self, tmp_path: Path, planted: str) -> None:
        (tmp_path / "out.txt").symlink_to("there.txt")
        (tmp_path / "there.txt").symlink_to("precious.txt")
        (tmp_path / "precious.txt").write_text("precious")
        os.lchown(tmp_path / planted, 4242, -1)
        with pytest.raises(OutputError, match="link of another user"), Staging() as stage:
            stage.open(tmp_path / "out.txt", force=True).write(b"x")
        assert (tmp_path / "precious.txt").read_text() == "precious"

    def test_in_a_circle(self, tmp_path: Path) -> None:
        (tmp_path / "a").symlink_to("b")
        (tmp_path / "b").symlink_to("a")
        with pytest.raises(OutputError), Staging() as stage:
            stage.open(tmp_path / "a", force=True)

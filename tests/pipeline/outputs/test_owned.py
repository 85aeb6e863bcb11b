"""Private files on disks of all kinds."""

import errno
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from malaprop.core.errors import OutputError
from malaprop.pipeline.outputs.owned import create, open_ours
from malaprop.pipeline.outputs.staging import Staging


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

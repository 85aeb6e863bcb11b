"""The user's secret: made once, for its owner alone, and refused where others could have put it."""

import errno
import io
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from malaprop.privacy.errors import SecretError
from malaprop.private_files import keyed_digest, keyed_hash, state_folder, subkey


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state folder that is not yet there."""
    monkeypatch.setenv("MALAPROP_STATE", str(tmp_path / "state"))
    return tmp_path / "state"


def test_the_secret_is_made_once_and_for_its_owner_alone(state: Path) -> None:
    before = os.umask(0)
    try:
        first = subkey("test", "salt")
    finally:
        os.umask(before)
    assert os.listdir(state) == ["secret"]
    assert stat.S_IMODE(state.stat().st_mode) == 0o700
    assert stat.S_IMODE((state / "secret").stat().st_mode) == 0o600
    assert subkey("test", "salt") == first
    assert first not in (state / "secret").read_bytes()


def test_keys_differ_by_purpose_salt_and_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = {subkey("a"), subkey("b"), subkey("a", "b"), subkey("ab"), subkey("a", "c")}
    monkeypatch.setenv("MALAPROP_STATE", str(tmp_path / "another"))
    assert len(keys | {subkey("a")}) == 6


def test_hashes_have_keys() -> None:
    key, other = subkey("a"), subkey("b")
    assert keyed_hash("é\ud800", key) == keyed_hash("é\ud800".encode("utf-8", "surrogatepass"), key)
    assert keyed_hash("cold", key) != keyed_hash("cold", other)
    read: list[int] = []
    assert keyed_digest(io.BytesIO(b"cold"), key, read.append) == keyed_hash("cold", key)
    assert read == [4]


def test_runs_at_once_agree_on_one_secret(state: Path) -> None:
    code = "from malaprop.private_files import subkey; print(subkey('a').hex())"
    runs = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) for _ in range(4)
    ]
    assert len({run.communicate()[0] for run in runs}) == 1
    assert os.listdir(state) == ["secret"]


def test_a_disk_without_links_has_a_secret_too(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unsupported(*_: Any) -> None:
        raise OSError(errno.ENOTSUP, "Operation not supported")

    monkeypatch.setattr(os, "link", unsupported)
    assert subkey("a") == subkey("a")
    assert os.listdir(state) == ["secret"]


def test_a_secret_that_others_could_read_is_made_private(state: Path) -> None:
    key = subkey("a")
    (state / "secret").chmod(0o644)
    assert subkey("a") == key
    assert stat.S_IMODE((state / "secret").stat().st_mode) == 0o600


def test_what_is_not_ours_is_refused(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    subkey("a")
    path = state / "secret"
    path.rename(state / "moved")
    path.symlink_to("moved")
    with pytest.raises(SecretError, match="is a symbolic link"):
        subkey("a")
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(SecretError, match="is not a regular file"):
        subkey("a")
    path.unlink()
    path.write_bytes(b"short")
    with pytest.raises(SecretError, match="is damaged: remove it"):
        subkey("a")
    path.unlink()
    state.chmod(0o770)
    with pytest.raises(SecretError, match="can be written by others"):
        subkey("a")
    state.chmod(0o700)
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    with pytest.raises(SecretError, match="belongs to another user"):
        subkey("a")


def test_a_folder_that_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("MALAPROP_STATE", str(tmp_path / "file" / "state"))
    with pytest.raises(SecretError, match="Name a folder of your own in MALAPROP_STATE"):
        subkey("a")


def test_the_folder_is_the_system_s_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MALAPROP_STATE")
    monkeypatch.setenv("XDG_STATE_HOME", "/nonexistent/state")
    if sys.platform == "linux":
        assert state_folder() == Path("/nonexistent/state/malaprop")

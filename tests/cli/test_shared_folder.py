"""Hidden files in folders where others can write, and what whoever finds a journal learns."""

import base64
import hashlib
import json
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import Cli

from malaprop import Privatizer
from malaprop.files import privatize as running_module
from malaprop.files.formats import txt

ROWS = 95
TEXT = "cold hot zyxsecretcanary\n" * ROWS
COMMAND = ("in.txt", "-o", "out.txt", "--workers", "1")
JOURNAL = ".out.txt.malaprop"


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(txt, "BATCH_RECORDS", 10)
    monkeypatch.setattr(running_module, "SMALLEST_BATCH", 10)


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MALAPROP_STATE", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def precious(folder: Path) -> Path:
    (folder / "in.txt").write_text(TEXT)
    path = folder / "precious"
    path.write_text("a stranger's file")
    path.chmod(0o644)
    return path


@pytest.fixture
def stopped(cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The journal of a run that was stopped."""
    (folder / "in.txt").write_text(TEXT)
    stop(cli, monkeypatch)
    return folder / JOURNAL


def stop(cli: Cli, monkeypatch: pytest.MonkeyPatch, *options: str) -> None:
    original = Privatizer.batch
    calls = 0

    def private(privatizer: Privatizer, texts: list[str]) -> tuple[list[str], dict[str, int]]:
        nonlocal calls
        calls += 1
        if calls > 4:
            raise KeyboardInterrupt
        return original(privatizer, texts)

    with monkeypatch.context() as patch:
        patch.setattr(Privatizer, "batch", private)
        assert cli.privatize(*COMMAND, *options).code == 130


def _symbolic(precious: Path, place: Path) -> None:
    place.symlink_to(precious)


def _hard(precious: Path, place: Path) -> None:
    os.link(precious, place)


def _pipe(precious: Path, place: Path) -> None:
    os.mkfifo(place)


def _folder(precious: Path, place: Path) -> None:
    place.mkdir()


def _partial(folder: Path) -> str:
    return f".malaprop-{hashlib.blake2b(b'out.txt', digest_size=8).hexdigest()}.partial"


HIDDEN: list[Callable[[Path], str]] = [
    lambda folder: JOURNAL,
    lambda folder: f"{JOURNAL}-new",
    _partial,
]


@pytest.mark.parametrize("trap", [_symbolic, _hard, _pipe, _folder])
@pytest.mark.parametrize("hidden", HIDDEN)
@pytest.mark.parametrize("options", [(), ("--force",), ("--resume",)])
def test_no_link_is_followed(
    cli: Cli,
    folder: Path,
    precious: Path,
    trap: Callable[[Path, Path], None],
    hidden: Callable[[Path], str],
    options: tuple[str, ...],
) -> None:
    place = folder / hidden(folder)
    trap(precious, place)
    node = place.lstat().st_ino
    ended = cli.privatize(*COMMAND, *options)
    assert precious.read_text() == "a stranger's file"
    assert stat.S_IMODE(precious.stat().st_mode) == 0o644
    removable = trap is _hard and place.name != JOURNAL  # a second name goes, the file stays
    refused = ended.code == 1 and "remove it, or choose another" in ended.err
    late = place.name.endswith("-new") and "is whole, but its journal is still there" in ended.flat
    assert refused or late or removable
    assert removable or place.lstat().st_ino == node
    assert not (folder / "out.txt").exists() or late or removable


@pytest.mark.parametrize("options", [(), ("--force",), ("--resume",)])
def test_what_another_user_made_is_refused(
    cli: Cli, stopped: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    if os.geteuid():
        pytest.skip("needs the right to give a file away")
    os.chown(stopped, 12345, -1)
    before = stopped.read_bytes()
    ended = cli.privatize(*COMMAND, *options)
    assert ended.code == 1
    assert f"{stopped} belongs to another user" in ended.err
    assert stopped.read_bytes() == before


def test_a_journal_that_is_there_is_no_wider_when_it_is_used_again(
    cli: Cli, folder: Path, stopped: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped.chmod(0o666)
    stop(cli, monkeypatch, "--resume")
    assert stat.S_IMODE(stopped.stat().st_mode) == 0o600
    stopped.chmod(0o666)
    stop(cli, monkeypatch, "--force")
    assert stat.S_IMODE(stopped.stat().st_mode) == 0o600


def test_a_journal_alone_confirms_no_guess(folder: Path, stopped: Path, state: Path) -> None:
    """Whoever has it, and guesses the whole input, cannot tell whether the guess is right."""
    _, tag, header = stopped.read_text().splitlines()[0].split(" ", 2)
    assert tag == "header"
    keys = [b""]
    for value in json.loads(header).values():
        if isinstance(value, str):
            keys += [value.encode()[:64], *_unhexed(value)]
    digests = {
        hashlib.blake2b(TEXT.encode(), key=key, digest_size=size).hexdigest()
        for key in keys
        for size in (16, 32)
    }
    assert not [digest for digest in digests if digest in header]
    secret = (state / "secret").read_bytes()
    written = stopped.read_bytes()
    assert secret not in written
    assert secret.hex().encode() not in written


def _unhexed(value: str) -> list[bytes]:
    try:
        return [bytes.fromhex(value)[:64]]
    except ValueError:
        return []


def test_a_journal_shows_neither_texts_nor_counts_nor_where_batches_end(stopped: Path) -> None:
    lines = stopped.read_bytes().splitlines()[1:]
    assert len(lines) == 4
    assert len({len(line) for line in lines}) == 1
    for number, line in enumerate(lines):
        tag, body = line.split(b" ")[1:]
        assert tag == b"%d" % number
        assert b"protected" not in base64.b64decode(body, validate=True)


def test_a_record_tells_no_size(cli: Cli, folder: Path) -> None:
    (folder / "in.txt").write_text(TEXT)
    assert cli.privatize(*COMMAND).code == 0
    header = json.loads((folder / JOURNAL).read_text().split(" ", 2)[2])
    assert "key" not in header
    status = (folder / "in.txt").stat()
    for guess in (repr((status.st_size, status.st_mtime_ns)), TEXT):
        for key in _unhexed(header["salt"]):
            digest = hashlib.blake2b(guess.encode(), key=key, digest_size=16).hexdigest()
            assert digest not in header["facts"].values()


def test_without_the_secret_nothing_is_resumed(
    cli: Cli, folder: Path, stopped: Path, state: Path
) -> None:
    kept = (state / "secret").read_bytes()
    (state / "secret").unlink()
    ended = cli.privatize(*COMMAND, "--resume")
    assert ended.code == 1
    assert "the secret in your state folder is not the one that it was begun with" in ended.err
    assert "--force" in ended.err
    (state / "secret").write_bytes(kept)
    assert cli.privatize(*COMMAND, "--resume").code == 0
    (state / "secret").unlink()
    assert "is not the one" in cli.privatize(*COMMAND, "--resume").err
    assert cli.privatize(*COMMAND, "--force").code == 0
    assert "is complete already" in cli.privatize(*COMMAND, "--resume").err


@pytest.mark.parametrize("size", [1, ROWS])
def test_without_a_state_folder_a_run_has_no_journal_and_says_so(
    cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    (folder / "in.txt").write_text("cold\n" * size)
    (folder / "file").touch()
    monkeypatch.setenv("MALAPROP_STATE", str(folder / "file" / "state"))
    ended = cli.privatize(*COMMAND)
    assert ended.code == 0
    assert "warning: this run cannot be resumed: " in ended.err
    assert "MALAPROP_STATE" in ended.err
    assert sorted(os.listdir(folder)) == ["file", "in.txt", "out.txt"]
    refused = cli.privatize(*COMMAND, "--resume")
    assert (refused.code, "of unknown origin" in refused.err) == (1, True)


def test_a_journal_cannot_be_resumed_without_a_state_folder(
    cli: Cli, folder: Path, stopped: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "file").touch()
    monkeypatch.setenv("MALAPROP_STATE", str(folder / "file" / "state"))
    before = stopped.read_bytes()
    ended = cli.privatize(*COMMAND, "--resume")
    assert ended.code == 1
    assert "MALAPROP_STATE" in ended.err
    assert stopped.read_bytes() == before

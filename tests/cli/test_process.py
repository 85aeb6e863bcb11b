"""What only a process of its own can show: signals, full disks, closed pipes, terminals."""

import contextlib
import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import COMMAND, assert_private, running

LIMIT = 600.0  # seconds until a test gives up
CANARY = "zyxsecretcanary"
# Every test of these starts Python and numpy anew: what can be tested in one process is not here.


@pytest.fixture
def options(lexicon_file: Path) -> tuple[str, ...]:
    return ("--epsilon", "1", "--lexicon", str(lexicon_file))


def ended(process: "subprocess.Popen[bytes]", stdin: bytes | None = None) -> tuple[bytes, str]:
    out, err = process.communicate(stdin, timeout=LIMIT)
    return out or b"", (err or b"").decode()


def assert_one_line(err: str) -> None:
    assert err.startswith("malaprop: ")
    assert len(err.splitlines()) == 1
    assert CANARY not in err


@pytest.mark.parametrize("unbuffered", [False, True])
def test_a_pipe_carries_nothing_but_private_text(
    folder: Path, options: tuple[str, ...], unbuffered: bool
) -> None:
    with running("privatize", "-", *options, unbuffered=unbuffered) as process:
        out, err = ended(process, f"{CANARY} is cold\n".encode() * 10_000)
        assert process.returncode == 0
    assert_private(out.decode())
    assert out.count(b"\n") == 10_000
    assert err.startswith("Promised")
    assert "\r" not in err
    assert "\x1b" not in err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_nothing_behind(
    folder: Path, options: tuple[str, ...], number: signal.Signals
) -> None:
    (folder / "made").mkdir()
    with running("privatize", "-", "-o", "made/out.txt", *options) as process:
        assert process.stdin is not None
        process.stdin.write(f"{CANARY}\n".encode() * 20_000)
        process.stdin.flush()
        _wait_for(lambda: any((folder / "made").iterdir()))
        process.send_signal(number)
        assert process.wait(LIMIT) == 128 + number
        _, err = ended(process)
    assert_one_line(err)
    assert "stopped" in err
    assert list((folder / "made").iterdir()) == []


def test_a_signal_that_is_ignored_stays_so(folder: Path, options: tuple[str, ...]) -> None:
    before = "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)"  # what nohup does
    with running("privatize", "-", "-o", "out.txt", "-q", *options, before=before) as process:
        _wait_for(lambda: any(folder.iterdir()))
        process.send_signal(signal.SIGHUP)
        _, err = ended(process, b"cold\n")
        assert (process.returncode, err) == (0, "")
    assert_private((folder / "out.txt").read_text())


LATE = """
import os, signal, sys
class Late:
    def __del__(self, kill=os.kill, own=os.getpid(), number=signal.{}):
        kill(own, number)
sys.late = Late()
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_while_python_ends_changes_nothing(
    folder: Path, options: tuple[str, ...], name: str
) -> None:
    """Python drops its handlers before it drops what is left of the program."""
    with running("privatize", "-", "-q", *options, before=LATE.format(name)) as process:
        out, err = ended(process, b"cold\n")
        assert (process.returncode, err) == (0, "")
    assert_private(out.decode())


# What tools that record local variables do, and errors that are no `Exception`, as Rust's panics.
LOCALS = """
import rich.traceback, threading
rich.traceback.install(show_locals=True)
from malaprop import Privatizer
class Panic(BaseException):
    pass
def fail(privatizer, texts):
    text = texts[0]
    raise {}(text)
Privatizer.batch = {}
"""
IN_A_THREAD = """lambda privatizer, texts: (
    [thread := threading.Thread(target=fail, args=(privatizer, texts)), thread.start(),
     thread.join()], (texts, {}))[1]"""


@pytest.mark.parametrize("kind", ["RuntimeError", "Panic", "SystemExit"])
def test_the_unexpected_shows_no_local_variables(
    folder: Path, options: tuple[str, ...], kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("_TYPER_STANDARD_TRACEBACK", raising=False)
    monkeypatch.delenv("TYPER_STANDARD_TRACEBACK", raising=False)
    with running("privatize", "-", *options, before=LOCALS.format(kind, "fail")) as process:
        out, err = ended(process, f"{CANARY}\n".encode())
        assert (process.returncode, out) == (1, b"")
    assert_one_line(err)
    assert f"internal error: {kind} at <string>" in err


def test_a_failed_thread_shows_no_text(folder: Path, options: tuple[str, ...]) -> None:
    before = LOCALS.format("RuntimeError", IN_A_THREAD)
    with running("privatize", "-", "-q", *options, before=before) as process:
        _, err = ended(process, f"{CANARY}\n".encode())
    assert_one_line(err)
    assert "internal error: RuntimeError at <string>" in err


def test_a_worker_that_panics_shows_no_text(folder: Path, options: tuple[str, ...]) -> None:
    (folder / "in.txt").write_text(f"{CANARY}\n" * 40_000)
    command = ("privatize", "in.txt", "-o", "out.txt", "--workers", "2", *options)
    with running(*command, before=LOCALS.format("Panic", "fail")) as process:
        _, err = ended(process)
        assert process.returncode == 1
    assert_one_line(err)
    assert "internal error in a worker: Panic at <string>" in err


def test_a_full_disk(folder: Path, options: tuple[str, ...]) -> None:
    (folder / "in.txt").write_text(f"{CANARY}\n" * 5_000)
    before = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))"
    with running("privatize", "in.txt", "-o", "out.txt", *options, before=before) as process:
        out, err = ended(process)
        assert process.returncode == 1
    assert out == b""
    assert_one_line(err)
    assert "out.txt" in err
    assert [path.name for path in folder.iterdir()] == ["in.txt"]


@pytest.mark.parametrize("command", ["privatize -", "mechanisms", "--help", "--version"])
def test_a_full_output_device(folder: Path, options: tuple[str, ...], command: str) -> None:
    arguments = [*command.split(), *(options if command == "privatize -" else ())]
    with open("/dev/full", "wb") as full, running(*arguments, stdout=full.fileno()) as process:
        _, err = ended(process, f"{CANARY}\n".encode())
        assert process.returncode == 1
    assert_one_line(err)
    assert "No space left" in err


@pytest.mark.parametrize(
    ("closed", "says", "code"),
    [("<&-", "standard input is closed", 2), (">&-", "standard output is closed", 1)],
)
def test_a_closed_stream(
    folder: Path, options: tuple[str, ...], closed: str, says: str, code: int
) -> None:
    command = [sys.executable, "-c", COMMAND, "privatize", "-", *options]
    shell = ["sh", "-c", f'exec "$@" {closed}', "sh", *command]
    done = subprocess.run(
        shell, input=CANARY.encode(), capture_output=True, check=False, timeout=LIMIT
    )
    assert done.returncode == code
    assert done.stdout == b""
    assert_one_line(done.stderr.decode())
    assert says in done.stderr.decode()


def test_a_reader_that_goes_away(folder: Path, options: tuple[str, ...]) -> None:
    (folder / "in.txt").write_text("cold\n" * 200_000)
    with running("privatize", "in.txt", "-o", "-", *options) as process:
        assert process.stdout is not None
        assert process.stdout.read(1)
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == b""
        assert process.wait(LIMIT) == 1


def test_a_terminal_sees_progress(folder: Path, options: tuple[str, ...]) -> None:
    shown = _on_a_terminal("privatize", "-", "-o", "out.txt", *options, stdin=b"cold\n" * 9_000)
    assert "━" in shown
    assert "9,000 words" in shown
    assert "Promised" in shown.split("━")[-1]
    assert_private((folder / "out.txt").read_text())


def test_a_terminal_that_knows_only_ascii(folder: Path, options: tuple[str, ...]) -> None:
    before = "import sys; sys.stdout.reconfigure(encoding='ascii', errors='strict')"
    with running("explain", "cold", *options, before=before) as process:
        out, err = ended(process)
        assert process.returncode == 0
    assert err == ""
    assert any(line.startswith(b"cold ") for line in out.splitlines())


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells the peak")
def test_memory_does_not_grow_with_the_input(folder: Path, options: tuple[str, ...]) -> None:
    # Not getrusage, which begins with the peak of the process that has started this one.
    peak = "open('/proc/self/status').read().split('VmHWM:')[1].split()[0]"
    before = f"import atexit, sys; atexit.register(lambda: print({peak}, file=sys.stderr))"
    peaks = []
    for records in (2_000, 30_000):
        (folder / "in.csv").write_text("text,other\n" + f"cold,{'x' * 1_000}\n" * records)
        arguments = ("privatize", "in.csv", "-o", "out.csv", "--force", "-q", "-c", "text")
        with running(*arguments, *options, before=before) as process:
            _, err = ended(process)
            assert process.returncode == 0
        peaks.append(int(err) / 1024)  # MB
    assert peaks[1] - peaks[0] < 10  # while the input has grown by 28 MB


def test_the_command_starts_light() -> None:
    heavy = (
        "pyarrow",
        "scipy",
        "rapidfuzz",
        "rich",
        "gensim",
        "safetensors",
        "randomgen",
        "pydantic",
    )
    statement = f"import sys, malaprop.cli.app; print([m for m in {heavy} if m in sys.modules])"
    with running(before=f"{statement}; sys.exit()") as process:
        out, _ = ended(process)
    assert out.decode().strip() == "[]"


def _on_a_terminal(*arguments: str, stdin: bytes) -> str:
    """What the command shows on stderr when that is a terminal."""
    ours, theirs = pty.openpty()
    with running(*arguments, stderr=theirs) as process:
        os.close(theirs)
        assert process.stdin is not None
        process.stdin.write(stdin)
        process.stdin.close()
        shown = b""
        with contextlib.suppress(OSError):  # a terminal that is gone is an error to read from
            while select.select([ours], [], [], LIMIT)[0] and (more := os.read(ours, 4096)):
                shown += more
        os.close(ours)
        assert process.stdout is not None
        assert process.stdout.read() == b""
        assert process.wait(LIMIT) == 0
    return shown.decode()


def _wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)

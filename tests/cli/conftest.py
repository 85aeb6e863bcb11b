"""The command line, called in this process or in one of its own, on a lexicon of a few words."""

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.lab.datasets.serving import server, write_catalogue  # noqa: F401  fixtures

from malaprop import Privatizer
from malaprop.cli.main import run
from malaprop.files import privatize as running_module
from malaprop.files.formats import parquet, text_records, txt
from malaprop.files.resume_file import read_resume_file, run_key
from malaprop.private_files import decrypted

# In the order of the rows: cold things on the left, hot ones on the right.
VECTORS = {
    "cold": (0.0, 0.0),
    "cool": (1.0, 0.5),
    "mild": (2.5, 0.0),
    "warm": (4.0, 0.5),
    "hot": (5.5, 0.0),
    "doctor": (2.0, 6.0),
    "nurse": (2.5, 7.0),
    "patient": (3.5, 6.5),
    "the": (-6.0, 1.0),
    "a": (-6.5, 2.0),
    "is": (-5.0, 3.0),
    "one": (8.0, -6.0),
    "two": (8.5, -5.5),
}
WORDS = frozenset(VECTORS)
COMMAND = "from malaprop.cli.main import main; main()"
# A shell has what it runs in the background ignore Ctrl-C, and nohup the end of a terminal. The
# suite passes that on to its children, and the command respects it.
HEARING = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGTERM, signal.SIG_DFL)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
"""


@dataclass(frozen=True)
class Ended:
    """How a call ended."""

    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        return self.out.decode()

    @property
    def flat(self) -> str:
        """What stands on stderr, whatever the width it was wrapped to."""
        return " ".join(self.err.split())


class Cli:
    """Calls the command line in this process."""

    def __init__(
        self,
        capture: pytest.CaptureFixture[bytes],
        monkeypatch: pytest.MonkeyPatch,
        lexicon: Path,
    ) -> None:
        self._capture = capture
        self._monkeypatch = monkeypatch
        self._lexicon = str(lexicon)

    def __call__(self, *arguments: str | Path, stdin: bytes = b"") -> Ended:
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        self._capture.readouterr()
        code = run([str(argument) for argument in arguments])
        out, err = self._capture.readouterr()
        return Ended(code, out, err.decode())

    def privatize(self, *arguments: str | Path, epsilon: str = "1", stdin: bytes = b"") -> Ended:
        options = ("--epsilon", epsilon, "--lexicon", self._lexicon, "--verbose")
        return self("privatize", *arguments, *options, stdin=stdin)


@pytest.fixture
def lexicon_file(tmp_path: Path) -> Path:
    path = tmp_path / "lexicon" / "small.vec"
    path.parent.mkdir()
    path.write_text("".join(f"{word} {x} {y}\n" for word, (x, y) in VECTORS.items()))
    return path


@pytest.fixture
def cli(
    capsysbinary: pytest.CaptureFixture[bytes],
    monkeypatch: pytest.MonkeyPatch,
    lexicon_file: Path,
) -> Cli:
    return Cli(capsysbinary, monkeypatch, lexicon_file)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, which is the working directory."""
    path = tmp_path / "work"
    path.mkdir()
    monkeypatch.chdir(path)
    return path


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten records a batch, and all that has more than one is long."""
    for module in (text_records, txt, parquet):
        monkeypatch.setattr(module, "BATCH_RECORDS", 10)
    monkeypatch.setattr(running_module, "SMALLEST_BATCH", 10)


class Breaking:
    """Lets the drawing stop at a batch, and counts the batches that are drawn."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.stop_at: int | None = None
        self.calls = 0
        self.error: BaseException = KeyboardInterrupt()
        original = Privatizer.batch

        def private(privatizer: Privatizer, texts: list[str]) -> tuple[list[str], dict[str, int]]:
            if self.calls == self.stop_at:
                raise self.error
            self.calls += 1
            return original(privatizer, texts)

        monkeypatch.setattr(Privatizer, "batch", private)

    def after(self, calls: int | None, run: Callable[[], Ended]) -> Ended:
        self.stop_at, self.calls = calls, 0
        return run()


@pytest.fixture
def breaking(monkeypatch: pytest.MonkeyPatch) -> Breaking:
    return Breaking(monkeypatch)


@contextmanager
def running(
    *arguments: str | Path,
    before: str = "",
    unbuffered: bool = False,
    stdout: int = subprocess.PIPE,
    stderr: int = subprocess.PIPE,
) -> "Iterator[subprocess.Popen[bytes]]":
    """The command line in a process of its own, after the Python statements `before`."""
    code = f"{HEARING}\n{before}\n{COMMAND}"
    command = [sys.executable, "-c", code, *map(str, arguments)]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    environment["PYTHONUNBUFFERED"] = "1" if unbuffered else ""
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=stdout, stderr=stderr, env=environment
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def drawn_in(hidden: Path) -> dict[int, list[str]]:
    """The texts of all batches in a journal; of a last line that is cut short, nothing."""
    side = read_resume_file(hidden.with_name(hidden.name[1:].removesuffix(".malaprop")))
    if side is None:
        return {}
    key, written = run_key(side.header.salt), hidden.read_bytes()
    batches = {}
    for number, (start, length) in side.batches.items():
        body = written[start : start + length].split(b" ", 2)[2].rstrip(b"\n")
        batches[number] = json.loads(decrypted(body, key))[0]
    return batches


def words_of(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.casefold())


def assert_private(text: str) -> None:
    """Every word is one of the lexicon, or a number."""
    assert {word for word in words_of(text) if not word.isdecimal()} <= WORDS

"""A run that is killed, again and again, at moments drawn at random.

Ten times with all other tests, five for each format; MALAPROP_KILLS says otherwise, as  make stress
does.
"""

import contextlib
import os
import random
import subprocess
import time
from itertools import count, islice
from pathlib import Path

import pytest
from tests.cli.conftest import WORDS, drawn_in, running

from malaprop.files.formats import Layout

KILLS = int(os.environ.get("MALAPROP_KILLS", "10"))
ROWS = 12_000
LIMIT = 600.0


class Csv:
    """A column of words among others."""

    layout = Layout(format="csv", columns=("text",))
    options = ("-c", "text")
    head = "id,text,other\n"

    @staticmethod
    def line(number: int, word: str) -> str:
        return f"{number},{word},{'x' * 1_000}\n"

    @staticmethod
    def parse(line: str) -> tuple[int, str, str]:
        number, text, _ = line.split(",")
        return int(number), text, text


class Txt:
    """A word a line, before as many exclamation marks as tell the lines apart."""

    layout = Layout(format="txt")
    options = ()
    head = ""

    @staticmethod
    def line(number: int, word: str) -> str:
        return f"{word}{'!' * (500 + number % 997)}\n"

    @staticmethod
    def parse(line: str) -> tuple[int, str, str]:
        word = line.rstrip("!")
        return len(line) - len(word) - 500, word, line


Format = type[Csv] | type[Txt]


@pytest.mark.parametrize("kind", [Csv, Txt])
def test_a_run_that_is_killed_loses_and_repeats_nothing(
    folder: Path, lexicon_file: Path, kind: Format
) -> None:
    words, end = sorted(WORDS), kind.layout.format
    lines = (kind.line(i, words[i % len(words)]) for i in range(ROWS))
    (folder / f"in.{end}").write_text(kind.head + "".join(lines))
    command = ("privatize", f"in.{end}", "-q", "-e", "1", "-l", str(lexicon_file), *kind.options)
    moments = random.SystemRandom()
    sizes = _batch_sizes(folder / f"in.{end}", kind.layout)
    longest = _seconds_of(*command, "-o", f"first.{end}")
    output = resumed = 0
    kept: dict[int, list[str]] = {}
    for kill in count():
        if kill >= max(1, KILLS // 2) and resumed:
            break
        assert kill < KILLS + 50  # a run may be over before it is killed, but not each of them
        path = folder / f"out{output}.{end}"
        hidden = folder / f".{path.name}.malaprop"
        options = ("-o", path.name, "--resume", "--workers", str(1 + output % 3))
        with running(*command, *options) as process:
            if kill % 2:
                _wait(process, moments.uniform(0.0, longest))
            else:
                _wait_for_batches(process, hidden, moments.randint(1, len(sizes)))
            process.kill()
            _, err = process.communicate(timeout=LIMIT)  # which waits for its workers as well
            assert process.returncode in (0, -9), err
        now = drawn_in(hidden)
        resumed += bool(kept)
        if path.exists():
            assert not now or len(now) == len(sizes)
            _assert_whole(path, kind, sizes, now or kept)
            output, kept = output + 1, {}
        else:
            assert now.items() >= kept.items()  # what was drawn stays as it is
            kept = now
    for number in range(output + 1):
        with running(*command, "-o", f"out{number}.{end}", "--resume") as process:
            _, err = process.communicate(timeout=LIMIT)
            assert process.returncode == 0, err
    _assert_whole(folder / f"out{output}.{end}", kind, sizes, kept)
    records = [name for name in os.listdir(folder) if name.startswith(".")]
    assert all((folder / name).stat().st_size < 2_000 for name in records)
    assert len(records) == output + 2  # one for each output, also the first; no remains


def _batch_sizes(path: Path, layout: Layout) -> list[int]:
    """How many records there are in each batch."""
    with path.open("rb") as source:
        batches = layout.open(source, path.stat().st_size).batches()
        sizes = [len(batch.texts) for batch in batches]
    assert len(sizes) > 10
    return sizes


def _seconds_of(*command: str) -> float:
    """How long it takes on this machine, now."""
    started = time.monotonic()
    with running(*command) as process:
        process.communicate(timeout=LIMIT)
        assert process.returncode == 0
    return time.monotonic() - started


def _wait(process: "subprocess.Popen[bytes]", seconds: float) -> None:
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(seconds)


def _wait_for_batches(process: "subprocess.Popen[bytes]", hidden: Path, number: int) -> None:
    deadline = time.monotonic() + LIMIT
    while _lines(hidden) < number and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.001)


def _lines(hidden: Path) -> int:
    """How many batches there are in a journal; one that is cut short may count."""
    try:
        return hidden.read_bytes().count(b"\n") - 1
    except FileNotFoundError:
        return 0


def _assert_whole(path: Path, kind: Format, sizes: list[int], kept: dict[int, list[str]]) -> None:
    """All records are there once, in order, and those that were drawn are as they were."""
    written = path.read_text().removeprefix(kind.head).splitlines()
    keys, words, texts = zip(*map(kind.parse, written), strict=True)
    expected = (kind.parse(kind.line(i, "word").rstrip("\n"))[0] for i in range(ROWS))
    assert list(keys) == list(expected)
    assert {word.casefold() for word in words} <= WORDS
    left = iter(texts)
    for number, size in enumerate(sizes):
        batch = list(islice(left, size))
        assert kept.get(number, batch) == batch
    assert next(left, None) is None

"""The commands of the tutorials run, one after the other, and print what the pages show."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE, OutputChecker
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
_BLOCK = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
_STEP = re.compile(r"^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)


def commands(page: str) -> list[tuple[str, str]]:
    """Return the commands of a page, each with what it should print."""
    return [step for block in _BLOCK.findall(page) for step in _STEP.findall(block)]


def on_free_ports(page: str) -> str:
    """Return a page with free ports for its own, and time for what starts on a slow machine."""
    with ExitStack() as held:
        for port in sorted(set(re.findall(r"localhost:(\d+)", page))):
            free = held.enter_context(socket.socket())
            free.bind(("127.0.0.1", 0))
            page = re.sub(rf"\b{port}\b", str(free.getsockname()[1]), page)
    return page.replace("--retry 60 ", "--retry 600 ")


@pytest.fixture
def services(tmp_path: Path) -> Iterator[None]:
    """End the services that a tutorial has started, also if it fails half-way."""
    yield
    for file in tmp_path.glob("*.pid"):
        with suppress(ProcessLookupError):
            os.kill(int(file.read_text()), signal.SIGTERM)


@pytest.mark.usefixtures("services")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_tutorial_runs_as_it_is_written(page: Path, tmp_path: Path) -> None:
    for example in (ROOT / "examples").glob("*.*"):
        shutil.copy(example, tmp_path)
    tools = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": tools, "COLUMNS": "80", "HOME": str(tmp_path)}
    for command, expected in commands(on_free_ports(page.read_text("utf-8"))):
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}"
        if expected:
            fits = OutputChecker().check_output(
                expected, done.stdout, ELLIPSIS | NORMALIZE_WHITESPACE
            )
            assert fits, f"{command}\nprinted\n{done.stdout}\ninstead of\n{expected}"

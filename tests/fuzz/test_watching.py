"""The watch over the process that reads damaged lexicons sees what it must see."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.fuzz.watching import SEEN

FORBIDDEN = [
    "os.system('true')",
    "import this",
    "eval('1')",
    "pickle.loads(pickle.dumps(Path('x')))",
    "os.mkdir('harm')",
    "open('harm', 'w')",
    "open('/etc/passwd')",
    "socket.socket()",
]


@pytest.mark.parametrize("statement", FORBIDDEN)
def test_what_must_not_be_done_ends_the_process(tmp_path: Path, statement: str) -> None:
    program = f"""
import os, pickle, socket, sys
sys.path[:0] = {[str(Path(__file__).parents[2]), *sys.path]!r}
from pathlib import Path
from tests.fuzz.watching import watch
watch(Path({str(tmp_path)!r}))
{statement}
"""
    command = [sys.executable, "-c", program]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert ended.returncode == SEEN
    assert list(tmp_path.iterdir()) == []

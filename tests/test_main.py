"""The package runs as a program."""

import subprocess
import sys


def test_python_m_is_the_command_line() -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "malaprop", "--version"], capture_output=True, text=True, check=True
    )
    assert shown.stdout.startswith("malaprop ")

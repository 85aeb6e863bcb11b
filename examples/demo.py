"""Privatize examples/notes.txt and show it beside the original. `make demo` runs this.

The output differs from run to run, because the noise comes from the operating system.
"""

import os
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

from malaprop.cli.main import run

EPSILON = "1.5"
NOTES, PRIVATE = Path("examples/notes.txt"), Path("build/private.txt")


def main() -> int:
    """Run the command as a user would, then show both texts side by side."""
    os.chdir(Path(__file__).parents[1])
    PRIVATE.parent.mkdir(exist_ok=True)
    command = ["privatize", str(NOTES), "-o", str(PRIVATE), "--epsilon", EPSILON]
    command += ["--redraw", "people", "--readable"]
    print("$ malaprop", *command, "\n", flush=True)
    if code := run([*command, "--force"]):
        return code
    show(NOTES.read_text("utf-8"), PRIVATE.read_text("utf-8"))
    return 0


def show(original: str, private: str) -> None:
    """Print two texts side by side, line by line."""
    table = Table(show_edge=False, show_lines=True)
    table.add_column("original", ratio=1)
    table.add_column("private", ratio=1)
    for lines in zip(original.splitlines(), private.splitlines(), strict=True):
        table.add_row(*lines)
    console = Console(highlight=False)
    console.print("\n", table, sep="")
    console.print(
        "\nAbout a third of the words stay as they are, and almost as many become a near word.\n"
        "Next, activate the environment that has the command, and try it yourself:\n\n"
        "  . .venv/bin/activate\n"
        f"  malaprop privatize examples/notes.csv -o private.csv --column text -e {EPSILON}\n"
        f"  malaprop explain aspirin --epsilon {EPSILON}\n\n"
        "Or see in a browser what ε does: run  make serve  and open  http://127.0.0.1:8000/",
        soft_wrap=True,
    )


if __name__ == "__main__":
    sys.exit(main())

"""Privatize examples/notes.txt and show it beside the original. `make demo` runs this.

What it prints changes from run to run: the noise comes from the operating system.
"""

from collections import Counter
from pathlib import Path

from rich.console import Console
from rich.table import Table

from malaprop import TEM, Lexicon, Privatizer
from malaprop.pipeline.files import FileCounts, Layout
from malaprop.report.run import FileRecord, readable, run_report

EPSILON = 2.4


def main() -> None:
    """Show each line of the notes beside a private one, then the report."""
    path = Path(__file__).parent / "notes.txt"
    notes = path.read_text("utf-8").splitlines()
    privatizer = Privatizer(Lexicon.open("english"), TEM(epsilon=EPSILON))
    releases = privatizer.many(notes)

    table = Table(show_edge=False, show_lines=True)
    table.add_column("original", ratio=1)
    table.add_column(f"private, ε = {EPSILON}", ratio=1)
    for note, release in zip(notes, releases, strict=True):
        table.add_row(note, release.text)
    console = Console(highlight=False)
    console.print(table)

    counts: Counter[str] = Counter()
    for release in releases:
        counts.update(release.counts)
    shown = FileRecord(
        input="examples/notes.txt",
        output="this screen",
        layout=Layout(format="txt"),
        counts=FileCounts(records=len(notes), cells=len(notes)),
    )
    console.print(readable(run_report(privatizer, [shown], counts)), markup=False)


if __name__ == "__main__":
    main()

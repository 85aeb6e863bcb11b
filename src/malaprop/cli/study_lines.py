"""What commands that measure in lines share: their options, and how lines and pages are written."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from malaprop.cli.measuring import PIPE
from malaprop.cli.messages import say_text
from malaprop.cli.outputs import check_different

if TYPE_CHECKING:
    from malaprop.studies import Line

JsonLines = Annotated[
    str | None,
    typer.Option(
        "--json",
        metavar="FILE",
        help="Write every figure as a JSON line to this file, or to standard output (-).",
    ),
]
Seed = Annotated[
    int, typer.Option(metavar="NUMBER", min=0, help="Repeat the same draws and splits.")
]
FromFile = Annotated[
    Path | None,
    typer.Option("--from", metavar="FILE", help="Measure nothing: read a file that --json wrote."),
]
Fresh = Annotated[bool, typer.Option("--fresh", help="Measure again what an earlier run kept.")]
Force = Annotated[bool, typer.Option("--force", help="Replace existing outputs.")]


def write_results(
    results: "Callable[[], Sequence[Line]]",
    json_: str | None,
    report: Path | None,
    *,
    force: bool,
    page_files: "Callable[[Sequence[Line], Path], Mapping[Path, str]]",
    readable: "Callable[[Sequence[Line]], str]",
) -> None:
    """Get results, and write lines, page and what the terminal shows.

    Outputs are checked and opened before anything is measured. None gets its name unless all are
    written.
    """
    from malaprop.pipeline.outputs.staging import Staging, check_output
    from malaprop.report.studies.written import checked_page
    from malaprop.report.written import as_bytes
    from malaprop.studies import written

    page = None if report is None else checked_page(report)
    check_different(json_, () if page is None else (page,))
    if page is not None:
        check_output(page, force=force)
    with Staging() as stage:
        target = stage.open(Path(json_), force=force) if json_ not in (None, PIPE) else None
        lines = results()
        if target:
            target.write(written(lines).encode())
        for path, text in page_files(lines, page).items() if page else ():
            stage.open(path, force=force).write(as_bytes(text))
        stage.complete()
    say_text(written(lines) if json_ == PIPE else readable(lines))


def read_results(path: Path, wanted: "Callable[[Line], bool]", what: str) -> "list[Line]":
    """Return the lines of a file that are wanted, judged again; `what` names them in the error."""
    from malaprop.core.errors import DataError
    from malaprop.studies import judged_again, read

    lines = [line for line in read(path.read_text("utf-8")) if wanted(line)]
    if not lines:
        raise DataError(f"{path} has no results of {what}.")
    return judged_again(lines)

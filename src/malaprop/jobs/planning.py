"""From inputs and an output, as a user names them, to jobs: one file in, one file out each."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from malaprop.core.errors import OutputError, ParameterError
from malaprop.jobs.job import PIPE, Copied, Job
from malaprop.pipeline.formats import Layout, format_of
from malaprop.pipeline.formats.recognise import check_ending, check_packing

_PIPED = "txt"  # the format of standard input, unless another one is named


def plan_jobs(
    inputs: Sequence[str],
    output: str,
    format_: str | None,
    layout: Callable[[str], Layout],
) -> list[Job]:
    """Plan a job for each input; `layout` says how a file of a format is read."""
    jobs = []
    for source, target in zip(inputs, _targets(inputs, output), strict=True):
        _check_source(source)
        name = format_ or (_PIPED if source == PIPE else format_of(source))
        made = layout(name)  # which refuses an unknown format
        for path in (source, target):
            check_packing(path, name)
        if target != PIPE:
            check_ending(source, target, name, named=format_ is not None)
        jobs.append(Job(source, target, made))
    return jobs


def check_piped(inputs: Sequence[str], format_: str | None, columns: Sequence[str]) -> None:
    """Refuse columns of standard input without a format: it would be taken for plain text."""
    if list(inputs) == [PIPE] and columns and not format_:
        raise ParameterError(
            "standard input is read as plain text, which has no columns: name its format with "
            '`format="csv"` (or tsv, jsonl)'
        )


def check_report(report: Path | None, jobs: Sequence[Copied]) -> None:
    """Refuse a report that would replace an input or an output."""
    if report is None:
        return
    for job in jobs:
        for kind, path in (("an input", job.source), ("an output", job.target)):
            if path != PIPE and _is_in(report, Path(path)):
                raise ParameterError(
                    f"the report cannot go to {report}, which is {kind}: name another file with "
                    "`report`"
                )


def _is_in(file: Path, place: Path) -> bool:
    """Whether a file is another one, under any name, or lies in that folder."""
    real, there = Path(os.path.realpath(file)), Path(os.path.realpath(place))
    if there == real or there in real.parents:
        return True
    with suppress(OSError):  # one of them is not there yet
        return real.samefile(there)
    return False


@contextmanager
def folder_for(inputs: Sequence[str], output: str) -> Iterator[None]:
    """Make the output folder if one is needed; remove it again if the run fails."""
    folder = Path(output) if _is_folder(inputs, output) else None
    if folder is None or folder.exists():
        yield
        return
    try:
        folder.mkdir()
    except OSError as error:
        raise OutputError(f"the folder {folder} cannot be made: {error.strerror}") from None
    try:
        yield
    except BaseException:
        with suppress(OSError):
            folder.rmdir()
        raise


def _is_folder(inputs: Sequence[str], output: str) -> bool:
    """Whether the output is a folder: for several inputs, or where its name says so."""
    return output != PIPE and (len(inputs) > 1 or output.endswith(("/", os.sep)))


def _targets(inputs: Sequence[str], output: str) -> list[str]:
    """Return where each input goes."""
    if len(inputs) == 1 and not (Path(output).is_dir() and inputs[0] != PIPE):
        return [output]
    if PIPE in inputs or output == PIPE:
        raise ParameterError("several inputs need files on both sides: a pipe can carry only one")
    if not Path(output).is_dir():
        raise OutputError(f"{output} is a file: several inputs need a folder")
    names = [Path(source).name for source in inputs]
    if len(set(names)) < len(names):
        raise ParameterError(
            "two of the inputs have the same name, and so would their outputs: privatize them one "
            "by one"
        )
    return [str(Path(output) / name) for name in names]


def _check_source(source: str) -> None:
    if source == PIPE:
        if sys.stdin is None:
            raise ParameterError("standard input is closed: open it, or name a file")
        return
    path = Path(source)
    if path.is_dir():
        raise ParameterError(f"{source} is a folder: name the files in it")
    if not path.exists():
        raise ParameterError(f"there is no file {source}")

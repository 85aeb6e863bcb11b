"""Names of files: what is read is never written to, and no two writers share a name."""

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from malaprop.core.errors import ParameterError
from malaprop.jobs.job import PIPE, Copied
from malaprop.pipeline.outputs.access import status_of
from malaprop.pipeline.outputs.sidefile import new_side_path, side_path
from malaprop.pipeline.outputs.staging import partial_path

_File = tuple[int, int]
"""What identifies a file under any name: the numbers of its disk and of its node there."""


def check_names(jobs: Sequence[Copied], report: Path | None) -> None:
    """Refuse outputs that are inputs, under any name, and clashes with hidden files."""
    inputs = {_file(status): job for job in jobs if (status := job.status())}
    for job in jobs:
        if _target_file(job) in inputs:
            name = "standard output" if job.target == PIPE else job.target
            raise ParameterError(
                f"{name} is an input: choose another name with `output`. An output never replaces "
                "what it is made from, not even with `force=True`"
            )
    named = [Path(job.target) for job in jobs if job.target != PIPE]
    written = [*named, report] if report else named
    taken = {Path(os.path.realpath(path)) for path in written}
    for path in written:
        for hidden in _hidden(path):
            if hidden in taken or _existing(hidden) in inputs:
                raise ParameterError(
                    f"{hidden.name} would be overwritten, as {path} needs a hidden file of that "
                    "name: choose another name with `output`"
                )


def _hidden(path: Path) -> Iterator[Path]:
    """Yield the files that may be written beside an output."""
    final = Path(os.path.realpath(path))
    yield from (side_path(final), new_side_path(final), partial_path(final))


def _target_file(job: Copied) -> _File | None:
    if job.target != PIPE:
        return _existing(Path(job.target))
    status = status_of(sys.stdout)
    return None if status is None else _file(status)


def _existing(path: Path) -> _File | None:
    try:
        return _file(os.stat(path))
    except OSError:
        return None


def _file(status: os.stat_result) -> _File:
    return status.st_dev, status.st_ino

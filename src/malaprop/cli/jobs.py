"""From the inputs and the output that a user names to jobs: one file in, one file out each."""

import io
import os
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from malaprop.core.errors import OutputError, ParameterError

if TYPE_CHECKING:
    from malaprop.pipeline.formats import Format, Layout
    from malaprop.pipeline.outputs.access import Access
    from malaprop.pipeline.outputs.staging import Staging
    from malaprop.pipeline.outputs.watching import Sight

PIPE = "-"


@dataclass(frozen=True)
class Job:
    """One input to be read, one output to be made; "-" is the pipe."""

    source: str
    target: str
    layout: "Layout"

    @property
    def size(self) -> int | None:
        """The bytes to be read, where that is known beforehand."""
        path = Path(self.source)
        return path.stat().st_size if self.source != PIPE and path.is_file() else None

    @property
    def packed(self) -> bool:
        """Whether the input is packed, so that its size does not tell how much is in it."""
        from malaprop.pipeline.formats.packing import packing_of

        return packing_of(self.source) is not None

    @property
    def lasting(self) -> bool:
        """Whether both sides are files, so that a run that was stopped can go on."""
        return PIPE not in (self.source, self.target) and Path(self.source).is_file()

    def status(self) -> os.stat_result | None:
        """The status of the input, if it is a regular file; also behind standard input."""
        from malaprop.pipeline.outputs.access import status_of

        if self.source == PIPE:
            return status_of(sys.stdin)
        with suppress(FileNotFoundError):
            found = os.stat(self.source)
            return found if stat.S_ISREG(found.st_mode) else None
        return None

    def sight(self) -> "Sight | None":
        """What tells whether the input changes, if it is a regular file."""
        from malaprop.pipeline.outputs.watching import sight

        found = self.status()
        return None if found is None else sight(found)

    @contextmanager
    def open_source(self) -> Iterator[BinaryIO]:
        """The input, to be read."""
        if self.source == PIPE:
            yield sys.stdin.buffer
            return
        with Path(self.source).open("rb") as file:
            yield file

    def open_target(self, stage: "Staging", limits: "Sequence[Access]", *, force: bool) -> BinaryIO:
        """The output, to be written; its permissions will be within the limits."""
        if self.target == PIPE:
            return _standard_output()
        return stage.open(Path(self.target), force=force, limits=limits)


def _standard_output() -> BinaryIO:
    """Standard output with a buffer: without one (PYTHONUNBUFFERED), a write may be cut short."""
    if sys.stdout is None:
        raise OutputError("standard output is closed: open it, or name a file with -o")
    stream = sys.stdout.buffer
    if isinstance(stream, io.RawIOBase):
        return open(stream.fileno(), "wb", closefd=False)
    return stream


def plan_jobs(
    inputs: list[str],
    output: str | None,
    format_: "Format | None",
    layout: Callable[["Format"], "Layout"],
) -> list[Job]:
    """A job for each input; `layout` says how a file of a format is read."""
    from malaprop.pipeline.formats.layout import check_packing, format_of

    jobs = []
    for source, target in zip(inputs, _targets(inputs, output), strict=True):
        _check_source(source)
        found = format_ or ("txt" if source == PIPE else format_of(source))
        if not format_:
            _check_target(target, found)
        for path in (source, target):
            check_packing(path, found)
        jobs.append(Job(source, target, layout(found)))
    return jobs


def check_piped(inputs: list[str], format_: "Format | None", columns: list[str] | None) -> None:
    """Refuse columns of standard input without a format: it would be taken for plain text."""
    if inputs == [PIPE] and columns and not format_:
        raise ParameterError(
            "standard input is read as plain text, which has no columns: name its format with "
            "--format csv (or tsv, jsonl)"
        )


def check_report(report: Path | None, jobs: list[Job]) -> None:
    """Refuse a report that would take the place of an input or an output."""
    if report is None:
        return
    for job in jobs:
        for kind, path in (("an input", job.source), ("an output", job.target)):
            if path != PIPE and _is_in(report, Path(path)):
                raise ParameterError(
                    f"the report cannot go to {report}, which is {kind}: name another file with "
                    "--report"
                )


def open_report(stage: "Staging", report: Path | None, *, force: bool) -> BinaryIO | None:
    """The report, if one is asked for, for its owner alone: it tells more than the output."""
    from malaprop.pipeline.outputs.access import OWNER_ONLY

    return stage.open(report, force=force, limits=[OWNER_ONLY]) if report else None


def _is_in(file: Path, place: Path) -> bool:
    """Whether a file is another one, by whatever name, or lies in that folder."""
    found, real = Path(os.path.realpath(file)), Path(os.path.realpath(place))
    if real == found or real in found.parents:
        return True
    with suppress(OSError):  # one of them is not there yet
        return found.samefile(real)
    return False


@contextmanager
def folder_for(inputs: list[str], output: str | None) -> Iterator[None]:
    """Make the output folder where one is meant; take it away again if nothing came of it."""
    folder = Path(output) if output and _is_folder(inputs, output) else None
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


def _is_folder(inputs: list[str], output: str) -> bool:
    """Whether the output is a folder: for several inputs, or where its name says so."""
    return output != PIPE and (len(inputs) > 1 or output.endswith(("/", os.sep)))


def _targets(inputs: list[str], output: str | None) -> list[str]:
    """Where each input goes."""
    if output is None:
        if inputs == [PIPE]:
            return [PIPE]
        raise ParameterError("an output is needed: name it with  -o OUTPUT")
    if len(inputs) == 1 and not (Path(output).is_dir() and inputs != [PIPE]):
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


def _check_target(target: str, format_: "Format") -> None:
    """An output has the input's format; a name that says otherwise is a slip."""
    from malaprop.pipeline.formats import format_of

    try:
        said = format_ if target == PIPE else format_of(target)
    except ParameterError:
        return
    if said != format_:
        raise ParameterError(
            f"the output has the format of the input, {format_}: {target} says {said}"
        )

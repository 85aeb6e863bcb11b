"""From names to jobs: one file in, one file out; and what a run reports while it lasts."""

import io
import os
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, Literal

from malaprop.files.formats.file_format import Layout, check_ending, check_packing, format_of
from malaprop.files.resume_file import new_side_path, side_path
from malaprop.files.staging import Staging, partial_path
from malaprop.privacy.errors import OutputError, ParameterError
from malaprop.private_files import Access, status_of

PIPE: Final = "-"
"""Standard input or output, in place of a path."""
_PIPED: Final = "txt"  # the format of standard input, unless another one is named


@dataclass(frozen=True)
class Job:
    """An input to read and an output to make; "-" is standard input or output."""

    source: str
    target: str

    @property
    def name(self) -> str:
        """What errors call the input, of which there may be several. A pipe has no name."""
        return "" if self.source == PIPE else self.source

    @property
    def size(self) -> int | None:
        """The size of the input in bytes, if it is known beforehand."""
        path = Path(self.source)
        return path.stat().st_size if self.source != PIPE and path.is_file() else None

    @property
    def lasting(self) -> bool:
        """Whether input and output are files, so that a run that was stopped can be resumed."""
        return PIPE not in (self.source, self.target) and Path(self.source).is_file()

    def status(self) -> os.stat_result | None:
        """Return the status of the input, if it is a regular file; also behind standard input."""
        if self.source == PIPE:
            return status_of(sys.stdin)
        with suppress(FileNotFoundError):
            status = os.stat(self.source)
            return status if stat.S_ISREG(status.st_mode) else None
        return None

    @contextmanager
    def open_source(self) -> Iterator[BinaryIO]:
        """Open the input."""
        if self.source == PIPE:
            yield sys.stdin.buffer
            return
        with Path(self.source).open("rb") as file:
            yield file

    def open_target(self, stage: Staging, limits: Sequence[Access], *, force: bool) -> BinaryIO:
        """Open the output; its permissions will be within the limits."""
        if self.target != PIPE:
            return stage.open(Path(self.target), force=force, limits=limits)
        if sys.stdout is None:
            raise OutputError("standard output is closed: open it, or name a file with `output`")
        stream = sys.stdout.buffer
        if isinstance(stream, io.RawIOBase):  # unbuffered, a write may be cut short
            return open(stream.fileno(), "wb", closefd=False)
        return stream


@dataclass(frozen=True)
class TextJob(Job):
    """A job whose input has texts, and a layout."""

    layout: Layout


def plan_jobs(
    inputs: Sequence[str],
    output: str,
    format_: str | None,
    layout: Callable[[str], Layout],
) -> list[TextJob]:
    """Plan a job for each input; `layout` says how a file of a format is read."""
    jobs = []
    for source, target in zip(inputs, _targets(inputs, output), strict=True):
        if source == PIPE and sys.stdin is None:
            raise ParameterError("standard input is closed: open it, or name a file")
        if source != PIPE:
            check_source(source)
        name = format_ or (_PIPED if source == PIPE else format_of(source))
        made = layout(name)  # which refuses an unknown format
        for path in (source, target):
            check_packing(path, name)
        if target != PIPE:
            check_ending(source, target, name, named=format_ is not None)
        jobs.append(TextJob(source, target, made))
    return jobs


def check_source(source: str | Path) -> None:
    """Refuse an input that is a folder, or not there."""
    if Path(source).is_dir():
        raise ParameterError(f"{source} is a folder: name a file in it")
    if not Path(source).exists():
        raise ParameterError(f"there is no file {source}")


def check_piped(inputs: Sequence[str], format_: str | None, columns: Sequence[str]) -> None:
    """Refuse columns of standard input without a format: it would be taken for plain text."""
    if list(inputs) == [PIPE] and columns and not format_:
        raise ParameterError(
            "standard input is read as plain text, which has no columns: name its format with "
            '`format="csv"` (or tsv, jsonl)'
        )


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


@contextmanager
def folder_for(inputs: Sequence[str], output: str) -> Iterator[None]:
    """Make the output folder if one is needed; remove it again if the run fails.

    The output is a folder for several inputs, or where its name says so.
    """
    several = output != PIPE and (len(inputs) > 1 or output.endswith(("/", os.sep)))
    folder = Path(output)
    if not several or folder.exists():
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


# Names of files: what is read is never written to, and no two writers share a name.


def check_names(jobs: Sequence[Job], report: Path | None) -> None:
    """Refuse outputs that are inputs, under any name, and clashes with hidden files or a report."""
    check_report(report, jobs)
    inputs = [_node(status) for job in jobs if (status := job.status())]
    for job in jobs:
        piped = job.target == PIPE
        if (_node(status_of(sys.stdout)) if piped else _existing(Path(job.target))) in inputs:
            name = "standard output" if piped else job.target
            raise ParameterError(
                f"{name} is an input: choose another name with `output`. An output never replaces "
                "what it is made from, not even with `force=True`"
            )
    named = [Path(job.target) for job in jobs if job.target != PIPE]
    written = [*named, report] if report else named
    taken = {Path(os.path.realpath(path)) for path in written}
    for path in written:
        final = Path(os.path.realpath(path))
        for hidden in (side_path(final), new_side_path(final), partial_path(final)):
            if hidden in taken or _existing(hidden) in inputs:
                raise ParameterError(
                    f"{hidden.name} would be overwritten, as {path} needs a hidden file of that "
                    "name: choose another name with `output`"
                )


def _existing(path: Path) -> object:
    try:
        return _node(os.stat(path))
    except OSError:
        return None


def _node(status: os.stat_result | None) -> object:
    """Return what identifies a file under any name: the numbers of its disk and its node there."""
    return status and (status.st_dev, status.st_ino)


def check_report(report: Path | None, jobs: Sequence[Job]) -> None:
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


@dataclass(frozen=True, kw_only=True)
class RunProgress:
    """An event in a run.

    - `preparing`: the mechanism is bound to the lexicon, which may take a while;
    - `warning`: `note` is something that the user should know before or after the work;
    - `checking`: an input is compared with that of the run to resume, `done` of `total` bytes;
    - `drawing`: `done` of `total` bytes of all inputs are copied, with `words` private words;
    - `naming`: all outputs are on the disk and get their names: it is too late to stop.

    For vectors, `done`, `total` and `words` count those, and `unit` says so.

    `note` says in a few words what is being worked on. `total` is None where it is not known.
    """

    stage: Literal["preparing", "warning", "checking", "drawing", "naming"]
    note: str = ""
    done: int = 0
    total: int | None = None
    words: int = 0
    unit: str = "words"


Listener = Callable[[RunProgress], None]
"""Called with each event of a run."""


def ignore(progress: RunProgress) -> None:
    """Do nothing: the default listener."""

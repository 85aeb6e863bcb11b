"""From names to jobs: one file in, one file out."""

import io
import os
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, Literal, Protocol

from malaprop.files.compression import compression_of
from malaprop.files.formats import check_ending, check_packing, format_of
from malaprop.files.formats.file_format import Layout
from malaprop.files.resume_file import Sight, file_stamp, new_side_path, side_path
from malaprop.files.staging import Staging, partial_path
from malaprop.privacy.errors import OutputError, ParameterError
from malaprop.private_files import Access, status_of

# One file in, one file out.


PIPE: Final = "-"
"""Standard input or output, in place of a path."""


class Copied(Protocol):
    """A file to read and one to make, as far as their names go."""

    @property
    def source(self) -> str:
        """The input."""

    @property
    def target(self) -> str:
        """The output."""

    def status(self) -> os.stat_result | None:
        """Return the status of the input, if it is a regular file."""


class FileJob(Copied, Protocol):
    """A job whose output is staged, and can be resumed if it is `lasting`."""

    @property
    def lasting(self) -> bool:
        """Whether input and output are files, so that a run that was stopped can be resumed."""

    def sight(self) -> Sight | None:
        """Return what tells whether the input changes, if it is a regular file."""

    def open_source(self) -> AbstractContextManager[BinaryIO]:
        """Open the input."""

    def open_target(self, stage: Staging, limits: Sequence[Access], *, force: bool) -> BinaryIO:
        """Open the output; its permissions will be within the limits."""


@dataclass(frozen=True)
class Job:
    """An input to read and an output to make; "-" is standard input or output."""

    source: str
    target: str
    layout: Layout

    @property
    def size(self) -> int | None:
        """The size of the input in bytes, if it is known beforehand."""
        path = Path(self.source)
        return path.stat().st_size if self.source != PIPE and path.is_file() else None

    @property
    def packed(self) -> bool:
        """Whether the input is compressed, so that its size does not tell how much is in it."""
        return compression_of(self.source) is not None

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

    def sight(self) -> Sight | None:
        """Return what tells whether the input changes, if it is a regular file."""
        status = self.status()
        return None if status is None else file_stamp(status)

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
        if self.target == PIPE:
            return _standard_output()
        return stage.open(Path(self.target), force=force, limits=limits)


def _standard_output() -> BinaryIO:
    """Return standard output with a buffer: unbuffered, a write may be cut short."""
    if sys.stdout is None:
        raise OutputError("standard output is closed: open it, or name a file with `output`")
    stream = sys.stdout.buffer
    if isinstance(stream, io.RawIOBase):
        return open(stream.fileno(), "wb", closefd=False)
    return stream


# Names of files: what is read is never written to, and no two writers share a name.


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


# From inputs and an output, as a user names them, to jobs: one file in, one file out each.


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


# What a run reports while it lasts.


Stage = Literal["preparing", "warning", "checking", "drawing", "naming"]


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

    stage: Stage
    note: str = ""
    done: int = 0
    total: int | None = None
    words: int = 0
    unit: str = "words"


Listener = Callable[[RunProgress], None]
"""Called with each event of a run."""


def ignore(progress: RunProgress) -> None:
    """Do nothing: the default listener."""

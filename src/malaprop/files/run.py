"""A run, of texts or of vectors: jobs, one file in and one file out, and their outputs."""

import io
import os
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import BinaryIO, Final, Literal

from malaprop.files import KEPT, PARTLY, UNWRITTEN
from malaprop.files.formats.file_format import Layout, check_ending, check_packing, format_of
from malaprop.files.resume_file import (
    THE_INPUT,
    Header,
    Journal,
    ResumeFile,
    Stamp,
    key_of,
    known,
    new_salt,
    new_side_path,
    outside,
    proof_of,
    read_resume_file,
    record_of,
    refuse_changes,
    run_key,
    seal,
    side_path,
    stamp,
    write_record,
)
from malaprop.files.staging import Staging, partial_path
from malaprop.privacy.errors import InputChangedError, OutputError, ParameterError, SecretError
from malaprop.private_files import (
    OWNER_ONLY,
    Access,
    digest_key,
    keyed_digest,
    keyed_hash,
    refuse_locked,
    resolved,
    status_of,
    subkey,
)

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
    def passes_faults(self) -> bool:
        """Whether faulty records do not end the run: after one that they ended, it is resumed."""
        return False

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
    layout: Layout
    guessed: bool = False
    """Whether a detector found the encoding."""

    @property
    def passes_faults(self) -> bool:
        return self.layout.on_error != "fail"


def plan_jobs(
    inputs: Sequence[str], output: str, format_: str | None, layout: "partial[Layout]"
) -> list[TextJob]:
    """Plan a job for each input; `layout` lacks the format alone."""
    if list(inputs) == [PIPE] and layout.keywords["columns"] and not format_:
        raise ParameterError(
            "standard input is read as plain text, which has no columns: name its format with "
            '`format="csv"` (or tsv, jsonl)'
        )
    jobs = []
    for source, target in zip(inputs, _targets(inputs, output), strict=True):
        if source == PIPE and sys.stdin is None:
            raise ParameterError("standard input is closed: open it, or name a file")
        if source != PIPE:
            check_source(source)
        name = format_ or (_PIPED if source == PIPE else format_of(source))
        made = layout(format=name)  # which refuses an unknown format
        for path in (source, target):
            check_packing(path, name)
        if target != PIPE:
            check_ending(source, target, name, named=format_ is not None)
        jobs.append(TextJob(source, target, made))
    return jobs


def total_size(jobs: Sequence[Job]) -> int | None:
    sizes = [job.size for job in jobs]
    return None if None in sizes else sum(size or 0 for size in sizes)


def check_source(source: str | Path) -> None:
    """Refuse an input that is a folder, or not there."""
    if Path(source).is_dir():
        raise ParameterError(f"{source} is a folder: name a file in it, or that folder alone")
    if not Path(source).exists():
        raise ParameterError(f"there is no file {source}")


def _targets(inputs: Sequence[str], output: str) -> list[str]:
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
    inputs = {_node(status) for job in jobs if (status := job.status())}
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

    - `preparing`: the mechanism is bound to the lexicon, or figures are computed, which may take a
      while; `done` of `total` steps where there are any;
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


Settings = Callable[["Output"], dict[str, str]]
"""What an output depends on besides its input, by names that a message can use."""


@dataclass
class Output:
    """The output of one job. What goes through a pipe has no journal and cannot be resumed."""

    job: Job
    number: int
    target: BinaryIO | None = None
    journal: Journal | None = None
    side: ResumeFile | None = None
    """What an earlier run left to resume;"""
    whole: bool = False
    """whether it completed the output, so that there is nothing to do;"""
    replace: bool = False
    """whether an existing file of the output's name may be replaced."""
    _header: Header | None = None
    _kept: bool = False
    _recorded: Stamp | None = None
    _key: bytes = b""
    _seen: str = ""  # of the input, before it was read
    _sight: tuple[int, ...] | None = None  # the same, in finer grain

    @property
    def path(self) -> Path:
        return Path(self.job.target)

    @cached_property
    def run_name(self) -> str:
        """A random name of the run, which a run that resumes it has, too; after `begin`."""
        return self._header.salt if self._header else new_salt()

    @cached_property
    def _final(self) -> Path:
        return resolved(self.path)

    def start_over(self, settings: Callable[[], dict[str, str]], *, force: bool) -> None:
        """Find where to start without an earlier run; `force` discards what could be resumed.

        What an earlier run left is resumed if faulty records end this run no more.
        """
        self.replace = force
        side = read_resume_file(self._final) if self.job.lasting else None
        if side and side.batches and not force and not side.made(self._final):
            refuse_locked(side_path(self._final), self.path)  # it may still be at work
            if self.job.passes_faults:
                self.resume(settings(), force=force)
                return
            raise OutputError(
                f"an earlier run that was to write {self.path} was interrupted: resume it with "
                "`resume=True`, or start over with `force=True`"
            )

    def resume(self, settings: dict[str, str], *, force: bool) -> None:
        """Find where an earlier run stopped, if it is the same run.

        The input of a journal whose output is not yet whole is not looked at: that takes a while.
        """
        self._seen = outside(Path(self.job.source))
        self.replace = force
        side = read_resume_file(self._final)
        if side and side.made(self._final):
            key = key_of(self.path, side.header)
            facts = known(settings, key)
            if side.header.whole:  # a record has a hash of the input's stamp, a journal one of all
                facts[THE_INPUT] = keyed_hash(self._seen, key)
            else:
                with self.job.open_source() as source:
                    facts[THE_INPUT] = keyed_digest(source, key)
            refuse_changes(self.path, side.header, facts)
            self.side, self.whole = side, True
        elif side and not side.header.whole:
            refuse_changes(self.path, side.header, known(settings, key_of(self.path, side.header)))
            self.side, self.replace = side, force or side.header.force
        elif self._final.exists() and not force:
            told = "has changed since it was made" if side else "is of unknown origin"
            raise OutputError(
                f"{self.path} exists already and {told}, so that there is nothing to resume: "
                "choose another name, or replace it with `force=True`"
            )

    def check_input(self, source: BinaryIO | None = None) -> None:
        """Refuse an input that has changed since `begin`: what was read would mix two states of it.

        `source` is the open input; without it, the file of that name is checked.
        """
        if self._sight != _file_stamp(self.job, source):
            name = self.job.name or "standard input"
            raise InputChangedError(
                f"{name} changed while it was read: start over with `force=True` when nothing "
                "writes to it. `resume=True` continues only if its content is what it was"
            )

    def begin(
        self,
        settings: dict[str, str] | None,
        progress: Callable[[int], None],
        *,
        keep: bool,
        empty: bool = False,
    ) -> None:
        """Look at the input before it is read, and open the journal if draws must be kept.

        Refuse to resume with another input. Without `settings`, there is no key to resume with.
        With `empty`, the journal is kept even without a batch, for the name of its run.
        """
        self._sight = _file_stamp(self.job)
        if settings is None or not self.job.lasting:
            return
        self._seen = outside(Path(self.job.source))
        salt = self.side.header.salt if self.side else new_salt()
        self._key = key = run_key(salt)
        facts = known(settings, key)
        if self.side or keep:
            with self.job.open_source() as source:
                facts[THE_INPUT] = keyed_digest(source, key, progress)
        if self.side:
            refuse_changes(self.path, self.side.header, {THE_INPUT: facts[THE_INPUT]})
        self._header = Header(facts=facts, salt=salt, proof=proof_of(key), force=self.replace)
        if self.side or keep:
            self.journal = Journal(
                self.path, self._final, self._header, key, self.side, empty=empty
            )

    def seal(self, stamps: dict[Path, Stamp]) -> None:
        """Record, before the output gets its name, its stamp when it is whole."""
        if self._kept:
            seal(self.path, self._final, stamps[self.path])
        elif self._header:
            self._recorded = stamps[self.path]
            record = record_of(self._header, self._key, self._seen, self._recorded)
            write_record(self._final, record)

    def conclude(self) -> None:
        """Replace the journal of a whole output by a record."""
        if self._recorded and self._recorded == stamp(self._final.stat()):
            return
        journal = self.side if self.whole and self.side and self.side.batches else None
        if header := journal.header if journal else self._header:
            key = key_of(self.path, header)
            write_record(self._final, record_of(header, key, self._seen, stamp(self._final.stat())))

    def close(self) -> bool:
        """Close the journal; return whether it holds something to resume."""
        if self.journal is not None:
            self._kept = bool(len(self.journal))
            self.journal.close()
        return self._kept


def _file_stamp(job: Job, source: BinaryIO | None = None) -> tuple[int, ...] | None:
    """Return a value that every change of the input changes, if it is a regular file.

    A program can set the size and `st_mtime` back to what they were, but not `st_ctime`.
    """
    status = status_of(source) if source else job.status()
    if status is None:
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


class Run:
    """The outputs of a run, and the file of its report."""

    def __init__(
        self, jobs: Sequence[Job], settings: Settings, listener: Listener, first: int = 0
    ) -> None:
        self.outputs = [Output(job, number) for number, job in enumerate(jobs, start=first)]
        self.cautions: list[str] = []
        """What the report should say about keys that cannot be kept."""
        self.report: BinaryIO | None = None
        """The file of the report, if one is asked for and there is something to do."""
        self.reported = False
        """Whether there is a report, here or later."""
        self._settings, self._listener = settings, listener
        self._keyed: bool | None = None

    @property
    def left(self) -> list[Output]:
        return [output for output in self.outputs if not output.whole]

    @property
    def already(self) -> list[str]:
        """The outputs that an earlier run has completed."""
        return [str(output.path) for output in self.outputs if output.whole]

    def warn(self, *warnings: str) -> None:
        for warning in warnings:
            self._listener(RunProgress(stage="warning", note=warning))

    def digest_key(self) -> bytes | None:
        """Return the key of the report's digests, if there is a report and a key."""
        return (
            self._key(digest_key, "the report has no digests of the files")
            if self.reported
            else None
        )

    def begin(self, output: Output, *, keep: bool, empty: bool = False) -> None:
        """Get ready to read an input; with `keep`, what is drawn for it can be resumed."""
        if self._keyed is None and output.job.lasting:
            key = self._key(lambda: subkey("journal"), "this run cannot be resumed")
            self._keyed = key is not None
        size, note = output.job.size, f"checking {Path(output.job.source).name}"

        def progress(done: int) -> None:
            self._listener(RunProgress(stage="checking", note=note, done=done, total=size))

        settings = self._settings(output) if self._keyed else None
        output.begin(settings, progress, keep=keep, empty=empty)

    def seal(self, stage: Staging) -> None:
        """Bring the outputs to the disk, and record that they will be whole."""
        for output in self.outputs:
            output.close()
        stamps = stage.complete()
        for output in self.left:
            output.check_input()
        for output in self.left:
            output.seal(stamps)

    def _key(self, make: Callable[[], bytes], without: str) -> bytes | None:
        """Return a key; if there is none, warn what has to do without it."""
        try:
            return make()
        except SecretError as error:
            self.cautions.append(f"{without}: {error}")
            self.warn(self.cautions[-1])
            return None


def _limits(jobs: Sequence[Job]) -> list[Access]:
    """Return the permissions of the inputs that are files."""
    return [Access.of(status) for job in jobs if (status := job.status())]


@contextmanager
def staged_run(
    jobs: Sequence[Job],
    settings: Settings,
    listener: Listener,
    *,
    report: Path | None,
    resume: bool,
    force: bool,
    part: int | None = None,
) -> Iterator[Run]:
    """Open the outputs of jobs; they appear with the report at the end, or not at all.

    To `resume` an earlier run, the settings of each output must be those of that run. A `part` of
    a run over a folder begins with the job of that number: its outputs have the permissions of
    their own inputs, and the report is written when all parts are done.
    """
    if resume and not all(job.lasting for job in jobs):
        raise ParameterError(
            "only files can be resumed, not what comes or goes through a pipe: name a file on "
            "both sides, or leave out `resume`"
        )
    run, whole = Run(jobs, settings, listener, part or 0), part is None
    run.reported = report is not None
    begun = bool(part)
    try:
        with Staging() as stage:
            limits = _limits(jobs)
            for output in run.outputs:
                if resume or (not (whole or force) and output.job.passes_faults):
                    output.resume(settings(output), force=force)
                else:
                    output.start_over(partial(settings, output), force=force)
                if not output.whole:
                    own = (
                        limits if whole else [*map(Access.of, filter(None, [output.job.status()]))]
                    )
                    output.target = output.job.open_target(stage, own, force=output.replace)
            if report and run.left and whole:  # for its owner alone: it tells more than the output
                run.report = stage.open(report, force=force, limits=[OWNER_ONLY])
            begun = True
            yield run
            run.seal(stage)
            listener(RunProgress(stage="naming"))
    except BaseException as error:
        error.add_note(UNWRITTEN if whole or not begun else PARTLY)
        kept = [output.close() for output in run.outputs]
        if any(kept) and whole and not isinstance(error, InputChangedError):
            error.add_note(KEPT)
        raise
    for output in run.outputs:
        try:
            output.conclude()
        except OutputError as error:  # too late to fail: the output is there, and whole
            run.warn(f"{output.path} is whole, but its journal is still there: {error}")

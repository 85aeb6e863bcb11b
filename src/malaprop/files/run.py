"""A run, of texts or of vectors: its outputs, from the first claim to the last record."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from malaprop.files import KEPT, UNWRITTEN
from malaprop.files.plan import Job, Listener, RunProgress
from malaprop.files.resume_file import (
    THE_INPUT,
    Header,
    Journal,
    ResumeState,
    Stamp,
    key_of,
    known,
    new_salt,
    outside,
    proof_of,
    record_of,
    refuse_changes,
    resume,
    run_key,
    seal,
    stamp,
    start_over,
    write_record,
)
from malaprop.files.staging import Staging
from malaprop.privacy.errors import InputChangedError, OutputError, ParameterError, SecretError
from malaprop.private_files import (
    OWNER_ONLY,
    Access,
    digest_key,
    keyed_digest,
    status_of,
    subkey,
)

Settings = Callable[["Output"], dict[str, str]]
"""What an output depends on besides its input, by names that a message can use."""


@dataclass
class Output:
    """The output of one job. What goes through a pipe has no journal and cannot be resumed."""

    job: Job
    number: int
    target: BinaryIO | None = None
    journal: Journal | None = None
    _state: ResumeState | None = None
    _header: Header | None = None
    _kept: bool = False
    _key: bytes = b""
    _seen: str = ""  # of the input, before it was read
    _sight: tuple[int, ...] | None = None  # the same, in finer grain

    @property
    def path(self) -> Path:
        """The output's name."""
        return Path(self.job.target)

    @property
    def whole(self) -> bool:
        """Whether an earlier run completed the output, so that there is nothing to do."""
        return self._state is not None and self._state.whole

    def claim(
        self, stage: Staging, limits: Sequence[Access], settings: Settings | None, *, force: bool
    ) -> None:
        """Open the output; with `settings`, for a run that resumes an earlier one."""
        if settings:
            self._seen = outside(Path(self.job.source))
            self._state = resume(self.path, Path(self.job.source), settings(self), force=force)
        elif self.job.lasting:
            self._state = start_over(self.path, force=force)
        if not self.whole:
            replace = self._state.replace if self._state else force
            self.target = self.job.open_target(stage, limits, force=replace)

    def watch(self) -> None:
        """Look at the input before it is read."""
        self._sight = _file_stamp(self.job)

    def check_input(self, source: BinaryIO | None = None) -> None:
        """Refuse an input that has changed since `watch`: what was read would mix two states of it.

        `source` is the open input; without it, the file of that name is checked.
        """
        if self._sight != _file_stamp(self.job, source):
            name = self.job.name or "standard input"
            raise InputChangedError(
                f"{name} changed while it was read: start over with `force=True` when nothing "
                "writes to it. `resume=True` continues only if its content is what it was"
            )

    def begin(
        self, settings: dict[str, str], progress: Callable[[int], None], *, keep: bool
    ) -> None:
        """Open the journal if draws must be kept; refuse to resume with another input."""
        if not self.job.lasting or self._state is None:
            return
        self._seen = outside(Path(self.job.source))
        side = self._state.side
        salt = side.header.salt if side else new_salt()
        self._key = key = run_key(salt)
        facts = known(settings, key)
        if side or keep:
            with self.job.open_source() as source:
                facts[THE_INPUT] = keyed_digest(source, key, progress)
        if side:
            refuse_changes(self.path, side.header, {THE_INPUT: facts[THE_INPUT]})
        self._header = Header(
            facts=facts, salt=salt, proof=proof_of(key), force=self._state.replace
        )
        if side or keep:
            self.journal = Journal(self.path, self._state.final, self._header, key, side)

    def seal(self, stamps: dict[Path, Stamp]) -> None:
        """Record, before the output gets its name, its stamp when it is whole."""
        if self._header is None or self._state is None:
            return
        if self._kept:
            seal(self.path, self._state.final, stamps[self.path])
        else:
            record = record_of(self._header, self._key, self._seen, stamps[self.path])
            write_record(self._state.final, record)

    def conclude(self) -> None:
        """Replace the journal of a whole output by a record."""
        if self._state is None:
            return
        side = self._state.side
        header = side.header if self.whole and side and side.batches else self._header
        if header:
            key = key_of(self.path, header)
            whole = stamp(self._state.final.stat())
            write_record(self._state.final, record_of(header, key, self._seen, whole))

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
    times = status.st_mtime_ns, status.st_ctime_ns
    return status.st_dev, status.st_ino, status.st_size, *times


class Run:
    """The outputs of a run, and the file of its report."""

    def __init__(self, jobs: Sequence[Job], settings: Settings, listener: Listener) -> None:
        self.outputs = [Output(job, number) for number, job in enumerate(jobs)]
        self.cautions: list[str] = []
        """What the report should say about keys that cannot be kept."""
        self.report: BinaryIO | None = None
        """The file of the report, if one is asked for and there is something to do."""
        self._settings, self._listener = settings, listener
        self._keyed: bool | None = None

    @property
    def left(self) -> list[Output]:
        """The outputs that are still to be made."""
        return [output for output in self.outputs if not output.whole]

    def warn(self, *warnings: str) -> None:
        """Tell the listener what the user should know."""
        for warning in warnings:
            self._listener(RunProgress(stage="warning", note=warning))

    def digest_key(self) -> bytes | None:
        """Return the key of the report's digests, if there is a report and a key."""
        return (
            self._key(digest_key, "the report has no digests of the files") if self.report else None
        )

    def begin(self, output: Output, *, keep: bool) -> None:
        """Get ready to read an input; with `keep`, what is drawn for it can be resumed."""
        output.watch()
        if self._keyed is None and output.job.lasting:
            key = self._key(lambda: subkey("journal"), "this run cannot be resumed")
            self._keyed = key is not None
        if not self._keyed:
            return
        size, note = output.job.size, f"checking {Path(output.job.source).name}"

        def progress(done: int) -> None:
            self._listener(RunProgress(stage="checking", note=note, done=done, total=size))

        output.begin(self._settings(output), progress, keep=keep)

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


@contextmanager
def staged_run(
    jobs: Sequence[Job],
    settings: Settings,
    listener: Listener,
    *,
    report: Path | None,
    resume: bool,
    force: bool,
) -> Iterator[Run]:
    """Open the outputs of jobs; they appear with the report at the end, or not at all.

    To `resume` an earlier run, the settings of each output must be those of that run.
    """
    if resume and not all(job.lasting for job in jobs):
        raise ParameterError(
            "only files can be resumed, not what comes or goes through a pipe: name a file on "
            "both sides, or leave out `resume`"
        )
    run = Run(jobs, settings, listener)
    try:
        with Staging() as stage:
            limits = [Access.of(status) for job in jobs if (status := job.status())]
            for output in run.outputs:
                output.claim(stage, limits, settings if resume else None, force=force)
            if report and run.left:  # for its owner alone: it tells more than the output
                run.report = stage.open(report, force=force, limits=[OWNER_ONLY])
            yield run
            run.seal(stage)
            listener(RunProgress(stage="naming"))
    except BaseException as error:
        error.add_note(UNWRITTEN)
        kept = [output.close() for output in run.outputs]
        if any(kept) and not isinstance(error, InputChangedError):
            error.add_note(KEPT)
        raise
    for output in run.outputs:
        try:
            output.conclude()
        except OutputError as error:  # too late to fail: the output is there, and whole
            run.warn(f"{output.path} is whole, but its journal is still there: {error}")

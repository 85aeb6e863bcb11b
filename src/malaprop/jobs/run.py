"""A run: all its outputs, from the first claim to the last record."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, cast

from malaprop.core.errors import (
    InputChangedError,
    OutputError,
    SecretError,
)
from malaprop.jobs import KEPT, UNWRITTEN
from malaprop.jobs.job import PIPE, Job
from malaprop.jobs.output import Output, check_resumable, settings_of
from malaprop.jobs.progress import Listener, RunProgress
from malaprop.pipeline.drawing import BatchDraw, Recipe
from malaprop.pipeline.formats.copying import SMALLEST_BATCH, batch_characters
from malaprop.pipeline.formats.packing import packed, unpacked
from malaprop.pipeline.outputs.access import Access
from malaprop.pipeline.outputs.digests import Digests, digest_key
from malaprop.pipeline.outputs.keys import subkey
from malaprop.pipeline.outputs.staging import Staging
from malaprop.pipeline.report import Clock, FileRecord, RunReport, run_report
from malaprop.pipeline.rewriting import FileCounts, Rewriting, naming, opened
from malaprop.pipeline.streaming import copy_streams
from malaprop.pipeline.workers import WorkerPool, available_cores


class Run:
    """Copies files through a privatizer, and counts how their tokens are treated.

    With `digests`, the report has keyed hashes of the files.
    """

    def __init__(
        self,
        jobs: list[Job],
        recipe: Recipe,
        clock: Clock,
        progress: Listener,
        *,
        workers: int | None,
        resume: bool,
        force: bool,
        digests: bool = False,
    ) -> None:
        if resume:
            check_resumable(jobs)
        self._jobs = jobs
        self._outputs = [Output(job, number) for number, job in enumerate(jobs)]
        self._recipe = recipe
        self._workers = workers or available_cores()
        self._resume = resume
        self._force = force
        self._clock, self._progress, self._digests = clock, progress, digests
        self._cautions: list[str] = []
        self._key: bytes | None = None
        self._counts: Counter[str] = Counter()
        # A single batch cannot be stopped in the middle: a journal would hold nothing. Nor are
        # there workers to share draws with.
        sizes = [job.size for job in jobs]
        self._long = (
            None in sizes
            or any(job.packed for job in jobs)
            or sum(size or 0 for size in sizes) > SMALLEST_BATCH
        )
        self._share: Callable[[float], None] = lambda batches: None
        self._ends = ExitStack()

    def __enter__(self) -> "Run":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._ends.close()
        kept = [output.close() for output in self._outputs]
        if error is not None:
            error.add_note(UNWRITTEN)
            if any(kept) and not isinstance(error, InputChangedError):
                error.add_note(KEPT)

    @property
    def left(self) -> list[Output[Job]]:
        """The outputs that are still to be made."""
        return [output for output in self._outputs if not output.whole]

    @property
    def whole(self) -> list[Path]:
        """The outputs that were there already."""
        return [output.path for output in self._outputs if output.whole]

    def prepare(self, stage: Staging) -> None:
        """Open the outputs and get ready to draw; refuse first what can be refused."""
        limits = [Access.of(status) for job in self._jobs if (status := job.status())]
        if not self._resume:
            for output in self._outputs:
                output.claim(stage, limits, force=self._force)
        self._progress(RunProgress(stage="preparing", note=f"preparing {self._recipe.title}"))
        self._draw = BatchDraw(self._recipe)
        self._warnings = self._draw.privatizer.warnings  # which takes a moment
        if self._resume:
            for output in self._outputs:
                output.reclaim(stage, limits, self._settings(output), force=self._force)

    def complete(self) -> RunReport:
        """Make all outputs that are left, and return the report."""
        if self.left:
            self._warn(*self._warnings)
            self._key = self._digest_key()
        keyed = self._keyed()
        pool = self._ends.enter_context(self._pool())
        tracker = _Tracker(self._progress, self.left)
        tracker.start()
        files = []
        for step in copy_streams(self._streams(tracker, keyed=keyed), pool):
            self._counts.update(step.counts)
            if step.finished:
                files.append(step.stream.record())
            self._share(tracker.advance(step.stream, self._counts["protected"]))
        report = run_report(
            self._draw.privatizer,
            files,
            self._counts,
            self._clock.occasion(),
            cautions=self._cautions,
            already=[str(path) for path in self.whole],
        )
        self._warn(*report.findings)
        return report

    def _warn(self, *warnings: str) -> None:
        for warning in warnings:
            self._progress(RunProgress(stage="warning", note=warning))

    def _digest_key(self) -> bytes | None:
        """Return the key of the digests; if there is none, warn that the report has no digests."""
        try:
            return digest_key() if self._digests else None
        except SecretError as error:
            self._cautions.append(f"the report has no digests of the files: {error}")
            self._warn(*self._cautions)
            return None

    def _pool(self) -> WorkerPool:
        pool = WorkerPool(self._draw, self._workers)
        if pool.forks:
            share = self._draw.privatizer.share_draws()
            share(_expected_batches(self.left) if self._long else 1.0)
            if self._long:
                self._share = share
        return pool

    def _keyed(self) -> bool:
        """Whether there is a key for journals; if not, warn that the run cannot be resumed."""
        if not any(output.job.lasting for output in self.left):
            return True
        try:
            subkey("journal")
        except SecretError as error:
            self._warn(f"this run cannot be resumed: {error}")
            return False
        return True

    def _streams(self, tracker: "_Tracker", *, keyed: bool) -> "Iterator[FileStream]":
        """Open the inputs, one after the other, as the loop comes to them."""
        for output in self.left:
            output.watch()
            if keyed:
                output.begin(self._settings(output), tracker.checking(output), keep=self._long)
            with naming(_name(output.job)):
                stream = self._ends.enter_context(FileStream(output, self._key))
            yield stream

    def seal(self, stage: Staging) -> None:
        """Bring the outputs to the disk, and record that they will be whole."""
        stamps = stage.complete()
        for output in self.left:
            output.check_input()
        for output in self.left:
            output.seal(stamps)

    def conclude(self) -> None:
        """Replace journals by records, now that the outputs have their names."""
        for output in self._outputs:
            try:
                output.conclude()
            except OutputError as error:  # too late to fail: the output is there, and whole
                self._warn(f"{output.path} is whole, but its journal is still there: {error}")

    def _settings(self, output: Output[Job]) -> dict[str, str]:
        privatizer = self._draw.privatizer
        return settings_of(privatizer, output.job.layout, self._recipe.seed, output.number)


class FileStream(Rewriting):
    """A file that is being copied: its input is open, and its output is partly written."""

    def __init__(self, output: Output[Job], key: bytes | None) -> None:
        job, target = output.job, output.target
        if target is None:
            raise RuntimeError("an output must be claimed before it is written")
        with ExitStack() as ends:
            file = ends.enter_context(job.open_source())
            output.check_input(file)
            self._digests = digests = Digests(file, target, key, seeks=job.layout.kind.seeks)
            source = unpacked(digests.source, job.source)
            self._packed = packed(digests.target, job.target)
            sink = cast(BinaryIO, self._packed or digests.target)
            super().__init__(opened(source, sink, job.layout, job.size))
            self._files = ends.pop_all()
        self._output, self._target = output, target
        self.number, self.journal, self.name = output.number, output.journal, _name(job)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with self._files:
            super().__exit__(kind, error, traceback)

    def finish(self) -> FileCounts:
        """Finish the output, and close both files."""
        counts = super().finish()
        if self._packed:
            self._packed.finish()
        self._source_digest = self._digests.of_source()
        self._target.flush()
        self._output.close()
        self._files.close()
        return counts

    def record(self) -> FileRecord:
        """Return what was in the file, once it is finished."""
        job = self._output.job
        return FileRecord(
            input=job.source,
            output=job.target,
            layout=job.layout,
            counts=self.counts,
            input_digest=self._source_digest,
            output_digest=self._digests.of_target(),
        )


class _Tracker:
    """Reports to a listener how far a run has come."""

    def __init__(self, listener: Listener, outputs: list[Output[Job]]) -> None:
        sizes = [output.job.size for output in outputs]
        self._listener = listener
        self._note = _title(outputs)
        self._total = None if None in sizes else sum(size or 0 for size in sizes)
        self._done: dict[int, int] = {}
        self._batches: dict[int, int] = {}

    def start(self) -> None:
        """Report that the work begins, if there is any."""
        if self._note:
            self._listener(RunProgress(stage="drawing", note=self._note, total=self._total))

    def checking(self, output: Output[Job]) -> Callable[[int], None]:
        """Return a callback for the number of bytes of an input that are checked so far."""
        size, note = output.job.size, f"checking {Path(output.job.source).name}"
        return lambda done: self._listener(
            RunProgress(stage="checking", note=note, done=done, total=size)
        )

    def advance(self, stream: FileStream, words: int) -> float:
        """Report how far the run has come; return about how many batches there are in all.

        Returns 0 if that is not known.
        """
        self._done[stream.number] = stream.consumed
        self._batches[stream.number] = stream.batches_read
        done = sum(self._done.values())
        self._listener(
            RunProgress(stage="drawing", note=self._note, done=done, total=self._total, words=words)
        )
        return sum(self._batches.values()) * (self._total or 0) / max(done, 1)


def _expected_batches(outputs: list[Output[Job]]) -> float:
    """Return about how many batches the inputs have; 0 if a size is not known."""
    sizes = [output.job.size for output in outputs]
    if None in sizes:
        return 0.0
    return sum(max(1.0, size / batch_characters(size)) for size in sizes if size)


def _name(job: Job) -> str:
    """Return the name of an input for messages: there may be several. A pipe has none."""
    return "" if job.source == PIPE else job.source


def _title(outputs: list[Output[Job]]) -> str:
    if len(outputs) == 1:
        return Path(outputs[0].job.source).name
    return f"{len(outputs)} files" if outputs else ""

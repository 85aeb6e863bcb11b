"""A run: all its outputs, from the first claim to the last record."""

import json
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Generic, Self, TypeVar, cast

from malaprop._version import __version__
from malaprop.files import KEPT, UNWRITTEN
from malaprop.files import journal as journals
from malaprop.files.compression import Unpacked, packed, unpacked
from malaprop.files.formats.file_format import (
    BATCH_RULES,
    SMALLEST_BATCH,
    AnyCopy,
    CopySummary,
    Layout,
    batch_characters,
)
from malaprop.files.journal import Digests, Drawn, Journal, digest_key
from malaprop.files.plan import PIPE, FileJob, Job, Listener, RunProgress
from malaprop.files.resume_file import (
    THE_INPUT,
    THE_LAW,
    Header,
    ResumeState,
    Sight,
    Stamp,
    file_stamp,
    key_of,
    known,
    new_salt,
    outside,
    proof_of,
    record_of,
    resume,
    run_key,
    same_input,
    stamp,
    start_over,
    write_record,
)
from malaprop.files.staging import Staging
from malaprop.files.workers import BatchDraw, Recipe, WorkerPool, available_cores, copy_streams
from malaprop.privacy.errors import (
    DataError,
    InputChangedError,
    MalapropError,
    OutputError,
    ParameterError,
    SecretError,
)
from malaprop.private_files import Access, keyed_digest, status_of, subkey
from malaprop.privatizer import Privatizer
from malaprop.report.file_counts import FileCounts
from malaprop.report.run_report import Clock, FileRecord, RunReport, run_report

# An output from what an earlier run left of it to the record that it is complete.


JobT = TypeVar("JobT", bound=FileJob)


@dataclass
class Output(Generic[JobT]):
    """The output of one job. What goes through a pipe has no journal and cannot be resumed."""

    job: JobT
    number: int
    target: BinaryIO | None = None
    journal: Journal | None = None
    _outset: ResumeState | None = None
    _header: Header | None = None
    _kept: bool = False
    _key: bytes = b""
    _seen: str = ""  # of the input, before it was read
    _sight: Sight | None = None  # the same, in finer grain

    @property
    def path(self) -> Path:
        """The output's name."""
        return Path(self.job.target)

    @property
    def whole(self) -> bool:
        """Whether the output is complete already."""
        return self._outset is not None and self._outset.whole

    def claim(self, stage: Staging, limits: Sequence[Access], *, force: bool) -> None:
        """Open the output for a run that starts at the beginning."""
        if self.job.lasting:
            self._outset = start_over(self.path, force=force)
        self.target = self.job.open_target(stage, limits, force=force)

    def reclaim(
        self,
        stage: Staging,
        limits: Sequence[Access],
        settings: dict[str, str],
        *,
        force: bool,
    ) -> None:
        """Open the output for a run that resumes an earlier one."""
        self._seen = outside(Path(self.job.source))
        self._outset = resume(self.path, Path(self.job.source), settings, force=force)
        if not self.whole:
            self.target = self.job.open_target(stage, limits, force=self._outset.replace)

    def watch(self) -> None:
        """Look at the input before it is read."""
        self._sight = self.job.sight()

    def check_input(self, source: BinaryIO | None = None) -> None:
        """Refuse an input that has changed since `watch`: what was read would mix two states of it.

        `source` is the open input; without it, the file of that name is checked.
        """
        status = status_of(source) if source else self.job.status()
        if self._sight != (status and file_stamp(status)):
            name = "standard input" if self.job.source == PIPE else self.job.source
            raise InputChangedError(
                f"{name} changed while it was read: start over with `force=True` when nothing "
                "writes to it. `resume=True` continues only if its content is what it was"
            )

    def begin(
        self, settings: dict[str, str], progress: Callable[[int], None], *, keep: bool
    ) -> None:
        """Open the journal if draws must be kept; refuse to resume with another input."""
        if not self.job.lasting or self._outset is None:
            return
        self._seen = outside(Path(self.job.source))
        side = self._outset.side
        salt = side.header.salt if side else new_salt()
        self._key = key = run_key(salt)
        facts = known(settings, key)
        if side or keep:
            with self.job.open_source() as source:
                facts[THE_INPUT] = keyed_digest(source, key, progress)
        if side:
            same_input(self.path, side.header, facts[THE_INPUT])
        self._header = Header(
            facts=facts, salt=salt, proof=proof_of(key), force=self._outset.replace
        )
        if side or keep:
            self.journal = Journal(self.path, self._outset.final, self._header, key, side)

    def seal(self, stamps: dict[Path, Stamp]) -> None:
        """Record, before the output gets its name, its stamp when it is whole."""
        if self._header is None or self._outset is None:
            return
        if self._kept:
            journals.seal(self.path, self._outset.final, stamps[self.path])
        else:
            record = record_of(self._header, self._key, self._seen, stamps[self.path])
            write_record(self._outset.final, record)

    def conclude(self) -> None:
        """Replace the journal of a whole output by a record."""
        if self._outset is None:
            return
        side = self._outset.side
        header = side.header if self.whole and side and side.batches else self._header
        if header:
            key = key_of(self.path, header)
            whole = stamp(self._outset.final.stat())
            write_record(self._outset.final, record_of(header, key, self._seen, whole))

    def close(self) -> bool:
        """Close the journal; return whether it holds something to resume."""
        if self.journal is not None:
            self._kept = bool(len(self.journal))
            self.journal.close()
        return self._kept


def check_resumable(jobs: list[Job]) -> None:
    """Refuse to resume what comes or goes through a pipe: it leaves no trace."""
    for job in jobs:
        if not job.lasting:
            raise ParameterError(
                "only files can be resumed, not what comes or goes through a pipe: name a file on "
                "both sides, or leave out `resume`"
            )


def settings_of(
    privatizer: Privatizer, layout: Layout, seed: int | None, number: int
) -> dict[str, str]:
    """Return what an output depends on besides its input, by names that a message can use.

    `on_error` is not included: the texts that are drawn do not depend on it.
    """
    shape = {name: value for name, value in asdict(layout).items() if name != "on_error"}
    return {
        "the version of Malaprop": f"{__version__} {BATCH_RULES}",
        "the lexicon": privatizer.lexicon.fingerprint,
        "the mechanism or its parameters": _text(privatizer.mechanism.to_dict()),
        THE_LAW: _text([_short(fact) for fact in privatizer.channel.drawn_by]),
        "the treatment of texts": _text(_treatment(privatizer)),
        "the columns, the format or the encoding": _text(shape),
        "the seed": "none" if seed is None else f"{seed} {number}",
    }


def _treatment(privatizer: Privatizer) -> dict[str, object]:
    """Return the policy; an ε of values that is the mechanism's own is named there already."""
    policy = privatizer.policy.to_dict()
    if policy.get("kind_epsilon") == privatizer.channel.guarantee.epsilon:
        del policy["kind_epsilon"]
    return policy


def _short(fact: object) -> object:
    """Round a number to nine digits: another processor may compute other last digits."""
    return f"{fact:.9g}" if isinstance(fact, float) else fact


def _text(value: object) -> str:
    return json.dumps(value, sort_keys=True, default=repr)


# A copy of a file in the making, with private texts in place of the true ones.


Transform = Callable[[list[str]], list[str]]


def rewrite(
    source: BinaryIO,
    target: BinaryIO,
    layout: Layout,
    transform: Transform,
    progress: Callable[[int], None] | None = None,
) -> FileCounts:
    """Copy a file, with `transform` applied to the texts of the columns asked for.

    Everything else stays as it is: byte for byte in txt, csv, tsv and jsonl files, value for
    value in Parquet. The file is read and written in batches of about a million characters;
    `transform` gets the texts of a batch and must return as many. After each batch, `progress` is
    called with the number of bytes read so far. Both streams are left open. When this raises, what
    was written to the target is worthless.

    >>> import io
    >>> target = io.BytesIO()
    >>> layout = Layout(format="csv", columns=("note",))
    >>> rewrite(io.BytesIO(b"id,note\\n007,abc\\n"), target, layout, lambda texts: ["x"])
    FileCounts(records=1, cells=1, missing=0, other_columns=('id',), faulty=0)
    >>> target.getvalue()
    b'id,note\\n007,x\\n'
    """
    pool = WorkerPool(lambda _, texts: Drawn(transform(texts), {}), size=1)
    with FileCopy.open(source, target, layout) as rewriting:
        for step in copy_streams([rewriting], pool):
            if progress and not step.finished:
                progress(rewriting.consumed)
        return rewriting.counts


class FileCopy:
    """A copy of a file in the making; what reads may run ahead of what writes.

        with FileCopy.open(source, target, layout) as rewriting:
            for texts in rewriting.batches():
                rewriting.write([... for text in texts])
            counts = rewriting.finish()

    With the `size` of the source, the batches of a small file are smaller, so that there are some
    for each worker. Batches must be written in the order in which they were read. When an error
    leaves the context, what was written to the target is worthless.
    """

    number = 0
    journal: Journal | None = None
    name = ""
    """What errors call the source, if there are several."""

    def __init__(self, copy: AnyCopy) -> None:
        self._copy = copy
        self._reading = copy.batches()
        self._pending: deque[tuple[Any, int]] = deque()
        self._records = self._cells = self.batches_read = 0
        self._passing = CopySummary()
        self._ended = False

    @classmethod
    def open(
        cls, source: BinaryIO, target: BinaryIO, layout: Layout, size: int | None = None
    ) -> "FileCopy":
        """Begin a copy of a source whose layout says which format it has."""
        return cls(opened(source, target, layout, size))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._reading.close()  # a reader may have to put something back
        if not self._ended:
            self._copy.abandon()

    @property
    def consumed(self) -> int:
        """The number of bytes of the source that are read so far; of a packed one, packed."""
        source = self._copy.source
        return source.consumed if isinstance(source, Unpacked) else self._copy.consumed

    def batches(self) -> Iterator[list[str]]:
        """Yield the texts of each batch."""
        with naming(self.name), _without_context():
            for batch in self._reading:
                texts = batch.texts
                self._pending.append((batch, len(texts)))
                self.batches_read += 1
                yield texts

    def write(self, private: list[str]) -> None:
        """Write the first batch that is not yet written, with these texts."""
        batch, expected = self._pending.popleft()
        with _without_context():
            self._copy.write(batch, _matched(expected, private))
        self._records += batch.records
        self._cells += expected

    def finish(self) -> FileCounts:
        """Write the end of the file, once all batches are written."""
        with naming(self.name), _without_context():
            self._passing = self._copy.finish()
        self._ended = True
        return self.counts

    @property
    def counts(self) -> FileCounts:
        """What was in the file so far."""
        return FileCounts(
            records=self._records,
            cells=self._cells,
            missing=self._passing.missing,
            other_columns=self._passing.columns,
            faulty=self._copy.faults.count,
            faults=tuple(self._copy.faults.listed),
        )


def opened(source: BinaryIO, target: BinaryIO, layout: Layout, size: int | None) -> AnyCopy:
    """Begin a copy in the format of the layout; `size` is that of the source, if it is known."""
    with _without_context():
        return layout.kind(source, target, layout, size)


def _matched(texts: int, private: list[str]) -> list[str]:
    """Return `private` if it has as many texts as `texts` says.

    A missing one would leave a true text in its place, or shift all that follow.
    """
    if len(private) != texts:
        raise MalapropError(
            f"the transform was given {texts} texts and returned {len(private)}: it must "
            "return one for each"
        )
    return private


@contextmanager
def naming(source: str) -> Iterator[None]:
    """Have an error about a source name it, if it has a name."""
    try:
        yield
    except (DataError, ParameterError) as error:
        if source:
            error.args = (f"{source}: {error}",)
        raise


@contextmanager
def _without_context() -> Iterator[None]:
    """Drop the context of errors.

    `from None` hides what the libraries have raised but keeps a reference to it, and through it
    to the data that they failed on.
    """
    try:
        yield
    except MalapropError as error:
        error.__context__ = None
        raise


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


class FileStream(FileCopy):
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
            format=job.layout.format,
            columns=job.layout.columns,
            on_error=job.layout.on_error,
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

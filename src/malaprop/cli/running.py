"""A run of `malaprop privatize`: all its outputs, from the first claim to the last record."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO, Final, cast

import typer

from malaprop.cli.jobs import PIPE, Job
from malaprop.cli.outputs import HINT, UNWRITTEN, Output, check_resumable, settings_of
from malaprop.cli.progress import Bar, bar, working
from malaprop.cli.telling import Clock, warn
from malaprop.core.errors import DataError, OutputError, ParameterError, SecretError
from malaprop.pipeline.drawing import BatchDraw, Item, Recipe, draw_all
from malaprop.pipeline.formats.copying import SMALLEST_BATCH
from malaprop.pipeline.formats.packing import packed, unpacked
from malaprop.pipeline.outputs.access import Access
from malaprop.pipeline.outputs.digests import Digests, digest_key
from malaprop.pipeline.outputs.keys import subkey
from malaprop.pipeline.rewriting import Rewriting
from malaprop.pipeline.workers import Crew, available_cores
from malaprop.report.run import FileRecord, RunReport, run_report

if TYPE_CHECKING:
    from malaprop.pipeline.outputs.staging import Staging

END: Final = -1  # in the place of a batch's number


class Run:
    """Copies files through a privatizer, and counts how their pieces are treated.

    With `digests`, the report has keyed hashes of the files.
    """

    def __init__(
        self,
        jobs: list[Job],
        recipe: Recipe,
        clock: Clock,
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
        self._clock, self._digests = clock, digests
        self._cautions: list[str] = []
        self._key: bytes | None = None
        self._counts: Counter[str] = Counter()
        self._copyings: dict[int, _Copying] = {}
        # What is drawn in one go cannot be stopped in the middle: a journal would hold nothing. Nor
        # is there anybody to share draws with.
        sizes = [job.size for job in jobs]
        self._long = (
            None in sizes
            or any(job.packed for job in jobs)
            or sum(size or 0 for size in sizes) > SMALLEST_BATCH
        )
        self._tell: Callable[[float], None] = lambda done: None
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
            for note in [UNWRITTEN, HINT] if any(kept) else [UNWRITTEN]:
                error.add_note(note)

    @property
    def left(self) -> list[Output]:
        """The outputs that are still to be made."""
        return [output for output in self._outputs if not output.whole]

    @property
    def whole(self) -> list[Path]:
        """The outputs that were there already."""
        return [output.path for output in self._outputs if output.whole]

    def prepare(self, stage: "Staging") -> None:
        """Open the outputs and get ready to draw; what can be refused is refused beforehand."""
        limits = [Access.of(status) for job in self._jobs if (status := job.status())]
        if not self._resume:
            for output in self._outputs:
                output.claim(stage, limits, force=self._force)
        with working(f"preparing {self._recipe.mechanism.name} on {self._recipe.lexicon}"):
            self._draw = BatchDraw(self._recipe)
            self._warnings = self._draw.privatizer.warnings  # which takes a moment
        if self._resume:
            for output in self._outputs:
                output.reclaim(stage, limits, self._settings(output), force=self._force)

    def complete(self) -> RunReport:
        """Make all outputs that are left, and return the report."""
        if self.left:
            warn(*self._warnings)
            self._key = self._digest_key()
        keyed = self._keyed()
        crew = self._ends.enter_context(self._crew())
        files = []
        with bar(_title(self.left)) as progress:
            shown = _Shown(progress, self.left)
            for item, drawn in draw_all(self._items(shown, keyed=keyed), crew):
                copying = self._copyings[item.key[0]]
                if item.last:
                    files.append(copying.finish())
                else:
                    self._counts.update(drawn.counts)
                    copying.rewriting.write(drawn.texts)
                self._tell(shown.update(copying, self._counts["protected"]))
        privatizer, occasion = self._draw.privatizer, self._clock.occasion()
        report = run_report(privatizer, files, self._counts, occasion, cautions=self._cautions)
        warn(*report.findings)
        return report

    def _digest_key(self) -> bytes | None:
        """The key of the digests; if there is none, warn that the report has no digests."""
        try:
            return digest_key() if self._digests else None
        except SecretError as error:
            self._cautions.append(f"the report has no digests of the files: {error}")
            warn(*self._cautions)
            return None

    def _crew(self) -> Crew:
        crew = Crew(self._draw, self._workers)
        if self._long and crew.forks:
            self._tell = self._draw.privatizer.share_draws()
        return crew

    def _keyed(self) -> bool:
        """Whether there is a key for journals; if not, warn that there will be none."""
        if not any(output.job.lasting for output in self.left):
            return True
        try:
            subkey("journal")
        except SecretError as error:
            warn(f"this run cannot be resumed: {error}")
            return False
        return True

    def _items(self, shown: "_Shown", *, keyed: bool) -> Iterator[Item]:
        """Read the inputs, one after the other."""
        for output in self.left:
            output.watch()
            if keyed:
                output.begin(self._settings(output), shown.checking(output), keep=self._long)
            with _naming(output.job.source):
                copying = self._copyings[output.number] = self._ends.enter_context(
                    _Copying(output, self._key)
                )
                for number, texts in enumerate(copying.rewriting.batches()):
                    yield Item((output.number, number), texts, output.journal)
            yield Item((output.number, END), [], last=True)

    def seal(self, stage: "Staging") -> None:
        """Bring the outputs to the disk, and note that they will be whole."""
        stamps = stage.complete()
        for output in self.left:
            output.check_input()
        for output in self.left:
            output.seal(stamps)

    def conclude(self) -> None:
        """Leave records in the place of journals, now that the outputs have their names."""
        for output in self._outputs:
            try:
                output.conclude()
            except OutputError as error:  # too late to fail: all is there, and `--resume` sees that
                message = (
                    f"warning: {output.path} is whole, but its journal is still there: {error}."
                )
                typer.echo(message, err=True)

    def _settings(self, output: Output) -> dict[str, str]:
        privatizer = self._draw.privatizer
        return settings_of(privatizer, output.job.layout, self._recipe.seed, output.number)


class _Copying:
    """A file that is being copied: its input is open, and its output half written."""

    def __init__(self, output: Output, key: bytes | None) -> None:
        self._output, self._key = output, key
        self._ends = ExitStack()

    def __enter__(self) -> "_Copying":
        job, target = self._output.job, self._output.target
        if target is None:
            raise RuntimeError("an output must be claimed before it is written")
        with ExitStack() as ends:
            file = ends.enter_context(job.open_source())
            self._output.check_input(file)
            seeks = job.layout.format == "parquet"
            self._digests = digests = Digests(file, target, self._key, seeks=seeks)
            source = unpacked(digests.source, job.source)
            self._packed = packed(digests.target, job.target)
            sink = cast(BinaryIO, self._packed or digests.target)
            self.rewriting = ends.enter_context(Rewriting(source, sink, job.layout, job.size))
            self._ends = ends.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._ends.close()

    def finish(self) -> FileRecord:
        """End the output, and say what was in the input."""
        job, target = self._output.job, self._output.target
        with _naming(job.source):
            counts = self.rewriting.finish()
        if self._packed:
            self._packed.finish()
        record = FileRecord(
            input=job.source,
            output=job.target,
            layout=job.layout,
            counts=counts,
            input_digest=self._digests.of_source(),
            output_digest=self._digests.of_target(),
        )
        if target is not None:
            target.flush()
        self._output.close()
        self._ends.close()
        return record


class _Shown:
    """How far a run has come, as the user sees it."""

    def __init__(self, progress: Bar, outputs: list[Output]) -> None:
        sizes = [output.job.size for output in outputs]
        self._progress = progress
        self._total = None if None in sizes else sum(size or 0 for size in sizes)
        self._done: dict[int, int] = {}
        self._started = monotonic()

    def checking(self, output: Output) -> Callable[[int], None]:
        """What shows that an input is read to see whether it is the same as before."""
        note = f"checking {Path(output.job.source).name}"
        return lambda done: self._progress.to(done, output.job.size, note)

    def update(self, copying: _Copying, words: int) -> float:
        """Show how far it has come, and return it: a share, or 0 where that is not known."""
        self._done[id(copying)] = copying.rewriting.consumed
        rate = words / (monotonic() - self._started)
        done = sum(self._done.values())
        self._progress.to(done, self._total, f"{words:,} words, {rate:,.0f} a second")
        return done / self._total if self._total else 0.0


@contextmanager
def _naming(source: str) -> Iterator[None]:
    """Let what is wrong with an input say which one: there may be several."""
    try:
        yield
    except (DataError, ParameterError) as error:
        if source != PIPE:
            error.args = (f"{source}: {error}",)
        raise


def _title(outputs: list[Output]) -> str:
    if len(outputs) == 1:
        return Path(outputs[0].job.source).name
    return f"{len(outputs)} files"

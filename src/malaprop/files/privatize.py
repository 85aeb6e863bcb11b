"""Files in, private files out: the call behind `malaprop privatize`."""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal, Self, Unpack, cast

from malaprop._version import __version__
from malaprop.files.debits import Debits, OwnedTexts, debits_of
from malaprop.files.encodings import UTF8, with_encoding
from malaprop.files.folder import FolderPlan, check_page, is_folder, parts_of, plan_folder
from malaprop.files.formats.file_format import (
    BATCH_RULES,
    SMALLEST_BATCH,
    FileCopy,
    Layout,
    OnError,
    batch_characters,
    compression_of,
    naming,
    owners_of,
    packed,
    unpacked,
)
from malaprop.files.formats.text_records import TextReader
from malaprop.files.resume_file import THE_LAW, Drawn
from malaprop.files.run import (
    Listener,
    Output,
    Run,
    RunProgress,
    TextJob,
    check_names,
    folder_for,
    ignore,
    plan_jobs,
    staged_run,
    total_size,
)
from malaprop.files.staging import Staging, check_output
from malaprop.files.workers import BatchDraw, Item, WorkerPool, available_cores, draw_all
from malaprop.ledger import Ledger, accounts_of
from malaprop.lexicon.bigrams import corpus_digest, open_model
from malaprop.lexicon.lexicon import Lexicon
from malaprop.privacy.errors import ParameterError
from malaprop.privacy.mechanism import Mechanism
from malaprop.privacy.randomness import secure_rng, seeded_rng
from malaprop.private_files import OWNER_ONLY, ReadDigest, WriteDigest, keyed_digest
from malaprop.privatizer import Privatizer
from malaprop.recipe import chosen_mechanism
from malaprop.report.file_counts import FileCounts
from malaprop.report.page import is_web_page, page_file, report_path
from malaprop.report.run_report import Clock, FileRecord, RunReport, run_report
from malaprop.text.markup import Markup
from malaprop.text.policy import Policy, TextOptions, policy_with

if TYPE_CHECKING:
    from malaprop.measure.profile import Profile

StrPath = str | os.PathLike[str]


def privatize_files(
    inputs: StrPath | Sequence[StrPath],
    output: StrPath,
    *,
    epsilon: float | None = None,
    mechanism: Mechanism | str = "balanced",
    lexicon: Lexicon | str = "english",
    columns: Sequence[str] | None = None,
    format: str | None = None,  # noqa: A002  what everybody calls it
    glob: str | None = None,
    document: Literal["line", "file"] = "line",
    delimiter: str | None = None,
    encoding: str | None = None,
    on_error: OnError = "fail",
    seed: int | None = None,
    workers: int | None = None,
    resume: bool = False,
    force: bool = False,
    report: StrPath | None = None,
    progress: Listener | None = None,
    command: str = "",
    ledger: Ledger | str | None = None,
    ledger_key: str = "local",
    subject_column: str | None = None,
    subject: str | None = None,
    **options: Unpack[TextOptions],
) -> RunReport:
    """Privatize files of text, and return the report of the run.

    Every word of the texts is replaced by one that the mechanism draws; everything else in the
    files stays as it is. An output appears under its name only when it is whole. A run that was
    stopped can be resumed: what was drawn for a text is kept, and never drawn again.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from malaprop import privatize_files
    >>> folder = Path(tempfile.mkdtemp())
    >>> vectors = folder / "tiny.vec"
    >>> _ = vectors.write_text("cold 0\\ncool 1\\nhot 9\\n")
    >>> notes = folder / "notes.csv"
    >>> _ = notes.write_text("id,note\\n007,cold\\n")
    >>> report = privatize_files(
    ...     notes, folder / "out.csv", columns=["note"],
    ...     mechanism="tem", epsilon=50.0, lexicon=str(vectors), workers=1,
    ... )
    >>> (folder / "out.csv").read_text()
    'id,note\\n007,Cold\\n'
    >>> report.counts["protected"], report.files[0].counts.other_columns
    (1, ('id',))

    Parameters:

    - `inputs`: a file or several, or one folder; `"-"` is standard input. `output`: a file, or
      `"-"` for standard output; for several inputs or a folder, a folder.
    - `epsilon`: ε, the privacy loss per unit of distance. `mechanism`: the name of one, which takes
      that ε, or a mechanism with its parameters, which has its own.
    - `lexicon`: a lexicon, the name of one, or a file of word vectors.
    - `columns`: the columns that hold text; of JSON lines also `msg.text` or `turns[].text`. A
      format without columns takes none.
    - `format`: one of `malaprop.files.formats.FORMATS`; by default, what the input's name says.
    - `glob`: which files of a folder are taken, such as `"*.eml"` or, with a slash, a pattern for
      paths in the folder; by default, all whose format their names tell. Links are not followed.
    - `encoding`: of text files, in and out; by default UTF-8, or for files that are not UTF-8 what
      a detector finds, which the report names.
    - `document`, `delimiter`, `on_error`: as for `malaprop.files.formats.Layout`.
    - `seed`: repeats a demonstration; the output is *not private*.
    - `workers`: the number of processes, by default one for each core.
    - `resume`: go on where an earlier run with the same parameters was stopped, if one was.
    - `force`: replace existing outputs.
    - `report`: a file for the report, `.json`, `.md` or `.html`, with keyed digests of inputs and
      outputs. A page of HTML also shows what an observer learns; that takes a minute on `english`.
    - `progress`: is called with each `malaprop.files.run.RunProgress`, warnings included.
    - `command`: what the report states as the command that was given.
    - `ledger`: a `malaprop.ledger.Ledger`, or the address of its database. Each record is debited
      before it is drawn, for the subject that its `subject_column` names, or all for one `subject`,
      or for `ledger_key`'s own account. One that a limit refuses is a faulty record: see
      `on_error`. What was debited and not written is drawn without a debit by `resume`.
    - `options`: `unknown`, `punctuation` and whatever else `Privatizer` takes for texts.

    Raises ParameterError for parameters that do not fit, DataError for an input and OutputError
    for an output that cannot be read or written. No output is changed then; if draws were kept to
    be resumed, a note on the error says so.
    """
    made, policy = chosen_mechanism(mechanism, epsilon), policy_with(options, privatize_files)
    _at_least(0, "seed", seed)
    debits = debits_of(ledger, subject_column, subject, on_error, key=ledger_key)

    def draw() -> BatchDraw:
        known = lexicon.name or "a lexicon" if isinstance(lexicon, Lexicon) else lexicon
        listener(RunProgress(stage="preparing", note=f"preparing {made.name} on {known}"))
        rng = secure_rng() if seed is None else seeded_rng(seed)
        privatizer = Privatizer(lexicon, made, rng=rng, **policy.options())
        if debits is not None:
            accounts_of(privatizer)  # refuses what no ledger takes
        return BatchDraw(privatizer, seed, debits)

    layout = partial(
        Layout,
        columns=_names(columns),
        document=document,
        delimiter=delimiter,
        encoding=encoding or UTF8,
        on_error=on_error,
        label=subject_column,
    )
    clock, listener, processes = (
        Clock(command),
        progress or ignore,
        _at_least(1, "workers", workers),
    )
    sources, target = _paths(inputs), os.fspath(output)
    page = None if report is None else report_path(Path(report))
    plan = _folder_plan(sources, target, glob, format, layout, page)
    _check_corpus(policy, [job.source for job in plan.jobs] if plan else sources)
    with ExitStack() as ends:
        ends.enter_context(plan.folders() if plan else folder_for(sources, target))
        jobs = list(plan.jobs) if plan else plan_jobs(sources, target, format, layout)
        if encoding is None:
            jobs = [with_encoding(job, listener) for job in jobs]
        check_names(jobs, page)
        _check_jobs(jobs, policy.markup, debits)
        if plan and not (force or resume or on_error != "fail"):
            plan.check_free()
        if page is not None:  # a run that is resumed may find that there is nothing to write
            check_output(page, force=force or resume)
        texts = ends.enter_context(
            _TextRun(jobs, draw, listener, processes, debits, in_parts=plan is not None)
        )

        def summarized(run: Run, already: Sequence[str], file: BinaryIO | None) -> RunReport:
            """Make the report, and write it if there is a file for it."""
            summary = run_report(
                texts.draw.privatizer,
                texts.files,
                texts.counts,
                clock.occasion(),
                cautions=run.cautions,
                already=already,
                public=tuple(dict.fromkeys(p for job in jobs for p in job.layout.kind.public)),
                folder=plan.facts if plan else None,
            )
            run.warn(*summary.findings)
            if file and page:
                told = summary.page(_profile(texts.draw.privatizer, page, listener))
                file.write(page_file(told, page, summary.to_dict()))
            return summary

        staged = partial(
            staged_run,
            settings=texts.settings,
            listener=listener,
            report=page,
            resume=resume,
            force=force,
        )
        if plan is None:
            with staged(jobs) as run:
                texts.complete(run)
                return summarized(run, run.already, run.report)
        already: list[str] = []
        for first, part in parts_of(jobs):
            with staged(part, part=first) as run:
                texts.complete(run)
                already += run.already
        with _opened_page(page if texts.files else None, force=force) as file:
            return summarized(run, already, file)


def _folder_plan(
    sources: Sequence[str],
    target: str,
    glob: str | None,
    format_: str | None,
    layout: "partial[Layout]",
    page: Path | None,
) -> FolderPlan | None:
    """Return the plan of a folder, if that is the input."""
    if is_folder(sources):
        plan = plan_folder(sources[0], target, glob, format_, layout)
        check_page(page, plan)
        return plan
    if glob is not None:
        raise ParameterError("`glob` is for a folder: leave it out, or name a folder as the input")
    return None


@contextmanager
def _opened_page(page: Path | None, *, force: bool) -> Iterator[BinaryIO | None]:
    """Open the file of a report, if there is one; it is for its owner alone."""
    if page is None:
        yield None
        return
    with Staging() as stage:
        yield stage.open(page, force=force, limits=[OWNER_ONLY])


def _profile(privatizer: Privatizer, page: Path, listener: Listener) -> "Profile | None":
    """Compute the figures that a web page shows; they depend on public data alone."""
    if not is_web_page(page):
        return None
    from malaprop.measure.profile import profile_of

    def progress(done: int, total: int) -> None:
        note = "computing the figures of the page"
        listener(RunProgress(stage="preparing", note=note, done=done, total=total))

    return profile_of(privatizer.mechanism, privatizer.lexicon, progress=progress)


def _check_corpus(policy: Policy, sources: Sequence[str]) -> None:
    """Refuse to smooth by a model that was trained on an input: it would restore the text."""
    if policy.model is None:
        return
    model = os.fspath(policy.model)
    known = set(open_model(model).sources.values())
    for source in sources:
        if Path(source).is_file() and corpus_digest(source) in known:
            raise ParameterError(
                f"the model {model} was trained on {source}: smoothing would restore the text. "
                "Train it on another corpus, which must be public"
            )


def _check_jobs(jobs: Sequence[TextJob], markup: Markup | None, debits: Debits | None) -> None:
    """Refuse files of formats that cannot be debited, or that have another markup, or several."""
    for job in jobs:
        if debits is not None:
            debits.check(job.layout)
        if markup and job.layout.kind.public and job.layout.format != markup:
            raise ParameterError(
                f"{job.name} is {job.layout.format}, which says how its texts are marked up: leave "
                "out `markup`, or privatize it by itself"
            )


def _paths(inputs: StrPath | Sequence[StrPath]) -> list[str]:
    several = [inputs] if isinstance(inputs, str | os.PathLike) else inputs
    paths = [os.fspath(path) for path in several]
    if not paths:
        raise ParameterError("privatize_files needs an input: name a file in `inputs`")
    return paths


def _names(columns: Sequence[str] | None) -> tuple[str, ...]:
    if columns is None:
        return ()
    if isinstance(columns, str):
        raise ParameterError("columns must be a list of names, not one string")
    names = tuple(columns) if isinstance(columns, Iterable) else (columns,)
    for name in names:
        if not isinstance(name, str):
            raise ParameterError(
                f"columns must be a list of names, or None. Got {type(name).__name__}"
            )
    return names


def _at_least(least: int, name: str, value: int | None) -> int | None:
    if value is not None and value < least:
        raise ParameterError(f"{name} must be {least} or more, got {value}")
    return value


class _TextRun:
    """Copies files through a privatizer, and counts how their tokens are treated."""

    def __init__(
        self,
        jobs: list[TextJob],
        make: Callable[[], BatchDraw],
        listener: Listener,
        workers: int | None,
        debits: Debits | None = None,
        *,
        in_parts: bool = False,
    ) -> None:
        self._jobs, self._make, self._listener = jobs, make, listener
        self._workers, self._debits, self._in_parts = workers, debits, in_parts
        self.counts = Counter[str]()
        self.files: list[FileRecord] = []
        """What was in the files that are done."""
        short = (total_size(jobs) or 0) <= SMALLEST_BATCH and not any(map(_is_long, jobs))
        self._long = not short or debits is not None
        self._total = total_size(jobs)
        self._done = self._batches = 0
        self._ends = ExitStack()
        self._pool: WorkerPool | None = None
        self._share: Callable[[float], None] = lambda batches: None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._ends.__exit__(None, None, None)

    @cached_property
    def draw(self) -> BatchDraw:
        """What draws the texts of a batch; to make it may take a while."""
        return self._make()

    def settings(self, output: Output) -> dict[str, str]:
        """Return what an output depends on besides its input.

        `on_error` is not included: the texts that are drawn do not depend on it.
        """
        privatizer, seed = self.draw.privatizer, self.draw.seed
        shape = asdict(self._jobs[output.number].layout)
        del shape["on_error"], shape["label"]
        policy = privatizer.policy.to_dict()
        if privatizer.smoother is not None:
            policy["model"] = privatizer.smoother.model.fingerprint
        if policy.get("kind_epsilon") == privatizer.channel.guarantee.epsilon:
            del policy["kind_epsilon"]  # the mechanism's own ε is named there already
        # Another processor may compute other last digits.
        law = [
            f"{fact:.9g}" if isinstance(fact, float) else fact
            for fact in privatizer.channel.drawn_by
        ]
        ledger = {}
        if self._debits is not None:
            ledger["the ledger or its subjects"] = setting_text(self._debits.facts())
        return {
            "the version of Malaprop": f"{__version__} {BATCH_RULES}",
            "the lexicon": privatizer.lexicon.fingerprint,
            "the mechanism or its parameters": setting_text(privatizer.mechanism.to_dict()),
            THE_LAW: setting_text(law),
            "the treatment of texts": setting_text(policy),
            "the columns, the format or the encoding": setting_text(shape),
            "the seed": "none" if seed is None else f"{seed} {output.number}",
            **ledger,
        }

    def complete(self, run: Run) -> None:
        """Make all outputs of a run that are left."""
        if self._total is not None:  # what an earlier run has done is not waited for
            self._total -= sum(output.job.size or 0 for output in run.outputs if output.whole)
        if not run.left:
            return
        several = f"{len(self._jobs):,} files"
        title = Path(self._jobs[0].source).name if len(self._jobs) == 1 else several
        pool, total = self._started(run, title), self._total
        consumed = 0  # of the file that is read
        with ExitStack() as ends:
            for item, drawn in draw_all(self._items(run, ends), pool):
                copy: _Copy = item.copy
                if item.batch is None:
                    self.files.append(copy.end())
                else:
                    copy.write(item.batch, drawn.texts, self._refused(item, drawn))
                    self._batches += 1
                self.counts.update(drawn.counts)
                self._done += copy.reader.consumed - consumed
                consumed = copy.reader.consumed if item.batch is not None else 0
                done, words = self._done, self.counts["protected"]
                self._listener(
                    RunProgress(stage="drawing", note=title, done=done, total=total, words=words)
                )
                self._share(self._batches * (total or 0) / max(done, 1))

    def _started(self, run: Run, title: str) -> WorkerPool:
        """Return the workers; before they start, say what the user should know."""
        if self._pool is None:
            run.warn(*self.draw.privatizer.warnings)
            self._listener(RunProgress(stage="drawing", note=title, total=self._total))
            pool = WorkerPool(self.draw, self._workers or available_cores())
            self._pool = self._ends.enter_context(pool)
            self._share = self._sharing(self._pool)
        return self._pool

    def _items(self, run: Run, ends: ExitStack) -> Iterator[Item]:
        """Open the inputs, one after the other, and yield their batches; at last one without."""
        key = run.digest_key()
        for output in run.left:
            job = self._jobs[output.number]
            # What is lost of a short file in a folder was never seen: its name comes at the end.
            debited = self._debits is not None
            keep = _is_long(job) or debited if self._in_parts else self._long
            run.begin(output, keep=keep, empty=debited)
            with naming(job.name):
                copy = ends.enter_context(_Copy(output, job, key))
            before = 0
            for number, batch in enumerate(copy.batches()):
                place, owned = (output.number, number), None
                if self._debits is not None:
                    run_name = f"{output.run_name} {number}"
                    owned = OwnedTexts(batch.texts, owners_of(batch), run_name, before)
                    before += batch.records
                yield Item(place, batch.texts, output.journal, copy, batch, owned)
            yield Item((output.number, -1), [], copy=copy)

    def _refused(self, item: Item, drawn: Drawn) -> dict[int, str]:
        """Say of each row of a batch that a limit refused why."""
        if self._debits is None or item.owned is None or None not in drawn.texts:
            return {}
        return self._debits.reasons(item.owned.owners, drawn.texts)

    def _sharing(self, pool: WorkerPool) -> Callable[[float], None]:
        """Have workers share draws; return what to call with the expected number of batches."""
        if not pool.forks:
            return lambda batches: None
        share = self.draw.privatizer.share_draws()
        if not self._long:
            share(1.0)
            return lambda batches: None
        sizes = [job.size for job in self._jobs]
        known = None not in sizes
        share(sum(max(1.0, size / batch_characters(size)) for size in sizes if size and known))
        return share


def _is_long(job: TextJob) -> bool:
    """Whether a file may have several batches; the size of a packed one does not tell.

    A single batch cannot be stopped in the middle: a journal would hold nothing. Nor are there
    workers to share draws with.
    """
    size = job.size
    return size is None or size > SMALLEST_BATCH or bool(compression_of(job.source))


def setting_text(value: object) -> str:
    """Return a text that tells a setting from others."""
    return json.dumps(value, sort_keys=True, default=repr)


class _Copy(FileCopy):
    """A file that is being copied: its input is open, and its output is partly written."""

    def __init__(self, output: Output, job: TextJob, key: bytes | None) -> None:
        target = output.target
        if target is None:
            raise RuntimeError("an output must be claimed before it is written")
        self._output, self._job, self._target, self._key = output, job, target, key
        with ExitStack() as ends:
            self._source = source = ends.enter_context(job.open_source())
            output.check_input(source)
            self._read = self._written = None
            if key is not None:
                self._written = WriteDigest(target, key)
                target = cast(BinaryIO, self._written)
                if not job.layout.kind.seeks:
                    self._read = ReadDigest(source, key)
                    source = cast(BinaryIO, self._read)
            self._packed = packed(target, job.target)
            reader = job.layout.open(unpacked(source, job.source), job.size)
            super().__init__(reader, cast(BinaryIO, self._packed or target), job.name)
            self._files = ends.pop_all()

    def __exit__(self, *error: object) -> None:
        with self._files:
            super().__exit__(*error)

    def end(self) -> FileRecord:
        """Finish the output, close both files, and return what was in the input."""
        counts: FileCounts = self.finish()
        if self._packed:
            self._packed.finish()
        digest = self._read.of_all() if self._read else None
        if self._key is not None and digest is None:  # a source that seeks is read once more
            self._source.seek(0)
            digest = keyed_digest(self._source, self._key)
        self._target.flush()
        self._output.close()
        self._files.close()
        job = self._job
        return FileRecord(
            input=job.source,
            output=job.target,
            format=job.layout.format,
            columns=job.layout.columns,
            on_error=job.layout.on_error,
            encoding=job.layout.encoding if issubclass(job.layout.kind, TextReader) else "",
            guessed=job.guessed,
            counts=counts,
            input_digest=digest,
            output_digest=self._written.of_all() if self._written else None,
        )

"""Files in, private files out: the call behind `malaprop privatize`."""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal, Unpack, cast

from malaprop._version import __version__
from malaprop.files.formats.file_format import (
    BATCH_RULES,
    SMALLEST_BATCH,
    FileCopy,
    Layout,
    OnError,
    batch_characters,
    compression_of,
    naming,
    packed,
    unpacked,
)
from malaprop.files.resume_file import THE_LAW
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
from malaprop.files.staging import check_output
from malaprop.files.workers import BatchDraw, Item, WorkerPool, available_cores, draw_all
from malaprop.lexicon.bigrams import corpus_digest, open_model
from malaprop.lexicon.lexicon import Lexicon
from malaprop.privacy.errors import ParameterError
from malaprop.privacy.mechanism import Mechanism
from malaprop.privacy.randomness import secure_rng, seeded_rng
from malaprop.private_files import ReadDigest, WriteDigest, keyed_digest
from malaprop.privatizer import Privatizer
from malaprop.recipe import chosen_mechanism
from malaprop.report.file_counts import FileCounts
from malaprop.report.page import is_web_page, page_file, report_path
from malaprop.report.run_report import Clock, FileRecord, RunReport, run_report
from malaprop.text.policy import TextOptions, policy_with

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
    document: Literal["line", "file"] = "line",
    delimiter: str | None = None,
    encoding: str = "utf-8",
    on_error: OnError = "fail",
    seed: int | None = None,
    workers: int | None = None,
    resume: bool = False,
    force: bool = False,
    report: StrPath | None = None,
    progress: Listener | None = None,
    command: str = "",
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

    - `inputs`: a file or several; `"-"` is standard input. `output`: a file, or `"-"` for standard
      output; for several inputs, a folder.
    - `epsilon`: ε, the privacy loss per unit of distance. `mechanism`: the name of one, which takes
      that ε, or a mechanism with its parameters, which has its own.
    - `lexicon`: a lexicon, the name of one, or a file of word vectors.
    - `columns`: the columns that hold text; of JSON lines also `msg.text` or `turns[].text`. A
      format without columns takes none.
    - `format`: one of `malaprop.files.formats.FORMATS`; by default, what the input's name says.
    - `document`, `delimiter`, `encoding`, `on_error`: as for `malaprop.files.formats.Layout`.
    - `seed`: repeats a demonstration; the output is *not private*.
    - `workers`: the number of processes, by default one for each core.
    - `resume`: go on where an earlier run with the same parameters was stopped, if one was.
    - `force`: replace existing outputs.
    - `report`: a file for the report, `.json`, `.md` or `.html`, with keyed digests of inputs and
      outputs. A page of HTML also shows what an observer learns; that takes a minute on `english`.
    - `progress`: is called with each `malaprop.files.run.RunProgress`, warnings included.
    - `command`: what the report states as the command that was given.
    - `options`: `unknown`, `punctuation` and whatever else `Privatizer` takes for texts.

    Raises ParameterError for parameters that do not fit, DataError for an input and OutputError
    for an output that cannot be read or written. No output is changed then; if draws were kept to
    be resumed, a note on the error says so.
    """
    made, policy = chosen_mechanism(mechanism, epsilon), policy_with(options, privatize_files)
    _at_least(0, "seed", seed)

    def draw() -> BatchDraw:
        known = lexicon.name or "a lexicon" if isinstance(lexicon, Lexicon) else lexicon
        listener(RunProgress(stage="preparing", note=f"preparing {made.name} on {known}"))
        rng = secure_rng() if seed is None else seeded_rng(seed)
        return BatchDraw(Privatizer(lexicon, made, rng=rng, **policy.options()), seed)

    layout = partial(
        Layout,
        columns=_names(columns),
        document=document,
        delimiter=delimiter,
        encoding=encoding,
        on_error=on_error,
    )
    clock, listener = Clock(command), progress or ignore
    sources, target = _paths(inputs), os.fspath(output)
    if isinstance(policy.readable, str):
        _check_corpus(policy.readable, sources)
    page = None if report is None else report_path(Path(report))
    with folder_for(sources, target):
        jobs = plan_jobs(sources, target, format, layout)
        check_names(jobs, page)
        if page is not None:  # a run that is resumed may find that there is nothing to write
            check_output(page, force=force or resume)
        texts = _TextRun(jobs, draw, listener, _at_least(1, "workers", workers))
        with staged_run(
            jobs, texts.settings, listener, report=page, resume=resume, force=force
        ) as run:
            files = texts.complete(run)
            summary = run_report(
                texts.draw.privatizer,
                files,
                texts.counts,
                clock.occasion(),
                cautions=run.cautions,
                already=[str(output.path) for output in run.outputs if output.whole],
            )
            run.warn(*summary.findings)
            if run.report and page:
                told = summary.page(_profile(texts.draw.privatizer, page, listener))
                run.report.write(page_file(told, page, summary.to_dict()))
    return summary


def _profile(privatizer: Privatizer, page: Path, listener: Listener) -> "Profile | None":
    """Compute the figures that a web page shows; they depend on public data alone."""
    if not is_web_page(page):
        return None
    from malaprop.measure.profile import profile_of

    listener(RunProgress(stage="preparing", note="computing the figures of the page"))
    return profile_of(privatizer.mechanism, privatizer.lexicon)


def _check_corpus(model: str, sources: Sequence[str]) -> None:
    """Refuse to smooth by a model that was trained on an input: it would restore the text."""
    known = set(open_model(model).sources.values())
    for source in sources:
        if Path(source).is_file() and corpus_digest(source) in known:
            raise ParameterError(
                f"the model {model} was trained on {source}: smoothing would restore the text. "
                "Train it on another corpus, which must be public"
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


@dataclass
class _TextRun:
    """Copies files through a privatizer, and counts how their tokens are treated."""

    _jobs: list[TextJob]
    _make: Callable[[], BatchDraw]
    _listener: Listener
    _workers: int | None
    counts: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        # A single batch cannot be stopped in the middle: a journal would hold nothing. Nor are
        # there workers to share draws with.
        # The size of a packed file does not tell how much is in it.
        size = total_size(self._jobs)
        packed = any(compression_of(job.source) for job in self._jobs)
        self._long = size is None or size > SMALLEST_BATCH or packed

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
            policy["readable"] = privatizer.smoother.model.fingerprint
        if policy.get("kind_epsilon") == privatizer.channel.guarantee.epsilon:
            del policy["kind_epsilon"]  # the mechanism's own ε is named there already
        # Another processor may compute other last digits.
        law = [
            f"{fact:.9g}" if isinstance(fact, float) else fact
            for fact in privatizer.channel.drawn_by
        ]
        return {
            "the version of Malaprop": f"{__version__} {BATCH_RULES}",
            "the lexicon": privatizer.lexicon.fingerprint,
            "the mechanism or its parameters": setting_text(privatizer.mechanism.to_dict()),
            THE_LAW: setting_text(law),
            "the treatment of texts": setting_text(policy),
            "the columns, the format or the encoding": setting_text(shape),
            "the seed": "none" if seed is None else f"{seed} {output.number}",
        }

    def complete(self, run: Run) -> list[FileRecord]:
        """Make all outputs that are left; return what was in their files."""
        jobs = [self._jobs[output.number] for output in run.left]
        total = total_size(jobs)
        title = Path(jobs[0].source).name if len(jobs) == 1 else f"{len(jobs)} files"
        if jobs:
            run.warn(*self.draw.privatizer.warnings)
            self._listener(RunProgress(stage="drawing", note=title, total=total))
        files: list[FileRecord] = []
        consumed: dict[int, int] = {}
        batches: dict[int, int] = {}
        with ExitStack() as ends, WorkerPool(self.draw, self._workers or available_cores()) as pool:
            share = self._sharing(pool, jobs)
            for item, drawn in draw_all(self._items(run, ends), pool):
                copy: _Copy = item.copy
                if item.batch is None:
                    files.append(copy.end())
                else:
                    copy.write(item.batch, drawn.texts)
                self.counts.update(drawn.counts)
                consumed[item.key[0]] = copy.reader.consumed
                batches[item.key[0]] = copy.batches_read
                done, words = sum(consumed.values()), self.counts["protected"]
                self._listener(
                    RunProgress(stage="drawing", note=title, done=done, total=total, words=words)
                )
                share(sum(batches.values()) * (total or 0) / max(done, 1))
        return files

    def _items(self, run: Run, ends: ExitStack) -> Iterator[Item]:
        """Open the inputs, one after the other, and yield their batches; at last one without."""
        key = run.digest_key()
        for output in run.left:
            run.begin(output, keep=self._long)
            job = self._jobs[output.number]
            with naming(job.name):
                copy = ends.enter_context(_Copy(output, job, key))
            for number, batch in enumerate(copy.batches()):
                yield Item((output.number, number), batch.texts, output.journal, copy, batch)
            yield Item((output.number, -1), [], copy=copy)

    def _sharing(self, pool: WorkerPool, jobs: list[TextJob]) -> Callable[[float], None]:
        """Have workers share draws; return what to call with the expected number of batches."""
        if not pool.forks:
            return lambda batches: None
        share = self.draw.privatizer.share_draws()
        if not self._long:
            share(1.0)
            return lambda batches: None
        sizes = [job.size for job in jobs]
        known = None not in sizes
        share(sum(max(1.0, size / batch_characters(size)) for size in sizes if size and known))
        return share


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
            counts=counts,
            input_digest=digest,
            output_digest=self._written.of_all() if self._written else None,
        )

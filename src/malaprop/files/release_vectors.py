"""Vectors in, private vectors out."""

import base64
import hashlib
import json
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.random import Generator

from malaprop._version import __version__
from malaprop.files import KEPT, UNWRITTEN, vector_blocks
from malaprop.files.journal import Drawn, Journal, WriteDigest, digest_key
from malaprop.files.plan import PIPE, Listener, RunProgress, check_names, check_report, ignore
from malaprop.files.privatize import StrPath, open_report
from malaprop.files.resume_file import Sight, file_stamp
from malaprop.files.run import Output
from malaprop.files.staging import Staging, check_output
from malaprop.files.vector_blocks import VectorBlock, VectorWriter, as_written
from malaprop.files.vector_formats import checked_file, format_named, open_vectors, read_some
from malaprop.measure.vector_noise import check_scale, noise_and_scale
from malaprop.mechanisms.decoders import VectorMechanism
from malaprop.privacy.arrays import Floats
from malaprop.privacy.errors import (
    DataError,
    InputChangedError,
    OutputError,
    ParameterError,
    SecretError,
)
from malaprop.privacy.guarantee import Kind
from malaprop.privacy.mechanism import FreeVectors
from malaprop.privacy.randomness import SECURE, label, secure_rng, seeded_rng
from malaprop.private_files import Access, keyed_digest, subkey
from malaprop.recipe import MechanismChoice, chosen_mechanism
from malaprop.report.page import report_path
from malaprop.report.run_report import Clock
from malaprop.report.vector_report import NO_SCALE, VectorReport, rendered_vectors

# What runs over vectors share: the job, the mechanism, and what an output depends on.


SEEDED = (
    "made with a seed: NOT PRIVATE. Whoever knows the seed can undo it; the guarantee holds only "
    "for a run without one"
)


@dataclass(frozen=True)
class VectorJob:
    """A file to read and a file of vectors to make."""

    source: str
    target: str

    def status(self) -> os.stat_result | None:
        """Return the status of the input, if it is a regular file."""
        with suppress(FileNotFoundError):
            status = os.stat(self.source)
            return status if stat.S_ISREG(status.st_mode) else None
        return None

    @property
    def lasting(self) -> bool:
        """Whether a run that was stopped can be resumed: always, with two files."""
        return True

    def sight(self) -> Sight | None:
        """Return what tells whether the input changes."""
        status = self.status()
        return None if status is None else file_stamp(status)

    def open_source(self) -> AbstractContextManager[BinaryIO]:
        """Open the input."""
        return Path(self.source).open("rb")

    def open_target(self, stage: Staging, limits: Sequence[Access], *, force: bool) -> BinaryIO:
        """Open the output; its permissions will be within the limits."""
        return stage.open(Path(self.target), force=force, limits=limits)


def vector_job(
    source: StrPath, target: StrPath, report: StrPath | None, *, force: bool, resume: bool
) -> VectorJob:
    """Plan a run; refuse names that would overwrite what is read, or what is there already."""
    job = VectorJob(os.fspath(source), os.fspath(target))
    if PIPE in (job.source, job.target):
        raise ParameterError("vectors are read from a file and written to a file, not to a pipe")
    page = None if report is None else report_path(Path(report))
    if Path(job.source).is_dir():
        raise ParameterError(f"{job.source} is a folder: name a file in it")
    if not Path(job.source).exists():
        raise ParameterError(f"there is no file {job.source}")
    if job.status() is None:
        raise ParameterError(f"{job.source} is not a regular file: save its content to one first")
    check_report(page, [job])
    check_names([job], page)
    for path in filter(None, (Path(job.target), page)):
        # What is there may be what a run that is resumed has left, or has completed.
        check_output(path, force=force or resume)
    return job


def vector_mechanism(mechanism: MechanismChoice, epsilon: float | None) -> VectorMechanism:
    """Return a mechanism that adds noise to vectors; refuse others."""
    chosen = chosen_mechanism(mechanism, epsilon)
    if not isinstance(chosen, VectorMechanism):
        raise ParameterError(
            f"{type(chosen).__name__} replaces words, and releases no vectors: choose one that "
            "adds noise to them with `mechanism`, such as priv-emb or laplace"
        )
    return chosen


def generator(seed: int | None) -> Generator:
    """Return cryptographic noise, or the repeatable noise of a seed."""
    return secure_rng() if seed is None else seeded_rng(seed)


def check_comparison(public: Any, scale: float | None) -> None:
    """Refuse public vectors that are not there, and a scale that is none."""
    check_scale(scale)
    if isinstance(public, str | os.PathLike):
        checked_file(Path(public))


def public_sample(public: Any) -> Floats | None:
    """Return public vectors: an array as it is, or the first ones of a file."""
    if isinstance(public, str | os.PathLike):
        return read_some(Path(public))
    return None if public is None else np.asarray(public)


def cautions(free: FreeVectors, rng: Generator, *, scaled: bool) -> tuple[str, ...]:
    """Return what the user should know before the work."""
    warnings = []
    if free.guarantee.kind is Kind.NONE:
        warnings.append(f"NOTHING IS GUARANTEED: {free.guarantee.reason}")
    if label(rng) != SECURE:
        warnings.append(SEEDED)
    if not scaled:
        warnings.append(NO_SCALE)
    return tuple(warnings)


def is_long(rows: int | None, columns: int) -> bool:
    """Whether vectors are drawn in several blocks: a single one cannot be stopped in the middle."""
    return rows is None or rows * columns > vector_blocks.BLOCK_CELLS


def settings_of(
    mechanism: VectorMechanism, seed: int | None, public: Floats | None, **others: object
) -> dict[str, str]:
    """Return what an output depends on besides its input, by names that a message can use.

    `others` are further facts; their names have underscores for spaces.
    """
    return {
        "the version of Malaprop": f"{__version__} {vector_blocks.BLOCK_CELLS}",
        "the mechanism or its parameters": _text(mechanism.to_dict()),
        "the public vectors": "none" if public is None else _digest(public),
        "the seed": "none" if seed is None else str(seed),
        **{name.replace("_", " "): _text(value) for name, value in others.items()},
    }


def _text(value: object) -> str:
    return json.dumps(value, sort_keys=True, default=repr)


def _digest(vectors: Floats) -> str:
    data = np.ascontiguousarray(vectors, dtype=np.float64)
    return f"{data.shape} {hashlib.blake2b(data.data.cast('B')).hexdigest()}"


# An output of private vectors: drawn block by block, kept to be resumed, and named when whole.


@dataclass
class VectorOutput:
    """An output in the making: what is written to it, and to the report beside it."""

    _output: Output[VectorJob]
    _settings: dict[str, str]
    _report: BinaryIO | None
    _page: Path | None
    _listener: Listener
    cautions: tuple[str, ...] = ()
    """What the user should know about keys that cannot be kept."""
    _key: bytes | None = field(default=None, init=False)
    _digest: WriteDigest | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        if self.whole or self._output.target is None:
            return
        self.target = self._output.target
        self._key = self._keyed(digest_key, "the report has no digests of the files")
        if self._key is not None:
            self._digest = WriteDigest(self.target, self._key)
            self.target = cast(BinaryIO, self._digest)

    @property
    def whole(self) -> bool:
        """Whether an earlier run completed the output, so that there is nothing to do."""
        return self._output.whole

    def _keyed(self, make: Any, without: str) -> bytes | None:
        if self._page is None and make is digest_key:
            return None
        try:
            return cast(bytes, make())
        except SecretError as error:
            self.cautions += (f"{without}: {error}",)
            return None

    def draw(
        self,
        blocks: Iterable[VectorBlock],
        writer: VectorWriter,
        free: FreeVectors,
        rng: Generator,
        total: int | None,
        values: "np.dtype[Any]",
        *,
        keep: bool,
    ) -> int:
        """Write a private vector for each vector of the blocks; return how many there are.

        What was drawn is kept until all is done if there is much of it, with `keep`. `values` is
        the type in which it is written.
        """
        done, name = 0, Path(self._output.job.source).name
        self._begin(name, keep=keep)
        self._tell(name, done, total)
        draws = _BlockDraws(free, rng, values, self._output.journal)
        try:
            for number, block in enumerate(blocks):
                _check_finite(block.vectors, done, name)
                writer.write(draws.of(number, block.vectors), block.beside)
                done += len(block.vectors)
                self._tell(name, done, total)
            _check_count(done, total, name)
            writer.finish()
        except BaseException:
            writer.abandon()
            raise
        return done

    def _begin(self, name: str, *, keep: bool) -> None:
        """Open the journal, if there is a key for one."""
        if self._keyed(lambda: subkey("journal"), "this run cannot be resumed") is None:
            self._listener(RunProgress(stage="warning", note=self.cautions[-1]))
            return
        size = Path(self._output.job.source).stat().st_size
        note = f"comparing {name}"
        self._output.begin(
            self._settings,
            lambda done: self._listener(
                RunProgress(stage="checking", note=note, done=done, total=size)
            ),
            keep=keep,
        )

    def _tell(self, name: str, done: int, total: int | None) -> None:
        self._listener(
            RunProgress(
                stage="drawing", note=name, done=done, total=total, words=done, unit="vectors"
            )
        )

    def digests(self) -> tuple[str | None, str | None]:
        """Return keyed digests of input and output, if there is a report."""
        before: str | None = None
        if self._key is not None:
            with Path(self._output.job.source).open("rb") as file:
                before = keyed_digest(file, self._key)
        self._output.check_input()
        return before, None if self._digest is None else self._digest.of_all()

    def tell(self, report: VectorReport) -> VectorReport:
        """Write the report, if one is asked for."""
        if self._report is not None and self._page is not None:
            self._report.write(rendered_vectors(report, self._page))
        return report


@dataclass
class _BlockDraws:
    """Draws blocks of private vectors, or takes from a journal what was drawn before."""

    _free: FreeVectors
    _rng: Generator
    _values: "np.dtype[Any]"
    _journal: Journal | None

    def of(self, number: int, vectors: Floats) -> Floats:
        """Return the private vectors of a block, as they are written."""
        journal = self._journal
        origin = [] if journal is None else [_hash(vectors)]
        if journal is None or number not in journal:
            drawn = as_written(self._free.release(vectors, self._rng), self._values)
            if journal is not None:
                text = base64.b64encode(drawn.data.cast("B")).decode()
                journal.keep(number, origin, Drawn([text], {"columns": drawn.shape[1]}))
            return np.asarray(drawn, dtype=np.float64)
        if label(self._rng) != SECURE:
            self._free.release(vectors, self._rng)  # so that a seed goes on where it was
        [text], counts = journal.recall(number, origin)
        numbers = np.frombuffer(base64.b64decode(text), self._values)
        return numbers.reshape(-1, counts["columns"]).astype(np.float64)


@contextmanager
def staged_output(
    job: VectorJob,
    report: StrPath | None,
    listener: Listener,
    settings: dict[str, str],
    *,
    resume: bool,
    force: bool,
) -> Iterator[VectorOutput]:
    """Open the output, and the report beside it; both appear together at the end, or not at all.

    `settings` are what the output depends on besides its input: with `resume`, they must be those
    of the run that was stopped.
    """
    page = None if report is None else Path(report)
    output = Output(job, 0)
    try:
        with Staging() as stage:
            limits = [Access.of(status) for status in [job.status()] if status]
            if resume:
                output.reclaim(stage, limits, settings, force=force)
            else:
                output.claim(stage, limits, force=force)
            output.watch()
            file = None if output.whole else open_report(stage, page, force=force)
            yield VectorOutput(output, settings, file, page, listener)
            output.close()
            stamps = stage.complete()
            if not output.whole:
                output.check_input()
                output.seal(stamps)
                listener(RunProgress(stage="naming"))
    except BaseException as error:
        error.add_note(UNWRITTEN)
        if output.close() and not isinstance(error, InputChangedError):
            error.add_note(KEPT)
        raise
    _conclude(output, listener)


def _conclude(output: Output[VectorJob], listener: Listener) -> None:
    """Replace the journal by a record, now that the output has its name."""
    try:
        output.conclude()
    except OutputError as error:  # too late to fail: the output is there, and whole
        note = f"{output.path} is whole, but its journal is still there: {error}"
        listener(RunProgress(stage="warning", note=note))


def _hash(vectors: Floats) -> str:
    """Return what tells the vectors of a block from others; the journal gives it a key."""
    return hashlib.blake2b(np.ascontiguousarray(vectors).data.cast("B")).hexdigest()


def _check_count(done: int, total: int | None, name: str) -> None:
    if total is not None and done != total:
        raise InputChangedError(f"{name} has {done:,} vectors where {total:,} were expected")


def _check_finite(vectors: Floats, before: int, name: str) -> None:
    bad = np.logical_not(np.isfinite(vectors).all(axis=1))
    if bad.any():
        raise DataError(
            f"row {before + int(np.argmax(bad)) + 1:,} of {name} has NaN or infinity: remove it, "
            "or fill it in"
        )


# Vectors in, private vectors out: the call behind `malaprop release`.


def release_files(
    source: StrPath,
    output: StrPath,
    *,
    epsilon: float | None = None,
    mechanism: MechanismChoice = "priv-emb",
    column: str | None = None,
    public: Any = None,
    scale: float | None = None,
    seed: int | None = None,
    resume: bool = False,
    force: bool = False,
    report: StrPath | None = None,
    progress: Listener | None = None,
    command: str = "",
) -> VectorReport:
    """Release a file of vectors, each with noise of its own, and return the report.

    The guarantee is between any two vectors. It does not cover what stands beside them: words in
    a text file and other columns of a table stay as they are. The file is read in blocks, and the
    output appears under its name only when it is whole. A run that was stopped can be resumed: what
    was drawn for a block of vectors is kept, and never drawn again.

    >>> import tempfile
    >>> import numpy as np
    >>> folder = Path(tempfile.mkdtemp())
    >>> np.save(folder / "true.npy", np.eye(6, dtype=np.float32))
    >>> true, private = folder / "true.npy", folder / "private.npy"
    >>> done = release_files(true, private, mechanism="laplace", epsilon=20.0, scale=1.4)
    >>> done.rows, done.released_columns, np.load(folder / "private.npy").dtype.name
    (6, 6, 'float32')

    Parameters:

    - `source`, `output`: files of one format, by the endings of their names: `.npy`, `.npz`,
      `.safetensors`, `.txt` or `.vec` (GloVe and word2vec text), `.parquet`.
    - `epsilon`: ε, the privacy loss per unit of distance. `mechanism`: the name of one that adds
      noise to vectors, which takes that ε, or one with its parameters, which has its own.
    - `column`: the array of an archive, or the column of a table, if there are several.
    - `public`: vectors that everybody may know, as an array or a file: for mechanisms that need to
      know a cloud of vectors, and to say how the noise compares with them.
    - `scale`: a typical distance of two vectors, to say how the noise compares with it. It is never
      taken from the vectors themselves.
    - `seed`: repeats a demonstration; the output is *not private*.
    - `resume`, `force`, `report`, `progress`, `command`: as for `privatize_files`.

    Raises ParameterError for parameters that do not fit, DataError for an input and OutputError
    for an output that cannot be read or written. No output is changed then; if draws were kept to
    be resumed, a note on the error says so.
    """
    clock, listener = Clock(command), progress or ignore
    check_comparison(public, scale)
    job = vector_job(source, output, report, force=force, resume=resume)
    kind = _format(job.source, job.target)
    made, rng = vector_mechanism(mechanism, epsilon), generator(seed)
    listener(RunProgress(stage="preparing", note=f"preparing {made.name}"))
    sample = public_sample(public)
    with open_vectors(Path(job.source), column) as opened:
        free = made.for_vectors(opened.columns, sample)
        compared = noise_and_scale(free, scale=scale, public=sample)
        said = cautions(free, rng, scaled=compared is not None or free.noise_length is None)
        for warning in (*said, *(compared.warnings if compared else ())):
            listener(RunProgress(stage="warning", note=warning))
        facts: dict[str, Any] = {
            "guarantee": free.guarantee,
            "randomness": label(rng),
            "mechanism": made.to_dict(),
            "input": job.source,
            "output": job.target,
            "format": kind,
            "part": opened.part,
            "columns": opened.columns,
            "released_columns": free.onto,
            "beside": opened.beside,
            "left_out": opened.left_out,
            "scale": compared,
        }
        settings = settings_of(made, seed, sample, the_column=opened.part)
        with staged_output(job, report, listener, settings, resume=resume, force=force) as target:
            if target.whole:
                return VectorReport(occasion=clock.occasion(), rows=0, already=True, **facts)
            rows = target.draw(
                opened.blocks(),
                opened.writer(target.target, free.onto),
                free,
                rng,
                opened.rows,
                opened.values,
                keep=is_long(opened.rows, opened.columns),
            )
            before, after = target.digests()
            return target.tell(
                VectorReport(
                    occasion=clock.occasion(),
                    rows=rows,
                    cautions=(*said, *target.cautions),
                    input_digest=before,
                    output_digest=after,
                    **facts,
                )
            )


def _format(source: str, target: str) -> str:
    """Return the format of both files; refuse an output whose name says another one."""
    kind = format_named(Path(source))
    if format_named(Path(target)) != kind:
        raise ParameterError(
            f"the output has the format of the input, {kind}: {target} says "
            f"{format_named(Path(target))}"
        )
    return kind

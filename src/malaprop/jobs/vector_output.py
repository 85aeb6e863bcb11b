"""An output of private vectors: drawn block by block, kept to be resumed, and named when whole."""

import base64
import hashlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Floats
from malaprop.core.errors import DataError, InputChangedError, OutputError, SecretError
from malaprop.core.noise.free_vectors import FreeVectors
from malaprop.core.randomness import SECURE, label
from malaprop.jobs import KEPT, UNWRITTEN
from malaprop.jobs.files import StrPath, open_report
from malaprop.jobs.output import Output
from malaprop.jobs.progress import Listener, RunProgress
from malaprop.jobs.vector_run import VectorJob
from malaprop.pipeline.outputs.access import Access
from malaprop.pipeline.outputs.cipher import keyed_digest
from malaprop.pipeline.outputs.digests import WriteDigest, digest_key
from malaprop.pipeline.outputs.journal import Drawn, Journal
from malaprop.pipeline.outputs.keys import subkey
from malaprop.pipeline.outputs.staging import Staging
from malaprop.pipeline.vectors.base import VectorBlock, VectorWriter, as_written
from malaprop.report.vectors import VectorReport, rendered_vectors


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

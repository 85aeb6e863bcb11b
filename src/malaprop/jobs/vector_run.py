"""What runs over vectors share: the files, the mechanism, and the loop that draws."""

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Floats
from malaprop.core.errors import DataError, InputChangedError, ParameterError, SecretError
from malaprop.core.guarantee import Kind
from malaprop.core.noise.free_vectors import FreeVectors
from malaprop.core.randomness import SECURE, label, secure_rng, seeded_rng
from malaprop.jobs import UNWRITTEN
from malaprop.jobs.files import StrPath, open_report
from malaprop.jobs.job import PIPE
from malaprop.jobs.names import check_names
from malaprop.jobs.planning import check_report
from malaprop.jobs.progress import Listener, RunProgress
from malaprop.mechanisms.decoders import VectorMechanism
from malaprop.pipeline.choosing import MechanismChoice, chosen_mechanism
from malaprop.pipeline.outputs.access import Access
from malaprop.pipeline.outputs.cipher import keyed_digest
from malaprop.pipeline.outputs.digests import WriteDigest, digest_key
from malaprop.pipeline.outputs.staging import Staging
from malaprop.pipeline.outputs.watching import Sight, sight
from malaprop.pipeline.vectors.base import VectorBlock, VectorWriter
from malaprop.pipeline.vectors.opening import read_some
from malaprop.report.vectors import NO_SCALE, VectorReport, rendered_vectors
from malaprop.report.written import checked_name

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


def vector_job(source: StrPath, target: StrPath, report: StrPath | None) -> VectorJob:
    """Plan a run; refuse names that would overwrite what is read."""
    job = VectorJob(os.fspath(source), os.fspath(target))
    if PIPE in (job.source, job.target):
        raise ParameterError("vectors are read from a file and written to a file, not to a pipe")
    page = None if report is None else checked_name(Path(report))
    if Path(job.source).is_dir():
        raise ParameterError(f"{job.source} is a folder: name a file in it")
    if not Path(job.source).exists():
        raise ParameterError(f"there is no file {job.source}")
    if job.status() is None:
        raise ParameterError(f"{job.source} is no regular file: save its content to one first")
    check_report(page, [job])
    check_names([job], page)
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


@dataclass
class VectorOutput:
    """An output in the making: what is written to it, and to the report beside it."""

    job: VectorJob
    target: BinaryIO
    page: Path | None
    _report: BinaryIO | None
    _key: bytes | None
    _sight: Sight
    _listener: Listener
    unkeyed: tuple[str, ...] = ()
    _digest: WriteDigest | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        if self._key is not None:
            self._digest = WriteDigest(self.target, self._key)
            self.target = cast(BinaryIO, self._digest)

    def draw(
        self,
        blocks: Iterable[VectorBlock],
        writer: VectorWriter,
        free: FreeVectors,
        rng: Generator,
        total: int | None,
    ) -> int:
        """Write a private vector for each vector of the blocks; return how many there are."""
        done = 0
        note = Path(self.job.source).name
        self._listener(RunProgress(stage="drawing", note=note, total=total, unit="vectors"))
        try:
            for block in blocks:
                _check_finite(block.vectors, done, note)
                writer.write(free.release(block.vectors, rng), block.beside)
                done += len(block.vectors)
                self._listener(
                    RunProgress(
                        stage="drawing",
                        note=note,
                        done=done,
                        total=total,
                        words=done,
                        unit="vectors",
                    )
                )
            _check_count(done, total, note)
            writer.finish()
        except BaseException:
            writer.abandon()
            raise
        return done

    def digests(self) -> tuple[str | None, str | None]:
        """Return keyed digests of input and output, if there is a report; check the input."""
        before: str | None = None
        if self._key is not None:
            with Path(self.job.source).open("rb") as file:
                before = keyed_digest(file, self._key)
        status = self.job.status()
        if status is None or sight(status) != self._sight:
            raise InputChangedError(
                f"{self.job.source} changed while it was read: start over when nothing writes to it"
            )
        return before, None if self._digest is None else self._digest.of_all()

    def tell(self, report: VectorReport) -> VectorReport:
        """Write the report, if one is asked for."""
        if self._report is not None and self.page is not None:
            self._report.write(rendered_vectors(report, self.page))
        self._listener(RunProgress(stage="naming"))
        return report


@contextmanager
def staged_output(
    job: VectorJob, report: StrPath | None, listener: Listener, *, force: bool
) -> Iterator[VectorOutput]:
    """Open the output, and the report beside it; both appear together at the end, or not at all."""
    page = None if report is None else Path(report)
    status = job.status()
    if status is None:
        raise ParameterError(f"there is no file {job.source}")
    key, unkeyed = _key_for(page)
    try:
        with Staging() as stage:
            target = stage.open(Path(job.target), force=force, limits=[Access.of(status)])
            told = open_report(stage, page, force=force)
            yield VectorOutput(job, target, page, told, key, sight(status), listener, unkeyed)
            stage.complete()
    except BaseException as error:
        error.add_note(UNWRITTEN)
        raise


def _key_for(page: Path | None) -> tuple[bytes | None, tuple[str, ...]]:
    """Return the key of digests, or a warning that there are none."""
    try:
        return (None if page is None else digest_key()), ()
    except SecretError as error:
        return None, (f"the report has no digests of the files: {error}",)


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

"""What runs over vectors share: the job, the mechanism, and what an output depends on."""

import hashlib
import json
import os
import stat
from collections.abc import Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.random import Generator

from malaprop._version import __version__
from malaprop.core.arrays import Floats
from malaprop.core.errors import ParameterError
from malaprop.core.guarantee import Kind
from malaprop.core.noise.free_vectors import FreeVectors
from malaprop.core.randomness import SECURE, label, secure_rng, seeded_rng
from malaprop.jobs.files import StrPath
from malaprop.jobs.job import PIPE
from malaprop.jobs.names import check_names
from malaprop.jobs.planning import check_report
from malaprop.measure.scale import check_scale
from malaprop.mechanisms.decoders import VectorMechanism
from malaprop.pipeline.choosing import MechanismChoice, chosen_mechanism
from malaprop.pipeline.outputs.access import Access
from malaprop.pipeline.outputs.staging import Staging, check_output
from malaprop.pipeline.outputs.watching import Sight, sight
from malaprop.pipeline.vectors import base
from malaprop.pipeline.vectors.opening import checked_file, read_some
from malaprop.report.vectors import NO_SCALE
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

    @property
    def lasting(self) -> bool:
        """Whether a run that was stopped can be resumed: always, with two files."""
        return True

    def sight(self) -> Sight | None:
        """Return what tells whether the input changes."""
        status = self.status()
        return None if status is None else sight(status)

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
    page = None if report is None else checked_name(Path(report))
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
    return rows is None or rows * columns > base.BLOCK_CELLS


def settings_of(
    mechanism: VectorMechanism, seed: int | None, public: Floats | None, **others: object
) -> dict[str, str]:
    """Return what an output depends on besides its input, by names that a message can use.

    `others` are further facts; their names have underscores for spaces.
    """
    return {
        "the version of Malaprop": f"{__version__} {base.BLOCK_CELLS}",
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

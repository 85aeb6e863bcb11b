"""The texts of files, for measurements and for training: nothing is written."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack

from malaprop.core.errors import DataError, ParameterError
from malaprop.jobs.job import PIPE, Job
from malaprop.jobs.planning import check_piped, plan_jobs
from malaprop.pipeline.formats import Layout
from malaprop.pipeline.formats.packing import unpacked
from malaprop.pipeline.rewriting import Rewriting

Listener = Callable[[int, int | None], None]
"""Called with the bytes that are read and, if it is known, their total."""


def read_texts(
    inputs: Sequence[str],
    *,
    columns: Sequence[str] = (),
    format: str | None = None,  # noqa: A002  as in `privatize_files`
    encoding: str = "utf-8",
    progress: Listener | None = None,
) -> Iterator[str]:
    """Return the texts of files one by one, in any format that `privatize_files` reads.

    A line of a txt file is a text; other files have the texts of the named columns. A record that
    cannot be read is an error. What is wrong with the arguments is one at once, before any reading.
    """
    if isinstance(columns, str):
        raise ParameterError("columns must be a list of names, not one string")
    check_piped(inputs, format, columns)

    def layout(name: str) -> Layout:
        return Layout(format=name, columns=tuple(columns), encoding=encoding)

    jobs = [plan_jobs([source], os.devnull, format, layout)[0] for source in inputs]
    return _texts(jobs, progress)


def _texts(jobs: Sequence[Job], progress: Listener | None) -> Iterator[str]:
    sizes = [job.size for job in jobs]
    total = None if None in sizes else sum(size or 0 for size in sizes)
    done = 0
    for job in jobs:
        for texts, consumed in _batches(job):
            yield from texts
            if progress:
                progress(done + consumed, total)
        done += job.size or 0


def _batches(job: Job) -> Iterator[tuple[list[str], int]]:
    """Yield the texts of each batch of a file, and how much of it is read."""
    with ExitStack() as ends:
        try:
            source = unpacked(ends.enter_context(job.open_source()), job.source)
            nowhere = ends.enter_context(open(os.devnull, "wb"))
            reading = ends.enter_context(Rewriting.open(source, nowhere, job.layout, job.size))
            for texts in reading.batches():
                yield texts, reading.consumed
                reading.write(texts)  # so that it lets go of them
        except (DataError, ParameterError) as error:
            if job.source != PIPE:
                error.args = (f"{job.source}: {error}",)
            raise

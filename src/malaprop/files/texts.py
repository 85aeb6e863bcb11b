"""Texts of files, with labels where asked, for measurements and training; nothing is written."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from malaprop.files.formats.file_format import REMEDY, AnyReader, Layout, Pair, naming, unpacked
from malaprop.files.run import TextJob, plan_jobs, total_size
from malaprop.privacy.errors import DataError, ParameterError

Listener = Callable[[int, int | None], None]
"""Called with the bytes that are read and, if it is known, their total."""
_PAIRS_BETWEEN_CALLS = 1000

__all__ = ["Listener", "Pair", "open_texts", "read_labelled", "read_texts"]


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

    def texts() -> Iterator[str]:
        done = 0
        for job in jobs:
            with open_texts(job) as reader:
                for batch in reader.batches():
                    yield from batch.texts
                    if progress:
                        progress(done + reader.consumed, total)
            done += job.size or 0

    layout = partial(Layout, columns=tuple(columns), encoding=encoding)
    jobs = [plan_jobs([source], os.devnull, format, layout)[0] for source in inputs]
    total = total_size(jobs)
    return texts()


def read_labelled(
    source: str,
    *,
    column: str,
    label: str,
    format: str | None = None,  # noqa: A002  as in `privatize_files`
    encoding: str = "utf-8",
    progress: Listener | None = None,
) -> Iterator[Pair]:
    """Return each text of a file with its label, one by one; an absent value is an empty string.

    The file is of a format that has columns. Columns that it lacks, and records that cannot be
    read, are errors, which show nothing of the records. What is wrong with the arguments is one at
    once, before any reading.
    """

    def pairs() -> Iterator[Pair]:
        with open_texts(job) as reader:
            for number, pair in enumerate(reader.pairs()):
                if progress and job.size is not None and number % _PAIRS_BETWEEN_CALLS == 0:
                    progress(reader.consumed, job.size)
                yield pair

    layout = partial(Layout, columns=(column,), label=label, encoding=encoding)
    job = plan_jobs([source], os.devnull, format, layout)[0]
    return pairs()


@contextmanager
def open_texts(job: TextJob) -> Iterator[AnyReader]:
    """Open the input of a job. Errors name it, and do not advise what is for copies alone."""
    try:
        with naming(job.name), job.open_source() as file:
            yield job.layout.open(unpacked(file, job.source), job.size)
    except DataError as error:
        error.args = (str(error).removesuffix(REMEDY),)
        raise

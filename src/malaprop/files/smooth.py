"""Files of private text in, readable files out: the call behind `malaprop smooth`."""

import os
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any, BinaryIO, cast

from malaprop.files.formats.file_format import FileCopy, Layout, packed, unpacked
from malaprop.files.run import plan_jobs
from malaprop.files.staging import Staging
from malaprop.privacy.errors import DataError
from malaprop.private_files import Access
from malaprop.privatizer import Privatizer


def smooth_file(
    source: str | os.PathLike[str],
    output: str | os.PathLike[str],
    privatizer: Privatizer,
    *,
    columns: Sequence[str] = (),
    format: str | None = None,  # noqa: A002  as in `privatize_files`
    delimiter: str | None = None,
    encoding: str = "utf-8",
    force: bool = False,
    progress: Callable[[int, int | None], None] = lambda done, total: None,
) -> dict[str, int]:
    """Make a file of private texts readable, and return how many words were changed and left.

    The texts must be as `privatizer` draws them, and it must be `readable`; it draws nothing here.
    Everything but the texts stays as it is. `progress` is called with bytes that are read, and all.
    """
    layout = partial(Layout, columns=tuple(columns), delimiter=delimiter, encoding=encoding)
    (job,) = plan_jobs([os.fspath(source)], os.fspath(output), format, layout)
    counts: Counter[str] = Counter()
    with Staging() as stage, ExitStack() as ends:
        status = job.status()
        limits = [] if status is None else [Access.of(status)]
        target = job.open_target(stage, limits, force=force)
        packing = packed(target, job.target)
        file = ends.enter_context(job.open_source())
        reader: Any = job.layout.open(unpacked(file, job.source), job.size)
        with FileCopy(reader, cast(BinaryIO, packing or target), job.name) as copy:
            for batch in copy.batches():
                texts, found = privatizer.smooth_batch(batch.texts)
                copy.write(batch, texts)
                counts.update(found)
                progress(reader.consumed, job.size)
            copy.finish()
        if packing is not None:
            packing.finish()
        target.flush()
        if not counts["words"]:
            raise DataError(
                "no text has a word of the lexicon: name the one that the texts were made private "
                "with, and the columns that hold them"
            )
    return dict(counts)

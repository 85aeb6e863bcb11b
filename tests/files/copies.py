"""Copies of files in memory, with their texts transformed."""

from collections.abc import Callable
from typing import BinaryIO

from malaprop.files.formats import FileCopy, Layout
from malaprop.files.formats.file_format import naming
from malaprop.report.file_counts import FileCounts

Transform = Callable[[list[str]], list[str]]


def opened(source: BinaryIO, target: BinaryIO, layout: Layout, size: int | None = None) -> FileCopy:
    """Begin a copy."""
    with naming():
        return FileCopy(layout.open(source, size), target)


def rewrite(
    source: BinaryIO,
    target: BinaryIO,
    layout: Layout,
    transform: Transform,
    progress: Callable[[int], None] = lambda consumed: None,
) -> FileCounts:
    """Copy a file, with `transform` applied to the texts of each batch."""
    with opened(source, target, layout) as copy:
        for batch in copy.batches():
            copy.write(batch, transform(batch.texts) if batch.texts else [])
            progress(copy.reader.consumed)
        return copy.finish()

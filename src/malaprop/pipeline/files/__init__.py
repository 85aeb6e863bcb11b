"""Files in, the same files out, with nothing changed but the text that was asked for.

`rewrite` streams the records of a file through a function of texts; `Layout` says how the file
is read; `Staging` lets an output appear under its name only when it is whole.
"""

from malaprop.pipeline.files.layout import FORMATS, Format, Layout, format_of
from malaprop.pipeline.files.rewrite import FileCounts, Rewriting, rewrite
from malaprop.pipeline.files.staging import Staging

__all__ = [
    "FORMATS",
    "FileCounts",
    "Format",
    "Layout",
    "Rewriting",
    "Staging",
    "format_of",
    "rewrite",
]

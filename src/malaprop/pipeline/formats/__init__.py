"""Formats of files: each says how records are read, and written with other texts in them.

Everything but the texts asked for stays as it is. `Layout` says how a file is to be read.
"""

from malaprop.pipeline.formats.layout import FORMATS, Format, Layout, format_of

__all__ = ["FORMATS", "Format", "Layout", "format_of"]

"""Formats of files, one file each; a new file here is all that a new format needs.

A format says how to read records, and how to write them with other texts; everything else stays
as it is. `Layout` says how to read a file.
"""

import importlib
import pkgutil

from malaprop.files.formats.file_format import (
    FileCopy,
    Layout,
    OnError,
    Reader,
    Writer,
    format_of,
    registry,
)

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

FORMATS: tuple[str, ...] = tuple(registry)
"""The names of all formats."""

__all__ = [
    "FORMATS",
    "FileCopy",
    "Layout",
    "OnError",
    "Reader",
    "Writer",
    "format_of",
    "registry",
]

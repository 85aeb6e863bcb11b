"""Formats of files, one file each. A new file here is all that a new format needs.

A format says how to read records, and how to write them with other texts; everything else stays as
it is. `Layout` says how to read a file.
"""

import importlib
import pkgutil

from malaprop.pipeline.formats.copying import registry
from malaprop.pipeline.formats.layout import Layout
from malaprop.pipeline.formats.recognise import format_of

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

FORMATS: tuple[str, ...] = tuple(registry)
"""The names of all formats."""

__all__ = ["FORMATS", "Layout", "format_of", "registry"]

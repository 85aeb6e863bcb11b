"""Formats of files, one file each; a new file here is all that a new format needs.

A format says how to read records, and how to write them with other texts; everything else stays
as it is. `Layout` says how to read a file.
"""

import importlib
import pkgutil
from pathlib import Path
from typing import Final

from malaprop.files.compression import compression_of, without_packing
from malaprop.files.formats.file_format import (
    FileCopy,
    Layout,
    OnError,
    Reader,
    Writer,
    registry,
)
from malaprop.privacy.errors import ParameterError

_ARCHIVES: Final = (".tar", ".tgz", ".7z", ".rar")
_SHEETS: Final = (".xlsx", ".xls", ".xlsm", ".xlsb", ".ods", ".numbers")
_DOCUMENTS: Final = (".docx", ".doc", ".pdf", ".odt", ".rtf", ".pages", ".pptx", ".epub")
_FOREIGN: Final = {
    **dict.fromkeys(_ARCHIVES, "Malaprop writes no archives"),
    **dict.fromkeys(_SHEETS, "Malaprop writes no spreadsheets, but they can import .csv"),
    **dict.fromkeys(_DOCUMENTS, "Malaprop writes no such files, but their programs open .txt"),
}
"""Endings of files that are no text, and what to do instead."""
_HINTS: Final = {
    ".json": "of JSON only JSON lines are read, a record a line: convert it to .jsonl",
    **dict.fromkeys(_ARCHIVES, "unpack the archive and name the files in it"),
    **dict.fromkeys(_SHEETS, "export the table to .csv"),
    **dict.fromkeys(_DOCUMENTS, "export the document to .txt"),
}
# Programs that write the content of files that are packed otherwise.
_UNPACKERS: Final = {".bz2": "bzcat", ".xz": "xzcat", ".zip": "unzip -p", ".lz4": "lz4cat"}


def format_of(path: Path | str) -> str:
    """Return the format that the ending of a file's name says; of a packed file, that inside.

    >>> format_of("notes.NDJSON"), format_of("notes.csv.gz")
    ('jsonl', 'csv')
    """
    inside = without_packing(path)
    name = _format_with(inside.suffix)
    if name is None:
        raise ParameterError(
            f"the name {str(path)!r} does not tell the file's format: {_hint(inside, path)}"
        )
    check_packing(path, name)
    return name


def check_ending(source: str, target: str, format_: str, *, named: bool) -> None:
    """Refuse an output whose ending says something else than the format that is written.

    `named` tells whether the user named the format. Then all endings are fine except those of
    other programs' files, and those, too, if the input has the same one.
    """
    suffix = without_packing(target).suffix.lower()
    said = _format_with(suffix)
    if suffix in ("", ".") or said == format_:
        return
    if named and (suffix not in _FOREIGN or suffix == without_packing(source).suffix.lower()):
        return
    if said:
        raise ParameterError(
            f"the output has the format of the input, {format_}: {target} says {said}"
        )
    packed = " (also packed: .gz, .zst)" if registry[format_].packable else ""
    other = "" if suffix in _FOREIGN else f', or name the format with `format="{format_}"`'
    raise ParameterError(
        f"the output has the format of the input, {format_}, and {target} ends in {suffix}: name "
        f"a file that ends in {' or '.join(registry[format_].suffixes)}{packed}, or in nothing"
        f"{other}.{' ' if suffix in _FOREIGN else ''}{_FOREIGN.get(suffix, '')}"
    )


def _format_with(suffix: str) -> str | None:
    """Return the format whose files have a suffix, if there is one."""
    return next((name for name in registry if suffix.lower() in registry[name].suffixes), None)


def _hint(inside: Path, path: Path | str) -> str:
    """Say what to do about a file whose name does not tell its format."""
    suffix = inside.suffix.lower()
    if suffix in _UNPACKERS:
        content = _format_with(inside.with_suffix("").suffix) or "FORMAT"
        return (
            "of compressed files .gz and .zst are read, others through a pipe:  "
            f"{_UNPACKERS[suffix]} FILE | malaprop privatize - --format {content}"
        )
    known = [name for name in registry if registry[name].packable or not compression_of(path)]
    return _HINTS.get(suffix, f"name it with `format` ({', '.join(known)})")


def check_packing(path: Path | str, format_: str) -> None:
    """Refuse a file that is packed in a way that its format, or Malaprop, does not support."""
    suffix = Path(path).suffix.lower()
    if compression_of(path) and not registry[format_].packable:
        raise ParameterError(
            f"{str(path)!r} ends in {suffix}, but {format_.capitalize()} is compressed inside: "
            f"name a file that ends in {registry[format_].suffixes[0]}"
        )
    if suffix in _UNPACKERS:
        raise ParameterError(
            f"{str(path)!r} ends in {suffix}: files are packed as .gz or .zst, or not at all"
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

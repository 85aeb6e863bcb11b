"""The format of a file, as its name tells it."""

from pathlib import Path
from typing import Final

from malaprop.core.errors import ParameterError
from malaprop.pipeline.formats.copying import registry
from malaprop.pipeline.formats.packing import packing_of, without_packing

_HINTS: Final = {
    ".json": "of JSON only JSON lines are read, a record a line: convert it to .jsonl",
    **dict.fromkeys((".tar", ".tgz", ".7z", ".rar"), "unpack the archive and name the files in it"),
    **dict.fromkeys((".xlsx", ".xls", ".ods"), "export the table to .csv"),
    **dict.fromkeys((".docx", ".pdf", ".odt", ".rtf"), "export the document to .txt"),
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
    known = [name for name in registry if registry[name].packable or not packing_of(path)]
    return _HINTS.get(suffix, f"name it with `format` ({', '.join(known)})")


def check_packing(path: Path | str, format_: str) -> None:
    """Refuse a file that is packed in a way that its format, or Malaprop, does not support."""
    suffix = Path(path).suffix.lower()
    if packing_of(path) and not registry[format_].packable:
        raise ParameterError(
            f"{str(path)!r} ends in {suffix}, but {format_.capitalize()} is compressed inside: "
            f"name a file that ends in {registry[format_].suffixes[0]}"
        )
    if suffix in _UNPACKERS:
        raise ParameterError(
            f"{str(path)!r} ends in {suffix}: files are packed as .gz or .zst, or not at all"
        )

"""JSON files beside arrays: small, and of one object."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from malaprop.lexicon.formats import limits


def read(path: Path) -> dict[str, Any]:
    """Read the object of a JSON file. Raises OSError, or ValueError if there is none."""
    return parse(limits.whole(path, limits.NOTE).decode("utf-8"))


def parse(text: str) -> dict[str, Any]:
    """Parse an object. Raises ValueError if there is none."""
    try:
        note = json.loads(text)
    except RecursionError:
        raise ValueError("too deep") from None
    if not isinstance(note, dict):
        raise ValueError("no object")  # noqa: TRY004 (it is the file's fault)
    return note


def check_format(note: dict[str, Any], number: int) -> None:
    """Raise a ValueError unless the note is of the format with this number."""
    if note["format"] != number:
        raise ValueError("another format")

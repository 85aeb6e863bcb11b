"""Small JSON files, each with one object, that describe the arrays beside them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from malaprop.lexicon.formats import limits


def read_object(path: Path) -> dict[str, Any]:
    """Read the object in a JSON file. Raises OSError, or ValueError if there is none."""
    return parse_object(limits.whole(path, limits.NOTE).decode("utf-8"))


def parse_object(text: str) -> dict[str, Any]:
    """Parse a JSON object. Raises ValueError if the text is anything else."""
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")  # noqa: TRY004 (it is the file's fault)
    return value


def check_format(note: dict[str, Any], number: int) -> None:
    """Raise a ValueError unless the object declares the format with this number."""
    if note["format"] != number:
        raise ValueError("another format")

"""Writes a file or a folder so that it appears complete, or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from malaprop.core.errors import OutputError


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a path to write to. It replaces `path` at the end unless something fails."""
    part = path.with_name(f".{secrets.token_hex(4)}.{path.name}")  # numpy looks at the ending
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield part
        if path.is_dir():
            shutil.rmtree(path)
        os.replace(part, path)
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror}") from None
    finally:
        if part.is_dir():
            shutil.rmtree(part, ignore_errors=True)
        else:
            part.unlink(missing_ok=True)

"""Files that a measurement writes: checked before any work."""

import os
from collections.abc import Sequence
from pathlib import Path

from malaprop.cli.options import PIPE


def check_different(json_: str | None, pages: Sequence[Path]) -> list[Path]:
    """Return the files of --json and --report; refuse one that is named twice."""
    from malaprop.core.errors import ParameterError

    paths = [*pages, *([] if json_ is None or json_ == PIPE else [Path(json_)])]
    if len(set(map(os.path.abspath, paths))) < len(paths):
        raise ParameterError("--json and --report name the same file: name another one")
    return paths


def check_outputs(json_: str | None, pages: Sequence[Path], file: str, *, force: bool) -> None:
    """Refuse a file of --json, or pages of --report, that cannot be written."""
    from malaprop.core.errors import OutputError, ParameterError

    paths = check_different(json_, pages)
    for path in paths:
        if file != PIPE and path.exists() and Path(file).exists() and path.samefile(file):
            raise ParameterError(f"{path} is the input: name another file")
        if path.is_dir():
            raise OutputError(f"{path} is a folder: name a file")
        if not path.parent.is_dir():
            raise OutputError(f"there is no folder {path.parent}: create it first")
        if os.path.lexists(path) and not force:
            raise OutputError(f"{path} already exists: use --force to overwrite it")

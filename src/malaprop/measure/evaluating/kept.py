"""Cells of an earlier run, kept in the user's state folder, so that none is measured twice.

The file holds figures and numbers only, no text and no label. Its name is a keyed digest of the
texts and of all settings but the mechanisms: only its owner can tell what it belongs to. One file
serves runs with other mechanisms and other ε.
"""

import contextlib
import hashlib
import json
import os
import secrets
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from malaprop._version import __version__
from malaprop.core.errors import OutputError
from malaprop.core.mechanism import Mechanism
from malaprop.measure.evaluating.cells import Bounds, Cell
from malaprop.pipeline.outputs.keys import state_folder, subkey
from malaprop.pipeline.outputs.owned import create, open_ours

_LARGEST = 1 << 26  # bytes


class Digest:
    """A keyed digest of the settings, and of texts and labels as they are read."""

    def __init__(self, settings: Mapping[str, Any], *, labelled: bool) -> None:
        head = json.dumps([__version__, settings, labelled], sort_keys=True)
        self._digest = hashlib.blake2b(key=subkey("evaluate"), digest_size=16)
        self._labelled = labelled
        self._update(head)
        self.seed = int.from_bytes(self._digest.digest()[:7])
        """A number that the settings and the owner's key decide."""

    def add(self, text: str, label: object) -> None:
        """Add a text and its label."""
        self._update(text)
        if self._labelled:
            self._update(str(label))

    def name(self) -> str:
        """Return the digest of all that was added."""
        return self._digest.hexdigest()

    def _update(self, part: str) -> None:
        data = part.encode("utf-8", "surrogatepass")
        self._digest.update(f"{len(data)}:".encode())
        self._digest.update(data)


class KeptCells:
    """What was measured before on the same texts with the same settings.

    With no `digest`, nothing is kept beyond the run. Runs at the same time keep the cells of each
    other.
    """

    def __init__(self, digest: str | None, *, fresh: bool = False) -> None:
        self._path = None if digest is None else state_folder() / "evaluations" / f"{digest}.json"
        self.bounds: Bounds | None = None
        self._cells: dict[str, Cell] = {}
        if self._path is not None and not fresh:
            self.bounds, self._cells = _read(self._path)

    def get(self, mechanism: Mechanism) -> Cell | None:
        """Return what was measured with a mechanism, if it was."""
        return self._cells.get(_key(mechanism.to_dict()))

    def keep_bounds(self, bounds: Bounds) -> None:
        """Keep the bounds."""
        self.bounds = bounds
        self._write()

    def keep(self, cell: Cell) -> None:
        """Keep a cell."""
        self._cells[_key(cell.mechanism)] = cell
        self._write()

    def _write(self) -> None:
        """Add what was measured to what is kept, in one step: a stop leaves a whole file."""
        if self._path is None:
            return
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _locked(self._path.parent.with_suffix(".lock")):
            bounds, cells = _read(self._path)  # another run may have added to it
            bounds, cells = self.bounds or bounds, cells | self._cells
            value = {
                "bounds": None if bounds is None else bounds.to_dict(),
                "cells": [cell.to_dict() for cell in cells.values()],
            }
            new = self._path.with_name(f".{self._path.name}-{secrets.token_hex(8)}")
            try:
                with os.fdopen(create(new), "wb") as file:
                    file.write(json.dumps(value, allow_nan=False).encode())
                os.replace(new, self._path)
            finally:
                new.unlink(missing_ok=True)


def _read(path: Path) -> tuple[Bounds | None, dict[str, Cell]]:
    """Return what an earlier run has kept; a file that is damaged counts as none."""
    try:
        with os.fdopen(open_ours(path), "rb") as file:
            value = json.loads(file.read(_LARGEST))
        cells = [Cell.from_dict(each) for each in value["cells"]]
        bounds = None if value["bounds"] is None else Bounds.from_dict(value["bounds"])
    except (FileNotFoundError, OutputError, ValueError, KeyError, TypeError, AttributeError):
        return None, {}
    return bounds, {_key(cell.mechanism): cell for cell in cells}


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Wait until no other run writes; on Windows, the later of two runs wins."""
    if sys.platform == "win32":
        yield
        return
    import fcntl

    try:
        descriptor = create(path)
    except FileExistsError:
        descriptor = open_ours(path, os.O_RDWR)
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _key(mechanism: Mapping[str, Any]) -> str:
    return json.dumps(mechanism, sort_keys=True, default=str)

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
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from malaprop._version import __version__
from malaprop.core.errors import OutputError
from malaprop.core.mechanism import Mechanism
from malaprop.measure.evaluating.cells import Bounds, Cell
from malaprop.pipeline.outputs.keys import state_folder, subkey
from malaprop.pipeline.outputs.owned import create, open_ours

_LARGEST = 1 << 26  # bytes


def digest_of(
    texts: Sequence[str], labels: Sequence[object] | None, settings: Mapping[str, Any]
) -> str:
    """Return a keyed digest of the texts, their labels and the settings."""
    digest = hashlib.blake2b(key=subkey("evaluate"), digest_size=16)
    head = json.dumps([__version__, settings, len(texts), labels is not None], sort_keys=True)
    for part in _parts(head, texts, labels or ()):
        data = part.encode("utf-8", "surrogatepass")
        digest.update(f"{len(data)}:".encode())
        digest.update(data)
    return digest.hexdigest()


def _parts(head: str, texts: Iterable[str], labels: Iterable[object]) -> Iterable[str]:
    yield head
    yield from texts
    yield from map(str, labels)


class KeptCells:
    """What was measured before on the same texts with the same settings.

    With no `digest`, nothing is kept beyond the run.
    """

    def __init__(self, digest: str | None, seed: int, *, fresh: bool = False) -> None:
        self._path = None if digest is None else state_folder() / "evaluations" / f"{digest}.json"
        self.seed = seed
        """What the sample and the splits are drawn with: that of the earlier run, if any."""
        self.bounds: Bounds | None = None
        self._cells: dict[str, Cell] = {}
        if self._path is not None and not fresh:
            self._read(self._path)

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

    def _read(self, path: Path) -> None:
        """Read an earlier run; a file that is damaged counts as none."""
        with contextlib.suppress(FileNotFoundError, OutputError, ValueError, KeyError, TypeError):
            with os.fdopen(open_ours(path), "rb") as file:
                value = json.loads(file.read(_LARGEST))
            cells = [Cell.from_dict(each) for each in value["cells"]]
            self.seed, bounds = int(value["seed"]), value["bounds"]
            self.bounds = None if bounds is None else Bounds.from_dict(bounds)
            self._cells = {_key(cell.mechanism): cell for cell in cells}

    def _write(self) -> None:
        """Replace the file in one step, so that a stop leaves the earlier one or the new one."""
        if self._path is None:
            return
        value = {
            "seed": self.seed,
            "bounds": None if self.bounds is None else self.bounds.to_dict(),
            "cells": [cell.to_dict() for cell in self._cells.values()],
        }
        new = self._path.with_name(f".{self._path.name}-{secrets.token_hex(8)}")
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            with os.fdopen(create(new), "wb") as file:
                file.write(json.dumps(value, allow_nan=False).encode())
            os.replace(new, self._path)
        finally:
            new.unlink(missing_ok=True)


def _key(mechanism: Mapping[str, Any]) -> str:
    return json.dumps(mechanism, sort_keys=True, default=str)

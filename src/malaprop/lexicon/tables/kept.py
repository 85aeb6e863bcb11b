"""Look tables up by a lexicon's fingerprint: in the package, and in the user's folder.

    exponents/FINGERPRINT*.json
    balances/FINGERPRINT/
    nearest/FINGERPRINT.npy

Nothing else in the library looks for the file of a table.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from malaprop.core.errors import LexiconError
from malaprop.lexicon import catalogue
from malaprop.lexicon.tables import balance_files, exponent_files, nearest_files
from malaprop.lexicon.tables.values import (
    BalanceTable,
    ExponentTable,
    Table,
    TableKind,
    Tables,
    UnreadableTable,
)

_FINGERPRINT = re.compile("[0-9a-f]{64}")
_Read = TypeVar("_Read", ExponentTable, BalanceTable)


def kept_tables(fingerprint: str) -> Tables:
    """Return the tables that are shipped or kept for a lexicon.

    The user's own balances come before those of the package.
    """
    own = TableFolder(catalogue.home()).tables_for(fingerprint)
    shipped = _shipped_tables(fingerprint)
    return Tables(
        exponents=shipped.exponents + own.exponents,
        balances=own.balances or shipped.balances,
        nearest=shipped.nearest,
        unreadable=shipped.unreadable + own.unreadable,
    )


def keep(table: Table) -> Path:
    """Write a table into the user's folder, for lexicons that are opened from now on."""
    return TableFolder(catalogue.home()).keep(table)


@dataclass(frozen=True)
class TableFolder:
    """A folder of tables of any lexicons; its owner vouches for them."""

    path: Path

    def tables_for(self, fingerprint: str) -> Tables:
        """Return the tables of a lexicon; damaged files are noted, and refused when needed."""
        if not _FINGERPRINT.fullmatch(fingerprint):  # it may come from a stranger's file
            return Tables()
        reading = _Reading(fingerprint)
        folder = self.path / "exponents"
        files = [folder / f"{fingerprint}.json", *folder.glob(f"{fingerprint}-*.json")]
        exponents = reading.tables("exponents", exponent_files.read, filter(Path.is_file, files))
        folders = filter(Path.is_dir, [self._balances(fingerprint)])
        balances = reading.tables("balances", balance_files.read, folders)
        nearest = nearest_files.read_verified(self._nearest(fingerprint), fingerprint)
        return Tables(
            exponents=tuple(sorted(exponents, key=_for_all_first)),
            balances=next(iter(balances), None),
            nearest=nearest,
            unreadable=tuple(reading.unreadable),
        )

    def keep(self, table: Table) -> Path:
        """Write a table; return its file or folder."""
        if isinstance(table, ExponentTable):
            name = exponent_files.file_name(table.fingerprint, table.gamma, table.epsilon)
            path = self.path / "exponents" / name
            exponent_files.write(table, path)
        elif isinstance(table, BalanceTable):
            path = self._balances(table.fingerprint)
            balance_files.write(table, path)
        else:
            path = self._nearest(table.fingerprint)
            nearest_files.write(table, path)
        return path

    def _balances(self, fingerprint: str) -> Path:
        return self.path / "balances" / fingerprint

    def _nearest(self, fingerprint: str) -> Path:
        return self.path / "nearest" / f"{fingerprint}.npy"


def _shipped_tables(fingerprint: str) -> Tables:
    reading = _Reading(fingerprint)
    folders = list(catalogue.embedded().values())
    files = [folder / exponent_files.SHIPPED for folder in folders]
    verified = [path for path in files if exponent_files.is_verified(path, fingerprint)]
    shipped = folders if fingerprint in balance_files.VERIFIED else []
    balances = [folder / balance_files.SHIPPED for folder in shipped]
    lists = (
        nearest_files.read_verified(folder / nearest_files.SHIPPED, fingerprint)
        for folder in folders
    )
    return Tables(
        exponents=tuple(reading.tables("exponents", exponent_files.read, verified)),
        balances=next(
            iter(reading.tables("balances", balance_files.read, filter(Path.is_dir, balances))),
            None,
        ),
        nearest=next((table for table in lists if table is not None), None),
        unreadable=tuple(reading.unreadable),
    )


@dataclass
class _Reading:
    """Reads tables of one lexicon, and remembers which files could not be read."""

    fingerprint: str
    unreadable: list[UnreadableTable] = field(default_factory=list)

    def tables(
        self, kind: TableKind, read: Callable[[Path], _Read], paths: Iterable[Path]
    ) -> list[_Read]:
        """Return the tables in some files, but for those of other lexicons."""
        tables = []
        for path in paths:
            try:
                table = read(path)
            except LexiconError as error:
                self.unreadable.append(UnreadableTable(kind=kind, reason=str(error)))
                continue
            if table.fingerprint == self.fingerprint:  # whatever the file is called
                tables.append(table)
        return tables


def _for_all_first(table: ExponentTable) -> tuple[float, float]:
    """Order tables: for all ε before for one, without a threshold before with one."""
    return (-math.inf if table.epsilon is None else table.epsilon, -table.gamma)

"""The tables of a lexicon: what is computed once for it, kept, and carried by it.

    values            the tables themselves: plain, frozen, each with the fingerprint it belongs to
    exponent_files    TEM's audited exponents, as JSON
    balance_files     the balances of a word graph, as a folder of arrays
    nearest_files     the nearest words of each word, as an array
    kept              the only module that looks tables up, in the package and in the user's folder
    graphs            the same for word graphs, which are metrics rather than tables

`Lexicon.open`, `with_graph` and `with_metric` attach what they find; mechanisms read
`lexicon.tables` and no file. A table belongs to the lexicon whose fingerprint it has, and to no
other. Tables in the package are used only as they were verified; the user's folder is the user's.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from malaprop.lexicon import store
from malaprop.lexicon.formats import untrusted
from malaprop.lexicon.formats.arrays import map_array
from malaprop.privacy.arrays import Ids, Keys
from malaprop.privacy.errors import LexiconError
from malaprop.privacy.lazy_rows import NearWords
from malaprop.privacy.metrics import MetricSpace
from malaprop.private_files import atomic_write

# The tables that a lexicon can carry. They hold numbers; the mechanisms know what they mean.


KeysOfPairs = Callable[[Ids, Ids], Keys]
"""Returns the keys of the distances between the first words and the second ones, pair by pair."""
TableKind = Literal["exponents", "balances"]


@dataclass(frozen=True, kw_only=True)
class ExponentTable:
    """L_γ(t), TEM's exact loss per unit of distance, for exponents t on one lexicon.

    It holds for its threshold γ alone: L_γ(t) can be above L(t) for every other threshold.
    """

    fingerprint: str
    """The lexicon's."""
    gamma: float = math.inf
    """The threshold of the audit."""
    epsilon: float | None = None
    """The only ε that the table is for; None if it is for all."""
    diameter: float
    """The largest distance between two words, at most γ."""
    exponents: tuple[float, ...]
    losses: tuple[float, ...]

    def largest(self, epsilon: float) -> float:
        """Return the largest exponent known to be ε·d-private; ε/2 always is.

        >>> table = ExponentTable(fingerprint="", diameter=9.0, exponents=(1, 2), losses=(1.4, 2.6))
        >>> table.largest(2.0), table.largest(2.6), table.largest(9.0)
        (1.0, 2.0, 4.5)
        """
        rates = zip(self.exponents, self.losses, strict=True)
        return float(max([epsilon / 2.0, *(t for t, loss in rates if loss <= epsilon)]))

    def holds_for(self, gamma: float, epsilon: float | None = None) -> bool:
        """Tell whether the audit was made with the metric min(d, γ), and for this ε."""
        same = gamma >= self.diameter if self.gamma == math.inf else gamma == self.gamma
        return same and self.epsilon in (None, epsilon)

    def covers(self, epsilon: float) -> bool:
        """Tell whether the audit looked for the exponent of this ε, not only of others.

        >>> table = ExponentTable(fingerprint="", diameter=9.0, exponents=(1, 2), losses=(1.4, 2.6))
        >>> table.covers(2.0), table.covers(9.0)
        (True, False)
        """
        return min(self.losses) <= epsilon <= max(self.losses)


@dataclass(frozen=True, kw_only=True)
class BalanceTable:
    """Weights that balance a word graph, for a list of ε, and its level counts."""

    fingerprint: str
    """That of the lexicon with its graph."""
    laws: tuple[dict[str, Any], ...]
    """For each ε: epsilon, exponent, spread, least_mass, mass_unit."""
    weights: NDArray[np.uint16]
    """ν of each law, a row each, in units of 2⁻¹⁶."""
    masses: NDArray[np.uint16]
    """Z of each law, a row each, above its least mass, in its mass unit."""
    counts: NDArray[np.integer[Any]]
    """How many words are on each level, from each word."""

    @property
    def digest(self) -> str:
        """SHA-256 of all that the table says."""
        note = json.dumps([self.fingerprint, self.laws], sort_keys=True)
        digest = hashlib.sha256(note.encode())
        for array in (self.weights, self.masses, self.counts):
            digest.update(np.ascontiguousarray(array, array.dtype.newbyteorder("<")).data)
        return digest.hexdigest()


@dataclass(frozen=True, kw_only=True)
class NearestWords:
    """The nearest words of each word: itself first, and last the one beyond the list.

    With them a law that falls with the distance is drawn from without the distances to all words:
    those listed are weighed, and none of the others is nearer than the last one.
    """

    fingerprint: str
    """The lexicon's."""
    listed: NDArray[np.integer[Any]]
    """Ids, a row for each word."""

    def of(self, ids: Ids, keys_of_pairs: KeysOfPairs) -> NearWords:
        """Return the nearest words of some words, with the keys of their distances."""
        listed = self.listed[ids].astype(np.int64)
        own = np.repeat(ids, listed.shape[1])
        keys = keys_of_pairs(own, listed.ravel()).reshape(listed.shape)
        beyond = keys[:, -1]
        near = keys < beyond[:, None]

        def at(rows: Ids, words: Ids) -> Keys:
            return keys_of_pairs(ids[rows], words)

        return NearWords(near.sum(axis=1), listed[near], keys[near], beyond, at)


@dataclass(frozen=True, kw_only=True)
class UnreadableTable:
    """A file in the place of a table, which is refused when the table is needed, not before."""

    kind: TableKind
    reason: str


Table = ExponentTable | BalanceTable | NearestWords


@dataclass(frozen=True, kw_only=True)
class Tables:
    """What a lexicon carries; each table has the lexicon's fingerprint."""

    exponents: tuple[ExponentTable, ...] = ()
    """Those for all ε come first."""
    balances: BalanceTable | None = None
    nearest: NearestWords | None = None
    unreadable: tuple[UnreadableTable, ...] = field(default=(), repr=False)

    @property
    def all(self) -> tuple[Table, ...]:
        """Every table."""
        single = (self.balances, self.nearest)
        return (*self.exponents, *(table for table in single if table is not None))

    def check(self, kind: TableKind) -> None:
        """Raise a LexiconError if a file of this kind is damaged: fewer tables are another law."""
        for table in self.unreadable:
            if table.kind == kind:
                raise LexiconError(table.reason)

    def exponents_for(self, gamma: float, epsilon: float | None = None) -> list[ExponentTable]:
        """Return the tables that hold for γ: those for all ε, and those for this ε."""
        self.check("exponents")
        return [table for table in self.exponents if table.holds_for(gamma, epsilon)]


def tables_of(space: MetricSpace) -> Tables:
    """Return the tables that a metric space carries, if it can carry any."""
    tables = getattr(space, "tables", None)
    return tables if isinstance(tables, Tables) else Tables()


# Folders of balances.
#
#     about.json     the fingerprint of the lexicon with its graph, and a list of laws
#     weights.npy    ν of each law, in units of 2⁻¹⁶
#     masses.npy     Z of each law, in units of its own
#     counts.npy     how many words are on each level, from each word
#
# The folder is `balance` beside an embedded lexicon, or `balances/FINGERPRINT` in the user's folder
# (`malaprop lexicon graph NAME`).


SHIPPED_BALANCE = "balance"
VERIFIED_BALANCE = {
    # english
    "b4a192f547051c0077ec5d1643a7784697c7fc0ef907e36ff1e5d136aa257d0b": (
        "d590d19a0fcd4a21d68e44a59447ddca17844f81c89546732211fdc237908271"
    ),
}
"""Digests of the shipped tables, whose masses were verified when they were made, by fingerprint."""
_FORMAT = 1
_ABOUT = "about.json"
_ARRAYS = ("weights", "masses", "counts")
_NUMBERS = ("epsilon", "exponent", "least_mass", "mass_unit")


def balance_is_verified(table: BalanceTable) -> bool:
    """Tell whether a table is one that was shipped, to the last bit."""
    return VERIFIED_BALANCE.get(table.fingerprint) == table.digest


def write_balance(table: BalanceTable, folder: Path) -> None:
    """Write a table into a folder of its own, which appears once it is whole."""
    note = {"format": _FORMAT, "fingerprint": table.fingerprint, "laws": list(table.laws)}
    with atomic_write(folder) as part:
        part.mkdir()
        for name in _ARRAYS:
            np.save(part / f"{name}.npy", getattr(table, name), allow_pickle=False)
        (part / _ABOUT).write_text(json.dumps(note, indent=1) + "\n", encoding="utf-8")


def read_balance(folder: Path) -> BalanceTable:
    """Open a table; its arrays are mapped, not read. Raise a LexiconError if there is none."""
    try:
        note = untrusted.read_object(folder / _ABOUT)
        untrusted.check_format(note, _FORMAT)
        laws = tuple(_law(law) for law in note["laws"])
        arrays = {name: map_array(folder / f"{name}.npy") for name in _ARRAYS}
        _check_arrays(arrays, len(laws))
        return BalanceTable(fingerprint=str(note["fingerprint"]), laws=laws, **arrays)
    except (ValueError, KeyError, TypeError, OSError):
        raise LexiconError(
            f"{folder} holds no balances that this version reads: run  malaprop lexicon graph "
            "NAME --force"
        ) from None


def _law(note: dict[str, Any]) -> dict[str, Any]:
    return {"spread": bool(note["spread"])} | {name: float(note[name]) for name in _NUMBERS}


def _check_arrays(arrays: dict[str, NDArray[Any]], laws: int) -> None:
    """Raise a ValueError unless the arrays have the types and the shapes that are written."""
    shape = (laws, len(arrays["counts"]))
    if arrays["counts"].ndim != 2 or arrays["counts"].dtype.kind != "u":
        raise ValueError("no counts")
    for name in ("weights", "masses"):
        if arrays[name].shape != shape or arrays[name].dtype != np.uint16:
            raise ValueError(f"no {name}")


# Files of audited exponents.
#
# exponents.json         beside an embedded lexicon FINGERPRINT.json       in the user's folder
# `exponents` (`malaprop lexicon audit NAME`) FINGERPRINT-GAMMA.json beside it, for a threshold γ
# (`malaprop lexicon audit NAME --gamma G`) …-eEPSILON.json        beside either, for one ε
# (`malaprop lexicon audit NAME --epsilon E`)


SHIPPED_EXPONENTS = "exponents.json"
VERIFIED_EXPONENTS = {
    # english
    "3fa330d030952a994390b2c37bdbede0c6ea47e0531450596b4d4ff42307c20d": (
        "cebdb08065168e4e51a99375a519e13e06ba535c3b8ae63d51d234f5b527c5f0"
    ),
    # english-hierarchy
    "a0c895963cda13ffffaa6f3faec18997acad7207649ed781232b64f318e777c9": (
        "7133bb7e797a0fab90162e7ee63c5ebb04d23c6bb4fffe91c326bb24af2da0d4"
    ),
}
"""The SHA-256 of the file of each embedded lexicon, by the lexicon's fingerprint."""
_TRUNCATED = 2  # with a threshold: a version that knows none does not read it
_SINGLE = 3  # for one ε, with a threshold or without
_UP = 1.0 + 1e-9  # above the rounding errors of a loss


def file_name(fingerprint: str, gamma: float = math.inf, epsilon: float | None = None) -> str:
    """Return the name of the file that keeps a table."""
    threshold = "" if gamma == math.inf else f"-{float(gamma)!r}"
    single = "" if epsilon is None else f"-e{float(epsilon)!r}"
    return f"{fingerprint}{threshold}{single}.json"


def exponents_are_verified(path: Path, fingerprint: str) -> bool:
    """Tell whether a file is the one that was verified for an embedded lexicon."""
    expected = VERIFIED_EXPONENTS.get(fingerprint)
    if expected is None or not path.is_file():
        return False
    return hashlib.sha256(path.read_bytes()).hexdigest() == expected


def write_exponents(table: ExponentTable, path: Path) -> None:
    """Write a table; the file appears once it is whole."""
    note: dict[str, Any] = {"format": _FORMAT, "fingerprint": table.fingerprint}
    note["diameter"] = table.diameter
    gamma = table.gamma if table.gamma < math.inf else None
    if table.epsilon is not None:
        note |= {"format": _SINGLE, "gamma": gamma, "epsilon": table.epsilon}
    elif gamma is not None:
        note |= {"format": _TRUNCATED, "gamma": gamma}
    rates = zip(table.exponents, table.losses, strict=True)
    lines = ",\n".join(f"    [{t!r}, {loss!r}]" for t, loss in rates)
    head = json.dumps(note, indent=2).removesuffix("\n}")
    with atomic_write(path) as part:
        part.write_text(f'{head},\n  "losses": [\n{lines}\n  ]\n}}\n', encoding="utf-8")


def read_exponents(path: Path) -> ExponentTable:
    """Read a table. Raise a LexiconError if the file holds none."""
    try:
        note = untrusted.read_object(path)
        known = note["format"] in (_FORMAT, _TRUNCATED, _SINGLE)
        # On any lexicon t ≤ L(t) ≤ 2t: a table that says otherwise is none.
        known = known and all(0.0 < t <= loss <= 2.0 * t * _UP for t, loss in note["losses"])
        exponents, losses = zip(*note["losses"] if known else (), strict=True)
        gamma = None if note["format"] == _FORMAT else note["gamma"]
        return ExponentTable(
            fingerprint=note["fingerprint"],
            gamma=math.inf if gamma is None else float(gamma),
            epsilon=float(note["epsilon"]) if note["format"] == _SINGLE else None,
            diameter=float(note["diameter"]),
            exponents=tuple(map(float, exponents)),
            losses=tuple(map(float, losses)),
        )
    except (OSError, ValueError, KeyError, TypeError):
        raise LexiconError(
            f"{path} is not a table of exponents that this version reads: remove it, and run  "
            "malaprop lexicon audit  again"
        ) from None


# Files of the nearest words of each word of an embedded lexicon.
#
#     nearest.npy    ids, a row for each word: its nearest words, itself first, and last the next
# one
#
# A nearer word that the list leaves out could not be drawn: so a file whose SHA-256 does not stand
# here is not used, and lexicons have one only where squared distances are exact, and hence the same
# on every machine.


SHIPPED_NEAREST = "nearest.npy"
VERIFIED_NEAREST = {
    # english
    "3fa330d030952a994390b2c37bdbede0c6ea47e0531450596b4d4ff42307c20d": (
        "42f3740641088cb9b3b4ead6b98aa0bf7c56ecc6aaac3169b0c9c014b6056760"
    ),
}
"""The SHA-256 of the file of each embedded lexicon, by the lexicon's fingerprint."""


def write_nearest(table: NearestWords, path: Path) -> None:
    """Write a table; the file appears once it is whole."""
    with atomic_write(path) as part, part.open("wb") as file:
        np.save(file, table.listed, allow_pickle=False)


def read_verified(path: Path, fingerprint: str) -> NearestWords | None:
    """Read the file that was verified for an embedded lexicon; any other is ignored."""
    expected = VERIFIED_NEAREST.get(fingerprint)
    if expected is None or not path.is_file():
        return None
    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != expected:
        return None
    listed = np.load(BytesIO(content), allow_pickle=False)
    return NearestWords(fingerprint=fingerprint, listed=listed)


# Look tables up by a lexicon's fingerprint: in the package, and in the user's folder.
#
#     exponents/FINGERPRINT*.json
#     balances/FINGERPRINT/
#     nearest/FINGERPRINT.npy
#
# Nothing else in the library looks for the file of a table.


_FINGERPRINT = re.compile("[0-9a-f]{64}")
_Read = TypeVar("_Read", ExponentTable, BalanceTable)


def kept_tables(fingerprint: str) -> Tables:
    """Return the tables that are shipped or kept for a lexicon.

    The user's own balances come before those of the package.
    """
    own = TableFolder(store.home()).tables_for(fingerprint)
    shipped = _shipped_tables(fingerprint)
    return Tables(
        exponents=shipped.exponents + own.exponents,
        balances=own.balances or shipped.balances,
        nearest=shipped.nearest,
        unreadable=shipped.unreadable + own.unreadable,
    )


def keep(table: Table) -> Path:
    """Write a table into the user's folder, for lexicons that are opened from now on."""
    return TableFolder(store.home()).keep(table)


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
        exponents = reading.tables("exponents", read_exponents, filter(Path.is_file, files))
        folders = filter(Path.is_dir, [self._balances(fingerprint)])
        balances = reading.tables("balances", read_balance, folders)
        nearest = read_verified(self._nearest(fingerprint), fingerprint)
        return Tables(
            exponents=tuple(sorted(exponents, key=_for_all_first)),
            balances=next(iter(balances), None),
            nearest=nearest,
            unreadable=tuple(reading.unreadable),
        )

    def keep(self, table: Table) -> Path:
        """Write a table; return its file or folder."""
        if isinstance(table, ExponentTable):
            name = file_name(table.fingerprint, table.gamma, table.epsilon)
            path = self.path / "exponents" / name
            write_exponents(table, path)
        elif isinstance(table, BalanceTable):
            path = self._balances(table.fingerprint)
            write_balance(table, path)
        else:
            path = self._nearest(table.fingerprint)
            write_nearest(table, path)
        return path

    def _balances(self, fingerprint: str) -> Path:
        return self.path / "balances" / fingerprint

    def _nearest(self, fingerprint: str) -> Path:
        return self.path / "nearest" / f"{fingerprint}.npy"


def _shipped_tables(fingerprint: str) -> Tables:
    reading = _Reading(fingerprint)
    folders = list(store.embedded().values())
    files = [folder / SHIPPED_EXPONENTS for folder in folders]
    verified = [path for path in files if exponents_are_verified(path, fingerprint)]
    shipped = folders if fingerprint in VERIFIED_BALANCE else []
    balances = [folder / SHIPPED_BALANCE for folder in shipped]
    lists = (read_verified(folder / SHIPPED_NEAREST, fingerprint) for folder in folders)
    return Tables(
        exponents=tuple(reading.tables("exponents", read_exponents, verified)),
        balances=next(
            iter(reading.tables("balances", read_balance, filter(Path.is_dir, balances))),
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

"""The tables of a lexicon: what is computed once for it, kept, and carried by it.

    beside an embedded lexicon   in the user's folder
    exponents.json               exponents/FINGERPRINT*.json   TEM's audited exponents
    balance/                     balances/FINGERPRINT/         the balances of a word graph
    nearest.npy                  nearest/FINGERPRINT.npy       the nearest words of each word

`Lexicon.open`, `with_graph` and `with_metric` attach what they find; mechanisms read
`lexicon.tables` and no file. A table belongs to the lexicon whose fingerprint it has, and to no
other. Tables in the package are used only as they were verified; the user's folder is the user's.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from malaprop.lexicon import store
from malaprop.lexicon.formats import untrusted
from malaprop.lexicon.formats.arrays import map_folder, write_folder
from malaprop.privacy.arrays import Ids, Keys
from malaprop.privacy.errors import LexiconError
from malaprop.privacy.lazy_rows import NearWords
from malaprop.privacy.metrics import MetricSpace
from malaprop.private_files import atomic_write

KeysOfPairs = Callable[[Ids, Ids], Keys]
"""Returns the keys of the distances between the first words and the second ones, pair by pair."""
TableKind = Literal["exponents", "balances", "nearest"]
_FINGERPRINT = re.compile("[0-9a-f]{64}")
_FORMAT = 1
_UP = 1.0 + 1e-9  # above the rounding errors of a loss
_BALANCES = ("weights", "masses", "counts")
_LAW = ("epsilon", "exponent", "least_mass", "mass_unit")


@dataclass(frozen=True, kw_only=True)
class Table(ABC):
    """Numbers that were computed for one lexicon; the mechanisms know what they mean."""

    fingerprint: str
    """The lexicon's."""

    kind: ClassVar[TableKind]
    """The folder below the user's, and the field of `Tables`."""
    shipped: ClassVar[str]
    """The name beside an embedded lexicon."""
    remedy: ClassVar[str] = ""
    """What to do about a file that cannot be read."""
    ending: ClassVar[str] = ""
    """How the name in the user's folder ends."""

    @property
    def file_name(self) -> str:
        """The name of the file or folder that keeps the table in the user's folder."""
        return f"{self.fingerprint}{self.ending}"

    @abstractmethod
    def write(self, path: Path) -> None:
        """Write the table; the file or folder appears once it is whole."""

    @classmethod
    @abstractmethod
    def read(cls, path: Path, fingerprint: str) -> Self | None:
        """Read a table, probably that of a lexicon; None if its content is not to be used.

        Arrays are mapped. Raises OSError, ValueError, KeyError or TypeError if it is none.
        """


@dataclass(frozen=True, kw_only=True)
class ExponentTable(Table):
    """L_γ(t), TEM's exact loss per unit of distance, for exponents t on one lexicon.

    It holds for its threshold γ alone: L_γ(t) can be above L(t) for every other threshold.
    """

    gamma: float = math.inf
    """The threshold of the audit."""
    epsilon: float | None = None
    """The only ε that the table is for; None if it is for all."""
    diameter: float
    """The largest distance between two words, at most γ."""
    exponents: tuple[float, ...]
    losses: tuple[float, ...]

    kind = "exponents"
    shipped = "exponents.json"
    ending = ".json"
    remedy = (
        "is not a table of exponents that this version reads: remove it, and run  malaprop "
        "lexicon audit  again"
    )

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

    @property
    def file_name(self) -> str:
        threshold = "" if self.gamma == math.inf else f"-{float(self.gamma)!r}"
        single = "" if self.epsilon is None else f"-e{float(self.epsilon)!r}"
        return f"{self.fingerprint}{threshold}{single}{self.ending}"

    def write(self, path: Path) -> None:
        # A version that does not know a limit does not read the format either.
        limits: dict[str, float | None] = {}
        if self.gamma < math.inf or self.epsilon is not None:
            limits["gamma"] = self.gamma if self.gamma < math.inf else None
        if self.epsilon is not None:
            limits["epsilon"] = self.epsilon
        about = {"fingerprint": self.fingerprint, "diameter": self.diameter}
        note = {"format": _FORMAT + len(limits)} | about | limits
        rates = zip(self.exponents, self.losses, strict=True)
        lines = ",\n".join(f"    [{t!r}, {loss!r}]" for t, loss in rates)
        head = json.dumps(note, indent=2).removesuffix("\n}")
        with atomic_write(path) as part:
            part.write_text(f'{head},\n  "losses": [\n{lines}\n  ]\n}}\n', encoding="utf-8")

    @classmethod
    def read(cls, path: Path, fingerprint: str) -> Self:
        note = untrusted.read_object(path)
        limits = note["format"] - _FORMAT
        # On any lexicon t ≤ L(t) ≤ 2t: a table that says otherwise is none.
        known = limits in (0, 1, 2) and all(
            0.0 < t <= loss <= 2.0 * t * _UP for t, loss in note["losses"]
        )
        exponents, losses = zip(*note["losses"] if known else (), strict=True)
        gamma = note["gamma"] if limits else None
        return cls(
            fingerprint=note["fingerprint"],
            gamma=math.inf if gamma is None else float(gamma),
            epsilon=float(note["epsilon"]) if limits == 2 else None,
            diameter=float(note["diameter"]),
            exponents=tuple(map(float, exponents)),
            losses=tuple(map(float, losses)),
        )


@dataclass(frozen=True, kw_only=True)
class BalanceTable(Table):
    """Weights that balance a word graph, for a list of ε, and its level counts.

    The fingerprint is that of the lexicon with its graph.
    """

    laws: tuple[dict[str, Any], ...]
    """For each ε: epsilon, exponent, spread, least_mass, mass_unit."""
    weights: NDArray[np.uint16]
    """ν of each law, a row each, in units of 2⁻¹⁶."""
    masses: NDArray[np.uint16]
    """Z of each law, a row each, above its least mass, in its mass unit."""
    counts: NDArray[np.integer[Any]]
    """How many words are on each level, from each word."""

    kind = "balances"
    shipped = "balance"
    remedy = "holds no balances that this version reads: run  malaprop lexicon graph NAME --force"

    @property
    def digest(self) -> str:
        """SHA-256 of all that the table says."""
        digest = hashlib.sha256(json.dumps([self.fingerprint, self.laws], sort_keys=True).encode())
        for array in (self.weights, self.masses, self.counts):
            digest.update(np.ascontiguousarray(array, array.dtype.newbyteorder("<")).data)
        return digest.hexdigest()

    def write(self, path: Path) -> None:
        note = {"format": _FORMAT, "fingerprint": self.fingerprint, "laws": list(self.laws)}
        write_folder(path, note, {name: getattr(self, name) for name in _BALANCES})

    @classmethod
    def read(cls, path: Path, fingerprint: str) -> Self:
        note, arrays = map_folder(path, _FORMAT, _BALANCES)
        laws = tuple(
            {"spread": bool(law["spread"])} | {name: float(law[name]) for name in _LAW}
            for law in note["laws"]
        )
        shape = (len(laws), len(arrays["counts"]))
        if arrays["counts"].ndim != 2 or arrays["counts"].dtype.kind != "u":
            raise ValueError("no counts")
        for name in ("weights", "masses"):
            if arrays[name].shape != shape or arrays[name].dtype != np.uint16:
                raise ValueError(f"no {name}")
        return cls(fingerprint=str(note["fingerprint"]), laws=laws, **arrays)


@dataclass(frozen=True, kw_only=True)
class NearestWords(Table):
    """The nearest words of each word: itself first, and last the one beyond the list.

    With them a law that falls with the distance is drawn from without the distances to all words:
    those listed are weighed, and none of the others is nearer than the last one.

    A nearer word that the list leaves out could not be drawn. So a file that was not verified is
    not used, and lexicons have one only where squared distances are exact, and hence the same on
    every machine.
    """

    listed: NDArray[np.integer[Any]]
    """Ids, a row for each word."""

    kind = "nearest"
    shipped = "nearest.npy"
    ending = ".npy"

    def of(self, ids: Ids, keys_of_pairs: KeysOfPairs) -> NearWords:
        """Return the nearest words of some words, with the keys of their distances."""
        listed = self.listed[ids].astype(np.int64)
        keys = keys_of_pairs(np.repeat(ids, listed.shape[1]), listed.ravel()).reshape(listed.shape)
        beyond = keys[:, -1]
        near = keys < beyond[:, None]

        def at(rows: Ids, words: Ids) -> Keys:
            return keys_of_pairs(ids[rows], words)

        return NearWords(near.sum(axis=1), listed[near], keys[near], beyond, at)

    def write(self, path: Path) -> None:
        with atomic_write(path) as part, part.open("wb") as file:
            np.save(file, self.listed, allow_pickle=False)

    @classmethod
    def read(cls, path: Path, fingerprint: str) -> Self | None:
        content = path.read_bytes()
        if hashlib.sha256(content).hexdigest() != _verified(cls, fingerprint):
            return None
        return cls(fingerprint=fingerprint, listed=np.load(BytesIO(content), allow_pickle=False))


@dataclass(frozen=True, kw_only=True)
class Tables:
    """What a lexicon carries; each table has the lexicon's fingerprint."""

    exponents: tuple[ExponentTable, ...] = ()
    """Those for all ε come first."""
    balances: BalanceTable | None = None
    nearest: NearestWords | None = None
    unreadable: tuple[tuple[TableKind, str], ...] = field(default=(), repr=False)
    """Files in the place of tables, and why each is refused: when it is needed, not before."""

    @property
    def all(self) -> tuple[Table, ...]:
        single = (self.balances, self.nearest)
        return (*self.exponents, *(table for table in single if table is not None))

    def check(self, kind: TableKind) -> None:
        """Raise a LexiconError if a file of this kind is damaged: fewer tables are another law."""
        for unreadable, reason in self.unreadable:
            if unreadable == kind:
                raise LexiconError(reason)

    def exponents_for(self, gamma: float, epsilon: float | None = None) -> list[ExponentTable]:
        """Return the tables that hold for γ: those for all ε, and those for this ε."""
        self.check("exponents")
        return [table for table in self.exponents if table.holds_for(gamma, epsilon)]


def tables_of(space: MetricSpace) -> Tables:
    """Return the tables that a metric space carries, if it can carry any."""
    tables = getattr(space, "tables", None)
    return tables if isinstance(tables, Tables) else Tables()


def _verified(kind: type[Table], fingerprint: str) -> str | None:
    return store.SHIPPED["tables"].get(fingerprint, {}).get(kind.shipped)


def balance_is_verified(table: BalanceTable) -> bool:
    """Tell whether a table is one that was shipped, to the last bit."""
    return _verified(BalanceTable, table.fingerprint) == table.digest


def keep(table: Table, folder: Path | None = None) -> Path:
    """Write a table into the user's folder, for lexicons that are opened from now on, or another.

    Return its file or folder.
    """
    path = (folder or store.home()) / table.kind / table.file_name
    table.write(path)
    return path


def kept_tables(fingerprint: str, folder: Path | None = None) -> Tables:
    """Return the tables that are shipped or kept for a lexicon, or those in another folder alone.

    Whoever owns the folder vouches for them. The user's own balances come before those of the
    package. Damaged files are noted, and refused when needed.
    """
    if not _FINGERPRINT.fullmatch(fingerprint):  # it may come from a stranger's file
        return Tables()
    found: list[Table] = []
    unreadable: list[tuple[TableKind, str]] = []
    for kind, path in _files(fingerprint, folder):
        try:
            table = kind.read(path, fingerprint)
        except (OSError, ValueError, KeyError, TypeError):
            unreadable.append((kind.kind, f"{path} {kind.remedy}"))
        else:
            # Somebody may have given a file the name of another lexicon's.
            found += [table] if table and table.fingerprint == fingerprint else []
    exponents = [table for table in found if isinstance(table, ExponentTable)]
    return Tables(
        # For all ε before for one, without a threshold before with one.
        exponents=tuple(
            sorted(exponents, key=lambda each: (each.epsilon or -math.inf, -each.gamma))
        ),
        balances=next((each for each in reversed(found) if isinstance(each, BalanceTable)), None),
        nearest=next((each for each in found if isinstance(each, NearestWords)), None),
        unreadable=tuple(unreadable),
    )


def _files(fingerprint: str, folder: Path | None) -> Iterator[tuple[type[Table], Path]]:
    """Yield the files of tables: without a folder the shipped ones first, then the user's."""
    for kind in (ExponentTable, BalanceTable, NearestWords):
        digest = _verified(kind, fingerprint)
        for lexicon in store.embedded().values() if digest and not folder else ():
            path = lexicon / kind.shipped
            # Balances are verified when they are used, and lists whenever they are read.
            verified_later = kind is not ExponentTable
            if path.exists() and (verified_later or store.digest_of(path) == digest):
                yield kind, path
        own = (folder or store.home()) / kind.kind
        paths = [own / f"{fingerprint}{kind.ending}", *own.glob(f"{fingerprint}-*{kind.ending}")]
        yield from ((kind, path) for path in paths if path.exists())

"""The tables that a lexicon can carry. They hold numbers; the mechanisms know what they mean."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from malaprop.core.arrays import Ids, Keys
from malaprop.core.errors import LexiconError
from malaprop.core.sampling.by_distance import NearWords
from malaprop.core.space import MetricSpace

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

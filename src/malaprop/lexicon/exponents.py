"""Audited exponents: how large TEM's exponent may be on a lexicon, verified once and kept.

    exponents.json   beside an embedded lexicon
    FINGERPRINT.json in the user's folder `exponents`, for others (`malaprop lexicon audit NAME`)

A table belongs to the lexicon whose fingerprint it has, and to no other.
"""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from malaprop.core.errors import LexiconError, OutputError
from malaprop.core.exponents import largest_exponent, loss_rates
from malaprop.core.loss import Progress
from malaprop.core.metrics import Custom
from malaprop.core.space import MetricSpace
from malaprop.lexicon import catalogue
from malaprop.lexicon.lexicon import Lexicon

FORMAT = 1
SHIPPED = "exponents.json"
_SMALL = 2_000  # words: the audit of so many takes a second
_UP = 1.0 + 1e-9  # above what rounding can take from the largest distance


@dataclass(frozen=True, kw_only=True)
class ExponentTable:
    """L(t), the exact loss per unit of distance, for exponents t on one lexicon (γ = ∞)."""

    fingerprint: str
    """The lexicon's."""
    diameter: float
    """The largest distance between two of its words."""
    exponents: tuple[float, ...]
    losses: tuple[float, ...]

    def largest(self, epsilon: float) -> float:
        """The largest exponent known to be ε·d-private; ε/2 always is.

        >>> table = ExponentTable(fingerprint="", diameter=9.0, exponents=(1, 2), losses=(1.4, 2.6))
        >>> table.largest(2.0), table.largest(2.6), table.largest(9.0)
        (1.0, 2.0, 4.5)
        """
        known = zip(self.exponents, self.losses, strict=True)
        return float(max([epsilon / 2.0, *(t for t, loss in known if loss <= epsilon)]))


def audited_exponent(
    lexicon: MetricSpace, epsilon: float, gamma: float | None
) -> tuple[float, float] | None:
    """The audited exponent and the threshold that it holds for, if they are at hand.

    Without a threshold (None) that is the largest distance of the lexicon.
    """
    if len(lexicon) <= _SMALL:
        distances = lexicon.distances(np.arange(len(lexicon)))
        limit = float(distances.max()) * _UP if gamma is None else gamma
        return largest_exponent(np.minimum(distances, limit), epsilon), limit
    table = table_of(lexicon)
    if table is None or (gamma is not None and gamma < table.diameter):
        return None
    return table.largest(epsilon), table.diameter * _UP if gamma is None else gamma


def build(lexicon: Lexicon, progress: Progress | None = None) -> ExponentTable:
    """Audit a lexicon: two passes over all distances."""
    if isinstance(lexicon.metric, Custom):
        raise LexiconError(
            "A lexicon with a function of your own for its metric has no fingerprint to keep an "
            "audit under: code can change. Use one of the named metrics, or exponent='half'."
        )
    rates = loss_rates(lexicon, progress)
    return ExponentTable(
        fingerprint=lexicon.fingerprint,
        diameter=rates.diameter,
        exponents=tuple(rates.exponents.tolist()),
        losses=tuple(np.nextafter(rates.losses, np.inf).tolist()),
    )


def table_of(lexicon: MetricSpace) -> ExponentTable | None:
    """The table that was shipped or kept for this very lexicon, if there is one."""
    if not isinstance(lexicon, Lexicon) or isinstance(lexicon.metric, Custom):
        return None
    shipped = [folder / SHIPPED for folder in catalogue.embedded().values()]
    for path in [*shipped, _kept(lexicon.fingerprint)]:
        table = _read(path) if path.is_file() else None
        if table is not None and table.fingerprint == lexicon.fingerprint:
            return table
    return None


def how_to_audit(lexicon: MetricSpace) -> str:
    """What to do for an audited exponent on a lexicon that has none for its threshold."""
    if table_of(lexicon) is not None:
        return "leave 'gamma' out, since the audit holds without a threshold"
    name = lexicon.name if isinstance(lexicon, Lexicon) and lexicon.name else "NAME"
    return f"run  malaprop lexicon audit {name}"


def keep(table: ExponentTable) -> Path:
    """Write a table into the user's folder, from where `table_of` takes it."""
    path = _kept(table.fingerprint)
    write(table, path)
    return path


def write(table: ExponentTable, path: Path) -> None:
    """Write a table; the file appears when it is whole."""
    pairs = list(zip(table.exponents, table.losses, strict=True))
    about = {"format": FORMAT, "fingerprint": table.fingerprint, "diameter": table.diameter}
    lines = ",\n".join(f"    [{t!r}, {loss!r}]" for t, loss in pairs)
    head = json.dumps(about, indent=2).removesuffix("\n}")
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(f'{head},\n  "losses": [\n{lines}\n  ]\n}}\n', encoding="utf-8")
        os.replace(part, path)
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror}") from None
    finally:
        part.unlink(missing_ok=True)


def _kept(fingerprint: str) -> Path:
    return catalogue.home() / "exponents" / f"{fingerprint}.json"


def _read(path: Path) -> ExponentTable:
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
        exponents, losses = zip(*about["losses"] if about["format"] == FORMAT else (), strict=True)
        return ExponentTable(
            fingerprint=about["fingerprint"],
            diameter=float(about["diameter"]),
            exponents=tuple(map(float, exponents)),
            losses=tuple(map(float, losses)),
        )
    except (OSError, ValueError, KeyError, TypeError):
        raise LexiconError(
            f"{path} is no table of exponents that this version reads: remove it, and run  "
            "malaprop lexicon audit  again"
        ) from None

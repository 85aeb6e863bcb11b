"""Audited exponents: how large TEM's exponent may be on a lexicon, verified once and kept.

    exponents.json         beside an embedded lexicon
    FINGERPRINT.json       in the user's folder `exponents` (`malaprop lexicon audit NAME`)
    FINGERPRINT-GAMMA.json beside it, for a threshold γ (`malaprop lexicon audit NAME --gamma G`)
    …-eEPSILON.json        beside either, for one ε (`malaprop lexicon audit NAME --epsilon E`)

A table belongs to the lexicon whose fingerprint it has and to its γ, and to no other: L_γ(t) can
be above L(t) for every other threshold. One that was made for one ε is used for that ε alone.
What comes with the package is used only as it was verified; the user's folder is the user's.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import secrets
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from malaprop.core.errors import LexiconError, OutputError, ParameterError
from malaprop.core.metrics.named import Custom
from malaprop.core.parameters import COMPUTABLE, is_computable
from malaprop.core.progress import Progress
from malaprop.core.space import MetricSpace
from malaprop.lexicon import catalogue
from malaprop.lexicon.formats import notes
from malaprop.lexicon.lexicon import Lexicon
from malaprop.mechanisms.tem.exponents import exponent_for, largest_exponent, loss_rates

FORMAT = 1
TRUNCATED = 2  # with a threshold: a version that knows none does not read it
SINGLE = 3  # for one ε, with a threshold or without
SHIPPED = "exponents.json"
VERIFIED = frozenset(
    {
        "cebdb08065168e4e51a99375a519e13e06ba535c3b8ae63d51d234f5b527c5f0",  # english
        "7133bb7e797a0fab90162e7ee63c5ebb04d23c6bb4fffe91c326bb24af2da0d4",  # english-hierarchy
    }
)
"""The SHA-256 of the tables of embedded lexicons."""
_SMALL = 2_000  # words: the audit of so many takes a second
_UP = 1.0 + 1e-9  # above what rounding can take from the largest distance


@dataclass(frozen=True, kw_only=True)
class ExponentTable:
    """L_γ(t), the exact loss per unit of distance, for exponents t on one lexicon."""

    fingerprint: str
    """The lexicon's."""
    gamma: float = math.inf
    """The threshold that it was audited with."""
    epsilon: float | None = None
    """The only ε that it is for; None if it is for all."""
    diameter: float
    """The largest distance between two of its words, at most γ."""
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

    def holds_for(self, fingerprint: str, gamma: float, epsilon: float | None = None) -> bool:
        """Whether it is about that lexicon and that ε, and min(d, γ) was its metric."""
        same = gamma >= self.diameter if self.gamma == math.inf else gamma == self.gamma
        return same and fingerprint == self.fingerprint and self.epsilon in (None, epsilon)

    def covers(self, epsilon: float) -> bool:
        """Whether an exponent for this ε was looked for, and not only for smaller or larger ones.

        >>> table = ExponentTable(fingerprint="", diameter=9.0, exponents=(1, 2), losses=(1.4, 2.6))
        >>> table.covers(2.0), table.covers(9.0)
        (True, False)
        """
        return min(self.losses) <= epsilon <= max(self.losses)


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
    tables = tables_for(lexicon, math.inf if gamma is None else gamma, epsilon)
    if not tables:
        return None
    limit = tables[0].diameter * _UP if gamma is None else gamma
    return max(table.largest(epsilon) for table in tables), limit


def build(
    lexicon: Lexicon, gamma: float = math.inf, progress: Progress | None = None
) -> ExponentTable:
    """Audit a lexicon with a threshold or without: two passes over all distances.

    A threshold that no distance reaches is none, and the table says so.
    """
    _check(lexicon, gamma)
    rates = loss_rates(lexicon, gamma, progress)
    return ExponentTable(
        fingerprint=lexicon.fingerprint,
        gamma=gamma if rates.diameter == gamma else math.inf,
        diameter=rates.diameter,
        exponents=tuple(rates.exponents.tolist()),
        losses=tuple(np.nextafter(rates.losses, np.inf).tolist()),
    )


def build_for(
    lexicon: Lexicon, epsilon: float, gamma: float = math.inf, progress: Progress | None = None
) -> ExponentTable:
    """Audit a lexicon for one ε alone, in less than half the time."""
    _check(lexicon, gamma)
    if not 0.0 < epsilon < math.inf:
        raise ParameterError(f"ε must be a number above 0, and finite. Got {epsilon}.")
    if not is_computable(epsilon):
        raise ParameterError(f"ε must be {COMPUTABLE}. Got {epsilon}.")
    exponent, diameter = exponent_for(lexicon, epsilon, gamma, progress)
    return ExponentTable(
        fingerprint=lexicon.fingerprint,
        gamma=gamma if diameter == gamma else math.inf,
        epsilon=float(epsilon),
        diameter=diameter,
        exponents=(exponent,),
        losses=(float(epsilon),),
    )


def _check(lexicon: Lexicon, gamma: float) -> None:
    """Refuse what cannot be audited."""
    if not gamma > 0.0:
        raise ParameterError(f"The threshold γ must be a number above 0. Got {gamma}.")
    if isinstance(lexicon.metric, Custom):
        raise LexiconError(
            "A lexicon with a function of your own for its metric has no fingerprint to keep an "
            "audit under: code can change. Use one of the named metrics, or exponent='half'."
        )


def table_of(lexicon: MetricSpace, gamma: float = math.inf) -> ExponentTable | None:
    """The table for all ε that was shipped or kept for this very lexicon and γ, if there is one."""
    return next(iter(tables_for(lexicon, gamma)), None)


def tables_for(
    lexicon: MetricSpace, gamma: float = math.inf, epsilon: float | None = None
) -> list[ExponentTable]:
    """The tables that were shipped or kept for this very lexicon and γ: for all ε, and for ε."""
    if not isinstance(lexicon, Lexicon) or isinstance(lexicon.metric, Custom):
        return []
    shipped = [folder / SHIPPED for folder in catalogue.embedded().values()]
    gammas = sorted({math.inf, gamma}, reverse=True)
    kept = [
        _kept(lexicon.fingerprint, at, of) for of in dict.fromkeys((None, epsilon)) for at in gammas
    ]
    paths = [*filter(_is_verified, shipped), *(path for path in kept if path.is_file())]
    found = map(_read, paths)
    return [each for each in found if each.holds_for(lexicon.fingerprint, gamma, epsilon)]


def _is_verified(path: Path) -> bool:
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() in VERIFIED


def how_to_audit(lexicon: MetricSpace, gamma: float | None) -> str:
    """What to do for an audited exponent on a lexicon that has none for its threshold."""
    run = _command(lexicon)
    if gamma is None or gamma == math.inf:
        return run + _known(lexicon, math.inf)
    other = ", or leave 'gamma' out" if table_of(lexicon) is not None else ""
    return f"{run} --gamma {float(gamma)!r}{_known(lexicon, gamma)}{other}"


def _known(lexicon: MetricSpace, gamma: float) -> str:
    """For which ε alone it was audited."""
    if not isinstance(lexicon, Lexicon):
        return ""
    name = _kept(lexicon.fingerprint, gamma, 0.0).name.removesuffix("0.0.json")
    paths = (catalogue.home() / "exponents").glob(f"{name}*.json")
    kept = sorted(float(path.name.removeprefix(name).removesuffix(".json")) for path in paths)
    known = ", ".join(f"{epsilon:g}" for epsilon in kept)
    return f" (add --epsilon for this ε alone; what was kept is for ε = {known})" if known else ""


def _command(lexicon: MetricSpace) -> str:
    if isinstance(lexicon, Lexicon) and lexicon.name and not lexicon.opened_as:
        # The name is that of the same words under another metric.
        return "save it by lexicon.save(FOLDER), and run  malaprop lexicon audit FOLDER"
    name = lexicon.opened_as if isinstance(lexicon, Lexicon) else ""
    return f"run  malaprop lexicon audit {name or 'NAME'}"


def keep(table: ExponentTable) -> Path:
    """Write a table into the user's folder, from where `table_of` takes it."""
    path = _kept(table.fingerprint, table.gamma, table.epsilon)
    write(table, path)
    return path


def write(table: ExponentTable, path: Path) -> None:
    """Write a table; the file appears when it is whole."""
    pairs = list(zip(table.exponents, table.losses, strict=True))
    about = {"format": FORMAT, "fingerprint": table.fingerprint, "diameter": table.diameter}
    gamma = table.gamma if table.gamma < math.inf else None
    if table.epsilon is not None:
        about |= {"format": SINGLE, "gamma": gamma, "epsilon": table.epsilon}
    elif gamma is not None:
        about |= {"format": TRUNCATED, "gamma": gamma}
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


def _kept(fingerprint: str, gamma: float = math.inf, epsilon: float | None = None) -> Path:
    threshold = "" if gamma == math.inf else f"-{float(gamma)!r}"
    single = "" if epsilon is None else f"-e{float(epsilon)!r}"
    return catalogue.home() / "exponents" / f"{fingerprint}{threshold}{single}.json"


def _read(path: Path) -> ExponentTable:
    try:
        about = notes.read(path)
        known = about["format"] in (FORMAT, TRUNCATED, SINGLE)
        # On any lexicon t ≤ L(t) ≤ 2t: a table that says otherwise is none.
        known = known and all(0.0 < t <= loss <= 2.0 * t * _UP for t, loss in about["losses"])
        exponents, losses = zip(*about["losses"] if known else (), strict=True)
        gamma = None if about["format"] == FORMAT else about["gamma"]
        return ExponentTable(
            fingerprint=about["fingerprint"],
            gamma=math.inf if gamma is None else float(gamma),
            epsilon=float(about["epsilon"]) if about["format"] == SINGLE else None,
            diameter=float(about["diameter"]),
            exponents=tuple(map(float, exponents)),
            losses=tuple(map(float, losses)),
        )
    except (OSError, ValueError, KeyError, TypeError):
        raise LexiconError(
            f"{path} is no table of exponents that this version reads: remove it, and run  "
            "malaprop lexicon audit  again"
        ) from None

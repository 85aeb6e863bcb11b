"""Files of audited exponents.

exponents.json         beside an embedded lexicon
FINGERPRINT.json       in the user's folder `exponents` (`malaprop lexicon audit NAME`)
FINGERPRINT-GAMMA.json beside it, for a threshold γ (`malaprop lexicon audit NAME --gamma G`)
…-eEPSILON.json        beside either, for one ε (`malaprop lexicon audit NAME --epsilon E`)
"""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path
from typing import Any

from malaprop.core.errors import LexiconError
from malaprop.lexicon.formats import json_files
from malaprop.lexicon.formats.replacing import replacing
from malaprop.lexicon.tables.values import ExponentTable

SHIPPED = "exponents.json"
VERIFIED = {
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
_FORMAT = 1
_TRUNCATED = 2  # with a threshold: a version that knows none does not read it
_SINGLE = 3  # for one ε, with a threshold or without
_UP = 1.0 + 1e-9  # above the rounding errors of a loss


def file_name(fingerprint: str, gamma: float = math.inf, epsilon: float | None = None) -> str:
    """Return the name of the file that keeps a table."""
    threshold = "" if gamma == math.inf else f"-{float(gamma)!r}"
    single = "" if epsilon is None else f"-e{float(epsilon)!r}"
    return f"{fingerprint}{threshold}{single}.json"


def is_verified(path: Path, fingerprint: str) -> bool:
    """Tell whether a file is the one that was verified for an embedded lexicon."""
    expected = VERIFIED.get(fingerprint)
    if expected is None or not path.is_file():
        return False
    return hashlib.sha256(path.read_bytes()).hexdigest() == expected


def write(table: ExponentTable, path: Path) -> None:
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
    with replacing(path) as part:
        part.write_text(f'{head},\n  "losses": [\n{lines}\n  ]\n}}\n', encoding="utf-8")


def read(path: Path) -> ExponentTable:
    """Read a table. Raise a LexiconError if the file holds none."""
    try:
        note = json_files.read_object(path)
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

"""Folders of balances.

    about.json     the fingerprint of the lexicon with its graph, and a list of laws
    weights.npy    ν of each law, in units of 2⁻¹⁶
    masses.npy     Z of each law, in units of its own
    counts.npy     how many words are on each level, from each word

The folder is `balance` beside an embedded lexicon, or `balances/FINGERPRINT` in the user's folder
(`malaprop lexicon graph NAME`).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from malaprop.core.errors import LexiconError
from malaprop.lexicon.formats import json_files, npy
from malaprop.lexicon.formats.replacing import replacing
from malaprop.lexicon.tables.values import BalanceTable

SHIPPED = "balance"
VERIFIED = {
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


def is_verified(table: BalanceTable) -> bool:
    """Tell whether a table is one that was shipped, to the last bit."""
    return VERIFIED.get(table.fingerprint) == table.digest


def write(table: BalanceTable, folder: Path) -> None:
    """Write a table into a folder of its own, which appears once it is whole."""
    note = {"format": _FORMAT, "fingerprint": table.fingerprint, "laws": list(table.laws)}
    with replacing(folder) as part:
        part.mkdir()
        for name in _ARRAYS:
            np.save(part / f"{name}.npy", getattr(table, name), allow_pickle=False)
        (part / _ABOUT).write_text(json.dumps(note, indent=1) + "\n", encoding="utf-8")


def read(folder: Path) -> BalanceTable:
    """Open a table; its arrays are mapped, not read. Raise a LexiconError if there is none."""
    try:
        note = json_files.read_object(folder / _ABOUT)
        json_files.check_format(note, _FORMAT)
        laws = tuple(_law(law) for law in note["laws"])
        arrays = {name: npy.mapped(folder / f"{name}.npy") for name in _ARRAYS}
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

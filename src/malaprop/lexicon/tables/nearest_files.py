"""Files of the nearest words of each word of an embedded lexicon.

    nearest.npy    ids, a row for each word: its nearest words, itself first, and last the next one

A nearer word that the list leaves out could not be drawn: so a file whose SHA-256 does not stand
here is not used, and lexicons have one only where squared distances are exact, and hence the same
on every machine.
"""

from __future__ import annotations

import hashlib
from io import BytesIO
from pathlib import Path

import numpy as np

from malaprop.lexicon.formats.replacing import replacing
from malaprop.lexicon.tables.values import NearestWords

SHIPPED = "nearest.npy"
VERIFIED = {
    # english
    "3fa330d030952a994390b2c37bdbede0c6ea47e0531450596b4d4ff42307c20d": (
        "42f3740641088cb9b3b4ead6b98aa0bf7c56ecc6aaac3169b0c9c014b6056760"
    ),
}
"""The SHA-256 of the file of each embedded lexicon, by the lexicon's fingerprint."""


def write(table: NearestWords, path: Path) -> None:
    """Write a table; the file appears once it is whole."""
    with replacing(path) as part, part.open("wb") as file:
        np.save(file, table.listed, allow_pickle=False)


def read_verified(path: Path, fingerprint: str) -> NearestWords | None:
    """Read the file that was verified for an embedded lexicon; any other is ignored."""
    expected = VERIFIED.get(fingerprint)
    if expected is None or not path.is_file():
        return None
    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != expected:
        return None
    listed = np.load(BytesIO(content), allow_pickle=False)
    return NearestWords(fingerprint=fingerprint, listed=listed)

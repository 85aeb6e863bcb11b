"""The nearest words of each word of an embedded lexicon, found once.

    nearest.npy    ids, a row for each word: its nearest words, itself first, and last the next one

With them a law that falls with the distance is drawn from without the distances to all words: those
that are listed are weighed, and none of the others is nearer than the last one. If one were, it
could not be drawn: so a file whose SHA-256 does not stand here is not used, and lexicons have one
only where squared distances are exact, and hence the same on every machine.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from malaprop.core.arrays import Ids, Keys
from malaprop.core.sampling.by_distance import NearWords
from malaprop.lexicon import catalogue

FILE = "nearest.npy"
VERIFIED = {
    # english
    "3fa330d030952a994390b2c37bdbede0c6ea47e0531450596b4d4ff42307c20d": (
        "42f3740641088cb9b3b4ead6b98aa0bf7c56ecc6aaac3169b0c9c014b6056760"
    ),
}
"""The SHA-256 of the file of each embedded lexicon, by the lexicon's fingerprint."""

Pairs = Callable[[Ids, Ids], Keys]
"""The keys of the distances between the first words and the second ones, pair by pair."""


class NearestWords:
    """The nearest words of each word of a lexicon."""

    def __init__(self, listed: NDArray[np.integer[Any]], pairs: Pairs) -> None:
        self._listed, self._pairs = listed, pairs

    def of(self, ids: Ids) -> NearWords:
        """Those of some words."""
        listed = self._listed[ids].astype(np.int64)
        own = np.repeat(ids, listed.shape[1])
        keys = self._pairs(own, listed.ravel()).reshape(listed.shape)
        beyond = keys[:, -1]
        near = keys < beyond[:, None]

        def at(rows: Ids, words: Ids) -> Keys:
            return self._pairs(ids[rows], words)

        return NearWords(near.sum(axis=1), listed[near], keys[near], beyond, at)


def find(fingerprint: str, pairs: Pairs) -> NearestWords | None:
    """The nearest words that are shipped for this very lexicon, if there are any."""
    for folder in catalogue.embedded().values() if fingerprint in VERIFIED else ():
        path = folder / FILE
        content = path.read_bytes() if path.is_file() else b""
        if hashlib.sha256(content).hexdigest() == VERIFIED[fingerprint]:
            return NearestWords(np.load(BytesIO(content), allow_pickle=False), pairs)
    return None

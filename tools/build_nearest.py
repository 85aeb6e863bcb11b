"""List the nearest words of an embedded lexicon, for draws that need no matrix product.

    python tools/build_nearest.py [NAME]

Writes src/malaprop/data/NAME/nearest.npy. Prints the entry to put into
src/malaprop/lexicon/shipped.toml once the tests have found that no nearer word is
missing.
"""

import hashlib
import sys

import numpy as np
from numpy.typing import NDArray

from malaprop.lexicon import store
from malaprop.lexicon.lexicon import Lexicon
from malaprop.lexicon.tables import NearestWords
from malaprop.privacy.arrays import blocks

LISTED = 33


def main(name: str) -> None:
    """List the nearest words of this lexicon."""
    lexicon, path = Lexicon.open(name), store.embedded()[name] / NearestWords.shipped
    table = NearestWords(fingerprint=lexicon.fingerprint, listed=nearest_words(lexicon))
    table.write(path)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    print(f'[tables.{table.fingerprint}] "{table.shipped}" = "{digest}"')


def nearest_words(lexicon: Lexicon) -> NDArray[np.uint16]:
    """Return the nearest words of each word, from all distances; ties are in order of ids."""
    size = len(lexicon)
    if size > 1 << 16:
        raise SystemExit(f"{size} words are more than 16 bits can number")
    listed = np.empty((size, LISTED), dtype=np.uint16)
    for block in blocks(size, row_cells=size):
        ids = np.arange(block.start, block.stop)
        for own, row in zip(ids, lexicon.keys(ids), strict=True):
            row[own] = -1.0
            last = np.partition(row, LISTED - 1)[LISTED - 1]
            close = np.flatnonzero(row <= last)
            listed[own] = close[np.argsort(row[close], kind="stable")][:LISTED]
    return listed


if __name__ == "__main__":
    main(*sys.argv[1:] or ["english"])

"""List the nearest words of an embedded lexicon, for draws that need no matrix product.

    python tools/build_nearest.py [NAME]

Writes src/malaprop/data/NAME/nearest.npy, and prints what belongs into `nearest.VERIFIED`.
"""

import hashlib
import sys

import numpy as np

from malaprop.lexicon import catalogue, nearest
from malaprop.lexicon.lexicon import Lexicon


def main(name: str) -> None:
    """List the nearest words of this lexicon."""
    lexicon, path = Lexicon.open(name), catalogue.embedded()[name] / nearest.FILE
    np.save(path, nearest.listed(lexicon.keys, len(lexicon)), allow_pickle=False)
    print(f'"{lexicon.fingerprint}": "{hashlib.sha256(path.read_bytes()).hexdigest()}"')


if __name__ == "__main__":
    main(*sys.argv[1:] or ["english"])

"""Hashes of texts, to notice that a model was trained on the texts that are attacked."""

import hashlib

import numpy as np

from malaprop.core.arrays import Ids
from malaprop.lexicon.bigrams.files import SKETCH
from malaprop.lexicon.bigrams.model import Counts

_SHORTEST = 5  # words: shorter texts are in many corpora


def text_hashes(ids: Ids, lengths: Ids) -> Counts:
    """Return a hash of each distinct text of at least five words, in rising order."""
    hashes = {
        int.from_bytes(hashlib.blake2b(words.tobytes(), digest_size=8).digest(), "little")
        for words in np.split(ids.astype("<i8"), np.cumsum(lengths)[:-1])
        if len(words) >= _SHORTEST
    }
    return np.array(sorted(hashes), dtype=np.uint64)


def sketch_of(hashes: Counts) -> Counts:
    """Return the smallest hashes: those of a sample of texts, the same for every corpus."""
    return np.unique(hashes)[:SKETCH]


def overlap(sketch: Counts, ids: Ids, lengths: Ids) -> float:
    """Estimate the share of texts that a corpus with this sketch has, too."""
    hashes = text_hashes(ids, lengths)
    if len(sketch) >= SKETCH:  # the sketch tells nothing of larger hashes
        hashes = hashes[hashes <= sketch[-1]]
    return float(np.isin(hashes, sketch).mean()) if len(hashes) else 0.0

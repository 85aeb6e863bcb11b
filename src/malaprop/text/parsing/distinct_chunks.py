"""Finds the distinct chunks of texts, so that what follows is done once for each of them.

A batch of a million characters has some 180,000 chunks, of which 25,000 are distinct. Arrow finds
them in a fifth of the time that a dictionary takes. But importing Arrow takes longer than a small
batch does, so it is imported for large ones only.
"""

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from malaprop.core.arrays import Ids
from malaprop.text.parsing.gluing import LINE, PADDED_LINE, chunks_of
from malaprop.text.spellings import CODEC

_MANY_LETTERS = 2**18  # from here on, importing Arrow is worth while
_SPACE = ord(" ")


class DistinctChunks(NamedTuple):
    """The distinct chunks of texts, which of them each chunk is, and how many a text has."""

    distinct: list[str]
    numbers: NDArray[np.integer]
    lengths: Ids


def distinct_chunks(texts: Sequence[str]) -> DistinctChunks:
    """Return the distinct chunks of texts, in the order in which they appear.

    >>> distinct_chunks(["to be or not to be", "or"])
    DistinctChunks(distinct=['to', 'be', 'or', 'not'], numbers=array([0, 1, 2, 3, 0, 1, 2]), \
lengths=array([6, 1]))
    """
    return (by_arrow if sum(map(len, texts)) >= _MANY_LETTERS else by_dictionary)(texts)


def by_dictionary(texts: Sequence[str]) -> DistinctChunks:
    """Find the distinct chunks of texts, fast if there are few."""
    chunks = list(map(chunks_of, texts))
    lengths = np.array(list(map(len, chunks)), dtype=np.int64)
    numbers = _Numbers()
    places = np.array(list(map(numbers.__getitem__, chain.from_iterable(chunks))), dtype=np.int64)
    return DistinctChunks(list(numbers), places, lengths)


class _Numbers(dict[str, int]):
    """Numbers strings in the order in which they appear."""

    def __missing__(self, chunk: str) -> int:
        number = self[chunk] = len(self)
        return number


def by_arrow(texts: Sequence[str]) -> DistinctChunks:
    """Find the distinct chunks of texts, fast if there are many. There must be a text."""
    import pyarrow as pa

    # A space ends each chunk, and stays part of it: so the distinct ones are parted by spaces, too.
    encoded = [text.replace(LINE, PADDED_LINE).encode(*CODEC) for text in texts]
    ended = b" ".join([*encoded, b""])
    ends = np.flatnonzero(np.frombuffer(ended, dtype=np.uint8) == _SPACE) + 1
    buffers = [None, pa.py_buffer(np.concatenate([[0], ends])), pa.py_buffer(ended)]
    chunks = pa.Array.from_buffers(pa.large_binary(), len(ends), buffers).dictionary_encode()
    _, bounds, content = chunks.dictionary.buffers()
    size = np.frombuffer(bounds, dtype=np.int64)[len(chunks.dictionary)]
    distinct = content[:size].to_pybytes().decode(*CODEC).split(" ")[:-1]
    # Arrow's own `to_numpy` would import pandas.
    numbers = np.frombuffer(chunks.indices.buffers()[1], dtype=np.int32)[: len(chunks)]
    text_ends = np.cumsum([len(text) + 1 for text in encoded])
    lengths = np.diff(np.searchsorted(ends, text_ends, side="right"), prepend=0)
    return DistinctChunks(distinct, numbers, lengths)

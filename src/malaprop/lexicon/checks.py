"""Check the words and the vectors that a lexicon is made of."""

import unicodedata
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from malaprop.core.errors import LexiconError


def checked_words(words: Iterable[str]) -> tuple[str, ...]:
    """Return the words, or refuse them: empty, repeated, or not writable on a line."""
    if isinstance(words, str):
        raise LexiconError("The words of a lexicon must be a list of words, not one string.")
    checked = tuple(words)
    if not checked:
        raise LexiconError("A lexicon needs at least one word. Got none.")
    for place, word in enumerate(checked):
        if not isinstance(word, str) or not word or not _writable(word):
            raise LexiconError(
                "The words of a lexicon must be non-empty strings of valid Unicode without line "
                f"breaks or control characters; word {place} is not."
            )
    if len(set(checked)) < len(checked):
        raise LexiconError(
            f"The words of a lexicon must be distinct; {len(checked) - len(set(checked))} of them "
            "occur again. `malaprop lexicon import` keeps the first of each."
        )
    return checked


def _writable(word: str) -> bool:
    """Tell whether a word can stand on a line of a UTF-8 file, and can be seen there."""
    seen = any(sign.isprintable() and not sign.isspace() for sign in word)
    return seen and not any(unicodedata.category(c) in {"Cc", "Cs", "Zl", "Zp"} for c in word)


def _as_float32(vectors: Any) -> NDArray[np.float32]:
    if np.iscomplexobj(vectors):  # numpy would drop the imaginary parts
        raise TypeError
    return np.array(vectors, dtype=np.float32, order="C")


def checked_vectors(vectors: Any, count: int) -> NDArray[np.float32]:
    """Return a read-only float32 matrix of `count` finite rows, or refuse the vectors."""
    with np.errstate(over="ignore"):  # what overflows is infinite, and refused below
        try:
            array = _as_float32(vectors)
        except (TypeError, ValueError):
            raise LexiconError(
                "The vectors of a lexicon must be a matrix of numbers, a row a word."
            ) from None
    if array.ndim != 2 or array.shape[1] == 0:
        raise LexiconError(
            f"The vectors of a lexicon must be a matrix, a row a word. Got shape {array.shape}; "
            "one-dimensional vectors are a column: array.reshape(-1, 1)."
        )
    if len(array) != count:
        raise LexiconError(f"A lexicon needs a row a word. Got {count} words, {len(array)} rows.")
    if not np.isfinite(array).all():
        row = int(np.argmin(np.isfinite(array).all(axis=1)))
        raise LexiconError(
            f"The vectors of a lexicon must be finite in float32; row {row} has NaN or infinity."
        )
    array.setflags(write=False)
    return array

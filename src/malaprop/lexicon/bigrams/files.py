"""Folders of bigram models.

    about.json     format, the digest of the words, what the counts were taken from
    unigrams.npy   how often each word occurs
    totals.npy     how often each word, and the start of a text, has a word after it
    offsets.npy    where the pairs of each first word begin
    nexts.npy      second words
    counts.npy     how often each pair occurs
    sketch.npy     the smallest hashes of the texts of the corpus

A folder can come from a stranger: arrays are mapped, never unpickled, and checked before use.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from malaprop.core.errors import LexiconError, OutputError
from malaprop.data import data_folder
from malaprop.lexicon.bigrams.model import BigramModel, words_digest
from malaprop.lexicon.formats import json_files, limits, npy
from malaprop.lexicon.formats.replacing import replacing
from malaprop.lexicon.formats.screening import CONTROL

if TYPE_CHECKING:
    from malaprop.lexicon.lexicon import Lexicon

SHIPPED = {
    # english
    "0de8acae831d3288e87b442136ccaf003324bb5879ca972b9324daad04a37cfd": (
        "english-bigrams",
        "278be8aa3020fe9cc6e804e7ef342578a99589e501414de11d19016243f3c1e7",
    ),
}
"""By the digest of a lexicon's words: the folder of the model that ships, and its fingerprint."""
PAIRS = 1 << 28
"""The most pairs in a model; web-scale lists have less than 1 % of that."""
SKETCH = 1024
"""The most hashes in a sketch."""
_DATA = data_folder()
_FORMAT = 1
_ABOUT = "about.json"
_ARRAYS = ("unigrams", "totals", "offsets", "nexts", "counts", "sketch")
_LONGEST_NOTE = 4096
_LARGEST = 1 << 62  # sums of counts fit 64 bits


def save_model(model: BigramModel, folder: str | os.PathLike[str], *, force: bool = False) -> None:
    """Write a model into a folder of its own, which appears once it is complete."""
    path = Path(folder)
    check_model_folder(path, force=force)
    note = {"format": _FORMAT, "words": model.words, "sources": dict(model.sources)}
    with replacing(path) as part:
        part.mkdir()
        for name in _ARRAYS:
            np.save(part / f"{name}.npy", getattr(model, name), allow_pickle=False)
        (part / _ABOUT).write_text(json.dumps(note, indent=1) + "\n", encoding="utf-8")


def check_model_folder(path: Path, *, force: bool) -> None:
    """Refuse to write a model where something is, unless it is a model that may be replaced.

    The folder that it is to be in must be there: none is created, as for other outputs.
    """
    if not path.parent.is_dir():
        raise OutputError(f"there is no folder {path.parent}: create it first")
    if not os.path.lexists(path):
        return
    if not (path / _ABOUT).is_file():
        raise OutputError(f"{path} is not a model, so it is not replaced: name another folder")
    if not force:
        raise OutputError(f"{path} already exists: name another folder, or use `force=True`")


def open_model(folder: str | os.PathLike[str]) -> BigramModel:
    """Open a model; its arrays are mapped. Raise a LexiconError if there is none."""
    path = Path(folder)
    try:
        note = json_files.read_object(path / _ABOUT)
        json_files.check_format(note, _FORMAT)
        sources = {_text(key): _text(value) for key, value in note["sources"].items()}
        arrays = {name: npy.mapped(path / f"{name}.npy") for name in _ARRAYS}
        _check(arrays)
        return BigramModel(words=_text(note["words"]), sources=sources, **arrays)
    except (ValueError, KeyError, TypeError, AttributeError, OSError):
        raise LexiconError(
            f"{path} holds no bigram model that this version reads: train one with "
            "malaprop lm train CORPUS -o MODEL"
        ) from None


def shipped_model(lexicon: Lexicon) -> BigramModel | None:
    """Return the model that ships for the words of a lexicon; None if there is none."""
    folder, fingerprint = SHIPPED.get(words_digest(lexicon.words), ("", ""))
    if not folder:
        return None
    model = open_model(_DATA / folder)
    if model.fingerprint != fingerprint:
        raise LexiconError(
            f"The bigrams of {lexicon.name or 'the lexicon'} are not those that ship with this "
            "version: install malaprop again"
        )
    return model


def _text(value: Any) -> str:
    if not isinstance(value, str) or len(value) > _LONGEST_NOTE or CONTROL.search(value):
        raise ValueError("no text that can be shown")
    return value


def _check(arrays: dict[str, NDArray[Any]]) -> None:
    """Raise a ValueError unless the arrays are counts that fit each other."""
    for array in arrays.values():
        if array.ndim != 1 or array.dtype.kind not in "iu":
            raise ValueError("no list of whole numbers")
    size, pairs = len(arrays["unigrams"]), len(arrays["nexts"])
    lengths = (len(arrays["totals"]), len(arrays["offsets"]), len(arrays["counts"]))
    if lengths != (size + 1, size + 2, pairs) or not 0 < size <= limits.WORDS or pairs > PAIRS:
        raise ValueError("lengths that do not fit")
    if len(arrays["sketch"]) > SKETCH:
        raise ValueError("too long a sketch")
    offsets = arrays["offsets"]
    if offsets[0] != 0 or offsets[-1] != pairs or (offsets[1:] < offsets[:-1]).any():
        raise ValueError("no offsets")
    for name, largest in (("nexts", size - 1), ("unigrams", _LARGEST), ("totals", _LARGEST)):
        _check_range(arrays[name], largest)
    _check_range(arrays["counts"], _LARGEST)
    firsts = np.repeat(np.arange(size + 1), np.diff(offsets.astype(np.int64)).astype(np.int64))
    sums = np.bincount(firsts, arrays["counts"].astype(np.float64), size + 1)
    if (sums > arrays["totals"].astype(np.float64) * (1.0 + 1e-9)).any():
        raise ValueError("more pairs than there are in total")


def _check_range(array: NDArray[Any], largest: int) -> None:
    if array.size and (int(array.min()) < 0 or int(array.max()) > largest):
        raise ValueError("a number out of range")

"""gensim's KeyedVectors, as their `save` writes them.

They are pickles, and a pickle can run any program. So the file is read twice: first by an
unpickler that knows only the classes which KeyedVectors consist of, then by gensim.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from malaprop.core.errors import LexiconError, MissingExtraError
from malaprop.lexicon.formats.repairs import Repairs
from malaprop.lexicon.formats.table import Block, Table, to_float32

BLOCK = 4096
_CLASSES = {
    "gensim.models.keyedvectors": {"KeyedVectors", "CompatVocab", "Vocab"},
    "gensim.models.fasttext": {"FastTextKeyedVectors"},
    "numpy": {"ndarray", "dtype", "float32", "float64"},
    "numpy.core.multiarray": {"_reconstruct", "scalar"},
    "numpy._core.multiarray": {"_reconstruct", "scalar"},
    "numpy.core.numeric": {"_frombuffer"},
    "numpy._core.numeric": {"_frombuffer"},
}


class _HarmlessUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if name not in _CLASSES.get(module, ()):
            raise pickle.UnpicklingError(module)
        return super().find_class(module, name)


def table(path: Path, repairs: Repairs) -> Table:
    """Open what `KeyedVectors.save` wrote; large arrays lie in files beside it."""
    try:
        from gensim.models import KeyedVectors
    except ImportError:
        raise MissingExtraError(
            package="gensim", extra="gensim", purpose="Reading gensim's KeyedVectors"
        ) from None
    _check_harmless(path)
    try:
        keyed = KeyedVectors.load(str(path), mmap="r")
        words, vectors = list(keyed.index_to_key), keyed.vectors
    except (AttributeError, OSError, ValueError, EOFError):
        raise LexiconError(
            f"{path.name} cannot be loaded by this version of gensim, or a file beside it is "
            "missing: write the vectors with save_word2vec_format"
        ) from None
    if vectors.shape[:1] != (len(words),) or vectors.ndim != 2:
        raise LexiconError(f"{path.name} has {len(words):,} words for an array of {vectors.shape}")
    beside = sorted(path.parent.glob(f"{path.name}.*.npy"))
    return Table(vectors.shape[1], len(words), _blocks(words, vectors), repairs, (path, *beside))


def _check_harmless(path: Path) -> None:
    try:
        with path.open("rb") as file:
            _HarmlessUnpickler(file, encoding="latin1").load()
    except Exception:  # a hostile or broken pickle can raise anything
        raise LexiconError(
            f"{path.name} is a pickle of something else than KeyedVectors, or damaged; it was not "
            "run. A whole model has them as its wv: save them with model.wv.save"
        ) from None


def _blocks(words: list[Any], vectors: NDArray[np.floating[Any]]) -> Iterator[Block]:
    for start in range(0, len(words), BLOCK):
        stop = min(start + BLOCK, len(words))
        # Keys can be numbers in gensim; a lexicon's words are text.
        block = [str(word) for word in words[start:stop]]
        yield Block(range(start + 1, stop + 1), block, to_float32(vectors[start:stop]), stop)

"""gensim's KeyedVectors and models, as written by their `save`, read without gensim.

They are pickles, and a pickle can run any program. This module reads it as plain data (see
`pickles`), looks only at the list of words and the array of vectors, and checks their types and
sizes. gensim puts a large array into a file of its own, whose name it derives from the pickle's.
No other file is opened, whatever the pickle says.
"""

from __future__ import annotations

from collections.abc import Iterator
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from malaprop.core.errors import LexiconError
from malaprop.lexicon.formats import limits, pickles
from malaprop.lexicon.formats.arrays import mapped_matrix
from malaprop.lexicon.formats.numpy_pickles import matrix, scalar
from malaprop.lexicon.formats.pickles import Inert, Pairs, PickleError
from malaprop.lexicon.formats.repairs import Repairs
from malaprop.lexicon.formats.vector_file import RowBlock, VectorFile, to_float32

BLOCK = 4096
_WORDS = ("index_to_key", "index2word", "index2entity")  # by gensim 4, 1 to 3, and 3
_VECTORS = ("vectors", "syn0")


class _Saved(NamedTuple):
    """The content of a pickle: its class, its words, and its vectors unless they lie elsewhere."""

    class_name: str
    stem: str
    words: list[Any]
    vectors: NDArray[Any] | None


def open_keyed_vectors(path: Path, repairs: Repairs) -> VectorFile:
    """Open a file written by `save`."""
    try:
        with path.open("rb") as file:
            # It stays open as long as an array refers to it.
            content = mmap(file.fileno(), 0, access=ACCESS_READ)
        saved = _saved(pickles.load(content), content)
        words = _words(saved.words, content, path.name)
    except OSError as error:
        raise LexiconError(f"{path.name} cannot be read: {error.strerror}") from None
    except ValueError:
        raise LexiconError(
            f"{path.name} is a damaged pickle, or not one of gensim's vectors; it was not run. "
            "Export the vectors with save_word2vec_format"
        ) from None
    beside = [_beside(path, saved)] if saved.vectors is None else []
    vectors = mapped_matrix(beside[0]) if saved.vectors is None else saved.vectors
    if vectors.ndim != 2 or 0 in vectors.shape or len(vectors) != len(words):
        raise LexiconError(f"{path.name} has {len(words):,} words, but an array of {vectors.shape}")
    limits.check_dimension(vectors.shape[1], path.name)
    return VectorFile(
        vectors.shape[1], len(words), _blocks(words, vectors), repairs, (path, *beside)
    )


def _saved(root: Any, content: mmap) -> _Saved:
    stem = ""
    attributes = _attributes(root)
    if isinstance(inner := attributes.get("wv"), Inert):  # a whole model
        root, stem = inner, ".wv"
        attributes = _attributes(inner)
    words = _first(attributes, _WORDS)
    if type(words) is not list:
        raise PickleError("no words")
    array = _first(attributes, _VECTORS)
    return _Saved(root.name, stem, words, None if array is None else matrix(array, content))


def _first(attributes: Pairs, names: tuple[str, ...]) -> Any:
    """Return the first of these attributes that is there, or None."""
    values = (attributes.get(name) for name in names)
    return next((value for value in values if value is not None), None)


def _attributes(saved: Any) -> Pairs:
    if not isinstance(saved, Inert) or not isinstance(saved.state, Pairs):
        raise PickleError("not an object with attributes")
    return saved.state


def _beside(path: Path, saved: _Saved) -> Path:
    """Find the array that gensim wrote into a file of its own."""
    for name in _VECTORS:
        beside = path.with_name(f"{path.name}{saved.stem}.{name}.npy")
        if beside.is_file():
            return beside
    if saved.class_name.endswith("FastTextKeyedVectors"):
        raise LexiconError(
            f"{path.name} has vectors of subwords, from which gensim computes those of words. "
            "Export the latter with wv.save_word2vec_format"
        )
    raise LexiconError(
        f"{path.name} has no vectors, and the file that should hold them is missing: put "
        f"{path.name}{saved.stem}.{_VECTORS[0]}.npy beside it"
    )


def _words(keys: list[Any], content: mmap, name: str) -> list[str]:
    """Return keys as strings. gensim also allows numbers, and numpy's strings.

    A pickle can refer to one key a million times. The key is decoded once, but its letters count
    each time.
    """
    decoded: dict[int, str] = {}
    words, characters = [], 0
    for key in keys:
        word = key if isinstance(key, str) else decoded.get(id(key))
        if word is None:
            word = str(key) if type(key) is int else scalar(key, content)
            decoded[id(key)] = word
        words.append(word)
        characters += len(word)
    limits.check_words(len(words), characters, name)
    return words


def _blocks(words: list[str], vectors: NDArray[np.floating[Any]]) -> Iterator[RowBlock]:
    for start in range(0, len(words), BLOCK):
        stop = min(start + BLOCK, len(words))
        rows = to_float32(vectors[start:stop])
        yield RowBlock(range(start + 1, stop + 1), words[start:stop], rows, stop)

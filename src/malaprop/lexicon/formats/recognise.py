"""Tell what kind of file a lexicon comes in: by its content first, by its suffix second."""

from __future__ import annotations

from enum import Enum, auto
from pathlib import Path

from malaprop.core.errors import LexiconError
from malaprop.lexicon.formats.streams import opened
from malaprop.lexicon.formats.text import HEAD, layout


class Format(Enum):
    """The families of files that can be read."""

    TEXT = auto()
    WORD2VEC = auto()
    NPY = auto()
    SAFETENSORS = auto()
    KEYED_VECTORS = auto()


_SUFFIXES = {
    ".npy": Format.NPY,
    ".safetensors": Format.SAFETENSORS,
    ".kv": Format.KEYED_VECTORS,
}


def recognise(path: Path) -> Format:
    """Return the format of a file. Raises LexiconError if it is none, or if it is empty."""
    with opened(path) as stream:
        head = stream.content.read(HEAD)
        compressed = stream.compressed
    if not head.strip():
        raise LexiconError(f"{path.name} is empty: a lexicon has at least one word")
    found = _by_magic(head) or _by_rows(head, path) or _SUFFIXES.get(path.suffix.lower())
    if found is None:
        raise LexiconError(
            f"{path.name} is in no form that can be read: GloVe, word2vec or fastText text, "
            "word2vec binary, gensim's KeyedVectors, or .npy or .safetensors with a vocabulary"
        )
    if compressed and found not in (Format.TEXT, Format.WORD2VEC):
        raise LexiconError(f"{path.name} is compressed, which only text may be: unpack it first")
    return found


def _by_magic(head: bytes) -> Format | None:
    if head.startswith(b"\x93NUMPY"):
        return Format.NPY
    if head[:1] == b"\x80" and head[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"):
        return Format.KEYED_VECTORS
    # A length of up to 100 MB (the format's own limit), then a JSON object.
    if head[8:9] == b"{" and int.from_bytes(head[:8], "little") <= 100_000_000:
        return Format.SAFETENSORS
    return None


def _by_rows(head: bytes, path: Path) -> Format | None:
    found = layout(head)
    if found.header is not None and (
        found.dimension == 0 or (b"\0" in head and path.suffix.lower() == ".bin")
    ):
        return Format.WORD2VEC
    return Format.TEXT if found.dimension else None

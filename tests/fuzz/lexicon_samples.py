"""Sound files of every form that a lexicon comes in, and how they are damaged."""

import gzip
import io
import random
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from safetensors.numpy import save as save_safetensors
from tests.fuzz.mutations import mutated

from malaprop import Lexicon

WORDS = ("the", "naïve", "catch22", "NA", "7", "nan", "東京")
VECTORS = np.random.default_rng(7).normal(size=(len(WORDS), 3)).astype(np.float32)
VOCABULARY = "\n".join(WORDS).encode() + b"\n"

Files = dict[str, bytes]


@dataclass(frozen=True)
class Sample:
    """The files of a lexicon, of which the first is the one to open; `.` opens their folder."""

    opened: str
    files: Files


def samples(folder: Path) -> dict[str, Sample]:
    """Make a sound sample of each form; the store writes its own into `folder`."""
    text = _text(b"\n")
    with_header = b"7 3\n" + text
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("a.txt", with_header)
    matrix = io.BytesIO()
    np.save(matrix, VECTORS)
    tensors = save_safetensors({"embeddings": VECTORS})
    plain = {
        "glove text": ("a.txt", text),
        "word2vec text": ("a.txt", with_header),
        "fastText .vec": ("a.vec", b"7 3\n" + _text(b" \n")),
        "glove .gz": ("a.txt.gz", gzip.compress(text, mtime=0)),
        "word2vec .zip": ("a.zip", archive.getvalue()),
        "word2vec binary": ("a.bin", _binary()),
        "word2vec binary .gz": ("a.bin.gz", gzip.compress(_binary(), mtime=0)),
    }
    with_words = {
        "npy": ("a.npy", matrix.getvalue()),
        "safetensors": ("a.safetensors", tensors),
    }
    found = {form: Sample(name, {name: data}) for form, (name, data) in plain.items()}
    for form, (name, data) in with_words.items():
        found[form] = Sample(name, {name: data, "words.txt": VOCABULARY})
    added = ("Metformin", "the", "febrile", "two words", "500mg", "ＳＴＥＮＴ")
    found["list of words"] = Sample("a.list", {"a.list": "\r\n".join(added).encode()})
    return found | _compiled(folder)


def _text(end: bytes) -> bytes:
    rows = zip(WORDS, VECTORS, strict=True)
    return b"".join(
        " ".join([word, *(repr(float(x)) for x in vector)]).encode() + end for word, vector in rows
    )


def _binary() -> bytes:
    rows = zip(WORDS, VECTORS, strict=True)
    return b"7 3\n" + b"".join(word.encode() + b" " + v.tobytes() + b"\n" for word, v in rows)


def _compiled(folder: Path) -> dict[str, Sample]:
    lexicon = Lexicon(WORDS, VECTORS)
    edges = [(word, WORDS[0]) for word in WORDS[1:]]
    lexicon.save(folder / "compiled", force=True)
    lexicon.with_graph(edges=edges, cutoff=4.0).save(folder / "graph", force=True)
    names = ("words.txt", "vectors.npy", "lexicon.json")
    return {
        "compiled folder": _of_folder(folder / "compiled", ".", *names),
        "compiled with a graph": _of_folder(folder / "graph", ".", *names, "graph.npz"),
    }


def _of_folder(folder: Path, opened: str, *names: str) -> Sample:
    every = names if opened == "." else (opened, *names)
    return Sample(opened, {name: (folder / name).read_bytes() for name in every})


def damaged(sample: Sample, choices: random.Random) -> Files:
    """Damage one file of a sample, or all of them."""
    names = list(sample.files)
    chosen = names if choices.random() < 0.1 else [choices.choice(names)]
    return {
        name: _damaged(data, choices) if name in chosen else data
        for name, data in sample.files.items()
    }


def _damaged(data: bytes, choices: random.Random) -> bytes:
    """Damage a file as bytes, or in a way that keeps its outer form."""
    if choices.random() < 0.4:
        return mutated(data, choices)
    if data.startswith(b"\x1f\x8b"):
        return gzip.compress(_inner(gzip.decompress(data), choices), mtime=0)
    if data.startswith(b"PK\x03\x04"):
        return _rezipped(data, choices)
    return _inner(data, choices)


def _inner(data: bytes, choices: random.Random) -> bytes:
    if choices.random() < 0.3:
        return _spliced(data, choices)
    return mutated(data, choices)


def _rezipped(data: bytes, choices: random.Random) -> bytes:
    """Damage the members of an archive, and pack them again with sums that are right."""
    target = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(data)) as old,
        zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for name in old.namelist():
            content = old.read(name)
            new.writestr(name, _inner(content, choices) if choices.random() < 0.5 else content)
    return target.getvalue()


_LONG = (b"x", b"1 ", b"\n", b" ", b"\0", b"[", b"9", b"-", b"(", "東".encode())


def _spliced(data: bytes, choices: random.Random) -> bytes:
    """Put a long run of one thing somewhere."""
    place = choices.randint(0, len(data))
    return data[:place] + choices.choice(_LONG) * choices.randint(1, 200_000) + data[place:]

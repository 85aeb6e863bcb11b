"""Sound files of every form that a lexicon comes in, and how they are damaged."""

import gzip
import io
import pickle
import pickletools
import random
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from gensim.models import KeyedVectors, Word2Vec
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
    """Make a sound sample of each form; gensim and the store write theirs into `folder`."""
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
    return found | _gensim(folder) | _compiled(folder)


def _text(end: bytes) -> bytes:
    rows = zip(WORDS, VECTORS, strict=True)
    return b"".join(
        " ".join([word, *(repr(float(x)) for x in vector)]).encode() + end for word, vector in rows
    )


def _binary() -> bytes:
    rows = zip(WORDS, VECTORS, strict=True)
    return b"7 3\n" + b"".join(word.encode() + b" " + v.tobytes() + b"\n" for word, v in rows)


def _gensim(folder: Path) -> dict[str, Sample]:
    keyed = KeyedVectors(3)
    keyed.add_vectors(list(WORDS), VECTORS)
    keyed.lifecycle_events = None  # dates and paths, which differ from run to run
    keyed.save(str(folder / "whole.kv"))
    keyed.save(str(folder / "apart.kv"), separately=["vectors"])
    model = Word2Vec([list(WORDS)], vector_size=3, min_count=1, workers=1, seed=1)
    model.lifecycle_events = None
    model.save(str(folder / "a.model"))
    newest = pickle.dumps(keyed, protocol=5)
    old = pickle.dumps(keyed, protocol=2)
    return {
        "gensim .kv": _of_folder(folder, "whole.kv"),
        "gensim .kv and .npy": _of_folder(folder, "apart.kv", "apart.kv.vectors.npy"),
        "gensim .model": _of_folder(folder, "a.model"),
        "gensim, protocol 2": Sample("a.kv", {"a.kv": old}),
        "gensim, protocol 5": Sample("a.kv", {"a.kv": newest}),
    }


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
    if data.startswith(b"\x80"):
        return _other_operations(data, choices)
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


HOSTILE = (
    b"cos\nsystem\n",
    b"cos\nmkdir\n",
    b"cposix\nsystem\nX\x04\x00\x00\x00harm\x85R",
    b"cbuiltins\neval\nX\x01\x00\x00\x001\x85R",
    b"cnumpy\ndtype\nX\x01\x00\x00\x00O\x85R",
    b"cnumpy\nndarray\n",
    b"X\x09\x00\x00\x00os.system",
    b"X\x0d\x00\x00\x00../../harm.kv",
    b"X\x02\x00\x00\x00O8",
    b"X\x08\x00\x00\x00__scipys]X\x04\x00\x00\x00harmas",
    *(b"K\xff", b"J\xff\xff\xff\xff", b"\x8a\x08" + b"\xff" * 7 + b"\x7f", b"\x8a\xff"),
    *(b"\x8b\xff\xff\xff\x7f", b"\x8e" + b"\xff" * 8, b"\x96" + b"\xff" * 7 + b"\x7f"),
    *(b"\x82\x01", b"\x84\xff\xff\xff\xff", b"Pharm\n", b"Q", b"\x97", b"\x98", b"2", b"0", b"1"),
    *(b"(", b")", b"]", b"}", b"N", b"\x88", b"R", b"b", b"\x81", b"\x92", b"\x93", b"t", b"e"),
    *(b"u", b"s", b"a", b"\x94", b"h\x00", b"h\xff", b"j\xff\xff\xff\xff", b"r\xff\xff\xff\xff"),
    *(b"q\x00", b".", b"\x80\x05", b"I" + b"9" * 5000 + b"\n", b"L" + b"9" * 5000 + b"L\n"),
)
"""Operations of pickles that ask for what must not be done."""


def _operations(data: bytes) -> list[bytes]:
    places = [place or 0 for _, _, place in pickletools.genops(data)] + [len(data)]
    cut = [data[a:b] for a, b in pairwise(places)]
    return [operation for operation in cut if operation[:1] != b"\x95"]  # frames say lengths


def _other_operations(data: bytes, choices: random.Random) -> bytes:
    """Change the operations of a pickle one by one, each as a whole."""
    operations = _operations(data)
    for _ in range(choices.randint(1, 4)):
        choices.choice(_CHANGES)(operations, choices.randrange(len(operations)), choices)
        operations = operations or [b"."]
    return b"".join(operations)


def _remove(operations: list[bytes], place: int, _: random.Random) -> None:
    del operations[place]


def _repeat(operations: list[bytes], place: int, choices: random.Random) -> None:
    count = choices.choice((1, 1, 2, 100, 10_000))
    operations[place:place] = operations[place : place + 1] * count


def _swap(operations: list[bytes], place: int, choices: random.Random) -> None:
    other = choices.randrange(len(operations))
    operations[place], operations[other] = operations[other], operations[place]


def _replace(operations: list[bytes], place: int, choices: random.Random) -> None:
    operations[place] = choices.choice(operations)


def _harm(operations: list[bytes], place: int, choices: random.Random) -> None:
    operations[place : place + choices.randint(0, 1)] = [choices.choice(HOSTILE)]


def _other_code(operations: list[bytes], place: int, choices: random.Random) -> None:
    operations[place] = bytes([choices.randrange(256)]) + operations[place][1:]


def _other_length(operations: list[bytes], place: int, choices: random.Random) -> None:
    operation = operations[place]
    if len(operation) > 1:
        operations[place] = operation[:1] + choices.randbytes(1) + operation[2:]


_CHANGES: tuple[Callable[[list[bytes], int, random.Random], None], ...] = (
    *(_remove, _repeat, _swap, _replace, _harm, _harm, _other_code, _other_length),
)  # fmt: skip

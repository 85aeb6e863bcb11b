"""How many names `redraw` finds and hides, how much else it takes for names, and how fast it is.

    python benchmarks/people.py --origins              names of many origins, made by faker
    python benchmarks/people.py --texts FILE ...       texts, one a line: what is redrawn, and speed
    python benchmarks/people.py --texts FILE --sample 150     also show some of that, to be judged
    python benchmarks/people.py --templates FILE --names FILE     names in running text
    python benchmarks/people.py --survivors --names FILE          what stays of names and codes
    python benchmarks/people.py --templates FILE --names FILE --model FOLDER  and a detector
    python benchmarks/people.py --accuracy             classifiers that learn from private texts

It needs the package `faker` for the first and the third to fifth, and for these the files
`templates.txt` and `FakeNameGenerator.com_3000.csv` that presidio-evaluator 0.3.2 carries; and
scikit-learn and the data sets mr, trec and disaster-tweets for the last. docs/howto/people.md
has the figures, and where the texts are from.
"""

from __future__ import annotations

import argparse
import csv
import random
import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from malaprop import Privatizer, seeded_rng
from malaprop.lab import datasets
from malaprop.text.people import CLASSES, People
from malaprop.text.tokens import tokenize

if TYPE_CHECKING:
    from faker import Faker

ORIGINS = {
    "United States, Britain, Australia": ("en_US", "en_GB", "en_AU"),
    "Ireland": ("en_IE", "ga_IE"),
    "Spain, Mexico, Argentina": ("es_ES", "es_MX", "es_AR"),
    "Portugal, Brazil": ("pt_PT", "pt_BR"),
    "France": ("fr_FR",),
    "Italy": ("it_IT",),
    "Germany, Austria": ("de_DE", "de_AT"),
    "Netherlands": ("nl_NL",),
    "Sweden, Norway, Denmark": ("sv_SE", "no_NO", "da_DK"),
    "Finland, Estonia": ("fi_FI", "et_EE"),
    "Poland, Czechia, Slovakia": ("pl_PL", "cs_CZ", "sk_SK"),
    "Croatia, Slovenia": ("hr_HR", "sl_SI"),
    "Hungary, Romania": ("hu_HU", "ro_RO"),
    "Lithuania, Latvia": ("lt_LT", "lv_LV"),
    "Turkey": ("tr_TR",),
    "India, Pakistan": ("en_IN", "en_PK"),
    "China, Japan (in Latin letters)": ("zh_CN", "ja_JP"),
    "Vietnam, Indonesia, Philippines": ("vi_VN", "id_ID", "fil_PH"),
    "Nigeria, Ghana, Kenya": ("yo_NG", "ig_NG", "ha_NG", "tw_GH", "en_KE"),
    "South Africa (Zulu)": ("zu_ZA",),
}
NAMES = 600
SENTENCES = ("we met {} again", "{} was seen again")


def main() -> None:
    """Print what was asked for."""
    parser = argparse.ArgumentParser(description="Measure the redrawing of names.")
    parser.add_argument("--origins", action="store_true", help="names of many origins")
    parser.add_argument("--texts", type=Path, nargs="*", default=[], help="texts, one a line")
    parser.add_argument("--sample", type=int, default=0, help="how many redrawn places to show")
    parser.add_argument("--templates", type=Path, help="sentences with places for names")
    parser.add_argument("--names", type=Path, help="a table of names of many origins")
    parser.add_argument("--model", help="a model of spaCy, for a detector in sentences")
    parser.add_argument("--survivors", action="store_true", help="what stays of names and codes")
    parser.add_argument("--accuracy", action="store_true", help="classifiers, with and without")
    chosen = parser.parse_args()
    if chosen.origins:
        origins()
    if chosen.model:
        with_detector(chosen.templates, chosen.names, chosen.model)
    elif chosen.templates:
        running_text(chosen.templates, chosen.names)
    if chosen.survivors:
        survivors(chosen.names)
    if chosen.accuracy:
        accuracy()
    for path in chosen.texts:
        redrawn(path.read_text("utf-8").splitlines(), chosen.sample)


def origins() -> None:
    """Print which share of the parts of names is found, and which stays in a private text."""
    plain, redrawn = Privatizer(epsilon=1.5), Privatizer(epsilon=1.5, redraw="names")
    for origin, locales in ORIGINS.items():
        names = list(made_up(locales))
        parts = [part for name in names for part in parts_of(name)]
        shares = [
            sum(len(found_in(sentence.format(name))) for name in names) / len(parts)
            for sentence in SENTENCES
        ]
        texts = [SENTENCES[0].format(name) for name in names]
        stays = [
            sum(
                part.lower() in map(str.lower, tokenize(output))
                for name, output in zip(names, private.texts(texts), strict=True)
                for part in parts_of(name)
            )
            / len(parts)
            for private in (plain, redrawn)
        ]
        row = (f"{min(share, 1.0):.0%}" for share in (*shares, *stays))
        print(f"| {origin} | {' | '.join(row)} |")


def parts_of(name: str) -> list[str]:
    """Return the parts of a name that have a capital."""
    return [part for part in tokenize(name) if part[0].isupper() and len(part) > 1]


def made_up(locales: Sequence[str]) -> Iterator[str]:
    """Yield given names with surnames."""
    from faker import Faker

    for locale in locales:
        maker = Faker(locale)
        maker.seed_instance(20)
        for _ in range(NAMES // len(locales)):
            if locale in ("zh_CN", "ja_JP"):
                yield maker.romanized_name()
            else:
                yield f"{maker.first_name()} {maker.last_name()}"


def found_in(text: str) -> list[str]:
    """Return the names and places of a text as they are written, with what is around them."""
    tokens, people, places = tokenize(text), People(CLASSES), list[str]()
    found = iter(people.find(tokens)[0])
    place = 0
    for each in found:
        if isinstance(each, str):
            place += 1
            continue
        # It ends where the rest of the text is found again without it.
        after = place + 1
        while people.find(tokens[place:after], " ")[0] != [each] and after < len(tokens):
            after += 1
        before, behind = tokens[max(0, place - 8) : place], tokens[after : after + 8]
        places.append(f"{''.join(before)}[[{''.join(tokens[place:after])}]]{''.join(behind)}")
        place = after
    return places


def redrawn(texts: Sequence[str], sample: int) -> None:
    """Print how much of texts is redrawn, and at which speed; show some of it."""
    words = sum(token[0].isalpha() for text in texts for token in tokenize(text))
    found = [place for text in texts for place in found_in(text)]
    print(
        f"{len(texts):,} texts, {words:,} words, {len(found) / words * 1e4:.0f} in 10,000 redrawn"
    )
    for place in random.Random(2).sample(found, min(sample, len(found))):  # noqa: S311
        print(f"  {place}")
    letters = sum(map(len, texts))
    for options in ({}, {"redraw": "people"}):
        private = Privatizer(epsilon=1.5, **options)  # type: ignore[arg-type]
        private.texts(texts[: len(texts) // 4])
        start = time.process_time()
        private.texts(texts)
        speed = letters / (time.process_time() - start) / 1e6
        print(f"{options}: {speed:.2f} million characters per second of CPU time")


_PLACE = re.compile(r"\{\{(\w+)\}\}")
_NAMES_IN_TEMPLATES = re.compile(r"person|name\w*|first_name\w*|last_name\w*")
REPEATS = 20


def table(path: Path) -> list[dict[str, str]]:
    """Return the rows of a table of names."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def running_text(templates: Path, names: Path) -> None:
    """Print which share of names in sentences is found, and what else is redrawn."""
    from faker import Faker

    maker = Faker("en_US")
    maker.seed_instance(20)
    lines = templates.read_text("utf-8", errors="replace").splitlines()
    rows = table(names)
    american = [row for row in rows if row["NameSet"] in ("American", "England/Wales")]
    made = [{"GivenName": maker.first_name(), "Surname": maker.last_name()} for _ in range(3000)]
    sources = {"faker, United States": made, "table, American and English": american}
    for title, source in (sources | {"table, all origins": rows}).items():
        chance = random.Random(3)  # noqa: S311
        counts = np.zeros(4, dtype=int)
        for line in lines * REPEATS:
            counts += counted(line, source, maker, chance)
        names_, found, others, wrong = counts.tolist()
        print(
            f"| {title} | {names_:,} | {found / names_:.1%} | {others:,} "
            f"| {wrong / others * 1e4:.0f} |",
            flush=True,
        )


def counted(
    line: str, source: Sequence[dict[str, str]], maker: Faker, chance: random.Random
) -> tuple[int, int, int, int]:
    """Return parts of names and those that are found, other words and those that are redrawn."""
    marks: list[str] = []  # of each token: n for a part of a name, o for another word

    def filled(what: str) -> str:
        row = chance.choice(source)
        if _NAMES_IN_TEMPLATES.fullmatch(what):
            own = [row["GivenName"]] * (not what.startswith("last"))
            return " ".join([*own, *([row["Surname"]] * (not what.startswith("first")))])
        if what in ("organization", "street_name", "address", "city", "country", "state"):
            return ""  # these have names of people, or are places
        try:
            return str(getattr(maker, what)())
        except AttributeError:
            return ""

    tokens: list[str] = []
    for number, piece in enumerate(_PLACE.split(line)):
        cut = tokenize(filled(piece) if number % 2 else piece)
        name = number % 2 and _NAMES_IN_TEMPLATES.fullmatch(piece)
        tokens += cut
        marks += ["n" if name and token[0].isupper() else "o" for token in cut]
    place, redrawn_ = 0, set[int]()
    for each in People({"names"}).find(tokens)[0]:
        length = 1
        if not isinstance(each, str):
            while "".join(tokens[place : place + length]) != each.text:
                length += 1
            redrawn_.update(range(place, place + length))
        place += length
    words = [n for n, token in enumerate(tokens) if token[0].isalpha()]
    parts = [n for n in words if marks[n] == "n"]
    others = [n for n in words if marks[n] == "o" and tokens[n].strip(".") not in TITLES]
    return (
        len(parts),
        sum(n in redrawn_ for n in parts),
        len(others),
        sum(n in redrawn_ for n in others),
    )


def with_detector(templates: Path, names: Path, model: str) -> None:
    """Print which share of names in sentences stays, with the lists, a detector, and both."""
    from malaprop.integrations.presidio import PresidioDetector

    chance, rows = random.Random(3), table(names)  # noqa: S311
    texts, own = list[str](), list[list[str]]()
    for line in templates.read_text("utf-8", errors="replace").splitlines() * 4:
        people: list[str] = []
        pieces = _PLACE.split(line)
        for place in range(1, len(pieces), 2):
            what, row = pieces[place], chance.choice(rows)
            pieces[place] = ""
            if _NAMES_IN_TEMPLATES.fullmatch(what):
                pieces[place] = f"{row['GivenName']} {row['Surname']}"
                people += parts_of(pieces[place])
        if people:
            texts.append("".join(pieces))
            own.append(people)
    detector = PresidioDetector(model)
    ways: tuple[dict[str, Any], ...] = (
        *({}, {"redraw": "people"}, {"detector": detector}),
        {"redraw": "people", "detector": detector},
    )
    for options in ways:
        outputs = Privatizer(epsilon=1.5, rng=seeded_rng(5), **options).texts(texts)
        kept = sum(
            part.lower() in tokenize(output.lower())
            for parts, output in zip(own, outputs, strict=True)
            for part in parts
        )
        count = sum(map(len, own))
        print(f"{list(options)}: {kept / count:.1%} of {count:,} parts of names stay", flush=True)
    found = sum(
        any(each.start <= text.find(part) < each.end for each in entities)
        for parts, text in zip(own, texts, strict=True)
        for entities in [detector(text)]
        for part in parts
    )
    print(f"the detector covers {found / count:.1%}")


TITLES = frozenset(["Mr", "Mrs", "Ms", "Miss", "Dr"])
FORMS = {
    "MRN": "MRN-#######",
    "case": "CASE/####/##",
    "social security": "###-##-####",
    "card": "4095 #### #### ####",
    "card, joined": "4095############",
    "phone": "(212) ###-####",
    "phone, international": "+44 20 #### ####",
    "IPv4": "10.##.##.#",
    "IPv6": "2001:db8:85a3::8a2e:370:####",
    "MAC": "00:1b:44:11:##:b#",
    "IBAN": "DE89 3704 0044 0532 0### ##",
    "IBAN, joined": "DE8937040044053201####",
    "UUID": "69b33b89-4d2a-4021-beef-######aa####",
    "hash": "d41d8cd98f00b204e98009#########e",
    "path": "/home/zinhle/notes_####.txt",
    "Windows path": "C:\\Users\\zinhle\\a####.txt",
    "e-mail": "zinhle.#####@mthembu.org",
    "web address": "https://mthembu.org/p/######",
    "login": "zinhle##",
    "customer": "customer_id=88####",
}
"""Twenty forms of identifiers; # is a digit."""
LOG = "2023-03-0{} 10:4{}:12 sshd[1{}]: Failed password for {} from 10.7{}.66.1{} port 5{} ssh2"


def survivors(names: Path) -> None:
    """Print which share of names, dates, identifiers and logs stays, in each way to protect it."""
    chance = random.Random(4)  # noqa: S311
    rows = chance.sample(table(names), 500)
    people = [f"{row['GivenName']} {row['Surname']}" for row in rows]
    months = ["January", "March", "May", "June", "August", "October", "December"]
    dates = [
        f"{chance.randint(1, 28)} {chance.choice(months)} {chance.randint(1930, 2023)}"
        for _ in range(500)
    ]
    codes = [
        "".join(str(chance.randint(0, 9)) if sign == "#" else sign for sign in form)
        for form in FORMS.values()
        for _ in range(25)
    ]
    groups = {"names": ("PERSON", people), "dates": ("DATE", dates), "identifiers": ("ID", codes)}
    frame = "we met {} again"
    ways: dict[str, dict[str, Any]] = {
        "words": {"kinds": "words"},
        "as it is": {},
        "redraw": {"redraw": "names"},
        "shift": {"shift_dates": True, "steps": {"date": "365 days"}},
    }
    for title, (label, values) in groups.items():
        shares = []
        for options in ways.values():
            private = Privatizer(epsilon=1.5, **options).drawing_from(seeded_rng(5))
            outputs = private.texts([frame.format(value) for value in values])
            shares.append(staying(title, values, outputs))
        private = Privatizer(epsilon=1.5).drawing_from(seeded_rng(5))
        found = [[(7, 7 + len(value), label)] for value in values]
        outputs = private.texts([frame.format(value) for value in values], entities=found)
        shares.append(staying(title, values, outputs))
        print(f"| {title} | {' | '.join(shares)} |", flush=True)
    private = Privatizer(epsilon=1.5).drawing_from(seeded_rng(6))
    lines = [
        LOG.format(
            *(chance.randint(1, 9) for _ in range(3)),
            name.split()[0].lower(),
            *(chance.randint(1, 9) for _ in range(2)),
            chance.randint(1000, 9999),
        )
        for name in people
    ]
    outputs = private.texts(lines)
    for what, place in (("user", 6), ("address", 8), ("port", 10)):
        own = [line.split()[place] for line in lines]
        kept = sum(value in output for value, output in zip(own, outputs, strict=True))
        print(f"log: {what}: {kept / len(lines):.1%} stay")


def staying(what: str, values: Sequence[str], outputs: Sequence[str]) -> str:
    """Return the share of values that stay: of names each part counts, of all else the whole."""
    pieces = [value.split() if what == "names" else [value] for value in values]
    kept = sum(
        piece.lower() in (tokenize(output.lower()) if what == "names" else output.lower())
        for own, output in zip(pieces, outputs, strict=True)
        for piece in own
    )
    return f"{kept / sum(map(len, pieces)):.1%}"


EPSILONS = (1.0, 1.35, 1.5, 2.0)
TRAININGS = 5
SETS = {"mr": "MR", "trec": "TREC", "disaster-tweets": "tweets"}


def accuracy() -> None:
    """Print how well classifiers do on clean texts that learned from private ones."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    for name, title in SETS.items():
        train, test = labelled(name)
        for epsilon in EPSILONS:
            scores: dict[bool, list[float]] = {False: [], True: []}
            for anew in scores:
                private = Privatizer(epsilon=epsilon, redraw=["names"] * anew)
                for training in range(TRAININGS):
                    texts = private.drawing_from(seeded_rng(100 + training)).texts(train[0])
                    model = make_pipeline(
                        TfidfVectorizer(sublinear_tf=True, token_pattern=r"[\w'’]+"),  # noqa: S106
                        LogisticRegression(max_iter=200, C=3.0),
                    )
                    scores[anew].append(float(model.fit(texts, train[1]).score(*test)))
            words, anew_ = map(np.array, scores.values())
            error = (words.var(ddof=1) + anew_.var(ddof=1)) ** 0.5 / TRAININGS**0.5
            print(
                f"| {title} | {epsilon} | {words.mean():.3f} | {anew_.mean():.3f} | "
                f"{anew_.mean() - words.mean():+.3f} ± {error:.3f} |",
                flush=True,
            )


Labelled = tuple[list[str], list[str]]


def labelled(name: str) -> tuple[Labelled, Labelled]:
    """Return texts with labels to train on, and others to test on."""
    data = datasets.load(name)
    if data.splits:
        parts = [np.flatnonzero(np.array(data.splits) == part) for part in ("train", "test")]
    else:
        order = np.random.default_rng(11).permutation(len(data.texts))
        parts = [order[2000:], order[:2000]]
    train, test = (([data.texts[i] for i in p], [data.labels[i] for i in p]) for p in parts)
    return train, test


if __name__ == "__main__":
    main()

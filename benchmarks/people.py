"""How many names `redraw` finds and hides, how much else it takes for names, and how fast it is.

    python benchmarks/people.py --origins              names of many origins, made by faker
    python benchmarks/people.py --texts FILE ...       texts, one a line: what is redrawn, and speed
    python benchmarks/people.py --texts FILE --sample 150     also show some of that, to be judged

It needs the package `faker` for the first. docs/people.md has the figures, and where the texts are
from.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from malaprop import Privatizer
from malaprop.text.people import CLASSES, People
from malaprop.text.tokens import tokenize

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
    chosen = parser.parse_args()
    if chosen.origins:
        origins()
    for path in chosen.texts:
        redrawn(path.read_text("utf-8").splitlines(), chosen.sample)


def origins() -> None:
    """Print which share of the parts of names is found, and which stays in a private text."""
    plain, redrawn = Privatizer(epsilon=1.5), Privatizer(epsilon=1.5, redraw="names")
    for origin, locales in ORIGINS.items():
        names = list(made_up(locales))
        parts = [part for name in names for part in tokenize(name) if part.isalpha()]
        shares = [
            sum(len(found_in(sentence.format(name))) for name in names) / len(parts)
            for sentence in SENTENCES
        ]
        texts = [SENTENCES[0].format(name) for name in names]
        stays = [
            sum(
                part.lower() in map(str.lower, tokenize(output))
                for name, output in zip(names, private.texts(texts), strict=True)
                for part in tokenize(name)
                if part.isalpha()
            )
            / len(parts)
            for private in (plain, redrawn)
        ]
        row = (f"{min(share, 1.0):.0%}" for share in (*shares, *stays))
        print(f"| {origin} | {' | '.join(row)} |")


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
        start = time.perf_counter()
        private.texts(texts)
        print(
            f"{options}: {letters / (time.perf_counter() - start) / 1e6:.2f} million characters/s"
        )


if __name__ == "__main__":
    main()

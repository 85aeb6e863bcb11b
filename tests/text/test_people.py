"""Names and places: which words are taken for some, what is drawn, and what shows."""

import random
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chisquare
from tests.fuzz.texts import try_texts
from tests.text.linear import is_linear

from malaprop import Gaussian, Lexicon, Privatizer, seeded_rng
from malaprop.privacy.errors import LexiconError, ParameterError
from malaprop.text import people
from malaprop.text.parser import TextParser
from malaprop.text.people import CLASSES, COUNTRY, GIVEN, SURNAME, TOWN, People, Person, lists
from malaprop.text.policy import Policy
from malaprop.text.tokens import tokenize

BOTH = People(CLASSES)
WORDS = ["the", "a", "an", "patient", "met", "old", "doctor", "will", "green", "in", "i"]


def classes(text: str, finder: People = BOTH) -> list[str]:
    """The names and places of a text, as they are drawn, by class."""
    found, _ = finder.find(tokenize(text))
    return [
        f"{person.form.write('XYZ -')}: {person.form.kind}"
        for person in found
        if isinstance(person, Person)
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Anna came. Then ANNA left, anna said", ["-: given name"] * 2),
        ("Anna's car, ANNA’S car", ["-'s: given name"] * 2),
        ("José O’Brien-Müller", ["-: given name", "-: surname", "-: surname"]),
        ("Mary-Ann", ["-: given name"] * 2),
        ("Dr. Rose met Mrs Xyzzyk", ["Dr. -: given name", "Mrs -: surname"]),
        ("Dr Paris and Prof. J. K. Okafor", ["Dr -: surname", "Prof. X. Y. -: surname"]),
        ("George W. Bush", ["-: given name", "X. -: surname"]),
        ("J.R. Smith's", ["X. Y. -'s: surname"]),
        ("in Paris, New York or St. Petersburg's", ["-: town", "-: town", "-'s: town"]),
        ("South Korea and\nNew\nYork", ["-: country", "-: town"]),
        ("Jordan is a country, Austin no city", ["-: country", "-: given name"]),
        # Ambiguous words: with a capital, inside a sentence.
        ("I know Will, Mark, Rose and Mr. Brown.", ["-: given name"] * 3 + ["Mr. -: surname"]),
        ("Will you? Mark my words: Rose is red. “Hope is good. (Brown)", []),
        ("with Rose", ["-: given name"]),
        ("WITH ROSE AND MARK", []),
        # What no list has, neither of names nor of words: with one capital, inside a sentence.
        (
            "I met Xyzzyk, Mr J. McXyzzyk and Xyzzyk's son",
            ["-: surname", "Mr X. -: surname", "-'s: surname"],
        ),
        ("J. Xyzzyk saw Łżżąćęź", ["X. -: surname", "-: surname"]),
        ("Xyzzyk came. (Xyzzyk) saw XYZZYK, XyzzYk, xyzzyk, Xyz, Xyzzyk7", []),
        # Months, days, function words and languages never are, but behind a title.
        ("in May, on Sunday, with German and Christian friends, Do It", []),
        ("I met Mrs. May", ["Mrs. -: surname"]),
        ("He saw the Dr. The next day", []),
        ("mary, will, paris, U.S., TV, B12, Anna1, @Anna, #Anna", []),
        ("", []),
    ],
)
def test_which_words_are_names_or_places(text: str, found: list[str]) -> None:
    assert classes(text) == found


def test_one_of_the_two_can_be_redrawn() -> None:
    text = "Dr. Rose met Anna in Paris"
    assert classes(text, People({"names"})) == ["Dr. -: given name", "-: given name"]
    assert classes(text, People({"places"})) == ["-: town"]


PLACES = (
    "{}",
    "{} said",
    "with {}",
    "So. {} left",
    "“{}”",
    "a-{}-b",
    "{}'s",
    "the {}'s {}",
    "X\n{}",
)
NAMES = ("Dr. {}", "Mrs {}'s", "J. {}", "Prof. A. B. {}")


@pytest.mark.parametrize("kind", [GIVEN, SURNAME, TOWN, COUNTRY])
def test_what_is_drawn_is_of_its_class_wherever_it_stands(kind: str) -> None:
    names, _ = lists().laws[kind]
    assert len(names) > 100
    for name, place in product(names, PLACES + NAMES * (kind in CLASSES["names"])):
        found = classes(place.replace("{}", name))
        assert len(found) == place.count("{}"), (name, place)
        assert all(each.endswith(f": {kind}") for each in found), (name, place)


def test_what_is_drawn_follows_the_public_frequencies() -> None:
    for kind, (names, sums) in lists().laws.items():
        weights = np.diff(sums, prepend=0)
        common = np.argsort(-weights)[:40]
        form = people.PersonForm(kind)
        drawn = [form.write(each) for each in form.draw(400_000, seeded_rng(5))]
        counts = np.array([drawn.count(names[place]) for place in common])

        def p_value(shares: np.ndarray, counts: np.ndarray = counts) -> float:
            rest = [400_000 - counts.sum(), 400_000 * (1 - shares.sum())]
            return float(chisquare([*counts, rest[0]], [*(400_000 * shares), rest[1]]).pvalue)

        shares = weights[common] / weights.sum()
        assert p_value(shares) > 1e-6
        wrong = shares.copy()
        wrong[:20] *= 1.05
        assert p_value(wrong) < 1e-6


OTHERS = ["patient", "met", "5", "May 5, 2023", "old", "Met", "Unfortunately"]
JOINS = [" ", " ", " ", ", ", ". ", "-", "\n", " (", "'s ", " J. ", " Mrs. ", ": “", "😀"]


def texts_of_parts(count: int, rng: random.Random) -> Iterator[list[str]]:
    """Random texts in parts: names, places and words, each with what joins it to the next."""
    names = [name for drawn, _ in lists().laws.values() for name in drawn[:200]]
    names += ["Rose", "Will", "New York", "Okafor", "MARY"]
    for _ in range(count):
        parts = range(rng.randint(1, 12))
        yield [rng.choice(rng.choice([names, OTHERS])) + rng.choice(JOINS) for _ in parts]


def test_a_template_with_other_names_is_read_as_the_same_one() -> None:
    """Parse(write(T, v)) = (T, v), for names and places and for words in small letters."""
    parser = TextParser(WORDS, Policy(redraw="people", kinds="typed"))
    rng = seeded_rng(3)
    for text in map("".join, texts_of_parts(3000, random.Random(7))):
        templates, secrets = parser.parse([text])
        values, numbers = [], []
        for form, secret in zip(
            templates.forms, secrets.ids[templates.typed].tolist(), strict=True
        ):
            if not isinstance(form, people.PersonForm):
                values.append(form.write(secret))  # type: ignore[attr-defined]
                numbers.append(secret)
                continue
            (drawn,) = form.draw(1, rng)
            values.append(form.write(drawn))
            entry = lists().entry(drawn.split(" ", 1)[1].lower())
            assert entry is not None
            numbers.append(entry.number)
        (written,) = templates.fill(secrets.ids, values)
        again, read = parser.parse([written])
        assert list(again.forms) == list(templates.forms), (text, written)
        assert again.slot_counts == templates.slot_counts
        assert read.ids[again.typed].tolist() == numbers
        assert again.fill(read.ids, values) == [written]


def test_other_words_never_decide() -> None:
    """Put other words, in small letters or not, in the place of words: the classes stay."""
    rng = random.Random(5)
    words = ["cold", "Cold", "B12", "tomorrow", "Unfortunately", "xyzzyk", "THE"]
    for parts in texts_of_parts(2000, rng):
        changed = parts.copy()
        for place, part in enumerate(parts):
            behind_title = place and parts[place - 1].endswith("Mrs. ")
            if not behind_title and (old := next(filter(part.startswith, OTHERS), None)):
                changed[place] = rng.choice(words) + part.removeprefix(old)
        assert people_in("".join(changed)) == people_in("".join(parts))


def test_any_text_can_be_read_and_small_letters_alone_hold_no_names() -> None:
    redrawing = TextParser(WORDS, Policy(redraw="people", kinds="typed"))
    usual = TextParser(WORDS, Policy(kinds="typed"))

    def check(text: str) -> None:
        templates, secrets = redrawing.parse([text])
        assert len(secrets.ids) == sum(templates.slot_counts)
        small = text.lower()
        if not any(map(str.isupper, small)):
            (one, ids), (other, others) = redrawing.parse([small]), usual.parse([small])
            assert list(one.forms) == list(other.forms)
            values = [form.tag for form in one.forms]
            assert one.fill(ids.ids % len(WORDS), values) == other.fill(
                others.ids % len(WORDS), values
            )

    try_texts(check, 400, 3)


@pytest.mark.parametrize(
    "unit", ["J. ", "Dr. ", "Anna ", "New ", "St. ", "A.", "Anna's-", "Rose\n"]
)
def test_the_time_is_linear(unit: str) -> None:
    assert is_linear(lambda text: BOTH.find(tokenize(text)), unit)


def people_in(text: str) -> list[Person]:
    return [each for each in BOTH.find(tokenize(text))[0] if isinstance(each, Person)]


@pytest.fixture(scope="module")
def lexicon() -> Lexicon:
    return Lexicon(WORDS, np.arange(float(len(WORDS)))[:, None])


def release_of(text: str, **options: object) -> str:
    made = Privatizer(epsilon=1.5, rng=seeded_rng(8), redraw="people", **options)  # type: ignore[arg-type]
    return made(text).text


@pytest.mark.parametrize("repeat", ["fresh", "document"])
def test_the_output_does_not_depend_on_names(repeat: str) -> None:
    """Texts with the same template and pattern of repetitions have the same law of outputs."""
    first = "Anna Smith met Dr. Okafor in Lyon, New York. Smith's friend Anna saw Rose; then Peter."
    second = "Omar Li met Dr. Zyxxen in Rome, Oslo. Li's friend Omar saw Grace; then Ayodele."
    assert release_of(first, repeat=repeat) == release_of(second, repeat=repeat)


def test_equal_names_share_a_stand_in_in_a_text_and_words_do_not() -> None:
    private = Privatizer(epsilon=0.3, rng=seeded_rng(2), redraw=["names"])
    text = "Anna, Dr. Anna's, ANNA; aspirin aspirin aspirin aspirin"
    names, words = set(), set()
    for output in private.texts([text] * 200):
        people_there, others = output.split("; ")
        one, behind_title, capitals = people_there.split(", ")
        assert behind_title == f"Dr. {one}'s"
        assert capitals == one
        names.add(one)
        words.add(len(set(others.split())))
    assert len(names) > 100  # each text draws anew
    assert 4 in words


def test_pieces_spans_and_values_go_on_as_usual() -> None:
    html = release_of("<p><b>Anna</b> Smith, [NAME] Will</p>", keep="placeholders", markup="html")
    assert html.startswith("<p><b>")
    assert "[NAME] " in html
    assert "Anna" not in html
    assert "Smith" not in html
    spans = Privatizer(epsilon=1.5, redraw="people", rng=seeded_rng(1)).spans(
        "Seen by Anna.", [(8, 12)]
    )
    assert spans.text.startswith("Seen by ")
    assert "Anna" not in spans.text
    words = Privatizer(epsilon=1.5, redraw="people", kinds="words", rng=seeded_rng(1))
    assert words("Anna on 5/5/2023").counts["names"] == 1


def test_the_guarantee_says_what_shows() -> None:
    guarantee = Privatizer(epsilon=1.5, redraw="people").guarantee
    assert "which words count as given names, surnames, towns or countries" in guarantee.texts
    assert "titles and initials before names" in guarantee.texts
    assert "which names and places of a text are equal" in guarantee.texts
    assert "surnames, towns and countries are drawn anew" in str(guarantee)
    assert guarantee.of_kind(SURNAME).loss(5.0) == 0.0
    assert any("lists of names" in fact for fact in guarantee.public)
    alone = Privatizer(epsilon=1.5, redraw="places", kinds="words").guarantee
    assert [kind.name for kind in alone.kinds] == ["word", TOWN, COUNTRY]
    assert "redraw" not in Policy().to_dict()
    assert Policy(redraw="people").to_dict()["redraw"] == ["names", "places"]


def test_what_cannot_be_is_refused(lexicon: Lexicon) -> None:
    with pytest.raises(ParameterError, match="`redraw` parameter must hold names, places"):
        Policy(redraw="animals")
    with pytest.raises(ParameterError, match="Got \\[\\['names'\\]\\]"):
        Policy(redraw=[["names"]])  # type: ignore[list-item]
    with pytest.raises(ParameterError, match="Got 3"):
        Policy(redraw=3)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="without a δ"):
        Privatizer(lexicon, Gaussian(epsilon=1.0, delta=1e-5, sensitivity=1.0), redraw="people")


def test_the_lists_are_small_and_checked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert sum(path.stat().st_size for path in people.FOLDER.iterdir()) < 1_500_000
    assert {"LICENSE", "README.md"} <= {path.name for path in people.FOLDER.iterdir()}
    (tmp_path / people.LISTS).write_bytes(b"")
    monkeypatch.setattr(people, "FOLDER", tmp_path)
    lists.cache_clear()
    with pytest.raises(LexiconError, match="damaged"):
        Privatizer(epsilon=1.5, redraw="people")
    monkeypatch.undo()
    lists.cache_clear()


@pytest.mark.parametrize(
    "text", ["I know Will", "I ❤ Will", "I 😀 Will", "I know \u200bWill", "I kn\u00adow Will"]
)
def test_symbols_are_words_and_invisible_signs_are_nothing(text: str) -> None:
    found, _ = People({"names"}).find(list(tokenize(text)))
    assert sum(isinstance(each, Person) for each in found) == 1

"""Entities: how they are given and merged, what is drawn for them, and what shows of the text."""

import pickle
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from malaprop import TEM, DataError, Gaussian, Lexicon, ParameterError, Privatizer, seeded_rng
from malaprop.text import entities
from malaprop.text.entities import (
    CLASSES,
    UNDECLARED,
    Entity,
    EntityForm,
    FoundEntity,
    Labels,
    cut_at_entities,
    found_entities,
    found_spans,
)
from malaprop.text.kinds.grammar import read_value
from malaprop.text.parser import TextParser
from malaprop.text.people import GIVEN, SURNAME, lists
from malaprop.text.policy import Policy
from malaprop.text.tokens import tokenize

WORDS = ["the", "a", "patient", "met", "old", "doctor", "in", "i", "monday", "she"]
LEXICON = Lexicon(WORDS, [[float(place)] for place in range(len(WORDS))])
TEXT = "Zyxwv Qrst met the old Zyxwv in Vutsr-on-Ponm."
FOUND = [(0, 10, "PERSON"), (23, 28, "PERSON"), (32, 45, "GPE")]


@dataclass
class Presidio:
    """What Presidio's analyzer returns has these names."""

    entity_type: str
    start: int
    end: int


@dataclass
class Spacy:
    """A Span of spaCy: its start and end count tokens."""

    label_: str
    start_char: int
    end_char: int
    start: int = 7
    end: int = 8


@dataclass
class Doc:
    """A document of spaCy."""

    ents: tuple[Any, ...]


def private(**options: Any) -> Privatizer:
    return Privatizer(LEXICON, TEM(epsilon=2.0), rng=seeded_rng(4), **options)


@pytest.mark.parametrize(
    "found",
    [
        FOUND,
        [list(item) for item in FOUND],
        [tuple(np.array(item[:2])) + item[2:] for item in FOUND],
        [{"start": start, "end": end, "label": label} for start, end, label in FOUND],
        [{"start": start, "end": end, "entity_group": label} for start, end, label in FOUND],
        [Presidio(label, start, end) for start, end, label in FOUND],
        [Spacy(label, start, end) for start, end, label in FOUND],
        Doc(tuple(Spacy(label, start, end) for start, end, label in FOUND)),
        iter(reversed(FOUND)),
    ],
)
def test_entities_are_taken_as_detectors_give_them(found: Any) -> None:
    expected = [Entity(0, 10, "person"), Entity(23, 28, "person"), Entity(32, 45, "place")]
    assert found_entities(found, len(TEXT), Labels(), name="entities") == expected


@pytest.mark.parametrize(
    ("found", "message"),
    [
        ([(0, 99, "PERSON")], r"Item 1 .* the length of the text, 46\. Got \(0, 99\)"),
        ([(0, 5, "X"), (5, 3, "PERSON")], r"Item 2 .* Got \(5, 3\)"),
        ([(3, 3, "PERSON")], r"Got \(3, 3\)"),
        ([(-1, 3, "PERSON")], r"Got \(-1, 3\)"),
        ([(0, 5)], "has no label"),
        ([(0, 5, 7)], "Item 1 .* Got tuple"),
        ([(0, 5, "PERSON", 0.9)], "Item 1 .* Got tuple"),
        ([{"start": 0, "label": "PERSON"}], "Item 1 .* Got dict"),
        ([("Zyxwv", 5, "PERSON")], "whole numbers"),
        ([(True, 5, "PERSON")], "whole numbers"),
        ([(0.0, 5, "PERSON")], "whole numbers"),
        (["Zyxwv"], "Got str"),
        ("Zyxwv", "must be a list of pieces of a text.* Got str"),
        (7, "must be a list of pieces of a text.* Got int"),
        (
            {"start": 0, "end": 5, "label": "PERSON"},
            "must be a list of pieces of a text.* Got dict",
        ),
        ([None], "Got NoneType"),
    ],
)
def test_bad_entities_are_refused_without_a_word_of_the_text(found: Any, message: str) -> None:
    for release in (private(), private(detector=lambda text: [])):
        with pytest.raises(ParameterError, match=message) as caught:
            release(TEXT, entities=found)
        assert not any(word in str(caught.value) for word in ("Zyxwv", "Qrst", "Ponm"))


class Hostile:
    """An item, or what holds items, that quotes the text whenever it is asked."""

    start, entity_type = 0, "PERSON"

    def _raise(self, *_: object) -> Any:
        raise RuntimeError(TEXT)

    end = ents = property(_raise)
    __iter__ = __index__ = _raise


class HostileItem(Hostile):
    ents = ()


def quoting() -> Iterator[tuple[int, int, str]]:
    yield 0, 5, "PERSON"
    raise RuntimeError(TEXT)


@pytest.mark.parametrize(
    "found",
    [
        lambda: Hostile(),
        lambda: [HostileItem()],
        lambda: [(0, Hostile(), "PERSON")],
        lambda: [(0, 10**5000, "PERSON")],
        quoting,
    ],
)
def test_what_is_given_may_raise_anything(found: Callable[[], Any]) -> None:
    calls: list[Callable[[], object]] = [
        lambda: private()(TEXT, entities=found()),
        lambda: private()(TEXT, entities=[HostileItem()]),
        lambda: private().spans(TEXT, found()),
        lambda: private(detector=lambda text: found())(TEXT),
    ]
    for call in calls:
        with pytest.raises((ParameterError, DataError)) as caught:
            call()
        assert not any(word in str(caught.value) for word in ("Zyxwv", "Qrst", "Ponm"))


def test_what_a_slash_joins_to_an_entity_is_no_path() -> None:
    text = "Zyxwv/met/old, Zyxwv's/met. /var/old"
    found = [(0, 5, "PERSON"), (15, 20, "PERSON")]
    for options in ({}, {"markup": "html"}, {"keep": ["the"]}):
        release = private(kinds="typed", kind_epsilon=1.0, **options)(text, entities=found)
        assert (release.counts["paths"], release.counts["in_lexicon"]) == (1, 3)


def test_bad_entities_of_one_text_stop_all_of_them() -> None:
    privatizer = private()
    before = privatizer("the old", entities=[]).text
    with pytest.raises(ParameterError, match="Item 1"):
        privatizer.texts(["the old", "the"], entities=[[], [(0, 9, "PERSON")]])
    with pytest.raises(ParameterError, match=r"each of the 2 texts.* Got 1"):
        privatizer.texts(["the", "old"], entities=[[]])
    assert private()("the old", entities=[]).text == before  # the same seed, the same draws
    assert privatizer.texts([None, "the"], entities=[None, None])[0] is None


@pytest.mark.parametrize("labels", [{"X": "persn"}, {"X": 3}, {3: "person"}, ["person"], "person"])
def test_an_unknown_class_is_refused(labels: Any) -> None:
    with pytest.raises(ParameterError, match="`entity_labels` parameter must map labels"):
        private(entity_labels=labels)


def test_labels_of_presidio_and_spacy_have_classes() -> None:
    labels = Labels()
    expected = {
        "PERSON": "person",
        "LOCATION": "place",
        "GPE": "place",
        "ORG": "organisation",
        "ORGANIZATION": "organisation",
        "DATE_TIME": "date",
        "DATE": "date",
        "PHONE_NUMBER": "phone",
        "EMAIL_ADDRESS": "email",
        "URL": "url",
        "US_SSN": "identifier",
        "IBAN_CODE": "identifier",
        "IP_ADDRESS": "identifier",
        "CREDIT_CARD": "identifier",
        "CARDINAL": "words",
        "NORP": None,
        "NRP": None,
        "SOMETHING": None,
    }
    assert {label: labels.of(label) for label in expected} == expected
    assert labels.of("person") == "person"
    assert set(CLASSES) <= set(labels.values())
    assert Labels({"x": "place"}) == Labels({"X": "place"}) != labels
    assert hash(Labels({"x": "place"})) == hash(Labels(Labels({"X": "place"})))


def test_labels_are_declared_when_the_privatizer_is_made() -> None:
    policy = private(entity_labels={"ward": "place", "org": None}).policy
    assert policy.to_dict()["entity_labels"] == {"ORG": None, "WARD": "place"}
    assert "entity_labels" not in private().policy.to_dict()
    text = "Old Qrst met"
    for label, masked in (("WARD", 0), ("ORG", 1), ("SOMETHING", 1)):
        release = private(entity_labels={"ward": "place", "org": None})(
            text, entities=[(4, 8, label)]
        )
        assert release.counts["masked"] == masked == release.text.count(UNDECLARED)
        assert release.counts["entities"] == 1 - masked
        assert "Qrst" not in release.text
        assert label not in release.text


def cut(text: str, *found: tuple[int, int, str]) -> list[tuple[str, str | None]]:
    """The entities of a text after merging: what each covers, and its class."""
    given_ = [Entity(*each) for each in found]
    return [
        (each.text, each.kind)
        for each in cut_at_entities(text, given_, tokenize(text))
        if isinstance(each, FoundEntity)
    ]


def test_a_cut_word_is_taken_whole() -> None:
    assert cut("met Annabel Lee", (5, 7, "person")) == [("Annabel", "person")]
    assert cut("met Annabel Lee", (6, 13, "person")) == [("Annabel Lee", "person")]
    assert cut("mail ann.lee@example.org", (9, 12, "person")) == [("ann.lee@example.org", "person")]
    # Combining marks, joined emoji.
    assert cut("Zoe\u0308 left", (0, 3, "person")) == [("Zoe\u0308", "person")]
    assert cut("a \U0001f469\u200d\U0001f680 b", (2, 3, "person")) == [
        ("\U0001f469\u200d\U0001f680", "person")
    ]


def test_signs_and_white_space_stay_outside() -> None:
    assert cut("(Ann) ...", (0, 4, "person")) == [("(Ann", "person")]
    assert cut("Ann... met", (0, 4, "person")) == [("Ann.", "person")]
    assert cut("met \n Ann  now", (3, 11, "person")) == [("Ann", "person")]
    assert cut("met  Ann", (3, 5, "person")) == []


def test_overlapping_entities_become_one_of_the_longest_class() -> None:
    text = "one two three four"
    assert cut(text, (0, 7, "person"), (4, 13, "place")) == [("one two three", "place")]
    assert cut(text, (0, 7, "person"), (4, 5, "place")) == [("one two", "person")]
    assert cut(text, (0, 7, "person"), (0, 7, "place")) == [("one two", "person")]
    assert cut(text, (0, 5, "person"), (5, 13, "place"), (12, 18, "date")) == [
        (text, "date")  # with whole words, it is the longest
    ]
    assert cut(text, (0, 3, "person"), (4, 7, "person")) == [("one", "person"), ("two", "person")]


def test_an_s_behind_an_entity_stays() -> None:
    for end in (3, 5):
        (first, *_) = cut_at_entities(
            "Ann's car", [Entity(0, end, "person")], ["Ann's", " ", "car"]
        )
        assert first == FoundEntity("Ann", "person", True)
    for text, end in (
        ("ANN’S met", 3),
        ("3/4/2023's met", 8),
        ("Ω!'s met", 2),
        ("a@b.org’s met", 7),
    ):
        release = private(kinds="typed", kind_epsilon=1.0)(text, entities=[(0, end, "PERSON")])
        assert release.text.split(" ")[0].endswith("'s")
        assert release.counts["in_lexicon"] == 1
    met = private()("Ω!'st met", entities=[(0, 2, "PERSON")])
    assert met.counts["mapped"] == 1


def test_persons_share_their_parts() -> None:
    text = "Zyx Qrst met Zyx, QRST and Qrst-Zyx of Zyx"
    found = [(0, 8), (13, 16), (18, 22), (27, 35), (39, 42)]
    release = private()(text, entities=[(*place, "PERSON") for place in found])
    given_name, surname, *_ = release.text.split(" ")
    assert given_name in lists().laws[GIVEN][0]
    assert surname in lists().laws[SURNAME][0]
    words = tokenize(release.text)
    assert (words.count(given_name), words.count(surname)) == (3, 2)
    assert release.counts["entities"] == 6


def test_equal_entities_share_a_stand_in_only_within_a_text() -> None:
    outputs = private(kinds="typed", kind_epsilon=1.0).texts(
        ["Qrst met Qrst and qrst"] * 30,
        entities=[[(0, 4, "ID"), (9, 13, "ID"), (18, 22, "ID")]] * 30,
    )
    own = [{word for word in text.split() if "-" in word} for text in outputs]
    assert all(len(each) == 1 for each in own)
    assert len(set.union(*own)) > 25


LABELS = ["PERSON", "GPE", "ORG", "DATE", "PHONE", "EMAIL", "URL", "ID", "SOMETHING"]
SECRET = ["Zyxwv", "Zyxwv Qrst", "zyxwv", "12/03/2021", "+44 20 7946 0958", "zy@xw.org", "Ω", "!?"]


@pytest.mark.parametrize("options", [{}, {"repeat": "document"}, {"kinds": "typed"}])
@pytest.mark.parametrize("label", LABELS)
def test_texts_with_other_entities_of_a_class_have_the_same_output(
    label: str, options: dict[str, Any]
) -> None:
    # The loss is 0 exactly: the output is one function of the draws and of what agrees.
    if "kinds" in options:
        options = {**options, "kind_epsilon": 1.0}
    frame, outputs = "The patient {}, met 12 old {} in Monday", dict[int, set[str]]()
    for secret in SECRET:
        for other in ("Ponm", "Vutsr Ponm"):
            shape = (len(entities._names(secret)) > 1, " " in other)
            text = frame.format(secret, other)
            places = [(12, 12 + len(secret)), (text.index(other), text.index(other) + len(other))]
            found = [(*place, label) for place in places]
            written = "|".join(
                private(**options).drawing_from(seeded_rng(seed))(text, entities=found).text
                for seed in range(5)
            )
            kept = shape if label == "PERSON" else ()
            outputs.setdefault(hash(kept), set()).add(written)
    assert all(len(written) == 1 for written in outputs.values())


def test_other_words_have_the_same_law_as_without_entities() -> None:
    text = "the old patient Zyxwv met a doctor in 12 days, the old Qrst on monday"
    found = [(16, 21, "PERSON"), (55, 59, "SOMETHING")]
    blanked = text.replace("Zyxwv", "!").replace("Qrst", "!")
    for options in ({}, {"repeat": "document"}, {"kinds": "typed", "kind_epsilon": 1.0}):
        parser = TextParser(WORDS, Policy(**options))
        (templates, secrets), (plain, own) = parser.parse([text], [found]), parser.parse([blanked])
        entity = np.zeros(len(secrets.ids), dtype=np.bool_)
        entity[np.flatnonzero(templates.typed)[:]] = [
            isinstance(form, EntityForm) or getattr(form, "shares_always", False)
            for form in templates.forms
        ]
        assert secrets.ids[~entity].tolist() == own.ids.tolist()
        assert templates.typed[~entity].tolist() == plain.typed.tolist()
        assert [form for form in templates.forms if not getattr(form, "shares_always", False)] == [
            *plain.forms
        ]


@pytest.mark.parametrize("kind", [kind for kind in CLASSES if kind not in ("person", "place")])
def test_stand_ins_of_a_class_have_one_law(kind: str) -> None:
    drawn = EntityForm(kind).draw(2000, seeded_rng(5))
    assert EntityForm(kind, possessive=True).draw(2000, seeded_rng(5)) == drawn
    assert len(set(drawn)) > 1900 or kind == "organisation"
    first = drawn[0]
    match kind:
        case "date" | "email" | "url" | "identifier" | "phone":
            read = read_value(first, "mdy")
            assert read is not None
            assert read.form.tag == {"date": "dates", "email": "emails", "url": "urls"}.get(
                kind, "identifiers"
            )
        case _:
            counts = np.unique([name.split()[1] for name in drawn], return_counts=True)[1]
            assert len(counts) == 6
            assert chisquare(counts).pvalue > 1e-6


def test_dates_cover_a_hundred_years_evenly() -> None:
    drawn = EntityForm("date").draw(20_000, seeded_rng(6))
    decades = np.bincount([(int(day.split()[2]) - 1930) // 10 for day in drawn])
    assert chisquare(decades).pvalue > 1e-6
    assert len(decades) == 10
    assert chisquare(decades * np.where(np.arange(10) < 5, 1.2, 0.8)).pvalue < 1e-6


def test_an_entity_is_a_word_to_the_names_behind_it() -> None:
    text = "Zyxwv Brown. Brown"
    templates, _ = TextParser(WORDS, Policy(redraw="names")).parse([text], [[(0, 5, "PERSON")]])
    assert [getattr(form, "kind", "") for form in templates.forms] == [SURNAME, SURNAME]


def test_dates_are_left_to_the_shift() -> None:
    moved = private(kinds="typed", kind_epsilon=1.0, shift_dates=True)
    text = "the 3 March 2023 and 10 March 2023"
    release = moved(text, entities=[(4, 16, "DATE")])
    assert (release.counts["dates"], release.counts["entities"]) == (2, 0)


def test_what_is_kept_and_markup_around_entities() -> None:
    text = (
        "<p title='Zyxwv'>Zy&eacute;x Q&amp;r <b>the patient</b> <!-- Zyxwv --> [NAME] Zyx</b> <i>Q"
    )
    places = [
        (text.index("Zy&") + 3, text.index("<b>") - 1),
        (text.index("patient") + 2, text.index("patient") + 4),
        (text.index("[NAME]") + 2, text.index("[NAME]") + 4),
        (text.index("Zyx</b>"), len(text)),
        (text.index("'Zyxwv") - 4, text.index("'Zyxwv") + 3),
        (text.index("<!--") + 2, text.index("-->") + 1),
    ]
    declared = private(markup="html", keep=["the patient", "patient", "placeholders"])
    release = declared(text, entities=[(*place, "ORG") for place in places])
    for secret in ("Zy", "Q", "é", "eacute", "NAME", "patient", "title"):
        assert secret not in release.text
    # One is dropped with a tag, and one with a comment. What the last one covers is no markup.
    assert release.counts["entities"] == 4
    assert [part for part in ("<p>", "<b>", "</b>") if part not in release.text] == []


def test_entities_in_markdown() -> None:
    text = "# Zyx the\n- [the](http://Zyx) Zyx\n```\nZyx\n```\n\ue000 Zyx"
    places = [match.span() for match in re.finditer("Zyx", text)]
    for form in ({"markup": "markdown"}, {"markup": "html"}):
        release = private(**form)(text, entities=[(*place, "PERSON") for place in places])
        assert "Zyx" not in release.text
    release = private(markup="markdown")(text, entities=[(*place, "PERSON") for place in places])
    assert release.counts["entities"] == 3
    assert release.text.startswith("# ")


@settings(max_examples=300)
@given(st.data())
def test_no_path_shows_what_an_entity_covers(data: st.DataObject) -> None:
    canary = "Zyxwv"
    pieces = [
        "the",
        " ",
        "-",
        "'s",
        ".",
        "<b>",
        "</b>",
        "&eacute;",
        "[NAME]",
        "12",
        "\u0301",
        "@",
        "\u200b",
        "\n",
        "flu",
        "é",
        "<!--",
        "-->",
        "/",
        "#",
        "(",
        "\U0001f469",
        canary,
    ]
    parts = data.draw(st.lists(st.sampled_from(pieces), max_size=14))
    places, text = list[tuple[int, int, str]](), ""
    for part in parts:
        if part == canary:
            cut_ = data.draw(st.integers(0, 3))
            label = data.draw(st.sampled_from(LABELS))
            places.append(
                (len(text) + cut_, len(text) + data.draw(st.integers(cut_ + 1, 5)), label)
            )
        text += part
    if data.draw(st.booleans()) and text:
        end = data.draw(st.integers(1, len(text)))
        places.append((data.draw(st.integers(0, end - 1)), end, "PERSON"))
    options: dict[str, Any] = data.draw(
        st.sampled_from(
            [
                {},
                {"markup": "html", "keep": ["placeholders", "flu", "Zyxwv"]},
                {"markup": "markdown"},
                {"keep": ["Zyxwv"], "punctuation": "drop"},
                {"unknown": "keep"},
                {"unknown": "mask", "redraw": "people"},
                {"unknown": "drop", "repeat": "document"},
            ]
        )
    )
    release = private(**options)(text, entities=places)
    assert canary not in release.text
    assert canary.lower() not in release.text.lower()


def test_batches_and_single_texts_agree() -> None:
    texts = [TEXT, "the old patient. " * 40, TEXT + " a"] * 4
    found = [FOUND, [], FOUND] * 4
    parser = TextParser(WORDS, Policy())
    (fast, some), (slow, others) = (
        parser.parse(texts, found),
        parser._by_token(texts, parser._entities(texts, found)),
    )
    assert list(fast.slot_counts) == list(slow.slot_counts)
    assert some.ids.tolist() == others.ids.tolist()
    assert some.tallies.each() == others.tallies.each()
    assert fast.shares_always
    values = [str(number) for number in range(len(fast.forms))]
    assert fast.fill(np.zeros(len(some.ids), dtype=np.int64), values) == slow.fill(
        np.zeros(len(some.ids), dtype=np.int64), values
    )


# Detectors.


def find(text: str) -> list[tuple[int, int, str]]:
    """A detector of one word."""
    return [(text.index("Zyxwv"), text.index("Zyxwv") + 5, "PERSON")] if "Zyxwv" in text else []


class Analyzer:
    """What is asked like Presidio's."""

    def analyze(self, text: str, language: str) -> list[Presidio]:
        assert language == "en"
        return [Presidio(label, start, end) for start, end, label in find(text)]


@pytest.mark.parametrize("detector", [find, Analyzer(), lambda text: Doc(())])
def test_a_detector_is_asked_for_every_text(detector: Any) -> None:
    privatizer = private(detector=detector)
    asked = int(not isinstance(detector, type(find)) or detector is find)
    assert [each.counts["entities"] for each in privatizer.many(["met Zyxwv", "the"])] == [asked, 0]
    assert privatizer.batch(["met Zyxwv", "the"])[1]["entities"] == asked
    assert "entities" in str(privatizer.guarantee)
    assert privatizer("the").guarantee.texts == privatizer.guarantee.texts
    assert "detector" in privatizer.policy.to_dict()
    # What is given counts, too.
    assert privatizer("met Zyxwv", entities=[(0, 3, "ORG")]).counts["entities"] == asked + 1


def test_a_detector_travels_with_the_privatizer() -> None:
    again = pickle.loads(pickle.dumps(Privatizer(LEXICON, TEM(epsilon=2.0), detector=find)))  # noqa: S301
    assert again("met Zyxwv").counts["entities"] == 1
    assert again.policy.to_dict()["detector"] == "find"


def test_errors_of_a_detector_do_not_quote_the_text() -> None:
    def quotes(text: str) -> Any:
        yield 1 / len(text.replace("Zyxwv", ""))
        raise ValueError(text)

    for detector in (quotes, lambda text: int(text), lambda text: None):
        with pytest.raises(
            DataError, match="`detector` failed on a text of 5 characters"
        ) as caught:
            private(detector=detector)("Zyxwv")
        assert "Zyxwv" not in str(caught.value)
        assert caught.value.__cause__ is None
    with pytest.raises(ParameterError, match="Item 1 of `detector`"):
        private(detector=lambda text: [(0, 99, "X")])("Zyxwv")
    with pytest.raises(ParameterError, match="`detector` parameter must be a function"):
        private(detector=7)


def test_the_guarantee_says_what_shows() -> None:
    plain = private()
    promise = plain("the", entities=[]).guarantee
    assert "entities" not in str(plain.guarantee)
    assert "where entities are" in promise.texts
    assert any("may depend on all of the text" in each for each in promise.public)
    assert promise.of_kind("entity").loss(9.0) == 0.0
    with pytest.raises(ParameterError, match="Entities need a mechanism that promises an ε"):
        Privatizer(LEXICON, Gaussian(epsilon=1.0, delta=1e-5, sensitivity=1.0))("the", entities=[])


def test_spans_take_the_same_objects() -> None:
    expected = [(0, 28), (32, 45)]
    for found in (
        [*FOUND, (9, 24)],
        Doc(tuple(Spacy(la, s, e) for s, e, la in [*FOUND, (4, 24, "")])),
    ):
        assert found_spans(found, len(TEXT), name="spans") == expected
    release = private()
    assert TEXT[10:23] in release.spans(TEXT, FOUND).text


def test_texts_of_all_signs_do_not_break_it() -> None:
    signs = random.Random(8)
    for _ in range(200):
        text = "".join(signs.choices("aZ .,'\u0301\u200d&<>/#@1\n\t\ud800\U0001f469é", k=12))
        ends = sorted(signs.sample(range(13), 2))
        for options in ({}, {"markup": "html"}, {"redraw": "people"}):
            release = private(**options)(text, entities=[(*ends, signs.choice(LABELS))])
            assert isinstance(release.text, str)
            assert entities.TAG in release.counts

"""Identifiers: what is one, and that one drawn in its place is one of the same shape."""

from typing import cast

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from malaprop import seeded_rng
from malaprop.text import parser
from malaprop.text.kinds import Decimals, Form, StandIn, ValueForm
from malaprop.text.kinds.codes import ADAPTERS, HASHES, IPV4, IPV6, UUID, AccountForm
from malaprop.text.kinds.grammar import cut_values, read_value, split_values
from malaprop.text.kinds.identifiers import IdentifierForm, NameForm
from malaprop.text.parser import TextParser
from malaprop.text.policy import Policy

GROUPED = {  # letters and digits in groups of known lengths
    "550e8400-e29b-41d4-a716-446655440000": UUID,
    "e4b06ce6-0741-47a8-bce4-2c8218072e8c": UUID,
    "123456AB-CAFE-500a-beef-a12345678901": UUID,
    "12345678-cafe-12ab-beef-deadbeefcafe": UUID,
    "69:33:b3:89:46:71": ADAPTERS[":"],
    "10:30:00:ab:cd:ef": ADAPTERS[":"],
    "00-1B-44-11-3A-B7": ADAPTERS["-"],
}
CODES = {
    **GROUPED,
    "192.168.0.1": IPV4,
    "999.080.6.17": IPV4,
    "255.255.255.255": IPV4,
    "2001:db8::1": IPV6,
    "fe80::1ff:fe23:4567:890A": IPV6,
    "2001:4860:4860::8888": IPV6,
    "1:2:3:4:5:6:7:8": IPV6,
    "d41d8cd98f00b204e9800998ecf8427e": HASHES[32],
    "DA39A3EE5E6B4B0D3255BFEF95601890AFD80709": HASHES[40],
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855": HASHES[64],
    "GB29NWBK60161331926819": AccountForm(""),
    "no9386011117947": AccountForm(""),
    "GB29 NWBK 6016 1331 9268 19": AccountForm(" "),
    "GB29\xa0NWBK\xa06016\xa01331\xa09268\xa019": AccountForm(" "),
    "NO93 8601 1117 947": AccountForm(" "),
    "FR14 2004 1010 0505 0001 3M02 606": AccountForm(" "),
    "MT84 MALT 0110 0001 2345 MTLC AST0 01S": AccountForm(" "),
    "KZ86 125K ZT50 0410 0100": AccountForm(" "),
}
LABELS = {
    "883120": "999999",
    "02134": "99999",
    "00000": "99999",
    "4111111111111111": "9999999999999999",
    "007": "099",
    "0042": "0999",
    "00": "09",
    "٠١٢٣٤": "99999",
}
SHAPES = {
    # joined
    "INV-2023-0042": "AAA-9999-9999",
    "MRN-004512": "AAA-999999",
    "AB-1234-CD": "AA-9999-AA",
    "P-4471-B": "A-9999-A",
    "PO/2023/117": "AA/9999/999",
    "AB_12345": "AA_99999",
    "12-AB-34": "99-AA-99",
    "ÄÖ‑123": "AA‑999",
    "АБ-1234": "AA-9999",
    "F-150": "A-999",
    "MAR-2023": "AAA-9999",
    "555-123-4567-AB": "999-999-9999-AA",
    # with a part that is an identifier by itself
    "X7Y-4471": "A9A-9999",
    "x123-4567": "A999-9999",
    "H1N1-2009": "A9A9-9999",
    "h2o-5": "A9A-9",
    "GB29-NWBK-6016-1331-9268-19": "AA99-AAAA-9999-9999-9999-99",
}
FORMS = {**{text: IdentifierForm(shape) for text, shape in (SHAPES | LABELS).items()}, **CODES}
OTHERS = [
    *("COVID-19", "COVID-19-ICU", "B-52", "F-16C", "MP3", "A4", "Q3-2023", "mid-1990s", "PM-2.5"),
    *("UTF-8", "3-CD", "100-MG", "HLA-B27", "CD4/CD8", "T4/N1/M0", "C3-C4-C5", "SARS-CoV-2"),
    *("AB-500mg", "AB--123", "AB-CD--123", "AB-CD-12345x", "abc-1234", "Inv-2023-4200", "4471-B"),
    *("children-have-4567-eyes-professional", "so:it:is:as:we:do", "so-it-is-as-we-do", "a1:b2"),
    *(
        "US-$500",
        "05-MAR-2023",
        "AB12 CDEF 1234",
        "AB-123.5",
        "$45000",
        "45000mg",
        "05mg",
        "12345%",
    ),
    *("9999", "12,345", "12345.67", "0.5", "0", "10:30:00", "std::vector", "face::1", "3::4"),
    *("BMI=27", "year=2023", "12345th", "2023", "dead:beef", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
]


PARSER = TextParser(["cold"], Policy(kinds="typed"))


def forms_in(text: str) -> list[object]:
    values = [read_value(token, "mdy") for token in cut_values(text)]
    return [value.form for value in values if value is not None]


@pytest.mark.parametrize(("text", "form"), FORMS.items())
def test_what_is_one(text: str, form: Form) -> None:
    assert forms_in(text) == [form]
    assert split_values(f"cold-{text}, The") == ["cold", "-", text, ",", " ", "The"]


@pytest.mark.parametrize("text", OTHERS)
def test_what_is_none(text: str) -> None:
    assert not any(isinstance(form, IdentifierForm) for form in forms_in(text))


def test_it_ends_where_words_begin() -> None:
    assert split_values("AB-1234-related AB-1234's") == [
        "AB-1234",
        "-",
        "related",
        " ",
        "AB-1234",
        "'",
        "s",
    ]
    assert split_values("ES91 2100 0418 4502 0005 1332 CODE")[0] == "ES91 2100 0418 4502 0005 1332"


PARTS = st.text(st.sampled_from("ABMPXTE" + "0129" * 3), min_size=1, max_size=5)
SIGNS = ["-", "-", "/", "_", " ", "x", "ab1c", "1234567x", "'", "--", "."]
JOINED = st.lists(PARTS | st.sampled_from(SIGNS)).map("".join)
BESIDE = st.sampled_from(
    ["", " ", "3 ", "12-", "March ", " March", " pm", " 3 pm", "5 of ", "+", "$", "+44 20 "]
)


@given(
    JOINED | st.sampled_from([text for text in FORMS if " " not in text]),
    BESIDE,
    BESIDE,
    st.integers(0, 99),
)
@example("12-ABC-2023", "", "", 0)
@example("AB-1234567x", "", "", 0)
@example("AB-1234", "3 ", "", 1)
@example("A0A-3", "", "", 1)
@example("A0A-1e-5", "", "", 1)
@example("AB-1-2", "", "-34", 1)
@example("00/_", "", "", 0)
def test_what_is_drawn_is_read_as_the_same_template(
    text: str, before: str, after: str, seed: int
) -> None:
    """A released text, parsed again, has the same forms in the same places."""
    # Such a one is drawn in capitals, and then a number before it is a part of it.
    assume(text not in GROUPED or before != "12-")
    # A number goes on with digits of a code, and a code that letters touch is none.
    assume(text not in CODES or not before.strip() or before.strip()[0] not in "+$")
    parsed, _ = PARSER.parse([f"{before}{text}{after}"])
    assume(any(isinstance(form, IdentifierForm) for form in parsed.forms))
    assume(text not in CODES or CODES[text] in parsed.forms)
    rng = seeded_rng(seed)
    written = [
        form.draw(1, rng)[0]
        if isinstance(form, StandIn)
        else cast(ValueForm, form).write(int(rng.integers(24)))
        for form in parsed.forms
    ]
    again, _ = PARSER.parse(parsed.fill(np.zeros(len(parsed.typed), dtype=np.int64), written))
    assert again.forms == parsed.forms
    assert again.typed.tolist() == parsed.typed.tolist()


def test_no_drawn_letters_spell_a_month_or_an_hour() -> None:
    drawn = IdentifierForm("A").draw(2000, seeded_rng(1))
    assert set(drawn) == set("BCDFGHJKLNPQRSTVWXYZ")
    months = {"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"}
    assert all(set(spelled) - set(drawn) for spelled in {"AM", "PM", *months})


@pytest.mark.parametrize("few_letters", [0, 10**6])
def test_by_chunk_they_are_the_same(few_letters: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parser, "_FEW_LETTERS", few_letters)
    parsed, _ = TextParser(["cold", "rain"], Policy(kinds="typed")).parse(
        [f"Cold {text} rain\n({text})" for text in FORMS]
    )
    assert parsed.forms == [form for form in FORMS.values() for _ in range(2)]


OF_ALL_KINDS = [
    "id=883120 BMI=27, 02134 007 45000mg (05ml) $45000 10000th",
    'hunter2 mp3 b12 o\'brien2 é1, /home/ann/x.txt ~/y C:\\ann "/var/x" and/or 120/80 </b>',
    "10:30500mg (3 May 45000 km) 12.299,00 3 pm 007mg +44 20 7946 0958 45000mg",
    "10.0.0.1:80 fe80::1:2 GB29 NWBK 6016 1331 9268 19 /a/b",
]


@pytest.mark.parametrize("decimals", ["point", "comma"])
def test_both_ways_agree_on_every_kind(decimals: Decimals, monkeypatch: pytest.MonkeyPatch) -> None:
    read = []
    for few_letters in (0, 10**6):
        monkeypatch.setattr(parser, "_FEW_LETTERS", few_letters)
        policy = Policy(kinds="typed", decimals=decimals)
        templates, secrets = TextParser(["cold", "rain"], policy).parse(OF_ALL_KINDS)
        words = np.zeros(len(templates.typed), dtype=np.int64)
        filled = templates.fill(words, ["1"] * len(templates.forms))
        read.append((list(templates.forms), secrets.ids.tolist(), filled))
    assert read[0] == read[1]


def test_a_word_of_the_lexicon_is_no_name() -> None:
    parsed, _ = TextParser(["cold", "hunter2"], Policy(kinds="typed")).parse(["Hunter2 hunter3"])
    (form,) = parsed.forms
    assert isinstance(form, NameForm)
    assert form.words == {"hunter2"}

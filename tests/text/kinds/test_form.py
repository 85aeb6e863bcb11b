"""Every form can write every value of its grid, and what it writes is read as the same again."""

import itertools
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from malaprop import seeded_rng
from malaprop.text.kinds import DateOrder, Read, ValueForm
from malaprop.text.kinds.dates import DateForm, HourForm, NamedDateForm, TimeForm
from malaprop.text.kinds.grammar import read_value, split_values
from malaprop.text.kinds.addresses import EMAIL, MENTION, PATHS, URL
from malaprop.text.kinds.identifiers import IdentifierForm
from malaprop.text.kinds.numbers import DecadeForm, NumberForm, OrdinalForm, ScientificForm

VALUE_FORMS: list[ValueForm] = [
    *(NumberForm("number", decimals) for decimals in range(7)),
    *(NumberForm("money", d, before=sign) for d in range(7) for sign in "$£€¥₹"),
    *(NumberForm("money", d, after=sign) for d in range(7) for sign in "$£€¥₹"),
    *(NumberForm("percentage", decimals, after="%") for decimals in range(7)),
    OrdinalForm(),
    ScientificForm(),
    *(DecadeForm(short) for short in (True, False)),
    *(
        DateForm(order, separator, digits)
        for order in ("mdy", "dmy", "ymd")
        for separator in "-/."
        for digits in (2, 4)
        if (order, digits) != ("ymd", 2)
    ),
    *(DateForm("dmy", sign, digits, named=True) for sign in "-/." for digits in (2, 4)),
    *(NamedDateForm(parts) for parts in ("dmy", "mdy", "dm", "md", "my")),
    *(TimeForm(seconds) for seconds in (True, False)),
    *(TimeForm(s, before="T", after=after) for s in (True, False) for after in ("", "Z")),
    HourForm(),
]
SHAPES = [
    *("9999999", "99999999999999999999", "999-99-9999", "999-999-9999", "(999) 999-9999"),
    *("+99 99 9999 9999", "+9 (999) 999-9999", "999 999 9999", "9999 9999 9999 9999", "9.9.9"),
    *("99.999.9.99", "A999", "9A9", "A9A", "AA99AA", "9999999A", "99999-9999", "999-9999"),
    *("99999 999999", "99 99 99 99 99", "9.99999999", "9999999.99", "9-9-9-9", "(99) 9999 9999"),
    *(
        "AAA-9999-9999",
        "A-9999-A",
        "AA_99999",
        "99/AA/99",
        "A9A-9999",
        "AA99 AAAA 9999 9999 9999 99",
    ),
]
BEFORE = ["", " ", "(", '"', "is ", "a, ", "word. ", "—", "[", "\n", "…", "[ ", "cold-", "x:"]
AFTER = ["", " ", ")", '"', ", ", ". ", "; ", "!", "\n", "?", "…", "]", " cold", ". Cold", "—"]


def order_of(form: object) -> DateOrder:
    return "dmy" if isinstance(form, DateForm) and form.order == "dmy" else "mdy"


def one_value(text: str, order: DateOrder) -> Read:
    (found,) = [
        value for token in split_values(text) if (value := read_value(token, order)) is not None
    ]
    return found


@given(st.data(), st.sampled_from(BEFORE), st.sampled_from(AFTER))
def test_what_is_written_is_read_again(data: st.DataObject, before: str, after: str) -> None:
    form = data.draw(st.sampled_from(VALUE_FORMS))
    index = data.draw(st.integers(0, len(form.grid.values) - 1))
    written = form.write(index)
    assert split_values(written) == [written]
    assert read_value(written, order_of(form)) == (form, index)
    assert one_value(f"{before}{written}{after}", order_of(form)) == (form, index)


@pytest.mark.parametrize("form", VALUE_FORMS, ids=str)
def test_ends_and_a_sample_of_every_grid(form: ValueForm) -> None:
    size = len(form.grid.values)
    for index in {*range(0, size, 1 + size // 997), *range(min(size, 130)), size - 1}:
        assert read_value(form.write(index), order_of(form)) == (form, index)


@pytest.mark.parametrize("shape", SHAPES)
@given(st.integers(0, 2**32), st.sampled_from(BEFORE), st.sampled_from(AFTER))
def test_identifiers_keep_their_shape(shape: str, seed: int, before: str, after: str) -> None:
    form = IdentifierForm(shape)
    (written,) = form.draw(1, seeded_rng(seed))
    assert split_values(written) == [written]
    assert one_value(f"{before}{written}{after}", "mdy").form == form


@pytest.mark.parametrize("form", [EMAIL, URL, MENTION])
def test_stand_ins_are_well_formed(form: IdentifierForm) -> None:
    for written in form.draw(50, seeded_rng(1)):
        assert split_values(written) == [written]
        assert one_value(f"({written}) ", "mdy").form == form
    assert len(set(form.draw(50, seeded_rng(1)))) == 50


def test_no_format_is_left_out() -> None:
    """The numeric forms above are all that the grammar can give for a token of any length."""
    signs = ["", "$", "%", "st", "s", ":30", "/03/2023", "-03-12", "am", " March", " March 2023"]
    for digits, sign in itertools.product(range(1, 7), signs):
        for before in ("$", "") if sign in ("", "%") else ("",):
            for token in split_values(f"{before}{'1' * digits}{sign}"):
                value = read_value(token, "mdy")
                if value is not None and not isinstance(value.form, IdentifierForm):
                    assert cast(ValueForm, value.form) in VALUE_FORMS

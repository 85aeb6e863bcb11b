"""Every form can write every value of its grid, and what it writes is read as the same again."""

import itertools
import re
import uuid
from ipaddress import ip_address, ip_network
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from malaprop import seeded_rng
from malaprop.text.kinds import DateOrder, Decimals, Read, StandIn, ValueForm
from malaprop.text.kinds.addresses import EMAIL, MENTION, PATHS, URL
from malaprop.text.kinds.codes import ADAPTERS, HASHES, IPV4, IPV6, UUID, AccountForm
from malaprop.text.kinds.dates import DateForm, HourForm, NamedDateForm, TimeForm
from malaprop.text.kinds.grammar import read_value, split_values
from malaprop.text.kinds.identifiers import IdentifierForm, NameForm, is_word
from malaprop.text.kinds.numbers import DecadeForm, NumberForm, OrdinalForm, ScientificForm
from malaprop.text.parser import TextParser
from malaprop.text.policy import Policy

NUMBER_FORMS: list[ValueForm] = [
    *(NumberForm("number", d, comma=c) for d in range(7) for c in (False, True)),
    *(NumberForm("money", d, s, "", c) for d in range(7) for s in "$£€¥₹" for c in (False, True)),
    *(NumberForm("money", d, "", s, c) for d in range(7) for s in "$£€¥₹" for c in (False, True)),
    *(NumberForm("percentage", d, after="%", comma=c) for d in range(7) for c in (False, True)),
    *(form(comma) for form in (OrdinalForm, ScientificForm) for comma in (False, True)),
]
VALUE_FORMS: list[ValueForm] = [
    *NUMBER_FORMS,
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
    *(TimeForm(True, fraction=fraction) for fraction in (".000", ",000", ".000000")),
    *(TimeForm(True, "T", after, ".00") for after in ("", "Z")),
    HourForm(),
]
SHAPES = [
    *("9999999", "99999999999999999999", "999-99-9999", "999-999-9999", "(999) 999-9999"),
    *("+99 99 9999 9999", "+9 (999) 999-9999", "999 999 9999", "9999 9999 9999 9999", "9.9.9"),
    *("99.999.9.999.9", "A999", "9A9", "A9A", "AA99AA", "9999999A", "99999-9999", "999-9999"),
    *("99999 999999", "99 99 99 99 99", "9.99999999", "9999999.99", "9-9-9-9", "(99) 9999 9999"),
    *(
        "AAA-9999-9999",
        "A-9999-A",
        "AA_99999",
        "99/AA/99",
        "A9A-9999",
        "AA99-AAAA-9999-9999-9999-99",
    ),
    *("09", "099", "0999", "99999", "999999", "9.9.9999.9"),
]
ACCOUNTS = [AccountForm(""), AccountForm(" ")]
BEFORE = ["", " ", "(", '"', "is ", "a, ", "word. ", "—", "[", "\n", "…", "[ ", "cold-", "x:"]
AFTER = ["", " ", ")", '"', ", ", ". ", "; ", "!", "\n", "?", "…", "]", " cold", ". Cold", "—"]


def order_of(form: object) -> DateOrder:
    return "dmy" if isinstance(form, DateForm) and form.order == "dmy" else "mdy"


def decimals_of(form: object) -> tuple[Decimals, ...]:
    """Return the conventions under which a form is read: both, but for numbers with decimals."""
    if isinstance(form, NumberForm | OrdinalForm | ScientificForm):
        return ("comma",) if form.comma else ("point",)
    if isinstance(form, IdentifierForm) and re.fullmatch(r"9+\.9+", form.shape):
        return ("point",)
    return ("point", "comma")


def one_value(text: str, order: DateOrder = "mdy", decimals: Decimals = "point") -> Read:
    (found,) = [
        value
        for token in split_values(text, decimals)
        if (value := read_value(token, order, decimals)) is not None
    ]
    return found


@given(st.data(), st.sampled_from(BEFORE), st.sampled_from(AFTER))
def test_what_is_written_is_read_again(data: st.DataObject, before: str, after: str) -> None:
    form = data.draw(st.sampled_from(VALUE_FORMS))
    index = data.draw(st.integers(0, len(form.grid.values) - 1))
    written = form.write(index)
    for decimals in decimals_of(form):
        assert split_values(written, decimals) == [written]
        assert read_value(written, order_of(form), decimals) == (form, index)
        text = f"{before}{written}{after}"
        assert one_value(text, order_of(form), decimals) == (form, index)


@pytest.mark.parametrize("form", VALUE_FORMS, ids=str)
def test_ends_and_a_sample_of_every_grid(form: ValueForm) -> None:
    size = len(form.grid.values)
    for index in {*range(0, size, 1 + size // 997), *range(min(size, 130)), size - 1}:
        for decimals in decimals_of(form):
            assert read_value(form.write(index), order_of(form), decimals) == (form, index)


@pytest.mark.parametrize("decimals", ["point", "comma"])
def test_what_is_written_has_no_separator_below_ten_thousand(decimals: Decimals) -> None:
    """Nor has it a leading zero: a number that is written is never a label."""
    form = NumberForm("number", 0, comma=decimals == "comma")
    for index, value in enumerate(form.grid.values):
        written = form.write(index)
        assert written.isdecimal() == (value < 10_000)
        assert read_value(written, "mdy", decimals) == (form, index)


@pytest.mark.parametrize("shape", SHAPES)
@given(st.integers(0, 2**32), st.sampled_from(BEFORE), st.sampled_from(AFTER))
def test_identifiers_keep_their_shape(shape: str, seed: int, before: str, after: str) -> None:
    form = IdentifierForm(shape)
    (written,) = form.draw(1, seeded_rng(seed))
    for decimals in decimals_of(form):
        assert split_values(written, decimals) == [written]
        assert one_value(f"{before}{written}{after}", "mdy", decimals).form == form


@pytest.mark.parametrize(
    "form", [IPV6, IPV4, UUID, *ADAPTERS.values(), *HASHES.values(), *ACCOUNTS]
)
@given(st.integers(0, 2**32), st.sampled_from(BEFORE), st.sampled_from(AFTER))
def test_codes_stay_codes_of_their_kind(form: StandIn, seed: int, before: str, after: str) -> None:
    (written,) = form.draw(1, seeded_rng(seed))
    assert "cold-" in before or split_values(written) == [written]
    for decimals in decimals_of(form):
        assert one_value(f"{before}{written}{after}", "mdy", decimals).form == form


@pytest.mark.parametrize("form", [EMAIL, URL, MENTION, *PATHS.values()])
def test_stand_ins_are_well_formed(form: StandIn) -> None:
    for written in form.draw(50, seeded_rng(1)):
        assert split_values(written) == [written]
        for before, after in itertools.product(["", " ", "(", '"', "is ", "=", "\n", "a, "], AFTER):
            assert one_value(f"{before}{written}{after}").form == form
    assert len(set(form.draw(50, seeded_rng(1)))) == 50


def test_drawn_addresses_are_for_documentation() -> None:
    rng = seeded_rng(1)
    networks = [ip_network(each) for each in ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24")]
    drawn = [ip_address(each) for each in IPV4.draw(20_000, rng)]
    assert all(sum(address in network for network in networks) == 1 for address in drawn)
    assert len(set(drawn)) == 3 * 254
    assert all(ip_address(each) in ip_network("2001:db8::/32") for each in IPV6.draw(500, rng))
    assert all(each[:-3] == "00:00:5e:00:53" for each in ADAPTERS[":"].draw(500, rng))
    assert all(uuid.UUID(each).version == 4 for each in UUID.draw(500, rng))


@pytest.mark.parametrize("form", ACCOUNTS)
def test_drawn_account_numbers_have_valid_check_digits(form: AccountForm) -> None:
    for written in form.draw(500, seeded_rng(1)):
        number = written.replace(" ", "")
        assert len(number) == 22
        digits = "".join(str(int(sign, 36)) for sign in number[4:] + number[:4])
        assert int(digits) % 97 == 1


@pytest.mark.parametrize("shape", ["AAA9", "AAAAAA9", "AAA99"])
def test_no_drawn_name_is_a_word(shape: str) -> None:
    """Of three letters, seven are: they are drawn over and over again."""
    words = frozenset(f"bcd{digit}" for digit in range(10))
    drawn = NameForm(shape, words=words).draw(100_000, seeded_rng(1))
    assert not any(is_word(name, words) for name in drawn)
    if shape == "AAA9":
        plain = {name.lower() for name in IdentifierForm(shape).draw(100_000, seeded_rng(1))}
        assert any(is_word(name, words) for name in plain)


def test_no_format_is_left_out() -> None:
    """The numeric forms above are all that the grammar can give for a token of any length."""
    signs = ["", "$", "%", "st", "s", ":30", "/03/2023", "-03-12", "am", " March", " March 2023"]
    for digits, sign in itertools.product(range(1, 7), signs):
        for before in ("$", "") if sign in ("", "%") else ("",):
            for token in split_values(f"{before}{'1' * digits}{sign}"):
                value = read_value(token, "mdy")
                if value is not None and not isinstance(value.form, StandIn):
                    assert cast(ValueForm, value.form) in VALUE_FORMS


PARSER = TextParser(["cold", "in"], Policy(kinds="typed", redraw="people"))
TOUCHING = [
    "X7Y-12Anna",
    "INV-2023-0042Dr. Ann Lee",
    "X7Y-12May 5",
    "5March 2023",
    "3.5May 5, 2023",
]
TOUCHING += [f"{before}\u200bT10:43Z" for before in ("Anna", "5", "883120", "3 March", "a@b.org")]
TOUCHING += ["2023-03-04T10:43:00Z", "05-Mar-2023T10:43", "45000Smith", "$12Anna", "3/4/2023May"]


@pytest.mark.parametrize("text", TOUCHING)
@given(st.integers(0, 2**32))
def test_values_that_touch_are_read_again(text: str, seed: int) -> None:
    parsed, _ = PARSER.parse([f"cold {text} cold"])
    rng = seeded_rng(seed)
    written = [
        form.write(form.draw(1, rng)[0])
        if isinstance(form, StandIn)
        else cast(ValueForm, form).write(int(rng.integers(24)))
        for form in parsed.forms
    ]
    again, _ = PARSER.parse(parsed.fill(np.zeros(len(parsed.typed), dtype=np.int64), written))
    assert (again.forms, again.typed.tolist()) == (parsed.forms, parsed.typed.tolist())

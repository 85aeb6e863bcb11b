"""The public grammar: what is recognised, and that nothing but the format decides."""

import re
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from malaprop.text.kinds import Form, ValueForm
from malaprop.text.kinds.grammar import cut_values, read_value, split_values
from malaprop.text.kinds.identifiers import IdentifierForm, secret_of
from malaprop.text.tokens import tokenize


def shown(text: str, dates: str = "mdy") -> str:
    """Write each value as its grid has it, in braces; identifiers as their shapes."""
    return "".join(_shown(token, read_value(token, dates)) for token in cut_values(text))  # type: ignore[arg-type]


def _shown(token: str, value: tuple[Form, int] | None) -> str:
    if value is None:
        return token
    form, secret = value
    if isinstance(form, ValueForm):
        return f"{{{form.write(secret)}}}"
    return f"<{form.shape if isinstance(form, IdentifierForm) else form.tag}>"


EXAMPLES = {
    # numbers
    "7 007 42 999 0 05 0042": "{7} <099> {42} {999} {0} <09> <0999>",
    "1234, 12345, 123456": "{1230}, <99999>, <999999>",
    "12,345 12345.6 12345mg 05mg": "{12,300} {12,300.0} {12,300}mg {5}mg",
    "1,234 12,345,678": "{1230} {12,300,000}",
    "1803 2023 2099": "{1803} {2023} {2099}",
    "9,999,999,999,999,999": "{999,000,000,000}",
    "12,34 1,2,3": "{12},{34} {1},{2},{3}",
    "3.5 3.50 0.007 1,234.56": "{3.5} {3.50} {0.007} {1230.00}",
    ".5 -3 +4 5. 5": ".{5} -{3} +{4} {5}. {5}",
    "6.02e23 1.6E-19 3e-7": "{6.02e23} {1.60e-19} {3.00e-7}",
    "٤٢ ３.５ ١٬٢٣٤٫٥": "{42} {3.5} {1230.0}",
    # beside signs
    "$5 £3.50 5€ $1,500,000 $2000000 ($20)": "{$5} {£3.50} {5€} {$1,500,000} {$2,000,000} ({$20})",
    "US$5 -$5 $5m": "US{$5} -{$5} {$5}m",
    "5% 12.5% 5 % 1234567%": "{5%} {12.5%} {5} % {1,230,000%}",
    "1st 2nd 3RD 11th 1,000th 22th": "{1st} {2nd} {3rd} {11th} {1000th} {22nd}",
    "1990s 90s 1990's 45s '60s": "{1990s} {90s} {1990s} {40s} '{60s}",
    "500mg 54yo 20mph 3.5kg 12x": "{500}mg {54}yo {20}mph {3.5}kg {12}x",
    "120/80 3–5 3-5 1/2 3:2 #1 2019-2020": "{120}/{80} {3}–{5} {3}-{5} {1}/{2} {3}:{2} #{1} "
    "{2019}-{2020}",
    "1.5-2.5 5'10\" 5x": "{1.5}-{2.5} {5}'{10}\" {5}x",
    # dates
    "3/4/2023 03/04/23 2023-03-04 3.4.2023": "{03/04/2023} {03/04/23} {2023-03-04} {03.04.2023}",
    "13/04/2023 2/30/2023 0/0/2023 1/1/1066": "{12/04/2023} {02/28/2023} {01/01/2023} {01/01/1800}",
    "05-Mar-2023 5-MAR-23 5/March/2023 31-Feb-2023": "{05-Mar-2023} {05-Mar-23} {05/Mar/2023} "
    "{28-Feb-2023}",
    "5-mar-2023 5-Mar/2023 5-Mar-202 5-Marx-2023": "{5}-mar-{2023} {5}-Mar/{2023} {5}-Mar-{202} "
    "{5}-Marx-{2023}",
    "12 March 2023, March 12, 2023, March 12 2023": "{12 March 2023}, {March 12, 2023}, "
    "{March 12, 2023}",
    "12th of March, 12th March, 12 Mar": "{12 March}, {12 March}, {12 March}",
    "March 12th. Mar. 12, Sept. 3": "{March 12}. {March 12}, {September 3}",
    "March 2023 Mar, 2023 MARCH 2023": "{March 2023} {March 2023} {March 2023}",
    "31 February, Feb 29": "{29 February}, {February 29}",
    "march 12 and may 5 and Marching 5": "march {12} and may {5} and Marching {5}",
    "12-15 March, March 12-15": "{12}-{15 March}, {March 12}-{15}",
    "March 123 March 12.5 March 12%": "March {123} March {12.5} March {12%}",
    "1/2/3 12/2023 1/2/3/4": "{1}/{2}/{3} {12}/{2023} {1}/{2}/{3}/{4}",
    "2023-03-12T10:43:00Z": "{2023-03-12}{T10:43:00Z}",
    # times
    "10:43 9:05 10:43:12 25:70": "{10:43} {09:05} {10:43:12} {23:59}",
    "3:30 pm 3:30pm 3:30 p.m. 12:30 AM": "{15:30} {15:30} {15:30} {00:30}",
    "3pm 3 p.m. 12am 12 PM 54 am": "{3pm} {3pm} {12am} {12pm} {11pm}",
    "3 pmx 10:43x 1:2:3 10:43:22:11": "{3} pmx {10:43}x {1}:{2}:{3} <99:99:99:99>",
    "2023-03-12T10:43:07.5Z": "{2023-03-12}{T10:43:07.0Z}",
    "T10:43:07,123456789": "{T10:43:07,000000000}",
    "10:43:07,123 10:43:07.123456 INFO": "{10:43:07,000} {10:43:07.000000} INFO",
    "10:43:07.5 10:43:07,1230 10:43,123": "{10:43:07}.{5} {10:43:07},{1230} {10:43},{123}",
    "10:43:07,123,000 10:43:07.123x": "{10:43:07},{123,000} {10:43:07}.{123}x",
    # identifiers
    "1234567 12345678901234567890": "<9999999> <99999999999999999999>",
    "555-1234 555-123-4567 123-45-6789": "<999-9999> <999-999-9999> <999-99-9999>",
    "(555) 123-4567 (555)123-4567": "<(999) 999-9999> <(999)999-9999>",
    "+44 20 7946 0958 45.000; +44 20 7946 0958 1st": (
        "<+99 99 9999 9999> {45.000}; <+99 99 9999 9999> {1st}"
    ),
    "+44 20 7946 0958 +1 (555) 123-4567": "<+99 99 9999 9999> <+9 (999) 999-9999>",
    "555 123 4567, 07700 900123, 123 45 6789": "<999 999 9999>, <99999 999999>, <999 99 9999>",
    "4111 1111 1111 1111": "<9999 9999 9999 9999>",
    "1.2.3 1.2.3.4567 1-2-3": "<9.9.9> <9.9.9.9999> <9-9-9>",
    "x123 AB12CD 4x4 h2o 12ab34": "<A999> <AA99AA> <9A9> <A9A> <99AA99>",
    "B12 covid19 mp3": "B12 covid19 mp3",
    "3.1415926535 1234567.89": "<9.9999999999> <9999999.99>",
    # addresses
    "a@b.org http://x.y/1?z=2 www.x.org @me #tag #1": "<emails> <urls> <urls> <mentions> #tag #{1}",
    # words
    "XIV twelve first ½ m²": "XIV twelve first ½ m²",
}


@pytest.mark.parametrize(("text", "expected"), EXAMPLES.items())
def test_what_is_recognised(text: str, expected: str) -> None:
    assert shown(text) == expected


def test_identifiers_are_hardly_ever_taken_for_equal() -> None:
    """A text of ten thousand has fifty million pairs: 40 bits would not do."""
    secrets = [secret_of(f"{number:07}") for number in range(1000)]
    assert secret_of("ab-12") == secret_of("AB-12")
    assert max(secrets).bit_length() == 62
    assert min(secrets) >= 0


def test_the_order_of_a_date_is_an_option() -> None:
    assert shown("3/4/2023 4-3-23 2023/3/4", "dmy") == "{03/04/2023} {04-03-23} {2023/03/04}"
    april, march = (read_value("3/4/2023", order) for order in ("dmy", "mdy"))
    assert march is not None
    assert april is not None
    assert april.secret - march.secret == 30  # days from 4 March to 3 April


def forms(text: str) -> list[object]:
    """Return the template: a form for a value, a kind of character for all else."""
    values = [(token, read_value(token, "mdy")) for token in cut_values(text)]
    return [value.form if value else re.sub(r"\w", "w", token) for token, value in values]


TEMPLATES = [
    *("9/9/9999", "99.99.99", "9999-99-99", "99:99", "9:99 pm", "99am", "March 99", "99 March"),
    *("99-Mar-9999", "9/May/99"),
    *("March 9999", "March 9, 9999", "9 of March 9999", "$9.99", "99%", "9st", "9999s", "99s"),
    *("999mg", "199/19", "9-9", "999-9999", "+99 99 9999 9999", "(999) 999-9999", "9.9.9", "A999"),
    *("INV-9999", "A-9999-B", "GB99 NWBK 9999 9999 99", "99/AB/9", "X9Y-99", "COVID-19", "199-MG"),
    *("9999999", "9A9", "A9 9", "9.99e-9", "T99:99", "9,999.99", "#19", "999 999 9999", "9:9"),
]


@pytest.mark.parametrize("template", TEMPLATES)
@given(st.data())
def test_only_the_format_decides(template: str, data: st.DataObject) -> None:
    """Whatever the digits are, also of a value that does not exist: the template is the same.

    Only a plain number must not begin with a zero: 1 in a template is any other digit.
    """

    def digits() -> str:
        choices = {"9": "0123456789", "1": "123456789"}
        return "".join(
            data.draw(st.sampled_from(choices[sign])) if sign in choices else sign
            for sign in template
        )

    assert forms(digits()) == forms(digits()) == forms(template)


COMMA = {
    "12.299,00 1.234 1.234.567": "{12.300,00} {1230} {1.230.000}",
    "3,5 0,250 ,5 3.5": "{3,5} {0,250} ,{5} {3}.{5}",
    "1.234.567.890 10.0.0.1 1.2.3": "<identifiers> <identifiers> <9.9.9>",
    "1.234.567.890,50 $1.234.567.890": "{1.230.000.000,00} {$1.230.000.000}",
    "12,50€ 12.500€ 2,5% 1,5e7": "{12,50€} {12.500€} {2,5%} {1,50e7}",
    "45000mg 45000 4500 007": "{45.000}mg <99999> {4500} <099>",
    "12.3.2023 10:30 1,2,3": "{12.03.2023} {10:30} {1,2},{3}",
}


@pytest.mark.parametrize(("text", "expected"), COMMA.items())
def test_a_decimal_comma_is_an_option(text: str, expected: str) -> None:
    values = [(token, read_value(token, "mdy", "comma")) for token in cut_values(text, "comma")]
    written = "".join(_shown(*each) for each in values)
    assert written == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("007", "042"),
        ("7mg", "007mg"),
        ("1234mg", "12345mg"),
        ("10.0.0.255", "1.2.3.4"),
        ("/home/ann", "/x"),
        ("../../ann", "./x/y.txt"),
        ("C:\\ann", "d:\\x\\y"),
        ("1234", "1,234"),
        ("1,234,567", "5"),
        ("3:30", "03:30"),
        ("3:30 pm", "15:30"),
        ("3pm", "3 a.m."),
        ("1st", "22nd"),
        ("1/2/2023", "11/12/2023"),
        ("12th of March", "1 January"),
        ("5-March-2023", "31-DEC-1999"),
        ("March 1", "Dec. 31st"),
        ("1990's", "1990s"),
        ("$5", "$1,000,000"),
        ("$5", "$1000000"),
        ("6.02e23", "1.1e-5"),
        ("ab@c.org", "someone.else@a.long.example.com"),
        ("www.a.org", "https://b.org/c?d=e"),
        ("@ann", "@elizabeth_1926"),
        ("X123", "x999"),
    ],
)
def test_what_is_not_shown_of_a_format(one: str, other: str) -> None:
    assert forms(one) == forms(other)


SIGNS = " .,:;/-+()%$€'’#@*\n\xa0_|aAeEmpsthTZx٣½²é\u0301\u200b\ufe0f\u20e3😀"
DENSE = st.text(st.sampled_from(SIGNS + "0123456789" * 3), max_size=60)
PIECES = st.lists(
    st.sampled_from([*"    ,.-/:()%$", *EXAMPLES, *"0123456789", "March", "May", "pm", "of"]),
    max_size=12,
).map("".join)


@given(DENSE | PIECES | st.text())
@example("+1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9")
@example("1,111,1111")
def test_nothing_is_lost_and_every_digit_is_in_a_value_or_a_word(text: str) -> None:
    tokens = split_values(text)
    assert "".join(tokens) == text
    for token in tokens:
        value = read_value(token, "mdy")
        if token[0].isdecimal():
            assert value is not None
        if value is not None and isinstance(value.form, ValueForm):
            assert 0 <= value.secret < len(value.form.grid.values)
            assert split_values(value.form.write(value.secret)) == [value.form.write(value.secret)]


@given(DENSE | PIECES | st.text())
def test_a_token_is_read_alone_as_it_was_cut(text: str) -> None:
    """What stands around a token has no say in how it is read once it is cut out."""
    for token in split_values(text):
        if read_value(token, "mdy") is not None and "://" not in token:
            assert split_values(token) == [token]


@given(st.text(st.characters(exclude_characters="#/\\", exclude_categories=["Nd"])))
def test_without_digits_tokens_are_as_ever(text: str) -> None:
    assert split_values(text) == tokenize(text)


@pytest.mark.parametrize(
    "unit",
    [
        *(
            "1",
            "1-",
            "1.",
            "1,",
            "1,111",
            "1a",
            "a1",
            "1 ",
            "12 ",
            "123 ",
            "(1",
            "(555) ",
            "+1",
            "+",
        ),
        *(
            "$",
            "$1",
            "March ",
            "March 1 ",
            "1-Mar-",
            "1 of ",
            "12:",
            "12:12",
            "1/",
            "e1",
            "1e",
            "1.1e-",
            "T",
        ),
        *("1234 ", "é\u0301", "a", "aaa1", "١٬", "5'", "1\u0301", "@1", "#1", "1_", "1st", "1s"),
        *("1-Mar-", "1-Mar-20"),
        *(
            "A-",
            "A-1",
            "1/",
            "A1/",
            "A/1-",
            "AB_",
            "1A-",
            "AB12 ",
            "AB12 ABCD 1234 ",
            "a1b-",
            "A-A1",
        ),
        *(
            "/",
            "/a",
            "/.",
            "./",
            "../",
            "~/a",
            "a/",
            " /a",
            "C:\\",
            "1:",
            "a:",
            "a1:",
            "1.1.1.1",
            "0",
        ),
        *("05mg", "12345mg", "hunter2 ", "AA99", "AA99A1", "a1" * 16, "fe80::", "1,234.", "1.234,"),
        *("x" * 63 + "-", "A" * 63 + "-", "1" * 63 + "/", "abcdabcd-abcd-abcd-abcd-"),
    ],
)
def test_the_time_is_linear(unit: str) -> None:
    def seconds(length: int) -> float:
        text = unit * (length // len(unit))
        started = time.process_time()
        for token in split_values(text):
            read_value(token, "mdy")
        return time.process_time() - started

    seconds(100)
    assert seconds(40_000) < 0.1 + 40 * min(seconds(4_000), seconds(4_000))

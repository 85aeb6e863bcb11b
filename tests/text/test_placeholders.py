"""Placeholders: exactly the closed list, in four kinds of brackets."""

import re
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.text.linear import is_linear
from tests.text.markup_texts import MARKUP_TEXTS

from malaprop.text.segments import cut_placeholders, is_placeholder, placeholder_names

UNNUMBERED = placeholder_names()["unnumbered"]
NAMES = sorted(set(chain.from_iterable(placeholder_names().values())))

BRACKETS = [("[", "]"), ("<", ">"), ("{{", "}}"), ("__", "__")]
NUMBERS = ["1", "_0", "-0", "_1", "_12", "-999"]


def kept(text: str) -> list[str]:
    return [each.text for each in cut_placeholders(text) if each.public]


@pytest.mark.parametrize(("opening", "closing"), BRACKETS)
def test_every_name_is_a_placeholder_in_every_bracket(opening: str, closing: str) -> None:
    for name in NAMES:
        assert kept(f"to {opening}{name}{closing}, now") == [f"{opening}{name}{closing}"]


@pytest.mark.parametrize("number", NUMBERS)
def test_names_may_be_numbered_unless_the_number_may_be_their_value(number: str) -> None:
    for name in NAMES:
        assert is_placeholder(f"[{name}{number}]") == (name not in UNNUMBERED)
        assert is_placeholder(f"{{{{{name.lower()}{number}}}}}") == (name not in UNNUMBERED)


@pytest.mark.parametrize(
    "text",
    [
        *("[HIV]", "[NAMES]", "[NAME ]", "[ NAME]", "[NAME", "NAME", "(NAME)", "{NAME}", "_NAME_"),
        *("[Name]", "[name]", "<person>", "__id__", "[doctor]", "{{Name}}", "<PERSON/>"),
        *("[NAME_01]", "[NAME_1000]", "[NAME 1]", "[NAME__1]", "[NAME_]", "[NAME_1_2]", "[AGE_47]"),
        *("{{NAME-7358BF44}}", "{{NAME+EMAIL}}", "[**Hospital1 18**]", "[NAME: Ann]", "<PERSON>x"),
        *("a__ID__", "__ID__a", "___ID___", "[ＮＡＭＥ]", "[NAME_١]", "[NAME]\n", "</PERSON>"),
    ],
)  # fmt: skip
def test_nothing_else_is_a_placeholder(text: str) -> None:
    assert not is_placeholder(text)


# Written apart from the pattern that is tested.
FORM = re.compile(r"(\[|<|\{\{|__)(.*?)((?:[_-]?\d{1,3})?)(\]|>|\}\}|__)", re.DOTALL)


@given(MARKUP_TEXTS | st.lists(st.sampled_from([*NAMES, *"[]<>{}_-1"]), max_size=9).map("".join))
def test_what_is_kept_is_on_the_list(text: str) -> None:
    segments = cut_placeholders(text)
    assert "".join(each.text for each in segments) == text
    for piece in kept(text):
        form = FORM.fullmatch(piece)
        assert form
        assert (form[1], form[4]) in BRACKETS
        assert form[2] in NAMES or (form[1] == "{{" and form[2].upper() in NAMES)


def test_a_name_reaches_as_far_as_its_bracket() -> None:
    assert kept("[LOCATION-OTHER] [DATE_TIME] <US_SSN> [DATE_TIME_2]") == [
        *("[LOCATION-OTHER]", "[DATE_TIME]", "<US_SSN>", "[DATE_TIME_2]")
    ]


@pytest.mark.parametrize(
    "unit", ["[", "[NAME", "{{", "{{NAME", "__", "__ID", "<PERSON_", "[NAME_1"]
)
def test_the_time_is_linear(unit: str) -> None:
    assert is_linear(cut_placeholders, unit)

"""Templates with public pieces: shown exactly, with the gaps of the input."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from malaprop.text.segments import Segment
from malaprop.text.template import Part, Punctuation, Style, compose, fill, mark, mark_of

KEEP = Style("keep", articles=True)
PARTS: list[Part] = [None, None, " ", "  ", "\n", ", ", ". ", "!", "(", "[masked]", "é"]


@given(st.lists(st.sampled_from(PARTS), max_size=12), st.sampled_from(get_args(Punctuation)))
def test_without_public_pieces_it_is_fill(template: list[Part], punctuation: Punctuation) -> None:
    marks = "".join(map(mark, template))
    words = ["a", "apple", "i", "rain"] * 3
    words = words[: marks.count("w")]
    style = Style(punctuation, articles=True)
    assert compose(template, words, marks, style) == fill(
        template, words, punctuation=punctuation, articles=True, marks=marks
    )


@pytest.mark.parametrize(
    ("template", "marks", "shown"),
    [
        (["<b>", None, "</b>", None], "mwmw", "<b>One</b>two"),
        ([None, "[NAME]", None, ",", "[NAME]"], "wqwpq", "One[NAME]two,[NAME]"),
        ([None, "  ", "aspirin", "\t", None], "woqow", "One  aspirin\ttwo"),
        # A sentence goes on across tags within a line, and ends at those between lines.
        ([None, ".", "</b>", " ", None], "wpmsw", "One.</b> Two"),
        ([None, "<i>", " ", None], "wmsw", "One<i> two"),
        ([None, "</p>", "<p>", None], "wbbw", "One</p><p>Two"),
        (["<p>", "<b>", None, " ", None], "bmwsw", "<p><b>One two"),
        # What is public may end a sentence, or go on with it.
        (["He said. ", None, " ", None], "qwsw", "He said. One two"),
        (["Seen by ", None, ". ", None], "qwqw", "Seen by one. Two"),
        (["(", None, ") ", None], "qwqw", "(One) two"),
        (["[NAME]", " ", None, ":", " ", None], "qswpsw", "[NAME] one: two"),
    ],
)
def test_pieces_and_gaps_are_exact(template: list[Part], marks: str, shown: str) -> None:
    assert compose(template, ["one", "two"][: marks.count("w")], marks, KEEP) == shown


def test_private_text_is_escaped_and_public_text_is_not() -> None:
    style = Style("keep", articles=False, escape=lambda text: text.replace("&", "&amp;"))
    assert (
        compose(["&", None, "&lt;", " & "], ["at&t"], "pwqp", style) == "&amp;At&amp;t&lt; &amp; "
    )


def test_an_article_fits_across_tags_but_not_across_kept_words() -> None:
    assert compose([None, " ", "<b>", None], ["a", "apple"], "wsmw", KEEP) == "An <b>apple"
    assert compose([None, " ", "big", " ", None], ["a", "apple"], "wsqsw", KEEP) == "A big apple"


def test_an_article_fits_across_signs_that_are_dropped() -> None:
    style = Style("drop", articles=True)
    assert compose([None, ",", "<b>", None], ["a", "apple"], "wpmw", style) == "An <b>apple"
    assert compose([None, ",", "<b>", None], ["a", "apple"], "wpmw", KEEP) == "A,<b>apple"


def test_dropped_punctuation_leaves_public_pieces_closed_up() -> None:
    style = Style("drop", articles=False)
    template = ["(", "<b>", None, ",", " ", None, "</b>", "; ", "[NAME]", "\n", None, "!"]
    shown = compose(template, ["one", "two", "six"], "pmwpswmpqowp", style)
    assert shown == "<b>One two</b> [NAME]\nsix"


def test_many_pieces_without_letters_take_linear_time() -> None:
    shown = compose(["-", "."] * 50_000, [], "qp" * 50_000, KEEP)
    assert shown == "-." * 50_000


@pytest.mark.parametrize(
    ("text", "origin", "expected"),
    [
        ("<em>", "markup", "m"),
        ("<br>", "markup", "b"),
        ("</li>", "markup", "b"),
        ("<b>", "words", "q"),
    ],
)
def test_marks_of_pieces(text: str, origin: str, expected: str) -> None:
    assert mark_of(Segment(text, True, origin)) == expected

"""Templates with public pieces: shown exactly, with the gaps of the input."""

from collections.abc import Callable, Sequence

import pytest

from malaprop.text.segments import Segment
from malaprop.text.template import Part, Punctuation, Writer, lay_out, mark_of

ENGLISH = ("a", "an", "the")


def compose(
    parts: Sequence[Part],
    words: Sequence[str],
    marks: str,
    punctuation: Punctuation = "keep",
    escape: Callable[[str], str] = str,
) -> str:
    return Writer(ENGLISH, escape).fill(lay_out(parts, marks, punctuation, escape), list(words))


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
    assert compose(template, ["one", "two"][: marks.count("w")], marks) == shown


def test_private_text_is_escaped_and_public_text_is_not() -> None:
    shown = compose(
        ["&", None, "&lt;", " & "],
        ["at&t"],
        "pwqp",
        escape=lambda text: text.replace("&", "&amp;"),
    )
    assert shown == "&amp;At&amp;t&lt; &amp; "


def test_an_article_fits_across_tags_but_not_across_kept_words() -> None:
    assert compose([None, " ", "<b>", None], ["a", "apple"], "wsmw") == "An <b>apple"
    assert compose([None, " ", "big", " ", None], ["a", "apple"], "wsqsw") == "A big apple"


def test_an_article_fits_across_signs_that_are_dropped() -> None:
    assert compose([None, ",", "<b>", None], ["a", "apple"], "wpmw", "drop") == "An <b>apple"
    assert compose([None, ",", "<b>", None], ["a", "apple"], "wpmw") == "A,<b>apple"


def test_dropped_punctuation_leaves_public_pieces_closed_up() -> None:
    template = ["(", "<b>", None, ",", " ", None, "</b>", "; ", "[NAME]", "\n", None, "!"]
    shown = compose(template, ["one", "two", "six"], "pmwpswmpqowp", "drop")
    assert shown == "<b>One two</b> [NAME]\nsix"


def test_many_pieces_without_letters_take_linear_time() -> None:
    shown = compose(["-", "."] * 50_000, [], "qp" * 50_000)
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

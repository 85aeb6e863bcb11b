"""All public pieces together: markup, placeholders, words; each counted under its origin."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.text.markup_texts import MARKUP_TEXTS, rewritten

from malaprop import ParameterError
from malaprop.text.markup import Markup
from malaprop.text.public import PublicPieces
from malaprop.text.segments import Segment

KEEPS = ["placeholders", (), ("aspirin",), ("placeholders", "a", "x b")]
MARKUPS: list[Markup | None] = [None, "html", "markdown"]


@given(MARKUP_TEXTS, st.sampled_from(KEEPS), st.sampled_from(MARKUPS))
def test_without_private_text_only_public_pieces_are_shown(
    text: str, keep: str | tuple[str, ...], markup: Markup | None
) -> None:
    pieces = PublicPieces(keep, markup)
    public = "".join(each.text for each in pieces.cut(text) if each.public)
    assert rewritten(pieces, text, lambda _: "") == public
    assert all(each.text for each in pieces.cut(text))


@given(MARKUP_TEXTS)
def test_nothing_is_public_unless_declared(text: str) -> None:
    assert PublicPieces().cut(text) == ([Segment(text, False)] if text else [])


def test_the_origin_says_what_made_a_piece_public() -> None:
    segments = PublicPieces(["placeholders", "flu"], "html").cut("<p>[NAME] has flu")
    assert [(each.text, each.origin) for each in segments if each.public] == [
        ("<p>", "markup"),
        ("[NAME]", "placeholders"),
        ("flu", "words"),
    ]


@pytest.mark.parametrize("text", ["<PERSON>", "&lt;PERSON&gt;"])
def test_placeholders_in_angle_brackets_survive_markup(text: str) -> None:
    html = PublicPieces("placeholders", "html")
    assert html.cut(text) == [Segment("&lt;PERSON&gt;", True, "placeholders")]
    assert rewritten(html, text, str.lower) == "&lt;PERSON&gt;"
    assert rewritten(PublicPieces((), "html"), "<PERSON>") == ""


def test_kept_words_are_found_in_decoded_text() -> None:
    pieces = PublicPieces(["café", "a & b"], "html")
    assert rewritten(pieces, "Caf&eacute; a &amp; b", lambda _: "") == "Caféa &amp; b"


@pytest.mark.parametrize("markup", ["HTML", "", "xml", "md", 3])
def test_other_markup_is_refused(markup: Markup) -> None:
    with pytest.raises(ParameterError, match="`markup` parameter"):
        PublicPieces((), markup)


@pytest.mark.parametrize("keep", ["aspirin", "", ["a", ""]])
def test_other_lists_are_refused(keep: str | list[str]) -> None:
    with pytest.raises(ParameterError, match="`keep` parameter"):
        PublicPieces(keep)

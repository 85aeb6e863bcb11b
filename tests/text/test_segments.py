"""Segments: nothing lost, public and private apart."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from tests.text.markup_texts import MARKUP_TEXTS

from malaprop.text.markup import cut_html
from malaprop.text.segments import Segment, cut_at


@given(MARKUP_TEXTS, st.booleans())
def test_private_segments_of_html_have_public_neighbours(text: str, placeholders: bool) -> None:
    segments = cut_html(text, placeholders=placeholders)
    assert all(each.text for each in segments)
    assert all(a.public or b.public for a, b in pairwise(segments))


def test_cutting_at_the_ends_leaves_no_empty_segment() -> None:
    assert cut_at("abc", [(0, 1), (1, 3)]) == [Segment("a", True), Segment("bc", True)]
    assert cut_at("", []) == []

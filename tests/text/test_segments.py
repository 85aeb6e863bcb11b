"""Segments: nothing lost, public and private apart."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from malaprop.text.segments import Segment, cut_at, merge_segments

SEGMENTS = st.lists(st.builds(Segment, st.text(max_size=3), st.booleans()))


@given(SEGMENTS)
def test_tidying_loses_no_text(segments: list[Segment]) -> None:
    tidy = merge_segments(segments)
    assert "".join(each.text for each in tidy) == "".join(each.text for each in segments)
    assert all(each.text for each in tidy)
    assert [each for each in tidy if each.public] == [
        each for each in segments if each.public and each.text
    ]


@given(SEGMENTS)
def test_tidy_private_segments_have_public_neighbours(segments: list[Segment]) -> None:
    tidy = merge_segments(segments)
    assert all(a.public or b.public for a, b in pairwise(tidy))


def test_cutting_at_the_ends_leaves_no_empty_segment() -> None:
    assert cut_at("abc", [(0, 1), (1, 3)]) == [Segment("a", True), Segment("bc", True)]
    assert cut_at("", []) == []

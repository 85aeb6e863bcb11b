"""Spans: private where the user says so, public elsewhere; bad spans are refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from malaprop import ParameterError
from malaprop.text.public import cut_spans
from malaprop.text.segments import Segment


@given(st.text(), st.data())
def test_exactly_the_spans_are_private(text: str, data: st.DataObject) -> None:
    places = sorted(data.draw(st.sets(st.integers(0, len(text)))))
    spans = list(zip(places[::2], places[1::2], strict=False))
    segments = cut_spans(text, data.draw(st.permutations(spans)))
    assert "".join(each.text for each in segments) == text
    assert [each.text for each in segments if not each.public] == [text[a:b] for a, b in spans]


def test_spans_may_touch() -> None:
    assert cut_spans("abc", [(0, 1), (1, 3)]) == [Segment("a", False), Segment("bc", False)]


def test_spans_that_overlap_are_one() -> None:
    for spans in ([(1, 3), (0, 2)], [(0, 3), (0, 3)], [(0, 3), (1, 2)]):
        assert cut_spans("abcd", spans) == [Segment("abc", False), Segment("d", True, "spans")]


def test_numbers_of_numpy_are_numbers() -> None:
    assert cut_spans("ab", [tuple(np.array([0, 1]))])[0] == Segment("a", False)


@pytest.mark.parametrize(
    ("spans", "message"),
    [
        ([(2, 1)], r"Got \(2, 1\)"),
        ([(1, 1)], r"Got \(1, 1\)"),
        ([(-1, 1)], r"Got \(-1, 1\)"),
        ([(0, 7)], r"Got \(0, 7\)"),
        ([(0, 1.5)], "whole numbers"),
        ([(0, None)], "whole numbers"),
        ([(False, True)], "whole numbers"),
        ([(0, np.bool_(True))], "whole numbers"),
        ([3], "whole numbers"),
        ([(0, 1, 2)], "whole numbers"),
        (None, "each with its start and end"),
    ],
)
def test_bad_spans_are_refused(spans: list[tuple[int, int]], message: str) -> None:
    with pytest.raises(ParameterError, match=message) as caught:
        cut_spans("secret", spans)
    assert "secret" not in str(caught.value)

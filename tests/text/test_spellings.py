"""Strings that are joined as bytes are those that would be joined one by one."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from malaprop.text import template as module
from malaprop.text.template import Spellings

STRINGS = st.text(st.sampled_from(" \n\x00\u2028\ud800\udc00ß北😀ab") | st.characters(codec=None))
PIECES = st.lists(st.lists(st.tuples(STRINGS, st.booleans()), min_size=1), min_size=1)


@given(PIECES, st.integers(1, 5))
@example([[("", False)], [("\ud83d", False), ("\ude00", True)]], 1)
def test_joined_they_are_the_texts(texts: list[list[tuple[str, bool]]], together: int) -> None:
    strings = [string for text in texts for string, _ in text]
    ends = np.cumsum(list(map(len, texts)))
    spaced = np.array([space for text in texts for _, space in text], dtype=np.int64)
    spaced[ends - 1] = 1
    shown = [string + " " * space for string, space in zip(strings, spaced.tolist(), strict=True)]
    expected = ["".join(shown[start:end])[:-1] for start, end in pairwise([0, *ends.tolist()])]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_TOGETHER", together)
        assert Spellings.of(strings).texts(spaced, ends) == expected


@given(st.lists(STRINGS, min_size=1), st.lists(STRINGS), st.data())
def test_strings_are_taken_and_replaced(
    strings: list[str], others: list[str], data: st.DataObject
) -> None:
    places = data.draw(st.lists(st.integers(0, len(strings) - 1), max_size=9))
    spellings = Spellings.of(strings)
    assert _strings(spellings.take(np.array(places, dtype=np.int64))) == [
        strings[place] for place in places
    ]
    replaced = dict(zip(dict.fromkeys(places), others, strict=False))
    new = spellings.replace(
        np.array(list(replaced), dtype=np.int64), Spellings.of(replaced.values())
    )
    assert _strings(new) == [replaced.get(i, string) for i, string in enumerate(strings)]
    assert _strings(spellings) == strings  # as before


def _strings(spellings: Spellings) -> list[str]:
    count = len(spellings.starts)
    return spellings.texts(np.ones(count, dtype=np.int64), np.arange(1, count + 1))

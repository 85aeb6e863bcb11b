"""Both ways to find the distinct chunks of texts give the same, for any text."""

import subprocess
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from malaprop.text import chunks as module
from malaprop.text.chunks import by_arrow, by_dictionary, chunks_of, distinct_chunks

NASTY = " \n\t\r\x00\x0b\x1c\x85\xa0\u2028\u3000\ud800\udc00ß北😀ab"
TEXTS = st.lists(st.text(st.sampled_from(NASTY + " " * 9) | st.characters(codec=None)), min_size=1)


@given(TEXTS)
@example([""])
@example(["", "", " ", "\n", " \n", "\n ", "\n\n"])
@example(["\ud83d\ude00 😀", "\ud83d", "\ude00 a", "\x00", "a\x00 a", "a\u2028b a"])
def test_both_ways_are_one(texts: list[str]) -> None:
    expected, actual = by_dictionary(texts), by_arrow(texts)
    assert actual.distinct == expected.distinct
    assert actual.numbers.tolist() == expected.numbers.tolist()
    assert actual.lengths.tolist() == expected.lengths.tolist()


@given(TEXTS)
def test_they_are_the_chunks_of_the_texts(texts: list[str]) -> None:
    distinct, numbers, lengths = by_arrow(texts)
    chunks = [distinct[number] for number in numbers.tolist()]
    assert chunks == [chunk for text in texts for chunk in chunks_of(text)]
    assert lengths.tolist() == [len(chunks_of(text)) for text in texts]
    assert distinct == list(dict.fromkeys(chunks))


@pytest.mark.parametrize(("letters", "way"), [(10, "by_arrow"), (9, "by_dictionary")])
def test_letters_decide_which_way(monkeypatch: pytest.MonkeyPatch, letters: int, way: str) -> None:
    monkeypatch.setattr(module, "_MANY_LETTERS", 10)
    for name in ("by_arrow", "by_dictionary"):
        monkeypatch.setattr(module, name, lambda texts, name=name: name)
    assert distinct_chunks(["x" * (letters - 1), "x"]) == way  # type: ignore[comparison-overlap]


def test_few_chunks_import_no_arrow_and_many_no_pandas() -> None:
    code = """if True:
        import sys
        from malaprop.text.policy import Policy
        from malaprop.text.parser import TextParser
        parser = TextParser(["the", "rain"], Policy())
        parser.parse(["the rain, " * 1000])
        assert "pyarrow" not in sys.modules
        parser.parse(["the rain, " * 30_000])
        assert "pyarrow" in sys.modules
        assert "pandas" not in sys.modules
    """
    subprocess.run([sys.executable, "-c", code], check=True)

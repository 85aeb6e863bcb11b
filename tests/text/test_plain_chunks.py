"""Plain chunks are cut as the tokenizer cuts them, and learnt as they would be one by one."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from malaprop.text.chunks import one_words, plain_tokens
from malaprop.text.kinds import grammar
from malaprop.text.policy import Policy
from malaprop.text.tokens import tokenize
from malaprop.text.treatment import BoundPolicy

VISIBLE = "".join(map(chr, range(0x21, 0x7F)))
# Signs and letters that decide how a chunk is cut, more often than others.
CHUNKS = st.text(st.sampled_from(VISIBLE + "wW./:'+*_-" * 4), min_size=1, max_size=12)
WORDS = ["the", "rain", "not", "user", "symbol", "thousand", "may"]


@given(CHUNKS)
@example("http:///")
@example("www./x")
@example("x://a")
@example("rock'n'roll'")
@example("WWW.-")
@example("a_b*c")
def test_plain_chunks_are_cut_as_the_tokenizer_cuts_them(chunk: str) -> None:
    tokens = plain_tokens(chunk)
    if tokens is not None:
        assert tokens == tokenize(chunk) == grammar.split_values(chunk)
    (parts,) = one_words([chunk])
    if any(parts):
        assert [part for part in parts if part] == tokenize(chunk) == grammar.split_values(chunk)


@pytest.mark.parametrize("chunk", ["3pm", "@ann", "#tag", "naïve", "a\x7f", "", "www.x", "ftp://x"])
def test_other_chunks_are_left_to_the_tokenizer(chunk: str) -> None:
    assert plain_tokens(chunk) is None
    assert one_words([chunk]) == [("", "", "")]


@given(st.lists(CHUNKS | st.text(st.characters(exclude_characters=" "), max_size=5)))
@example(["", "\n", "a\nb", "(it's)", "naïve", "aw", "www", "c+", "\x00", "\u2028a"])
def test_each_chunk_has_its_own_parts(chunks: list[str]) -> None:
    every = one_words(chunks)
    assert every == [parts for chunk in chunks for parts in one_words([chunk])]
    for chunk, parts in zip(chunks, every, strict=True):
        assert "".join(parts) in ("", chunk)


@given(st.lists(CHUNKS, max_size=8), st.sampled_from(["map", "mask", "drop", "keep"]))
def test_words_that_are_learnt_are_treated_as_if_they_were_not(
    words: list[str], unknown: str
) -> None:
    options = Policy(unknown=unknown, kinds="typed")  # type: ignore[arg-type]
    learnt, fresh = BoundPolicy(WORDS, options), BoundPolicy(WORDS, options)
    tokens = [token for word in words for token in plain_tokens(word) or ()]
    treated = learnt.treat_distinct(set(tokens))
    assert treated == {token: fresh.treat_all([token])[0] for token in tokens}
    assert treated == {token: learnt.treat_all([token])[0] for token in tokens}

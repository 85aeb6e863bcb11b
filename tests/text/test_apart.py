"""Texts taken apart chunk by chunk: exactly what comes out piece by piece, and no more is kept."""

import pickle
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import get_args

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from malaprop.text import Apart, Planner, Policy, Workbench, split
from malaprop.text import apart as apart_module
from malaprop.text import chunks as chunks_module
from malaprop.text.chunked import ChunkedTexts
from malaprop.text.forms import Forms
from malaprop.text.policy import Unknown
from malaprop.text.surface import Punctuation
from malaprop.text.writer import Writer

WORDS = ["a", "an", "the", "i", "i'm", "apple", "user", "hour", "dog", "rain", "ŉa", "b c", "two"]
OTHER_WORDS = ["hund", "rain", "a"]
POLICIES = [
    Policy(unknown=unknown, punctuation=punctuation)
    for unknown in get_args(Unknown)
    for punctuation in get_args(Punctuation)
]
BENCHES = {policy: Workbench(WORDS, policy) for policy in POLICIES}
PROSE = (
    'The dog, a well-known (1,000 times) "user"... An apple\u2019s hour — 3.5mg!\n\n'
    "the rain; I'm in.\tTwo\r\nof a@b.org's [dogs]? 😀 yes.\u200bno #hot\xa0dog\n"
)


@pytest.fixture(scope="module", autouse=True)
def _no_text_is_too_short() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(apart_module, "_FEW_LETTERS", 0)
        yield


SPACES = " \t\n\r\v\f\x1c\x1f\x85\xa0\u2003\u2028\u2029\u3000"
SIGNS = (
    ".!?…؟。！？\"'”’»)]}([-—,;_:/@#$&" + "aAiw19٣ß\u0301\u200d\u200b\xad\ufeff\x00\ud800😀🇩≤½北"
)
NASTY = st.text(st.sampled_from(SPACES + SIGNS + " " * 9 + "\n" * 4) | st.characters(), max_size=40)
WORDY = st.lists(
    st.sampled_from(
        [
            *WORDS,
            *"    \n\n.,-!)'\"\t\r。",
            ". ",
            "\n ",
            "Zyx",
            "i\u200b",
            "\x96",
            "w.",
            "http://x.y",
        ]
    ),
    max_size=30,
).map("".join)
TEXTS = st.lists(NASTY | WORDY | st.just(PROSE), max_size=6)


def piecewise(texts: list[str], policy: Policy, words: list[str] = WORDS) -> Forms:
    return Forms(texts, Planner(words, policy), Writer(words, policy.punctuation))


def assert_equal(one: Apart, other: Apart, seed: int, words: int = len(WORDS)) -> None:
    assert one.ids.tolist() == other.ids.tolist()
    assert list(one.sizes) == list(other.sizes)
    assert list(one.signs) == list(other.signs)
    assert one.counts() == other.counts()
    assert list(one.counts()) == list(other.counts())
    assert one.counts_of_each() == other.counts_of_each()
    drawn = np.random.default_rng(seed).integers(words, size=len(one.ids))
    assert one.put_together(drawn) == other.put_together(drawn)


@given(TEXTS, st.sampled_from(POLICIES), st.integers(0, 99))
@example([""], Policy(), 0)
@example(["", " ", "\n", "\t", "  ", " \n ", "a", " a ", "\ta\n"], Policy(), 0)
@example(["a \x96 a", "a\n\x96\na", "a \x96. a", "\x96", "a.\x96\n \x96\na"], Policy(), 1)
@example(["a\n\na", "a\n", "\na", "a\n \t\na", "a\n.\na", "a\r\n\r\na"], Policy(), 2)
@example(["a.\na", "a. a", "a.) a", "a.a", "a . a", "a 。a", "a。 - a"], Policy(), 3)
@example(["a-a-a-a.a@b", "3.5mg a", "a - a", "a\t\ta"], Policy(), 4)
def test_chunk_by_chunk_is_like_piece_by_piece(texts: list[str], policy: Policy, seed: int) -> None:
    assert_equal(BENCHES[policy].take_apart(texts), piecewise(texts, policy), seed)


@given(TEXTS, st.integers(0, 99))
def test_so_it_is_without_articles(texts: list[str], seed: int) -> None:
    apart = Workbench(OTHER_WORDS, Policy()).take_apart(texts)
    assert_equal(apart, piecewise(texts, Policy(), OTHER_WORDS), seed, len(OTHER_WORDS))


@given(NASTY | WORDY)
def test_no_piece_but_white_space_goes_beyond_a_chunk(text: str) -> None:
    for chunks in (text.split(" "), text.replace("\n", " \n ").split(" ")):
        apart = chain.from_iterable(map(split, chunks))
        assert [piece for piece in split(text) if piece.strip()] == [
            piece for piece in apart if piece.strip()
        ]


def test_prose_goes_chunk_by_chunk_and_what_is_awkward_does_not() -> None:
    bench = Workbench(WORDS, Policy())
    assert isinstance(bench.take_apart([PROSE, ""]), ChunkedTexts)
    for awkward in ("the \x96 rain", "x" * 129):
        assert isinstance(bench.take_apart([awkward]), Forms)
        some = bench.take_apart([PROSE, awkward, PROSE])
        assert not isinstance(some, ChunkedTexts | Forms)
        assert_equal(some, piecewise([PROSE, awkward, PROSE], Policy()), 1)
    assert isinstance(bench.take_apart([]), Forms)


def test_few_letters_go_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart_module, "_FEW_LETTERS", 10)
    bench = Workbench(WORDS, Policy())
    assert isinstance(bench.take_apart(["the rain"]), Forms)
    assert isinstance(bench.take_apart(["the rain"] * 2), ChunkedTexts)


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks_module, "_ENTRIES", 10)
    bench = Workbench(WORDS, Policy())
    texts = [f"the{number} dog," for number in range(95)] + ["x" * 129]
    assert_equal(bench.take_apart(texts), piecewise(texts, Policy()), 1)
    (chunks,) = bench._spare
    assert 0 < len(chunks) <= 10
    assert "x" * 129 not in chunks


@pytest.mark.parametrize(("limit", "sign"), [("_SHAPES", "!"), ("_SEVERAL", "-a")])
def test_all_is_forgotten_where_too_much_would_stay(
    monkeypatch: pytest.MonkeyPatch, limit: str, sign: str
) -> None:
    monkeypatch.setattr(chunks_module, limit, 20)
    bench = Workbench(WORDS, Policy())
    for count, kept in ((2, 1), (30, 0), (2, 1)):
        texts = [f"a{sign * number}" for number in range(count)]
        assert_equal(bench.take_apart(texts), piecewise(texts, Policy()), 1)
        assert len(bench._spare) == kept


def test_what_was_read_does_not_travel() -> None:
    bench = Workbench(WORDS, Policy())
    bench.take_apart(["zyxsecret, zyxsecret"])
    assert "zyxsecret," in bench._spare[0]
    travelled = pickle.dumps(bench)
    assert b"zyxsecret" not in travelled
    assert_equal(pickle.loads(travelled).take_apart([PROSE]), bench.take_apart([PROSE]), 1)  # noqa: S301


def test_threads_do_not_disturb_each_other() -> None:
    bench = Workbench(WORDS, Policy())
    batches = [[f"dog{number % 97}-{number}, rain{'!' * (number % 7)}"] for number in range(600)]
    with ThreadPoolExecutor(4) as pool:
        for batch, apart in zip(batches, pool.map(bench.take_apart, batches), strict=True):
            assert apart.put_together(apart.ids) == piecewise(batch, Policy()).put_together(
                apart.ids
            )


def test_what_was_read_by_halves_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Workbench(WORDS, Policy())
    bench.take_apart(["the rain"])
    with monkeypatch.context() as patch:
        patch.setattr(chunks_module, "ends_sentence", _interrupted)
        with pytest.raises(KeyboardInterrupt):
            bench.take_apart(["the rain,;: the dog"])
    assert not bench._spare
    assert_equal(bench.take_apart([PROSE]), piecewise([PROSE], Policy()), 1)
    assert bench.take_apart(["the rain,;: the dog"]).counts()["punctuation"] == 1


def _interrupted(gap: str) -> bool:
    raise KeyboardInterrupt


@pytest.mark.parametrize("unknown", get_args(Unknown))
def test_long_texts_and_long_chunks(unknown: Unknown) -> None:
    policy = Policy(unknown=unknown)
    texts = ["a-" * 64, "a-" * 65, PROSE * 50, "\n" * 1000 + "a", "dog " * 1000, "?! " * 1000]
    assert_equal(Workbench(WORDS, policy).take_apart(texts), piecewise(texts, policy), 1)


@pytest.mark.parametrize("policy", POLICIES)
def test_signs_that_are_shown_are_counted_for_each_text(policy: Policy) -> None:
    texts = ["... --- ...", "", " \n", "the rain, the dog!", "a: ... --- ...", "😀", "\u200b?"]
    apart = BENCHES[policy].take_apart(texts)
    signs = [3, 0, 0, 2, 4, 0, 1] if policy.punctuation == "keep" else [0] * 7
    assert list(apart.signs) == signs

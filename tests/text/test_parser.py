"""Texts parsed chunk by chunk: exactly what token by token gives, and nothing more is kept."""

import pickle
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import chain, product
from typing import get_args

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from malaprop.text import chunks as chunks_module
from malaprop.text import parser
from malaprop.text import treatment as treatment_module
from malaprop.text.kinds import Decimals
from malaprop.text.kinds.grammar import split_values
from malaprop.text.parser import Secrets, Templates, TextParser
from malaprop.text.policy import Kinds, Policy, Unknown
from malaprop.text.template import Punctuation
from malaprop.text.tokens import tokenize
from malaprop.text.word_map import WordMap

WORDS = ["a", "an", "the", "i", "i'm", "apple", "user", "hour", "dog", "rain", "ŉa", "b c", "two"]
OTHER_WORDS = ["hund", "rain", "a"]
POLICIES = [
    Policy(unknown=unknown, punctuation=punctuation, kinds=kinds)
    for unknown in get_args(Unknown)
    for punctuation in get_args(Punctuation)
    for kinds in get_args(Kinds)
]
TYPED = Policy(kinds="typed")
PARSERS = {policy: TextParser(WORDS, policy) for policy in [*POLICIES, Policy()]}
PROSE = (
    'The dog, a well-known (1,000 times) "user"... An apple\u2019s hour — 3.5mg!\n\n'
    "the rain; I'm in.\tTwo\r\nof a@b.org's [dogs]? 😀 yes.\u200bno #hot\xa0dog\n"
)


@pytest.fixture(scope="module", autouse=True)
def _no_text_is_too_short() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parser, "_FEW_LETTERS", 0)
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
NUMERIC = st.lists(
    st.sampled_from(
        [
            *("3", "12", "2023", "555", "(555)", "1234", "4567,", "+44", "12th", "$5", "5%", "1st"),
            *("3,", "3rd.,", "May", "GB29 NWBK 6016 1331 9268 19", "AB12 ABCD ABC1 1ABC ABCD"),
            *("ABCD", "A1B", "of March", "May 3, 2023", "3rd of May, 2023"),
            *("March", "Mar.", "May,", "of", "a", "an", "pm", "p.m.", "am.", "10:30", "3/4/2023"),
            *(
                "AB-1234",
                "GB29",
                "NWBK",
                "AB12",
                "6016",
                "A1",
                "P-447-B",
                "GB29\xa0NWBK",
                "X/",
                "-12",
            ),
            *("x1y2", "a@b.org", "@dog", "#rain", "8", "11", "500mg", "-", "dog", "+", "1234567"),
            *(
                "\0",
                "March\xa03,",
                "3\xa0of",
                "of\xa0March",
                "\xa0",
                "\u202f",
                "2023-01-02T10:30",
                "i",
            ),
        ]
    ).flatmap(lambda piece: st.sampled_from([f"{piece} ", f"{piece} ", piece, f"{piece}\n"])),
    max_size=14,
).map("".join)
TEXTS = st.lists(NASTY | WORDY | NUMERIC | st.just(PROSE), max_size=6)


Parsed = tuple[Templates, Secrets]


def by_token(texts: list[str], policy: Policy, words: list[str] = WORDS) -> Parsed:
    return _parser(tuple(words), policy)._by_token(texts)


@cache
def _parser(words: tuple[str, ...], policy: Policy) -> TextParser:
    return TextParser(words, policy)


def ways(parsed: Parsed) -> tuple[bool, bool]:
    """Whether any text was parsed token by token, and whether any was chunk by chunk."""
    return bool(parsed[0]._texts), parsed[0]._chunks is not None


def assert_equal(parsed: Parsed, expected: Parsed, seed: int, words: int = len(WORDS)) -> None:
    (templates, secrets), (others, own) = parsed, expected
    assert secrets.ids.tolist() == own.ids.tolist()
    assert list(templates.slot_counts) == list(others.slot_counts)
    assert secrets.tallies.total() == own.tallies.total()
    assert list(secrets.tallies.total()) == list(own.tallies.total())
    assert secrets.tallies.each() == own.tallies.each()
    assert templates.typed.tolist() == others.typed.tolist()
    assert list(templates.forms) == list(others.forms)
    rng = np.random.default_rng(seed)
    drawn = rng.integers(words, size=len(secrets.ids))
    values = rng.choice(["8", "11th", "[x]", "3", "a"], size=len(templates.forms)).tolist()
    assert templates.fill(drawn, values) == others.fill(drawn, values)


@given(TEXTS, st.sampled_from(POLICIES), st.integers(0, 99))
@example([""], Policy(), 0)
@example(["", " ", "\n", "\t", "  ", " \n ", "a", " a ", "\ta\n"], Policy(), 0)
@example(["a \x96 a", "a\n\x96\na", "a \x96. a", "\x96", "a.\x96\n \x96\na"], Policy(), 1)
@example(["a. \x96 a", "a \x96 \x96 a", "3 May \x96 3 May", "a \x96  a", "a \x96 Zyx a"], TYPED, 1)
@example(
    ["a Zyx a", "Zyx a", "a, Zyx. a", "a Zyx Zyx a Zyx an"],
    Policy(unknown="drop", kinds="words"),
    1,
)
@example(["a\n\na", "a\n", "\na", "a\n \t\na", "a\n.\na", "a\r\n\r\na"], Policy(), 2)
@example(["a.\na", "a. a", "a.) a", "a.a", "a . a", "a 。a", "a。 - a"], Policy(), 3)
@example(["a-a-a-a.a@b", "3.5mg a", "a - a", "a\t\ta"], Policy(), 4)
@example(["5\u200bdog", "dog5 5", "5dog 5.5dog", "a 8 a\n11", "2023-01-02T10:30"], TYPED, 5)
@example(["+ 12345678901", "the + (44) 20 7946 0958", "(+ 44 20 7946 0958"], TYPED, 7)
@example(["March\xa03, 2023", "3\xa0of March", "3 of\xa0March", "3 March", "a 3 pm"], TYPED, 6)
@example(["3 May's", "3 May'x", "3 pm's", "3 d'May 3", "5 of's March"], TYPED, 6)
@example(["(555) 123-4567", "+44 (20) 7946 0958", "555 123 4567", "3 March\n2023"], TYPED, 7)
def test_chunk_by_chunk_is_like_token_by_token(texts: list[str], policy: Policy, seed: int) -> None:
    assert_equal(PARSERS[policy].parse(texts), by_token(texts, policy), seed)


@given(TEXTS, st.integers(0, 99))
def test_so_it_is_without_articles(texts: list[str], seed: int) -> None:
    parsed = TextParser(OTHER_WORDS, Policy()).parse(texts)
    assert_equal(parsed, by_token(texts, Policy(), OTHER_WORDS), seed, len(OTHER_WORDS))


@given(NASTY | WORDY)
def test_no_token_but_white_space_goes_beyond_a_chunk(text: str) -> None:
    for chunks in (text.split(" "), text.replace("\n", " \n ").split(" ")):
        tokens = chain.from_iterable(map(tokenize, chunks))
        assert [token for token in tokenize(text) if token.strip()] == [
            token for token in tokens if token.strip()
        ]


def test_prose_goes_chunk_by_chunk_and_what_is_awkward_does_not() -> None:
    text_parser = TextParser(WORDS, Policy())
    assert ways(text_parser.parse([PROSE, ""])) == (False, True)
    for awkward in ("the \x96\train", "the rain \x96", "x" * 129):
        assert ways(text_parser.parse([awkward])) == (True, False)
        mixed = text_parser.parse([PROSE, awkward, PROSE])
        assert ways(mixed) == (True, True)
        assert_equal(mixed, by_token([PROSE, awkward, PROSE], Policy()), 1)
    assert ways(text_parser.parse([])) == (False, False)


def test_few_letters_go_token_by_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parser, "_FEW_LETTERS", 10)
    text_parser = TextParser(WORDS, Policy())
    assert ways(text_parser.parse(["the rain"])) == (True, False)
    assert ways(text_parser.parse(["the rain"] * 2)) == (False, True)


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks_module, "_ENTRIES", 10)
    text_parser = TextParser(WORDS, Policy())
    texts = [f"the{number} dog," for number in range(95)] + ["x" * 129]
    assert_equal(text_parser.parse(texts), by_token(texts, Policy()), 1)
    (chunks,) = text_parser._spare
    assert 0 < len(chunks) <= 10
    assert "x" * 129 not in chunks


@pytest.mark.parametrize("special", ["", " on 3 May 2023 at ", " dog \u200b ", f" {'x' * 200} "])
def test_each_unknown_word_is_mapped_once_however_many_there_are(
    monkeypatch: pytest.MonkeyPatch, special: str
) -> None:
    monkeypatch.setattr(chunks_module, "_ENTRIES", 20)
    monkeypatch.setattr(treatment_module, "_MEMO_ENTRIES", 20)
    monkeypatch.setattr(treatment_module, "_AT_ONCE", 7, raising=False)
    together, alone = Counter[str](), list[str]()
    map_all, map_one = WordMap.map_all, WordMap.map

    def counted(words: WordMap, tokens: Sequence[str]) -> list[int]:
        together.update(tokens)
        return map_all(words, tokens)

    def noted(words: WordMap, token: str) -> int:
        alone.append(token)
        return map_one(words, token)

    monkeypatch.setattr(WordMap, "map_all", counted)
    monkeypatch.setattr(WordMap, "map", noted)
    unknown = ["q" + "".join(letters) for letters in product("bdfg", "klmn", "prst")]
    text = " ".join([*unknown, "dog", f"({unknown[0]}),", f"{unknown[1]}--{unknown[2]}"])
    text = f"{text}{special}{text} {unknown[3]}"
    TextParser(WORDS, TYPED).parse([text])
    assert {together[word] for word in unknown} == {1}
    assert set(alone).isdisjoint(unknown)


@pytest.mark.parametrize(("limit", "sign"), [("_SHAPES", "!"), ("_SEVERAL", "-a")])
def test_all_is_forgotten_where_too_much_would_stay(
    monkeypatch: pytest.MonkeyPatch, limit: str, sign: str
) -> None:
    monkeypatch.setattr(chunks_module, limit, 20)
    text_parser = TextParser(WORDS, Policy())
    for count, kept in ((2, 1), (30, 0), (2, 1)):
        texts = [f"a{sign * number}" for number in range(count)]
        assert_equal(text_parser.parse(texts), by_token(texts, Policy()), 1)
        assert len(text_parser._spare) == kept


def test_what_was_read_does_not_travel() -> None:
    text_parser = TextParser(WORDS, Policy())
    text_parser.parse(["zyxsecret, zyxsecret"])
    assert "zyxsecret," in text_parser._spare[0]
    travelled = pickle.dumps(text_parser)
    assert b"zyxsecret" not in travelled
    assert_equal(pickle.loads(travelled).parse([PROSE]), text_parser.parse([PROSE]), 1)  # noqa: S301


def test_threads_do_not_disturb_each_other() -> None:
    text_parser = TextParser(WORDS, Policy())
    batches = [[f"dog{number % 97}-{number}, rain{'!' * (number % 7)}"] for number in range(600)]
    with ThreadPoolExecutor(4) as pool:
        for batch, parsed in zip(batches, pool.map(text_parser.parse, batches), strict=True):
            assert_equal(parsed, by_token(batch, Policy()), 1)


def test_what_was_read_by_halves_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    text_parser = TextParser(WORDS, Policy())
    text_parser.parse(["the rain"])
    with monkeypatch.context() as patch:
        patch.setattr(chunks_module, "ends_sentence", _interrupted)
        with pytest.raises(KeyboardInterrupt):
            text_parser.parse(["the rain,;: the dog"])
    assert not text_parser._spare
    assert_equal(text_parser.parse([PROSE]), by_token([PROSE], Policy()), 1)
    _, secrets = text_parser.parse(["the rain,;: the dog"])
    assert secrets.tallies.total()["punctuation"] == 1


def _interrupted(gap: str) -> bool:
    raise KeyboardInterrupt


@pytest.mark.parametrize("unknown", get_args(Unknown))
def test_long_texts_and_long_chunks(unknown: Unknown) -> None:
    policy = Policy(unknown=unknown)
    texts = ["a-" * 64, "a-" * 65, PROSE * 50, "\n" * 1000 + "a", "dog " * 1000, "?! " * 1000]
    assert_equal(TextParser(WORDS, policy).parse(texts), by_token(texts, policy), 1)


@pytest.mark.parametrize("policy", POLICIES)
def test_texts_of_signs_are_counted(policy: Policy) -> None:
    texts = ["... --- ...", "", " \n", "the rain, the dog!", "a: ... --- ...", "😀", "\u200b?"]
    counts = PARSERS[policy].parse(texts)[1].tallies.each()
    shown = policy.punctuation == "keep"
    assert [each["wordless"] for each in counts] == [shown, 0, 0, 0, 0, 0, shown]
    assert [each["mostly_signs"] for each in counts] == [0, 0, 0, 0, shown, 0, 0]


@pytest.mark.parametrize("few_letters", [0, 10**6])
def test_texts_that_look_alike_have_equal_templates(
    few_letters: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither what a word is, nor whether the lexicon has it, can be told from a template."""
    monkeypatch.setattr(parser, "_FEW_LETTERS", few_letters)
    text_parser = TextParser(WORDS, TYPED)
    for alike in (["the dog, Zyx!", "May rain, an!"], ["on 3 May 2023\n", "zq 9 June 1999\n"]):
        one, other = (text_parser.parse([text])[0] for text in alike)
        assert one._texts == other._texts
        assert (one._chunks is None) == (other._chunks is None) == bool(few_letters)
        if one._chunks is not None and other._chunks is not None:
            assert one._chunks._looks.tolist() == other._chunks._looks.tolist()


def test_values_go_chunk_by_chunk_too() -> None:
    text_parser = TextParser(WORDS, TYPED)
    apart = "On 3/4/2023 at 10:30, 12 dogs of 15 paid $5, not 3.\n5 a@b.org x123y 500mg"
    joins = ("3 March", "March 3", "3 pm", "(555) 123-4567", "3rd of May", "+44 20 7946 0958")
    for joined in joins:
        texts = [apart, f"the ({joined}, the", "", f"{joined} 3\n{joined}", apart]
        parsed = text_parser.parse(texts)
        assert ways(parsed) == (False, True)
        assert_equal(parsed, by_token(texts, TYPED), 1)
        texts.insert(1, f"a\0b {joined}")
        assert ways(text_parser.parse(texts)) == (True, True)
        assert_equal(text_parser.parse(texts), by_token(texts, TYPED), 1)


def test_what_vanishes_goes_chunk_by_chunk_between_words() -> None:
    texts = ["A dog \x96 an hour. \x85 rain", '5 \x96 3 May \x97 rain\n\nthe \x96 "rain"']
    parsed = TextParser(WORDS, TYPED).parse(texts)
    assert ways(parsed) == (False, True)
    assert parsed[1].tallies.total()["removed"] == 5
    assert_equal(parsed, by_token(texts, TYPED), 1)


def test_only_stretches_that_may_hold_values_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    stretches: list[str] = []

    def noted(text: str, decimals: Decimals) -> list[str]:
        stretches.append(text)
        return split_values(text, decimals)

    text = "w " * 9 + "on 3 May, 2023 " + "w " * 9 + "at\n3 pm"
    codes = TextParser(WORDS, TYPED)
    monkeypatch.setattr(chunks_module, "split_values", noted)
    assert ways(codes.parse([text, "w 3 pm"])) == (False, True)
    cut = [stretch for stretch in stretches if " " in stretch]
    assert cut == ["w on 3 May, 2023 w w w w w w", "at \n 3 pm", "w 3 pm"]


def test_values_are_written_where_they_belong() -> None:
    for letters in (0, 10**6):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(parser, "_FEW_LETTERS", letters)
            templates, secrets = TextParser(WORDS, TYPED).parse(
                ["A 5 dog. 5dog, an hour a 7 rain 3 May", "8"]
            )
        assert templates.typed.tolist() == [
            *(False, True, False, True, *[False] * 4, True, False, True),
            True,
        ]
        drawn = secrets.ids.copy()
        drawn[templates.typed] = -7  # has no meaning
        values = ["11", "18th", "8", "x y", "80%"]
        shown = ["An 11 dog. 18thdog, an hour an 8 rain x y", "80%"]
        assert templates.fill(drawn, values) == shown

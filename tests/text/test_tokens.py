"""The tokenizer: nothing lost, kinds as documented, fail closed, linear time."""

import sys
import time
from unicodedata import category, normalize

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from malaprop.text import tokens as tokens_module
from malaprop.text.kinds import grammar
from malaprop.text.tokens import Scope, TokenKind, kind_of, tokenize

# All of Unicode, surrogates too, with a fondness for what the patterns are made of.
ANY_TEXT = st.text() | st.text(st.characters(), max_size=40)
TRICKY_TEXT = st.text(
    st.sampled_from("aZß'’@#.:/_-w19٣\u0301\u200d\u00ad😀🇩🏽\ufe0f \n\x1c\x85\0\ud800½€≤北")
    | st.characters()
)


@given(ANY_TEXT | TRICKY_TEXT)
@example("\ud800\udc00\0\x85")
@example("👩🏽‍⚕️🏴\U000e0067\U000e007f🇩🇪🇫")
@example("e\u0301'\u0301 a'1 http:// www. a@b @ # 1. 1.a")
def test_tokenize_loses_nothing(text: str) -> None:
    tokens = tokenize(text)
    assert "".join(tokens) == text
    assert all(tokens)


@given(ANY_TEXT | TRICKY_TEXT)
@example("WwW.a w. http:/ a@b.cd")
def test_addresses_are_left_out_of_the_search_only_where_there_are_none(text: str) -> None:
    assert tokenize(text) == tokens_module._cutter(True, Scope.ALL)(text)


ASCII = st.characters(max_codepoint=127)
PUNCTUATION = st.characters(min_codepoint=0x2000, max_codepoint=0x206F)
LATIN = ASCII | PUNCTUATION | st.characters(max_codepoint=0x2FF)


@given(st.text(ASCII) | st.text(LATIN))
@example("e-mail a@b.cd, +44 20 7946 0958, x\x7fy #1 *b* 3:30 pm 500mg AB12CD www.a http://b/")
@example("na\u00efve \u201cx\u201d \u2014 3\u00bd \u00a9 \x96 \u20113\u202f\u00a0pm \u00a35")
def test_narrow_patterns_do_for_texts_of_their_scope(text: str) -> None:
    scope = tokens_module.scope_of(text)
    assert scope < Scope.ALL
    for module in (tokens_module, grammar):
        for addresses in (tokens_module.has_addresses(text), True):
            tokens = module._cutter(addresses, scope)(text)
            assert tokens == module._cutter(addresses, Scope.ALL)(text)
        for token in tokens:
            short, whole = (module._kinds(each).fullmatch(token) for each in (scope, Scope.ALL))
            assert short is not None
            assert whole is not None
            assert short.lastgroup == whole.lastgroup


@given(ANY_TEXT | TRICKY_TEXT)
def test_a_token_is_one_token_by_itself(text: str) -> None:
    for token in tokenize(text):
        assert tokenize(token) == [token]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("don't stop", ["don't", " ", "stop"]),
        ("o’clock", ["o’clock"]),
        ("doctors' 'tis'", ["doctors", "'", " ", "'", "tis", "'"]),
        ("well-known", ["well", "-", "known"]),
        ("snake_case", ["snake", "_", "case"]),
        ("cafe\u0301s", ["cafe\u0301s"]),
        ("हिन्दी है", ["हिन्दी", " ", "है"]),
        ("می\u200cخواهم", ["می\u200cخواهم"]),
        ("dia\u00adbetes", ["dia\u00adbetes"]),
        ("B12 23rd 5mg", ["B12", " ", "23rd", " ", "5mg"]),
        ("3.5mg", ["3.5", "mg"]),
        ("1,000. 12:30", ["1,000", ".", " ", "12", ":", "30"]),
        ("1990's", ["1990's"]),
        ("6'2", ["6", "'", "2"]),
        ("(http://a.com/x?y=1).", ["(", "http://a.com/x?y=1", ").", ]),
        ("see www.x.org, ok", ["see", " ", "www.x.org", ",", " ", "ok"]),
        ("http://", ["http", "://"]),
        ("ann.b+c@d-e.co.uk.", ["ann.b+c@d-e.co.uk", "."]),
        ("a@b", ["a", "@b"]),
        ("(@ann_1) @", ["(", "@ann_1", ")", " ", "@"]),
        ("#flu! #", ["#flu", "!", " ", "#"]),
        ("😀😀", ["😀", "😀"]),
        ("👩🏽‍⚕️🇩🇪❤️", ["👩🏽‍⚕️", "🇩🇪", "❤️"]),
        ("a \x1c\u200b\ue000b", ["a", " ", "\x1c\u200b\ue000", "b"]),
        (" \r\n\t", [" \r\n\t"]),
        ("", []),
    ],
)  # fmt: skip
def test_tokenize_cuts_as_documented(text: str, tokens: list[str]) -> None:
    assert tokenize(text) == tokens


@pytest.mark.parametrize(
    ("expected", "tokens"),
    [
        (TokenKind.WORD, ["a", "Don't", "B12", "5mg", "cafe\u0301", "北京", "½", "m²", "Ⅳ", "1️⃣"]),
        (TokenKind.NUMBER, ["0", "3.5", "1,000", "12.05.2021", "٤٢", "４２", "९"]),
        (
            TokenKind.URL,
            ["http://a.b", "HTTPS://X.ORG/é", "www.x", "s3://bucket/key", "ftp://[::1]/a"],
        ),
        (TokenKind.EMAIL, ["a@b.co", "A.B+c@d-e.f.org", "ann@müller.de"]),
        (TokenKind.MENTION, ["@a", "@_x", "@Ann_1"]),
        (TokenKind.HASHTAG, ["#a", "#北京", "#1"]),
        (TokenKind.EMOJI, ["😀", "❤️", "🇩🇪", "🇩", "≤", "©", "°", "´", "™", "👩🏽‍⚕️", "🏽", "Ⓐ"]),
        (
            TokenKind.PUNCTUATION,
            [".", "...", "?!", "_", "—", "“", "€", "$", "+<=>^`|~", "。", "@", "#"],
        ),
        (TokenKind.SPACE, [" ", "\n", "\t \r\n", "\xa0", "\u3000", "\u2028"]),
        (
            TokenKind.INVISIBLE,
            ["\0", "\x1c", "\x85", "\u200b", "\u202e", "\u0301", "\ufe0f", "\ue000"],
        ),
        (
            TokenKind.INVISIBLE,
            ["\ud800", "\U000e0041", "\u0378", "\uffff", "", "a b", "a.", ". ", "@@"],
        ),
    ],
)
def test_kind(expected: TokenKind, tokens: list[str]) -> None:
    assert {token: kind_of(token) for token in tokens} == dict.fromkeys(tokens, expected)


def may_be_shown(sign: str) -> bool:
    """Independent of the patterns: punctuation, currency, symbols of ASCII, white space."""
    if any(map(str.isalnum, normalize("NFKD", sign))) or sign in "‼⁉〰〽":
        return False
    group = category(sign)
    return (
        group[0] in "PZ"
        or group == "Sc"
        or (sign.isascii() and group[0] == "S")
        or sign in "\t\n\v\f\r"
    )


@given(ANY_TEXT | TRICKY_TEXT)
def test_what_is_shown_verbatim_holds_no_letter_digit_mark_or_pictograph(text: str) -> None:
    for token in tokenize(text):
        if kind_of(token) in (TokenKind.PUNCTUATION, TokenKind.SPACE):
            assert all(may_be_shown(sign) for sign in token)


def test_every_character_alone_is_shown_only_if_it_is_on_the_public_list() -> None:
    # The planes that have assigned characters; the rest is drawn by hypothesis above.
    for code in (*range(0x32000), *range(0xE0000, 0xE0200), sys.maxunicode):
        sign = chr(code)
        shown = kind_of(sign) in (TokenKind.PUNCTUATION, TokenKind.SPACE)
        assert shown == may_be_shown(sign), hex(code)


@pytest.mark.parametrize(
    "text",
    [
        "a" * 100_000,
        "a." * 50_000,
        "@" * 100_000,
        "a@" * 50_000,
        "a@b." * 25_000,
        "http://" * 15_000,
        "http://" + "." * 100_000,
        "www." * 25_000,
        "'a" * 50_000,
        "1." * 50_000 + "a",
        "1" * 100_000 + "a",
        "a" + "\u0301\u0316" * 50_000,
        "\u0301\u0316" * 50_000,
        "😀\u200d" * 50_000,
        "🏽" * 100_000,
        "\0" * 100_000,
        "." * 100_000,
    ],
    ids=lambda text: ascii(text[:8]),
)
def test_time_is_linear(text: str) -> None:
    tokenize("")
    start = time.process_time()
    tokens = tokenize(text)
    for token in dict.fromkeys(tokens):
        kind_of(token)
    assert time.process_time() - start < 1.0
    assert "".join(tokens) == text

"""Every emoji of Unicode's tables is protected, whatever its base is: none is shown."""

from itertools import product
from unicodedata import category

import pytest
from hypothesis import given
from hypothesis import strategies as st

from malaprop.text.parser import TextParser
from malaprop.text.policy import Policy
from malaprop.text.tokens import TokenKind, kind_of, tokenize
from malaprop.text.treatment import BoundPolicy

# Unicode 14's emoji-data.txt: the characters with the property Emoji.
EMOJI_RANGES = """
23 2A 30-39 A9 AE 203C 2049 2122 2139 2194-2199 21A9-21AA 231A-231B 2328 23CF 23E9-23F3 23F8-23FA
24C2 25AA-25AB 25B6 25C0 25FB-25FE 2600-2604 260E 2611 2614-2615 2618 261D 2620 2622-2623 2626 262A
262E-262F 2638-263A 2640 2642 2648-2653 265F-2660 2663 2665-2666 2668 267B 267E-267F 2692-2697 2699
269B-269C 26A0-26A1 26A7 26AA-26AB 26B0-26B1 26BD-26BE 26C4-26C5 26C8 26CE-26CF 26D1 26D3-26D4
26E9-26EA 26F0-26F5 26F7-26FA 26FD 2702 2705 2708-270D 270F 2712 2714 2716 271D 2721 2728 2733-2734
2744 2747 274C 274E 2753-2755 2757 2763-2764 2795-2797 27A1 27B0 27BF 2934-2935 2B05-2B07 2B1B-2B1C
2B50 2B55 3030 303D 3297 3299 1F004 1F0CF 1F170-1F171 1F17E-1F17F 1F18E 1F191-1F19A 1F1E6-1F1FF
1F201-1F202 1F21A 1F22F 1F232-1F23A 1F250-1F251 1F300-1F321 1F324-1F393 1F396-1F397 1F399-1F39B
1F39E-1F3F0 1F3F3-1F3F5 1F3F7-1F4FD 1F4FF-1F53D 1F549-1F54E 1F550-1F567 1F56F-1F570 1F573-1F57A
1F587 1F58A-1F58D 1F590 1F595-1F596 1F5A4-1F5A5 1F5A8 1F5B1-1F5B2 1F5BC 1F5C2-1F5C4 1F5D1-1F5D3
1F5DC-1F5DE 1F5E1 1F5E3 1F5E8 1F5EF 1F5F3 1F5FA-1F64F 1F680-1F6C5 1F6CB-1F6D2 1F6D5-1F6D7
1F6DD-1F6E5 1F6E9 1F6EB-1F6EC 1F6F0 1F6F3-1F6FC 1F7E0-1F7EB 1F7F0 1F90C-1F93A 1F93C-1F945
1F947-1F9FF 1FA70-1FA74 1FA78-1FA7C 1FA80-1FA86 1FA90-1FAAC 1FAB0-1FABA 1FAC0-1FAC5 1FAD0-1FAD9
1FAE0-1FAE7 1FAF0-1FAF6
"""
AS_EMOJI, KEYCAP, JOINER = "\ufe0f", "\u20e3", "\u200d"
TONES = [chr(code) for code in range(0x1F3FB, 0x1F400)]
REGIONAL = [chr(code) for code in range(0x1F1E6, 0x1F200)]


def _characters() -> list[str]:
    found: list[str] = []
    for part in EMOJI_RANGES.split():
        first, _, last = part.partition("-")
        found += map(chr, range(int(first, 16), int(last or first, 16) + 1))
    return found


EMOJI = _characters()
PLAIN = "#*0123456789"  # emoji only with a selector or a keycap
TAGGED = [
    "🏴" + "".join(chr(0xE0000 + ord(letter)) for letter in code) + "\U000e007f"
    for code in ("gbeng", "gbsct", "gbwls", "ustx")
]
SEQUENCES = [
    *(sign for sign in EMOJI if sign not in PLAIN),
    *(sign + AS_EMOJI for sign in EMOJI),
    *(sign + selector + KEYCAP for sign in PLAIN for selector in ("", AS_EMOJI)),
    *(sign + tone for sign, tone in product(EMOJI[12:], TONES) if category(sign) == "So"),
    *map("".join, product(REGIONAL, repeat=2)),
    *TAGGED,
]


def kinds(text: str) -> list[TokenKind]:
    return [kind_of(token) for token in tokenize(text)]


def test_every_emoji_is_one_token_that_is_protected() -> None:
    # "ℹ️" and the digits are letters and digits to Unicode, so words: protected as well.
    wrong = [s for s in SEQUENCES if kinds(s) not in ([TokenKind.EMOJI], [TokenKind.WORD])]
    assert wrong == []


@pytest.mark.parametrize("sign", ["‼️", "⁉️", "〰️", "〽️", "#️⃣", "*️⃣", "#⃣", "*⃣", "#️", "*️", "‼", "〰"])
def test_emoji_made_of_punctuation_are_emoji(sign: str) -> None:
    assert kinds(sign) == [TokenKind.EMOJI]
    assert tokenize(f"Go{sign}{sign}*#!") == ["Go", sign, sign, "*", "#", "!"]


@given(st.lists(st.sampled_from(SEQUENCES), min_size=1, max_size=4), st.sampled_from(["", JOINER]))
def test_no_run_of_emoji_shows_anything(sequences: list[str], joint: str) -> None:
    shown = {TokenKind.PUNCTUATION, TokenKind.SPACE}
    text = joint.join(sequences)
    assert "".join(tokenize(text)) == text
    assert shown.isdisjoint(kinds(text))


@given(st.text(st.sampled_from([*"#*!. a1", AS_EMOJI, KEYCAP, JOINER, "‼", "〰", "\u0301"])))
def test_signs_with_selectors_and_keycaps_lose_nothing(text: str) -> None:
    tokens = tokenize(text)
    assert "".join(tokens) == text
    assert all(tokenize(token) == [token] for token in tokens)


WORDS = ["number", "double", "wavy", "asterisk", "one", "symbol"]


def test_they_are_mapped_by_their_names() -> None:
    policy = BoundPolicy(WORDS, Policy())
    treatments = policy.treat_all(["#️⃣", "‼️", "〰️", "*️⃣", "1️⃣"])
    assert [WORDS[treatment.id] for treatment in treatments] == [
        "number",
        "double",
        "wavy",
        "asterisk",
        "one",
    ]
    assert all(treatment.id >= 0 for treatment in treatments)


@pytest.mark.parametrize(
    "text",
    [
        "⠓⠑⠇⠇⠕",
        "𝐇𝐢",
        "ⒽⒾ",
        "🅷🅸",
        "ｈｉ",
        "⁵₁",
        "Ⅻ",
        "½",
        "①",
        "三",
        "𝍷𝍸",
        "─│┼",
        "▁▂▃",
        "🂡",
        "䷀",
        "\ue000",
        "₨",
        "﷼",
        "\ufe0f\ufe0e",
        "\u0301\u0316",
    ],
)
def test_nothing_that_can_spell_words_or_numbers_is_shown(text: str) -> None:
    templates, secrets = TextParser(["x"], Policy()).parse([text])
    (private,) = templates.fill(secrets.ids)
    assert set(private) <= set("Xx ")


def test_marks_on_punctuation_are_removed() -> None:
    templates, secrets = TextParser(["x"], Policy()).parse(["!\u0337\u0338.\u0489 ?\ufe0f"])
    assert templates.fill(secrets.ids) == ["!. ?"]

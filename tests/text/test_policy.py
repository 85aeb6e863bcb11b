"""The policy: parameters checked, every kind of token decided on, nothing shown by accident."""

import pickle
from typing import Any, get_args
from unicodedata import category

import pytest
from hypothesis import given
from hypothesis import strategies as st

from malaprop.privacy.errors import ParameterError
from malaprop.text import treatment as treatment_module
from malaprop.text.policy import Policy, Unknown
from malaprop.text.template import mark
from malaprop.text.tokens import tokenize
from malaprop.text.treatment import BoundPolicy, Treatment

WORDS = ["patient", "not", "forty", "website", "email", "user", "flu", "grinning", "b", "twentieth"]
UNKNOWN: tuple[Unknown, ...] = get_args(Unknown)
POLICIES: dict[Unknown, BoundPolicy] = {
    unknown: BoundPolicy(WORDS, Policy(unknown=unknown)) for unknown in UNKNOWN
}


def one(policy: BoundPolicy, token: str) -> Treatment:
    (treatment,) = policy.treat_all([token])
    return treatment


def treatment(word: int, tag: str, shown: str | None) -> Treatment:
    return Treatment(word, tag, shown, "" if shown == "" else mark(shown))


def protect(word: str, tag: str) -> Treatment:
    return treatment(WORDS.index(word), tag, None)


FIXED = {
    "Patient": protect("patient", "in_lexicon"),
    ",": treatment(-1, "punctuation", ","),
    "$": treatment(-1, "punctuation", "$"),
    " \n": treatment(-1, "spaces", " \n"),
    "\u200b": treatment(-1, "removed", ""),
    "\u0301": treatment(-1, "removed", ""),
    "\ud800": treatment(-1, "removed", ""),
}
MAPPED = {
    "patients": protect("patient", "mapped"),
    "can't": protect("not", "mapped"),
    "42": protect("forty", "numbers"),
    "http://x.org": protect("website", "urls"),
    "a@b.org": protect("email", "emails"),
    "@patient": protect("user", "mentions"),
    "#flu": protect("flu", "hashtags"),
    "😀": protect("grinning", "emoji"),
    "B12": protect("b", "mapped"),
    "23rd": protect("twentieth", "mapped"),
}
KEPT = {word: treatment(-1, "kept", word) for word in ("patients", "can't")}


@pytest.mark.parametrize("unknown", UNKNOWN)
@pytest.mark.parametrize("token", FIXED, ids=ascii)
def test_known_words_and_gaps_are_treated_alike_by_all_policies(
    unknown: Unknown, token: str
) -> None:
    assert one(POLICIES[unknown], token) == FIXED[token]


@pytest.mark.parametrize("token", MAPPED, ids=ascii)
def test_unknown_tokens(token: str) -> None:
    assert one(POLICIES["map"], token) == MAPPED[token]
    assert one(POLICIES["mask"], token) == treatment(-1, "masked", "[masked]")
    assert one(POLICIES["drop"], token) == treatment(-1, "dropped", "")
    assert one(POLICIES["keep"], token) == KEPT.get(token, MAPPED[token])


@pytest.mark.parametrize("token", ["5mg", "m²", "x½", "xⅣ", "1️⃣", "a\u200db", "pa\u00adtients"])
def test_digits_and_invisible_characters_are_never_kept(token: str) -> None:
    assert one(POLICIES["keep"], token).id >= 0


@given(st.text() | st.text(st.characters(), max_size=30), st.sampled_from(UNKNOWN))
def test_nothing_is_shown_but_what_the_policy_says(text: str, unknown: Unknown) -> None:
    tokens = tokenize(text)
    for token, treatment in zip(tokens, POLICIES[unknown].treat_all(tokens), strict=True):
        categories = {category(sign) for sign in token if not sign.isspace()}
        if treatment.tag in ("punctuation", "spaces"):
            assert all(group[0] == "P" or group in ("Sc", "Sm", "Sk") for group in categories)
            assert all(category(sign)[0] == "P" or category(sign) == "Sc" or sign.isascii()
                       for sign in token if not sign.isspace())  # fmt: skip
        if treatment.tag == "kept":
            assert unknown == "keep"
            assert all(group[0] in "LMP" for group in categories)
        assert (treatment.shown is None) == (treatment.id in range(len(WORDS)))


def test_one_by_one_and_all_at_once_agree() -> None:
    tokens = [*MAPPED, *FIXED] * 2
    fresh = BoundPolicy(WORDS, Policy())
    assert fresh.treat_all(tokens) == [one(POLICIES["map"], token) for token in tokens]


def test_the_memo_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(treatment_module, "_MEMO_ENTRIES", 10)
    policy = BoundPolicy(WORDS, Policy(unknown="mask"))
    tokens = [f"word{number}" for number in range(95)] + ["x" * 65]
    assert {treatment.tag for treatment in policy.treat_all(tokens)} == {"masked"}
    assert len(policy._memo) == 5
    assert "x" * 65 not in policy._memo


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"unknown": "x"}, "'unknown' parameter must be one of map, mask, drop, keep."),
        ({"unknown": "x"}, "keep. Got 'x'."),
        ({"unknown": None}, "Got None"),
        ({"punctuation": "hide"}, "'punctuation' parameter must be one of keep, drop."),
        ({"placeholder": ""}, "The 'placeholder' parameter"),
        ({"placeholder": "***"}, "at least one letter"),
        ({"placeholder": "a\nb"}, "on one line"),
        ({"placeholder": 3}, "Got 3"),
    ],
)  # fmt: skip
def test_wrong_parameters(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message.replace(".", r"\.")):
        Policy(**parameters)


def test_a_policy_can_be_reported() -> None:
    policy = Policy(unknown="drop", punctuation="drop", placeholder="REDACTED")
    assert Policy(**policy.to_dict()) == policy


def test_a_planner_travels_without_the_words_it_has_seen() -> None:
    policy = BoundPolicy(["patient"], Policy())
    one(policy, "zyxsecret")
    assert b"zyxsecret" not in pickle.dumps(policy)

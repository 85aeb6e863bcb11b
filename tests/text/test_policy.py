"""The policy: parameters checked, every kind of piece decided on, nothing shown by accident."""

import pickle
from typing import Any, get_args
from unicodedata import category

import pytest
from hypothesis import given
from hypothesis import strategies as st

from malaprop.core.errors import ParameterError
from malaprop.text import Action, Plan, Planner, Policy, split
from malaprop.text import policy as policy_module
from malaprop.text.policy import Unknown
from malaprop.text.surface import mark

WORDS = ["patient", "not", "forty", "website", "email", "user", "flu", "grinning", "b", "twentieth"]
UNKNOWN: tuple[Unknown, ...] = get_args(Unknown)
PLANNERS: dict[Unknown, Planner] = {
    unknown: Planner(WORDS, Policy(unknown=unknown)) for unknown in UNKNOWN
}


def plan(action: Action, word: int, tag: str, shown: str | None) -> Plan:
    return Plan(action, word, tag, shown, "" if shown == "" else mark(shown))


def protect(word: str, tag: str) -> Plan:
    return plan(Action.PROTECT, WORDS.index(word), tag, None)


FIXED = {
    "Patient": protect("patient", "in_lexicon"),
    ",": plan(Action.SHOW, -1, "punctuation", ","),
    "$": plan(Action.SHOW, -1, "punctuation", "$"),
    " \n": plan(Action.SHOW, -1, "spaces", " \n"),
    "\u200b": plan(Action.REMOVE, -1, "removed", ""),
    "\u0301": plan(Action.REMOVE, -1, "removed", ""),
    "\ud800": plan(Action.REMOVE, -1, "removed", ""),
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
KEPT = {word: plan(Action.KEEP, -1, "kept", word) for word in ("patients", "can't")}


@pytest.mark.parametrize("unknown", UNKNOWN)
@pytest.mark.parametrize("piece", FIXED, ids=ascii)
def test_known_words_and_gaps_are_treated_alike_by_all_policies(
    unknown: Unknown, piece: str
) -> None:
    assert PLANNERS[unknown].plan(piece) == FIXED[piece]


@pytest.mark.parametrize("piece", MAPPED, ids=ascii)
def test_unknown_pieces(piece: str) -> None:
    assert PLANNERS["map"].plan(piece) == MAPPED[piece]
    assert PLANNERS["mask"].plan(piece) == plan(Action.SHOW_MASK, -1, "masked", "[masked]")
    assert PLANNERS["drop"].plan(piece) == plan(Action.DROP, -1, "dropped", "")
    assert PLANNERS["keep"].plan(piece) == KEPT.get(piece, MAPPED[piece])


@pytest.mark.parametrize("piece", ["5mg", "m²", "x½", "xⅣ", "1️⃣", "a\u200db", "pa\u00adtients"])
def test_digits_and_invisible_characters_are_never_kept(piece: str) -> None:
    assert PLANNERS["keep"].plan(piece).action is Action.PROTECT


@given(st.text() | st.text(st.characters(), max_size=30), st.sampled_from(UNKNOWN))
def test_nothing_is_shown_but_what_the_policy_says(text: str, unknown: Unknown) -> None:
    pieces = split(text)
    for piece, plan in zip(pieces, PLANNERS[unknown].plan_all(pieces), strict=True):
        categories = {category(sign) for sign in piece if not sign.isspace()}
        if plan.action is Action.SHOW:
            assert all(group[0] == "P" or group in ("Sc", "Sm", "Sk") for group in categories)
            assert all(category(sign)[0] == "P" or category(sign) == "Sc" or sign.isascii()
                       for sign in piece if not sign.isspace())  # fmt: skip
        if plan.action is Action.KEEP:
            assert unknown == "keep"
            assert all(group[0] in "LMP" for group in categories)
        assert (plan.action is Action.PROTECT) == (plan.id in range(len(WORDS)))


def test_one_by_one_and_all_at_once_agree() -> None:
    pieces = [*MAPPED, *FIXED] * 2
    fresh = Planner(WORDS, Policy())
    assert fresh.plan_all(pieces) == [PLANNERS["map"].plan(piece) for piece in pieces]


def test_the_memo_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy_module, "_MEMO_ENTRIES", 10)
    planner = Planner(WORDS, Policy(unknown="mask"))
    pieces = [f"word{number}" for number in range(95)] + ["x" * 65]
    assert {plan.action for plan in planner.plan_all(pieces)} == {Action.SHOW_MASK}
    assert len(planner._memo) == 5
    assert "x" * 65 not in planner._memo


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
    assert Policy(**policy.to_dict()) == policy  # type: ignore[arg-type]


def test_a_planner_travels_without_the_words_it_has_seen() -> None:
    planner = Planner(["patient"], Policy())
    planner.plan("zyxsecret")
    assert b"zyxsecret" not in pickle.dumps(planner)

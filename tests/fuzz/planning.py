"""Fuzz the policy: what comes out depends on the draws and on what is visible, on nothing else.

Each text gets a twin, in which other words, numbers and addresses stand in the places of the
protected ones. Filled with the same draws, both must come out the same.
"""

import random
from collections import Counter
from typing import get_args

import numpy as np
from tests.fuzz.texts import WORDS, try_texts

from malaprop.text import Policy, Workbench, split
from malaprop.text.policy import Action, Planner, Unknown
from malaprop.text.surface import Punctuation

_UNKNOWN_WORDS: tuple[Unknown, ...] = ("map", "mask", "drop")
_POLICIES = [
    Policy(unknown=unknown, punctuation=punctuation)
    for unknown in _UNKNOWN_WORDS
    for punctuation in get_args(Punctuation)
]
_KNOWN = ("dog", "Rain", "COLD", "I'm")
_UNKNOWN = ("zyxw", "n0")  # protected only where unknown words are mapped
_LONG = 1001  # letters, from which on texts are taken apart chunk by chunk


def fuzz(cases: int, seed: int) -> dict[str, int]:
    """Rebuild as many texts under each policy; return how many had a twin."""
    figures: Counter[str] = Counter()
    choices = random.Random(seed)
    benches = [(Workbench(WORDS, policy), Planner(WORDS, policy)) for policy in _POLICIES]

    def check(text: str) -> None:
        figures["texts"] += 1
        for bench, planner in benches:
            rebuilt = _rebuilt(bench, text)
            figures["rebuilt"] += 1
            long = text + "\n" + "x " * (_LONG // 2)
            assert _rebuilt(bench, long) == _rebuilt_in_pieces(bench, long)
            twin = _twin(text, planner, choices)
            if twin is not None:
                figures["twins"] += 1
                assert _rebuilt(bench, twin) == rebuilt

    try_texts(check, cases, seed)
    return dict(figures)


def _rebuilt(bench: Workbench, text: str) -> str:
    """The text with the same draws in its slots, whatever was there."""
    apart = bench.take_apart([text])
    (rebuilt,) = apart.put_together(np.arange(len(apart.ids)) % len(WORDS))
    return rebuilt


def _rebuilt_in_pieces(bench: Workbench, text: str) -> str:
    apart = bench._forms([text])
    (rebuilt,) = apart.put_together(np.arange(len(apart.ids)) % len(WORDS))
    return rebuilt


def _twin(text: str, planner: Planner, choices: random.Random) -> str | None:
    """A text that looks alike when private, with other words; None if its pieces run together."""
    pieces = split(text)
    plans = planner.plan_all(pieces)
    stand_ins = _KNOWN + (_UNKNOWN if planner.policy.unknown == "map" else ())
    others = [
        choices.choice(stand_ins) if plan.action is Action.PROTECT else piece
        for piece, plan in zip(pieces, plans, strict=True)
    ]
    twin = "".join(others)
    return twin if others != pieces and split(twin) == others else None

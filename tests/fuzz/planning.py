"""Fuzz the policy: what comes out depends on the draws and on what is visible, on nothing else.

Each text gets a twin, in which other words, numbers and addresses stand in the places of the
protected ones. Filled with the same draws, both must come out the same.
"""

import random
from collections import Counter
from typing import get_args

import numpy as np
from tests.fuzz.texts import WORDS, try_texts

from malaprop.text.parser import TextParser
from malaprop.text.policy import Policy, Unknown
from malaprop.text.template import Punctuation
from malaprop.text.tokens import tokenize
from malaprop.text.treatment import BoundPolicy

_UNKNOWN_WORDS: tuple[Unknown, ...] = ("map", "mask", "drop")
_POLICIES = [
    Policy(unknown=unknown, punctuation=punctuation)
    for unknown in _UNKNOWN_WORDS
    for punctuation in get_args(Punctuation)
]
_KNOWN = ("dog", "Rain", "COLD", "I'm")
_UNKNOWN = ("zyxw", "n0")  # protected only where unknown words are mapped
_LONG = 1001  # letters; texts of this length are parsed chunk by chunk


def fuzz(cases: int, seed: int) -> dict[str, int]:
    """Rebuild as many texts under each policy; return how many had a twin."""
    figures: Counter[str] = Counter()
    choices = random.Random(seed)
    parsers = [(TextParser(WORDS, policy), BoundPolicy(WORDS, policy)) for policy in _POLICIES]

    def check(text: str) -> None:
        figures["texts"] += 1
        for parser, policy in parsers:
            rebuilt = _rebuilt(parser, text)
            figures["rebuilt"] += 1
            long = text + "\n" + "x " * (_LONG // 2)
            assert _rebuilt(parser, long) == _rebuilt_by_token(parser, long)
            twin = _twin(text, policy, choices)
            if twin is not None:
                figures["twins"] += 1
                assert _rebuilt(parser, twin) == rebuilt

    try_texts(check, cases, seed)
    return dict(figures)


def _rebuilt(parser: TextParser, text: str) -> str:
    """The text with the same draws in its slots, whatever was there."""
    templates, _ = parser.parse([text])
    (rebuilt,) = templates.fill(np.arange(len(templates.typed)) % len(WORDS))
    return rebuilt


def _rebuilt_by_token(parser: TextParser, text: str) -> str:
    templates, _ = parser._by_token([text])
    (rebuilt,) = templates.fill(np.arange(len(templates.typed)) % len(WORDS))
    return rebuilt


def _twin(text: str, policy: BoundPolicy, choices: random.Random) -> str | None:
    """A text that looks alike when private, with other words; None if its tokens run together."""
    tokens = tokenize(text)
    treatments = policy.treat_all(tokens)
    stand_ins = _KNOWN + (_UNKNOWN if policy.policy.unknown == "map" else ())
    others = [
        choices.choice(stand_ins) if treatment.id >= 0 else token
        for token, treatment in zip(tokens, treatments, strict=True)
    ]
    twin = "".join(others)
    return twin if others != tokens and tokenize(twin) == others else None

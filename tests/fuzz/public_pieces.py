"""Fuzz public pieces: they are shown exactly, and of the rest only what is drawn and its template.

As for the policy, each text gets a twin with other words in the places of the protected ones.
"""

import random
import re
from collections import Counter

import numpy as np
from tests.fuzz.texts import TEXTS, WORDS, try_texts
from tests.text.markup_texts import MARKUP_TEXTS

from malaprop.text.parser import TextParser
from malaprop.text.policy import Policy
from malaprop.text.public import PublicPieces
from malaprop.text.segments import Segment
from malaprop.text.treatment import BoundPolicy

KEEP = ("placeholders", "apple", "new york", "3.5mg")
_POLICIES = [
    Policy(keep=KEEP),
    Policy(markup="html"),
    Policy(keep=KEEP, markup="html", unknown="mask"),
    Policy(markup="markdown"),
    Policy(keep=KEEP, markup="markdown", unknown="mask"),
    Policy(keep=KEEP, markup="html", kinds="typed", kind_epsilon=1.0),
    Policy(keep=KEEP, markup="html", punctuation="drop", unknown="drop"),
]
_LONG = 1001  # letters; texts of this length are parsed chunk by chunk
_VALUE = "7"
# Nothing but the drawn words, in which z is the only letter, masks and escapes.
_DRAWN = ["z", "zz", "zzz"]
_PRIVATE = r"(?:[zZ\W_]|masked|&(?:lt|gt|amp);|7)*"


def fuzz(cases: int, seed: int) -> dict[str, int]:
    """Rebuild as many texts under each policy; return how many had pieces, and how many a twin."""
    figures: Counter[str] = Counter()
    choices = random.Random(seed)
    bound = [
        (TextParser(WORDS, policy), TextParser(_DRAWN, policy), BoundPolicy(WORDS, policy))
        for policy in _POLICIES
    ]

    def check(text: str) -> None:
        figures["texts"] += 1
        for parser, drawing, policy in bound:
            assert policy.pieces is not None
            segments = policy.pieces.cut(text)
            figures["with public pieces"] += any(each.public for each in segments)
            assert shows_nothing_else(rebuilt(drawing, text), segments)
            _check_the_ways(parser, text)
            figures["twins"] += _check_a_twin(parser, policy, segments, choices)

    try_texts(check, cases, seed, TEXTS | MARKUP_TEXTS)
    return dict(figures)


def rebuilt(parser: TextParser, text: str) -> str:
    """The text with the same draws in its slots, whatever was there."""
    templates, _ = parser.parse([text])
    draws = np.arange(len(templates.typed)) % 3
    (shown,) = templates.fill(draws, [_VALUE] * len(templates.forms))
    return shown


def shows_nothing_else(shown: str, segments: list[Segment]) -> bool:
    """Whether all letters and digits are those of public pieces, in order, or of drawn words."""
    parts = (re.escape(each.text) if each.public else _PRIVATE for each in segments)
    return re.fullmatch("".join(parts), shown) is not None


def _check_the_ways(parser: TextParser, text: str) -> None:
    """Chunk by chunk and token by token come to the same."""
    for long in (text + "\n" + "x " * (_LONG // 2), "x " * (_LONG // 2) + text):
        (templates, secrets), (by_token, own) = parser.parse([long]), parser._by_token([long])
        draws, values = np.arange(len(secrets.ids)) % 3, [_VALUE] * len(templates.forms)
        assert secrets.ids.tolist() == own.ids.tolist()
        assert secrets.tallies.total() == own.tallies.total()
        assert templates.fill(draws, values) == by_token.fill(draws, values)


def _check_a_twin(
    parser: TextParser, policy: BoundPolicy, segments: list[Segment], choices: random.Random
) -> bool:
    """A text with the same template comes out the same with the same draws."""
    assert policy.pieces is not None
    others = [
        each if each.public else Segment(_other(each.text, policy, choices), False)
        for each in segments
    ]
    own, twin = _written(segments, policy.pieces), _written(others, policy.pieces)
    if others == segments or policy.pieces.cut(twin) != others:
        return False
    if _template(others, policy) != _template(segments, policy):
        return False  # tokens that run together
    assert rebuilt(parser, twin) == rebuilt(parser, own)
    return True


def _written(segments: list[Segment], pieces: PublicPieces) -> str:
    return "".join(each.text if each.public else pieces.escape(each.text) for each in segments)


def _template(segments: list[Segment], policy: BoundPolicy) -> list[object]:
    return [
        (part.shown, part.mark)
        for each in segments
        if not each.public
        for part in policy.treat_all(policy.cut(each.text))
    ]


def _other(text: str, policy: BoundPolicy, choices: random.Random) -> str:
    tokens = policy.cut(text)
    return "".join(
        choices.choice(("dog", "Rain", "COLD")) if treated.shown is None else token
        for token, treated in zip(tokens, policy.treat_all(tokens), strict=True)
        if treated.tag != "removed"
    )

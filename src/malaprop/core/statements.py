"""The words of guarantees: phrases for distances, kinds and texts, and bounds in a few digits."""

import math
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from malaprop.core.kind_promise import KindPromise

if TYPE_CHECKING:
    from malaprop.core.guarantee import Guarantee

ANY_TWO_WORDS = "any two words of the lexicon"
STEPS_OF = "steps of "
"""How the name of a path's metric begins; the length of a step follows."""
EACH_WORD = "word"
"""Each occurrence of a word has a draw of its own."""
EACH_DISTINCT_WORD = "distinct word"
"""All occurrences of a word in a text share one draw."""
NO_OTHER_PATTERN = (
    " Nothing is promised where other places hold equal words: this is neither more nor less than "
    "what fresh draws promise."
)
"""What belongs beside a promise for distinct words."""


def between(guarantee: "Guarantee") -> str:
    """Say which inputs are protected from each other: two words, or texts that differ in words."""
    distinct = guarantee.per == EACH_DISTINCT_WORD
    if guarantee.words == 1 and not (guarantee.texts or guarantee.kinds or distinct):
        return guarantee.pairs
    differ = _distinct(guarantee) if distinct else _differing(guarantee)
    joined = ", and " if distinct else " and "
    alike = f"{joined}{guarantee.texts}" if guarantee.texts else ""
    which = f", where the words that differ are {guarantee.pairs}"
    every = guarantee.pairs == ANY_TWO_WORDS
    return f"any two texts that differ in {differ}{alike}{'' if every else which}"


def _differing(guarantee: "Guarantee") -> str:
    value = " or value" if guarantee.kinds else ""
    if guarantee.words == 1:
        return f"one word{value}"
    return f"up to {guarantee.words:,} words{value and ' or values'}"


def _distinct(guarantee: "Guarantee") -> str:
    value = " or value" if guarantee.kinds else ""
    equal = "the same places holding equal " + ("ones" if value else "words")
    if guarantee.words == 1:
        return f"one distinct word{value}, in all its places, {equal}"
    words = f"up to {guarantee.words:,} distinct words{value and ' or values'}"
    return f"{words}, each in all its places, {equal}"


def distance_in(metric: str) -> str:
    """Name the distance of a metric."""
    if metric.startswith(STEPS_OF):
        return f"distance in {metric}"
    return "distance in steps of the word graph" if metric == "graph" else f"{metric} distance"


def step_in(metric: str) -> str:
    """Name the unit of a metric's distances."""
    return "a step of the word graph" if metric == "graph" else f"a unit of {metric} distance"


def of_kinds(kinds: Sequence[KindPromise], words: int) -> str:
    """Say how the losses of several kinds of tokens differ, words being the first of them."""
    own, *others = kinds
    sentences = []
    worst = own.epsilon * own.cap * words
    if math.isfinite(worst):
        sentences.append(f"Where only words differ, that is at most e^{rounded_up(worst)}.")
    on_paths = [kind for kind in others if not kind.drawn_anew]
    if on_paths:
        sentences.append(_in_steps(on_paths, own.epsilon))
    anew = [kind.values for kind in others if kind.drawn_anew]
    if anew:
        named = " and ".join([", ".join(anew[:-1]), anew[-1]] if anew[1:] else anew)
        sentences.append(
            f"{named[0].upper()}{named[1:]} are drawn anew: nothing is lost between two of one "
            "shape."
        )
    sentences.append("Between values of different kinds or shapes, nothing is promised.")
    return " ".join(sentences)


def _in_steps(kinds: Sequence[KindPromise], usual: float) -> str:
    epsilons = {kind.epsilon for kind in kinds}
    # An ε that all of them share is said once.
    common = epsilons.pop() if len(epsilons) == 1 else usual
    stepped = (
        f"{', '.join(kind.values for kind in alike)} ({how})"
        for how, alike in groupby(kinds, key=lambda kind: _stepped(kind, common, usual))
    )
    return (
        f"Values of other kinds count in steps of their own{_other_epsilon(common, usual)}, "
        f"without a cut-off: {', '.join(stepped)}."
    )


def _other_epsilon(epsilon: float, usual: float) -> str:
    if epsilon == usual:
        return ""
    return f", with ε = {exactly(epsilon)} in place of {exactly(usual)}"


def _stepped(kind: KindPromise, common: float, usual: float) -> str:
    epsilon = "" if kind.epsilon == common else _other_epsilon(kind.epsilon, usual)
    capped = "" if math.isinf(kind.cap) else f", never more than {rounded_up(kind.cap)} steps"
    return f"{kind.step}{epsilon}{capped}"


def exactly(number: float) -> str:
    """Format a number in all its digits: a bound must not be rounded down."""
    return repr(number).removesuffix(".0")


def rounded_up(bound: float, digits: int = 4) -> str:
    """Format a bound in a few digits, never below its value.

    >>> rounded_up(34.60101), rounded_up(2.0), rounded_up(1e-9, 1)
    ('34.61', '2', '1e-09')
    """
    text = f"{bound:.{digits}g}"
    if float(text) < bound:
        unit = 10.0 ** (math.floor(math.log10(bound)) + 1 - digits)
        text = f"{float(text) + unit:.{digits}g}"
    return text


def rounded_down(reach: float, digits: int = 4) -> str:
    """Format a reach in a few digits, never above its value.

    >>> rounded_down(14.28460), rounded_down(2.0)
    ('14.28', '2')
    """
    text = f"{reach:.{digits}g}"
    if float(text) > reach:
        unit = 10.0 ** (math.floor(math.log10(reach)) + 1 - digits)
        text = f"{float(text) - unit:.{digits}g}"
    return text

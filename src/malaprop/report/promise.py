"""What is guaranteed, in words that need no mathematics, with examples that mean something."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from malaprop.owner import common_words
from malaprop.privacy.channel import Channel
from malaprop.privacy.guarantee import EACH_DISTINCT_WORD, Guarantee, Kind, rounded_up
from malaprop.privacy.metrics import MetricSpace
from malaprop.report.page import Facts, Piece, Section, code, named, opened
from malaprop.text.people import CLASSES


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Two words, their distance, and what is promised for them."""

    word: str
    other: str
    distance: float
    loss: float | None
    """The largest loss in nats; None where nothing is promised."""


_EXAMPLES = ("aspirin", "ibuprofen", "london", "paris")


def comparisons(channel: Channel) -> tuple[Comparison, ...]:
    """Compare two pairs of like words, and a pair of unlike ones, as examples of the guarantee.

    They are words that everybody knows. A lexicon that lacks them gives the two that are farthest
    apart among its first words of content, each with the nearest word that is no form of it.
    """
    space, guarantee = channel.lexicon, channel.guarantee.in_metric(str(channel.lexicon.metric))
    if len(space) < 2:
        return ()
    known = {word: place for place, word in enumerate(space.words) if word in _EXAMPLES}
    first, like_first, second, like_second = (
        [known[word] for word in _EXAMPLES] if len(known) == len(_EXAMPLES) else _unlike(space)
    )
    compared = []
    for word, other in {(first, like_first), (second, like_second), (first, second)}:
        distance = float(space.distances([word])[0, other])
        loss = guarantee.loss(distance)
        promised = np.isfinite(loss) and channel.covers(np.array([word]))[0, other]
        compared.append(
            Comparison(
                word=space.words[word],
                other=space.words[other],
                distance=distance,
                loss=loss if promised else None,
            )
        )
    return tuple(sorted(compared, key=lambda pair: (pair.distance, pair.word)))


def _unlike(space: MetricSpace) -> tuple[int, int, int, int]:
    """Return two words of content that are far apart, each followed by a word like it."""
    start = common_words(len(space))
    first = start
    second = start + int(space.distances([first])[0][start : start + 1000].argmax())
    return first, _like(space, first), second, _like(space, second)


def _like(space: MetricSpace, word: int) -> int:
    """Return the nearest other word that does not begin alike, or else the nearest one."""
    row = space.distances([word])[0]
    row[word] = np.inf
    order = np.argsort(row, kind="stable")[:20].tolist()
    stem = space.words[word][:4]
    others = (near for near in order if not space.words[near].startswith(stem))
    return int(next(others, order[0]))


_VALUES = (
    "Numbers, dates and times are protected in the same way: the farther apart two of them are, "
    "the less, and without a limit. Identifiers and addresses are made up: only their shape stays."
)
_SHIFTED = (
    "The dates of a text move together, by one secret shift. That hides when things happened, and "
    "not how far apart: whoever knows one of the dates knows all of them."
)
_PEOPLE = (
    "Names and places that are on public lists are replaced by others from these lists, without a "
    "look at them. Of other names, some are found; the rest are words like all others, and may be "
    "read off."
)

_ENTITIES = (
    "What a detector found is replaced by a stand-in of its class, without a look at what stood "
    "there. Where something was found, and of which class, shows. What it missed is protected like "
    "all other words."
)


def kinds_promise(guarantee: Guarantee) -> tuple[str, ...]:
    """Say what is guaranteed for what is no word, by the kinds of a guarantee."""
    if guarantee.kind is Kind.NONE:
        return ()
    values = any(not kind.drawn_anew for kind in guarantee.kinds[1:])
    people = {kind for kinds in CLASSES.values() for kind in kinds}
    redrawn = any(kind.name in people for kind in guarantee.kinds)
    shifted = any(kind.together for kind in guarantee.kinds)
    entities = any(kind.name == "entity" for kind in guarantee.kinds)
    told = {_VALUES: values, _SHIFTED: shifted, _PEOPLE: redrawn, _ENTITIES: entities}
    return tuple(text for text, is_so in told.items() if is_so)


_LARGEST = 25.0  # a loss in nats beyond which a factor is written as a power of e
_CLEAR = 6.0  # a loss in nats beyond which two words can be told apart


def plain_promise(guarantee: Guarantee, examples: Sequence[Comparison]) -> tuple[str, ...]:
    """Say what is guaranteed in three sentences, by examples; in one, if that is nothing.

    They are about the odds between two texts that differ in one word. That is what the proofs
    bound, whatever else a reader knows; how sure a reader is of a word is another matter.
    """
    if guarantee.kind is Kind.NONE:
        return (opened(f"Nothing is guaranteed: {guarantee.reason}"),)
    distinct = guarantee.per == EACH_DISTINCT_WORD
    sentences = []
    for pair in examples[:1]:
        places = "in all its places, " if distinct else ""
        told = (
            "whoever reads the private text, whatever else they know, can shift the odds between "
            f"the two texts by {_most(pair)}"
        )
        if guarantee.delta:
            beyond = f"and by a δ of {rounded_up(guarantee.delta)} beyond that"
            told = f"the chances of whatever may come out differ by {_most(pair)}, {beyond}"
        sentences.append(
            f"Suppose that two texts differ in one word alone, {places}“{named(pair.word)}” in one "
            f"and “{named(pair.other)}” in the other: {told}."
        )
    reach = ", and ".join(f"between {_both(pair)} by {_most(pair)}" for pair in examples[1:])
    unlike = "Other pairs of words may be told apart"
    if guarantee.kind is Kind.METRIC:
        unlike = "The farther apart two words are in the lexicon, the more the odds may shift"
    sentences.append(
        f"{unlike}{f': {reach}' if reach else ''}; a reader may well see what a text is about."
    )
    sentences.append(
        f"With each further {'distinct ' * distinct}word that differs, and with each further "
        "private copy of the same text, such factors multiply; what stands under “What is not "
        "protected” is not covered at all."
    )
    return tuple(sentences)


def short_promise(guarantee: Guarantee, examples: Sequence[Comparison]) -> str:
    """Say what is guaranteed on one line, by an example if that can be true."""
    if guarantee.kind is Kind.NONE:
        return f"nothing: {guarantee.reason}"
    if not examples or guarantee.kind is not Kind.METRIC or guarantee.delta:
        return str(guarantee)
    return (
        f"ε = {guarantee.epsilon:g}: what comes out shifts the odds between {_both(examples[0])} "
        f"by {_most(examples[0])}, between words farther apart by more"
    )


def promise_pieces(guarantee: Guarantee, *plain: str) -> tuple[Piece, ...]:
    """Return what is guaranteed: in plain words, and the formal statement below, folded."""
    rests_on = (
        ("taken to be public", "; ".join(guarantee.public)),
        ("arithmetic", guarantee.numerics),
        ("proof", code(guarantee.proof)),
    )
    formal = Section("The formal statement", (str(guarantee), Facts(rests_on)), folded=bool(plain))
    return (*plain, formal)


def _both(pair: Comparison) -> str:
    return f"“{named(pair.word)}” and “{named(pair.other)}”"


def _most(pair: Comparison) -> str:
    if pair.loss is None:
        return "any factor: for them, nothing is promised"
    clear = " (which is next to no protection)" if pair.loss > _CLEAR else ""
    return f"a factor of at most {factor(pair.loss)}{clear}"


def factor(loss: float) -> str:
    """Return the factor by which odds change at most, rounded up, as people write numbers.

    >>> factor(1.5), factor(15.0)
    ('4.49', '3.27 million')
    """
    return f"e^{rounded_up(loss)}" if loss > _LARGEST else written_factor(math.exp(loss))


def written_factor(most: float) -> str:
    """Return a factor, rounded up, as people write numbers."""
    if math.isinf(most):
        return "inf"
    if most > math.exp(_LARGEST):
        return f"e^{rounded_up(math.log(most))}"
    for size, unit in ((1e9, "billion"), (1e6, "million")):
        if most >= size:
            return f"{rounded_up(most / size, 3)} {unit}"
    text = rounded_up(most, 3)
    return f"{float(text):,.0f}" if "e" in text else text

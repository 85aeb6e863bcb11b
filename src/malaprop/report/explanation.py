"""What a word or a value may become, and what an observer infers: a value with a page."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Unpack

import numpy as np

from malaprop.lexicon.lexicon import Lexicon
from malaprop.measure.explain import (
    Rival,
    ValueRange,
    WordLaw,
    rivals,
    value_in,
    value_ranges,
    word_law,
)
from malaprop.measure.profile import ContextFigure, context_figure
from malaprop.privacy.best_guess import (
    NO_CHANCE_OF_GUESSING,
    UNIFORM,
    BestGuess,
    KeptShare,
)
from malaprop.privacy.channel import Channel, PathChannel
from malaprop.privacy.errors import ParameterError
from malaprop.privacy.guarantee import Guarantee
from malaprop.privacy.randomness import secure_rng
from malaprop.privacy.word_graph import graph_of
from malaprop.privatizer import Privatizer
from malaprop.recipe import LexiconChoice, MechanismChoice
from malaprop.report.page import Bullets, Page, Section, Table, named, opened, render
from malaprop.report.promise import written_factor
from malaprop.text.policy import Policy, TextOptions, policy_with
from malaprop.text.tokens import tokenize
from malaprop.text.treatment import BoundPolicy

_RIVALS = 3
_WORD: Final = "word"
_SHARES = (0.5, 0.9)  # of draws, between which values
_SHOWN = 6  # words of a ring
_RINGS = 8  # that a page shows one by one; the value has all
_WIDTH = 80


@dataclass(frozen=True)
class Replacement:
    """A word that may come out, how far it is, and how likely."""

    word: str
    distance: float
    probability: float


@dataclass(frozen=True)
class Ring:
    """All words that are as many steps away: their number, probability, the likeliest of them."""

    steps: float
    last: bool
    """Whether no distance is larger: words further away count as this far."""
    count: int
    probability: float
    likeliest: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """The law of one word, and what an observer can infer from what comes out.

    `print` shows it as `malaprop explain` does, a notebook as tables.
    """

    word: str
    """The word of the lexicon that is explained, or the value as it is written."""
    kind: str
    """`word`, or the kind of a value: `number`, `date`, `time` and so on."""
    mapped: bool
    """Whether another word was asked for, which the lexicon lacks and which counts as this one."""
    route: str
    """How the public map got from the word asked for to this one; empty if they are the same. Of a
    value, what a step is."""
    unit: str
    """`steps` in a word graph, else `distance`."""
    becomes: tuple[Replacement, ...]
    """The most likely replacements, the likeliest first."""
    others: int
    """How many other words there are."""
    others_probability: float
    rings: tuple[Ring, ...] = ()
    """The neighbourhood by steps; empty for metrics that do not count steps."""
    draws: int
    """0 if the probabilities are exact, else the number of draws that they are estimated from."""
    stays: float
    """The probability that the word stays as it is."""
    plausible: float
    """As many equally likely words would be as uncertain."""
    expected_distance: float
    rivals: tuple[Rival, ...]
    """The nearest other words, and how well an observer can tell them from the word."""
    guessed: BestGuess | None
    """How often an observer without context guesses a word of the lexicon right, on average; None
    for a value."""
    guarantee: Guarantee
    keeping: KeptShare | None
    """How many words of the lexicon stay on average; None for a value."""
    context: ContextFigure | None = None
    """What an observer recovers of public text with context, and without; None if not measured."""
    ranges: tuple[ValueRange, ...] = ()
    """Between which values some shares of the draws lie; empty for words."""
    beside: bool = False
    """Whether something stands beside a value that is drawn on its own, as "mg" in "500mg"."""

    @property
    def is_word(self) -> bool:
        return self.kind == _WORD

    @property
    def success(self) -> float | None:
        return self.guessed.share if self.guessed else None

    @property
    def success_at_least(self) -> bool:
        """Whether a better observer may exceed `success`."""
        return self.guessed is not None and self.guessed.at_least

    def to_dict(self) -> dict[str, Any]:
        plain: dict[str, Any] = {}
        for name, each in vars(self).items():
            if name == "guessed":
                plain |= {"success": self.success, "success_at_least": self.success_at_least}
            elif name not in ("guarantee", "keeping", "context") and not isinstance(each, tuple):
                plain[name] = each
        for name in ("becomes", "rings", "rivals", "ranges"):
            plain[name] = [
                {key: None if value == math.inf else value for key, value in vars(each).items()}
                for each in getattr(self, name)
            ]
        for ring in plain["rings"]:
            ring["likeliest"] = list(ring["likeliest"])
        return plain | {
            "guarantee": self.guarantee.to_dict(),
            "expected_share_unchanged": self.keeping.share if self.keeping else None,
            "warning": self.keeping.warning if self.keeping else "",
            "context": None if self.context is None else self.context.to_dict(),
        }

    def __str__(self) -> str:
        return render(explanation_page(self), width=_WIDTH)

    def _repr_html_(self) -> str:
        return render(explanation_page(self), "notebook")


def explain(
    word: str,
    *,
    epsilon: float | None = None,
    mechanism: MechanismChoice = "balanced",
    lexicon: LexiconChoice = "english",
    top: int = 12,
    **options: Unpack[TextOptions],
) -> Explanation:
    """Return what a word becomes, how likely that is, and what an observer can infer.

    Mechanism and lexicon are values or names; a name takes `epsilon`. `top` is the number of
    replacements that are listed. The law is exact if known in closed form, else estimated.

    A number, a date or a time is explained as what it is, on the path of its kind, if it is drawn
    so: `options` are those of `Privatizer`, such as `kind_epsilon` and `steps`.

    >>> tiny = Lexicon(["cold", "cool", "hot"], [[0.0], [1.0], [9.0]])
    >>> explained = explain("COLD", epsilon=2.0, mechanism="tem", lexicon=tiny)
    >>> [(each.word, round(each.probability, 2)) for each in explained.becomes]
    [('cold', 0.88), ('cool', 0.12), ('hot', 0.0)]
    >>> year = explain("2023", epsilon=1.0, top=3)
    >>> [(each.word, round(each.probability, 2)) for each in year.becomes], year.kind
    ([('2023', 0.46), ('2022', 0.17), ('2024', 0.17)], 'number')
    """
    policy = policy_with(options, explain)
    privatizer = Privatizer(lexicon, mechanism, epsilon=epsilon, **policy.options())
    return explained_by(privatizer, word, top=top)


def explained_by(privatizer: Privatizer, word: str, *, top: int = 12) -> Explanation:
    """Return what a privatizer makes of a word: `explain`, for one that is there already."""
    if top < 1:
        raise ParameterError(f"The 'top' parameter of explain must be 1 or more. Got {top!r}.")
    space, rng = privatizer.lexicon, secure_rng()
    channel: Channel | PathChannel = privatizer.channel
    write: Callable[[int], str] = space.words.__getitem__
    value = value_in(word.strip(), privatizer.treatment) if isinstance(word, str) else None
    about: dict[str, Any]
    if value:
        channel, write = value.channel, value.form.write
        law = word_law(channel, value.place, rng)
        about = {"kind": value.form.grid.kind, "mapped": value.rounded, "route": value.channel.unit}
        about |= {"unit": "steps", "guessed": None, "keeping": None, "beside": not value.alone}
        about["ranges"] = value_ranges(law, _SHARES, write)
    else:
        own, route = _found(word, space)
        law = word_law(channel, own, rng)
        about = {"guessed": privatizer.guessed}
        about |= {"kind": _WORD, "mapped": bool(route), "route": route, "unit": "distance"}
        figure = context_figure(privatizer.mechanism, space)
        about |= {"keeping": privatizer.keeping, "context": figure}
        if str(space.metric) == "graph":
            about |= {"unit": "steps", "rings": tuple(_rings(law, space))}
    listed = law.most_likely(min(top, len(law.distances)))
    return Explanation(
        word=write(law.word),
        becomes=tuple(
            Replacement(write(i), float(law.distances[i]), float(law.probabilities[i]))
            for i in listed.tolist()
        ),
        others=len(law.distances) - len(listed),
        others_probability=max(0.0, 1.0 - float(law.probabilities[listed].sum())),
        draws=law.draws,
        stays=law.stays,
        plausible=law.plausible,
        expected_distance=law.expected_distance,
        rivals=rivals(channel, law, _RIVALS, write),
        guarantee=channel.guarantee,
        **about,
    )


def _rings(law: WordLaw, lexicon: Lexicon) -> Iterator[Ring]:
    graph = graph_of(lexicon.metric)
    cutoff = math.inf if graph is None else graph.cutoff
    for distance in np.unique(law.distances):
        ids = np.flatnonzero(law.distances == distance)
        p = law.probabilities[ids]
        likeliest = ids[np.argsort(-p, kind="stable")[:_SHOWN]]
        words = tuple(lexicon.words[i] for i in likeliest)
        yield Ring(float(distance), bool(distance == cutoff), len(ids), float(p.sum()), words)


def _found(word: object, lexicon: Lexicon) -> tuple[int, str]:
    """Return the id of the word, or of the word that it is mapped to, and by which route."""
    tokens = tokenize(word.strip()) if isinstance(word, str) else []
    policy = _reading(lexicon)
    treatments = policy.treat_all(tokens)
    if len(treatments) != 1 or treatments[0].id < 0:
        raise ParameterError("Give one word to explain, without spaces or punctuation.")
    listed = treatments[0].tag == "in_lexicon"
    return treatments[0].id, "" if listed else str(policy.words.route(tokens[0]))


@lru_cache(maxsize=4)
def _reading(lexicon: Lexicon) -> BoundPolicy:
    return BoundPolicy(lexicon.words, Policy())


def explanation_page(explained: Explanation) -> Page:
    keeping, context = explained.keeping, explained.context
    estimated = f"Estimated from {explained.draws:,} draws; there is no closed form."
    return Page(
        title=f"What “{named(explained.word)}” may become",
        warnings=(keeping.warning,) if keeping and keeping.warning else (),
        sections=(
            Section(
                "Replacements",
                (
                    _mapping(explained),
                    _law(explained),
                    _steps(explained),
                    estimated if explained.draws else "",
                ),
            ),
            Section(
                "What an observer can infer",
                (
                    Bullets(tuple(_inferences(explained))),
                    str(explained.guarantee),
                    _kept(explained, keeping) if keeping and not keeping.warning else "",
                    opened(str(context)) if context else "",
                ),
            ),
        ),
    )


def _law(explained: Explanation) -> Table:
    rows = [
        (named(each.word), _distance(each.distance, explained), _percent(each.probability))
        for each in explained.becomes
    ]
    if explained.others:
        others = f"{explained.others:,} other {_noun(explained)}"
        rows.append((others, "", _percent(explained.others_probability)))
    longest = explained.becomes[0].probability
    bars = tuple(each.probability / longest for each in explained.becomes)
    return Table(("becomes", explained.unit, "probability"), tuple(rows), bars=bars)


def _steps(explained: Explanation) -> Table:
    """Return a table of rings; those far out, which hardly matter, are one row."""
    rings = list(explained.rings)
    if len(far := rings[_RINGS:]) > 1:
        count, probability = sum(r.count for r in far), sum(r.probability for r in far)
        rings[_RINGS:] = [Ring(far[0].steps, True, count, probability, far[0].likeliest)]
    rows = tuple(
        (
            f"{ring.steps:g}" + "+" * ring.last,
            f"{ring.count:,}",
            _percent(ring.probability),
            ", ".join(map(named, ring.likeliest)),
        )
        for ring in rings
    )
    return Table(("steps", "words", "probability", "such as"), rows)


def _inferences(explained: Explanation) -> Iterator[str]:
    away = " steps" if explained.unit == "steps" else ""
    yield (
        f"“{named(explained.word)}” stays as it is with probability {_percent(explained.stays)}; "
        f"what comes out is as uncertain as a choice of {explained.plausible:,.3g} equally likely "
        f"{_noun(explained)}, on average {explained.expected_distance:.2f}{away} away."
    )
    for each in explained.ranges:
        yield f"{each.share:.0%} of draws lie between {each.low} and {each.high}, both included."
    for rival in explained.rivals:
        yield _told_apart(explained, rival)


def _told_apart(explained: Explanation, rival: Rival) -> str:
    delta = explained.guarantee.delta
    own, other = named(explained.word), named(rival.word)
    pair = f"“{own}” against “{other}” ({_apart(rival.distance, explained)})"
    if rival.bound is None:
        return f"Nothing is promised for {pair}."
    exact = f" (in fact {written_factor(rival.odds)})" if rival.odds is not None else ""
    if delta:
        return (
            f"The chances of any set of outputs, for {pair}, differ by a factor of at most "
            f"{written_factor(rival.bound)}, and by a δ of {delta:.3g} beyond that."
        )
    return (
        f"Whatever comes out, the odds of {pair} change by a factor of at most "
        f"{written_factor(rival.bound)}{exact}."
    )


def _noun(explained: Explanation) -> str:
    return "words" if explained.is_word else "values"


def _mapping(explained: Explanation) -> str:
    if not explained.is_word:
        steps = f"Drawn as what it is, a value of the kind {explained.kind}; a step is"
        counts = f" It counts as {explained.word}." if explained.mapped else ""
        beside = " What stands beside it is drawn on its own." if explained.beside else ""
        return f"{steps} {explained.route}.{counts}{beside}"
    if not explained.mapped:
        return ""
    return f"Not in the lexicon: it counts as {named(explained.word)}: {explained.route}."


def _kept(explained: Explanation, keeping: KeptShare) -> str:
    guessed = ""
    if explained.success is not None:
        least = "at least " if explained.success_at_least else ""
        guessed = f", and {UNIFORM}, guesses {least}{_percent(explained.success)} right"
    return (
        f"On average over the lexicon, {_percent(keeping.share)} of words stay as they are"
        f"{guessed}; {NO_CHANCE_OF_GUESSING}."
    )


def _apart(distance: float, explained: Explanation) -> str:
    shown = _distance(distance, explained)
    if explained.unit == "distance":
        return f"distance {shown}"
    return f"{shown} {'step' if distance == 1 else 'steps'} away"


def _distance(distance: float, explained: Explanation) -> str:
    """Format a distance; steps are mostly whole numbers."""
    return f"{distance:.4g}" if explained.unit == "steps" else f"{distance:.2f}"


def _percent(p: float) -> str:
    return f"{100 * p:.3g}%"

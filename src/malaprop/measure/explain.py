"""What a word or a value may become, and what an observer infers, as a value."""

import math
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Unpack
from unicodedata import east_asian_width

import numpy as np
from numpy.random import Generator

from malaprop.draws import value_channel
from malaprop.lexicon.lexicon import Lexicon
from malaprop.measure.profile import ContextFigure, context_figure
from malaprop.privacy import notebook
from malaprop.privacy.arrays import Floats, Ids
from malaprop.privacy.best_guess import (
    NO_CHANCE_OF_GUESSING,
    UNIFORM,
    KeptShare,
    best_guess_of,
    kept_share,
)
from malaprop.privacy.channel import Channel, LawChannel, PathChannel
from malaprop.privacy.errors import ParameterError
from malaprop.privacy.guarantee import Guarantee, rounded_up
from malaprop.privacy.randomness import secure_rng
from malaprop.privacy.word_graph import graph_of
from malaprop.recipe import LexiconChoice, MechanismChoice, choose
from malaprop.text.kinds import ValueForm
from malaprop.text.kinds.grammar import read_value, split_values
from malaprop.text.kinds.grids import StepSizes
from malaprop.text.policy import Policy, TextOptions, policy_with
from malaprop.text.tokens import tokenize
from malaprop.text.treatment import Action, BoundPolicy

# The law of one word: what it may become, and what an observer can infer.


_DRAWS = 4000
_SHOWN = 6  # words of a level


@dataclass(frozen=True)
class Level:
    """All words at one distance: their number, their probability, the likeliest of them."""

    distance: float
    count: int
    probability: float
    likeliest: Ids


@dataclass(frozen=True, kw_only=True)
class WordLaw:
    """The distribution of one word's replacement.

    `draws` is 0 where the probabilities are exact, else the number of draws behind them.
    """

    word: int
    probabilities: Floats
    distances: Floats
    draws: int

    @property
    def stays(self) -> float:
        """Pr[w | w]."""
        return float(self.probabilities[self.word])

    @property
    def plausible(self) -> float:
        """exp of the entropy: how many equally likely words would be as uncertain."""
        p = self.probabilities[self.probabilities > 0]
        return float(np.exp(-(p * np.log(p)).sum()))

    @property
    def expected_distance(self) -> float:
        """The mean distance between the word and its replacement."""
        return float(self.probabilities @ self.distances)

    def by_distance(self) -> list["Level"]:
        """Return the words by distance, level by level: for metrics that count steps."""
        levels = []
        for distance in np.unique(self.distances):
            ids = np.flatnonzero(self.distances == distance)
            p = self.probabilities[ids]
            best = ids[np.argsort(-p, kind="stable")[:_SHOWN]]
            levels.append(Level(float(distance), len(ids), float(p.sum()), best))
        return levels

    def most_likely(self, count: int) -> Ids:
        """Return the `count` most likely replacements; of equally likely ones, the nearest."""
        return np.lexsort((self.distances, -self.probabilities))[:count]


def word_law(channel: Channel, word: int, rng: Generator) -> WordLaw:
    """Return the law of a word: exact if known in closed form, else from 4,000 draws."""
    distances = channel.lexicon.distances([word])[0]
    if isinstance(channel, LawChannel):
        p = np.exp(channel.log_probabilities([word])[0])
        return WordLaw(word=word, probabilities=p, distances=distances, draws=0)
    drawn = channel.substitute(np.full(_DRAWS, word), rng)
    p = np.bincount(drawn, minlength=len(channel.lexicon)) / _DRAWS
    return WordLaw(word=word, probabilities=p, distances=distances, draws=_DRAWS)


@dataclass(frozen=True)
class Rival:
    """A near word, and how well an observer can tell it from the word."""

    word: str
    distance: float
    bound: float | None
    """The most that the guarantee allows, e^loss; None where it does not cover the pair."""
    odds: float | None
    """Pr[y | word] / Pr[y | rival], or its inverse, at the y that tells most; None if unknown."""


def rivals(channel: Channel, word: int, count: int) -> list[Rival]:
    """Return the nearest other words, and the odds that one output gives against each."""
    distances = channel.lexicon.distances([word])[0]
    order = np.argsort(distances, kind="stable")
    near = [int(i) for i in order[: count + 1] if i != word][:count]
    nearest = []
    for other in near:
        odds = None
        if isinstance(channel, LawChannel):
            own, its = channel.log_probabilities([word, other])
            odds = _exp(float(np.abs(own - its).max()))
        bound = _bound(channel, word, other, float(distances[other]))
        nearest.append(Rival(channel.lexicon.words[other], float(distances[other]), bound, odds))
    return nearest


def _bound(channel: Channel, word: int, other: int, distance: float) -> float | None:
    guarantee = channel.guarantee.in_metric(str(channel.lexicon.metric))
    if not channel.covers(np.array([word]))[0, other]:
        return None
    loss = guarantee.loss(distance)
    return None if math.isinf(loss) else _exp(loss)


def _exp(loss: float) -> float:
    return math.exp(loss) if loss < 700 else math.inf


# The law of one value: what a number, a date or a time may become on the path of its kind.


@dataclass(frozen=True)
class ValueRange:
    """Two values between which, both included, at least a share of the draws lies."""

    share: float
    low: str
    high: str


@dataclass(frozen=True, kw_only=True)
class ValueLaw:
    """A value of a text: how it is written, and how it is drawn."""

    form: ValueForm
    law: WordLaw
    """The law of its place on the grid."""
    channel: PathChannel
    rounded: bool
    """Whether the grid lacks the value, which counts as the nearest one."""
    alone: bool
    """Whether there is nothing beside it that is drawn on its own, as "mg" in "500mg"."""

    @property
    def guarantee(self) -> Guarantee:
        """What is promised for one such value."""
        return self.channel.guarantee

    def ranges(self, shares: Sequence[float]) -> tuple[ValueRange, ...]:
        """Return the values between which these shares of the draws lie, equal tails beyond."""
        sums = np.cumsum(self.law.probabilities)
        return tuple(
            ValueRange(
                share,
                self.form.write(int(np.searchsorted(sums, (1.0 - share) / 2.0))),
                self.form.write(int(np.searchsorted(sums, (1.0 + share) / 2.0))),
            )
            for share in shares
        )

    def rivals(self, count: int) -> list[Rival]:
        """Return the nearest other values, and the odds that one output gives against each."""
        own, distances = self.law.word, self.law.distances
        order = np.argsort(distances, kind="stable")
        near = [int(place) for place in order[: count + 1] if place != own][:count]
        rows = self.channel.log_probabilities([own, *near])
        odds = np.abs(rows[1:] - rows[0]).max(axis=1).tolist()
        return [
            Rival(
                self.form.write(place),
                float(distances[place]),
                _exp(self.guarantee.loss(float(distances[place]))),
                _exp(most),
            )
            for place, most in zip(near, odds, strict=True)
        ]


def value_law(text: str, policy: Policy) -> ValueLaw | None:
    """Return the law of the value that a token holds; None if it holds none.

    Raise a ParameterError if it holds several, or one that is drawn without a look at it.
    """
    epsilon, steps = policy.kind_epsilon, policy.steps
    if policy.kinds != "typed" or epsilon is None or not isinstance(steps, StepSizes):
        return None
    pieces = split_values(text)
    values = [(piece, value) for piece in pieces if (value := read_value(piece, policy.dates))]
    known = {piece for piece, _ in values}
    if not values or not all(piece in known or piece.isalpha() for piece in pieces):
        return None  # no value, or a phrase
    if len(values) > 1:
        raise ParameterError("Give one value to explain, not several.")
    [(piece, (form, secret))] = values
    if not isinstance(form, ValueForm):
        raise ParameterError(
            "An identifier or an address is drawn anew, without a look at it: there is nothing to "
            "explain. docs/kinds.md says which shapes stay."
        )
    channel = value_channel(form.grid, steps, epsilon)
    law = WordLaw(
        word=secret,
        probabilities=np.exp(channel.log_probabilities([secret])[0]),
        distances=channel.path.distances([secret])[0],
        draws=0,
    )
    return ValueLaw(
        form=form,
        law=law,
        channel=channel,
        rounded=form.write(secret) != piece,
        alone=len(pieces) == 1,
    )


# What a word may become, and what an observer can infer: `malaprop explain`, as a value.


_RIVALS = 3
_WORD: Final = "word"
_SHARES = (0.5, 0.9)  # of draws, between which values


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
    rings: tuple[Ring, ...]
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
    success: float | None
    """How often an observer without context guesses a word of the lexicon right, on average; None
    for a value."""
    guarantee: Guarantee
    keeping: KeptShare | None
    """How many words of the lexicon stay on average; None for a value."""
    context: ContextFigure | None = None
    """What an observer recovers of public text with context, and without; None if not measured."""
    ranges: tuple[ValueRange, ...] = ()
    """Between which values some shares of the draws lie; empty for words."""
    success_at_least: bool = False
    """Whether a better observer may exceed `success`."""
    beside: bool = False
    """Whether something stands beside a value that is drawn on its own, as "mg" in "500mg"."""

    @property
    def is_word(self) -> bool:
        """Whether a word is explained, not a number or another value."""
        return self.kind == _WORD

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as plain values for JSON."""
        plain = {name: value for name, value in vars(self).items() if not _nested(value)}
        listed = ("becomes", "rings", "rivals", "ranges")
        plain |= {name: [asdict(item) for item in getattr(self, name)] for name in listed}
        for rival in plain["rivals"]:
            rival |= {name: _finite(rival[name]) for name in ("bound", "odds")}
        for ring in plain["rings"]:
            ring["likeliest"] = list(ring["likeliest"])
        return plain | {
            "guarantee": self.guarantee.to_dict(),
            "expected_share_unchanged": self.keeping.share if self.keeping else None,
            "warning": self.keeping.warning if self.keeping else "",
            "context": None if self.context is None else self.context.to_dict(),
        }

    def __str__(self) -> str:

        return "\n".join(line for line, _ in as_lines(self))

    def _repr_html_(self) -> str:
        """Return the explanation for a notebook."""

        return as_html(self)


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
    if top < 1:
        raise ParameterError(f"The 'top' parameter of explain must be 1 or more. Got {top!r}.")
    policy = policy_with(options, explain)
    chosen = choose(lexicon, mechanism, epsilon)
    channel = chosen.mechanism.on(chosen.lexicon)
    policy = policy.with_chosen_kinds(channel.guarantee)
    if isinstance(word, str) and (value := value_law(word.strip(), policy)):
        return _explained_value(value, top)
    own, route = _found(word, chosen.lexicon)
    law = word_law(channel, own, secure_rng())
    explained = _explained(
        law, channel, chosen.lexicon, kept_share(chosen.mechanism, channel), route, top
    )
    return replace(explained, context=context_figure(chosen.mechanism, chosen.lexicon))


def _found(word: object, lexicon: Lexicon) -> tuple[int, str]:
    """Return the id of the word, or of the word that it is mapped to, and by which route."""
    tokens = tokenize(word.strip()) if isinstance(word, str) else []
    policy = BoundPolicy(lexicon.words, Policy())
    treatments = policy.treat_all(tokens)
    if len(treatments) != 1 or treatments[0].action is not Action.PROTECT:
        raise ParameterError("Give one word to explain, without spaces or punctuation.")
    listed = treatments[0].tag == "in_lexicon"
    return treatments[0].id, "" if listed else str(policy.words.route(tokens[0]))


def _explained(
    law: WordLaw, channel: Channel, lexicon: Lexicon, keeping: KeptShare, route: str, top: int
) -> Explanation:
    guessed = keeping.guessed or best_guess_of(channel, keeping.share)
    listed = law.most_likely(min(top, len(lexicon)))
    steps = str(lexicon.metric) == "graph"
    return Explanation(
        word=lexicon.words[law.word],
        kind=_WORD,
        mapped=bool(route),
        route=route,
        unit="steps" if steps else "distance",
        becomes=tuple(
            Replacement(lexicon.words[i], float(law.distances[i]), float(law.probabilities[i]))
            for i in listed
        ),
        others=len(lexicon) - len(listed),
        others_probability=max(0.0, 1.0 - float(law.probabilities[listed].sum())),
        rings=tuple(_rings(law, lexicon)) if steps else (),
        draws=law.draws,
        stays=law.stays,
        plausible=law.plausible,
        expected_distance=law.expected_distance,
        rivals=tuple(rivals(channel, law.word, _RIVALS)),
        success=guessed.share,
        success_at_least=guessed.at_least,
        guarantee=channel.guarantee,
        keeping=keeping,
    )


def _explained_value(value: ValueLaw, top: int) -> Explanation:
    law, write = value.law, value.form.write
    listed = law.most_likely(min(top, len(law.distances)))
    return Explanation(
        word=write(law.word),
        kind=value.form.kind,
        mapped=value.rounded,
        route=value.channel.unit,
        unit="steps",
        becomes=tuple(
            Replacement(write(i), float(law.distances[i]), float(law.probabilities[i]))
            for i in listed.tolist()
        ),
        others=len(law.distances) - len(listed),
        others_probability=max(0.0, 1.0 - float(law.probabilities[listed].sum())),
        rings=(),
        draws=0,
        stays=law.stays,
        plausible=law.plausible,
        expected_distance=law.expected_distance,
        rivals=tuple(value.rivals(_RIVALS)),
        success=None,
        guarantee=value.guarantee,
        keeping=None,
        ranges=value.ranges(_SHARES),
        beside=not value.alone,
    )


def _rings(law: WordLaw, lexicon: Lexicon) -> list[Ring]:
    graph = graph_of(lexicon.metric)
    cutoff = math.inf if graph is None else graph.cutoff
    return [
        Ring(
            level.distance,
            level.distance == cutoff,
            level.count,
            level.probability,
            tuple(lexicon.words[i] for i in level.likeliest),
        )
        for level in law.by_distance()
    ]


def _nested(value: object) -> bool:
    return isinstance(value, tuple | Guarantee | KeptShare | ContextFigure)


def _finite(number: float | None) -> float | None:
    """Return a number that JSON can hold."""
    return None if number is None or math.isinf(number) else number


# An explanation of a word as text and as HTML.


_BAR = 30  # characters of the longest bar
_EIGHTHS = " ▏▎▍▌▋▊▉"
_WIDTH = 80
OBSERVER = "What an observer can infer"

Line = tuple[str, bool]
"""A line, and whether it stands out."""


def as_lines(explained: Explanation, width: int = _WIDTH) -> Iterator[Line]:
    """Yield the lines that show an explanation in a terminal, wrapped to a width."""
    if explained.mapped or not explained.is_word:
        yield from _wrapped(f"{_mapping(explained)}\n", width)
    yield from _law(explained, width)
    if explained.rings:
        yield from _steps(explained, width)
    if explained.draws:
        yield from _wrapped(f"\n{_estimated(explained)}", width)
    yield "", False
    yield OBSERVER, True
    for sentence in inferences(explained):
        yield from _wrapped(sentence, width)
    yield from _wrapped(f"\n{explained.guarantee}", width)
    if explained.keeping is not None:
        warning = bool(explained.keeping.warning)
        yield from _wrapped(f"\n{_kept(explained, explained.keeping)}", width, bold=warning)
    if explained.context:
        yield from _wrapped(f"\n{_with_context(explained.context)}", width)


def as_html(explained: Explanation) -> str:
    """Return an explanation as HTML for a notebook."""
    longest = explained.becomes[0].probability
    rows = [
        (
            r.word,
            _distance(r.distance, explained),
            _percent(r.probability),
            _bar(r.probability / longest),
        )
        for r in explained.becomes
    ]
    if explained.others:
        rest = _percent(explained.others_probability)
        rows.append((_other_words(explained), "", rest, ""))
    told = explained.mapped or not explained.is_word
    parts = [notebook.paragraph(_mapping(explained))] if told else []
    parts.append(notebook.table(("becomes", explained.unit, "probability", ""), rows))
    if explained.rings:
        steps = [(*numbers, ", ".join(words)) for numbers, words in _ring_rows(explained)]
        parts.append(notebook.table(("steps", "words", "probability", "such as"), steps))
    if explained.draws:
        parts.append(notebook.paragraph(_estimated(explained)))
    parts.append(notebook.paragraph(OBSERVER, bold=True))
    parts += map(notebook.paragraph, inferences(explained))
    parts.append(notebook.paragraph(str(explained.guarantee)))
    if explained.keeping is not None:
        warning = bool(explained.keeping.warning)
        parts.append(notebook.paragraph(_kept(explained, explained.keeping), bold=warning))
    if explained.context:
        parts.append(notebook.paragraph(_with_context(explained.context)))
    return "".join(parts)


def inferences(explained: Explanation) -> list[str]:
    """Return sentences on what an observer can infer."""
    away = " steps" if explained.unit == "steps" else ""
    uncertain = (
        f"“{explained.word}” stays as it is with probability {_percent(explained.stays)}; what "
        f"comes out is as uncertain as a choice of {explained.plausible:,.3g} equally likely "
        f"{_noun(explained)}, on average {explained.expected_distance:.2f}{away} away."
    )
    ranges = [
        f"{each.share:.0%} of draws lie between {each.low} and {each.high}, both included."
        for each in explained.ranges
    ]
    return [uncertain, *ranges, *(_told_apart(explained, rival) for rival in explained.rivals)]


def _told_apart(explained: Explanation, rival: Rival) -> str:
    """Say what the guarantee promises for a word and a near one."""
    delta = explained.guarantee.delta
    pair = f"“{explained.word}” against “{rival.word}” ({_apart(rival.distance, explained)})"
    if rival.bound is None:
        return f"Nothing is promised for {pair}."
    exact = f" (in fact {_factor(rival.odds)})" if rival.odds is not None else ""
    if delta:
        return (
            f"The chances of any set of outputs, for {pair}, differ by a factor of at most "
            f"{_factor(rival.bound)}, and by a δ of {delta:.3g} beyond that."
        )
    return (
        f"Whatever comes out, the odds of {pair} change by a factor of at most "
        f"{_factor(rival.bound)}{exact}."
    )


def _noun(explained: Explanation) -> str:
    return "words" if explained.is_word else "values"


def _mapping(explained: Explanation) -> str:
    if not explained.is_word:
        steps = f"Drawn as what it is, a value of the kind {explained.kind}; a step is"
        counts = f" It counts as {explained.word}." if explained.mapped else ""
        beside = " What stands beside it is drawn on its own." if explained.beside else ""
        return f"{steps} {explained.route}.{counts}{beside}"
    return f"Not in the lexicon: it counts as {explained.word}: {explained.route}."


def _estimated(explained: Explanation) -> str:
    return f"Estimated from {explained.draws:,} draws; there is no closed form."


def _kept(explained: Explanation, keeping: KeptShare) -> str:
    """Say how many words stay on average, or warn if that is too many or too few."""
    if keeping.warning:
        return f"Warning: {keeping.warning}."
    share = f"{_percent(keeping.share)} of words stay as they are"
    guessed = ""
    if explained.success is not None:
        least = "at least " if explained.success_at_least else ""
        told = f"{least}{_percent(explained.success)}"
        guessed = f", and {UNIFORM}, guesses {told} right"
    return f"On average over the lexicon, {share}{guessed}; {NO_CHANCE_OF_GUESSING}."


def _with_context(figure: ContextFigure) -> str:
    """Say what an observer recovers of a public sample, with context and without."""
    told = str(figure)
    return f"{told[:1].upper()}{told[1:]}."


def _other_words(explained: Explanation) -> str:
    return f"{explained.others:,} other {_noun(explained)}"


def _law(explained: Explanation, width: int) -> Iterator[Line]:
    """Yield the table of replacements, the word itself in bold; bars are as long as fits."""
    longest = explained.becomes[0].probability
    rows = [(("becomes", explained.unit, "probability"), 0.0)]
    for r in explained.becomes:
        numbers = _distance(r.distance, explained), _percent(r.probability)
        rows.append(((r.word, *numbers), r.probability / longest))
    if explained.others:
        rest = _percent(explained.others_probability)
        rows.append(((_other_words(explained), "", rest), 0.0))
    widths = [max(_cells(cells[column]) for cells, _ in rows) for column in range(3)]
    room = min(_BAR, max(0, width - sum(widths) - 3 * 2))
    words = ["", *(r.word for r in explained.becomes)]
    for place, ((first, *others), share) in enumerate(rows):
        padded = first + " " * (widths[0] - _cells(first))
        line = "  ".join([padded, _right(others, widths[1:]), _bar(share, room)]).rstrip()
        yield line, place == 0 or words[place : place + 1] == [explained.word]


def _steps(explained: Explanation, width: int) -> Iterator[Line]:
    """Yield the neighbourhood by steps: how many words, how likely, and examples."""
    rows = [(("steps", "words", "probability"), ("such as",)), *_ring_rows(explained)]
    widths = [max(len(numbers[column]) for numbers, _ in rows) for column in range(3)]
    yield "", False
    for numbers, words in rows:
        line = _right(numbers, widths)
        yield f"{line}  {_fitting(words, width - len(line) - 2)}", False


def _ring_rows(explained: Explanation) -> list[tuple[tuple[str, str, str], tuple[str, ...]]]:
    return [
        (
            (f"{ring.steps:g}" + "+" * ring.last, f"{ring.count:,}", _percent(ring.probability)),
            ring.likeliest,
        )
        for ring in explained.rings
    ]


def _right(numbers: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(f"{n:>{width}}" for n, width in zip(numbers, widths, strict=True))


def _fitting(words: Sequence[str], room: int) -> str:
    """Join as many whole words as fit, but at least one."""
    shown = words[0]
    for word in words[1:]:
        if _cells(shown) + _cells(word) + 2 > room:
            break
        shown += f", {word}"
    return shown


def _cells(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    return sum(2 if east_asian_width(sign) in "WF" else 1 for sign in text)


def _wrapped(text: str, width: int, *, bold: bool = False) -> Iterator[Line]:
    """Yield the lines of a text that may begin or end with an empty line."""
    for paragraph in text.split("\n"):
        for line in textwrap.wrap(paragraph, width, break_on_hyphens=False) or [""]:
            yield line, bold and bool(line)


def _apart(distance: float, explained: Explanation) -> str:
    shown = _distance(distance, explained)
    if explained.unit == "distance":
        return f"distance {shown}"
    return f"{shown} {'step' if distance == 1 else 'steps'} away"


def _distance(distance: float, explained: Explanation) -> str:
    """Format a distance; steps are mostly whole numbers."""
    return f"{distance:.4g}" if explained.unit == "steps" else f"{distance:.2f}"


def _bar(share: float, longest: int = _BAR) -> str:
    """Draw a bar with this share of the longest one, to an eighth of a character."""
    full, eighths = divmod(round(8 * longest * share), 8)
    return ("█" * full + _EIGHTHS[eighths]).rstrip()


def _percent(p: float) -> str:
    return f"{100 * p:.3g}%"


def _factor(odds: float) -> str:
    """Format a factor with a few digits, rounded up."""
    if 100 <= odds < 1e7:
        return f"{math.ceil(odds):,}"
    return rounded_up(odds) if math.isfinite(odds) else "inf"

"""What a word may become, and what an observer can infer: `malaprop explain`, as a value."""

import math
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Unpack

from malaprop.core.channel import Channel
from malaprop.core.errors import ParameterError
from malaprop.core.guarantee import Guarantee
from malaprop.core.metrics.graph import graph_of
from malaprop.core.randomness import secure_rng
from malaprop.lexicon.lexicon import Lexicon
from malaprop.measure.context_figures import ContextFigure, context_figure
from malaprop.pipeline.choosing import LexiconChoice, MechanismChoice, choose
from malaprop.pipeline.guessing import guessed_share
from malaprop.pipeline.keeping import Keeping, keeping_of
from malaprop.pipeline.values import with_chosen_kinds
from malaprop.report.value import ValueLaw, ValueRange, value_law
from malaprop.report.word import Rival, WordLaw, rivals, word_law
from malaprop.text import Action, BoundPolicy, Policy, TextOptions, policy_with, tokenize

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
    keeping: Keeping | None
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
        from malaprop.report.explained import as_lines

        return "\n".join(line for line, _ in as_lines(self))

    def _repr_html_(self) -> str:
        """Return the explanation for a notebook."""
        from malaprop.report.explained import as_html

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
    policy = with_chosen_kinds(policy, channel.guarantee)
    if isinstance(word, str) and (value := value_law(word.strip(), policy)):
        return _explained_value(value, top)
    own, route = _found(word, chosen.lexicon)
    law = word_law(channel, own, secure_rng())
    explained = _explained(
        law, channel, chosen.lexicon, keeping_of(chosen.mechanism, channel), route, top
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
    law: WordLaw, channel: Channel, lexicon: Lexicon, keeping: Keeping, route: str, top: int
) -> Explanation:
    guessed = keeping.guessed or guessed_share(channel, keeping.share)
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
    return isinstance(value, tuple | Guarantee | Keeping | ContextFigure)


def _finite(number: float | None) -> float | None:
    """Return a number that JSON can hold."""
    return None if number is None or math.isinf(number) else number

"""What a mechanism does on a lexicon, in the figures of a page: by ε, and by occurrences."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.random import Generator

from malaprop.data import DATA
from malaprop.measure.bayes import (
    BEST_GUESS,
    bayes_success,
    estimated_success,
    success_by_occurrences,
)
from malaprop.measure.word_statistics import statistics_of
from malaprop.privacy.best_guess import nearby_chances
from malaprop.privacy.channel import Channel, LawChannel
from malaprop.privacy.errors import MalapropError
from malaprop.privacy.estimate import Estimate, sample, word_ids
from malaprop.privacy.mechanism import Mechanism
from malaprop.privacy.metrics import MetricSpace
from malaprop.privacy.progress import Progress, report
from malaprop.privacy.randomness import seeded_rng
from malaprop.smoother import SETTINGS
from malaprop.text.policy import Readable

# How many words an observer recovers with context, on a named public sample.
#
# The figures were measured by tools/build_context_figures.py, for mechanisms with their usual
# parameters on `english`. They depend on public text alone, so that they can stand in a report.

_FILE = DATA / "context-figures.json"
_HIDDEN = ("upper", "model")  # of a figure, where it is shown as values
_MADE: Mapping[Readable, str] = {"faithful": "readable", "fluent": "fluent"}


@dataclass(frozen=True, kw_only=True)
class ContextFigure:
    """Shares of the words of a public sample that an observer recovers, at some ε.

    Taking the output for the word counts as an attack, too: no share is below `kept`. Between two ε
    that were measured, figures are interpolated.
    """

    epsilon: float
    kept: float
    alone: float
    """The share recovered word by word, by word frequencies of the web: the attack `bayes`."""
    context: float
    """The share recovered with context, by public bigrams: the attack `context`."""
    upper: float
    """The upper end of the 95 % interval of `context`."""
    sample: str
    prior: str
    """Whose words and bigrams the observer knows, alone and with context alike."""
    readable: Mapping[Readable, float] = field(default_factory=dict)
    """The share of original words in the text made readable, by each setting that was measured."""
    model: str = ""
    """The fingerprint of the bigrams with which all this was measured."""

    def to_dict(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in _HIDDEN}

    def made_readable(self, setting: Readable | None = None) -> str:
        """Say what text that is made readable has of the original words, by one setting or by all.

        It says nothing if that was not measured.
        """
        shares = {name: f"{share:.0%}" for name, share in self.readable.items()}
        if setting:
            shares = {name: share for name, share in shares.items() if name == setting}
        if not shares:
            return ""
        first, *others = shares
        told = f"{shares[first]} are the original ones when the text is made {_MADE[first]}"
        told += "".join(f", {shares[name]} when it is made {_MADE[name]}" for name in others)
        return f"of the words of {self.sample}, {told}, and {self.kept:.0%} as drawn"

    def __str__(self) -> str:
        return (
            f"of the words of {self.sample}, an observer who knows how frequent words are in "
            f"{self.prior} recovers {self.alone:.0%} by looking at each word alone, and one who "
            f"also knows which words follow which {self.context:.0%}"
        )


def context_curve(mechanism: Mechanism, lexicon: MetricSpace) -> tuple[ContextFigure, ...]:
    """Return the figures of a mechanism at all ε that were measured, in rising order.

    None at all if they were not measured on this lexicon, with these parameters.
    """
    told, about = _stored(), mechanism.to_dict()
    entry = told["mechanisms"].get(about.pop("name"))
    about.pop("epsilon")
    fingerprint = getattr(lexicon, "fingerprint", "")
    if entry is None or (entry["options"], entry["lexicon"]) != (about, fingerprint):
        return ()
    figures = []
    for row in entry["figures"]:
        alone = max(row["alone"], row["kept"])
        context = max(row["context"], alone)
        shares: dict[str, Any] = {"kept": row["kept"], "alone": alone, "context": context}
        shares["readable"] = row.get("readable", {})
        upper = context + (row["interval"][1] - row["context"])
        figures.append(
            ContextFigure(
                epsilon=row["epsilon"],
                upper=upper,
                sample=told["sample"],
                prior=told["prior"],
                model=told["model"],
                **shares,
            )
        )
    return tuple(figures)


def context_figure(mechanism: Mechanism, lexicon: MetricSpace) -> ContextFigure | None:
    """Return what an observer recovers with context, from a mechanism at its ε; None if unknown."""
    curve, epsilon = context_curve(mechanism, lexicon), mechanism.epsilon
    epsilons = [figure.epsilon for figure in curve]
    if not curve or not epsilons[0] <= epsilon <= epsilons[-1]:
        return None

    def at(values: Iterable[float]) -> float:
        return float(np.interp(epsilon, epsilons, list(values)))

    names = ("kept", "alone", "context", "upper")
    shares: dict[str, Any] = {name: at(vars(figure)[name] for figure in curve) for name in names}
    measured = [s for s in SETTINGS if all(s in figure.readable for figure in curve)]
    shares["readable"] = {s: at(figure.readable[s] for figure in curve) for s in measured}
    return replace(curve[0], epsilon=epsilon, **shares)


@cache
def _stored() -> dict[str, Any]:
    told: dict[str, Any] = json.loads(_FILE.read_text("utf-8"))
    return told


TIMES = (0.5, 0.75, 1.0, 1.5, 2.0)
"""The ε of a curve, as multiples of the chosen one."""
OCCURRENCES = (1, 2, 3, 5, 10)
_WORDS = 256
_RUNS = 100
_TRIALS = 400
_LARGE = 10_000  # words of a lexicon from which the success is estimated,
_DEAR = 1_000  # and for noise on vectors
_LISTED = 10


@dataclass(frozen=True, kw_only=True)
class Band:
    """A statistic over words: mean, and the values between which 90 % of words lie."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class ProfilePoint:
    """What a mechanism does at one ε."""

    epsilon: float
    kept: Band
    """N_w, the chance that a word stays."""
    distinct: Band
    """S_w, the different outputs in 100 runs."""
    success: Estimate
    """How often an observer without context guesses a word right, all words equally likely."""


@dataclass(frozen=True, kw_only=True)
class Profile:
    """The figures of a page about a mechanism at some ε."""

    epsilon: float
    curve: tuple[ProfilePoint, ...]
    occurrences: Mapping[int, Estimate]
    """How often a word that occurs so often, with as many draws, is guessed right."""
    worst_words: tuple[tuple[str, float], ...]
    """The sampled words that stay most often, with their N_w."""
    words: int
    """How many words the figures are computed for."""
    exact: bool
    context: ContextFigure | None = None
    """What an observer recovers of public text with context, and without; None if not measured."""

    @property
    def chosen(self) -> ProfilePoint:
        return next(point for point in self.curve if point.epsilon == self.epsilon)

    @property
    def bounded(self) -> bool:
        """Whether only bounds on the best guess by occurrences are known."""
        return any(success.over == BEST_GUESS for success in self.occurrences.values())


def profile_of(
    mechanism: Mechanism,
    lexicon: MetricSpace,
    *,
    times: Sequence[float] = TIMES,
    rng: Generator | None = None,
    progress: Progress | None = None,
) -> Profile:
    """Compute what a mechanism does at its ε and around it.

    On `english` it takes six seconds of one core for `balanced`, and 17 for noise on vectors.

    >>> from malaprop import Lexicon, TEM, seeded_rng
    >>> line = Lexicon(["cold", "cool", "hot"], [[0.0], [1.0], [3.0]])
    >>> profile = profile_of(TEM(epsilon=1.0), line, rng=seeded_rng(1))
    >>> [point.epsilon for point in profile.curve], profile.exact
    ([0.5, 0.75, 1.0, 1.5, 2.0], True)
    """
    # Draws of public words for estimates: with a seed, two reports of one setting agree.
    noise = seeded_rng(0) if rng is None else rng
    ids = word_ids(lexicon, min(_WORDS, len(lexicon)))
    channels = _channels(mechanism, lexicon, times)
    own = channels[mechanism.epsilon]
    steps = len(channels) + 2
    curve = []
    for epsilon, channel in channels.items():
        bands = {}
        for name in ("kept", "distinct"):
            values = statistics_of(channel, ids, name, _RUNS, noise)
            low, high = np.percentile(values, [5, 95]).tolist()
            bands[name] = Band(mean=float(np.mean(values)), low=low, high=high)
        curve.append(ProfilePoint(epsilon=epsilon, success=_success(channel, noise), **bands))
        report(progress, len(curve), steps)
    kept = statistics_of(own, ids, "kept", _RUNS, noise)
    order = np.argsort(-kept, kind="stable")[:_LISTED]
    occurrences = success_by_occurrences(own, OCCURRENCES, trials=_TRIALS, rng=noise)
    report(progress, steps, steps)
    return Profile(
        epsilon=mechanism.epsilon,
        curve=tuple(curve),
        occurrences=occurrences,
        worst_words=tuple((lexicon.words[ids[i]], float(kept[i])) for i in order),
        words=len(ids),
        exact=isinstance(own, LawChannel),
        context=context_figure(mechanism, lexicon),
    )


def _channels(
    mechanism: Mechanism, lexicon: MetricSpace, times: Sequence[float]
) -> dict[float, Channel]:
    """Return the mechanism at some ε; without those that it does not serve."""
    channels = {}
    for epsilon in sorted({mechanism.epsilon, *(mechanism.epsilon * time for time in times)}):
        try:
            channels[epsilon] = replace(mechanism, epsilon=epsilon).on(lexicon)
        except MalapropError:
            if epsilon == mechanism.epsilon:
                raise
    return channels


def _success(channel: Channel, rng: Generator) -> Estimate:
    """Return the success; on a large lexicon an estimate, or a lower bound."""
    size, law = len(channel.lexicon), isinstance(channel, LawChannel)
    if size <= (_LARGE if law else _DEAR):
        return bayes_success(channel, rng=rng).success
    if isinstance(channel, LawChannel) and (estimate := estimated_success(channel, rng=rng)):
        return estimate
    # As for the warning of a run: the same outputs and draws, so that a page has one figure.
    chances = nearby_chances(channel, sample(size), seeded_rng(0))
    return replace(Estimate.of_sample(chances, rng), bound="at least")

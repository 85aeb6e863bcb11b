"""Statistics of a channel, word by word."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Floats, Ids
from malaprop.core.channel import Channel, LawChannel, VectorChannel, checked_channel
from malaprop.core.errors import ParameterError
from malaprop.core.noise.shared_draws import shared_draws, shares_noise
from malaprop.core.progress import Progress, report
from malaprop.core.randomness import checked_rng, secure_rng, seeded_rng
from malaprop.core.space import blocks
from malaprop.measure.chosen_words import word_ids
from malaprop.measure.intervals import bootstrap_intervals, clopper_pearson, widened
from malaprop.measure.similarity import Similarity
from malaprop.measure.words.candidates import SMALL
from malaprop.measure.words.draw_errors import GROUPS, draw_errors
from malaprop.measure.words.statistic import (
    ColumnStatistic,
    Draws,
    Options,
    Rows,
    Statistic,
    registry,
)

_CELLS = 1 << 21  # rows of a law, or draws, that are held at a time
_LISTED = 10  # words at the worst end
LEAST_RUNS = 10


@dataclass(frozen=True, kw_only=True)
class Summary:
    """A statistic over all words: mean with its interval, spread, percentiles, worst words."""

    title: str
    mean: float
    interval: tuple[float, float]
    """95 % interval of the mean over the lexicon: by the bootstrap over words unless all were
    measured, and with the error of draws unless it is `exact`."""
    sd: float
    min: float
    p5: float
    p50: float
    p95: float
    max: float
    worst: tuple[tuple[str, float], ...]
    """The words that are protected least, with their values."""

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as plain values for JSON."""
        return {**vars(self), "interval": list(self.interval), "worst": dict(self.worst)}


@dataclass(frozen=True, kw_only=True)
class WordStatistics:
    """What a channel does to each of some words. It describes; it is no guarantee."""

    words: tuple[str, ...]
    values: Mapping[str, Floats]
    """The values of each statistic of `malaprop.measure.words.registry` that applies to the
    lexicon, a number per word."""
    exact: bool
    """Whether they are computed from the law; else they are estimates from `runs` draws each."""
    runs: int
    """R: "distinct" counts the different outputs of R runs."""
    size: int
    """How many words the lexicon has."""
    seed: int = 0
    """Of the bootstrap that gives intervals of means; drawn from the generator of the draws."""
    draw_errors: Mapping[str, float] = field(default_factory=dict)
    """Standard errors of the means over words that draws cause, with 7 degrees of freedom; none if
    `exact`."""

    @property
    def kept(self) -> Floats:
        """N_w = Pr[M(w) = w]."""
        return self.values["kept"]

    @property
    def kept_intervals(self) -> Floats:
        """95 % Clopper-Pearson intervals of `kept`: (words, 2). Exact values have no width."""
        if self.exact:
            return np.stack([self.kept, self.kept], axis=1)
        return clopper_pearson(np.rint(self.kept * self.runs), self.runs)

    @property
    def distinct(self) -> Floats:
        """S_w: how many different outputs `runs` runs give, on average if `exact`."""
        return self.values["distinct"]

    @property
    def candidates(self) -> Floats:
        """K_w: how many inputs explain an output within the factor γ."""
        return self.values["candidates"]

    @property
    def entropy(self) -> Floats:
        """Shannon entropy of the output, in bits."""
        return self.values["entropy"]

    @property
    def moved(self) -> Floats:
        """Expected distance between the word and its replacement."""
        return self.values["moved"]

    @property
    def similarity(self) -> Floats:
        """Expected similarity of the word and its replacement."""
        return self.values["similarity"]

    def summary(self) -> dict[str, Summary]:
        """Summarise each statistic; intervals of means have the error of words and of draws."""
        means = np.array([values.mean() for values in self.values.values()])
        intervals = np.stack([means, means], axis=1)
        if len(self.words) < self.size:
            columns = np.stack(list(self.values.values()), axis=1)
            intervals = bootstrap_intervals(columns, seeded_rng(self.seed))
        errors = np.array([self.draw_errors.get(name, 0.0) for name in self.values])
        intervals = widened(intervals, means, errors, GROUPS - 1)
        ends = np.array([registry[name].bounds for name in self.values])
        intervals = np.clip(intervals, ends[:, :1], ends[:, 1:])
        return {
            name: self._summary(name, (float(low), float(high)))
            for name, (low, high) in zip(self.values, intervals, strict=True)
        }

    def _summary(self, name: str, interval: tuple[float, float]) -> Summary:
        values, statistic = self.values[name], registry[name]
        low, five, middle, ninety_five, high = np.percentile(values, [0, 5, 50, 95, 100]).tolist()
        order = np.argsort(-values if statistic.worst == "high" else values, kind="stable")
        return Summary(
            title=statistic.title,
            mean=float(values.mean()),
            interval=interval,
            sd=float(values.std(ddof=1)) if len(values) > 1 else 0.0,
            min=low,
            p5=five,
            p50=middle,
            p95=ninety_five,
            max=high,
            worst=tuple((self.words[i], float(values[i])) for i in order[:_LISTED]),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the summaries and all values for JSON."""
        return {
            "exact": self.exact,
            "runs": self.runs,
            "lexicon_words": self.size,
            "summary": {name: value.to_dict() for name, value in self.summary().items()},
            "words": list(self.words),
            "values": {name: values.tolist() for name, values in self.values.items()},
            "kept_intervals": None if self.exact else self.kept_intervals.tolist(),
        }


def statistics(
    channel: Channel,
    words: Sequence[str] | int | None = None,
    runs: int = 1000,
    rng: Generator | None = None,
    *,
    least: float | None = None,
    factor: float = 2.0,
    progress: Progress | None = None,
) -> WordStatistics:
    """Return statistics of a channel for some words: exact from its law, or from `runs` draws.

    `words` are words of the lexicon, or a number of words spread evenly over it; by default all,
    or 1,000 of a lexicon with more than 10,000. `least` is η, by default 1/runs, and `factor` is
    γ: see `malaprop.measure.words.registry`.

    >>> from malaprop import Lexicon, TEM
    >>> line = Lexicon(["cold", "cool", "hot"], [[0.0], [1.0], [3.0]])
    >>> figures = statistics(TEM(epsilon=2.0, gamma=2.0, exponent="half").on(line))
    >>> figures.kept.round(6).tolist(), figures.exact
    ([0.665241, 0.665241, 0.786986], True)
    """
    ids = word_ids(checked_channel(channel).lexicon, words)
    options = Options(
        runs=_runs(runs), least=1.0 / runs if least is None else least, factor=_factor(factor)
    )
    noise = secure_rng() if rng is None else checked_rng(rng)
    wanted = [each for each in registry.values() if each.applies(channel.lexicon)]
    values, errors = _measured(channel, ids, wanted, options, noise, progress)
    return WordStatistics(
        words=tuple(channel.lexicon.words[i] for i in ids),
        values=values,
        exact=isinstance(channel, LawChannel),
        runs=options.runs,
        size=len(channel.lexicon),
        seed=int(noise.integers(1 << 32)),
        draw_errors=errors,
    )


def _runs(runs: int) -> int:
    if isinstance(runs, bool) or not isinstance(runs, int | np.integer) or runs < LEAST_RUNS:
        raise ParameterError(
            f"`runs` must be a whole number of {LEAST_RUNS} or more: "
            "fewer draws say nothing about a word."
        )
    return int(runs)


def _factor(factor: float) -> float:
    if not 1.0 <= factor < np.inf:
        raise ParameterError(
            f"The 'factor' parameter of statistics must be 1 or more. Got {factor!r}."
        )
    return float(factor)


def statistics_of(
    channel: Channel, ids: Ids, statistic: Statistic, runs: int, rng: Generator
) -> Floats:
    """Return one statistic of some words, with the usual η and γ."""
    options = Options(runs=_runs(runs), least=1.0 / runs, factor=2.0)
    if isinstance(channel, LawChannel):
        return _from_law(channel, ids, [statistic], options, rng, None)[statistic.name]
    return statistic.sampled(_draws(channel, ids, options, rng, None))


def _measured(
    channel: Channel,
    ids: Ids,
    wanted: Sequence[Statistic],
    options: Options,
    rng: Generator,
    progress: Progress | None,
) -> tuple[dict[str, Floats], Mapping[str, float]]:
    """Return the values of statistics, and the errors of draws."""
    if isinstance(channel, LawChannel):
        values = _from_law(channel, ids, wanted, options, rng, progress)
        return values, _law_errors(values, len(channel.lexicon))
    draws = _draws(channel, ids, options, rng, progress)
    values = {statistic.name: statistic.sampled(draws) for statistic in wanted}
    return values, draw_errors(draws, wanted)


def _law_errors(values: Mapping[str, Floats], size: int) -> Mapping[str, float]:
    """Return the error of drawn outputs where all words of a large lexicon were measured."""
    counts = values["candidates"]
    if not SMALL < len(counts) == size:
        return {}
    return {"candidates": float(counts.std(ddof=1)) / size**0.5}


def _from_law(
    channel: LawChannel[Any],
    ids: Ids,
    wanted: Sequence[Statistic],
    options: Options,
    rng: Generator,
    progress: Progress | None,
) -> dict[str, Floats]:
    by_row = [one for one in wanted if not isinstance(one, ColumnStatistic)]
    by_column = [one for one in wanted if isinstance(one, ColumnStatistic)]
    similarity = Similarity(channel.lexicon)
    parts: dict[str, list[Floats]] = {statistic.name: [] for statistic in wanted}
    steps = blocks(len(ids), row_cells=len(channel.lexicon), budget=_CELLS) if by_row else []
    for block in _reported(steps, None if by_column else progress):
        rows = Rows(
            space=channel.lexicon,
            ids=ids[block],
            log_probabilities=channel.log_probabilities(ids[block]),
            similarity=similarity,
            options=options,
        )
        for statistic in by_row:
            parts[statistic.name].append(statistic.exact(rows))
    for column in by_column:
        parts[column.name].append(column.of_law(channel, ids, options, rng, progress))
    return {name: np.concatenate(values) for name, values in parts.items()}


def _draws(
    channel: Channel, ids: Ids, options: Options, rng: Generator, progress: Progress | None
) -> Draws:
    if isinstance(channel, VectorChannel) and shares_noise(channel):
        drawn = shared_draws(channel, ids, options.runs, rng, progress)
    else:
        drawn = _own_draws(channel, ids, options.runs, rng, progress)
    return Draws(
        space=channel.lexicon,
        ids=ids,
        drawn=drawn,
        similarity=Similarity(channel.lexicon),
        options=options,
    )


def _own_draws(
    channel: Channel, ids: Ids, runs: int, rng: Generator, progress: Progress | None
) -> Ids:
    """Draw `runs` replacements of each word, each with randomness of its own."""
    drawn = np.empty((len(ids), runs), dtype=np.int64)
    cells = runs * channel.lexicon.vectors.shape[1]
    for block in _reported(blocks(len(ids), row_cells=cells, budget=_CELLS), progress):
        own = np.repeat(ids[block], runs)
        drawn[block] = channel.substitute(own, rng).reshape(-1, runs)
    return drawn


def _reported(steps: Sequence[slice], progress: Progress | None) -> Iterator[slice]:
    """Yield blocks of words, and report each one when it is done."""
    for done, block in enumerate(steps, 1):
        yield block
        report(progress, done, len(steps))

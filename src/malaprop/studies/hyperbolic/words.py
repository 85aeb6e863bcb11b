"""Figure 5: N_w, mean and maximum; S_w; K_w; exact where there is a law."""

from collections.abc import Iterator

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Floats, Ids
from malaprop.core.channel import Channel, LawChannel
from malaprop.measure.chosen_words import word_ids
from malaprop.measure.similarity import Similarity
from malaprop.measure.words.statistic import Draws, Options, registry
from malaprop.measure.words.statistics import statistics_of
from malaprop.studies.framework.claims import Claim, Results, above, below
from malaprop.studies.framework.items import Figure, Item
from malaprop.studies.framework.lines import Line, Setting
from malaprop.studies.framework.measuring import mean_of, share_in_clear
from malaprop.studies.framework.run import Run
from malaprop.studies.hyperbolic.mechanisms import (
    AT_THE_EDGE,
    EQUAL_KEPT,
    HIERARCHY,
    NARROW,
    PUBLISHED,
    SHORT,
    SOUND,
    WIDE,
    channel_of,
)

EPSILONS = (0.125, 0.5, 1, 2, 8)
OF = 1000
"""N_w is told of 1,000 runs, as in the paper."""
STATISTICS = {"kept": "N_w", "distinct": "S_w", "hierarchy": "K_w"}
_HIGH, _LOW = {"p95": 95, "max": 100}, {"p5": 5, "min": 0}
ENDS = {"kept": _HIGH, "distinct": {**_HIGH, **_LOW}, "hierarchy": _LOW}
"""The words that are worst off have a high N_w, and a low S_w and K_w."""


def grid(run: Run) -> Iterator[Setting]:
    """The published mechanism and the sound ones at each ε, and controls."""
    shared = {"lexicon": HIERARCHY, "spread": "words"}
    edge = {"control": AT_THE_EDGE}
    tangent = {"mechanism": "tangent-laplace", "published": False}
    ball = {"mechanism": "hyperbolic-laplace", "published": False}
    for epsilon in EPSILONS:
        for one in (PUBLISHED, WIDE, NARROW, SHORT, SOUND, tangent):
            yield {**one, "epsilon": epsilon, **shared}
        for one in (PUBLISHED, SOUND):
            yield {**one, "epsilon": epsilon, **edge, **shared}
        yield {**SOUND, "epsilon": epsilon, "control": EQUAL_KEPT, **shared}
    for epsilon in (10, 16):  # there is none up to n − 1 = 9
        yield {**ball, "epsilon": epsilon, **shared}


def words(run: Run, setting: Setting, rng: Generator) -> Iterator[Figure]:
    """Measure N_w, S_w and K_w of words spread over the lexicon."""
    channel = channel_of(run, setting)
    ids = word_ids(channel.lexicon, min(len(channel.lexicon), run.pick(quick=24, full=100)))
    runs = run.pick(quick=100, full=400)
    for name, values in measured(channel, ids, runs, rng).items():
        scale = OF if name == "kept" else 1
        yield mean_of(STATISTICS[name], scale * values)
        for title, end in ENDS[name].items():
            yield Figure(f"{STATISTICS[name]}_{title}", float(scale * np.percentile(values, end)))
    yield Figure("runs", runs)
    yield Figure("epsilon_used", float(channel.guarantee.epsilon))
    yield Figure("share_in_clear", share_in_clear(channel))


def measured(channel: Channel, ids: Ids, runs: int, rng: Generator) -> dict[str, Floats]:
    """Return N_w as a share, S_w and K_w of so many runs: exact means if there is a law."""
    wanted = [registry[name] for name in STATISTICS]
    if isinstance(channel, LawChannel):
        return {each.name: statistics_of(channel, ids, each, runs, rng) for each in wanted}
    drawn = channel.substitute(np.repeat(ids, runs), rng).reshape(len(ids), runs)
    draws = Draws(
        space=channel.lexicon,
        ids=ids,
        drawn=drawn,
        similarity=Similarity(channel.lexicon),
        options=Options(runs=runs, least=1.0 / runs, factor=2.0),
    )
    return {each.name: each.sampled(draws) for each in wanted}


def _next(epsilon: float) -> float | None:
    later = [each for each in EPSILONS if each > epsilon]
    return later[0] if later else None


def _at_next(line: Line, results: Results) -> Line | None:
    """Return the same figure at the next larger ε."""
    return results.like(line, epsilon=_next(line.setting["epsilon"]))


def _is_of_the_paper(setting: Setting) -> bool:
    return "control" not in setting and setting["epsilon"] in EPSILONS[:-1]


FIG5 = Item(
    name="fig5",
    grid=grid,
    cell=words,
    key="words",
    revision=2,
    measures=(
        *("N_w", "N_w_p95", "N_w_max", "K_w", "K_w_p5", "K_w_min"),
        *("S_w", "S_w_p95", "S_w_max", "S_w_p5", "S_w_min"),
        *("runs", "epsilon_used", "share_in_clear"),
    ),
    claims=(
        Claim(
            text="N_w grows with ε",
            measure="N_w",
            about=_is_of_the_paper,
            holds=lambda line, results: below(line, _at_next(line, results)),
        ),
        Claim(
            text="S_w falls as ε grows",
            measure="S_w",
            about=_is_of_the_paper,
            holds=lambda line, results: above(line, _at_next(line, results)),
        ),
        Claim(
            text="K_w falls as ε grows, in the same manner as S_w",
            measure="K_w",
            about=_is_of_the_paper,
            holds=lambda line, results: above(line, _at_next(line, results)),
        ),
    ),
)

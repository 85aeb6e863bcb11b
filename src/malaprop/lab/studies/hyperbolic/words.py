"""Figure 5: N_w, mean and maximum; S_w; K_w; exact where there is a law."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.random import Generator

from malaprop.lab.studies.figures import mean_of, share_in_clear
from malaprop.lab.studies.hyperbolic.mechanisms import (
    AT_THE_EDGE,
    COMPONENTS,
    EQUAL_EUCLIDEAN,
    EQUAL_KEPT,
    HIERARCHY,
    NARROW,
    PUBLISHED,
    SHORT,
    SOUND,
    TRAINED,
    WIDE,
    channel_of,
    euclidean,
)
from malaprop.lab.studies.reproduction import VECTORS, Run
from malaprop.lab.studies.study import (
    Claim,
    Item,
    Line,
    Measurement,
    Results,
    Setting,
    above,
    below,
)
from malaprop.measure.word_statistics import Draws, Options, Similarity, registry, statistics_of
from malaprop.mechanisms.laplace import Laplace
from malaprop.privacy.arrays import Floats, Ids
from malaprop.privacy.channel import Channel, LawChannel
from malaprop.privacy.estimate import word_ids
from malaprop.privacy.randomness import seeded_rng

EPSILONS = (0.125, 0.5, 1, 2, 8)
OF = 1000
"""N_w is told of 1,000 runs, as in the paper."""
STATISTICS = {"kept": "N_w", "distinct": "S_w", "hierarchy": "K_w"}
_HIGH, _LOW = {"p95": 95, "max": 100}, {"p5": 5, "min": 0}
ENDS = {"kept": _HIGH, "distinct": {**_HIGH, **_LOW}, "hierarchy": _LOW}
"""The words that are worst off have a high N_w, and a low S_w and K_w."""


def word_grid(run: Run) -> Iterator[Setting]:
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


def words(run: Run, setting: Setting, rng: Generator) -> Iterator[Measurement]:
    """Measure N_w, S_w and K_w of words spread over the lexicon."""
    channel = channel_of(run, setting)
    ids = word_ids(channel.lexicon, min(len(channel.lexicon), run.pick(quick=24, full=100)))
    runs = run.pick(quick=100, full=400)
    for name, values in measured(channel, ids, runs, rng).items():
        scale = OF if name == "kept" else 1
        yield mean_of(STATISTICS[name], scale * values)
        for title, end in ENDS[name].items():
            yield Measurement(
                f"{STATISTICS[name]}_{title}", float(scale * np.percentile(values, end))
            )
    yield Measurement("runs", runs)
    yield Measurement("epsilon_used", float(channel.guarantee.epsilon))
    yield Measurement("share_in_clear", share_in_clear(channel))


def measured(channel: Channel, ids: Ids, runs: int, rng: Generator) -> dict[str, Floats]:
    """Return N_w as a share, S_w and K_w of so many runs: exact means if there is a law."""
    wanted = [registry[name] for name in STATISTICS]
    if isinstance(channel, LawChannel):
        return {each.name: statistics_of(channel, ids, each.name, runs, rng) for each in wanted}
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
    grid=word_grid,
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


# Table IV: the expected N_w of hyperbolic and Euclidean mechanisms at the same worst case.


BY_P95 = "equal 95th percentile"
_COUNTED = 10  # runs of the worst word that return it
_POINTS = 14  # ε of a curve
_RANGE = (0.3, 60.0)  # ε times the median norm of centred vectors is between d/3 and 60·d or so


@dataclass(frozen=True)
class Curve:
    """N_w of Euclidean Laplace noise by ε: worst case, 95th percentile and mean, of 1,000."""

    epsilons: Floats
    kept: Floats
    """A row for each ε, a column for each word."""
    least: float
    """The smallest worst case that so many runs can tell: the largest of few counts is luck."""

    def at(self, worst: float, percentile: float) -> tuple[float, Floats] | None:
        """Return ε and N_w of all words where the worst case is so high; None beyond the curve."""
        ends = np.maximum.accumulate(np.percentile(self.kept, percentile, axis=1))
        if not max(ends[0], self.least) < worst < ends[-1]:
            return None
        place = int(np.searchsorted(ends, worst))
        low, high = ends[place - 1], ends[place]
        part = (worst - low) / (high - low)
        logs = np.log(self.epsilons)
        epsilon = float(np.exp(logs[place - 1] + part * (logs[place] - logs[place - 1])))
        return epsilon, (1.0 - part) * self.kept[place - 1] + part * self.kept[place]


def euclidean_grid(run: Run) -> Iterator[Setting]:
    """Each mechanism at each ε against each space, by maximum or by p95; then at equal ε."""
    quick = [*TRAINED][::3]
    spaces = run.pick(quick=("hyperbolic", *quick), full=("hyperbolic", *TRAINED, *COMPONENTS))
    shared = {"lexicon": HIERARCHY, "spread": "words"}
    for one, epsilon in product((PUBLISHED, SOUND), EPSILONS):
        for control, space in product((None, BY_P95), spaces):
            own = {**one, "epsilon": epsilon, **shared, "space": space}
            yield {**own, "control": control} if control else own
    for epsilon, space in product(EPSILONS, spaces):  # the published ε promises nothing
        own = {**SOUND, "epsilon": epsilon, **shared, "space": space}
        if space not in COMPONENTS:
            yield {**own, "control": EQUAL_EUCLIDEAN}


def table4(run: Run, setting: Setting, rng: Generator) -> Iterator[Measurement]:
    """Measure the hyperbolic mechanism, or Laplace noise at an ε with the same worst case."""
    name = TRAINED.get(setting["space"])
    added = {"vectors": name} if name in VECTORS else {}
    yield from (replace(figure, setting=added) for figure in _compared(run, setting))


def _compared(run: Run, setting: Setting) -> Iterator[Measurement]:
    control, space = setting.get("control"), setting["space"]
    percentile = 95.0 if control == BY_P95 else 100.0
    if space != "hyperbolic":  # if its vectors are missing, nothing need be measured
        euclidean(run, space, run.lexicon(HIERARCHY).words)
    kept = _hyperbolic(run, setting)
    worst, epsilon = float(np.percentile(kept, percentile)), float(setting["epsilon"])
    if space != "hyperbolic" and control == EQUAL_EUCLIDEAN:
        epsilon, kept = _at_equal_epsilon(run, setting)
        worst = float(kept.max())
    elif space != "hyperbolic":
        matched = _curve(run, space).at(worst, percentile)
        if matched is None:  # all words stay, or none does
            yield from (Measurement("worst_case", worst), Measurement("expected", None))
            return
        epsilon, kept = matched
    yield Measurement("worst_case", worst)
    yield mean_of("expected", kept)
    yield Measurement("epsilon_used", epsilon)


def _at_equal_epsilon(run: Run, setting: Setting) -> tuple[float, Floats]:
    """Return ε and N_w of Laplace noise that promises what the hyperbolic mechanism does."""
    channel = channel_of(run, {**setting, "mechanism": "laplace"})
    return float(channel.guarantee.epsilon), OF * _shares(run, channel)


def _hyperbolic(run: Run, setting: Setting) -> Floats:
    own = {k: v for k, v in setting.items() if k not in ("control", "space")}

    def measure() -> Floats:
        return OF * _shares(run, channel_of(run, own))

    return run.once(("N_w", *map(str, own.items())), measure)


def _shares(run: Run, channel: Channel) -> Floats:
    ids = word_ids(channel.lexicon, min(len(channel.lexicon), _words(run)))
    return statistics_of(channel, ids, "kept", _runs(run), seeded_rng(run.seed))


def _curve(run: Run, space: str) -> Curve:
    return run.once(("curve", space), lambda: _measured_curve(run, space))


def _measured_curve(run: Run, space: str) -> Curve:
    lexicon = euclidean(run, space, run.lexicon(HIERARCHY).words)
    # The radius of the noise is dimension/ε on average: begin where it exceeds all vectors.
    size = float(np.median(np.linalg.norm(lexicon.vectors, axis=1)))
    low, high = (factor * lexicon.vectors.shape[1] ** 0.5 / size for factor in _RANGE)
    epsilons = np.geomspace(low, high, _POINTS)
    rows = [_shares(run, Laplace(epsilon=float(epsilon)).on(lexicon)) for epsilon in epsilons]
    return Curve(epsilons, OF * np.array(rows), _COUNTED * OF / _runs(run))


def _words(run: Run) -> int:
    return run.pick(quick=24, full=200)


def _runs(run: Run) -> int:
    return run.pick(quick=50, full=1000)


def _lower_than_euclidean(end: str, control: str | None) -> Claim:
    return Claim(
        text=f"at the same {end}, the hyperbolic mechanism's expected N_w is lower than the "
        "Euclidean one's",
        measure="expected",
        about=lambda setting: setting["space"] in TRAINED and setting.get("control") == control,
        # The paper has 100, 200 and 300 dimensions.
        beyond=lambda setting: (
            "50 dimensions" if setting["space"].endswith(" 50 dimensions") else ""
        ),
        holds=lambda line, results: below(
            results.like(line, space="hyperbolic", vectors=None), line
        ),
    )


TABLE4 = Item(
    name="table4",
    grid=euclidean_grid,
    cell=table4,
    key="table4",
    revision=3,
    measures=("worst_case", "expected", "epsilon_used"),
    claims=(
        _lower_than_euclidean("worst case", None),
        replace(_lower_than_euclidean("95th percentile", BY_P95), whose="control"),
    ),
)

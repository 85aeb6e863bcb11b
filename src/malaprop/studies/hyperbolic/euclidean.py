"""Table IV: the expected N_w of hyperbolic and Euclidean mechanisms at the same worst case."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Floats
from malaprop.core.channel import Channel
from malaprop.core.randomness import seeded_rng
from malaprop.measure.chosen_words import word_ids
from malaprop.measure.words.statistic import registry
from malaprop.measure.words.statistics import statistics_of
from malaprop.mechanisms.laplace import Laplace
from malaprop.studies.framework.claims import Claim, below
from malaprop.studies.framework.items import Figure, Item
from malaprop.studies.framework.lines import Setting
from malaprop.studies.framework.measuring import mean_of
from malaprop.studies.framework.not_at_hand import VECTORS
from malaprop.studies.framework.run import Run
from malaprop.studies.hyperbolic.mechanisms import (
    EQUAL_EUCLIDEAN,
    HIERARCHY,
    PUBLISHED,
    SOUND,
    channel_of,
)
from malaprop.studies.hyperbolic.spaces import COMPONENTS, TRAINED, euclidean
from malaprop.studies.hyperbolic.words import EPSILONS, OF

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


def grid(run: Run) -> Iterator[Setting]:
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


def table4(run: Run, setting: Setting, rng: Generator) -> Iterator[Figure]:
    """Measure the hyperbolic mechanism, or Laplace noise at an ε with the same worst case."""
    name = TRAINED.get(setting["space"])
    added = {"vectors": name} if name in VECTORS else {}
    yield from (replace(figure, setting=added) for figure in _compared(run, setting))


def _compared(run: Run, setting: Setting) -> Iterator[Figure]:
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
            yield from (Figure("worst_case", worst), Figure("expected", None))
            return
        epsilon, kept = matched
    yield Figure("worst_case", worst)
    yield mean_of("expected", kept)
    yield Figure("epsilon_used", epsilon)


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
    return statistics_of(channel, ids, registry["kept"], _runs(run), seeded_rng(run.seed))


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
    grid=grid,
    cell=table4,
    key="table4",
    revision=3,
    measures=("worst_case", "expected", "epsilon_used"),
    claims=(
        _lower_than_euclidean("worst case", None),
        replace(_lower_than_euclidean("95th percentile", BY_P95), whose="control"),
    ),
)

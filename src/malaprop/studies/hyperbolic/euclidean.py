"""Table IV: the expected N_w of hyperbolic and Euclidean mechanisms at the same worst case."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Floats
from malaprop.core.randomness import seeded_rng
from malaprop.lexicon.lexicon import Lexicon
from malaprop.measure.chosen_words import word_ids
from malaprop.measure.words.statistic import registry
from malaprop.measure.words.statistics import statistics_of
from malaprop.mechanisms.laplace import Laplace
from malaprop.studies.framework.claims import Claim, below
from malaprop.studies.framework.items import Figure, Item
from malaprop.studies.framework.lines import Setting
from malaprop.studies.framework.measuring import mean_of
from malaprop.studies.framework.run import Run
from malaprop.studies.hyperbolic.mechanisms import HIERARCHY, PUBLISHED, SOUND, channel_of
from malaprop.studies.hyperbolic.words import EPSILONS, OF

BY_P95 = "equal 95th percentile"
_POINTS = 14  # ε of a curve
_RANGE = (0.3, 60.0)  # ε times the median norm of centred vectors is between d/3 and 60·d or so


@dataclass(frozen=True)
class Curve:
    """N_w of Euclidean Laplace noise by ε: worst case, 95th percentile and mean, of 1,000."""

    epsilons: Floats
    kept: Floats
    """A row for each ε, a column for each word."""
    least: float
    """The smallest N_w that so many runs can tell from 0."""

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
    """Each mechanism at each ε against each dimension, matched by the maximum or by the p95."""
    dimensions = run.pick(quick=(50, 300), full=(50, 100, 200, 300))
    shared = {"lexicon": HIERARCHY, "spread": "words"}
    for one in (PUBLISHED, SOUND):
        for epsilon in EPSILONS:
            for control in (None, BY_P95):
                own = {**one, "epsilon": epsilon, **shared}
                if control:
                    own["control"] = control
                yield {**own, "space": "hyperbolic"}
                for dimension in dimensions:
                    yield {**own, "space": f"Euclidean, {dimension} dimensions"}


def table4(run: Run, setting: Setting, rng: Generator) -> Iterator[Figure]:
    """Measure the hyperbolic mechanism, or Laplace noise at an ε with the same worst case."""
    percentile = 95.0 if setting.get("control") == BY_P95 else 100.0
    kept = _hyperbolic(run, setting)
    worst = float(np.percentile(kept, percentile))
    yield Figure("worst_case", worst)
    if setting["space"] == "hyperbolic":
        yield mean_of("expected", kept)
        yield Figure("epsilon_used", setting["epsilon"])
        return
    curve = _curve(run, int(setting["space"].split()[1]))
    matched = curve.at(worst, percentile)
    if matched is None:  # all words stay, or none does
        yield Figure("expected", None)
        return
    epsilon, values = matched
    yield mean_of("expected", values)
    yield Figure("epsilon_used", epsilon)


def _hyperbolic(run: Run, setting: Setting) -> Floats:
    own = {k: v for k, v in setting.items() if k not in ("control", "space")}

    def measure() -> Floats:
        channel = channel_of(run, own)
        ids = word_ids(channel.lexicon, min(len(channel.lexicon), _words(run)))
        values = statistics_of(channel, ids, registry["kept"], _runs(run), seeded_rng(run.seed))
        return OF * values

    return run.once(("N_w", *map(str, own.items())), measure)


def _curve(run: Run, dimension: int) -> Curve:
    return run.once(("curve", dimension), lambda: _measured_curve(run, dimension))


def _measured_curve(run: Run, dimension: int) -> Curve:
    words = run.lexicon(HIERARCHY).words
    lexicon = reduced(run.lexicon().subset(words), dimension)
    ids = word_ids(lexicon, min(len(lexicon), _words(run)))
    # The radius of the noise is dimension/ε on average: begin where it exceeds all vectors.
    size = float(np.median(np.linalg.norm(lexicon.vectors, axis=1)))
    low, high = (factor * lexicon.vectors.shape[1] ** 0.5 / size for factor in _RANGE)
    epsilons = np.geomspace(low, high, _POINTS)
    rows = [
        statistics_of(
            Laplace(epsilon=float(epsilon)).on(lexicon),
            ids,
            registry["kept"],
            _runs(run),
            seeded_rng(run.seed),
        )
        for epsilon in epsilons
    ]
    return Curve(epsilons, OF * np.array(rows), OF / _runs(run))


def reduced(lexicon: Lexicon, dimension: int) -> Lexicon:
    """Return the leading principal components of a lexicon's vectors, centred."""
    vectors = lexicon.vectors.astype(np.float64)
    vectors -= vectors.mean(axis=0)
    if dimension >= vectors.shape[1]:
        return Lexicon(lexicon.words, vectors)
    _, directions = np.linalg.eigh(vectors.T @ vectors)
    return Lexicon(lexicon.words, vectors @ directions[:, -dimension:])


def _words(run: Run) -> int:
    return run.pick(quick=24, full=100)


def _runs(run: Run) -> int:
    return run.pick(quick=50, full=200)


TABLE4 = Item(
    name="table4",
    grid=grid,
    cell=table4,
    measures=("worst_case", "expected", "epsilon_used"),
    claims=(
        Claim(
            text="at the same worst case, the hyperbolic mechanism's expected N_w is lower than "
            "the Euclidean one's",
            measure="expected",
            about=lambda setting: setting["space"] != "hyperbolic",
            holds=lambda line, results: below(results.like(line, space="hyperbolic"), line),
        ),
    ),
)

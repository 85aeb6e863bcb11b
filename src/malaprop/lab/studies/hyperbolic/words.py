"""Table I and Figure 4: examples; Figure 3: the density; Figure 5: N_w, S_w and K_w, exact where
there is a law; Table IV.
"""

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator

from malaprop.lab.studies.figures import mean_of, share_in_clear
from malaprop.lab.studies.hyperbolic.mechanisms import (
    HIERARCHY,
    TRAINED,
    channel_of,
    euclidean,
    lexicon_of,
)
from malaprop.lab.studies.hyperbolic.texts import WordIds
from malaprop.lab.studies.reproduction import VECTORS, Run
from malaprop.lab.studies.study import Line, Measurement, Setting
from malaprop.measure.word_statistics import Draws, Options, Similarity, registry, statistics_of
from malaprop.mechanisms.laplace import Laplace
from malaprop.mechanisms.poincare_metropolis import MetropolisWalk
from malaprop.privacy.arrays import Floats, Ids
from malaprop.privacy.channel import Channel, LawChannel
from malaprop.privacy.estimate import word_ids
from malaprop.privacy.randomness import seeded_rng

# Table I: what comes out in the slots of the paper's queries. Figure 4: words in the disk.

_RUNS, _SHOWN = 1000, 3
CONCEPTS = {
    "animal": ("dog", "cat", "horse", "lion", "eagle", "salmon"),
    "food": ("bread", "cheese", "apple"),
    "city": ("london", "paris", "chicago", "tokyo"),
    "state": ("ohio", "texas"),
    "person": ("doctor", "nurse", "painter", "teacher"),
    "music": ("techno", "jazz"),
    "vehicle": ("car", "truck", "bicycle"),
}
"""Concepts and instances of them."""
_OTHERS = 30  # words of a hierarchy that has none of these


def table1(run: Run, setting: Setting, rng: Generator) -> Iterator[Measurement]:
    channel = channel_of(run, setting)
    (word,) = WordIds(lexicon_of(run, setting))([setting["word"]])
    drawn = channel.substitute(np.repeat(word, _RUNS), rng)
    often = Counter(channel.lexicon.words[i] for i in drawn.tolist()).most_common(_SHOWN)
    yield Measurement("replacements", ", ".join(each for each, _ in often))


def fig4(run: Run, setting: Setting, rng: Generator) -> Iterator[Measurement]:
    """Measure where words lie: their own distance from the origin, at an angle of two dimensions.

    Also how much farther out an instance is than its concept.
    """
    lexicon = lexicon_of(run, setting)
    of = {own: concept for concept, all_of in CONCEPTS.items() for own in all_of}
    known = [word for word in (*CONCEPTS, *of) if word in lexicon.index]
    known = known or list(lexicon.words[:_OTHERS])
    vectors = lexicon.vectors[[lexicon.index[word] for word in known]].astype(np.float64)
    radii = np.linalg.norm(vectors, axis=1)
    units = vectors / radii[:, None]
    units -= units.mean(axis=0)
    flat = units @ np.linalg.svd(units, full_matrices=False)[2][:2].T
    flat *= np.sign(flat[0])  # the first word lies on the upper right
    radius = dict(zip(known, radii.tolist(), strict=True))
    for word, angle in zip(
        known, np.arctan2(flat[:, 1], flat[:, 0]).round(4).tolist(), strict=True
    ):
        yield Measurement("radius", radius[word], {"word": word, "angle": angle})
        if of.get(word) in radius:
            yield Measurement("beyond", radius[word] - radius[of[word]], {"word": word})


# Figure 3: the density of Eq. 7, its mass in n dimensions, and what the random walk draws.

_PLACES = 201  # of a curve
_GRID = 20_001
_STEPS = 1000


def density(x: Floats | float, epsilon: float) -> Floats:
    """Return the density of Eq. 7, with the paper's constant (1 + ε)/(2·₂F₁(1, ε; 2 + ε; −1))."""
    from scipy.special import hyp2f1

    constant = 2.0 * float(hyp2f1(1.0, epsilon, 2.0 + epsilon, -1.0)) / (1.0 + epsilon)
    norms = np.abs(np.asarray(x, dtype=np.float64))
    return ((1.0 - norms) / (1.0 + norms)) ** epsilon / constant


def fig3(run: Run, setting: Setting, rng: Generator) -> Iterator[Measurement]:
    epsilon, dimension = setting["epsilon"], setting["dimension"]
    radii = np.linspace(0.0, 1.0, _GRID)
    # The surface of the unit sphere: 2 in one dimension.
    surface = 2.0 * math.pi ** (dimension / 2.0) / math.gamma(dimension / 2.0)
    weights = surface * radii ** (dimension - 1) * density(radii, epsilon)
    sums = np.concatenate([[0.0], np.cumsum((weights[1:] + weights[:-1]) / 2.0 * radii[1])])
    if "sigma" not in setting:  # nothing is drawn for the curve
        for place in np.linspace(-1.0, 1.0, _PLACES).round(4).tolist():
            yield Measurement("density", float(density(place, epsilon)), {"x": place})
        return
    yield Measurement("mass", float(sums[-1]))
    walks = run.pick(quick=200, full=1000)
    walk = MetropolisWalk(epsilon=epsilon, steps=_STEPS, spread=setting["sigma"])
    drawn = np.sort(np.linalg.norm(walk._walk((walks, dimension), rng), axis=1))
    expected = np.interp(drawn, radii, sums / sums[-1])
    empirical = np.arange(1, walks + 1) / walks
    apart = np.maximum(np.abs(empirical - expected), np.abs(empirical - 1.0 / walks - expected))
    error = 0.5 / math.sqrt(walks)
    yield Measurement("ks_distance", float(apart.max()), error=error, freedom=walks - 1)
    yield Measurement("never_moved", float(np.mean(drawn == 0.0)))


def is_within_four_errors(line: Line) -> bool:
    """Whether a distance of two distributions is no more than four errors."""
    return float(line.ours or 0.0) < 4.0 * (line.error or 0.0)


# Figure 5: N_w, mean and maximum; S_w; K_w.

OF = 1000
"""N_w is told of 1,000 runs, as in the paper."""
STATISTICS = {"kept": "N_w", "distinct": "S_w", "hierarchy": "K_w"}
_HIGH, _LOW = {"p95": 95, "max": 100}, {"p5": 5, "min": 0}
ENDS = {"kept": _HIGH, "distinct": {**_HIGH, **_LOW}, "hierarchy": _LOW}
"""The words that are worst off have a high N_w, and a low S_w and K_w."""


def words(run: Run, setting: Setting, rng: Generator) -> Iterator[Measurement]:
    channel = channel_of(run, setting)
    ids = word_ids(
        channel.lexicon, min(len(channel.lexicon), run.pick(quick=24, full=100, paper=10_000))
    )
    runs = run.pick(quick=100, full=400, paper=1000)
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
    return {each.name: each.of_draws(draws) for each in wanted}


# Table IV: the expected N_w of hyperbolic and Euclidean mechanisms at the same worst case.

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


def table4(run: Run, setting: Setting, rng: Generator) -> Iterator[Measurement]:
    """Measure the hyperbolic mechanism, or Laplace noise at an ε with the same worst case."""
    name = TRAINED.get(setting["space"])
    added = {"vectors": name} if name in VECTORS else {}
    yield from (replace(figure, setting=added) for figure in _compared(run, setting))


def _compared(run: Run, setting: Setting) -> Iterator[Measurement]:
    control, space = setting.get("control"), setting["space"]
    percentile = 95.0 if control == "equal 95th percentile" else 100.0
    if space != "hyperbolic":  # if its vectors are missing, nothing need be measured
        euclidean(run, space, run.lexicon(HIERARCHY).words)
    own = {k: v for k, v in setting.items() if k not in ("control", "space")}
    key = ("N_w", *map(str, own.items()))
    kept = run.once(key, lambda: OF * _shares(run, channel_of(run, own)))
    worst, epsilon = float(np.percentile(kept, percentile)), float(setting["epsilon"])
    if space != "hyperbolic" and control == "equal Euclidean ε":
        # Laplace noise that promises what the hyperbolic mechanism does.
        channel = channel_of(run, {**setting, "mechanism": "laplace"})
        epsilon, kept = float(channel.guarantee.epsilon), OF * _shares(run, channel)
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


def _shares(run: Run, channel: Channel) -> Floats:
    ids = word_ids(channel.lexicon, min(len(channel.lexicon), run.pick(quick=24, full=200)))
    return statistics_of(channel, ids, "kept", _runs(run), seeded_rng(run.seed))


def _curve(run: Run, space: str) -> Curve:
    def measure() -> Curve:
        lexicon = euclidean(run, space, run.lexicon(HIERARCHY).words)
        # The radius of the noise is dimension/ε on average: begin where it exceeds all vectors.
        size = float(np.median(np.linalg.norm(lexicon.vectors, axis=1)))
        low, high = (factor * lexicon.vectors.shape[1] ** 0.5 / size for factor in _RANGE)
        epsilons = np.geomspace(low, high, _POINTS)
        rows = [_shares(run, Laplace(epsilon=float(epsilon)).on(lexicon)) for epsilon in epsilons]
        return Curve(epsilons, OF * np.array(rows), _COUNTED * OF / _runs(run))

    return run.once(("curve", space), measure)


def _runs(run: Run) -> int:
    return run.pick(quick=50, full=1000)

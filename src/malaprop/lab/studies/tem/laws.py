"""What follows from TEM's law, exactly: Theorem 3's tail, and what an exponent does to words."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.random import Generator

from malaprop.lab.studies.figures import mean_of
from malaprop.lab.studies.reproduction import Run
from malaprop.lab.studies.study import Claim, Item, Line, Measurement, Setting, crossed
from malaprop.lab.studies.tem.reviews import BETA
from malaprop.lexicon.lexicon import Lexicon
from malaprop.measure.word_statistics import statistics_of
from malaprop.mechanisms.laplace import Laplace
from malaprop.mechanisms.tem import TEM
from malaprop.privacy.arrays import blocks
from malaprop.privacy.channel import Channel
from malaprop.privacy.estimate import word_ids

WORST = "all words beyond γ"
_STAR = 400
_ROUNDING = 1e-9
_RUNS = 100


def tail_grid(run: Run) -> Iterator[Setting]:
    """ε and β on the lexicon, and on a vocabulary for which the bound is tight."""
    betas = (BETA, 0.01, 0.1)
    common: dict[str, Any] = {"mechanism": ["tem"], "exponent": ["half"], "beta": betas}
    common |= {"lexicon": ["english"], "spread": ["words"]}
    yield from crossed(**common, epsilon=(1, 2, 4, 6))
    yield from crossed(**common, epsilon=(2,), control=[WORST])


def tail(run: Run, setting: Setting, rng: Generator) -> Iterator[Measurement]:
    """Compute the probability of a word beyond γ, from the law."""
    mechanism = TEM(epsilon=setting["epsilon"], exponent="half", beta=setting["beta"])
    lexicon = run.lexicon(setting["lexicon"])
    if setting.get("control") == WORST:
        lexicon = _star(mechanism.threshold(_STAR))
    channel = mechanism.on(lexicon)
    gamma = channel.law.gamma
    ids = word_ids(lexicon, min(len(lexicon), run.pick(quick=60, full=300)))
    masses, beyond = [], []
    for block in blocks(len(ids), row_cells=len(lexicon)):
        far = lexicon.distances(ids[block]) > gamma
        masses.append((np.exp(channel.log_probabilities(ids[block])) * far).sum(axis=1))
        beyond.append(far.mean(axis=1))
    values = np.concatenate(masses)
    yield mean_of("tail", values)
    yield Measurement("tail_p95", float(np.percentile(values, 95)))
    yield Measurement("tail_max", float(values.max()))
    yield Measurement("share_beyond", float(np.concatenate(beyond).mean()))
    yield Measurement("gamma", gamma)
    yield Measurement("cap", setting["epsilon"] * gamma)


def _star(gamma: float) -> Lexicon:
    """Return words that are all farther than γ from each other."""
    return Lexicon([f"w{i}" for i in range(_STAR)], np.eye(_STAR) * (gamma + 1.0))


def _is_within(line: Line) -> bool | None:
    if not isinstance(line.ours, float):
        return None
    return bool(line.ours <= line.setting["beta"] + _ROUNDING)


THEOREM3 = Item(
    name="theorem3",
    grid=tail_grid,
    cell=tail,
    key="tail",
    measures=("tail", "tail_p95", "tail_max", "share_beyond", "gamma", "cap"),
    claims=(
        Claim(
            text="a word beyond γ comes out with probability β at most",
            measure="tail_max",
            about=lambda setting: True,
            holds=lambda line, results: _is_within(line),
        ),
    ),
)


def words_grid(run: Run) -> Iterator[Setting]:
    """Both exponents and Madlib at the same ε."""
    epsilons = run.pick(quick=(1, 2), full=(0.5, 1, 1.5, 2, 3, 4))
    common: dict[str, Any] = {"epsilon": epsilons, "lexicon": ["english"], "spread": ["words"]}
    yield from crossed(mechanism=["tem"], exponent=["half", "audited"], **common)
    yield from crossed(mechanism=["laplace"], **common)


def words(run: Run, setting: Setting, rng: Generator) -> Iterator[Measurement]:
    """Compute N_w and S_w, exactly for TEM, from draws for Madlib."""
    lexicon, epsilon = run.lexicon(setting["lexicon"]), float(setting["epsilon"])
    channel: Channel
    if setting["mechanism"] == "laplace":
        chosen, channel = run.pick(quick=10, full=60), Laplace(epsilon=epsilon).on(lexicon)
    else:
        mechanism = TEM(epsilon=epsilon, exponent=setting["exponent"])
        chosen, law = run.pick(quick=60, full=500), mechanism.on(lexicon)
        yield Measurement("exponent", law.law.exponent)
        yield Measurement("exponent_share", law.law.exponent / epsilon)
        channel = law
    ids = word_ids(lexicon, min(chosen, len(lexicon)))
    kept = statistics_of(channel, ids, "kept", _RUNS, rng)
    distinct = statistics_of(channel, ids, "distinct", _RUNS, rng)
    yield mean_of("kept", kept)
    yield Measurement("kept_p95", float(np.percentile(kept, 95)))
    yield Measurement("kept_max", float(kept.max()))
    yield mean_of("distinct", distinct)
    yield Measurement("distinct_p5", float(np.percentile(distinct, 5)))
    yield Measurement("distinct_min", float(distinct.min()))


EXPONENT_WORDS = Item(
    name="exponent_words",
    grid=words_grid,
    cell=words,
    key="words",
    revision=2,
    measures=(
        "kept",
        "kept_p95",
        "kept_max",
        "distinct",
        "distinct_p5",
        "distinct_min",
        "exponent",
        "exponent_share",
    ),
)

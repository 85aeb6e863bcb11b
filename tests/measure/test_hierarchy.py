"""K_w on a hierarchy, against the definition of hyperbolic-2019 word by word."""

import numpy as np
import pytest
from tests.measure.opaque import Opaque

from malaprop import TEM, HyperbolicLaplace, Lexicon, seeded_rng
from malaprop.measure import statistics
from malaprop.privacy.arrays import Floats
from malaprop.privacy.metrics import MetricSpace


def _ball(size: int = 40, seed: int = 5) -> MetricSpace:
    rng = seeded_rng(seed)
    vectors = rng.normal(size=(size, 3))
    vectors *= rng.uniform(0.05, 0.9, size=(size, 1)) / np.linalg.norm(vectors, axis=1)[:, None]
    return Lexicon([f"w{i}" for i in range(size)], vectors, metric="poincare")


def _least_below(depths: Floats, word: int, outputs: set[int]) -> int:
    """Return min over outputs ŵ above the word of |{w' among outputs and word: w' below ŵ}|."""
    members = outputs | {word}
    above = [each for each in members if depths[each] < depths[word]]
    counts = [sum(bool(depths[other] > depths[each]) for other in members) for each in above]
    # Nothing above: the word itself stands for what an observer sees.
    return min(counts, default=sum(bool(depths[other] >= depths[word]) for other in members))


@pytest.mark.parametrize("epsilon", [0.5, 3.0, 9.0])
def test_of_a_law_it_is_the_mean_over_runs(epsilon: float) -> None:
    lexicon = _ball()
    depths = np.linalg.norm(lexicon.vectors.astype(float), axis=1)
    channel, runs = TEM(epsilon=epsilon).on(lexicon), 20
    exact = statistics(channel, runs=runs).values["hierarchy"]
    trials = []
    for seed in range(300):
        rng = seeded_rng(seed)
        drawn = channel.substitute(np.repeat(np.arange(len(lexicon)), runs), rng).reshape(-1, runs)
        trials.append([_least_below(depths, word, set(row)) for word, row in enumerate(drawn)])
        if seed == 0:
            hidden = statistics(Opaque(channel), runs=runs, rng=seeded_rng(0))
            assert hidden.values["hierarchy"].tolist() == trials[0]
    mean, error = np.mean(trials, axis=0), np.std(trials, axis=0) / 300**0.5
    assert (np.abs(mean - exact) < 5.5 * error + 1e-2).all()
    assert exact.max() > 1.0


def test_of_draws_it_counts_the_outputs_that_occurred() -> None:
    lexicon = _ball()
    depths = np.linalg.norm(lexicon.vectors.astype(float), axis=1)
    channel = HyperbolicLaplace(epsilon=4.0).on(lexicon)
    values = statistics(channel, runs=30, rng=seeded_rng(2)).values["hierarchy"]
    assert values.min() >= 1
    assert (values <= [np.count_nonzero(depths >= own) for own in depths]).all()
    few = statistics(HyperbolicLaplace(epsilon=80.0).on(lexicon), runs=30, rng=seeded_rng(2))
    assert few.values["hierarchy"].mean() < values.mean()


def test_a_lexicon_without_a_hierarchy_has_no_such_number() -> None:
    line = Lexicon(["cold", "cool", "hot"], [[0.0], [1.0], [3.0]])
    assert "hierarchy" not in statistics(TEM(epsilon=1.0).on(line)).values

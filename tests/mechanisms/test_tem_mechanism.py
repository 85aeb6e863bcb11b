import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy.stats import chisquare
from tests.exact import assert_guarantee_holds

from malaprop import TEM, Lexicon, ParameterError, seeded_rng
from malaprop.privacy.metrics import NAMED


def law(mechanism: TEM, lexicon: Lexicon) -> NDArray[np.float64]:
    return mechanism.on(lexicon).log_probabilities(np.arange(len(lexicon)))


def test_the_reference_on_three_points(line: Lexicon) -> None:
    p = np.exp(law(TEM(epsilon=2.0, gamma=2.0, exponent="half"), line))
    np.testing.assert_allclose(p[0], [0.66524096, 0.24472847, 0.09003057], atol=1e-8)
    np.testing.assert_allclose(p[2], [0.10650698, 0.10650698, 0.78698604], atol=1e-8)


def algorithm_2(d: NDArray[np.float64], w: int, epsilon: float, gamma: float) -> list[float]:
    """The paper's Algorithm 2, written out: scores, ⊥, the Gumbel maximum's softmax.

    The maximum of scores with Gumbel noise of scale 2/ε is each element with probability
    ∝ exp(score·ε/2); ⊥ is then replaced by a uniform word beyond γ.
    """
    inside = [y for y in range(len(d)) if d[w][y] <= gamma]
    outside = [y for y in range(len(d)) if d[w][y] > gamma]
    scores: dict[int | str, float] = {y: -d[w][y] for y in inside}
    if outside:
        scores["bottom"] = -gamma + 2.0 * math.log(len(outside)) / epsilon
    weights = {y: math.exp(score * epsilon / 2.0) for y, score in scores.items()}
    total = math.fsum(weights.values())
    bottom = weights.get("bottom", 0.0) / total
    return [weights[y] / total if y in inside else bottom / len(outside) for y in range(len(d))]


lexicons = st.tuples(st.integers(2, 9), st.integers(1, 4)).flatmap(
    lambda size: arrays(np.float32, size, elements=st.floats(-8, 8, width=32))
)


@given(vectors=lexicons, epsilon=st.floats(0.05, 8), gamma=st.floats(0.1, 20))
def test_it_is_algorithm_2(vectors: NDArray[np.float32], epsilon: float, gamma: float) -> None:
    lexicon = Lexicon([f"w{i}" for i in range(len(vectors))], vectors)
    d = lexicon.distances(np.arange(len(lexicon)))
    ours = np.exp(law(TEM(epsilon=epsilon, gamma=gamma, exponent="half"), lexicon))
    for w in range(len(lexicon)):
        np.testing.assert_allclose(ours[w], algorithm_2(d, w, epsilon, gamma), rtol=1e-9)


@pytest.mark.parametrize("metric", sorted(NAMED))
@given(
    vectors=lexicons,
    epsilon=st.floats(0.01, 30),
    gamma=st.one_of(st.none(), st.just(math.inf), st.floats(0.1, 20)),
    exponent=st.sampled_from(["half", "audited"]),
)
def test_the_loss_of_every_pair_is_within_the_guarantee(
    metric: str, vectors: NDArray[np.float32], epsilon: float, gamma: float | None, exponent: str
) -> None:
    if metric == "angular":
        vectors = np.concatenate([vectors, np.ones((len(vectors), 1), np.float32)], axis=1)
    if metric == "poincare":
        vectors = vectors / np.float32(17)  # of a norm below 1
    lexicon = Lexicon([f"w{i}" for i in range(len(vectors))], vectors, metric=metric)
    channel = TEM(epsilon=epsilon, gamma=gamma, exponent=exponent).on(lexicon)
    assert_guarantee_holds(channel)


def test_half_the_exponent_is_needed(line: Lexicon) -> None:
    """The test above can fail: with exponent ε instead of ε/2, a pair exceeds the guarantee."""
    cluster = Lexicon(["alone", *"abcdefgh"], [[0.0], *[[1.0 + i / 64] for i in range(8)]])
    p = law(TEM(epsilon=4.0, gamma=math.inf, exponent="half"), cluster)  # exponent 2, sold as ε = 2
    d = cluster.distances(np.arange(9))
    loss = (p[:, None, :] - p[None, :, :]).max(axis=2)
    assert (loss > 2.0 * d + 0.1).any()


def test_words_of_one_vector_have_one_law() -> None:
    twins = Lexicon(["a", "b", "c"], [[0.1, 0.2], [0.1, 0.2], [3.0, 4.0]])
    p = law(TEM(epsilon=5.0), twins)
    np.testing.assert_array_equal(p[0], p[1])


class TestThreshold:
    def test_theorem_3(self) -> None:
        assert TEM(epsilon=2.0).threshold(28_596) == pytest.approx(
            math.log(0.999 * 28_595 / 0.001), rel=1e-12
        )

    def test_theorem_3_is_attained_on_a_star(self) -> None:
        """All other words far away: the chance of leaving γ is β exactly."""
        star = Lexicon([f"w{i}" for i in range(50)], np.diag(np.full(50, 1000.0)))
        p = np.exp(law(TEM(epsilon=2.0, beta=0.01, exponent="half"), star))
        assert 1.0 - p[0, 0] == pytest.approx(0.01, rel=1e-9)

    def test_epsilon_gamma_does_not_depend_on_epsilon(self, plane: Lexicon) -> None:
        half = [TEM(epsilon=epsilon, exponent="half").on(plane) for epsilon in (0.1, 1, 30)]
        assert len({round(channel.guarantee.loss(1e9), 9) for channel in half}) == 1

    def test_without_a_threshold(self, line: Lexicon) -> None:
        channel = TEM(epsilon=2.0, gamma=math.inf, exponent="half").on(line)
        p = np.exp([0.0, -1.0, -3.0])
        np.testing.assert_allclose(np.exp(channel.log_probabilities([0])[0]), p / p.sum())
        assert channel.guarantee.loss(100.0) == 200.0

    def test_nothing_beyond_gamma_leaves_no_bottom(self, line: Lexicon) -> None:
        np.testing.assert_array_equal(
            law(TEM(epsilon=2.0, gamma=50.0), line), law(TEM(epsilon=2.0, gamma=math.inf), line)
        )

    def test_a_negative_threshold_is_refused(self, line: Lexicon) -> None:
        with pytest.raises(ParameterError, match="beta"):
            TEM(epsilon=1.0, beta=0.7, exponent="half").on(line)

    def test_one_word_is_always_itself(self) -> None:
        channel = TEM(epsilon=1.0).on(Lexicon(["a"], [[1.0]]))
        assert channel.substitute([0, 0], seeded_rng(1)).tolist() == [0, 0]


@pytest.mark.parametrize(
    "wrong", [{"gamma": 0.0}, {"gamma": -1.0}, {"gamma": math.nan}, {"beta": 0.0}, {"beta": 1.0}]
)
def test_wrong_parameters_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        TEM(epsilon=1.0, **wrong)


def chi_square(plane: Lexicon, drawn_with: float, claimed: float) -> float:
    ids = np.repeat([0, 7], 100_000)
    drawn = TEM(epsilon=drawn_with, exponent="half").on(plane).substitute(ids, seeded_rng(9))
    p = np.exp(TEM(epsilon=claimed, exponent="half").on(plane).log_probabilities([0, 7]))
    values = []
    for row, word in enumerate((0, 7)):
        counts = np.bincount(drawn[ids == word], minlength=len(plane))
        expected = p[row] * counts.sum()
        order = np.argsort(expected)
        bins = np.cumsum(expected[order]) // 20  # words of fewer than 20 expected draws together
        observed, hoped = np.zeros(len(bins)), np.zeros(len(bins))
        np.add.at(observed, np.unique(bins, return_inverse=True)[1], counts[order])
        np.add.at(hoped, np.unique(bins, return_inverse=True)[1], expected[order])
        values.append(chisquare(observed[hoped > 0], hoped[hoped > 0]).pvalue)
    return float(min(values))


def test_draws_follow_the_law_and_5_percent_is_noticed(plane: Lexicon) -> None:
    assert chi_square(plane, drawn_with=1.0, claimed=1.0) > 1e-6
    assert chi_square(plane, drawn_with=1.05, claimed=1.0) < 1e-6
    assert chi_square(plane, drawn_with=0.95, claimed=1.0) < 1e-6

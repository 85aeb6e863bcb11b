"""The joint loss of several words and of several releases."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from malaprop import (
    NADP,
    TEM,
    CoordinateLaplace,
    Guarantee,
    Kind,
    Lexicon,
    ParameterError,
    compose,
    loss_of,
)
from malaprop.privacy.accounting import loss_over, zcdp_epsilon
from malaprop.privacy.law import excess_delta


def metric(epsilon: float = 1.0, cap: float = math.inf) -> Guarantee:
    return Guarantee(kind=Kind.METRIC, epsilon=epsilon, metric="euclidean", cap=cap)


def bounded(epsilon: float = 1.0, delta: float = 1e-5, radius: float = 2.0) -> Guarantee:
    return Guarantee(
        kind=Kind.BOUNDED, epsilon=epsilon, delta=delta, radius=radius, metric="euclidean"
    )


def apart(*distances: float) -> list[tuple[str, float]]:
    return [("word", distance) for distance in distances]


class TestWords:
    def test_losses_add_up_word_by_word(self) -> None:
        assert loss_over(metric(2.0, cap=3.0), apart(1.0, 0.0, 5.0)).epsilon == 8.0
        assert loss_over(metric(2.0).for_words(3), apart(1.0, 0.0, 5.0)).epsilon == 12.0

    def test_a_list_of_word_pairs(self, line: Lexicon) -> None:
        channel = TEM(epsilon=2.0, gamma=2.5).on(line)
        pairs = [("zero", "one"), ("one", "one"), ("zero", "three")]
        assert loss_of(channel, pairs).epsilon == pytest.approx(2.0 * (1.0 + 2.5))
        with pytest.raises(ParameterError, match="not in the lexicon") as caught:
            loss_of(channel, [("zyxcanary", "one")])
        assert "zyxcanary" not in str(caught.value)

    def test_distances_are_the_lexicons(self) -> None:
        """A guarantee in another metric counts as its equivalent in the lexicon's metric."""
        plane = Lexicon(["a", "b"], [[0.0, 0.0], [3.0, 4.0]])
        found = loss_of(CoordinateLaplace(epsilon=1.0).on(plane), [("a", "b")])
        assert found.epsilon == pytest.approx(5.0 * math.sqrt(2.0))

    def test_deltas_add_up_over_the_words_that_differ(self) -> None:
        found = loss_over(bounded(), apart(1.0, 0.0, 2.0))
        assert found.epsilon == 2.0
        assert found.delta == pytest.approx(2e-5)
        assert loss_over(bounded(), apart(1.0, 2.1)).epsilon == math.inf

    def test_texts_have_the_deltas_of_their_words(self) -> None:
        text = bounded().for_words(10)
        assert text.delta == pytest.approx(1e-4)
        assert text.for_words(3).delta == pytest.approx(3e-5)
        assert text.loss(2.0) == 10.0

    def test_a_text_is_covered_only_where_each_word_is(self) -> None:
        """A sum of 3 may be one word that is 3 apart, beyond the radius of 2."""
        assert bounded().for_words(2).loss(3.0) == math.inf
        assert loss_over(bounded(), apart(1.5, 1.5)).epsilon == 2.0

    def test_words_of_different_neighbourhoods_are_not_covered(self) -> None:
        places = [[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]]
        channel = NADP(epsilon=1.0, delta=1e-6, m_jaccard=3).on(Lexicon([*"abcxyz"], places))
        near = loss_of(channel, [("a", "b"), ("x", "x"), ("y", "z")])
        assert near.epsilon == 2.0
        assert near.delta == pytest.approx(2e-6)
        assert loss_of(channel, [("a", "b"), ("c", "x")]).epsilon == math.inf

    def test_no_promise_adds_up_to_none(self) -> None:
        none = replace(metric(), kind=Kind.NONE, reason="a test")
        assert loss_over(none, apart(1.0)).epsilon == math.inf
        assert loss_over(none, apart(1.0), delta=1e-6).epsilon == math.inf


class TestConcentration:
    def test_the_reference(self) -> None:
        """100 words with ε·d = 1 each: 100, or 38.8 at δ = 10⁻⁶."""
        tem = replace(metric(), zcdp=1 / 8)
        assert loss_over(tem, apart(1.0) * 100).epsilon == 100.0
        found = loss_over(tem, apart(1.0) * 100, delta=1e-6)
        assert found.epsilon == pytest.approx(38.8, abs=0.05)
        assert found.delta == 1e-6

    def test_tem_states_its_own_rate(self, line: Lexicon) -> None:
        half = TEM(epsilon=1.0, exponent="half", gamma=math.inf).on(line)
        assert half.guarantee.zcdp == 1 / 8
        hundred = [("zero", "one")] * 100
        assert loss_of(half, hundred, delta=1e-6).epsilon == pytest.approx(38.8, abs=0.05)

    def test_the_smaller_loss_counts(self) -> None:
        tem = replace(metric(), zcdp=1 / 8)
        assert loss_over(tem, apart(1.0, 2.0), delta=1e-6).epsilon == 3.0
        assert loss_over(tem, apart(1.0, 2.0), delta=1e-6).delta == 0.0

    def test_a_pure_loss_concentrates_too(self) -> None:
        found = loss_over(metric(0.1), apart(1.0) * 1000, delta=1e-6)
        assert found.epsilon == pytest.approx(zcdp_epsilon(1000 * 0.1**2 / 2, 1e-6))

    def test_the_cap_counts(self) -> None:
        tem = replace(metric(cap=1.0), zcdp=1 / 8)
        assert loss_over(tem, apart(50.0) * 100, 1e-6) == loss_over(tem, apart(1.0) * 100, 1e-6)

    @pytest.mark.parametrize("delta", [-0.1, 1.0, math.nan])
    def test_wrong_deltas(self, delta: float) -> None:
        with pytest.raises(ParameterError, match="delta"):
            loss_over(metric(), apart(1.0), delta)

    @given(st.lists(st.integers(0, 2), min_size=4, max_size=4), st.floats(0.1, 2.0))
    def test_it_is_true_of_tem(self, others: list[int], epsilon: float) -> None:
        """The exact δ of four words' joint law, at the ε that zCDP gives."""
        line = Lexicon(["zero", "one", "three"], [[0.0], [1.0], [3.0]])
        channel = TEM(epsilon=epsilon).on(line)
        law = channel.log_probabilities([0, 1, 2])
        p = np.zeros(1)
        q = np.zeros(1)
        for other in others:
            p = np.add.outer(p, law[0]).ravel()
            q = np.add.outer(q, law[other]).ravel()
        names = ["zero", "one", "three"]
        found = loss_of(channel, [("zero", names[o]) for o in others], delta=0.01)
        assert excess_delta(p, q, found.epsilon) <= found.delta + 1e-12


class TestReleases:
    def test_epsilons_add_up(self) -> None:
        both = compose([metric(1.0, cap=4.0), metric(2.0, cap=4.0)])
        assert (both.epsilon, both.cap, both.kind) == (3.0, 4.0, Kind.METRIC)
        assert compose([metric()]) == metric()

    @given(st.floats(0.1, 9), st.floats(0.1, 9), st.floats(0.1, 9), st.floats(0, 20))
    def test_different_caps(self, one: float, first: float, second: float, d: float) -> None:
        a, b = metric(one, cap=first), metric(1.0, cap=second)
        assert compose([a, b]).loss(d) >= (a.loss(d) + b.loss(d)) * (1 - 1e-12)
        assert compose([a, b]).loss(1e9) == pytest.approx(a.loss(1e9) + b.loss(1e9))

    def test_rates_add_up(self) -> None:
        tem = replace(metric(), zcdp=1 / 8)
        assert compose([tem, tem]).zcdp == 1 / 4
        assert compose([tem, replace(tem, cap=2.0)]).zcdp == math.inf

    def test_deltas_add_up(self) -> None:
        both = compose([bounded(radius=2.0), bounded(2.0, 1e-6, radius=3.0)])
        assert both.epsilon == 3.0
        assert both.delta == pytest.approx(1.1e-5)
        assert both.radius == 2.0

    def test_a_metric_guarantee_within_a_radius(self) -> None:
        both = compose([metric(0.5, cap=9.0), bounded(radius=2.0)])
        assert both.kind is Kind.BOUNDED
        assert both.epsilon == 2.0
        assert both.loss(2.0) == 2.0
        assert both.loss(2.1) == math.inf

    def test_neighbourhoods_must_be_shared(self) -> None:
        near = replace(bounded(radius=math.inf), kind=Kind.NEIGHBOURHOOD)
        both = compose([near, near])
        assert both.epsilon == 2.0
        assert "in every release" in both.pairs
        with pytest.raises(ParameterError, match="neighbourhoods"):
            compose([near, metric()])

    def test_a_release_without_a_guarantee_spoils_all(self) -> None:
        none = replace(metric(), kind=Kind.NONE, reason="a test")
        assert compose([metric(), none]).kind is Kind.NONE

    @pytest.mark.parametrize("change", [{"metric": "angular"}, {"words": 3}, {"pairs": "others"}])
    def test_different_guarantees_do_not_compose(self, change: dict[str, object]) -> None:
        with pytest.raises(ParameterError, match=next(iter(change))):
            compose([metric(), replace(metric(), **change)])  # type: ignore[arg-type]
        with pytest.raises(ParameterError, match="one release"):
            compose([])


def test_public_neighbourhoods_compose_within_the_smallest_radius() -> None:
    wide, narrow = (
        Guarantee(
            kind=Kind.NEIGHBOURHOOD, epsilon=1.0, delta=1e-5, metric="euclidean", radius=radius
        )
        for radius in (1.7, 0.2)
    )
    for both in (compose([wide, narrow]), compose([narrow, wide])):
        assert both.radius == 0.2


def test_releases_on_different_lexicons_do_not_compose() -> None:
    one, other = (
        Guarantee(kind=Kind.METRIC, epsilon=1.0, metric="euclidean", lexicon=name)
        for name in ("a", "b")
    )
    with pytest.raises(ParameterError, match="lexicon"):
        compose([one, other])

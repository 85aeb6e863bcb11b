"""What every registered mechanism must do. A new mechanism is tested here without further ado."""

import json
import math
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.draws import off_by, p_value

import malaprop
from malaprop import Kind, LawChannel, Lexicon, Mechanism, ParameterError, registry, seeded_rng
from malaprop.mechanisms import mechanism_named
from malaprop.privacy.best_guess import unchanged_share
from malaprop.privacy.channel import Channel, VectorChannel
from malaprop.privacy.guarantee import proof_of

ROOT = Path(__file__).parents[2]
MECHANISMS = [pytest.param(registry[name], id=name) for name in sorted(registry)]
every_mechanism = pytest.mark.parametrize("mechanism", MECHANISMS)
IDS = np.arange(40).repeat(7)
# Just within and beyond what is allowed, and powers in between.
EXTREMES = [
    5e-324,
    1e-300,
    1e-160,
    1e-30,
    1e-12,
    1e-3,
    50.0,
    1e4,
    1e12,
    1e30,
    1e160,
    1e300,
    1.7e308,
]


@pytest.fixture
def space(mechanism: type[Mechanism], plane: Lexicon) -> Lexicon:
    """Forty words in the plane, or in the disc or with a graph if the mechanism needs that."""
    if mechanism.needs == "graph":
        return plane.with_graph()
    if mechanism.needs != "poincare":
        return plane
    return Lexicon(plane.words, plane.vectors / 16, metric="poincare")


def bound(mechanism: type[Mechanism], space: Lexicon, epsilon: float = 1.0) -> Channel:
    """The mechanism on a lexicon; in the hyperbolic plane ε must be above 1."""
    return mechanism(epsilon=epsilon + (2.0 if mechanism.needs == "poincare" else 0.0)).on(space)


def test_the_registry_holds_what_the_package_exports() -> None:
    assert {"laplace", "tem"} <= set(registry)
    for cls in registry.values():
        assert getattr(malaprop, cls.__name__) is cls


def test_a_mechanism_without_a_name_is_not_registered() -> None:
    class Planted(malaprop.TEM):
        pass

    assert Planted not in registry.values()


@every_mechanism
class TestParameters:
    def test_wrong_epsilons_are_refused(self, mechanism: type[Mechanism]) -> None:
        wrong: list[Any] = [0, -1, math.nan, math.inf, -math.inf, "1", None, True, [1.0]]
        for epsilon in wrong:
            with pytest.raises(ParameterError, match="epsilon") as caught:
                mechanism(epsilon=epsilon)
            assert isinstance(caught.value, ValueError)

    def test_epsilons_that_arithmetic_cannot_bear_are_refused(
        self, mechanism: type[Mechanism]
    ) -> None:
        for epsilon in (5e-324, 1e-300, 9.9e-31, 1.1e30, 1e300, math.nextafter(math.inf, 0)):
            with pytest.raises(ParameterError, match="between 1e-30 and 1e\\+30"):
                mechanism(epsilon=epsilon)

    def test_parameters_are_keywords_frozen_and_described(self, mechanism: type[Mechanism]) -> None:
        made = mechanism(epsilon=1)
        assert isinstance(made.epsilon, float)
        assert made == mechanism(epsilon=1.0)
        with pytest.raises(FrozenInstanceError):
            made.epsilon = 2.0  # type: ignore[misc]
        with pytest.raises(TypeError):
            mechanism(1.0)  # type: ignore[call-arg]
        assert all(parameter.metadata["help"] for parameter in mechanism.parameters())
        assert mechanism.summary()
        assert mechanism.promise
        json.dumps(made.to_dict(), allow_nan=False)

    def test_what_is_no_lexicon_is_refused_with_a_remedy(self, mechanism: type[Mechanism]) -> None:
        vectors = np.ones((3, 2))
        wrong: list[Any] = [vectors, vectors.tolist(), ["zyx"], "zyx", Path("zyx"), None, 3, {}]
        wrong += [Lexicon, mechanism(epsilon=5.0)]
        for thing in wrong:
            with pytest.raises(ParameterError, match=r"Lexicon\.open") as caught:
                mechanism(epsilon=5.0).on(thing)
            message = str(caught.value)
            assert message.startswith(f"{mechanism.__name__}.on takes a lexicon")
            assert "zyx" not in message
            numbers = isinstance(thing, np.ndarray | list)
            assert ("PrivateEmbedding" in message) is numbers
            assert ("malaprop.Lexicon(words, vectors)" in message) is numbers

    def test_there_is_a_page_about_it(self, mechanism: type[Mechanism]) -> None:
        page = ROOT / "docs" / "mechanisms" / f"{mechanism.name}.md"
        assert mechanism.__name__ in page.read_text("utf-8")


@every_mechanism
class TestChannel:
    def test_the_guarantee_is_stated_and_proved(
        self, mechanism: type[Mechanism], space: Lexicon
    ) -> None:
        guarantee = bound(mechanism, space, epsilon=1.25).guarantee
        assert guarantee.epsilon in (1.25, 3.25)
        assert guarantee.metric
        json.dumps(guarantee.to_dict(), allow_nan=False)
        if guarantee.kind is Kind.NONE:
            assert guarantee.reason
            assert guarantee.loss(0.0) == math.inf
        else:
            assert ROOT.joinpath(guarantee.proof).is_file()
            assert guarantee.numerics

    @pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
    @pytest.mark.parametrize("epsilon", EXTREMES)
    def test_an_extreme_epsilon_is_refused_or_works(
        self, mechanism: type[Mechanism], space: Lexicon, epsilon: float, scale: float
    ) -> None:
        """With whatever unit of distance: nothing overflows on the way, and no law has holes."""
        if scale != 1.0 and mechanism.needs != "poincare":
            space = Lexicon(space.words, space.vectors.astype(np.float64) * scale)
            space = space.with_graph() if mechanism.needs == "graph" else space
        try:
            channel = mechanism(epsilon=epsilon).on(space)
            drawn = channel.substitute(IDS, seeded_rng(1))
        except ParameterError:
            return
        assert ((drawn >= 0) & (drawn < 40)).all()
        assert str(channel.guarantee)
        assert 0.0 <= unchanged_share(channel) <= 1.0
        if isinstance(channel, LawChannel):
            law = np.exp(channel.log_probabilities(np.arange(40)))
            assert np.allclose(law.sum(axis=1), 1.0)

    @pytest.mark.parametrize("value", [5e-324, 1e-300, 1e-17, 1e18, 1e300, math.inf, math.nan])
    def test_extreme_parameters_are_refused_or_work(
        self, mechanism: type[Mechanism], space: Lexicon, value: float
    ) -> None:
        for parameter in mechanism.parameters()[1:]:  # the first is ε
            given: dict[str, Any] = {parameter.name: value}
            try:
                channel = mechanism(epsilon=3.0, **given).on(space)
                drawn = channel.substitute(IDS, seeded_rng(1))
            except ParameterError:
                continue
            assert ((drawn >= 0) & (drawn < 40)).all()

    def test_ids_are_checked(self, mechanism: type[Mechanism], space: Lexicon) -> None:
        channel = bound(mechanism, space)
        wrong: list[Any] = [[-1], [40], [0.5], [[0, 1]], ["w0"], [True]]
        for ids in wrong:
            with pytest.raises(ParameterError):
                channel.substitute(ids, seeded_rng(1))

    def test_output_is_as_long_as_input_and_in_the_lexicon(
        self, mechanism: type[Mechanism], space: Lexicon
    ) -> None:
        channel = bound(mechanism, space)
        drawn = channel.substitute(IDS, seeded_rng(1))
        assert drawn.shape == IDS.shape
        assert ((drawn >= 0) & (drawn < 40)).all()
        assert channel.substitute([], seeded_rng(1)).shape == (0,)

    def test_the_same_stream_gives_the_same_words(
        self, mechanism: type[Mechanism], space: Lexicon
    ) -> None:
        first, again = (bound(mechanism, space).substitute(IDS, seeded_rng(6)) for _ in range(2))
        assert np.array_equal(first, again)

    @pytest.mark.parametrize("power", [-3, 1, 6])
    def test_only_the_product_of_scale_and_epsilon_matters(
        self, mechanism: type[Mechanism], space: Lexicon, power: int
    ) -> None:
        """(c·φ, ε/c) is the same mechanism: with the same stream, the same words.

        So it is where ε is a loss per unit of a distance that scales with the vectors.
        """
        here = bound(mechanism, space, epsilon=1.1)
        if here.guarantee.kind is not Kind.METRIC or mechanism.needs:
            return
        c = 2.0**power
        scaled = Lexicon(space.words, space.vectors * c)
        there = mechanism(epsilon=1.1 / c).on(scaled)
        assert np.array_equal(
            here.substitute(IDS, seeded_rng(2)), there.substitute(IDS, seeded_rng(2))
        )

    def test_occurrences_are_drawn_independently(
        self, mechanism: type[Mechanism], space: Lexicon
    ) -> None:
        """One draw, reused, would be a substitution cipher."""
        drawn = bound(mechanism, space, epsilon=0.2).substitute(np.zeros(400, int), seeded_rng(1))
        assert len(np.unique(drawn)) > 2

    def test_a_law_sums_to_one(self, mechanism: type[Mechanism], space: Lexicon) -> None:
        channel = bound(mechanism, space)
        if isinstance(channel, LawChannel):
            p = np.exp(channel.log_probabilities(np.arange(40)))
            np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)

    def test_its_evidence_is_proved_and_it_draws_what_it_states(
        self, mechanism: type[Mechanism], space: Lexicon
    ) -> None:
        """What the audit reads is what is drawn; 5 % would be noticed."""
        channel = bound(mechanism, space)
        if channel.guarantee.kind is Kind.NONE:
            return
        if isinstance(channel, LawChannel):
            assert ROOT.joinpath(proof_of(channel.law)).is_file()
            return  # a law states what it draws from
        assert isinstance(channel, VectorChannel)
        assert ROOT.joinpath(proof_of(channel.noise)).is_file()
        density = channel.noise.density(space)
        assert density is not None
        assert p_value(channel.noise, space, density) > 1e-6
        for share in (-0.05, 0.05):
            assert p_value(channel.noise, space, off_by(density, share)) < 1e-6


def test_an_unknown_name_gets_a_suggestion() -> None:
    assert mechanism_named("TEM") is malaprop.TEM
    with pytest.raises(ParameterError, match="Did you mean 'laplace'"):
        mechanism_named("laplas")

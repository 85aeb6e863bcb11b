"""Columns of laws, and best guesses from them, against whole laws."""

import numpy as np
import pytest

from malaprop import TEM, Balanced, Lexicon, PermuteAndFlip, seeded_rng
from malaprop.measure import bayes_success
from malaprop.privacy.best_guess import PosteriorCache, columns_of
from malaprop.privacy.channel import LawChannel
from malaprop.privacy.law import Law

CLOUD = Lexicon([f"w{i}" for i in range(80)], seeded_rng(7).normal(size=(80, 3)))
GRAPH = CLOUD.with_graph()
CHANNELS: list[LawChannel[Law]] = [
    TEM(epsilon=2.0).on(CLOUD),
    PermuteAndFlip(epsilon=3.0).on(CLOUD),
    *(Balanced(epsilon=epsilon).on(GRAPH) for epsilon in (0.2, 0.6, 1.0, 2.0, 5.0)),
]


def _law(channel: LawChannel[Law]) -> np.ndarray:
    return np.exp(channel.log_probabilities(np.arange(len(channel.lexicon))))


@pytest.mark.parametrize("channel", CHANNELS)
def test_columns_are_those_of_the_law(channel: LawChannel[Law]) -> None:
    columns, outputs = PosteriorCache(channel.law), np.array([3, 70, 3, 0, 41])
    if not columns.prepare():
        assert isinstance(channel.law, type(CHANNELS[1].law))  # neither symmetric nor cheap
        return
    logs = np.concatenate(list(columns.parts(outputs, 2)))
    assert np.exp(logs) == pytest.approx(_law(channel)[:, outputs].T, rel=1e-5)
    assert columns.staying() == pytest.approx(_law(channel).diagonal(), rel=1e-5)


@pytest.mark.parametrize("channel", CHANNELS)
def test_where_the_output_is_the_best_guess_no_word_explains_it_better(
    channel: LawChannel[Law],
) -> None:
    if channel.law.outputs_are_best_guesses:
        law = _law(channel)
        assert (law.max(axis=0) <= law.diagonal() * (1 + 1e-9)).all()


def test_that_is_claimed_of_the_laws_it_is_proved_of() -> None:
    assert CHANNELS[0].law.outputs_are_best_guesses
    assert CHANNELS[1].law.outputs_are_best_guesses
    assert any(each.law.outputs_are_best_guesses for each in CHANNELS[2:])

    class Contrary(Law):
        """Words never stay."""

        def log_weights(self, ids: np.ndarray) -> np.ndarray:
            return np.where(np.arange(len(self.space)) == ids[:, None], -50.0, 0.0)

    assert not Contrary(CLOUD).outputs_are_best_guesses


@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize("prior", [None, "frequency"])
def test_success_and_candidates_are_those_of_the_whole_law(
    channel: LawChannel[Law], prior: str | None
) -> None:
    found = bayes_success(channel, prior=prior, rng=seeded_rng(1))
    belief = np.full(80, 1 / 80)
    if prior is not None:
        belief = 1.0 / (np.arange(1.0, 81.0) + 2.7)
        belief /= belief.sum()
    joint = belief[:, None] * _law(channel)
    assert found.exact
    assert found.value == pytest.approx(joint.max(axis=0).sum(), rel=1e-5)
    assert found.per_word is not None
    assert found.per_word @ belief == pytest.approx(found.value, rel=1e-6)
    near = (joint >= joint.max(axis=0) / 2.0).sum(axis=0)
    assert found.candidates is not None
    assert near.min() <= found.candidates <= near.max()


def test_the_masses_of_a_law_are_summed_up_once() -> None:
    law = CHANNELS[0].law
    assert columns_of(law) is columns_of(law)
    assert columns_of(law).prepare()
    assert columns_of(law).cheap

"""Columns of the law, as chances and as logarithms."""

import numpy as np
import pytest

from malaprop import Balanced, LawChannel, Lexicon

ENGLISH = Lexicon.open("english").with_graph()


@pytest.mark.parametrize("epsilon", [0.5, 1.5, 40.0])
def test_likelihoods_are_those_of_the_logarithms(epsilon: float) -> None:
    channel = Balanced(epsilon=epsilon).on(ENGLISH)
    assert isinstance(channel, LawChannel)
    outputs = np.array([5, 31_000, 77])
    logs = channel.law.log_likelihoods(outputs)
    assert logs is not None
    parts = list(channel.law.likelihood_parts(outputs, 2))
    assert [len(part) for part in parts] == [2, 1]
    np.testing.assert_allclose(np.concatenate(parts), np.exp(logs), rtol=1e-12, atol=1e-300)

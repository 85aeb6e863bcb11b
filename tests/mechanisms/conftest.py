"""What tests of TEM's exponent share."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from malaprop import TEM, LawChannel, Lexicon
from malaprop.lexicon.tables import ExponentTable
from malaprop.mechanisms import tem_exponents
from malaprop.mechanisms.tem import TruncatedExponential


def loss_rate(distances: NDArray[np.float64], t: float) -> float:
    """L(t), from its definition: t + the steepest slope of ln Z."""
    log_sums = np.log(np.exp(-t * distances).sum(axis=1))
    apart = distances > 0
    slopes = (log_sums - log_sums[:, None])[apart] / distances[apart]
    return t + float(slopes.max(initial=0.0))


def planted(
    lexicon: Lexicon, epsilon: float, exponent: float, gamma: float
) -> LawChannel[TruncatedExponential]:
    """TEM's promise at ε with an exponent that a test chooses."""
    sound = TEM(epsilon=epsilon, gamma=gamma, exponent="half").on(lexicon)
    return LawChannel(TruncatedExponential(lexicon, exponent, gamma), sound.guarantee)


def kept_table(lexicon: Lexicon, gamma: float = math.inf) -> ExponentTable | None:
    """The table for all ε that is shipped or kept for a lexicon and γ."""
    return next(iter(lexicon.with_kept_tables().tables.exponents_for(gamma)), None)


@pytest.fixture
def cloud(monkeypatch: pytest.MonkeyPatch) -> Lexicon:
    """A lexicon that counts as too large to be audited in passing."""
    monkeypatch.setattr(tem_exponents, "_SMALL", 100)
    rng = np.random.Generator(np.random.PCG64(8))
    vectors = np.round(rng.normal(size=(300, 6)) * 2, 2)
    return Lexicon([f"w{i}" for i in range(300)], vectors)


@pytest.fixture(scope="module")
def near() -> Lexicon:
    """300 words in 20 dimensions, with the graph that is made of them."""
    rng = np.random.Generator(np.random.PCG64(3))
    centres = rng.normal(size=(30, 20))
    vectors = np.repeat(centres, 10, axis=0) + 0.4 * rng.normal(size=(300, 20))
    return Lexicon([f"w{i}" for i in range(300)], vectors).with_graph()

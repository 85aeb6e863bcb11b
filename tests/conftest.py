"""What all tests share: small lexicons, and hypothesis without a clock."""

import os

import numpy as np
import pytest
from hypothesis import settings
from numpy.typing import NDArray

from malaprop import Lexicon

# New examples are for people at work; a build must not fail because of one that nobody changed.
settings.register_profile(
    "malaprop",
    deadline=None,
    max_examples=60,
    print_blob=True,
    derandomize=bool(os.environ.get("CI")),
)
settings.load_profile("malaprop")

# A test must never read the lexicons that somebody imported on this machine.
os.environ["MALAPROP_HOME"] = "/nonexistent/malaprop-tests"


@pytest.fixture(scope="session")
def line() -> Lexicon:
    """Three points on a line: 0, 1 and 3."""
    return Lexicon(["zero", "one", "three"], [[0.0], [1.0], [3.0]])


@pytest.fixture(scope="session")
def plane() -> Lexicon:
    """Forty words in a plane, some close together."""
    rng = np.random.Generator(np.random.PCG64(5))
    vectors: NDArray[np.float64] = rng.normal(size=(40, 2)) * 3.0
    return Lexicon([f"w{i}" for i in range(40)], vectors)


@pytest.fixture(scope="session")
def english() -> Lexicon:
    """The embedded lexicon."""
    return Lexicon.open("english")

"""A lexicon with a graph, for all tests of the balanced mechanism."""

import numpy as np
import pytest

from malaprop import (
    Lexicon,
)


@pytest.fixture(scope="module")
def near() -> Lexicon:
    """300 words in 20 dimensions, with the graph that is made of them."""
    rng = np.random.Generator(np.random.PCG64(3))
    centres = rng.normal(size=(30, 20))
    vectors = np.repeat(centres, 10, axis=0) + 0.4 * rng.normal(size=(300, 20))
    return Lexicon([f"w{i}" for i in range(300)], vectors).with_graph()

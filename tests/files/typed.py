"""A privatizer that draws values as what they are, for the tests of values."""

from typing import Any

from malaprop import TEM, Lexicon, Privatizer, seeded_rng

WORDS = ("cold", "cool", "warm", "hot", "the", "is", "a", "an")
SMALL = Lexicon(WORDS, [[float(i), float(i * i % 7)] for i in range(len(WORDS))])
EPSILON = 0.8


def typed(seed: Any = 1, **options: object) -> Privatizer:
    return Privatizer(
        SMALL,
        TEM(epsilon=5.0),
        rng=seeded_rng(seed),
        **{"kinds": "typed", "kind_epsilon": EPSILON, **options},  # type: ignore[arg-type]
    )

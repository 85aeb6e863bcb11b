"""How much is measured: `full`, `quick` in two minutes, `smoke` to try the suite."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Size:
    """What a run measures. Times are seconds; a part stops to repeat when its time is up."""

    name: str
    epsilons: tuple[float, ...]
    tokens: int
    """Of the text that is privatized from file to file."""
    every: bool
    """Whether each word of the lexicon occurs in it."""
    repeats: int
    """At most so many; one at least."""
    time: float
    """What the repeats of a part may take."""
    growth: tuple[int, ...]
    """Numbers of tokens for the plot of cost against size."""
    rows: int
    """Of the matrix product that noisy vectors are compared with."""
    starts: int
    """How often a fresh process is started."""
    megabytes: tuple[int, int]
    """A small and a large text file."""
    audited: int
    """Words of the lexicon whose exponent is audited; 0 for all."""
    peer_time: float
    """For one peer, mechanism and ε, each time."""
    peer_repeats: int


FULL = Size(
    name="full",
    epsilons=(0.5, 0.8, 1.0, 1.2, 1.5, 2.0, 5.0, 20.0),
    tokens=5_000_000,
    every=True,
    repeats=3,
    time=1_800.0,
    growth=(10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000),
    rows=8_192,
    starts=15,
    megabytes=(10, 1_000),
    audited=0,
    peer_time=5.0,
    peer_repeats=3,
)
QUICK = Size(
    name="quick",
    epsilons=(1.5, 20.0),
    tokens=30_000,
    every=False,
    repeats=3,
    time=20.0,
    growth=(3_000, 10_000, 30_000),
    rows=1_024,
    starts=5,
    megabytes=(1, 3),
    audited=3_000,
    peer_time=0.3,
    peer_repeats=3,
)
SMOKE = Size(
    name="smoke",
    epsilons=(1.5,),
    tokens=3_000,
    every=False,
    repeats=2,
    time=1.0,
    growth=(1_000, 10_000),
    rows=256,
    starts=2,
    megabytes=(1, 2),
    audited=2_100,
    peer_time=0.2,
    peer_repeats=2,
)
SIZES = {size.name: size for size in (FULL, QUICK, SMOKE)}

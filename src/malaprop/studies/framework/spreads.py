"""What an error is over: the values of a setting's `spread`."""

from typing import Final

NOISE: Final = "noise draws"
"""Other draws of the noise, on the same texts, words and splits."""
SPLITS: Final = "splits"
"""Other splits of the same texts into those to train on and those to test on."""
BOTH: Final = f"{NOISE} and {SPLITS}"
WORDS: Final = "words"
"""Other words of the lexicon. Where a word's figure is from draws, their noise is part of it."""
WALKS: Final = "walks"
"""Other walks of the sampler of the published hyperbolic mechanism."""
NOTHING: Final = "nothing"
"""There is neither noise nor a split, and so no error."""
SPREADS: Final = (NOISE, SPLITS, BOTH, WORDS, WALKS, NOTHING)


def over(*, noisy: bool, divided: bool) -> str:
    """Return what runs differ in that have noise, splits of their own, both or neither.

    >>> over(noisy=True, divided=True)
    'noise draws and splits'
    """
    if noisy:
        return BOTH if divided else NOISE
    return SPLITS if divided else NOTHING

"""What an error is over: the values that `spread` has in a setting."""

from typing import Final

NOISE: Final = "noise draws"
"""Other draws of the noise, on the same texts, words and splits."""
SPLITS: Final = "splits"
"""Other splits of the same texts into those to train on and those to test on."""
BOTH: Final = f"{NOISE} and {SPLITS}"
"""Other draws and other splits at once."""
WORDS: Final = "words"
"""Other words of the lexicon. Where a word's figure comes from draws, it includes their noise."""
WALKS: Final = "walks"
"""Other walks of the sampler of the published hyperbolic mechanism."""
NOTHING: Final = "nothing"
"""There is neither noise nor a split, and so no error."""
SPREADS: Final = (NOISE, SPLITS, BOTH, WORDS, WALKS, NOTHING)


def over(*, noisy: bool, divided: bool) -> str:
    """Return what runs differ in, if each has its own noise, its own split, both or neither.

    >>> over(noisy=True, divided=True)
    'noise draws and splits'
    """
    if noisy:
        return BOTH if divided else NOISE
    return SPLITS if divided else NOTHING

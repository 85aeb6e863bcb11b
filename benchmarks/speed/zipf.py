"""Text as long as one likes, whose words are as common as Zipf's law has it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from folders import cached
from numpy.typing import NDArray

import malaprop

LINE = 20  # words: a document each


def token_ids(words: int, count: int, every: bool = False) -> NDArray[np.int64]:
    """Ranks 0, 1, … with odds 1/(1 + rank), each at least once if `every` one is to occur."""
    rng = np.random.Generator(np.random.PCG64(count))
    odds = 1.0 / np.arange(1, words + 1)
    once = np.arange(words if every else 0)
    drawn = rng.choice(words, size=count - len(once), p=odds / odds.sum())
    return rng.permutation(np.concatenate([once, drawn]))


def of_tokens(count: int, every: bool = False) -> Path:
    """A text file of so many words, `every` one of `english` among them; kept if it is there."""
    path = cached(f"{count}-tokens{'-of-every-word' if every else ''}.txt")
    if not path.exists():
        part = path.with_suffix(".part")
        with part.open("w", encoding="utf-8") as file:
            file.writelines(_lines(count, every))
        part.rename(path)
    return path


def of_megabytes(megabytes: int) -> Path:
    """A text file of that size: a million words, over and over."""
    path = cached(f"{megabytes}-megabytes.txt")
    if not path.exists():
        text = "".join(_lines(1_000_000)).encode()
        part, left = path.with_suffix(".part"), megabytes * 1_000_000
        with part.open("wb") as file:
            while left > 0:
                left -= file.write(text[:left])
        part.rename(path)
    return path


def different(count: int) -> int:
    """How many different words the text file of so many words has."""
    return len(np.unique(token_ids(len(malaprop.Lexicon.open("english")), count)))


def _lines(count: int, every: bool = False) -> list[str]:
    words = malaprop.Lexicon.open("english").words
    ids = token_ids(len(words), count, every).tolist()
    starts = range(0, count, LINE)
    return [" ".join([words[i] for i in ids[at : at + LINE]]) + ".\n" for at in starts]

"""The ids of the words of a data set, for those rows whose words the lexicon has."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from malaprop.core.arrays import Ids
from malaprop.core.errors import DataError
from malaprop.core.space import MetricSpace


def index_of(space: MetricSpace) -> Mapping[str, int]:
    """Return the ids of a lexicon's words; capitals do not count, but for words that differ so."""
    exact = {word: number for number, word in enumerate(space.words)}
    folded = {word.lower(): number for word, number in reversed(exact.items())}
    return folded | exact


def known_id(index: Mapping[str, int], word: str) -> int:
    """Return the id of a word, whatever its capitals; -1 if the lexicon lacks it."""
    return index.get(word, index.get(word.lower(), -1))


def known_rows(
    space: MetricSpace, rows: Iterable[Sequence[str]], what: str
) -> tuple[list[int], list[Ids]]:
    """Return the places of the rows whose words are all in the lexicon, and their ids."""
    index = index_of(space)
    places, ids = [], []
    for place, words in enumerate(rows):
        known = [known_id(index, word) for word in words]
        if min(known) >= 0:
            places.append(place)
            ids.append(np.array(known, dtype=np.int64))
    if not places:
        raise DataError(f"The lexicon has the words of none of the {what}: use another lexicon.")
    return places, ids

"""How many draws are stocked: as many as a job needs, as long as they fit."""

import numpy as np
import pytest
from tests.privacy.test_stock import RNG, Making, stock_of

from malaprop.privacy.arrays import Ids


@pytest.mark.parametrize(("frequent", "most"), [(1, 1 << 16), (300, 4096)])
def test_frequent_words_give_way_if_the_room_is_small(frequent: int, most: int) -> None:
    """Rare words are many, and so are their rows: they get what they are likely to need."""
    asked = list[Ids]()

    def rows(words: Ids, least: Ids, counts: Ids) -> list[Ids]:
        asked.append(counts - least)
        return [np.zeros(number, dtype=np.int64) for number in least.tolist()]

    stock = stock_of(Making(30_000, rows))
    stock.expect_orders(81)
    counts = np.where(np.arange(30_000) < frequent, 1000, 2)
    stock.take(np.arange(30_000), counts, RNG)
    extra = np.sort(np.concatenate(asked))
    assert most <= extra[-frequent:].min() <= extra.max() <= most + 2.0 * np.sqrt(most)
    assert 2 * 80 <= extra.min() <= extra[-frequent - 1] <= 2 * 80 + 20


def test_nobody_waits_for_draws_that_may_not_be_needed() -> None:
    """Unless it is known how much will be needed, some thousands are the most."""
    asked = list[Ids]()

    def rows(words: Ids, least: Ids, counts: Ids) -> list[Ids]:
        asked.append(counts - least)
        return [np.zeros(number, dtype=np.int64) for number in counts.tolist()]

    stock = stock_of(Making(10, rows))
    stock.take(np.arange(10), np.full(10, 100_000), RNG)
    assert np.concatenate(asked).tolist() == [4096] * 10

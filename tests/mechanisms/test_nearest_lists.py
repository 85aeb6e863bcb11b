"""The nearest words that all neighbour graphs of a lexicon share."""

from typing import Any

import numpy as np
import pytest

from malaprop import NADP, Lexicon, seeded_rng
from malaprop.lexicon import lexicon as lexicon_module
from malaprop.lexicon.search import NearestSearch
from malaprop.lexicon.tables import NearestWords, Tables

VECTORS = seeded_rng(1).normal(size=(60, 4))


def cloud(scale: float = 1.0) -> Lexicon:
    return Lexicon([f"w{i}" for i in range(60)], scale * VECTORS)


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    counted: list[int] = []

    class Counting(NearestSearch):
        def nearest(self, queries: Any, k: int = 1) -> Any:
            counted.append(k)
            return super().nearest(queries, k)

    monkeypatch.setattr(lexicon_module, "NearestSearch", Counting)
    return counted


def test_the_nearest_words_of_a_lexicon_are_looked_for_once(searches: list[int]) -> None:
    lexicon = cloud()
    channels = {tau: NADP(epsilon=1.0, tau=tau).on(lexicon) for tau in (0.1, 0.5)}
    again = NADP(epsilon=1.0, tau=0.5).on(lexicon)
    assert searches == [11]
    assert (again.noise.sigmas == channels[0.5].noise.sigmas).all()
    assert (channels[0.1].noise.sigmas != channels[0.5].noise.sigmas).any()


def test_more_words_are_looked_for_again(searches: list[int]) -> None:
    lexicon = cloud()
    few, many = lexicon_module.nearest_words(lexicon, 3), lexicon_module.nearest_words(lexicon, 9)
    assert searches == [3, 9]
    assert (many[:, :3] == few).all()
    assert lexicon_module.nearest_words(lexicon, 3).shape == (60, 3)


def test_a_list_that_the_lexicon_carries_is_used(searches: list[int]) -> None:
    lexicon = cloud()
    plain = NADP(epsilon=1.0, tau=0.3).on(lexicon).noise.sigmas
    carried = NearestWords(
        fingerprint=lexicon.fingerprint,
        listed=lexicon_module.nearest_words(lexicon, 20).astype(np.uint16),
    )
    searches.clear()
    listing = lexicon.with_tables(Tables(nearest=carried))
    assert (NADP(epsilon=1.0, tau=0.3).on(listing).noise.sigmas == plain).all()
    assert searches == []
    lexicon_module.nearest_words(listing, 30)  # more than it carries
    assert searches == [30]


def test_another_lexicon_has_lists_of_its_own() -> None:
    one, two = (NADP(epsilon=1.0).on(cloud(scale)).noise.sigmas for scale in (1.0, 2.0))
    assert two == pytest.approx(2.0 * one, rel=1e-6)

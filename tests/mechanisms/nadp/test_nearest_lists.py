"""The search for nearest words, which all neighbour graphs of a lexicon share."""

from typing import Any

import pytest

from malaprop import NADP, Lexicon, seeded_rng
from malaprop.mechanisms.nadp.neighbour_graph import NearestLists


def test_the_nearest_words_of_a_lexicon_are_looked_for_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    searches = []
    plain = NearestLists.of

    def counted(vectors: Any, k: int) -> NearestLists:
        searches.append(k)
        return plain(vectors, k)

    monkeypatch.setattr(NearestLists, "of", counted)
    cloud = Lexicon([f"w{i}" for i in range(60)], seeded_rng(1).normal(size=(60, 4)))
    channels = {tau: NADP(epsilon=1.0, tau=tau).on(cloud) for tau in (0.1, 0.5)}
    again = NADP(epsilon=1.0, tau=0.5).on(cloud)
    assert searches == [11]
    assert (again.noise.sigmas == channels[0.5].noise.sigmas).all()
    assert (channels[0.1].noise.sigmas != channels[0.5].noise.sigmas).any()


def test_another_lexicon_has_lists_of_its_own() -> None:
    vectors = seeded_rng(1).normal(size=(60, 4))
    near, far = (Lexicon([f"w{i}" for i in range(60)], scale * vectors) for scale in (1.0, 2.0))
    one, two = (NADP(epsilon=1.0).on(lexicon).noise.sigmas for lexicon in (near, far))
    assert two == pytest.approx(2.0 * one, rel=1e-6)

"""Draws on the small lexicons of the page: they are the library's own, and the maps are public."""

import json
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tests.server.conftest import Keyed, Running

from malaprop import TEM, HyperbolicLaplace, Laplace, Lexicon, Mahalanobis, seeded_rng
from malaprop.server.plane import GAMMA, lexicon_of

ROOT = Path(__file__).parents[2]
MECHANISMS = ("laplace", "mahalanobis", "tem", "hyperbolic-laplace")


def _tool(name: str) -> ModuleType:
    spec = spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _drawn(service: Running, **body: Any) -> Any:
    asked = {"mechanism": "laplace", "epsilon": 2.0, "word": "doctor", "draws": 500} | body
    answer = service.post("/v1/page/plane", asked)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_noisy_places_decode_to_the_words_that_come_out(service: Running, mechanism: str) -> None:
    told = _drawn(service, mechanism=mechanism)
    lexicon = lexicon_of("tree" if mechanism == "hyperbolic-laplace" else "words")
    assert len(told["words"]) == 500
    if told["places"] is None:
        assert mechanism == "tem"
        return
    between = Lexicon(
        [str(i) for i in range(500 + len(lexicon))],
        np.concatenate([told["places"], lexicon.vectors]),
        metric=str(lexicon.metric),
    ).distances(np.arange(500))[:, 500:]
    # Places are rounded for the picture, so that a place on a border may seem to be beyond it.
    assert np.mean(between.argmin(axis=1) == told["words"]) > 0.98


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_the_draws_are_those_of_the_library(service: Running, mechanism: str) -> None:
    told = _drawn(service, mechanism=mechanism)
    made = {
        "laplace": Laplace(epsilon=2.0),
        "mahalanobis": Mahalanobis(epsilon=2.0),
        "tem": TEM(epsilon=2.0, gamma=GAMMA),
        "hyperbolic-laplace": HyperbolicLaplace(epsilon=2.0),
    }[mechanism]
    lexicon = lexicon_of("tree" if mechanism == "hyperbolic-laplace" else "words")
    channel = made.on(lexicon)
    own, count = lexicon.index["doctor"], 100_000
    assert told["guarantee"] == str(channel.guarantee)
    drawn = channel.substitute(np.full(count, own), seeded_rng(1))
    shares = np.bincount(drawn, minlength=len(lexicon)) / count
    # Five thousand draws against a hundred thousand: beyond 5.5 standard errors once in 10⁷ words.
    spread = np.sqrt(shares * (1.0 - shares) * (1 / 5000 + 1 / count) + 1e-6)
    assert (np.abs(told["chances"] - shares) < 5.5 * spread + 1e-4).all()
    assert sum(told["chances"]) == pytest.approx(1.0, abs=0.01)
    for other, distance, loss in told["near"]:
        assert loss == pytest.approx(channel.guarantee.loss(distance), abs=0.01)
        assert other != own


@pytest.mark.parametrize("mechanism", ["laplace", "mahalanobis", "hyperbolic-laplace"])
def test_half_of_the_draws_lie_within_the_first_outline(service: Running, mechanism: str) -> None:
    inside = total = 0
    for _ in range(8):
        told = _drawn(service, mechanism=mechanism)
        places = np.array(told["places"])
        for share, line in zip((0.5, 0.9), told["outlines"], strict=True):
            if share == 0.5:
                inside += int(_within(places, np.array(line)).sum())
                total += len(places)
    # 4,000 draws have a standard error of 0.8 %, and the outline has corners.
    assert inside / total == pytest.approx(0.5, abs=0.045)


def _within(places: Any, line: Any) -> Any:
    """Whether places are inside a polygon: how often a ray to the right crosses it."""
    (x, y), after = places.T, np.roll(line, -1, axis=0)
    crossed = np.zeros(len(places), dtype=int)
    for (a, b), (c, d) in zip(line, after, strict=True):
        if b != d:
            crossed += ((b > y) != (d > y)) & (x < a + (y - b) * (c - a) / (d - b))
    return crossed % 2 == 1


def test_it_refuses_what_is_not_on_the_map_and_never_repeats_it(service: Running) -> None:
    asked = {"mechanism": "laplace", "epsilon": 1.0, "word": "quimby"}
    answer = service.post("/v1/page/plane", asked)
    assert answer.status_code == 422
    assert "quimby" not in answer.text
    assert "must be a word of the map" in answer.json()["detail"]
    low = {"mechanism": "hyperbolic-laplace", "epsilon": 1.0, "word": "doctor"}
    assert "too small" in service.post("/v1/page/plane", low).json()["detail"]
    for wrong in ({"epsilon": 0.0}, {"draws": 501}, {"mechanism": "gaussian"}):
        assert service.post("/v1/page/plane", asked | wrong).status_code == 422


def test_it_needs_a_key_that_may_read(keyed: Keyed) -> None:
    asked = {"mechanism": "laplace", "epsilon": 1.0, "word": "doctor"}
    assert keyed.post("/v1/page/plane", asked).status_code == 401
    headers = keyed.key(scopes=["budget"])
    assert keyed.post("/v1/page/plane", asked, headers=headers).status_code == 403
    assert keyed.post("/v1/page/plane", asked, headers=keyed.key()).status_code == 200


def test_the_maps_are_what_the_tool_says() -> None:
    tool = _tool("build_page_maps")
    told = json.loads(tool.FILE.read_text("utf-8"))
    english = Lexicon.open("english")
    flat, listed = lexicon_of("words"), told["words"]["words"]
    assert listed == [word for group in tool.WORDS.values() for word in group.split()]
    assert told["words"]["fingerprint"] == english.fingerprint
    assert np.median(tool.gaps(flat.vectors)) == pytest.approx(1.0, abs=0.01)
    names, parents, disk = tool.planted(tool.TREE)
    assert (told["tree"]["words"], told["tree"]["parents"]) == (names, parents)
    assert np.allclose(told["tree"]["vectors"], disk, atol=1e-5)
    assert told["truth"] == pytest.approx(tool.truth(english, flat), rel=0.02)


def test_words_that_are_near_in_english_are_near_on_the_map() -> None:
    flat, english = lexicon_of("words"), Lexicon.open("english")
    ids = [english.index[word] for word in flat.words]
    there = english.distances(ids)[:, ids]
    here = flat.distances(np.arange(len(flat)))
    np.fill_diagonal(there, np.inf)
    order = np.argsort(here, axis=1)[:, 1:6]
    found = [there[i].argmin() in order[i] for i in range(len(flat))]
    # By chance it would be 5 of 110.
    assert np.mean(found) > 0.6


def test_the_tour_is_what_the_tool_measures() -> None:
    tool = _tool("build_page_tour")
    told = json.loads(tool.FILE.read_text("utf-8"))
    assert told["curve"] == json.loads(json.dumps(tool.curve()))
    assert [level["epsilon"] for level in told["levels"]] == list(tool.EPSILONS)
    words = tool.Words(Lexicon.open("english"))
    words.listed = {word: place for place, word in enumerate(told["words"])}
    for level in told["levels"]:
        if level["epsilon"] in (2.0, 3.0):  # the others take longer
            measured = tool.level(level["epsilon"], words, told["near"])
            assert json.loads(json.dumps(measured)) == level


def test_the_tour_shows_what_it_says() -> None:
    """What the sentences beside the figures claim holds of the figures."""
    told = json.loads((ROOT / "src/malaprop/server/page/tour.json").read_text("utf-8"))
    levels = {level["epsilon"]: level for level in told["levels"]}
    assert {1.0, 2.0} <= set(levels)
    kept = [level["kept"] for level in told["levels"]]
    assert kept == sorted(kept)
    for level in told["levels"]:
        rising = level["together"]
        assert rising == sorted(rising)
        assert level["context"] > level["alone"] or level["epsilon"] < 1.0
        assert sum(level["chances"].values()) <= 1.0
        assert sum(ring[2] for ring in level["rings"]) == pytest.approx(1.0, abs=0.01)

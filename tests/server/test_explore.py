"""What the page asks for."""

from typing import Any

import numpy as np
import pytest
from tests.server.conftest import Keyed, Running

import malaprop
from malaprop.server.explore import examples

TEXT = "Ann took 500 mg of aspirin on 3 May 2021, and aspirin again."


def draw(service: Running, **body: Any) -> Any:
    return service.post("/v1/page/draw", {"epsilon": 1.5} | body)


def test_a_text_is_drawn_part_by_part_beside_itself(service: Running) -> None:
    body = draw(service, text=TEXT, readable=True).json()
    assert "".join(body["original"]) == TEXT
    slots = body["original"][1::2]
    assert "3 May 2021" in slots
    for name in ("private", "fluent", "drawn"):
        assert len(body[name]) == len(body["original"])
        assert body[name][::2] == body["original"][::2]  # gaps are public
    for name in ("tags", "counts_as", "steps"):
        assert len(body[name]) == len(slots)
    date = slots.index("3 May 2021")
    assert body["tags"][date] == "dates"
    assert body["counts_as"][date] is body["steps"][date] is None
    assert body["counts_as"][slots.index("Ann")] == "ann"


def test_one_draw_is_shown_in_both_settings(service: Running) -> None:
    text = " ".join(examples()["note"]["text"].split() * 20)
    faithful, fluent, drawn = (
        draw(service, text=text, readable=asked).json() for asked in (True, "fluent", False)
    )
    assert faithful["private"] != faithful["fluent"] != faithful["drawn"]
    assert fluent["private"] == fluent["fluent"] != fluent["drawn"]
    assert fluent["steps"] == fluent["steps_fluent"] != fluent["steps_drawn"]
    assert drawn["private"] == drawn["fluent"] == drawn["drawn"]


def test_steps_are_those_of_the_word_graph(service: Running) -> None:
    graph = malaprop.Privatizer(epsilon=1.5).lexicon
    body = draw(service, text=TEXT, mechanism="tem", kinds="words").json()
    assert any(body["steps"])
    for word, shown, steps in zip(
        body["counts_as"], body["private"][1::2], body["steps"], strict=True
    ):
        if shown.lower() in graph.index:
            pair = np.array([graph.index[word]])
            assert steps == graph.distances(pair)[0, graph.index[shown.lower()]]


def test_a_draw_is_debited_and_an_example_is_not(limited: Running) -> None:
    price = draw(limited, text=TEXT, subject="page", dry_run=True).json()
    assert price["private"] is None
    assert price["price"] == "3"  # "aspirin" twice, at 1.5
    assert price["receipt"]["id"] is None
    paid = draw(limited, text=TEXT, subject="page").json()
    assert (paid["receipt"]["spent"], paid["receipt"]["remaining"]) == ("3", "1")
    refused = draw(limited, text=TEXT, subject="page")
    assert refused.status_code == 402
    assert refused.json()["remaining"] == "1"
    for _ in range(3):
        free = draw(limited, example="note", subject="page").json()
        assert free["receipt"] is None
        assert "".join(free["original"]) == examples()["note"]["text"]
    left = limited.post("/v1/budget", {"subject": "page"}).json()
    assert left["remaining"] == "1"


def test_a_text_without_words_says_so(service: Running) -> None:
    body = draw(service, text="... !").json()
    assert body["warnings"]
    assert body["private"] == ["... !"]


@pytest.mark.parametrize(
    "body", [{}, {"text": "a", "example": "note"}, {"example": "quetzalcoatlus"}]
)
def test_a_bad_request_is_refused_without_a_quotation(
    service: Running, body: dict[str, Any]
) -> None:
    answer = draw(service, **body)
    assert answer.status_code == 422
    assert "quetzalcoatlus" not in answer.text


def test_a_key_limits_what_the_page_may_ask(keyed: Keyed) -> None:
    headers = keyed.key(scopes=["read"])
    body = {"text": "cold", "epsilon": 1.5}
    assert keyed.post("/v1/page/draw", body, headers=headers).status_code == 403
    low = keyed.key(max_epsilon=1.0)
    assert keyed.post("/v1/page/draw", body, headers=low).status_code == 403
    word = {"word": "cold", "epsilon": 1.5}
    assert keyed.post("/v1/page/neighbourhood", word, headers=headers).status_code == 200
    assert keyed.post("/v1/page/neighbourhood", word).status_code == 401


def test_a_neighbourhood_has_words_chances_and_edges(service: Running) -> None:
    asked = {"word": "Aspirin", "epsilon": 1.5}
    body = service.post("/v1/page/neighbourhood", asked).json()
    own, *others = body["words"]
    explained = malaprop.explain("aspirin", epsilon=1.5)
    assert own == {"word": "aspirin", "steps": 0.0, "chance": pytest.approx(explained.stays)}
    assert all(0.0 < each["steps"] <= 2.0 for each in others)
    assert len({each["word"] for each in others}) == len(others) <= 35
    ends = {place for *both, _ in body["edges"] for place in both}
    assert ends == set(range(len(body["words"])))
    inside = sum(ring.count for ring in explained.rings if ring.steps <= 2.0)
    assert body["others"] == inside - len(body["words"])


def test_any_mechanism_has_a_neighbourhood(service: Running) -> None:
    for name in ("tem", "laplace"):
        asked = {"word": "cold", "epsilon": 10.0, "mechanism": name}
        assert service.post("/v1/page/neighbourhood", asked).status_code == 200

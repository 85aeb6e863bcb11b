"""What the endpoints answer."""

from typing import Any

import pytest
from tests.server.conftest import Running

import malaprop
from malaprop import Privatizer


def test_a_text_is_privatized_with_its_guarantee(service: Running) -> None:
    answer = service.privatize(texts=["Ann has a fever.", None, "12 May 2021"])
    body = answer.json()
    assert answer.status_code == 200
    first, missing, date = body["texts"]
    assert missing is None
    assert first.endswith(".")
    assert first.count(" ") == 3
    assert date.count(" ") == 2
    assert body["mechanism"] == {"name": "balanced", "epsilon": 1.5}
    assert body["randomness"] == "secure"
    privatizer = Privatizer(epsilon=1.5)
    release = privatizer("Ann has a fever.")
    assert body["guarantee"] == release.guarantee.to_dict()
    assert body["lexicon"] == release.lexicon
    assert body["policy"] == release.policy
    assert body["malaprop"] == malaprop.__version__


def test_one_text_may_be_sent_by_itself(service: Running) -> None:
    assert len(service.privatize(text="Cold.").json()["texts"]) == 1


def test_options_are_those_of_the_library(service: Running) -> None:
    body = service.privatize(
        text="Cold, COLD; cold!", punctuation="drop", repeat="document", epsilon=3
    ).json()
    words = body["texts"][0].lower().split()
    assert len(words) == 3
    assert len(set(words)) == 1
    assert body["policy"]["repeat"] == "document"


def test_tem_and_others_can_be_named(service: Running) -> None:
    body = service.privatize(text="cold", mechanism="tem", epsilon=100).json()
    assert body["mechanism"]["name"] == "tem"
    assert body["guarantee"]["metric"] == "euclidean"


def test_draws_differ(service: Running) -> None:
    text = "the patient was given aspirin in the morning and slept until the evening"
    texts = [service.privatize(text=text).json()["texts"][0] for _ in range(3)]
    assert len(set(texts)) == 3


def test_a_word_is_explained_at_several_epsilons(service: Running) -> None:
    answer = service.post("/v1/explain", {"word": "aspirin", "epsilons": [1.0, 2.0], "top": 5})
    low, high = answer.json()["explanations"]
    assert (low["epsilon"], high["epsilon"]) == (1.0, 2.0)
    assert low["stays"] < high["stays"]
    assert len(high["becomes"]) == 5
    assert high["rings"][0]["count"] == 1
    assert high["rivals"][0]["bound"] > 1.0
    wanted = malaprop.explain("aspirin", epsilon=2.0, top=5)
    assert high["becomes"] == [vars(each) for each in wanted.becomes]


def test_a_target_is_calibrated(service: Running) -> None:
    found = service.post("/v1/calibrate", {"kept": 0.3, "mechanism": "tem"}).json()
    assert found["mechanism"]["epsilon"] == found["epsilon"]
    assert found["value"] <= 0.3
    assert len(found["curve"]) > 2


def test_a_guarantee_is_told_with_what_stays(service: Running) -> None:
    body = service.post("/v1/guarantee", {"epsilon": 1.5, "words": 12}).json()
    assert body["guarantee"]["words"] == 12
    assert 0.2 < body["expected_share_unchanged"] < 0.5
    assert body["expected_share_unchanged"] <= body["success"]
    assert body["context"]["context"] > body["success"]


def test_mechanisms_and_lexicons_are_listed(service: Running) -> None:
    mechanisms = service.client.get("/v1/mechanisms").json()["mechanisms"]
    assert [each["name"] for each in mechanisms] == ["balanced", "laplace", "priv-emb", "tem"]
    (english,) = service.client.get("/v1/lexicons").json()["lexicons"]
    assert english["name"] == "english"
    assert english["words"] > 30_000


def test_the_service_is_alive_and_ready(service: Running) -> None:
    assert service.client.get("/v1/health").json()["status"] == "alive"
    assert service.client.get("/v1/ready").json()["status"] == "ready"


def test_readable_text_is_faithful_or_fluent(service: Running) -> None:
    for asked, told in ((True, "faithful"), ("faithful", "faithful"), ("fluent", "fluent")):
        body = {"text": "Her blood pressure is high.", "epsilon": 1.5, "readable": asked}
        answer = service.privatize(**body).json()
        assert answer["policy"]["readable"] == told
        assert any(f"setting: {told}" in each for each in answer["guarantee"]["public"])


def test_metrics_count_requests(service: Running) -> None:
    service.privatize(text="cold")
    text = service.client.get("/v1/metrics").text
    assert 'malaprop_requests_total{method="POST",route="/v1/privatize",status="200"}' in text
    assert "malaprop_texts_total" in text


@pytest.mark.parametrize(
    ("body", "field"),
    [
        pytest.param({"epsilon": 1.5}, "the body", id="no text"),
        pytest.param({"epsilon": 1.5, "text": "a", "texts": ["a"]}, "the body", id="two"),
        pytest.param({"text": "a"}, "epsilon", id="no epsilon"),
        pytest.param({"text": "a", "epsilon": "1.5"}, "epsilon", id="a string"),
        pytest.param({"text": "a", "epsilon": True}, "epsilon", id="a boolean"),
        pytest.param({"text": "a", "epsilon": -1}, "epsilon", id="negative"),
        pytest.param({"texts": ["a", 3], "epsilon": 1}, "texts[1]", id="no text among texts"),
        pytest.param({"text": "a", "epsilon": 1, "seed": 3}, "(unknown)", id="a seed"),
        pytest.param({"text": "a", "epsilon": 1, "mechanism": "x"}, "mechanism", id="mechanism"),
        pytest.param({"text": "a", "epsilon": 1, "lexicon": "/etc"}, "lexicon", id="a path"),
        pytest.param({"text": "a", "epsilon": 1, "readable": "/etc"}, "readable", id="a setting"),
        pytest.param({"text": "a", "epsilon": 1, "model": "/etc"}, "(unknown)", id="a model"),
        pytest.param({"text": "a", "epsilon": 1, "unknown": "x"}, "unknown", id="a choice"),
        pytest.param({"text": "a", "epsilon": 1, "steps": {"date": "x"}}, None, id="a step"),
        pytest.param({"text": "\ud800", "epsilon": 1}, "text", id="half a character"),
        pytest.param(
            {"text": "a", "epsilon": 1, "readable": True, "mechanism": "laplace"},
            "readable",
            id="readable after minutes",
        ),
        pytest.param([], "the body", id="a list"),
    ],
)
def test_a_bad_request_is_told_which_field(
    service: Running, body: object, field: str | None
) -> None:
    answer = service.post("/v1/privatize", body)
    document = answer.json()
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.status_code == document["status"] == 422
    assert document["type"] == "urn:malaprop:problem:invalid-request"
    if field is not None:
        assert document["errors"][0]["field"] == field


def test_a_path_with_a_slash_at_its_end_is_another(service: Running) -> None:
    assert service.post("/v1/privatize/", {"text": "a", "epsilon": 1}).status_code == 404


def test_what_is_no_json_is_refused(service: Running) -> None:
    headers = {"Content-Type": "application/json"}
    for content in (b"{", b"\xff\xfe", b"[" * 100_000, b"", b"1" * 5_000):
        answer = service.client.post("/v1/privatize", content=content, headers=headers)
        assert answer.status_code in (400, 422)
        assert answer.headers["content-type"] == "application/problem+json"


def test_entities_that_a_detector_found_become_stand_ins(service: Running) -> None:
    text = "Seen by Xq Ng in May."
    entities = [[{"start": 8, "end": 13, "entity_type": "CODE", "score": 0.9}], None]
    body = service.privatize(texts=[text, "cold"], entities=entities, epsilon=20)
    assert body.status_code == 200, body.text
    assert "[ENTITY]" in body.json()["texts"][0]
    assert "entities" in str(body.json()["guarantee"])
    named = [[{"start": 8, "end": 13, "label": "CODE"}]]
    labels = {"CODE": "person"}
    private = service.privatize(text=text, entities=named, entity_labels=labels, epsilon=20).json()
    assert "[ENTITY]" not in private["texts"][0]
    assert "Xq" not in private["texts"][0]
    price = service.privatize(text="Rain by rain", entities=[[]], dry_run=True).json()["receipt"]
    assert price["price"] == "3"


def test_a_field_is_named_also_where_the_text_would_be_quoted(service: Running) -> None:
    """A message that holds any of what was sent is replaced: here, the letter “a”."""
    answers = {
        "subject": service.privatize(text="a", subject="  "),
        "entities": service.privatize(text="a", entities=[[{"start": 0, "end": 9, "label": "X"}]]),
    }
    for field, answer in answers.items():
        assert answer.status_code == 422
        assert answer.json()["errors"][0]["field"] == field


def test_entities_must_fit_their_text(service: Running) -> None:
    several: list[Any] = [[[{"start": 2, "end": 99, "label": "CODE"}]], [], [[], []]]
    for entities in several:
        answer = service.privatize(text="cold", entities=entities)
        assert answer.status_code == 422

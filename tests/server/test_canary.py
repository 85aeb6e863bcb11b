"""A word in every field of every endpoint appears in no error, no log line and no metric."""

import copy
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from tests.server.conftest import Running

CANARY = "quetzalcoatlus"
BODIES: dict[str, dict[str, Any]] = {
    "/v1/privatize": {
        "text": "cold",
        "texts": ["cold"],
        "records": [{"a": "cold"}],
        "paths": ["a"],
        "entities": [[{"start": 0, "end": 4, "label": "PERSON"}]],
        "entity_labels": {"CODE": "person"},
        "epsilon": 1.5,
        "mechanism": "balanced",
        "lexicon": "english",
        "subject": "Ann",
        "dry_run": False,
        "unknown": "map",
        "punctuation": "keep",
        "placeholder": "[x]",
        "kinds": "typed",
        "kind_epsilon": 1.0,
        "steps": {"date": "3 days"},
        "dates": "mdy",
        "shift_dates": False,
        "decimals": "point",
        "repeat": "fresh",
        "redraw": ["names"],
        "keep": ["flu"],
        "markup": "html",
        "readable": True,
    },
    "/v1/explain": {"word": "cold", "epsilon": 1.5, "top": 3, "steps": {"date": "3 days"}},
    "/v1/page/draw": {"text": "cold", "epsilon": 1.5, "subject": "Ann", "keep": ["flu"]},
    "/v1/page/neighbourhood": {"word": "cold", "epsilon": 1.5, "lexicon": "english"},
    "/v1/calibrate": {"mechanism": "tem", "similarity": 0.5, "like": {"mechanism": "tem"}},
    "/v1/guarantee": {"epsilon": 1.5, "keep": ["flu"], "words": 3},
    "/v1/budget": {"subject": "Ann"},
    "/v1/files": {
        "epsilon": 1.5,
        "format": "csv",
        "columns": ["note"],
        "encoding": "utf-8",
        "delimiter": ",",
        "subject": "Ann",
    },
}


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the way to every value of a body, and to every object in it."""
    yield path
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from places(inner, (*path, name))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from places(inner, (*path, number))


def changed(body: Any, path: tuple[Any, ...], value: Any) -> Any:
    """Return a body with another value at a place; at an object, as a further key, too."""
    if not path:
        return value
    made = copy.deepcopy(body)
    inner = made
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    return made


def poisoned(body: dict[str, Any]) -> Iterator[Any]:
    """Yield bodies that hold the canary, one place after the other."""
    for path in places(body):
        for value in (CANARY, [CANARY], {CANARY: CANARY}, f"{CANARY} \ud800", -1.5):
            yield changed(body, path, value)
        yield changed(body, (*path, CANARY), CANARY) if _is_object(body, path) else body


def _is_object(body: Any, path: tuple[Any, ...]) -> bool:
    for step in path:
        body = body[step]
    return isinstance(body, dict)


@pytest.mark.parametrize("path", BODIES)
def test_no_field_is_quoted(service: Running, path: str, capfd: pytest.CaptureFixture[str]) -> None:
    sources: list[dict[str, Any]] = [BODIES[path]]
    if path == "/v1/privatize":
        texts = ("text", "texts", "records")
        sources = [
            {name: value for name, value in BODIES[path].items() if name not in others}
            for others in (
                {*texts, "paths"} - {"text"},
                {*texts, "paths"} - {"texts"},
                {"text", "texts", "entities"},
            )
        ]
    statuses = set()
    for source in sources:
        for body in poisoned(source):
            answer = service.post(path, body)
            statuses.add(answer.status_code)
            assert answer.status_code in (200, 201, 400, 402, 422, 429), answer.text
            if answer.status_code >= 400:
                assert CANARY not in answer.text, body
            assert CANARY not in str(answer.headers)
    assert 422 in statuses
    nothing_is_told(service, capfd)


def nothing_is_told(service: Running, capfd: pytest.CaptureFixture[str]) -> None:
    assert CANARY not in service.written.getvalue()
    assert CANARY not in service.client.get("/metrics").text
    out, err = capfd.readouterr()
    assert CANARY not in out + err


def test_no_header_path_or_query_is_quoted(
    service: Running, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    body = json.dumps({"text": CANARY, "epsilon": 1.5})
    json_type = {"Content-Type": "application/json"}
    requests: list[dict[str, Any]] = [
        {"method": "GET", "url": f"/{CANARY}?{CANARY}={CANARY}"},
        {"method": "GET", "url": f"/v1/files/{CANARY}"},
        {"method": CANARY, "url": "/v1/health"},
        {"method": "GET", "url": "/v1/health", "headers": {"Authorization": CANARY}},
        {"method": "GET", "url": "/v1/health", "headers": {"Host": CANARY}},
        {"method": "GET", "url": "/v1/health", "headers": {"Origin": CANARY}},
        {"method": "POST", "url": "/v1/privatize", "headers": {"Content-Type": CANARY}},
        {"method": "POST", "url": f"/v1/privatize?{CANARY}", "content": body, "headers": json_type},
        {
            "method": "POST",
            "url": "/v1/privatize",
            "content": body,
            "headers": json_type | {"Idempotency-Key": CANARY},
        },
        {
            "method": "POST",
            "url": "/v1/privatize",
            "content": body,
            "headers": json_type | {"Idempotency-Key": CANARY * 30},
        },
        {"method": "POST", "url": "/v1/privatize", "content": CANARY, "headers": json_type},
    ]
    for request in requests:
        answer = service.client.request(**request)
        if answer.status_code >= 400:
            assert CANARY not in answer.text, request
        assert CANARY not in str(answer.headers)
    nothing_is_told(service, capfd)
    ours = [record for record in caplog.records if not record.name.startswith("httpx")]
    assert all(CANARY not in record.getMessage() for record in ours)


def test_a_failure_inside_is_not_quoted(
    service: Running, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError(CANARY)

    monkeypatch.setattr("malaprop.server.work.privatized", fail)
    answer = service.privatize(text=CANARY)
    assert answer.status_code == 500
    assert answer.headers["content-type"] == "application/problem+json"
    assert CANARY not in answer.text
    failures = [line for line in service.log if line["event"] == "failure"]
    assert failures[-1]["error"] == "RuntimeError"
    assert failures[-1]["request"] == answer.headers["x-request-id"]
    nothing_is_told(service, capfd)

"""Budgets, and repeated requests."""

import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.server.conftest import Running

from malaprop.server.settings import Settings


def test_a_release_has_a_receipt_and_a_dry_run_draws_nothing(service: Running) -> None:
    text = "Rain, rain, go away!"
    asked = service.privatize(texts=[text, "rain"], subject="Rainer", dry_run=True).json()
    assert asked["texts"] is None
    assert asked["receipt"]["id"] is None
    assert asked["receipt"]["price"] == "4.5"  # "rain" twice in the one, once in the other
    done = service.privatize(texts=[text, "rain"], subject="Rainer").json()
    assert done["receipt"]["price"] == done["receipt"]["spent"] == "4.5"
    assert done["receipt"]["remaining"] is None
    assert len(done["receipt"]["id"]) > 8
    budget = service.post("/v1/budget", {"subject": "Rainer"}).json()
    assert (budget["scope"], budget["spent"], budget["limit"]) == ("subject", "4.5", None)


def test_without_a_subject_the_key_itself_is_debited(limited: Running) -> None:
    before = float(limited.post("/v1/budget", {}).json()["spent"])
    receipt = limited.privatize(text="rain").json()["receipt"]
    assert receipt["scope"] == "key"
    after = limited.post("/v1/budget", {}).json()
    assert after["scope"] == "key"
    assert float(after["spent"]) == before + 1.5


def test_over_the_limit_nothing_is_drawn_or_debited(limited: Running) -> None:
    subject = "over the limit"
    assert limited.privatize(text="rain", epsilon=3, subject=subject).status_code == 200
    refused = limited.privatize(text="snow", epsilon=1.5, subject=subject)
    problem = refused.json()
    assert refused.status_code == 402
    assert problem["type"] == "urn:malaprop:problem:over-budget"
    assert (problem["scope"], problem["price"], problem["remaining"]) == ("subject", "1.5", "1")
    assert "texts" not in problem
    assert limited.post("/v1/budget", {"subject": subject}).json()["spent"] == "3"
    asked = limited.privatize(text="snow", epsilon=1.5, subject=subject, dry_run=True)
    assert asked.status_code == 402


def test_what_has_no_guarantee_is_refused(service: Running) -> None:
    answer = service.privatize(text="xyzzy", unknown="keep")
    assert answer.status_code == 422
    assert "guarantee" in answer.json()["detail"]


def test_a_retry_gets_the_same_texts_and_is_debited_once(limited: Running) -> None:
    body: dict[str, Any] = {"text": "the cold rain of may", "subject": "retry", "epsilon": 1.5}
    headers = {"Idempotency-Key": "one"}
    first = limited.post("/v1/privatize", body, headers=headers)
    again = limited.post("/v1/privatize", body, headers=headers)
    assert first.status_code == again.status_code == 200
    assert first.json()["texts"] == again.json()["texts"]
    assert first.json()["receipt"]["id"] == again.json()["receipt"]["id"]
    assert again.headers["idempotency-replayed"] == "true"
    assert limited.post("/v1/budget", {"subject": "retry"}).json()["spent"] == "1.5"
    for other in (body | {"text": "snow"}, body | {"repeat": "fresh"}, body | {"dry_run": True}):
        refused = limited.post("/v1/privatize", other, headers=headers)
        assert refused.status_code == 422
        assert refused.json()["type"] == "urn:malaprop:problem:key-reused"


def test_after_its_time_a_retry_gets_the_receipt_alone(
    limited: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = {"text": "the cold rain of may", "subject": "late", "epsilon": 1.5}
    headers = {"Idempotency-Key": "two"}
    first = limited.post("/v1/privatize", body, headers=headers).json()
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 90_000)
    late = limited.post("/v1/privatize", body, headers=headers).json()
    assert late["texts"] is None
    assert late["replayed"] is True
    assert late["receipt"]["id"] == first["receipt"]["id"]


def test_records_are_privatized_by_path(service: Running) -> None:
    records = [
        {"id": 7, "turns": [{"text": "cold rain", "n": 1.5}, {"text": None}], "ok": True},
        {"id": 8, "turns": [{"text": "snow"}], "big": 12345678901234567890},
    ]
    body = service.privatize(records=records, paths=["turns[].text"]).json()
    first, second = body["records"]
    assert body["texts"] is None
    assert first["id"] == 7
    assert first["turns"][0]["n"] == 1.5
    assert first["turns"][1] == {"text": None}
    assert len(first["turns"][0]["text"].split()) == 2
    assert second["big"] == 12345678901234567890


def test_records_may_be_nested_a_hundred_levels_deep(service: Running) -> None:
    for levels in (101, 500, 900):
        answer = service.privatize(records=[{"a": "x", "b": nested(levels)}], paths=["a"])
        assert answer.status_code == 422
        assert answer.json()["errors"][0]["field"] == "records"


@pytest.mark.parametrize(
    ("records", "paths", "field"),
    [
        pytest.param([{"a": "x"}, {"a": 3}], ["a"], "records[1]", id="a number"),
        pytest.param([{"a": "x"}], ["b"], "paths", id="nowhere"),
        pytest.param([], ["a"], "records", id="no records"),
        pytest.param([{"a": "x"}], [], "records", id="no paths"),
        pytest.param([{"a": "x", "b": "\ud800"}], ["a"], "records", id="half a character"),
        pytest.param([{"a": "x", "\ud800": 1}], ["a"], "records", id="half of one in a name"),
        pytest.param([{"a": "x", "b": float("nan")}], ["a"], "records", id="no number"),
        pytest.param([{"a": "x", "b": [[[{}]]] * 2}, 7], ["a"], "records[1]", id="no object"),
    ],
)
def test_bad_records_are_refused(service: Running, records: Any, paths: Any, field: str) -> None:
    answer = service.privatize(records=records, paths=paths, subject="nobody")
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == field
    assert service.post("/v1/budget", {"subject": "nobody"}).json()["spent"] == "0"


def test_records_keep_what_json_can_hold(service: Running) -> None:
    beside = {"nested": nested(90), "\u2028\x00\u0085": ["\u2028", "\x00", 10**300, 1e22, -0.0]}
    headers = {"Idempotency-Key": "odd"}
    body = {"epsilon": 1.5, "records": [{"a": "cold"} | beside], "paths": ["a"]}
    (record,) = service.post("/v1/privatize", body, headers=headers).json()["records"]
    assert record | {"a": "cold"} == {"a": "cold"} | beside


def nested(levels: int) -> Any:
    value: Any = 0
    for _ in range(levels):
        value = [value]
    return value


def test_a_restored_backup_is_refused_and_told_to_the_operator(tmp_path: Path) -> None:
    settings = Settings(folder=str(tmp_path), database=f"sqlite:///{tmp_path}/service.db")
    running = Running(settings)
    with (
        running.client,
        closing(sqlite3.connect(tmp_path / "service.db")) as database,
        closing(sqlite3.connect(tmp_path / "backup.db")) as backup,
    ):
        assert running.privatize(text="rain", subject="Ann").status_code == 200
        database.backup(backup)
        assert running.privatize(text="rain", subject="Ann").status_code == 200
        backup.backup(database)
        assert running.privatize(text="snow", subject="Ann").status_code == 503
        assert running.client.get("/v1/ready").status_code == 503
        failures = [line["reason"] for line in running.log if line["event"] == "failure"]
        assert len(failures) == 2
        assert all("1 entry is missing" in reason for reason in failures)

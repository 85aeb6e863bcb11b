"""Who may call: loopback without keys, everything else with one."""

import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from tests.server.conftest import Keyed, Running

from malaprop.privacy.errors import ParameterError
from malaprop.server import keys as module
from malaprop.server import security
from malaprop.server.models import PrivatizeRequest
from malaprop.server.run import run
from malaprop.server.settings import Settings

TEXT = {"text": "cold", "epsilon": 1.5}


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        pytest.param({}, 200, id="as usual"),
        pytest.param({"Host": "127.0.0.1:8000"}, 200, id="by number"),
        pytest.param({"Host": "[::1]:8000"}, 200, id="by number, version 6"),
        pytest.param({"Origin": "http://localhost:8000"}, 200, id="own page"),
        pytest.param({"Host": "evil.example"}, 403, id="rebinding"),
        pytest.param({"Host": "localhost.evil.example"}, 403, id="looks like loopback"),
        pytest.param({"Host": "127.0.0.1.evil.example"}, 403, id="looks like a number"),
        pytest.param({"Host": "user@localhost@evil.example"}, 403, id="confused"),
        pytest.param({"Host": "user@127.0.0.1"}, 403, id="a user"),
        pytest.param({"Host": "127.0.0.1/evil.example"}, 403, id="a path"),
        pytest.param({"Host": ""}, 403, id="no host"),
        pytest.param({"Host": "192.168.1.2"}, 403, id="another address"),
        pytest.param({"Origin": "https://evil.example"}, 403, id="foreign page"),
        pytest.param({"Origin": "http://localhost:9000"}, 403, id="another port"),
        pytest.param({"Origin": "null"}, 403, id="no origin"),
        pytest.param({"Sec-Fetch-Site": "cross-site"}, 403, id="cross-site"),
        pytest.param({"Sec-Fetch-Site": "same-site"}, 403, id="same-site"),
        pytest.param({"Sec-Fetch-Site": "same-origin"}, 200, id="same-origin"),
        pytest.param({"X-Forwarded-For": "1.2.3.4"}, 403, id="forwarded"),
        pytest.param({"Authorization": "Bearer x"}, 401, id="a wrong key"),
        pytest.param({"Authorization": "Basic eDp4"}, 401, id="another scheme"),
        pytest.param({"Content-Type": "text/plain"}, 415, id="a form"),
        pytest.param({"Content-Type": "application/x-www-form-urlencoded"}, 415, id="another"),
    ],
)
def test_without_keys_only_this_machine_may_call(
    service: Running, headers: dict[str, str], status: int
) -> None:
    answer = service.post("/v1/privatize", TEXT, headers=headers)
    assert answer.status_code == status
    if status != 200:
        assert answer.headers["content-type"] == "application/problem+json"


def test_no_other_origin_is_ever_allowed(service: Running) -> None:
    headers = {"Origin": "http://localhost:8000", "Access-Control-Request-Method": "POST"}
    answers = [
        service.client.options("/v1/privatize", headers=headers),
        service.client.get("/v1/health", headers={"Origin": "http://localhost:8000"}),
    ]
    for answer in answers:
        assert not [name for name in answer.headers if name.startswith("access-control")]


def test_every_answer_has_security_headers(service: Running) -> None:
    for path in ("/v1/health", "/v1/nothing", "/v1/privatize"):
        headers = service.client.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["content-security-policy"].startswith("default-src 'none'")
        assert headers["cache-control"] == "no-store"
        assert "server" not in headers


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.2", "example.org"])  # noqa: S104
def test_another_address_needs_a_key_to_start(host: str, tmp_path: Any) -> None:
    settings = Settings(host=host, folder=str(tmp_path), database=f"sqlite:///{tmp_path}/a.db")
    assert settings.needs_keys
    with pytest.raises(ParameterError, match="needs a key"):
        run(settings)


def test_a_key_is_needed(keyed: Keyed) -> None:
    refused = keyed.post("/v1/privatize", TEXT)
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"] == "Bearer"
    assert keyed.client.get("/v1/health").status_code == 200
    assert keyed.client.get("/v1/mechanisms").status_code == 401
    assert keyed.client.get("/metrics").status_code == 401
    assert keyed.post("/v1/privatize", TEXT, headers=keyed.key()).status_code == 200


def test_with_a_key_any_host_will_do(keyed: Keyed) -> None:
    headers = keyed.key() | {"Host": "privacy.example", "X-Forwarded-For": "1.2.3.4"}
    assert keyed.post("/v1/privatize", TEXT, headers=headers).status_code == 200


def test_a_key_does_what_its_scopes_say(keyed: Keyed) -> None:
    headers = keyed.key(scopes=["read"])
    assert keyed.post("/v1/guarantee", {"epsilon": 1}, headers=headers).status_code == 200
    for path, body in (
        ("/v1/privatize", TEXT),
        ("/v1/budget", {}),
        ("/v1/files", {"epsilon": 1, "format": "txt"}),
    ):
        assert keyed.post(path, body, headers=headers).status_code == 403
    assert keyed.client.get("/metrics", headers=headers).status_code == 403


def test_a_key_limits_mechanisms_and_epsilon(keyed: Keyed) -> None:
    headers = keyed.key(mechanisms=["balanced"], max_epsilon=1.5)
    status = {
        (name, epsilon): keyed.post(
            "/v1/privatize", TEXT | {"mechanism": name, "epsilon": epsilon}, headers=headers
        ).status_code
        for name in ("balanced", "tem")
        for epsilon in (1.5, 1.6)
    }
    assert status[("balanced", 1.5)] == 200
    assert {status[key] for key in status if key != ("balanced", 1.5)} == {403}
    body = TEXT | {"kind_epsilon": 9.0}
    assert keyed.post("/v1/privatize", body, headers=headers).status_code == 403
    listed = keyed.client.get("/v1/mechanisms", headers=headers).json()["mechanisms"]
    assert [each["name"] for each in listed] == ["balanced"]


def test_a_key_has_a_rate(keyed: Keyed, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace(monotonic=lambda: 7.0, perf_counter=time.perf_counter)
    monkeypatch.setattr(security, "time", clock)
    headers = keyed.key(per_minute=6)
    answers = [keyed.client.get("/v1/lexicons", headers=headers) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 429, 429]
    assert answers[-1].headers["retry-after"] == "10"
    clock.monotonic = lambda: 17.1
    assert keyed.client.get("/v1/lexicons", headers=headers).status_code == 200


def test_a_revoked_key_is_refused_soon(keyed: Keyed, monkeypatch: pytest.MonkeyPatch) -> None:
    record, key = keyed.store.create("to revoke")
    headers = {"Authorization": f"Bearer {key}"}
    assert keyed.client.get("/v1/lexicons", headers=headers).status_code == 200
    keyed.store.revoke(record.id)
    monkeypatch.setattr(module, "_LOOKED_UP", 0.0)
    assert keyed.client.get("/v1/lexicons", headers=headers).status_code == 401


def test_a_key_expires(keyed: Keyed) -> None:
    record, key = keyed.store.create("short", days=1e-9)
    assert not record.is_valid(datetime.now(UTC))
    headers = {"Authorization": f"Bearer {key}"}
    assert keyed.client.get("/v1/lexicons", headers=headers).status_code == 401
    lasting, _ = keyed.store.create("long", days=2)
    assert lasting.is_valid(datetime.now(UTC) + timedelta(days=1.9))
    assert not lasting.is_valid(datetime.now(UTC) + timedelta(days=2.1))


def test_keys_are_kept_as_hashes(keyed: Keyed, tmp_path_factory: Any) -> None:
    record, key = keyed.store.create("secret")
    secret = key.rpartition(f"{record.id}_")[2]
    path = keyed.settings.database_url.removeprefix("sqlite:///")
    for suffix in ("", "-wal"):
        with open(path + suffix, "rb") as file:
            assert secret.encode() not in file.read()
    assert secret not in repr(keyed.store.list())


NO_KEY = (
    "Send your key in the header  Authorization: Bearer KEY",
    "The key is not known, has expired, or was revoked.",
)


@given(st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=80))
def test_no_made_up_key_is_taken(keyed: Keyed, text: str) -> None:
    headers = {"Authorization": f"Bearer {text}"}
    answer = keyed.client.get("/v1/lexicons", headers=headers)
    assert answer.status_code == 401
    assert answer.json()["detail"] in NO_KEY


@given(st.data())
def test_no_changed_key_is_taken(keyed: Keyed, data: st.DataObject) -> None:
    key = _sample(keyed)
    place = data.draw(st.integers(0, len(key) - 1))
    sign = data.draw(st.sampled_from("abcXYZ019_-"))
    changed = key[:place] + sign + key[place + 1 :]
    headers = {"Authorization": f"Bearer {changed}"}
    status = keyed.client.get("/v1/lexicons", headers=headers).status_code
    assert status == (200 if changed == key else 401)


_SAMPLES: dict[int, str] = {}


def _sample(keyed: Keyed) -> str:
    if id(keyed) not in _SAMPLES:
        _SAMPLES[id(keyed)] = keyed.store.create("sample")[1]
    return _SAMPLES[id(keyed)]


def test_a_key_has_256_random_bits(keyed: Keyed) -> None:
    made = {keyed.store.create("many")[1] for _ in range(3)}
    assert len(made) == 3
    assert all(re.fullmatch(r"mlp_[0-9a-f]{12}_[\w-]{43}", key, re.ASCII) for key in made)


def test_bodies_have_a_limit(keyed: Keyed) -> None:
    headers = keyed.key()
    large = {"text": "x" * 100_001, "epsilon": 1.5}
    assert keyed.post("/v1/privatize", large, headers=headers).status_code == 413
    many = {"texts": ["a"] * 51, "epsilon": 1.5}
    answer = keyed.post("/v1/privatize", many, headers=headers)
    assert answer.status_code == 413
    assert "50" in answer.json()["detail"]


def test_a_body_that_does_not_say_its_size_has_the_same_limit(keyed: Keyed) -> None:
    headers = keyed.key() | {"Content-Type": "application/json"}

    def chunks() -> Iterator[bytes]:
        for _ in range(30):
            yield b" " * 10_000

    answer = keyed.client.post("/v1/privatize", content=chunks(), headers=headers)
    assert answer.status_code == 413


NUMBERS = {str(n): 0 for n in range(100_000)}


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({"texts": [0] * 100_000}, id="texts"),
        pytest.param({"records": [0] * 100_000, "paths": ["a"]}, id="records"),
        pytest.param({"text": "a", "entities": [[0] * 100_000]}, id="entities"),
        pytest.param({"text": "a", "keep": [0] * 100_000}, id="keep"),
        pytest.param({"text": "a", "steps": NUMBERS}, id="steps"),
        pytest.param({"text": "a", "entity_labels": NUMBERS}, id="labels"),
        pytest.param({"text": "a"} | NUMBERS, id="unknown fields"),
    ],
)
def test_of_many_errors_the_first_are_found(body: dict[str, Any]) -> None:
    """A body of 8 MiB may be wrong in millions of places, and each error takes a kilobyte."""
    with pytest.raises(ValidationError) as wrong:
        PrivatizeRequest.model_validate(body | {"epsilon": 1.5})
    assert wrong.value.error_count() < 5

"""Every endpoint does what OpenAPI says of it, whatever it is sent."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from tests.server.test_process import Process

OPERATIONS = [
    "GET /v1/metrics",
    "GET /v1/files",
    "GET /v1/files/{id}",
    "GET /v1/files/{id}/report",
    "GET /v1/files/{id}/result",
    "GET /v1/health",
    "GET /v1/lexicons",
    "GET /v1/mechanisms",
    "GET /v1/ready",
    "DELETE /v1/files/{id}",
    "POST /v1/budget",
    "POST /v1/calibrate",
    "POST /v1/explain",
    "POST /v1/files",
    "POST /v1/guarantee",
    "POST /v1/page/draw",
    "POST /v1/page/neighbourhood",
    "POST /v1/privatize",
    "PUT /v1/files/{id}/content",
]
SLOW = "POST /v1/calibrate"  # takes seconds if it is asked for something sensible


@pytest.fixture(scope="module")
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    running = Process(tmp_path_factory.mktemp("openapi"))
    yield running
    running.end()


@pytest.fixture(scope="module")
def api(process: Process) -> Any:
    return schemathesis.openapi.from_url(f"{process.url}/openapi.json")


def test_all_operations_are_tried(api: Any) -> None:
    found = [result.ok() for result in api.get_all_operations()]
    assert sorted(f"{each.method.upper()} {each.path}" for each in found) == sorted(OPERATIONS)


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_endpoint_keeps_to_its_description(
    api: Any, operation: str, mode: GenerationMode
) -> None:
    method, path = operation.split()
    described = api[path][method]
    if mode is GenerationMode.NEGATIVE and method != "POST":
        pytest.skip("it takes nothing that could be wrong")
    sensible = operation == SLOW and mode is GenerationMode.POSITIVE

    @given(case=described.as_strategy(generation_mode=mode))
    @settings(
        max_examples=3 if sensible else 30,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
        derandomize=True,
        database=None,
    )
    def keeps_to_it(case: Any) -> None:
        # A body may fit its schema and be wrong: what fields ask of each other is said in words.
        wrong = schemathesis.checks.CHECKS.get_by_names(["positive_data_acceptance"])
        case.call_and_validate(timeout=600, excluded_checks=wrong)

    keeps_to_it()


def test_the_description_names_what_the_service_has(process: Process) -> None:
    described = httpx.get(f"{process.url}/openapi.json").json()
    mechanism = described["components"]["schemas"]["PrivatizeRequest"]["properties"]["mechanism"]
    assert mechanism["enum"] == ["balanced", "laplace", "priv-emb", "tem"]

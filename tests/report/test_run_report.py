"""The report of a run: one frozen value, three renderings."""

import json
from dataclasses import FrozenInstanceError
from datetime import UTC, datetime

import pytest
from tests.cli.conftest import VECTORS

from malaprop import TEM, Lexicon, Privatizer
from malaprop.pipeline.report import Occasion, run_report
from malaprop.report.markdown import as_markdown
from malaprop.report.terminal import readable
from malaprop.report.written import as_json


def test_a_report_is_a_value(privatizer: Privatizer) -> None:
    occasion = Occasion(started=datetime(2030, 1, 2, tzinfo=UTC), seconds=1.0, command="malaprop")
    report = run_report(privatizer, [], {"protected": 1}, occasion)
    assert report == run_report(privatizer, [], {"protected": 1}, occasion)
    with pytest.raises(FrozenInstanceError):
        report.hint = "x"  # type: ignore[misc]
    assert report.to_dict()["date"] == "2030-01-02T00:00:00+00:00"
    # Three renderings of one value.
    assert json.loads(as_json(report)) == report.to_dict()
    assert "1 word" in readable(report)
    assert "1 word" in as_markdown(report)


@pytest.fixture
def privatizer() -> Privatizer:
    return Privatizer(Lexicon(list(VECTORS), list(VECTORS.values())), TEM(epsilon=1.0))

"""The measured tables of docs/howto/smoothing.md are those of the stored results."""

import json
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from malaprop.smoother import SETTINGS

ROOT = Path(__file__).resolve().parents[1]
STORE = ROOT / "benchmarks" / "smoothing.json"


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    if not STORE.exists():
        pytest.skip("without the benchmarks' results")
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return import_module("smoothing_tables")


def test_the_page_has_what_was_measured(tables: ModuleType) -> None:
    page = (ROOT / "docs" / "howto" / "smoothing.md").read_text("utf-8")
    results = json.loads(STORE.read_text("utf-8"))
    assert tables.entered(page, results) == page
    scores = results["classifiers mr 1.5"] | {"faithful": [0.123]}
    assert "→ 0.123 |" in tables.entered(page, results | {"classifiers mr 1.5": scores})


def test_what_was_measured_are_the_constants_of_this_version(tables: ModuleType) -> None:
    results = json.loads(STORE.read_text("utf-8"))
    for setting in SETTINGS.values():
        assert tables.constants(setting) in results


def test_readable_words_are_nearer_to_the_original_ones(tables: ModuleType) -> None:
    results = json.loads(STORE.read_text("utf-8"))
    raw, own = (results[f"words 1.35 {name}"] for name in ("drawn", "faithful"))
    assert tables.mean(own, "cosine") > 0.1 + tables.mean(raw, "cosine")
    assert tables.perplexity(own) < 2.2 < tables.perplexity(raw)
    for epsilon in tables.EPSILONS:
        figures = results[f"words {epsilon} faithful"]
        assert all(figures[kind]["content"][0] >= 0.0 for kind in tables.KINDS)
        assert tables.pooled(figures, "unknown")[0] >= -0.03

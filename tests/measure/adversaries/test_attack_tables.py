"""The measured tables of docs/explanation/attacks.md are those of the stored results."""

import json
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[3]
STORE = ROOT / "benchmarks" / "attacks.json"


@pytest.fixture(scope="module")
def tables() -> ModuleType:
    if not STORE.exists():
        pytest.skip("without the benchmarks' results")
    spec = spec_from_file_location("attack_tables", ROOT / "benchmarks" / "attack_tables.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_has_what_was_measured(tables: ModuleType) -> None:
    page = (ROOT / "docs" / "explanation" / "attacks.md").read_text("utf-8")
    results = json.loads(STORE.read_text("utf-8"))
    assert tables.entered(page, results) == page
    key = "sentences balanced 1.5 context web"
    other = results | {key: results[key] | {"score": 0.123}}
    assert "| 0.123 (" in tables.entered(page, other)


def test_every_mechanism_was_measured_by_every_attack_on_labels(tables: ModuleType) -> None:
    results = json.loads(STORE.read_text("utf-8"))
    for table in list(tables.tables(results))[5:7]:
        rows = list(table)[2:]
        assert len(rows) == 2 * (len(tables.LABEL_CHANNELS) + 3)
        assert not any("|  |" in row for row in rows)


def _shares(key: str, figure: str = "score") -> str:
    results = json.loads(STORE.read_text("utf-8"))
    return f"{results[f'sentences balanced {key}'][figure]:.0%}".replace("%", " %")


def test_the_readme_has_what_was_measured_with_context() -> None:
    lines = (ROOT / "README.md").read_text("utf-8").splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("| ε |"))
    rows = lines[start + 2 : start + 6]
    assert len(rows) == 4
    for row in rows:
        epsilon, *cells = (cell.strip() for cell in row.strip("|").split("|"))
        kept = _shares(f"{epsilon} context web", "kept")
        models = [_shares(f"{epsilon} context {model}") for model in ("web", "IMDB")]
        assert cells == [kept, *models]


def test_the_readme_has_what_a_neural_model_recovered(tables: ModuleType) -> None:
    results = json.loads(STORE.read_text("utf-8"))
    shares = [
        f"{results[f'read balanced 1.5 {kind}']['score']:.0%}".replace("%", " %")
        for kind in ("language-model", "context")
    ]
    readme = " ".join((ROOT / "README.md").read_text("utf-8").split())
    assert "recovers {} at ε = 1.5 where bigrams of the web recover {}".format(*shares) in readme
    rows = list(tables.neural_table(results))[2:]
    assert len(rows) == len(tables.NEURAL)

"""The measured tables of docs/attacks.md are those of the stored results."""

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
    page = (ROOT / "docs" / "attacks.md").read_text("utf-8")
    results = json.loads(STORE.read_text("utf-8"))
    assert tables.entered(page, results) == page
    key = "sentences balanced 1.5 context web"
    other = results | {key: results[key] | {"score": 0.123}}
    assert "| 0.123 |" in tables.entered(page, other)


def test_every_mechanism_was_measured_by_every_attack_on_labels(tables: ModuleType) -> None:
    results = json.loads(STORE.read_text("utf-8"))
    for table in list(tables.tables(results))[5:8]:
        rows = list(table)[2:]
        assert len(rows) == 2 * (len(tables.LABEL_CHANNELS) + 3)
        assert not any("|  |" in row for row in rows)


def _shares(key: str, figure: str = "score") -> str:
    results = json.loads(STORE.read_text("utf-8"))
    return f"{results[f'sentences balanced {key}'][figure]:.0%}".replace("%", " %")


def test_the_readme_compares_attacks_with_the_same_knowledge(tables: ModuleType) -> None:
    """Each pair of columns, word by word and with context, is of one model, which it names."""
    lines = (ROOT / "README.md").read_text("utf-8").splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("| ε |"))
    heads = [cell.strip() for cell in lines[start].strip("|").split("|")]
    for place, known in ((2, "frequencies on the web"), (4, "frequencies in other reviews")):
        assert heads[place] == f"guessed right word by word, from word {known}"
        source = known.removeprefix("frequencies ").removeprefix("on ").removeprefix("in ")
        bigrams = "public bigrams" if source == "the web" else f"bigrams of {source}"
        assert heads[place + 1] == f"with context, from {bigrams}"
    for row in lines[start + 2 : start + 6]:
        epsilon, *cells = (cell.strip() for cell in row.strip("|").split("|"))
        attacks = [f"{name} {model}" for model in ("web", "IMDB") for name in ("bayes", "context")]
        kept = _shares(f"{epsilon} context web", "kept")
        assert cells == [kept, *(_shares(f"{epsilon} {each}") for each in attacks)]

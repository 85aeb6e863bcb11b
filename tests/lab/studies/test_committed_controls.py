"""The controls that the studies promise stand in the committed lines."""

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from malaprop.lab import studies
from malaprop.lab.studies.study import NOISE, SPLITS, Line, read

DOCS = Path(__file__).parents[3] / "docs"
PATHS = {name: DOCS / "studies" / f"{name}.jsonl" for name in studies.names()}
PATHS["frontier"] = DOCS / "frontier.jsonl"
UTILITY = {
    *("score", "accuracy", "accuracy_private", "train_accuracy", "auc", "correct", "attribution"),
    *("precision", "recall", "balanced_accuracy", "pearson", "spearman", "sts", "overlap"),
    *("similarity", "word_similarity", "distance_error", "product_error", "neighbours"),
}
BESIDE = {"kept", "share_in_clear"}
OVER = {NOISE, SPLITS, f"{NOISE} and {SPLITS}", "words", "walks"}
ADDED = {"tem": {"spread", "attacker"}}
"""What a cell adds to the setting of some of its figures."""
SCORED = [
    ("nadp", "fig2"),
    ("mahalanobis", "fig6"),
    ("mahalanobis", "fig7"),
    ("tem", "fig1a"),
    ("privemb", "fig3"),
    ("privemb", "table1"),
    ("privemb", "fig4"),
    ("privemb", "fig7"),
    ("hyperbolic", "table3"),
    ("hyperbolic", "table6"),
    ("frontier", "frontier"),
]


def lines_of(study: str) -> list[Line]:
    return list(read(PATHS[study].read_text("utf-8")))


def cells_of(lines: list[Line]) -> Iterator[tuple[str, dict[str, Any], set[str]]]:
    """Yield each item and setting with what was measured there."""
    measured = defaultdict(set)
    for line in lines:
        if line.ours is not None:
            added = ADDED.get(line.study, {"spread"})
            own = {k: v for k, v in line.setting.items() if k not in added}
            measured[line.item, json.dumps(own)].add(line.measure)
    for (item, setting), measures in measured.items():
        yield item, json.loads(setting), measures


@pytest.mark.parametrize("study", PATHS)
def test_both_shares_stand_beside_every_figure_of_utility(study: str) -> None:
    useful = [cell for cell in cells_of(lines_of(study)) if cell[2] & UTILITY]
    assert useful
    assert [cell for cell in useful if not cell[2] >= BESIDE] == []


@pytest.mark.parametrize(("study", "item"), SCORED)
def test_floors_stand_beside_every_score(study: str, item: str) -> None:
    lines = [line for line in lines_of(study) if line.item == item]
    names = {str(line.setting.get(key)) for line in lines for key in ("mechanism", "control")}
    assert names >= {"no noise", "random table", "random words"}
    assert "majority" in names | {line.measure for line in lines}


@pytest.mark.parametrize("study", PATHS)
def test_an_error_says_what_it_is_over(study: str) -> None:
    lines = [line for line in lines_of(study) if line.error is not None]
    assert lines
    assert {line.setting.get("spread") for line in lines} <= OVER


@pytest.mark.parametrize("study", PATHS)
def test_an_error_is_over_noise_only_where_there_is_some(study: str) -> None:
    spreads = {
        line.setting["spread"]
        for line in lines_of(study)
        if line.error is not None
        and any(
            str(line.setting.get(name)).startswith("no noise") for name in ("mechanism", "control")
        )
    }
    assert spreads <= {SPLITS}


@pytest.mark.parametrize(
    ("study", "item", "measure"),
    [
        ("nadp", "fig2", "score"),
        ("mahalanobis", "fig6", "accuracy"),
        ("mahalanobis", "fig7", "accuracy"),
        ("hyperbolic", "table3", "accuracy"),
        ("frontier", "frontier", "accuracy"),
        ("frontier", "frontier", "attribution"),
    ],
)
def test_noise_and_splits_have_an_error_each(study: str, item: str, measure: str) -> None:
    lines = [line for line in lines_of(study) if (line.item, line.measure) == (item, measure)]
    assert {line.setting["spread"] for line in lines if line.error is not None} >= {NOISE, SPLITS}


def test_each_attack_of_tem_has_a_static_and_an_adaptive_attacker() -> None:
    attackers = defaultdict(set)
    for line in lines_of("tem"):
        if line.measure == "auc":
            own = {k: v for k, v in line.setting.items() if k != "attacker"}
            attackers[line.item, json.dumps(own)].add(line.setting["attacker"])
    punctuated = [json.loads(own) for _, own in attackers if "punctuation kept" in own]
    assert {own.get("mechanism") for own in punctuated} == {"tem", "laplace", None}
    assert any(own["control"].startswith("equal share kept") for own in punctuated)
    assert [own for own, names in attackers.items() if not names >= {"static", "adaptive"}] == []


def test_authors_are_attacked_in_every_form() -> None:
    forms = {
        (line.setting["data"], *(line.setting[k] for k in ("protocol", "attacker", "punctuation")))
        for line in lines_of("hyperbolic")
        if line.item == "table3" and line.ours is not None and "epsilon" in line.setting
    }
    assert len(forms) == 16

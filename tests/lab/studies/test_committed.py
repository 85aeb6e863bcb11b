"""The committed lines have every table and figure, controls and floors; pages are made of them."""

import gzip
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from malaprop.lab import studies
from malaprop.lab.studies import study_page as study_page_module
from malaprop.lab.studies.frontier import frontier_page
from malaprop.lab.studies.study import NOISE, SPLITS, Line, read_results
from malaprop.lab.studies.study_page import study_page
from malaprop.report.page import page_files

DOCS = Path(__file__).parents[3] / "docs"
PATHS = {name: DOCS / "studies" / f"{name}.jsonl.gz" for name in studies.names()}
PATHS["frontier"] = DOCS / "studies" / "frontier.jsonl.gz"
CONSTRAINTS = DOCS.parent / "constraints.txt"
MOST_WORDS = 1500
"""Of a page that one reads in five minutes."""
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
    return list(read_results(PATHS[study]))


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


KEYS = {"study", "item", "setting", "measure", "ours", "error", "freedom", "paper", "claims"}
ROWS: list[Any] = [
    (
        *("nadp", "fig2", "score"),
        {
            "task": {"word similarity", "text similarity", "classification", "odd man out"},
            "mechanism": {"nadp", "mahalanobis", "gaussian", "jaccard", "laplacian"},
            "epsilon": {1, 5, 10, 20, 40},
            "noise": {"one table", "each occurrence"},
            "control": {"equal share kept", "equal Euclidean ε"},
        },
    ),
    ("nadp", "fig3", "skewness", {"tau": {0.1, 0.2, 0.3, 0.5}, "published": {True, False}}),
    ("nadp", "fig4", "share_of_words", {"sigma": {0.05, 0.1, 0.3, 0.6, 1.0}}),
    ("nadp", "table1", "neighbours", {"word": {"police", "hitler", "fbi"}}),
    ("nadp", "clear", "in_clear", {"tau": {0.1, 0.2, 0.3, 0.5}}),
    *(
        (
            *("mahalanobis", item, measure),
            {"lambda": {0, 0.25, 0.5, 0.75, 1}, "epsilon": {1, 5, 10, 20, 40}},
        )
        for item, measure in (
            *(("table3", "kept"), ("table4", "distinct"), ("fig4", "kept_p95")),
            *(("fig4", "kept_max"), ("fig5", "distinct_p95"), ("table3", "euclidean_epsilon")),
        )
    ),
    ("mahalanobis", "table5", "records", {"data": {"disaster-tweets", "sms-spam"}}),
    *(
        (
            *("mahalanobis", item, "accuracy"),
            {
                "lambda": {0, 0.25, 0.5, 0.75, 1},
                "noise": {"one table", "each occurrence"},
                "control": {"equal share kept", "equal Euclidean ε"},
            },
        )
        for item in ("fig6", "fig7")
    ),
    ("mahalanobis", "grid", "similarity", {"lambda": {0, 0.25, 0.5, 0.75, 1}}),
    (
        *("tem", "fig1a", "accuracy_ci95"),
        {"mechanism": {"tem", "laplace"}, "epsilon": {1, 2, 4, 10}, "noise": {"table"}},
    ),
    (
        *("tem", "fig1b", "auc"),
        {"mechanism": {"tem", "laplace"}, "attacker": {"static", "adaptive", "loss alone"}},
    ),
    ("tem", "theorem3", "tail_max", {"beta": {0.001, 0.01, 0.1}, "epsilon": {1, 2, 4, 6}}),
    ("tem", "exponent", "accuracy", {"exponent": {"half", "audited"}}),
    *(
        (
            *("privemb", item, measure),
            {
                "epsilon": {1, 2, 5},
                "beta": {0.5, 0.6, 0.7},
                "published": {True, False},
                "control": {"equal share kept", "random table", "random words"},
            },
        )
        for item, kind in (
            *(("fig1", "distance"), ("fig2", "product")),
            *(("fig5", "distance"), ("fig6", "product")),
        )
        for measure in (f"{kind}_error", f"{kind}_error_max", f"{kind}_spearman")
    ),
    *(
        ("privemb", item, "accuracy", {"beta": {0.5, 0.7, 0.9}, "control": {"equal share kept"}})
        for item in ("fig3", "fig7")
    ),
    (
        *("privemb", "table1", "accuracy"),
        {"task": {"mr", "cr", "mpqa", "sst5", "trec"}, "noise": {"table", "each place"}},
    ),
    ("privemb", "fig4", "accuracy", {"dimension": {50, 100, 200}, "mechanism": {"a1"}}),
    ("privemb", "lemma4", "epsilon_factor", {"among": {"words", "all vectors"}}),
    ("hyperbolic", "table1", "replacements", {"word": {"ohio", "techno", "lastfm"}}),
    ("hyperbolic", "fig3", "mass", {"dimension": {1, 10, 100}}),
    ("hyperbolic", "fig3", "density", {"epsilon": {0.5, 1, 2, 8}, "x": {-0.5, 0.0, 0.5}}),
    ("hyperbolic", "fig4", "radius", {"word": {"animal", "dog", "city", "london"}}),
    *(
        ("hyperbolic", "fig5", measure, {"published": {True, False}, "epsilon": {0.125, 0.5, 8}})
        for measure in ("N_w", "N_w_max", "N_w_p95", "S_w", "K_w")
    ),
    (
        *("hyperbolic", "table3", "correct"),
        {
            "epsilon": {0.5, 1, 2, 8},
            "attacker": {"static", "adaptive"},
            "protocol": {"stop words kept", "all words"},
            "published": {True, False},
            "control": {"equal share kept", "a table noised once"},
        },
    ),
    (
        *("hyperbolic", "table4", "expected"),
        {"space": {"hyperbolic", "Euclidean, 50 dimensions", "Euclidean, 300 dimensions"}},
    ),
    (
        *("hyperbolic", "table6", "kept"),
        {
            "data": {"mr", "cr", "mpqa", "sst5", "trec", "sick", "mrpc", "sts14"},
            "published": {True, False},
            "control": {"all words", "equal share kept", "equal Euclidean ε"},
        },
    ),
]


@pytest.mark.parametrize(("study", "item", "measure", "axes"), ROWS)
def test_a_row_has_figures_on_all_its_axes(
    study: str, item: str, measure: str, axes: dict[str, set[Any]]
) -> None:
    lines = [
        line
        for line in lines_of(study)
        if (line.item, line.measure) == (item, measure) and line.ours is not None
    ]
    for axis, values in axes.items():
        assert {line.setting.get(axis) for line in lines} >= values


@pytest.mark.parametrize("study", PATHS)
def test_lines_have_the_keys_of_the_contract(study: str) -> None:
    rows = [json.loads(row) for row in gzip.decompress(PATHS[study].read_bytes()).splitlines()]
    assert {row.keys() >= KEYS for row in rows} == {True}
    assert {row["study"] for row in rows} == {study}
    assert not any(row["quick"] for row in rows)
    told = [(row, each) for row in rows for each in row["claims"]]
    assert {each["holds"] for _, each in told} <= {True, False, None}
    lacking = [row for row in rows if row["ours"] is None]
    assert all(row["command"] for row in lacking)
    assert all(row["error"] is None for row in lacking)
    assert all(each["holds"] is None for row, each in told if row["ours"] is None)
    assert all(row["freedom"] for row in rows if row["error"] is not None)


@pytest.mark.parametrize("study", PATHS)
def test_each_figure_is_one_line(study: str) -> None:
    keys = [line.key for line in lines_of(study)]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("study", PATHS)
def test_verdicts_are_those_that_are_reached_today(study: str) -> None:
    lines = lines_of(study)
    remedy = f"run  malaprop reproduce {study} --from FILE --json FILE --force"
    assert studies.judged_again(lines) == lines, remedy


@pytest.mark.parametrize("study", studies.names())
def test_only_what_the_paper_ran_and_says_is_its_claim(study: str) -> None:
    for line in lines_of(study):
        for each in line.claims:
            if each.whose == "paper":
                assert "control" not in line.setting
                assert line.setting.get("published") is not False
                assert "within" not in each.claim
                assert line.setting.get("attacker") in (None, "static")
                assert line.setting.get("noise") != "each place" or study != "privemb"
                assert "50 dimensions" not in str(line.setting.get("space"))
                assert line.setting.get("lexicon") not in ("glove-6b-50d", "glove-6b-100d")
                assert line.setting.get("among") != "all vectors"


@pytest.mark.parametrize("study", studies.names())
def test_every_item_of_a_study_has_lines(study: str) -> None:
    items = {item.name for item in studies.study_named(study).items}
    assert {line.item for line in lines_of(study)} == items


@pytest.mark.parametrize("study", studies.names())
def test_a_page_and_its_plots_are_made_from_the_lines_beside_it(study: str) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    path = DOCS / "studies" / f"{study}.md"
    made = page_files(study_page(lines_of(study)), path)
    remedy = f"run  malaprop reproduce {study} --from {study}.jsonl.gz --report {path.name}"
    committed = {each for each in path.parent.glob(f"{study}*") if each.suffix in (".md", ".svg")}
    assert committed == set(made), remedy
    assert made[path].decode() == path.read_text("utf-8"), remedy
    tested = f"matplotlib=={matplotlib.__version__}\n" in CONSTRAINTS.read_text("utf-8")
    if tested:  # another version of matplotlib draws other paths
        assert [each.name for each in committed if each.read_bytes() != made[each]] == [], remedy


def test_the_frontier_is_made_from_the_lines_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(study_page_module, "drawn", lambda paint: "<svg/>")
    path = DOCS / "studies" / "frontier.md"
    files = page_files(frontier_page.frontier_page(lines_of("frontier")), path)
    assert files[path].decode() == path.read_text("utf-8"), (
        "run  malaprop bench frontier --from frontier.jsonl.gz --report frontier.md"
    )


@pytest.mark.parametrize("study", studies.names())
def test_a_page_is_read_in_five_minutes(study: str) -> None:
    page = (DOCS / "studies" / f"{study}.md").read_text("utf-8").split()
    assert len([word for word in page if re.search("[^\\W\\d_]", word)]) <= MOST_WORDS


def test_the_docs_are_small() -> None:
    assert sum(path.stat().st_size for path in DOCS.rglob("*") if path.is_file()) < 3 << 20


def test_results_are_small() -> None:
    assert sum(path.stat().st_size for path in PATHS.values()) < 1 << 20


@pytest.mark.parametrize("study", studies.names())
def test_what_a_study_could_not_confirm_has_an_entry(study: str) -> None:
    lines = lines_of(study)
    assert any(each.holds is False for line in lines for each in line.claims)
    page = (DOCS / "studies" / "what-we-could-not-confirm.md").read_text("utf-8")
    assert f"[The page]({study}.md)" in page

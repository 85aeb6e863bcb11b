"""The frontier: its cells in a tiny setting, curves, comparisons and its page."""

import json
import math
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from tests.lab.studies.planted_sets import planted
from tests.lab.tiny_minilm import tiny_minilm

from malaprop import TEM, Lexicon, ParameterError, seeded_rng
from malaprop.cli.main import run
from malaprop.lab import studies
from malaprop.lab.datasets import LabelledTexts
from malaprop.lab.studies.figures import FLOORS, MAJORITY
from malaprop.lab.studies.frontier import frontier
from malaprop.lab.studies.frontier.curves import (
    Point,
    at_levels,
    curves,
    floors,
    is_better,
    verdicts,
)
from malaprop.lab.studies.frontier.frontier_page import TEXTS, frontier_page
from malaprop.lab.studies.frontier.own import epsilons_at, placed
from malaprop.lab.studies.reproduction import Cells, Run
from malaprop.lab.studies.study import Line, written
from malaprop.measure.adversaries.public_model import train_model
from malaprop.mechanisms import registry
from malaprop.privacy.estimate import Estimate
from malaprop.report import page as pages

(ITEM,) = studies.study_named("frontier").items
FLOOR_NAMES = (*FLOORS, MAJORITY)
MR = (
    *("kept", "success_alone", "success_context", "similarity", "similarity_smoothed"),
    *("kept_content", "success_alone_content", "success_context_content"),
    *("sentences", "sentences_smoothed"),
)


def epsilons(quick: bool) -> dict[str, list[float]]:
    """Return the ε of each mechanism in the grid."""
    found: dict[str, list[float]] = {}
    for setting in ITEM.settings(quick=quick):
        if "epsilon" in setting:
            found.setdefault(setting["mechanism"], []).append(setting["epsilon"])
    return found


@pytest.fixture
def tiny_run(tiny: Lexicon, tmp_path: Path) -> Run:
    sets: dict[str, Any] = dict(planted(tiny.words))
    texts = sets["mr"].texts
    authors = tuple(f"a{i % 8}" for i in range(80))
    sets["sotu"] = LabelledTexts(name="sotu", texts=texts, labels=authors)
    public = [" ".join(text.split()[::-1]) for text in texts]
    sets["bigrams"] = train_model(public, tiny)
    sets["minilm"] = tiny_minilm(tmp_path, tiny.words)
    return Run(quick=True, lexicons={"english": tiny}, sets=sets)


@pytest.mark.parametrize("name", ["balanced", "tem", "laplace", *FLOOR_NAMES])
def test_a_mechanism_is_measured(name: str, tiny_run: Run) -> None:
    setting: dict[str, Any] = {"mechanism": name}
    if name not in FLOOR_NAMES:
        setting["epsilon"] = 2.0
    figures = {one.measure: one.value for one in frontier(tiny_run, setting, seeded_rng(1))}
    assert set(figures) <= set(ITEM.measures)
    if name not in FLOOR_NAMES:
        for side in ("", "_content"):
            assert figures[f"success_context{side}"] >= figures[f"kept{side}"]  # type: ignore[operator]
        assert figures["sts_smoothed"] is not None
        assert str(figures["guarantee"]).startswith("metric-dp")
        assert ("euclidean_epsilon" in figures) == (name != "balanced")
        assert figures["kept_of_lexicon_max"] >= figures["kept_of_lexicon_p95"]  # type: ignore[operator]
    else:
        assert figures["accuracy"] is not None
        assert ("attribution_adaptive" in figures) == (name != "majority")
        assert figures["kept"] == {"no noise": 1.0, "majority": 0.0}.get(name, 1.0 / 60.0)
    assert figures["share_in_clear"] == float(name == "no noise")


def test_errors_are_over_noise_draws_and_over_splits(tiny_run: Run) -> None:
    setting = {"mechanism": "laplace", "epsilon": 2.0, "spread": "noise draws"}
    figures = [one for one in frontier(tiny_run, setting, seeded_rng(1)) if one.error is not None]
    spreads = {(one.measure, one.setting.get("spread", "noise draws")) for one in figures}
    for measure in ("accuracy", "attribution", "attribution_adaptive_no_marks"):
        assert {(measure, "noise draws"), (measure, "splits")} <= spreads
    for measure in ("success_alone", "success_context", "similarity", "sts", "word_similarity"):
        assert (measure, "noise draws") in spreads
        assert (measure, "splits") not in spreads


def test_every_mechanism_is_measured_or_left_out_with_a_reason() -> None:
    measured, left_out = epsilons(quick=False).keys(), TEXTS["left_out"]
    assert measured | left_out.keys() == set(registry)
    assert not measured & left_out.keys()
    assert all(left_out.values())


def test_the_grid_has_all_mechanisms_and_floors_in_both_kinds_of_run() -> None:
    assert epsilons(quick=True).keys() == epsilons(quick=False).keys()
    for quick in (True, False):
        settings = ITEM.settings(quick=quick)
        assert {one["mechanism"] for one in settings if "control" in one} == set(FLOOR_NAMES)


def test_it_is_run_by_its_own_command() -> None:
    assert "frontier" not in studies.names()
    assert studies.study_named("frontier").name == "frontier"


@pytest.mark.parametrize("name", ["laplace", *FLOOR_NAMES])
@pytest.mark.parametrize("gone", ["mr", "men", "minilm", "stsb", "sotu"])
def test_without_one_data_set_the_other_figures_are_there(
    name: str, gone: str, tiny_run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MALAPROP_HOME", str(tmp_path))
    sets = {key: value for key, value in tiny_run.sets.items() if key != gone}
    setting: dict[str, Any] = {"mechanism": name}
    if name == "laplace":
        setting["epsilon"] = 2.0
    whole = {one.measure for one in frontier(tiny_run, setting, seeded_rng(1))}
    figures = list(frontier(replace(tiny_run, sets=sets), setting, seeded_rng(1)))
    assert {one.measure for one in figures} == whole
    lacking = {one.measure for one in figures if one.value is None}
    assert {one.missing for one in figures if one.value is None} <= {gone}
    assert lacking == {
        "mr": {*MR, "accuracy"},
        "men": {"word_similarity"},
        "minilm": {"sentences", "sentences_smoothed"},
        "stsb": {"sts", "sts_smoothed"},
        "sotu": {measure for measure in whole if measure.startswith("attribution")},
    }[gone] & (whole if name == "laplace" else whole - {"kept"})


def test_the_error_of_kept_words_is_over_words() -> None:
    setting = {"mechanism": "laplace", "spread": "noise draws"}
    assert ITEM.spread_of(setting, "kept_of_lexicon") == "words"
    assert ITEM.spread_of(setting, "accuracy") == "noise draws"


def page_files(lines: list[Line], path: Path) -> dict[Path, str]:
    files = pages.page_files(frontier_page(lines), path)
    return {name: content.decode() for name, content in files.items()}


def readable(lines: list[Line]) -> str:
    """Return what a terminal shows, in one line."""
    return " ".join(pages.render(frontier_page(lines, brief=True)).split())


def verdicts_on(lines: list[Line]) -> dict[tuple[str, str, float], bool | None]:
    """Return the verdicts on all mechanisms that are not recommended."""
    by_measure = verdicts(at_levels(curves(lines)))
    return {
        (measure, one.mechanism, one.level): one.better
        for measure, by_level in by_measure.items()
        for level in by_level
        for one in level
        if one.mechanism != "balanced"
    }


def lines_of(mechanism: str, epsilon: float, **figures: float | str) -> list[Line]:
    return [
        Line(
            study="frontier",
            item="frontier",
            setting={"mechanism": mechanism, "epsilon": epsilon},
            measure=measure,
            ours=value,
            error=0.01,
            freedom=4,
            versions={"malaprop": "0"},
        )
        for measure, value in figures.items()
    ]


LINES = [
    Line(
        study="frontier",
        item="frontier",
        setting={"mechanism": "no noise"},
        measure="accuracy",
        ours=0.8,
    ),
    *lines_of("balanced", 1.0, success_alone=0.1, success_context=0.2, similarity=0.3, kept=0.1),
    *lines_of("balanced", 4.0, success_alone=0.5, success_context=0.6, similarity=0.7, kept=0.5),
    *lines_of("tem", 2.0, success_alone=0.2, success_context=0.1, similarity=0.1, kept=0.2),
    *lines_of("tem", 3.0, success_alone=0.4, success_context=0.3, similarity=0.3, kept=0.4),
    *lines_of("laplace", 9.0, success_context=0.25, similarity=0.5, guarantee="metric-dp"),
    *lines_of("laplace", 20.0, success_context=0.45, similarity=0.9, guarantee="metric-dp"),
]


def test_curves_are_read_at_an_equal_success() -> None:
    balanced, tem, _ = curves(LINES)
    middle = balanced.at(0.4)
    assert middle is not None
    assert middle.epsilon == pytest.approx(2.0)  # ε is interpolated by its logarithm
    assert middle.figures["similarity"].value == pytest.approx(0.5)
    assert [point.success.value for point in tem.points] == [0.2, 0.4]  # the better attack
    assert tem.at(0.5) is None
    assert floors(LINES)["no noise"]["accuracy"].value == 0.8


def test_who_is_better_is_told_either_way() -> None:
    judged = verdicts_on(LINES)
    assert judged["similarity", "laplace", 0.3] is True
    assert judged["similarity", "tem", 0.3] is False
    assert ("similarity", "laplace", 0.5) not in judged
    shown = readable(LINES)
    assert "similarity 3 2 0 laplace at 30%, 40%" in shown
    assert "tem at" not in shown


def test_figures_without_errors_decide_nothing() -> None:
    plain = [replace(line, error=None) for line in LINES]
    assert set(verdicts_on(plain).values()) == {None}


def test_a_quick_run_reaches_no_verdict_and_recommends_nothing(tmp_path: Path) -> None:
    quick = [replace(line, quick=True) for line in LINES]
    assert set(verdicts_on(quick).values()) == {None}
    (page,) = (each for each in page_files(quick, tmp_path / "p.md").values() if "#" in each[:1])
    for shown in (readable(quick), page):
        assert "another, smaller experiment" in shown
        assert "unless your task is one" not in shown
    assert "Take balanced, unless your task is one" in readable(LINES)


@pytest.mark.parametrize("repeats", [2, 3, 5])
def test_equal_mechanisms_are_rarely_told_apart(repeats: int) -> None:
    count, rng, told = 20_000, seeded_rng(4), 0
    for values in rng.normal(size=(count, 2, repeats)):
        own, other = (
            Estimate.of_errors(
                float(each.mean()), (float(each.std(ddof=1)) / math.sqrt(repeats), repeats - 1)
            )
            for each in values
        )
        points = (Point(epsilon=1.0, success=own, figures={"sts": each}) for each in (own, other))
        told += is_better("sts", *points) is not None
    assert 0.01 * count < told <= 0.05 * count + 4.8 * (0.05 * 0.95 * count) ** 0.5


def test_draws_that_happen_to_agree_do_not_decide() -> None:
    own = lines_of("balanced", 1.0, success_alone=0.2, accuracy=0.5)
    own += lines_of("balanced", 4.0, success_alone=0.6, accuracy=0.5)
    other = lines_of("tem", 1.0, success_alone=0.2, accuracy=0.55)
    other += lines_of("tem", 4.0, success_alone=0.6, accuracy=0.55)
    errors = [0.0, 0.0, 0.1, 0.1]  # the first mechanism's draws agree
    accuracy = iter(errors)
    lines = [
        replace(line, error=next(accuracy)) if line.measure == "accuracy" else line
        for line in [*other, *own]
    ]
    pooled = [point.figures["accuracy"].errors[0][0] for point in curves(lines)[0].points]
    assert pooled == pytest.approx([math.sqrt(0.005)] * 2)
    assert set(verdicts_on(lines).values()) == {None}


def test_errors_over_splits_count_in_comparisons() -> None:
    wide = [
        replace(line, setting={**line.setting, "spread": "splits"}, error=1.0)
        for line in LINES
        if line.measure == "similarity"
    ]
    (balanced, *_) = curves([*LINES, *wide])
    point = balanced.at(0.4)
    assert point is not None
    (draws, _), (splits, _) = point.figures["similarity"].errors
    assert splits == pytest.approx(1.0)
    assert draws == pytest.approx(0.01)
    assert set(verdicts_on([*LINES, *wide]).values()) == {None}


def test_who_wins_where_the_recommended_one_loses_is_named() -> None:
    lines = [line for line in LINES if line.setting["mechanism"] != "tem"]
    lines += lines_of("balanced", 1.0, loss_of_nearest=1.0)
    lines += lines_of("balanced", 4.0, loss_of_nearest=4.0)
    assert "If similarity is what you need" not in readable(lines)  # laplace bounds nothing here
    lines += lines_of("laplace", 9.0, loss_of_nearest=45.0)
    lines += lines_of("laplace", 20.0, loss_of_nearest=100.0)
    shown = readable(lines)
    assert "Take balanced," in shown
    assert "need, take laplace: it has the best figure at 30%, 40%" in shown
    assert "59 to 86 nats" in shown  # where it is the best
    assert "try ε = 2, where 40% are recovered" in shown


def test_the_plot_is_against_epsilon_and_against_success() -> None:
    pytest.importorskip("matplotlib")
    (svg,) = (
        piece.draw()
        for section in frontier_page(LINES).sections
        for piece in section.pieces
        if isinstance(piece, pages.Plot)
    )
    for label in ("ε, each in its own unit", "share of words recovered", "no noise", "balanced"):
        assert label in svg


def test_pages_are_made_from_lines(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    page, picture = page_files(LINES, tmp_path / "frontier.md").items()
    assert "frontier.svg" in page[1]
    assert "| 40% | balanced | 2 | 30% | 40% |" in page[1]  # both attacks
    assert "| 40% | 2.00 | 30% | 40% | 30% | 0.50 |" in page[1]  # which ε to take
    assert "| balanced | 4 |  | 50% | 60% | 50% | 0.70 ± 0.01 |" in page[1]  # as it was measured
    assert "| similarity | 40% | laplace | 0.80 ± 0.02 |  | 0.50 ± 0.01 | yes |" in page[1]
    assert "`jaccard` is left out" in page[1]
    assert "Not measured at 50% recovered: `tem`, `laplace`." in page[1]
    assert picture[1].startswith("<svg")
    (html,) = page_files(LINES, tmp_path / "frontier.html").values()
    assert "<svg" in html
    assert "laplace at 30%, 40%" in html
    assert "Take <code>balanced</code>" in html


def test_the_command_reads_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "lines.jsonl"
    source.write_text(written(LINES))
    assert run(["bench", "frontier", "--from", str(source), "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[0])["study"] == "frontier"
    assert run(["bench", "frontier", "--from", str(source), "--quick", "-m", "tem"]) == 2
    assert "leave out --quick, or --from" in " ".join(capsys.readouterr().err.split())
    source.write_text("")
    assert run(["bench", "frontier", "--from", str(source)]) != 0
    assert "no results of the frontier" in capsys.readouterr().err


def test_smoothed_texts_are_shown_at_an_equal_share_of_content_words_first(tmp_path: Path) -> None:
    read = {"similarity_smoothed": 0.6, "sentences": 0.4, "sentences_smoothed": 0.5}
    lines = [*LINES]
    for epsilon, of_content in ((1.0, 0.3), (4.0, 0.5)):
        shares = {f"success_{name}_content": of_content for name in ("alone", "context")}
        lines += lines_of("balanced", epsilon, **read, **shares)
    (page,) = (each for each in page_files(lines, tmp_path / "p.md").values() if "#" in each[:1])
    section = page[page.index("## Readable text") : page.index("## Where")]
    content, words = section.split("all words recovered |")
    assert re.search(
        r"\| 40% \| balanced \| 2 \| 0.50 ± 0.0. \| 0.60 ± .* \| 0.50 ± 0.01 \|", content
    )
    assert "| 40% | balanced | 2 |" in words
    assert "context restores function words" in words
    assert "Readable text" not in page_files(LINES, tmp_path / "q.md").popitem()[1]


def test_without_data_nothing_is_recommended(tmp_path: Path) -> None:
    bare = [
        replace(line, ours=None, error=None, command="malaprop data fetch men") for line in LINES
    ]
    (page,) = (each for each in page_files(bare, tmp_path / "page.md").values() if "#" in each[:1])
    for shown in (readable(bare), page.replace("`", "")):
        assert "run malaprop data fetch men" in shown
        assert "Take balanced" not in shown


def test_without_one_data_set_the_rest_is_shown_and_what_is_left_out_is_named(
    tmp_path: Path,
) -> None:
    absent = [
        replace(line, measure="attribution_adaptive", ours=None, command="malaprop data fetch sotu")
        for line in LINES
    ]
    some = [*LINES, *absent]
    (page,) = (each for each in page_files(some, tmp_path / "page.md").values() if "#" in each[:1])
    for shown in (readable(some), page.replace("`", "")):
        assert "run malaprop data fetch sotu. Left out: attribution adaptive." in shown
        assert "Take balanced" in shown


@dataclass(frozen=True, kw_only=True)
class Mine(TEM):
    """A mechanism of one's own: TEM by another name."""


def test_ones_own_mechanism_is_placed_beside_the_others(tiny_run: Run, tmp_path: Path) -> None:
    lines = placed(Mine(epsilon=1.0, exponent="half"), tiny_run, cells=Cells(tmp_path))
    title = "Mine, exponent=half"
    found = {line.setting["epsilon"] for line in lines}
    assert {line.setting["mechanism"] for line in lines} == {title}
    assert len(found) >= 2
    (curve,) = curves(lines)
    assert curve.at(0.4) is not None
    again = placed(Mine(epsilon=1.0, exponent="half"), tiny_run, cells=Cells(tmp_path))
    assert written(again) == written(lines)


def test_its_epsilons_are_where_attacks_recover_the_levels() -> None:
    found = epsilons_at(lambda epsilon: epsilon**2 / (100.0 + epsilon**2), (0.2, 0.5, 0.7), "it")
    assert found == pytest.approx([5.0, 10.0, 15.3], rel=0.02)
    with pytest.raises(ParameterError, match=r"it cannot be placed: .* attacks recover 60% to 60%"):
        epsilons_at(lambda epsilon: 0.6, (0.2, 0.7), "it")

"""Claims and their verdicts, the papers' figures, and the seeds of all cells."""

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.random import Generator

from malaprop import seeded_rng
from malaprop.lab import studies
from malaprop.lab.studies.figures import jointly, mean_of
from malaprop.lab.studies.reproduction import Cells, Run, run_study
from malaprop.lab.studies.study import (
    Claim,
    Line,
    Measurement,
    Paper,
    Results,
    Setting,
    compare,
    every,
    judged,
    paper_of,
)


def line(ours: float | None, error: float | None = 0.1, **setting: object) -> Line:
    figure = Line(study="s", item="i", setting=setting, measure="m", ours=ours, error=error)
    return replace(figure, freedom=None if error is None else 1000)


def repeated(values: np.ndarray) -> Line:
    """Return a line with the mean of some repeats."""
    figure = mean_of("m", values)
    return replace(line(0.0), ours=figure.value, error=figure.error, freedom=figure.freedom)


def told(how: str, one: Line, other: Line, margin: float = 0.0) -> bool | None:
    return compare(how, one.estimate, other.estimate, margin)


@pytest.mark.parametrize("repeats", [2, 3, 5])
def test_equal_means_rarely_count_as_different(repeats: int) -> None:
    """Of equal means, no more than 5 % are told apart: 2 standard errors would tell 8 to 18 %."""
    count, rng = 20_000, seeded_rng(1)
    pairs = rng.normal(size=(count, 2, repeats))
    lines = [(repeated(one), repeated(other)) for one, other in pairs]
    decided = sum(told("below", one, other) is not None for one, other in lines)
    assert decided <= 0.05 * count + 4.8 * (0.05 * 0.95 * count) ** 0.5  # once in a million
    assert decided > 0.01 * count  # and it decides at all
    two_errors = sum(
        abs(a.ours - b.ours) > 2.0 * np.hypot(a.error, b.error)  # type: ignore[operator,arg-type]
        for a, b in lines
    )
    assert two_errors > {2: 0.16, 3: 0.10, 5: 0.07}[repeats] * count


def test_equal_means_over_draws_and_splits_rarely_count_as_different() -> None:
    count, rng = 4000, seeded_rng(2)

    def figure() -> Line:
        table = rng.normal(size=(3, 1)) + rng.normal(size=(1, 5))
        own = next(iter(jointly("m", table, shared=0.0)))
        return replace(line(0.0), ours=own.value, error=own.error, freedom=own.freedom)

    decided = sum(told("below", figure(), figure()) is not None for _ in range(count))
    assert decided <= 0.05 * count + 4.8 * (0.05 * 0.95 * count) ** 0.5


def test_a_large_difference_is_told_with_few_repeats() -> None:
    assert told("below", repeated(np.array([1.0, 1.1])), repeated(np.array([9.0, 9.1]))) is True


def test_errors_of_unknown_freedom_decide_nothing() -> None:
    unknown = replace(line(1.0), freedom=None)
    assert told("below", unknown, line(9.0)) is None
    assert told("alike", unknown, line(1.0), 5.0) is None
    assert told("at most", unknown, line(0.5, None)) is None


def test_a_limit_is_tested_on_one_side() -> None:
    limit = line(0.5, None)
    assert (
        told("at most", line(0.482, 0.001), limit, 0.01) is True
    )  # below the limit is never wrong
    assert told("at most", line(0.530, 0.005), limit, 0.01) is False
    assert told("at most", line(0.515, 0.005), limit, 0.01) is None
    assert told("at most", line(None, None), limit) is None


def test_a_quick_run_reaches_no_verdict() -> None:
    claim = Claim(text="it is small", measure="m", holds=lambda li: True)
    (full,), (quick,) = (
        judged([replace(line(1.0), quick=each)], [claim]) for each in (False, True)
    )
    assert [each.holds for each in full.claims] == [True]
    assert [each.holds for each in quick.claims] == [None]


def test_a_figure_with_several_claims_is_one_line() -> None:
    claims = [
        Claim(text=text, measure="m", holds=lambda li: None)
        for text in ("it is small", "it is round")
    ]
    (marked,) = judged([line(1.0)], claims)
    assert [each.claim for each in marked.claims] == ["it is small", "it is round"]


def test_what_we_added_is_never_the_papers_claim() -> None:
    claim = Claim(
        text="it is so",
        measure="m",
        holds=lambda li: True,
        beyond=[{"adaptive": True, "say": "an adaptive attacker"}],
    )
    settings: list[dict[str, object]] = [
        {"epsilon": 1},
        {"control": "95th percentile"},
        {"published": False},
        {"adaptive": True},
    ]
    marked = judged([line(1.0, 0.1, **setting) for setting in settings], [claim])
    assert [(each.claims[0].whose, each.claims[0].claim) for each in marked] == [
        ("paper", "it is so"),
        ("control", "95th percentile: it is so"),
        ("control", "the sound replacement: it is so"),
        ("control", "an adaptive attacker: it is so"),
    ]


def test_verdicts_need_a_clear_difference() -> None:
    assert told("below", line(1.0), line(2.0)) is True
    assert told("below", line(2.0), line(1.0)) is False
    assert told("above", line(2.0), line(1.0)) is True
    assert told("below", line(1.0), line(1.2)) is None
    assert told("below", line(1.0, None), line(1.2, None)) is True


def test_verdicts_need_both_figures() -> None:
    assert told("below", line(None), line(1.0)) is None
    assert told("above", line(1.0), line(None)) is None
    assert told("alike", line(1.0), line(None), 0.5) is None


def test_alike_is_within_a_margin_whatever_the_errors() -> None:
    assert told("alike", line(1.0), line(2.0), margin=1.5) is True
    assert told("alike", line(1.0), line(3.0), margin=1.5) is False
    assert told("alike", line(1.0), line(2.4), margin=1.5) is None  # it may be beyond
    assert told("alike", line(0.3), line(0.0, None), margin=0.5) is True


def test_errors_beyond_the_margin_confirm_nothing() -> None:
    assert told("alike", line(1.0, 0.5), line(1.1, 0.5), margin=0.2) is None
    assert told("alike", line(1.0, 0.01), line(1.1, 0.01), margin=0.2) is True
    assert told("alike", line(1.0, 0.5), line(4.0, 0.5), margin=0.2) is False


def test_every_is_false_before_it_is_undecided() -> None:
    assert every([True, None, False]) is False
    assert every([True, None]) is None
    assert every([True, True]) is True
    assert every([]) is None


def test_results_look_up_lines_that_differ_in_one_value() -> None:
    here, there = line(1.0, tau=0.1, epsilon=1), line(2.0, tau=0.5, epsilon=1)
    far, bare = line(3.0, tau=0.5, epsilon=9), line(4.0, epsilon=1)
    other = replace(here, measure="n")
    results = Results([here, there, far, bare, other])
    assert results.like(here, {"tau": 0.5}) is there
    assert results.like(here, {"tau": 0.7}) is None
    assert results.like(here, {"tau": ""}) is bare
    assert results.like(here, {"measure": "n"}) is other
    assert results.like(here, {"tau": "larger"}) is there
    assert results.like(there, {"tau": "smaller"}) is here
    assert results.like(here, {"tau": "smaller"}) is None


@pytest.mark.parametrize(
    ("about", "settings"),
    [
        ({"tau": 0.5}, [1, 2]),
        ({"tau": [0.1, ""]}, [0, 3]),
        ({"tau": "> 0.1", "epsilon": "<= 5"}, [1]),
        ({"tau": "", "epsilon": ">= 9"}, [3]),
        ({"name": "!= b"}, [0, 1, 3]),
    ],
)
def test_a_claim_says_which_settings_it_is_about(
    about: dict[str, object], settings: list[int]
) -> None:
    lines = [
        line(1.0, tau=0.1, epsilon=1),
        line(1.0, tau=0.5, epsilon=5),
        line(1.0, tau=0.5, epsilon=9, name="b"),
        line(1.0, epsilon=9),
    ]
    claim = Claim(text="it is so", measure=["m", "n"], about=about, holds="== 1")
    marked = judged(lines, [claim])
    assert [place for place, each in enumerate(marked) if each.claims] == settings


@pytest.mark.parametrize(
    ("holds", "than", "expected"),
    [
        ("> 1", (), True),
        ("below", {"tau": 0.5}, True),
        ("above", 1.0, True),
        ("at most", 1.0, False),
        ("alike", 2.1, True),
        ("below", [{"tau": 0.5}, {"tau": 0.9}], None),  # of which one is not clear
        ("below", [{"tau": 0.5}, {"tau": 0.7}], True),  # there is no such line
        ("below", {"tau": 0.7}, None),
    ],
)
def test_a_claim_compares_a_line_with_others(holds: str, than: Any, expected: bool | None) -> None:
    lines = [line(2.0, tau=0.1), line(3.0, tau=0.5), line(2.1, tau=0.9)]
    claim = Claim(
        text="it is so", measure="m", about={"tau": 0.1}, holds=holds, than=than, margin=0.5
    )
    assert judged(lines, [claim])[0].claims[0].holds is expected


TABLE = {
    "measure": "kept",
    "rows": ["lambda", [0.0, 1.0]],
    "columns": ["epsilon", [1, 5]],
    "values": [[1, 2], [3, 4]],
    "errors": [[0.1, 0.2], [0.3, 0.4]],
}
PAPER = Paper(paper="P", items={"table3": {"tables": [TABLE]}})


def test_a_figure_fits_lines_that_have_its_setting() -> None:
    figure = PAPER.figure("table3", "kept", {"lambda": 1.0, "epsilon": 5, "task": "x"})
    assert figure == (4, 0.4)
    assert PAPER.figure("table3", "kept", {"lambda": 1.0}) == (None, None)
    assert PAPER.figure("table3", "distinct", {"lambda": 1.0, "epsilon": 5}) == (None, None)


def test_a_control_has_no_figure_of_the_paper() -> None:
    setting = {"lambda": 1.0, "epsilon": 5, "control": "equal share kept"}
    assert PAPER.figure("table3", "kept", setting) == (None, None)


def test_every_study_describes_every_item() -> None:
    for name in studies.names():
        paper = paper_of(name)
        assert paper.paper
        assert all(one["what"] and one["why"] for one in paper.deviations)
        for item in studies.study_named(name).items:
            entry = paper.items[item.name]
            assert entry["title"]
            measures = {figure["measure"] for figure in paper.figures(item.name)}
            assert measures <= set(item.measures), (name, item.name)
            assert {plot["y"] for plot in entry.get("plots", [])} <= set(item.measures)


PINNED = {
    "nadp": "42ce7549209d759a",
    "mahalanobis": "04ffc2d80687e7db",
    "tem": "b89c30b9d5199393",
    "privemb": "481e6a9a5451a247",
    "hyperbolic": "e3017b8711ac5fe4",
    "frontier": "c638bef5f05b2cd8",
}
"""By study: a digest of the first numbers that its cells draw, in quick and in full runs."""


def test_every_study_is_pinned() -> None:
    assert {*studies.names(), "frontier"} == PINNED.keys()


@pytest.mark.parametrize("name", PINNED)
def test_a_key_stands_for_one_function(name: str) -> None:
    """Two functions with one key would read what the other measured."""
    items = studies.study_named(name).items
    pairs = {(item.key, item.cell) for item in items}
    assert len(pairs) == len({key for key, _ in pairs}) == len({cell for _, cell in pairs})


@pytest.mark.parametrize("name", PINNED)
def test_cells_draw_what_they_drew(name: str, cells: Cells) -> None:
    drawn = set()

    def renamed(run: Run, setting: Setting, rng: Generator) -> Iterator[Measurement]:
        drawn.add(int(rng.integers(1 << 62)))
        yield Measurement("drawn", 1.0)

    study = studies.study_named(name)
    items = tuple(replace(item, cell=renamed, claims=()) for item in study.items)
    for quick in (True, False):
        run_study(replace(study, items=items), Run(quick=quick), cells=cells)
    text = "\n".join(map(str, sorted(drawn)))
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == PINNED[name]

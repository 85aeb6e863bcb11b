"""The papers' figures: which line they belong to."""

from malaprop.lab import studies
from malaprop.lab.studies.study import Paper, paper_of

TABLE = {
    "measure": "kept",
    "rows": ["lambda", [0.0, 1.0]],
    "columns": ["epsilon", [1, 5]],
    "values": [[1, 2], [3, 4]],
    "errors": [[0.1, 0.2], [0.3, 0.4]],
}
PAPER = Paper({"paper": "P", "items": {"table3": {"tables": [TABLE]}}})


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
        assert paper.title
        assert all(one["what"] and one["why"] for one in paper.deviations)
        for item in studies.study_named(name).items:
            entry = paper.item(item.name)
            assert entry["title"]
            measures = {figure["measure"] for figure in paper.figures(item.name)}
            assert measures <= set(item.measures), (name, item.name)
            assert {plot["y"] for plot in entry.get("plots", [])} <= set(item.measures)

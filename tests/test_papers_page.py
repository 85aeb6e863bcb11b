"""docs/papers.md: what the papers state, with modules, commands and tests that exist."""

import importlib.util
import re
import shlex
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import typer

from malaprop.cli.app import app
from malaprop.cli.options import make_mechanism
from malaprop.lab.studies import names, study_named

ROOT = Path(__file__).parents[1]


def load_tool() -> ModuleType:
    found = importlib.util.spec_from_file_location("build_papers", ROOT / "tools/build_papers.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


tool = load_tool()
ROWS = [
    pytest.param(row, id=f"{paper} {row.what}")
    for paper, rows in tool.rows().items()
    for row in rows
]
COMMANDS: Any = typer.main.get_command(app)
NUMBERED = {
    "nadp": ("Algorithm 1 2 3", "Theorem 1 2 3 4", "Definition 1", "Corollary 1", "Remark 1",
             "Figure 1 2 3 4", "Table 1"),
    "mahalanobis": ("Algorithm 1 2", "Theorem 1", "Lemma 1 2 3", "Figure 1 2 3 4 5 6 7",
                    "Table 1 2 3 4 5"),
    "tem": ("Algorithm 1 2 3", "Theorem 1 2 3", "Figure 1a 1b"),
    "privemb": ("Algorithm 1", "Claim 6", "Figure 1 2 3 4 5 6 7", "Table 1", "Definition 1 2 3"),
    "hyperbolic": ("Algorithm 1 2", "Figure 1 2 3 4 5", "Table I II III IV V VI"),
}  # fmt: skip


def test_the_page_is_what_the_rows_say() -> None:
    assert tool.PAGE.read_text("utf-8") == tool.page(), "run  python tools/build_papers.py"


@pytest.mark.parametrize("paper", names())
def test_nothing_that_a_paper_numbers_is_missing(paper: str) -> None:
    there = [row.what for row in tool.rows()[paper]]
    for kind, *numbers in map(str.split, NUMBERED[paper]):
        for number in numbers:
            pattern = re.compile(rf"{kind}s?\b.*\b{number}\b")
            assert any(pattern.search(what) for what in there), f"{kind} {number}"
    verdicts = {row.verdict for row in tool.rows()[paper]}
    assert {f"item {item.name}" for item in study_named(paper).items} - verdicts <= {
        "item clear", "item grid", "item exponent", "item exponent_words",
    }  # fmt: skip


@pytest.mark.parametrize("row", ROWS)
def test_what_a_row_names_exists(row: Any) -> None:
    assert row.what
    assert row.says
    assert row.verdict
    if not row.modules:
        assert row.verdict.startswith("left out: ")
        assert (row.command, row.test) == ("", "")
        return
    for module in row.modules.split():
        name, _, attribute = module.partition(":")
        thing = import_module(name)
        assert not attribute or hasattr(thing, attribute)
    path, _, test = row.path.partition("::")
    assert re.search(rf"def {test}\(", (ROOT / path).read_text("utf-8"))
    program, *words = shlex.split(row.command)
    assert program == "malaprop"
    command = COMMANDS
    while hasattr(command, "commands"):
        command = command.commands[words.pop(0)]
    context = command.make_context("x", list(words))  # refuses arguments that it does not know
    if command.name == "reproduce":
        study_named(context.params["study"]).chosen(context.params["item"])
    if name := context.params.get("mechanism"):  # with parameters that it has
        epsilon = str(context.params["epsilon"] or "1")
        make_mechanism(name, epsilon, list(context.params["param"]))

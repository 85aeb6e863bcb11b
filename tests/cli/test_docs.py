"""Every command is explained: by its help, and in docs/cli.md, which is made from the commands."""

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import typer
from tests.cli.conftest import Cli

from malaprop.cli.app import app

TOOL = Path(__file__).parents[2] / "tools" / "build_cli_docs.py"


def load_tool() -> ModuleType:
    found = importlib.util.spec_from_file_location("build_cli_docs", TOOL)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


tool = load_tool()
COMMANDS: dict[str, Any] = dict(tool.commands(typer.main.get_command(app)))
PARAMETERS = [
    pytest.param(param, id=f"{path} {param.name}")
    for path, command in COMMANDS.items()
    for param in command.params
]


def test_the_page_is_what_the_commands_say() -> None:
    assert tool.PAGE.read_text(encoding="utf-8") == tool.page(), "run  make docs"


def test_the_page_does_not_depend_on_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    page = tool.page()
    monkeypatch.setenv("COLUMNS", "40")
    assert tool.page() == page


def test_all_commands_are_known() -> None:
    assert set(COMMANDS) == {
        "malaprop",
        "malaprop privatize",
        "malaprop smooth",
        "malaprop explain",
        "malaprop evaluate",
        "malaprop audit",
        "malaprop attack",
        "malaprop bench",
        "malaprop bench frontier",
        "malaprop lm",
        "malaprop lm train",
        "malaprop data",
        "malaprop data list",
        "malaprop data fetch",
        "malaprop data add",
        "malaprop stats",
        "malaprop calibrate",
        "malaprop release",
        "malaprop embed",
        "malaprop mechanisms",
        "malaprop lexicon",
        "malaprop lexicon list",
        "malaprop lexicon info",
        "malaprop reproduce",
        "malaprop lexicon graph",
        "malaprop lexicon import",
        "malaprop lexicon extend",
        "malaprop lexicon subset",
        "malaprop lexicon neighbours",
        "malaprop lexicon audit",
        "malaprop lexicon train-poincare",
    }


@pytest.mark.parametrize("param", PARAMETERS)
def test_every_argument_and_option_is_explained(param: Any) -> None:
    assert len(param.help) > 5
    assert param.help.endswith(".")
    assert getattr(param, "is_flag", False) or param.metavar


@pytest.mark.parametrize("path", COMMANDS)
def test_help_is_complete_and_fits_a_terminal(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    ended = cli(*path.split()[1:], "--help")
    assert ended.code == 0
    assert ended.err == ""
    assert max(map(len, ended.text.splitlines())) <= 80
    flat = " ".join(ended.text.split())
    command = COMMANDS[path]
    assert " ".join(command.help.split()) in flat
    for param in command.params:
        assert " ".join(param.help.split()) in flat
        if param.default not in (None, False) and param.param_type_name == "option":
            assert f"default: {param.default}" in flat
    assert f"## `{path}`" in tool.page()

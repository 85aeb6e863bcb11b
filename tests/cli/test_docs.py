"""Every command is explained: by its help, and in docs/reference/cli.md, made from the commands."""

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import typer
from tests.cli.conftest import Cli

from malaprop.cli.app import app

ROOT = Path(__file__).parents[2]
TOOL = ROOT / "tools" / "build_cli_docs.py"


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
        "malaprop serve",
        "malaprop keys",
        "malaprop keys create",
        "malaprop keys list",
        "malaprop keys revoke",
        "malaprop embed",
        "malaprop mechanisms",
        "malaprop ledger",
        "malaprop ledger show",
        "malaprop ledger limits",
        "malaprop ledger allow",
        "malaprop ledger verify",
        "malaprop ledger export",
        "malaprop lexicon",
        "malaprop lexicon list",
        "malaprop lexicon info",
        "malaprop mcp",
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


def shown_commands() -> Iterator[tuple[str, str]]:
    """Yield the commands of all pages that users read: those in blocks and in backticks."""
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    for page in pages:
        text = page.read_text("utf-8").replace("\\\n", " ")
        blocks = re.findall(r"^```\w*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
        lines = [line for block in blocks for line in block.splitlines()]
        spans = re.findall(r"`(malaprop [^`]+)`", text)
        for command in [*lines, *spans]:
            if found := re.search(r"(?:^|\| |\$ )(malaprop [a-z][^|>#&;]*)", command):
                yield page.name, " ".join(found[1].split())


def unknown(command: str) -> list[str]:
    """Return the options of a command line that the command does not have."""
    words = command.split()
    path = next(path for n in (3, 2, 1) if (path := " ".join(words[:n])) in COMMANDS)
    known = {flag for param in COMMANDS[path].params for flag in [*param.opts, "--help"]}
    flags = [word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)]
    return [flag for flag in flags if flag not in known] + ([path] if path == "malaprop" else [])


def test_every_command_on_a_page_exists_with_its_options() -> None:
    shown = set(shown_commands())
    assert len(shown) > 100
    assert not [(page, command) for page, command in sorted(shown) if unknown(command)]
    assert unknown("malaprop privatize a.txt --frobnicate -e 1") == ["--frobnicate"]

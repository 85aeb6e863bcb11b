"""Arguments that need no validation do without pydantic, and come out as typer makes them."""

from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any, Literal

import pytest
import typer
from tests.cli.conftest import running
from typer.core import TyperCommand

from malaprop.cli.options import App


def _command(
    texts: list[str],
    text: str = "",
    choice: Literal["one", "two"] = "one",
    number: int | None = None,
    path: Path | None = None,
    several: Annotated[list[str] | None, typer.Option()] = None,
) -> None:
    """Take arguments of all types that the commands have."""


def _converted(app: typer.Typer, *arguments: str) -> dict[str, Any]:
    app.command()(_command)
    command = typer.main.get_command(app)
    return command.make_context("test", list(arguments)).params


@pytest.mark.parametrize(
    "arguments",
    [
        ["a"],
        ["caf\udce9", "--text", "\udce9"],
        ["a", "b", "--text", "ε", "--choice", "two"],
        ["a", "--number", "12", "--path", "x/y", "--several", "u", "--several", ""],
    ],
)
def test_arguments_are_converted_as_typer_does(arguments: list[str]) -> None:
    ours = _converted(App(), *arguments)
    theirs = _converted(typer.Typer(), *arguments)
    assert ours == theirs
    assert [type(value) for value in ours.values()] == [type(value) for value in theirs.values()]


@pytest.mark.parametrize("arguments", [["a", "--choice", "three"], ["a", "--number", "x"], []])
def test_wrong_arguments_are_refused_as_typer_does(arguments: list[str]) -> None:
    said = []
    for app in (App(), typer.Typer()):
        with pytest.raises(typer.TyperException) as error:
            _converted(app, *arguments)
        said.append(error.value.format_message())
    assert said[0] == said[1]


def test_parameters_that_work_in_another_way_are_left_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = SimpleNamespace()
    monkeypatch.setattr(TyperCommand, "get_params", lambda self, ctx: [other])
    app = App()
    app.command()(_command)
    assert typer.main.get_command(app).get_params(SimpleNamespace()) == [other]  # type: ignore[arg-type]
    assert vars(other) == {}


def test_a_command_with_text_for_arguments_loads_no_pydantic(tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("The doctor was late.\n", encoding="utf-8")
    check = "import atexit, sys; atexit.register(lambda: print('pydantic' in sys.modules))"
    arguments = ("privatize", str(notes), "-o", str(tmp_path / "out.txt"), "-e", "1.5")
    with running(*arguments, before=check) as process:
        out, _ = process.communicate()
    assert out.decode().split() == ["False"]

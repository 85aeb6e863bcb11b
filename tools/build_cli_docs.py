"""Write docs/cli.md from the commands themselves.

    python tools/build_cli_docs.py

What it writes depends on the commands alone: not on the terminal, nor on how help is laid out.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

from malaprop.cli.main import app

PAGE = Path(__file__).resolve().parent.parent / "docs" / "cli.md"
HEAD = """\
# The command line

<!-- Made by tools/build_cli_docs.py from the commands themselves: change those, then run it. -->

Every command explains itself with `--help`. A command ends with exit code 0, with 2 for wrong
usage, with 1 for any other failure, and with 128 + n after signal n; a failure says why in one line
on stderr, which never contains the user's text.
"""


def commands(command: Any, path: str = "malaprop") -> Iterator[tuple[str, Any]]:
    """Every command with its full name, groups before what they contain."""
    yield path, command
    if isinstance(command, TyperGroup):
        for name, inner in command.commands.items():
            yield from commands(inner, f"{path} {name}")


def page() -> str:
    """The page as Markdown."""
    return "\n".join([HEAD, *(_section(*pair) for pair in commands(typer.main.get_command(app)))])


def _section(path: str, command: Any) -> str:
    parts = [f"## `{path}`", f"```\n{_usage(path, command)}\n```", _paragraphs(command.help)]
    if isinstance(command, TyperGroup):
        inner: dict[str, Any] = dict(command.commands)
        rows = [
            (f"`{path} {name}`", _paragraphs(inner[name].help).split("\n")[0]) for name in inner
        ]
        parts.append(_table(("command", "what it does"), rows))
    if arguments := _params(command, "argument"):
        rows = [(f"`{_value(param)}`", param.help) for param in arguments]
        parts.append(_table(("argument", "what it is"), rows))
    if options := _params(command, "option"):
        headings = ("option", "value", "default", "what it does")
        parts.append(_table(headings, [_option(param) for param in options]))
    return "\n\n".join(parts) + "\n"


def _params(command: Any, kind: str) -> list[Any]:
    return [param for param in command.params if param.param_type_name == kind]


def _usage(path: str, command: Any) -> str:
    if isinstance(command, TyperGroup):
        return f"{path} COMMAND ..."
    arguments = [
        _value(param) + ("" if param.nargs == 1 else "...")
        for param in _params(command, "argument")
    ]
    options = _params(command, "option")
    needed = [f"{param.opts[0]} {_value(param)}" for param in options if param.required]
    others = ["[OPTIONS]"] if len(options) > len(needed) else []
    return " ".join([path, *arguments, *needed, *others])


def _option(param: Any) -> tuple[str, ...]:
    names = ", ".join(f"`{name}`" for name in param.opts)
    if param.is_flag:
        return names, "", "", param.help
    default = (
        "required" if param.required else "" if param.default is None else f"`{param.default}`"
    )
    return names, f"`{_value(param)}`", default, param.help


def _value(param: Any) -> str:
    return str(param.metavar or param.name.upper())


def _paragraphs(text: str) -> str:
    """A docstring's paragraphs, each on one line."""
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))


def _table(headings: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    cells = [headings, tuple("---" for _ in headings), *rows]
    escaped = ([" ".join(cell.split()).replace("|", "\\|") for cell in row] for row in cells)
    return "\n".join(f"| {' | '.join(row)} |" for row in escaped)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

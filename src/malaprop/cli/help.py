"""The help of commands: arguments by their names, without Python's types."""

from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from malaprop.cli.plain import convert_late


class Group(TyperGroup):
    """A group whose arguments are taken as they are, where they are text."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, the option for help included."""
        return convert_late(super().get_params(ctx))


class Command(TyperCommand):
    """A command whose usage line shows everything that is required."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, the option for help included."""
        return convert_late(super().get_params(ctx))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Put arguments first, then the required options."""
        arguments = [param for param in self.params if param.param_type_name == "argument"]
        pieces = [_name(each) if each.required else f"[{_name(each)}]" for each in arguments]
        options = [param for param in self.params if param.param_type_name == "option"]
        required = [f"{param.opts[0]} {_name(param)}" for param in options if param.required]
        others = ["[OPTIONS]"] if len(options) > len(required) else []
        return [*pieces, *required, *others] or ["[OPTIONS]"]  # typer shows no line without any

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments and the options, a row each."""
        for title, kind in (("Arguments", "argument"), ("Options", "option")):
            rows = [_row(p, ctx) for p in self.get_params(ctx) if p.param_type_name == kind]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


class App(typer.Typer):
    """A group of such commands. Its errors never show local variables, which hold texts."""

    def __init__(self, **settings: Any) -> None:
        hidden = {"pretty_exceptions_enable": False, "pretty_exceptions_show_locals": False}
        super().__init__(**{"cls": Group} | settings | hidden)

    def command(self, *args: Any, **settings: Any) -> Callable[[Any], Any]:
        """Add a command, as `typer.Typer.command` does."""
        return super().command(*args, **{"cls": Command} | settings)


def _name(param: Any) -> str:
    return f"{param.metavar}{'' if param.nargs == 1 else '...'}"


def _row(param: Any, ctx: Any) -> tuple[str, str]:
    name, text = param.get_help_record(ctx)
    return (param.metavar if param.param_type_name == "argument" else name), text

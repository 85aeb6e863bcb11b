"""Commands that start without pydantic.

typer has pydantic validate every argument, also those that nobody gave, and loading it takes a
tenth of the time of a short run. Text, one of a few choices, and what was left out need no
validation. All else goes through typer's own.
"""

from collections.abc import Callable
from typing import Any, Literal, get_args, get_origin

import typer
from typer.core import TyperCommand, TyperGroup


class Plain:
    """Converts the values of a parameter; typer's own conversion is made when a value needs it."""

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return what typer would make of a value."""
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        kind = param.type_descriptor
        if kind.parameter_info.parser is None and _is_plain(value, kind.annotation):
            return list(value) if kind.annotation == list[str] else value
        param._runtime_param = None
        return param.get_runtime_param().coerce(value, param=param, ctx=ctx)


def _is_plain(value: Any, annotation: Any) -> bool:
    if annotation is str:
        return isinstance(value, str)
    if annotation == list[str]:
        return isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)
    return get_origin(annotation) is Literal and value in get_args(annotation)


class _Late:
    """A command or a group; versions of typer that convert in another way are left alone."""

    def get_params(self, ctx: Any) -> list[Any]:
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for param in params:
            if getattr(param, "_runtime_param", param) is None:
                param._runtime_param = Plain()
        return params


class _Group(_Late, TyperGroup): ...


class _Command(_Late, TyperCommand): ...


class App(typer.Typer):
    """A group of such commands. Its errors never show local variables, which hold texts."""

    def __init__(self, **settings: Any) -> None:
        hidden = {"pretty_exceptions_enable": False, "pretty_exceptions_show_locals": False}
        super().__init__(**{"cls": _Group} | settings | hidden)

    def command(self, *args: Any, **settings: Any) -> Callable[[Any], Any]:
        """Add a command, as `typer.Typer.command` does."""
        return super().command(*args, **{"cls": _Command} | settings)

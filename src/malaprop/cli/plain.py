"""Take arguments that are text already as they are.

typer has pydantic validate every argument, also those that nobody gave, and loading pydantic takes
a tenth of a second. Text, one of a few choices, and what was left out need no validation. All else
goes through typer's own.
"""

from typing import Any, Literal, get_args, get_origin


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


def convert_late(params: list[Any]) -> list[Any]:
    """Return parameters that load pydantic only if a value needs it.

    Versions of typer that work in another way are left alone.
    """
    for param in params:
        if getattr(param, "_runtime_param", param) is None:
            param._runtime_param = Plain()
    return params


def _is_plain(value: Any, annotation: Any) -> bool:
    if annotation is str:
        return isinstance(value, str)
    if annotation == list[str]:
        return isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)
    return get_origin(annotation) is Literal and value in get_args(annotation)

"""The mechanisms, one file or folder each. A new one needs nothing but its own file here.

The file is called as the mechanism is, with `_` for `-`. It is imported when the mechanism is asked
for by that name; all of them are for the whole registry.
"""

import importlib
import pkgutil
from collections.abc import Mapping
from typing import TYPE_CHECKING

from malaprop.privacy import mechanism as core
from malaprop.privacy.errors import entry

if TYPE_CHECKING:
    registry: Mapping[str, type[core.Mechanism]]

__all__ = ["mechanism_named", "registry"]

_MODULES = frozenset(module.name for module in pkgutil.iter_modules(__path__))


def mechanism_named(name: str) -> type[core.Mechanism]:
    """Return the mechanism of that name; otherwise raise an error that suggests one."""
    module = name.lower().replace("-", "_")
    if module in _MODULES:
        importlib.import_module(f"{__name__}.{module}")
    if name.lower() not in core.registry:
        _import_all()
    return entry("mechanism", name.lower(), core.registry)


def __getattr__(name: str) -> Mapping[str, type[core.Mechanism]]:
    if name != "registry":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    _import_all()
    return core.registry


def _import_all() -> None:
    for module in sorted(_MODULES):
        importlib.import_module(f"{__name__}.{module}")

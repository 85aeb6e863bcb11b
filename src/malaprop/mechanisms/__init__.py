"""The mechanisms, one file or folder each. A new one needs nothing but its own file here."""

import importlib
import pkgutil

from malaprop.core.mechanism import mechanism_named, registry

__all__ = ["mechanism_named", "registry"]

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

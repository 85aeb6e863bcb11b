"""The attacks, one file each. A new one needs nothing but its own file here."""

import importlib
import pkgutil

from malaprop.measure.attacking.base import attacks

__all__ = ["attacks"]

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

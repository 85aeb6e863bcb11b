"""The registry, filled: importing this imports all tasks, one file each."""

import importlib
import pkgutil

from malaprop.measure import tasks
from malaprop.measure.tasking.base import registry

__all__ = ["registry"]

for _module in pkgutil.iter_modules(tasks.__path__):
    importlib.import_module(f"{tasks.__name__}.{_module.name}")

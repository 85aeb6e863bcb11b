"""Mechanisms that do not come with Malaprop: of a file, `my.py:SanText`, or of a package.

A package offers its mechanisms as entry points of the group `malaprop.mechanisms`. Both run code of
their own, so only the command line takes them: no service does, and no file names one.
"""

import importlib
import inspect
import re
import sys
from collections.abc import Mapping
from hashlib import sha256
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from traceback import walk_tb
from types import FrameType
from typing import Any, Final

from malaprop.privacy.errors import (
    MalapropError,
    ParameterError,
    did_you_mean,
    printable,
    type_name,
)
from malaprop.privacy.mechanism import Mechanism

GROUP: Final = "malaprop.mechanisms"
_MODULE = re.compile(r"\w+(\.\w+)*", re.ASCII)


def mechanism_class(name: str) -> type[Mechanism]:
    """Return the mechanism of that name, of a package's entry point, or of a class in a file."""
    from malaprop.mechanisms import mechanism_named, registry

    path, colon, class_name = name.rpartition(":")
    if colon and class_name and path.endswith(".py"):
        return _of_file(Path(path), class_name)
    if (file := name.rstrip(":")).endswith(".py"):
        raise ParameterError(f"Name the class of the mechanism, too: {printable(file)}:CLASS.")
    offered = packaged()
    if name in offered and name not in registry:
        return _of_package(offered[name])
    return mechanism_named(name)


def packaged() -> Mapping[str, EntryPoint]:
    """Return the mechanisms that installed packages offer, by name; none is imported."""
    return {point.name: point for point in entry_points(group=GROUP)}


def _of_file(path: Path, name: str) -> type[Mechanism]:
    """Import a file as a module of its own name, as workers can, too, and return its class."""
    from malaprop.mechanisms import registry

    full = path.expanduser().resolve()
    if not full.is_file():
        raise ParameterError(f"There is no file {printable(str(path))} with a mechanism.")
    len(registry)  # imports the mechanisms that ship: their names are taken
    if str(full.parent) not in sys.path:
        sys.path.append(str(full.parent))  # last, so that it hides no other module
    try:
        module = importlib.import_module(full.stem)
    except (Exception, SystemExit) as error:  # whatever the file does
        raise _failed(f"The file {printable(str(path))}", error, str(full)) from None
    if Path(getattr(module, "__file__", None) or "").resolve() != full:
        raise ParameterError(
            f"The file {printable(str(path))} has the name of another module: give it one of its "
            "own."
        )
    named = {each for each, thing in vars(module).items() if _is_usable(thing, module.__name__)}
    if not hasattr(module, name):
        there = f" It has: {', '.join(sorted(named))}." if named else ""
        raise ParameterError(
            f"The file {printable(str(path))} has no class {name!r}."
            f"{did_you_mean(name, named)}{there}"
        )
    cls = _checked(getattr(module, name), f"{name!r} of {printable(str(path))}")
    cls.name = cls.name or name
    cls.source = sha256(full.read_bytes()).hexdigest()[:16]
    return cls


def _of_package(point: EntryPoint) -> type[Mechanism]:
    package = point.dist.name if point.dist else point.module
    try:
        found = point.load()
    except (Exception, SystemExit) as error:  # whatever the package does
        raise _failed(f"The mechanism {point.name} of the package {package}", error) from None
    cls = _checked(found, f"{point.name!r} of the package {package}")
    cls.name = point.name
    cls.source = f"{package} {point.dist.version}" if point.dist else point.value
    return cls


def _failed(what: str, error: BaseException, file: str = "") -> ParameterError:
    """Return the error of an import that failed: its type, the module it lacks, and the line.

    The message of another's error is not told: the code may have read the user's text.
    """
    if isinstance(error, MalapropError):
        told = str(error).removesuffix(".")
    elif isinstance(error, ModuleNotFoundError) and _MODULE.fullmatch(error.name or ""):
        told = f"there is no module {error.name!r}"
    else:
        told = type_name(error)
    lines = [line for frame, line in walk_tb(error.__traceback__) if _is_of(frame, file)]
    if isinstance(error, SyntaxError) and error.filename == file:
        lines = [error.lineno or 0]
    where = f", line {lines[-1]:,}" if lines else ""
    return ParameterError(f"{what}{where}: it cannot be imported: {told}.")


def _is_of(frame: FrameType, file: str) -> bool:
    return frame.f_code.co_filename == file


def _is_usable(thing: Any, module: str) -> bool:
    return isinstance(thing, type) and issubclass(thing, Mechanism) and thing.__module__ == module


def _checked(thing: Any, what: str) -> type[Mechanism]:
    """Return a class that is a mechanism, and can be made."""
    if not isinstance(thing, type) or not issubclass(thing, Mechanism):
        raise ParameterError(
            f"{what} is no mechanism: derive a class from malaprop.Mechanism, with a method `on`."
        )
    if inspect.isabstract(thing):
        missing = ", ".join(sorted(thing.__abstractmethods__))
        raise ParameterError(f"{what} is not complete: it lacks {missing}.")
    return thing

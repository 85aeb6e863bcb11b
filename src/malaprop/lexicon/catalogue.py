"""Where lexicons are: those in the package, those that were imported, and any path."""

from __future__ import annotations

import os
from pathlib import Path

from malaprop.core.errors import ParameterError
from malaprop.core.suggest import did_you_mean
from malaprop.data import data_folder
from malaprop.lexicon import store

_DATA = data_folder()


def home() -> Path:
    """Return the folder of what belongs to the user: $MALAPROP_HOME, else the system's own."""
    if chosen := os.environ.get("MALAPROP_HOME"):
        return Path(chosen)
    import platformdirs

    return Path(platformdirs.user_data_dir("malaprop", appauthor=False))


def lexicons() -> Path:
    """Return the folder of the imported lexicons; it need not exist."""
    return home() / "lexicons"


def embedded() -> dict[str, Path]:
    """Return the lexicons that come with the package, by name."""
    return _compiled_in(_DATA)


def imported() -> dict[str, Path]:
    """Return the lexicons that the user imported, by name."""
    return _compiled_in(lexicons())


def resolve(name_or_path: str | os.PathLike[str]) -> Path:
    """Find a lexicon: by the name of an embedded or an imported one, else by its path."""
    wanted = os.fspath(name_or_path)
    known = imported() | embedded()
    if wanted in known:
        return known[wanted]
    # os.path answers no where a Path raises: names too long, homes of unknown users.
    path = Path(os.path.expanduser(wanted))
    if os.path.isfile(path) or store.is_compiled(path):
        return path
    if os.path.isdir(path):
        raise ParameterError(
            f"The folder {wanted} is not a compiled lexicon: name one, or a file of vectors"
        )
    hint = did_you_mean(wanted.lower(), known)
    raise ParameterError(
        f"There is no lexicon and no file named {wanted}.{hint} "
        "Run  malaprop lexicon list  to see those there are."
    )


def _compiled_in(folder: Path) -> dict[str, Path]:
    if not folder.is_dir():
        return {}
    # Names that begin with a dot are being written.
    return {
        path.name: path
        for path in sorted(folder.iterdir())
        if not path.name.startswith(".") and store.is_compiled(path)
    }

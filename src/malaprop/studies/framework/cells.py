"""Cells that were measured before, kept in the user's cache folder, a file each."""

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from malaprop.studies.framework.items import Figure


def cache_folder() -> Path:
    """Return the folder of kept cells: in $MALAPROP_HOME, else in the system's cache folder."""
    if chosen := os.environ.get("MALAPROP_HOME"):
        return Path(chosen) / "cache" / "studies"
    import platformdirs

    return Path(platformdirs.user_cache_dir("malaprop", appauthor=False)) / "studies"


@dataclass(frozen=True)
class Cells:
    """Keeps what cells measured, so that a study that was stopped resumes where it was."""

    folder: Path

    def read(self, key: Mapping[str, Any]) -> list[Figure] | None:
        """Return the figures that were kept for a key; None if there are none, or damaged ones."""
        try:
            value = json.loads(self._path(key).read_text("utf-8"))
            if value["key"] != json.loads(_text(key)):
                return None
            figures = value["figures"]
            if not all("freedom" in figure for figure in figures):  # of an older version
                return None
            return [Figure(**figure) for figure in figures]
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def keep(self, key: Mapping[str, Any], figures: Iterable[Figure]) -> None:
        """Keep the figures of a cell."""
        path = self._path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(f".{os.getpid()}.part")
        value = {"key": json.loads(_text(key)), "figures": [_plain(one) for one in figures]}
        part.write_text(json.dumps(value, ensure_ascii=False), "utf-8")
        part.replace(path)

    def _path(self, key: Mapping[str, Any]) -> Path:
        return self.folder / str(key["study"]) / f"{digest(key)[:32]}.json"


def digest(key: Mapping[str, Any]) -> str:
    """Return a hash of a cell's key."""
    return hashlib.sha256(_text(key).encode()).hexdigest()


def _text(key: Mapping[str, Any]) -> str:
    return json.dumps(key, sort_keys=True, ensure_ascii=False, allow_nan=False)


def _plain(figure: Figure) -> dict[str, Any]:
    return {**vars(figure), "setting": dict(figure.setting)}

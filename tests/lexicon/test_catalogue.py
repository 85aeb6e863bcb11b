"""Names and paths of lexicons."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from malaprop.lexicon import store
from malaprop.privacy.errors import ParameterError

pytestmark = pytest.mark.usefixtures("home")


def compile_to(folder: Path) -> Path:
    store.write(folder, [(["a"], np.ones((1, 2), np.float32))], metric="euclidean")
    return folder


def test_home_is_the_systems_unless_chosen(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert store.home() == home
    monkeypatch.delenv("MALAPROP_HOME")
    assert store.home().name == "malaprop"
    assert store.home().is_absolute()


def test_embedded() -> None:
    assert store.resolve("english") == store.embedded()["english"]


def test_imported(home: Path) -> None:
    assert store.imported() == {}
    folder = compile_to(home / "lexicons" / "mine")
    compile_to(home / "lexicons" / ".mine.1234.part")  # an import that goes on, or was killed
    (home / "lexicons" / "other").mkdir()
    assert store.imported() == {"mine": folder}
    assert store.resolve("mine") == folder


def test_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = compile_to(tmp_path / "compiled")
    assert store.resolve(folder) == folder
    assert store.resolve(str(folder)) == folder
    file = tmp_path / "vectors.txt"
    file.touch()
    assert store.resolve(file) == file
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert store.resolve("~/vectors.txt") == file


def test_names_come_before_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "english").touch()
    assert store.resolve("english") == store.embedded()["english"]
    assert store.resolve("./english") == Path("english")


def test_unknown_names_get_a_suggestion(home: Path) -> None:
    compile_to(home / "lexicons" / "medical-terms")
    for wanted, meant in (("englsh", "english"), ("English", "english"), ("medical", "medical")):
        with pytest.raises(ParameterError, match=f"Did you mean '{meant}.*malaprop lexicon list"):
            store.resolve(wanted)
    for wanted in ("/no/such/file.bin", "x" * 5000, "~no-such-user/file", "a\0b"):
        with pytest.raises(ParameterError) as caught:
            store.resolve(wanted)
        assert "Did you mean" not in str(caught.value)
        assert "malaprop lexicon list" in str(caught.value)


def test_other_folders_are_no_lexicons(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="not a compiled lexicon"):
        store.resolve(tmp_path)

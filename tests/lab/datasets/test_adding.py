"""Files that the user has."""

import tracemalloc
from pathlib import Path

import pytest
from tests.lab.datasets.packing import BOMBS, bomb, wheel
from tests.lab.datasets.serving import Write, described

from malaprop import DataError, ParameterError
from malaprop.lab.datasets import add, datasets_folder, load

POSITIVE, NEGATIVE = b"good .\n", b"bad .\n"

pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture(autouse=True)
def _catalogue(write_catalogue: Write) -> None:
    files = [
        described("s.pos", POSITIVE, member="carrier/s.pos"),
        described("s.neg", NEGATIVE, member="carrier/s.neg"),
    ]
    write_catalogue("small", files, pip="carrier==1.0")


def _kept() -> list[str]:
    return sorted(path.name for path in datasets_folder().rglob("*") if path.is_file())


def test_a_file_is_recognised_whatever_its_name(tmp_path: Path) -> None:
    (tmp_path / "renamed").write_bytes(NEGATIVE)
    (tmp_path / "other").write_bytes(POSITIVE)
    added = add([tmp_path / "renamed", tmp_path / "other"])
    assert [(name, path.name) for name, path in added] == [("small", "s.neg"), ("small", "s.pos")]
    assert load("small").texts == ("good .", "bad .")


def test_an_unknown_file_is_refused_and_nothing_is_kept(tmp_path: Path) -> None:
    (tmp_path / "known").write_bytes(POSITIVE)
    (tmp_path / "unknown").write_bytes(b"good !\n")
    with pytest.raises(DataError, match="no file of the catalogue") as error:
        add([tmp_path / "known", tmp_path / "unknown"])
    assert "good" not in str(error.value)  # it may be a file of the user's text
    assert _kept() == []


def test_a_package_is_recognised_by_what_it_carries(tmp_path: Path) -> None:
    files = {"carrier/s.pos": POSITIVE, "carrier/s.neg": NEGATIVE}
    add([wheel(tmp_path, "carrier", "1.0", files)])
    assert _kept() == ["s.neg", "s.pos"]


def test_a_package_with_another_edition_is_refused(tmp_path: Path) -> None:
    package = wheel(tmp_path, "carrier", "1.0", {"carrier/s.pos": b"another .\n"})
    with pytest.raises(DataError, match="Another edition"):
        add([package])


def test_a_path_without_a_file(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="There is no file"):
        add([tmp_path / "missing"])


@pytest.mark.parametrize("kind", BOMBS)
def test_a_bomb_is_refused_in_little_memory(tmp_path: Path, kind: str) -> None:
    path = bomb(tmp_path / "bomb", kind)
    tracemalloc.start()
    try:
        with pytest.raises(DataError) as error:
            add([path])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4_000_000
    assert BOMBS[kind] in str(error.value)
    assert _kept() == []

"""Archives are read as data, and never beyond what the catalogue says."""

import hashlib
import zipfile
from pathlib import Path

import pytest
from tests.datasets.packing import tgz, wheel

from malaprop import DataError
from malaprop.datasets.archives import bundled, names_in, taken_out, unbundled
from malaprop.datasets.entries import DataFile


def _file(member: str, size: int = 1000) -> DataFile:
    return DataFile(name="x", sha256="", size=size, member=member)


def _read(path: Path, file: DataFile) -> bytes:
    with taken_out(path, file) as content:
        return content.read()


def test_a_member_of_a_wheel_and_of_a_tar(tmp_path: Path) -> None:
    zipped = wheel(tmp_path, "small", "1.0", {"small/data.txt": b"yes", "small/other.txt": b"no"})
    tarred = tgz(tmp_path / "small.tgz", {"package/data.txt": b"yes"})
    assert _read(zipped, _file("small/data.txt")) == b"yes"
    assert _read(tarred, _file("package/data.txt")) == b"yes"
    assert "small/other.txt" in names_in(zipped)
    assert names_in(tarred) == ["package/data.txt"]


def test_several_members_become_one_file_whatever_their_order(tmp_path: Path) -> None:
    one = tgz(tmp_path / "1.tgz", {"p/d/a.txt": b"1", "p/d/b.txt": b"2", "p/d/deep/c.txt": b"3"})
    two = wheel(tmp_path, "other", "1", {"p/d/b.txt": b"2", "p/d/a.txt": b"1", "p/x.txt": b"4"})
    file = _file("p/d/*.txt")
    assert _read(one, file) == _read(two, file)
    kept = tmp_path / "kept.tar"
    kept.write_bytes(_read(one, file))
    assert list(unbundled(kept)) == [("a.txt", b"1"), ("b.txt", b"2")]


def test_a_bundle_has_the_same_bytes_on_every_machine() -> None:
    digest = hashlib.sha256(bundled([("b.txt", b"two"), ("a.txt", b"one")])).hexdigest()
    assert digest == "e226faf73fe450bba8ac1553adc5559534d14becb44270cb2acbf49ca2dbb579"


def test_reading_stops_at_the_size_of_the_catalogue(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data.txt", b"0" * 50_000_000)
    with pytest.raises(DataError, match=r"more in data\.txt than the catalogue says"):
        _read(bomb, _file("data.txt", size=1000))


def test_names_that_lead_elsewhere_are_names_only(tmp_path: Path) -> None:
    evil = tgz(tmp_path / "evil.tgz", {"../../evil.txt": b"x", "/etc/evil": b"y", "d/a": b"z"})
    with pytest.raises(DataError, match="has no file d/b"):
        _read(evil, _file("d/b"))
    assert _read(evil, _file("d/a")) == b"z"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["evil.tgz"]


def test_a_link_is_no_file(tmp_path: Path) -> None:
    linked = tgz(tmp_path / "linked.tgz", {}, {"d/data.txt": "/etc/passwd"})
    with pytest.raises(DataError, match="has no file"):
        _read(linked, _file("d/data.txt"))


@pytest.mark.parametrize("name", ["a.zip", "a.tgz"])
def test_damaged_archives(tmp_path: Path, name: str) -> None:
    whole = wheel(tmp_path, "small", "1", {"d/data.txt": bytes(5000)})
    if name.endswith("tgz"):
        whole = tgz(tmp_path / "whole.tgz", {"d/data.txt": bytes(range(256)) * 40})
    damaged = tmp_path / name
    content = whole.read_bytes()
    damaged.write_bytes(content[: len(content) // 2])
    with pytest.raises(DataError):
        _read(damaged, _file("d/data.txt", size=20_000))

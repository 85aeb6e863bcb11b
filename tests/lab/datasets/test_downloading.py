"""Downloads from a server on this machine: whole, broken off, resumed, refused."""

import socket
from pathlib import Path

import pytest
from tests.lab.datasets.serving import Server

from malaprop import FetchError
from malaprop.lab.datasets.download import download

CONTENT = bytes(range(256)) * 1000


@pytest.fixture
def part(tmp_path: Path) -> Path:
    return tmp_path / "part"


def test_a_file_is_downloaded_for_its_owner_alone(server: Server, part: Path) -> None:
    server.content, seen = CONTENT, []
    download(server.address, part, limit=len(CONTENT), progress=lambda *at: seen.append(at))
    assert part.read_bytes() == CONTENT
    assert part.stat().st_mode & 0o777 == 0o600
    assert seen[-1] == (len(CONTENT), len(CONTENT))


def test_what_broke_off_is_continued(server: Server, part: Path) -> None:
    server.content, server.cut = CONTENT, 100_000
    with pytest.raises(FetchError, match="again"):
        download(server.address, part, limit=len(CONTENT))
    there = part.stat().st_size
    assert 0 < there < len(CONTENT)
    download(server.address, part, limit=len(CONTENT))
    assert part.read_bytes() == CONTENT
    assert server.asked == ["", f"bytes={there}-"]


def test_a_server_that_cannot_continue_sends_all_again(server: Server, part: Path) -> None:
    server.content, server.ranges = CONTENT, False
    part.write_bytes(b"the beginning of something else")
    download(server.address, part, limit=len(CONTENT))
    assert part.read_bytes() == CONTENT


def test_a_part_longer_than_the_file_is_thrown_away(server: Server, part: Path) -> None:
    server.content = CONTENT
    part.write_bytes(b"x" * (len(CONTENT) + 5))
    download(server.address, part, limit=len(CONTENT))
    assert part.read_bytes() == CONTENT
    assert len(server.asked) == 2


def test_a_file_that_states_too_much_is_refused(server: Server, part: Path) -> None:
    server.content = CONTENT
    with pytest.raises(FetchError, match="more than the 1,000 bytes"):
        download(server.address, part, limit=1000)
    assert not part.exists()


def test_a_part_that_grows_beyond_the_limit_is_removed(server: Server, part: Path) -> None:
    server.content = CONTENT
    part.write_bytes(CONTENT[:70_000])
    with pytest.raises(FetchError, match="expected"):
        download(server.address, part, limit=80_000)


def test_a_missing_file(server: Server, part: Path) -> None:
    server.code = 404
    with pytest.raises(FetchError, match="answers 404"):
        download(server.address, part, limit=10)


def test_a_silent_server(server: Server, part: Path) -> None:
    server.content, server.stated, server.silent = b"beginning", 100, 600.0
    # Five seconds: on a busy machine, the beginning itself may take some time.
    with pytest.raises(FetchError, match="silent for 5 seconds"):
        download(server.address, part, limit=100, timeout=5.0)
    assert part.read_bytes() == b"beginning"  # what came is kept, for the next time


def test_no_way_out(part: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        with pytest.raises(FetchError, match=r"cannot be reached .* malaprop data add PATH"):
            download(f"http://127.0.0.1:{port}/data", part, limit=10)


@pytest.mark.parametrize("address", ["file:///etc/passwd", "ftp://host/x", "/etc/passwd"])
def test_only_the_web_is_asked(address: str, part: Path) -> None:
    with pytest.raises(FetchError, match="no address on the web"):
        download(address, part, limit=10)


def test_a_redirection_to_a_file_is_not_followed(server: Server, part: Path) -> None:
    server.redirect = "file:///etc/passwd"
    with pytest.raises(FetchError):
        download(server.address, part, limit=10_000)
    assert not part.exists()


WRONG_NUMBERS = ["9" * 5000, "-5", "+5", "5_0", "5 0", "5, 6", "0x5", "5.0", "²", "", "5\x0b"]
WRONG_NUMBERS += ["٥".encode().decode("latin-1")]  # as headers are sent


@pytest.mark.parametrize("stated", WRONG_NUMBERS)
def test_a_length_that_is_no_number_is_refused(server: Server, part: Path, stated: str) -> None:
    server.content, server.stated = CONTENT, stated or " "
    with pytest.raises(FetchError, match="answers with a Content-Length that is no number") as told:
        download(server.address, part, limit=len(CONTENT))
    assert len(str(told.value)) < 300
    assert not part.exists()


@pytest.mark.parametrize("stated", [*WRONG_NUMBERS, "100", "bytes 100", "bytes */256000"])
def test_a_range_that_is_no_number_is_refused(server: Server, part: Path, stated: str) -> None:
    server.content = CONTENT
    server.range = f"bytes {stated}-255999/256000" if stated in WRONG_NUMBERS else stated
    part.write_bytes(CONTENT[:100])
    with pytest.raises(FetchError, match="answers with a Content-Range that is no number") as told:
        download(server.address, part, limit=len(CONTENT))
    assert len(str(told.value)) < 300
    assert part.read_bytes() == CONTENT[:100]


def test_spaces_around_a_length_count_for_nothing(server: Server, part: Path) -> None:
    server.content, server.stated = CONTENT, f" {len(CONTENT)} \t"
    download(server.address, part, limit=len(CONTENT))
    assert part.read_bytes() == CONTENT


def test_a_redirection_to_no_address_is_not_followed(server: Server, part: Path) -> None:
    server.redirect = "http://[/data"
    with pytest.raises(FetchError):
        download(server.address, part, limit=10_000)

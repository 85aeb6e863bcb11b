"""`malaprop data`: list, fetch, add."""

import re
from pathlib import Path

import pytest
from tests.cli.conftest import Cli
from tests.lab.datasets.serving import Server, Write, described

pytestmark = pytest.mark.usefixtures("home")


def test_the_list_says_what_is_here(cli: Cli, server: Server, write_catalogue: Write) -> None:
    server.content = b"good .\n"
    write_catalogue("small", [described("s.pos", server.content, url=server.address)])
    assert re.search(r"^small +1 +no +w", cli("data", "list").text, re.MULTILINE)
    fetched = cli("data", "fetch", "small")
    assert (fetched.code, fetched.err) == (0, "")
    assert fetched.text.startswith("fetched      small: 1 rows, in ")
    assert cli("data", "fetch", "small").text.startswith("here         small: 1 rows, in ")
    assert re.search(r"^small +1 +yes +w", cli("data", "list").text, re.MULTILINE)


def test_all_about_one(cli: Cli) -> None:
    shown = cli("data", "list", "mr").text
    for part in ("Pang and Lee (2005)", "licence", "10,662", "no: run  malaprop data fetch mr"):
        assert part in shown
    assert "digests are of the copy that was measured" in shown
    assert re.search(r"SHA-256 [0-9a-f]{64}", shown)


def test_an_unknown_set(cli: Cli) -> None:
    ended = cli("data", "fetch", "imbd")
    assert ended.code == 2
    assert "Did you mean 'imdb'?" in ended.err


def test_files_are_added_or_refused(cli: Cli, write_catalogue: Write, folder: Path) -> None:
    write_catalogue("small", [described("s.pos", b"good .\n", page="https://owner.example")])
    (folder / "mine").write_bytes(b"good .\n")
    assert cli("data", "add", "mine").text == "added        s.pos of small\n"
    (folder / "secret.txt").write_bytes(b"my text\n")
    refused = cli("data", "add", "secret.txt")
    assert refused.code == 1
    assert "no file of the catalogue" in refused.err
    assert "my text" not in refused.err
    assert cli("data", "add", "missing").code == 2


def test_no_way_out_is_one_line(cli: Cli, write_catalogue: Write) -> None:
    write_catalogue("small", [described("s.pos", b"x", url="http://127.0.0.1:1/x")])
    ended = cli("data", "fetch", "small", "--timeout", "1")
    assert ended.code == 1
    assert ended.err.startswith("malaprop: 127.0.0.1 cannot be reached")
    assert ended.err.count("\n") == 1

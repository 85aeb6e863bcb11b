"""Flags for names, places and dates that are moved together."""

import json
import re
from pathlib import Path

import pytest
from tests.cli.conftest import Cli

TEXT = b"cold Anna Okafor, 2023-03-04 and 2023-03-14 in Paris\ncold\n"
PRIVATE = rb"\w+ [A-Z]\w+ [A-Z]\w+, (\S+) \w+ (\S+) \w+ [A-Z]\w+\n\w+\n"


def test_names_places_and_dates(cli: Cli, folder: Path) -> None:
    flags = ("--redraw", "names, places", "--shift-dates", "--step", "date=365 days")
    ended = cli.privatize("-", *flags, "--report", "r.json", "-v", stdin=TEXT)
    assert ended.code == 0
    found = re.fullmatch(PRIVATE.decode(), ended.text)
    assert found
    assert found[1] != found[2]
    assert "Okafor" not in ended.text
    report = json.loads((folder / "r.json").read_text())
    assert report["policy"]["redraw"] == ["names", "places"]
    assert report["policy"]["shift_dates"] is True
    assert any("titles and initials before names" in fact for fact in report["visible"])
    assert any("intervals between dates" in fact for fact in report["visible"])
    assert "of these, as names, redrawn 2" in ended.flat
    assert "The dates of a text move together" in ended.flat
    assert "Names and places that are on public lists" in ended.flat


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--redraw", "animals"), "--redraw parameter must hold names, places"),
        (("--redraw", ""), "--redraw parameter must hold names, places"),
        (("--shift-dates", "--kinds", "words"), "--shift-dates parameter"),
        (("--shift-dates", "-m", "tem"), "it needs --kinds typed"),
    ],
)
def test_what_is_wrong_is_said(
    cli: Cli, folder: Path, options: tuple[str, ...], message: str
) -> None:
    ended = cli.privatize("-", *options, stdin=TEXT)
    assert ended.code == 2
    assert message in ended.flat
    assert not ended.text

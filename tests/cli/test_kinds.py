"""Flags for numbers and dates."""

import json
import re
from pathlib import Path

import pytest
from tests.cli.conftest import WORDS, Cli, words_of

TEXT = b"cold 4/3/2023 at 10:30, $5 for 1234567\n"


def test_values_are_drawn_as_what_they_are(cli: Cli, folder: Path) -> None:
    ended = cli.privatize("-", "--dates", "dmy", "--step", "date=a day", epsilon="600", stdin=TEXT)
    assert ended.code == 0
    assert re.fullmatch(r"\w+ 04/03/2023 \w+ 10:30, \$5 \w+ \d{7}\n", ended.text)


def test_a_decimal_comma_is_read_and_written(cli: Cli, folder: Path) -> None:
    text = b"cold 12.299,50 and 45000mg, 2,5%\n"
    ended = cli.privatize("-", "--decimals", "comma", epsilon="600", stdin=text)
    assert re.fullmatch(r"\w+ 12\.300,00 \w+ 45\.000\w+, 2,5%\n", ended.text)


def test_the_report_says_so(cli: Cli, folder: Path) -> None:
    options = ("--kind-epsilon", "0.5", "--step", "number=20 %", "--step", "time=an hour")
    ended = cli.privatize("-", *options, "--report", "r.json", stdin=TEXT)
    for part in ("as dates", "as times", "as amounts of money", "as identifiers"):
        assert f"of these, {part} 1 " in ended.flat
    assert "of their own, with ε = 0.5 in place of 1, without a cut-off: numbers" in ended.flat
    assert "times, hours (an hour)." in ended.flat
    assert ended.flat.count("in place of") == 1
    policy = json.loads((folder / "r.json").read_text())["policy"]
    assert policy["kinds"] == "typed"
    assert policy["kind_epsilon"] == 0.5
    assert policy["steps"]["number"] == "20 %"
    assert policy["dates"] == "mdy"
    ended = cli.privatize("-", *options, "--report", "r.md", stdin=TEXT)
    assert "number: 20 %, year: a year" in (folder / "r.md").read_text()


def test_values_can_be_words(cli: Cli, folder: Path) -> None:
    ended = cli.privatize("-", "--kinds", "words", stdin=TEXT)
    assert set(words_of(ended.text)) <= WORDS


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--step", "date"), "KIND=STEP"),
        (("--step", "date=soon"), "'3 days'"),
        (("--step", "weight=3 days"), "no step of kind 'weight'"),
        (("--kind-epsilon", "0"), "--kind-epsilon"),
        (("--kinds", "words", "--dates", "dmy"), "it needs --kinds typed"),
        (("--kinds", "words", "--decimals", "comma"), "it needs --kinds typed"),
        (("-m", "tem", "--kinds", "typed"), "needs a --kind-epsilon"),
        (("--kinds", "both"), "--kinds"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_written(
    cli: Cli, folder: Path, options: tuple[str, ...], message: str
) -> None:
    (folder / "in.txt").write_bytes(TEXT)
    ended = cli.privatize("in.txt", "-o", "out.txt", *options)
    assert ended.code == 2
    assert message in ended.flat
    assert not (folder / "out.txt").exists()

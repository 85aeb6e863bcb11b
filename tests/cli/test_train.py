"""`malaprop lexicon train-poincare`."""

import re
from pathlib import Path

import pytest
from tests.cli.conftest import Cli

from malaprop import Lexicon

pytestmark = pytest.mark.usefixtures("home")

PAIRS = "".join(
    f"{word}\t{word[:-1]}\n" for word in ("ra", "rb", "raa", "rab", "rba", "rbb", "raaa", "raab")
)
QUICK = ("--dim", "3", "--epochs", "20")


@pytest.fixture
def pairs(folder: Path) -> Path:
    path = folder / "pairs.tsv"
    path.write_text(PAIRS)
    return path


def test_what_is_trained_can_be_used(cli: Cli, pairs: Path) -> None:
    ended = cli("lexicon", "train-poincare", pairs, "--name", "tree", *QUICK)
    assert ended.code == 0
    assert ended.err == ""
    first, second = ended.text.splitlines()
    assert first == "trained      tree: 9 words × 3 dimensions"
    found = re.fullmatch(
        r"quality      MAP (\d\.\d{3}), mean rank (\d+\.\d\d), over 16 pairs of a word and one "
        r"above it",
        second,
    )
    assert found
    assert float(found[1]) > 0.8
    opened = Lexicon.open("tree")
    assert str(opened.metric) == "poincare"
    info = cli("lexicon", "info", "tree").text
    assert "3 dimensions, poincare metric" in info
    assert "pairs.tsv, SHA-256" in info
    used = cli("privatize", "-", "-e", "2", "-l", "tree", stdin=b"raa rb\n")
    assert used.code == 0
    for mechanism in ("hyperbolic-laplace", "tangent-laplace"):
        used = cli("privatize", "-", "-e", "4", "-l", "tree", "-m", mechanism, stdin=b"raa rb\n")
        assert used.code == 0
        assert set(used.text.casefold().split()) <= set(opened.words)


def test_names_are_kept_unless_forced(cli: Cli, pairs: Path, home: Path) -> None:
    command = ("lexicon", "train-poincare", pairs, "--name", "tree", *QUICK)
    assert cli(*command).code == 0
    refused = cli(*command)
    assert refused.code == 1
    assert "exists already" in refused.err
    assert cli(*command, "--force").code == 0
    assert not list((home / "lexicons").glob(".*"))


def test_an_interrupted_training_is_resumed(
    cli: Cli, pairs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from malaprop.lab import poincare

    whole = poincare._epoch
    command = ("lexicon", "train-poincare", pairs, *QUICK)
    assert cli(*command, "--name", "whole").code == 0

    def interrupted(*arguments: object) -> None:
        if arguments[2].epoch == 12:  # type: ignore[attr-defined]
            raise KeyboardInterrupt
        whole(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(poincare, "_epoch", interrupted)
    assert cli(*command, "--name", "parts").code == 130
    monkeypatch.setattr(poincare, "_epoch", whole)
    refused = cli(*command, "--name", "parts")
    assert refused.code == 1
    assert "--resume" in refused.err
    assert cli(*command, "--name", "parts", "--resume").code == 0
    assert Lexicon.open("parts").fingerprint == Lexicon.open("whole").fingerprint


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((), "name a file of relations"),
        (("pairs.tsv", "--wordnet", "."), "one of them"),
        (("pairs.tsv", "--words", "english"), "goes with --wordnet"),
        (("missing.tsv",), "cannot be read"),
        (("--wordnet", "."), "index.noun"),
        (("pairs.tsv", "--dim", "0"), "'--dim'"),
        (("pairs.tsv", "--rate", "7"), "'rate'"),
    ],
)
def test_wrong_usage(cli: Cli, pairs: Path, arguments: tuple[str, ...], complaint: str) -> None:
    ended = cli("lexicon", "train-poincare", "--name", "tree", *arguments)
    assert ended.code in (1, 2)
    assert complaint in ended.flat

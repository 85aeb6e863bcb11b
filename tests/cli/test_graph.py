"""`malaprop lexicon graph`: build, keep, and use."""

import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from malaprop import Balanced, Lexicon
from malaprop.cli.main import run


@pytest.fixture
def imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A lexicon of 120 words, imported under the name `mine`."""
    monkeypatch.setenv("MALAPROP_HOME", str(tmp_path / "home"))
    rng = np.random.Generator(np.random.PCG64(1))
    vectors = rng.normal(size=(120, 20)).astype(np.float32)
    Lexicon([f"word{i}" for i in range(120)], vectors).save(tmp_path / "home/lexicons/mine")
    return "mine"


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if 120 words were many."""
    monkeypatch.setattr("malaprop.mechanisms.balance.SMALL", 100)
    monkeypatch.setattr("malaprop.lexicon.graph.SMALL", 100)


@pytest.mark.usefixtures("large")
def test_a_large_lexicon_gets_its_graph_once(
    imported: str, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    source, target = tmp_path / "in.txt", tmp_path / "out.txt"
    source.write_text("word1 word2 word3\n")
    command = ["privatize", str(source), "-o", str(target), "-e", "1.5", "--lexicon", imported]
    assert run(command) == 1
    assert "malaprop lexicon graph mine" in capfd.readouterr().err
    assert run(["lexicon", "graph", imported]) == 0
    built = capfd.readouterr().out
    assert "120 words" in built
    assert "balanced" in built
    assert run(["lexicon", "graph", imported]) == 0  # at once, from what was kept
    assert capfd.readouterr().out == built
    assert run(command) == 0
    assert target.read_text().count("ord") == 3


@pytest.mark.usefixtures("large")
def test_a_lexicon_saved_with_its_own_graph_keeps_it(
    imported: str, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder = tmp_path / "home/lexicons/chain"
    words = Lexicon.open(imported).words
    chain = Lexicon.open(imported).with_graph(edges=pairwise(words), cutoff=20.0)
    chain.save(folder)
    assert Balanced(epsilon=1.5).on(chain).law.balance.masses is None
    assert run(["lexicon", "graph", "chain"]) == 0
    assert "119 edges of 1 step, 0 longer ones, cut off at 20" in capfd.readouterr().out
    law = Balanced(epsilon=1.5).on(Lexicon.open(folder)).law.balance
    assert law.form == "balanced"
    assert law.exponent == pytest.approx(1.5, abs=1e-3)


def test_a_table_that_was_damaged_is_made_again(
    imported: str, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run(["lexicon", "graph", imported]) == 0
    built = capfd.readouterr().out
    (about,) = (tmp_path / "home/balances").glob("*/about.json")
    about.write_text("{}")
    assert run(["lexicon", "graph", imported]) == 1
    assert "--force" in capfd.readouterr().err
    assert run(["lexicon", "graph", imported, "--force"]) == 0
    assert capfd.readouterr().out == built


def test_explain_shows_steps(imported: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "word5", "-e", "1.5", "--lexicon", imported]) == 0
    shown = " ".join(capfd.readouterr().out.split())
    assert "such as" in shown
    assert "1 step away" in shown
    assert "steps of the word graph" in shown


@pytest.mark.parametrize("width", [30, 80])
def test_numbers_are_never_cut(
    width: int, imported: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    lexicon = Lexicon.open(imported).with_graph()
    row = lexicon.distances([5])[0]
    assert run(["explain", "word5", "-e", "1.5", "--lexicon", imported]) == 0
    out = capfd.readouterr().out
    words = r"(?:  (word\S+(?:, word\d+)*))?"  # where the terminal is too narrow, they stand below
    levels = re.findall(rf"^ *([\d.]+)(\+?) +(\d+) +[\d.]+%{words}$", out, re.M)
    assert [(float(d), int(n)) for d, _, n, _ in levels] == [
        (d, int((row == d).sum())) for d in np.unique(row)
    ]
    assert [plus for *_, plus, _, _ in levels] == [
        "+" if float(d) == 10 else "" for d, *_ in levels
    ]
    if width == 80:
        assert max(map(len, out[out.index("such as") :].splitlines())) <= 80


def test_audit_of_the_default_mechanism(imported: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["audit", "-e", "1.5", "--lexicon", imported]) == 0
    assert re.search("holds +is the verdict", capfd.readouterr().out)

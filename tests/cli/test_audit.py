"""`malaprop audit` and `malaprop lexicon audit`."""

import re
from pathlib import Path

import pytest
from tests.cli.conftest import VECTORS, Cli

from malaprop import TEM, Lexicon
from malaprop.mechanisms import tem, tem_exponents

pytestmark = pytest.mark.usefixtures("home")


def verdict(text: str) -> str:
    """Return the verdict that a page shows."""
    return re.split("  +", next(line for line in text.splitlines() if "is the verdict" in line))[0]


@pytest.mark.parametrize("mechanism", ["tem", "laplace", "permute-and-flip", "gaussian"])
def test_a_guarantee_that_holds(cli: Cli, lexicon_file: Path, mechanism: str) -> None:
    ended = cli("audit", "-e", "1", "-m", mechanism, "-l", lexicon_file)
    assert ended.code == 0
    assert verdict(ended.text) == "holds"
    assert "worst pair" in ended.text
    assert "What is claimed\nε = 1" in ended.text


def test_parameters_and_what_is_not_decided(cli: Cli, lexicon_file: Path) -> None:
    ended = cli("audit", "-e", "1", "-m", "laplace", "-p", "decoder=vickrey", "-l", lexicon_file)
    assert ended.code == 0
    assert verdict(ended.text) == "holds"
    ended = cli("audit", "-e", "1", "-m", "jaccard", "-p", "published=true", "-l", lexicon_file)
    assert ended.code == 0
    assert verdict(ended.text) == "not decided"


def test_a_guarantee_that_fails(
    cli: Cli, lexicon_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tem, "audited_exponent", lambda *_: (2.0, 1e9))
    ended = cli("audit", "-e", "1", "-m", "tem", "-l", lexicon_file)
    assert ended.code == 1
    assert verdict(ended.text) == "FAILS"


def test_some_words_are_a_sample(
    cli: Cli, lexicon_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = ("audit", "-e", "1", "-m", "tem", "-l", lexicon_file, "--words")
    for words in ("1", write_words(tmp_path)):
        ended = cli(*options, words)
        assert ended.code == 0
        assert verdict(ended.text) == "not decided"
        assert "a sample, not a whole audit" in ended.text
    assert verdict(cli(*options, "all").text) == "holds"
    assert cli(*options, "0").code == 2
    monkeypatch.setattr(tem, "audited_exponent", lambda *_: (2.0, 1e9))
    assert cli(*options, "2").code == 1
    sampled = cli(*options, "2", "--sampled", "--draws", "4000")
    assert sampled.code == 1
    assert verdict(sampled.text) == "FAILS"


def write_words(folder: Path) -> str:
    file = folder / "words.txt"
    file.write_text(f"{next(iter(VECTORS))}\n")
    return str(file)


def test_a_lexicon_is_audited_once(
    cli: Cli, lexicon_file: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tem_exponents, "_SMALL", 5)
    assert cli("lexicon", "import", lexicon_file, "--name", "small").code == 0
    before = cli("audit", "-e", "2", "-m", "tem", "-l", "small")
    assert "The exponent is ε/2" in before.text
    assert "malaprop lexicon audit small" in " ".join(before.text.split())
    ended = cli("lexicon", "audit", "small")
    assert ended.code == 0
    lexicon = Lexicon.open("small")
    assert lexicon.fingerprint in ended.text
    assert "times the paper's" in ended.text
    (kept,) = (home / "exponents").iterdir()
    written = kept.stat().st_mtime_ns
    assert cli("lexicon", "audit", "small").text == ended.text
    assert kept.stat().st_mtime_ns == written
    assert cli("lexicon", "audit", "small", "--force").code == 0
    assert kept.stat().st_mtime_ns > written
    after = cli("audit", "-e", "2", "-m", "tem", "-l", "small")
    assert "exponent" not in after.text
    assert TEM(epsilon=2.0).on(Lexicon.open("small")).law.exponent > 1.0


def test_a_threshold_is_audited_by_itself(
    cli: Cli, lexicon_file: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tem_exponents, "_SMALL", 5)
    assert cli("lexicon", "import", lexicon_file, "--name", "small").code == 0
    truncated = ("audit", "-e", "2", "-m", "tem", "-l", "small", "-p", "gamma=0.75")
    assert "malaprop lexicon audit small --gamma 0.75." in " ".join(cli(*truncated).text.split())
    ended = cli("lexicon", "audit", "small", "--gamma", "0.75")
    assert ended.code == 0
    assert "threshold    γ = 0.75;" in ended.text
    (kept,) = (home / "exponents").iterdir()
    written = kept.stat().st_mtime_ns
    assert cli("lexicon", "audit", "small", "--gamma", "0.75").text == ended.text
    assert kept.stat().st_mtime_ns == written
    after = cli(*truncated)
    assert verdict(after.text) == "holds"
    assert "exponent" not in after.text
    assert "The exponent is" in cli("audit", "-e", "2", "-m", "tem", "-l", "small").text
    assert cli("lexicon", "audit", "small", "--gamma", "0").code == 2


def test_the_embedded_lexicon_comes_with_its_audit(cli: Cli) -> None:
    ended = cli("lexicon", "audit", "english")
    assert ended.code == 0
    assert "diameter     14.2846" in ended.text
    assert "ε = 1      t = 0.6875" in ended.text


def test_one_epsilon_is_audited_by_itself(
    cli: Cli, lexicon_file: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tem_exponents, "_SMALL", 5)
    assert cli("lexicon", "import", lexicon_file, "--name", "small").code == 0
    ended = cli("lexicon", "audit", "small", "--epsilon", "2")
    assert ended.code == 0
    (kept,) = (home / "exponents").iterdir()
    t = TEM(epsilon=2.0, exponent="audited").on(Lexicon.open("small")).law.exponent
    assert f"exponent     ε = 2      t = {t:<8.4g} {t:.2f} times the paper's\n" in ended.text
    written = kept.stat().st_mtime_ns
    assert cli("lexicon", "audit", "small", "-e", "2").text == ended.text
    assert kept.stat().st_mtime_ns == written
    assert cli("lexicon", "audit", "small", "-e", "2", "--force").code == 0
    assert kept.stat().st_mtime_ns > written
    assert "exponent" not in cli("audit", "-e", "2", "-m", "tem", "-l", "small").text
    other = cli("audit", "-e", "2.5", "-m", "tem", "-l", "small")
    assert "malaprop lexicon audit small (add --epsilon" in " ".join(other.text.split())
    assert cli("lexicon", "audit", "small", "-e", "2", "--gamma", "0.75").code == 0
    assert len([*(home / "exponents").iterdir()]) == 2


@pytest.mark.parametrize("epsilon", ["0", "-1", "nan", "inf"])
def test_an_impossible_epsilon(cli: Cli, lexicon_file: Path, epsilon: str) -> None:
    ended = cli("lexicon", "audit", lexicon_file, f"--epsilon={epsilon}")
    assert ended.code == 2
    assert "ε must be a number above 0" in ended.err


def test_a_table_for_all_epsilons_answers_for_those_within_it(cli: Cli, home: Path) -> None:
    ended = cli("lexicon", "audit", "english-hierarchy", "--epsilon", "3")
    t = TEM(epsilon=3.0).on(Lexicon.open("english-hierarchy")).law.exponent
    assert f"exponent     ε = 3      t = {t:<8.4g}" in ended.text
    assert not (home / "exponents").exists()


def test_the_terminal_shows_the_page(cli: Cli, lexicon_file: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    for more in ((), ("--sampled", "--pairs", "2", "--draws", "1000")):
        ended = cli("audit", "-e", "1", "-m", "tem", "-l", lexicon_file, *more)
        told = " ".join(ended.text.split())
        assert "What is claimed ε = 1 (metric-dp): " in told
        assert "What this does not say" in told
    cli("audit", "-e", "1", "-m", "tem", "-l", lexicon_file, "--report", page)
    assert "## What is claimed" in page.read_text()

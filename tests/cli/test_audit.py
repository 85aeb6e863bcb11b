"""`malaprop audit` and `malaprop lexicon audit`."""

from pathlib import Path

import pytest
from tests.cli.conftest import VECTORS, Cli

from malaprop import TEM, Lexicon
from malaprop.mechanisms import tem, tem_exponents

pytestmark = pytest.mark.usefixtures("home")


@pytest.mark.parametrize("mechanism", ["tem", "laplace", "permute-and-flip", "gaussian"])
def test_a_guarantee_that_holds(cli: Cli, lexicon_file: Path, mechanism: str) -> None:
    ended = cli("audit", "-e", "1", "-m", mechanism, "-l", lexicon_file)
    assert ended.code == 0
    assert ended.text.startswith("verdict      holds\n")
    assert "worst pair" in ended.text
    assert "guarantee    ε = 1" in ended.text


def test_parameters_and_what_is_not_decided(cli: Cli, lexicon_file: Path) -> None:
    ended = cli("audit", "-e", "1", "-m", "laplace", "-p", "decoder=vickrey", "-l", lexicon_file)
    assert ended.code == 0
    assert ended.text.startswith("verdict      holds\n")
    ended = cli("audit", "-e", "1", "-m", "jaccard", "-p", "published=true", "-l", lexicon_file)
    assert ended.code == 0
    assert ended.text.startswith("verdict      not decided\n")


def test_a_guarantee_that_fails(
    cli: Cli, lexicon_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tem, "audited_exponent", lambda *_: (2.0, 1e9))
    ended = cli("audit", "-e", "1", "-m", "tem", "-l", lexicon_file)
    assert ended.code == 1
    assert ended.text.startswith("verdict      FAILS\n")


def test_some_words_are_a_sample(
    cli: Cli, lexicon_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = ("audit", "-e", "1", "-m", "tem", "-l", lexicon_file, "--words")
    for words in ("1", write_words(tmp_path)):
        ended = cli(*options, words)
        assert ended.code == 0
        assert ended.text.startswith("verdict      not decided\n")
        assert "a sample, not a whole audit" in ended.text
    assert cli(*options, "all").text.startswith("verdict      holds\n")
    assert cli(*options, "0").code == 2
    monkeypatch.setattr(tem, "audited_exponent", lambda *_: (2.0, 1e9))
    assert cli(*options, "2").code == 1
    sampled = cli(*options, "2", "--sampled", "--draws", "4000")
    assert sampled.code == 1
    assert sampled.text.startswith("verdict      FAILS\n")


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
    assert "hint         the exponent is ε/2" in before.text
    assert "malaprop lexicon audit small" in before.text
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
    assert "hint" not in after.text
    assert TEM(epsilon=2.0).on(Lexicon.open("small")).law.exponent > 1.0


def test_a_threshold_is_audited_by_itself(
    cli: Cli, lexicon_file: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tem_exponents, "_SMALL", 5)
    assert cli("lexicon", "import", lexicon_file, "--name", "small").code == 0
    truncated = ("audit", "-e", "2", "-m", "tem", "-l", "small", "-p", "gamma=0.75")
    assert "malaprop lexicon audit small --gamma 0.75\n" in cli(*truncated).text
    ended = cli("lexicon", "audit", "small", "--gamma", "0.75")
    assert ended.code == 0
    assert "threshold    γ = 0.75;" in ended.text
    (kept,) = (home / "exponents").iterdir()
    written = kept.stat().st_mtime_ns
    assert cli("lexicon", "audit", "small", "--gamma", "0.75").text == ended.text
    assert kept.stat().st_mtime_ns == written
    after = cli(*truncated)
    assert after.text.startswith("verdict      holds\n")
    assert "hint" not in after.text
    assert "hint" in cli("audit", "-e", "2", "-m", "tem", "-l", "small").text
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
    assert "hint" not in cli("audit", "-e", "2", "-m", "tem", "-l", "small").text
    other = cli("audit", "-e", "2.5", "-m", "tem", "-l", "small")
    assert "malaprop lexicon audit small (add --epsilon" in other.text
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

"""`malaprop audit` and `malaprop lexicon audit`."""

from pathlib import Path

import pytest
from tests.cli.conftest import Cli

from malaprop import TEM, Lexicon
from malaprop.lexicon import exponents
from malaprop.mechanisms import tem


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MALAPROP_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


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


def test_a_lexicon_is_audited_once(
    cli: Cli, lexicon_file: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exponents, "_SMALL", 5)
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
    assert TEM(epsilon=2.0).on(lexicon).exponent > 1.0


def test_a_threshold_is_audited_by_itself(
    cli: Cli, lexicon_file: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exponents, "_SMALL", 5)
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

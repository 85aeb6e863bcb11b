"""`malaprop stats`, `malaprop calibrate` and `malaprop audit --sampled`."""

import json
from pathlib import Path

import pytest
from tests.cli.conftest import Cli


@pytest.fixture
def vectors(tmp_path: Path) -> str:
    file = tmp_path / "tiny.vec"
    places = {"cold": 0, "cool": 1, "warm": 3, "hot": 3.5, "tepid": 2.2}
    file.write_text("".join(f"{word} {x}\n" for word, x in places.items()))
    return str(file)


def test_statistics_are_printed_and_written(cli: Cli, vectors: str, tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    done = cli("stats", "-m", "tem", "-e", "2", "-l", vectors, "--json", str(target))
    assert done.code == 0
    assert "(N_w)" in done.text
    assert "guesses it right" in done.text
    found = json.loads(target.read_text())
    assert found["exact"] is True
    assert set(found["values"]) == set(found["summary"])
    assert found["words"] == ["cold", "cool", "warm", "hot", "tepid"]
    assert 0 < found["bayes"]["success"] < 1
    again = cli("stats", "-m", "tem", "-e", "2", "-l", vectors, "--json", str(target))
    assert again.code != 0
    assert "exists" in again.err
    assert "--force" in again.err
    forced = cli("stats", "-m", "tem", "-e", "3", "-l", vectors, "--json", str(target), "--force")
    assert forced.code == 0
    assert json.loads(target.read_text())["mechanism"]["epsilon"] == 3.0


@pytest.mark.parametrize(
    "command",
    [("calibrate", "-m", "tem", "--kept", "0.5"), ("audit", "-m", "tem", "-e", "2")],
)
def test_results_are_replaced_only_by_force(
    cli: Cli, vectors: str, tmp_path: Path, command: tuple[str, ...]
) -> None:
    page = tmp_path / "page.md"
    page.write_text("mine")
    done = cli(*command, "-l", vectors, "--report", str(page))
    assert done.code != 0
    assert page.read_text() == "mine"
    assert cli(*command, "-l", vectors, "--report", str(page), "--force").code == 0
    assert page.read_text() != "mine"


def test_words_and_priors_come_from_files(cli: Cli, vectors: str, tmp_path: Path) -> None:
    words, prior = tmp_path / "words.txt", tmp_path / "prior.txt"
    words.write_text("hot\n\ncold\n")
    prior.write_text("hot 3\ncold 1\n")
    options = ("-m", "laplace", "-e", "2", "-l", vectors, "--runs", "50", "--seed", "1")
    done = cli("stats", *options, "--words", str(words), "--prior", str(prior), "--json", "-")
    found = json.loads(done.out)
    assert found["words"] == ["hot", "cold"]
    assert found["exact"] is False
    assert found["bayes"]["prior_success"] == 0.75


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--words", "0"), "1 word or more"),
        (("--words", "none.txt"), "not there"),
        (("--prior", "none.txt"), "not there"),
        (("--runs", "2"), "equal to 10"),
        (("--reused",), "give --occurrences"),
    ],
)
def test_wrong_options_of_stats(
    cli: Cli, vectors: str, options: tuple[str, ...], said: str
) -> None:
    done = cli("stats", "-m", "tem", "-e", "2", "-l", vectors, *options)
    assert done.code == 2
    assert said in done.err


def test_calibrating_prints_epsilon(cli: Cli, vectors: str) -> None:
    done = cli("calibrate", "-m", "tem", "-l", vectors, "--kept", "0.4", "--json", "-")
    found = json.loads(done.out)
    assert found["epsilon"] > 0
    assert found["value"] <= 0.4
    shown = cli("calibrate", "-m", "tem", "-l", vectors, "--like", "laplace:2")
    assert shown.code == 0
    assert "chosen" in shown.text
    assert "one word at a time" in " ".join(shown.text.split())


def test_calibrating_for_words_of_a_file(cli: Cli, vectors: str, tmp_path: Path) -> None:
    options = ("calibrate", "-m", "tem", "-l", vectors, "--kept", "0.4", "--json", "-")
    words = tmp_path / "words.txt"
    words.write_text("warm\nhot\n")
    near = json.loads(cli(*options, "--words", str(words)).out)
    words.write_text("cold\n")
    alone = json.loads(cli(*options, "--words", str(words)).out)
    assert near["exact"] is alone["exact"] is True
    assert near["epsilon"] > 1.1 * alone["epsilon"]  # near words protect each other
    words.write_text("cold\n\ncolt\n")
    refused = cli(*options, "--words", str(words)).err
    assert "Line 3 of" in refused
    assert "colt" not in refused


def test_single_words_have_intervals_and_guesses(cli: Cli, vectors: str) -> None:
    options = ("stats", "-e", "2", "-l", vectors, "--runs", "50", "--json", "-")
    noisy = json.loads(cli(*options, "-m", "laplace").out)
    shares = zip(noisy["values"]["kept"], noisy["kept_intervals"], strict=True)
    assert all(low <= kept <= high for kept, (low, high) in shares)
    guesses = noisy["bayes"]["per_word"]
    assert sum(guesses) / len(guesses) == pytest.approx(noisy["bayes"]["success"], abs=0.02)
    exact = json.loads(cli(*options, "-m", "tem").out)
    assert exact["kept_intervals"] is None
    guesses = exact["bayes"]["per_word"]
    assert sum(guesses) / len(guesses) == pytest.approx(exact["bayes"]["success"])


def test_calibrating_with_context(cli: Cli, vectors: str, tmp_path: Path) -> None:
    done = cli("calibrate", "--success", "0.3", "--context", "--json", "-")
    found = json.loads(done.out)
    assert 1.0 < found["epsilon"] < 1.35
    assert "film reviews" in found["target"]
    shown = cli("calibrate", "--success", "0.3", "--context")
    assert "bigram model" in " ".join(shown.text.split())
    sample = tmp_path / "sample.txt"
    sample.write_text("\n")
    common = ("calibrate", "-m", "tem", "-l", vectors, "--success", "0.3")
    for more, said in (
        (("--context",), "give public texts"),
        (("--context", "--sample", str(sample)), "has no texts"),
        (("--context", "--column", "x"), "--column goes with --sample"),
    ):
        ended = cli(*common, *more)
        assert ended.code == 2
        assert said in ended.flat


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "one target"),
        (("--kept", "2"), "between 0 and 1"),
        (("--like", "tem"), "tem:1.5"),
        (("--kept", "0.0001"), "out of reach"),
    ],
)
def test_wrong_targets(cli: Cli, vectors: str, options: tuple[str, ...], said: str) -> None:
    done = cli("calibrate", "-m", "tem", "-l", vectors, *options)
    assert done.code == 2
    assert said in done.err


def test_an_audit_by_draws(cli: Cli, vectors: str) -> None:
    options = ("-m", "tem", "-e", "2", "-l", vectors, "--sampled", "--pairs", "2")
    done = cli("audit", *options, "--draws", "1000", "--json", "-")
    assert done.code == 0
    assert json.loads(done.out)["violated"] is False
    assert "not contradicted" in cli("audit", *options, "--draws", "1000").text
    assert cli("audit", *options, "--draws", "10").code == 2


def test_an_exact_audit_as_json(cli: Cli, vectors: str) -> None:
    found = json.loads(cli("audit", "-m", "tem", "-e", "2", "-l", vectors, "--json", "-").out)
    assert found["holds"] is True
    assert found["worst_ratio"] <= 1

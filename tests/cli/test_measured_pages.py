"""`--report` of the measuring commands: a page that says what was found, how, and what not."""

import json
import re
from pathlib import Path

import pytest
from tests.cli.conftest import Cli

import malaprop

COMMANDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "stats": (
        ("stats", "-m", "tem", "-e", "2"),
        ("What a mechanism does to words", "different outputs", "Prior: all words equally likely"),
    ),
    "stats of noise": (
        ("stats", "-m", "laplace", "-e", "2", "--runs", "50"),
        ("estimated from 50 draws", "95 % interval"),
    ),
    "stats of noise by occurrences": (
        ("stats", "-m", "gaussian", "-e", "1", "--runs", "50"),
        ("What a mechanism does to words",),
    ),
    "calibrate": (
        ("calibrate", "-m", "tem", "--kept", "0.4"),
        ("The ε that keeps to a target", "chosen", "At most 0.4 of words stay"),
    ),
    "calibrate noise": (
        ("calibrate", "-m", "laplace", "--kept", "0.5"),
        ("with its error", "estimated"),
    ),
    "lambda": (
        ("calibrate", "-m", "mahalanobis", "-e", "2", "--kept", "0.9", "--lambda-grid", "0,0.5"),
        ("The λ that keeps to a bound", "ε, Euclidean"),
    ),
    "audit": (("audit", "-m", "tem", "-e", "2"), ("Audit of a guarantee", "holds", "worst pair")),
    "audit by draws": (
        ("audit", "-m", "tem", "-e", "2", "--sampled", "--pairs", "2", "--draws", "1000"),
        ("Audit by draws", "not contradicted", "loss at least"),
    ),
}


@pytest.fixture
def vectors(tmp_path: Path) -> str:
    file = tmp_path / "tiny.vec"
    places = {"cold": (0, 1), "cool": (1, 1), "warm": (3, 0), "hot": (3.5, 1), "tepid": (2.2, 2)}
    file.write_text("".join(f"{word} {x} {y}\n" for word, (x, y) in places.items()))
    return str(file)


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("ending", ["html", "md"])
def test_a_page_tells_result_method_and_limits(
    cli: Cli, vectors: str, tmp_path: Path, name: str, ending: str
) -> None:
    command, said = COMMANDS[name]
    target = tmp_path / f"page.{ending}"
    done = cli(*command, "-l", vectors, "--report", str(target))
    assert done.code == 0, done.err
    shown = re.sub(r"\\(?=[^A-Za-z0-9\s])", "", target.read_text())
    for text in (*said, "What this does not say", "Method and versions", malaprop.__version__):
        assert text in shown
    assert f"--report {target}" in shown
    if ending == "html":
        assert "<script" not in shown
        assert not re.search(r"""(src|href)=["'](?!#)""", shown)
        assert "<svg" in shown or name in ("lambda", "audit")
        assert "`" not in shown
        if command[0] == "stats":
            noisy = "tem" not in command
            assert "a word occurs, with as many draws" in shown
            assert ("the best guess lies here" in shown) is noisy
            assert ("by an attack" in shown) is noisy


def test_the_report_as_json_is_what_json_gives(cli: Cli, vectors: str, tmp_path: Path) -> None:
    page, plain = tmp_path / "r.json", tmp_path / "j.json"
    options = ("-m", "tem", "-l", vectors, "--kept", "0.4")
    assert cli("calibrate", *options, "--report", str(page), "--json", str(plain)).code == 0
    assert json.loads(page.read_text()) == json.loads(plain.read_text())
    bounds = [point["bound"] for point in json.loads(page.read_text())["curve"]]
    assert all(bound > 0 for bound in bounds)


def test_vectors_have_a_page_of_their_own(cli: Cli, vectors: str, tmp_path: Path) -> None:
    target = tmp_path / "v.html"
    options = ("--vectors", vectors, "-m", "laplace", "--inversion", "0.5")
    done = cli("calibrate", *options, "--report", str(target))
    assert done.code == 0, done.err
    assert "Computed from public vectors" in target.read_text()


def test_a_page_that_is_there_or_is_no_page_is_refused_before_any_work(
    cli: Cli, vectors: str, tmp_path: Path
) -> None:
    target = tmp_path / "old.html"
    target.write_text("old")
    command = ("stats", "-m", "tem", "-e", "2", "-l", vectors)
    assert "exists already" in cli(*command, "--report", str(target)).err
    assert target.read_text() == "old"
    ended = cli(*command, "--report", str(tmp_path / "page.pdf"))
    assert ended.code == 2
    assert "ends in none of" in ended.err


def test_an_attack_has_a_page_for_its_owner(cli: Cli, folder: Path, lexicon_file: Path) -> None:
    (folder / "in.txt").write_text("cold hot warm\nhot hot cold\n" * 20)
    command = ("attack", "bayes", "in.txt", "-e", "1", "-m", "tem", "-l", str(lexicon_file))
    done = cli(*command, "--report", "a.html")
    assert done.code == 0, done.err
    shown = (folder / "a.html").read_text()
    assert "not for publication" in shown
    assert "of words were recovered by the attack" in shown
    assert (folder / "a.html").stat().st_mode & 0o077 == 0
    assert "replace it with --force" in cli(*command, "--report", "a.html").err
    assert cli(*command, "--report", "a.html", "--force").code == 0


def test_a_calibration_with_context_says_what_it_holds_for(cli: Cli, tmp_path: Path) -> None:
    target = tmp_path / "c.md"
    done = cli("calibrate", "--success", "0.4", "--context", "--report", str(target))
    assert done.code == 0, done.err
    shown = target.read_text()
    assert "an observer with a bigram model" in shown
    assert "sees one word at a time" not in shown
    assert "can be compared" in shown


def test_noise_on_vectors_has_plots_by_epsilon(cli: Cli, vectors: str, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    done = cli("calibrate", "-m", "laplace", "--kept", "0.6", "-l", vectors, "--report", str(page))
    assert done.code == 0
    told = page.read_text()
    assert "Words that stay, by ε (N_w)." in told
    assert "Right guesses without context, at least, by ε." in told


def test_the_page_of_a_grid_names_the_lambda_that_was_chosen(
    cli: Cli, vectors: str, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    options = ("-m", "mahalanobis", "-e", "2", "--kept", "0.99", "--lambda-grid", "0,0.25")
    done = cli("calibrate", *options, "-l", vectors, "--report", str(page), "--json", "-")
    assert done.code == 0
    chosen = json.loads(done.out)["lambda"]
    assert f"regularization={chosen}" in page.read_text()

"""`malaprop attack` and `malaprop lm train`."""

import json
import os
import re
import signal
import stat
import time
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from tests.cli.conftest import WORDS, Cli, running

from malaprop.measure.adversaries import attacks

TEXTS = ("the patient is cold", "a doctor is hot", "the nurse is mild", "one patient is warm")


BEGINNING = """
import malaprop.measure.adversaries.context as module
beliefs = module.beliefs
def marking(*arguments):
    open("begun", "w").close()
    return beliefs(*arguments)
module.beliefs = marking
"""
"""Marks that the longest part of an attack has begun."""


def write(path: Path, rows: int, seed: int = 1) -> None:
    rng = np.random.Generator(np.random.PCG64(seed))
    lines = [f"{i},{TEXTS[rng.integers(4)]} {TEXTS[rng.integers(4)]}\n" for i in range(rows)]
    path.write_text("id,note\n" + "".join(lines))


@pytest.fixture
def model(cli: Cli, folder: Path, lexicon_file: Path) -> Path:
    (folder / "corpus.txt").write_text("\n".join(TEXTS) + "\n")
    ended = cli("lm", "train", "corpus.txt", "-o", "model", "-l", lexicon_file)
    assert (ended.code, ended.err) == (0, "")
    assert "16 of the corpus" in ended.text
    return folder / "model"


def test_an_attack_prints_what_was_recovered(
    cli: Cli, folder: Path, lexicon_file: Path, model: Path
) -> None:
    write(folder / "notes.csv", 50)
    common = ("notes.csv", "-c", "note", "-e", "1", "-m", "tem", "-l", lexicon_file)
    for name in ("bayes", "context", "majority", "frequency"):
        repeat = "document" if name == "frequency" else "fresh"
        options = ("--model", model, "--seed", "1", "--repeat", repeat)
        ended = cli("attack", name, *common, *options)
        assert (ended.code, ended.err) == (0, "")
        assert f"of words were recovered by the attack “{name}”" in ended.text
        assert re.search("400 +words of 50 texts were attacked", ended.text)
        assert "corpus.txt" in ended.text
        for word in WORDS - {"a", "one", "the", "is"}:
            assert word not in ended.text.split()


def test_the_attacker_does_not_draw_from_the_noise(
    cli: Cli, folder: Path, lexicon_file: Path
) -> None:
    """With one seed for both, estimates of the channel would repeat the noise they are about."""
    write(folder / "notes.csv", 5)
    with mock.patch("malaprop.measure.attack", side_effect=KeyboardInterrupt) as attack:
        cli(
            "attack",
            "bayes",
            "notes.csv",
            "-c",
            "note",
            "-e",
            "1",
            "-l",
            lexicon_file,
            "-m",
            "tem",
            "--seed",
            "1",
        )
    noise = attack.call_args.args[1]._rng
    own = attack.call_args.kwargs["rng"]
    assert not set(noise.random(100)) & set(own.random(100))


def test_the_result_as_json(cli: Cli, folder: Path, lexicon_file: Path, model: Path) -> None:
    write(folder / "notes.csv", 50)
    common = ("attack", "context", "notes.csv", "-c", "note", "-e", "1", "-m", "tem")
    options = ("-l", str(lexicon_file), "--model", str(model), "--seed", "1")
    command = [*common, *options]
    ended = cli(*command, "--json", "-")
    assert ended.code == 0
    found = json.loads(ended.text)
    assert found["attack"] == "context"
    assert found["words"] == 400
    assert found["interval"][0] <= found["score"] <= found["interval"][1]
    assert cli(*command, "--json", "result.json").code == 0
    assert json.loads((folder / "result.json").read_text()) == found
    assert stat.S_IMODE(os.stat(folder / "result.json").st_mode) == 0o600
    ended = cli(*command, "--json", "result.json")
    assert ended.code == 1
    assert "exists already" in ended.err
    assert cli(*command, "--json", "result.json", "--force").code == 0
    ended = cli(*command, "--json", "notes.csv", "--force")
    assert (ended.code, "is the input" in ended.err) == (2, True)
    for path, message in (("none/x.json", "there is no folder none"), (".", "is a folder")):
        ended = cli(*command, "--json", path, "--force")
        assert (ended.code, ended.text, message in ended.err) == (1, "", True)
    ended = cli(*command, "--json", "page.json", "--report", "page.json")
    assert (ended.code, ended.text, "the same file" in ended.err) == (2, "", True)


def test_a_sample_is_attacked(cli: Cli, folder: Path, lexicon_file: Path) -> None:
    write(folder / "notes.csv", 50)
    command = ("attack", "bayes", "notes.csv", "-c", "note", "-e", "1", "-m", "laplace")
    ended = cli(*command, "-l", lexicon_file, "--sample", "10", "--draws", "500")
    assert ended.code == 0
    assert re.search("80 +words of 10 texts were attacked", ended.text)
    assert "estimated from 500 draws: a lower bound" in ended.text
    assert "words in 10 texts" in ended.text


def test_standard_input_is_read(cli: Cli, lexicon_file: Path) -> None:
    common = ("-e", "1", "-m", "tem", "-l", lexicon_file)
    ended = cli("attack", "bayes", "-", *common, stdin=b"the patient is cold\n\nhot!\n")
    assert re.search("5 +words of 2 texts were attacked", ended.text)
    assert "words in 2 texts" in ended.text


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("contxt", "notes.csv", "-c", "note"), 2, "Did you mean 'context'"),
        (("context", "notes.csv", "-c", "note"), 2, "needs a bigram model"),
        (("frequency", "notes.csv", "-c", "note"), 2, "one draw"),
        (("bayes", "notes.csv"), 2, "--column"),
        (("bayes", "notes.csv", "-c", "nothing"), 2, "nothing"),
        (("bayes", "missing.csv", "-c", "note"), 2, "there is no file"),
        (("bayes", "empty.txt"), 1, "no texts"),
        (("bayes", "notes.csv", "-c", "note", "--model", "notes.csv"), 1, "holds no bigram model"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    cli: Cli,
    folder: Path,
    lexicon_file: Path,
    arguments: tuple[str, ...],
    code: int,
    message: str,
) -> None:
    write(folder / "notes.csv", 5)
    (folder / "empty.txt").write_text("\n\n")
    ended = cli("attack", *arguments, "-e", "1", "-m", "tem", "-l", lexicon_file)
    assert ended.code == code
    assert message in ended.flat
    assert len(ended.err.splitlines()) == 1
    assert "patient" not in ended.err


def test_a_model_of_the_texts_themselves_is_refused(
    cli: Cli, folder: Path, lexicon_file: Path
) -> None:
    write(folder / "notes.csv", 50)
    command = ("lm", "train", "notes.csv", "-c", "note", "-o", "own", "-l", str(lexicon_file))
    assert cli(*command).code == 0
    ended = cli(*command)
    assert (ended.code, "already exists" in ended.err) == (1, True)
    common = ("notes.csv", "-c", "note", "-e", "1", "-m", "tem", "-l", str(lexicon_file))
    ended = cli("attack", "context", *common, "--model", "own")
    assert ended.code == 2
    assert "trained on these texts" in ended.err


def test_a_corpus_without_words_leaves_nothing(cli: Cli, folder: Path, lexicon_file: Path) -> None:
    (folder / "empty.txt").write_text("!\n")
    ended = cli("lm", "train", "empty.txt", "-o", "model", "-l", lexicon_file)
    assert ended.code == 1
    assert "no words" in ended.err
    assert sorted(os.listdir(folder)) == ["empty.txt"]


def test_a_model_goes_where_there_is_a_folder(cli: Cli, folder: Path, lexicon_file: Path) -> None:
    write(folder / "notes.csv", 5)
    target = str(Path("not", "there", "model"))
    ended = cli("lm", "train", "notes.csv", "-c", "note", "-o", target, "-l", lexicon_file)
    assert (ended.code, "there is no folder" in ended.flat) == (1, True)
    assert sorted(os.listdir(folder)) == ["notes.csv"]


def test_an_attack_on_words_can_have_several_draws(
    cli: Cli, folder: Path, lexicon_file: Path
) -> None:
    write(folder / "notes.csv", 40)
    common = ("notes.csv", "-c", "note", "-e", "1", "-m", "tem", "-l", str(lexicon_file))
    ended = cli("attack", "bayes", *common, "--repeats", "3", "--json", "-")
    assert ended.code == 0
    result = json.loads(ended.text)
    assert len(result["values"]) == result["options"]["repeats"] == 3
    assert result["spread"].endswith("with 3 draws of the noise each")


def test_an_attack_can_be_interrupted(folder: Path) -> None:
    (folder / "long.txt").write_text("the patient is cold and the doctor knows why\n" * 20_000)
    command = ("attack", "context", "long.txt", "-e", "1.5", "--sample", "20000")
    with running(*command, before=BEGINNING) as process:
        while not (folder / "begun").exists():
            assert process.poll() is None
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=600)
        assert process.returncode == 130
    assert (out, err) == (b"", b"malaprop: stopped\n")


def test_the_help_tells_of_each_attack(cli: Cli) -> None:
    told = " ".join(cli("attack", "--help").text.split())
    for name, attack in attacks.items():
        assert f"{name} {attack.summary()}" in told
        assert f"Attacks on {attack.on}:" in told


def test_a_rate_is_one_figure(cli: Cli, folder: Path, lexicon_file: Path) -> None:
    write(folder / "notes.csv", 7)
    common = ("notes.csv", "-c", "note", "-e", "1", "-l", lexicon_file)
    for name, mechanism in (("bayes", "tem"), ("inversion", "laplace")):
        command = ("attack", name, *common, "-m", mechanism, "--seed", "1")
        score = f"{json.loads(cli(*command, '--json', '-').text)['score']:.1%}"
        shown = cli(*command).text
        assert shown.count(score) >= 2
        assert f"{score} " in shown

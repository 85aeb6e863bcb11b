"""`malaprop release`, `embed`, and `calibrate` for vectors and λ."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from tests.cli.conftest import Cli

from malaprop import seeded_rng

ROWS = seeded_rng(1).normal(size=(200, 6)).astype(np.float32)


@pytest.fixture
def vectors(folder: Path) -> Path:
    np.save(folder / "x.npy", ROWS)
    return folder / "x.npy"


def test_release_prints_the_guarantee_and_writes_the_file(cli: Cli, vectors: Path) -> None:
    ended = cli("release", vectors, "-o", "y.npy", "-e", "4", "-p", "dimension=2", "--scale", "3")
    assert (ended.code, ended.out) == (0, b"")
    assert "two that are a typical distance apart by a factor of at most" in ended.flat
    ended = cli("release", vectors, "-o", "v.npy", "-e", "4", "--scale", "3", "-v")
    assert "between any two vectors" in ended.flat
    assert "times the typical distance" in ended.flat
    assert np.load("y.npy").shape == (200, 2)
    ended = cli("release", vectors, "-o", "y.npy", "-e", "4", "--scale", "3", "-q")
    assert ended.code == 1
    assert "replace it with --force" in ended.err
    ended = cli("release", vectors, "-o", "y.npy", "-e", "4", "--scale", "3", "-q", "--force")
    assert (ended.code, ended.err) == (0, "")


def test_release_warns_and_reports(cli: Cli, vectors: Path) -> None:
    ended = cli("release", vectors, "-o", "y.npy", "-e", "0.1", "--report", "r.md")
    assert "give --scale, a typical distance of two of them, or --public vectors" in ended.flat
    assert "give scale, a typical distance of two of them, or public" in Path("r.md").read_text()
    ended = cli(
        "release", vectors, "-o", "z.npy", "-e", "0.1", "--scale", "3", "--report", "z.json"
    )
    assert "warning: the noise is" in ended.flat
    report = json.loads(Path("z.json").read_text())
    assert report["command"].startswith("malaprop release")
    assert report["warnings"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-o", "y.npy", "-e", "1", "-m", "tem"), "--mechanism"),
        (("-o", "y.npy", "-e", "1", "-m", "mahalanobis"), "'public' vectors"),
        (("-o", "y.txt", "-e", "1"), "format of the input"),
        (("-o", "y.npy", "-e", "0"), "epsilon"),
        (("-o", "y.npy", "-e", "1", "-c", "a"), "leave out --column"),
        (("-o", "y.npy", "-e", "1", "--public", "no.npy"), "no file"),
        (("-o", "y.npy", "-e", "1", "-m", "none"), "Unknown mechanism"),
    ],
)
def test_wrong_arguments_end_in_one_line(
    cli: Cli, vectors: Path, arguments: tuple[str, ...], message: str
) -> None:
    ended = cli("release", vectors, *arguments)
    assert ended.code == 2
    assert message in ended.flat
    assert ended.err.count("\n") == 1
    assert os.listdir() == ["x.npy"]


def test_embed_writes_a_row_for_each_text(cli: Cli, folder: Path, lexicon_file: Path) -> None:
    Path("notes.txt").write_text("The patient is cold.\nA warm doctor\n")
    ended = cli(
        "embed", "notes.txt", "-o", "y.npy", "-e", "2", "-m", "laplace", "-l", lexicon_file, "-v"
    )
    assert ended.code == 0
    assert np.load("y.npy").shape == (2, 2)
    assert "differ in one of them have centroids d/n apart" in ended.flat
    assert "patient" not in ended.err
    ended = cli("embed", "notes.txt", "-o", "z.npy", "-e", "2", "-m", "none", "-l", lexicon_file)
    assert ended.code == 2
    assert not Path("z.npy").exists()


def test_calibrate_for_vectors(cli: Cli, vectors: Path) -> None:
    target = ("calibrate", "--vectors", vectors, "-m", "laplace")
    ended = cli(*target, "--inversion", "0.1", "--json", "-")
    assert ended.code == 0
    found = json.loads(ended.text)
    assert found["value"] <= 0.1
    assert found["epsilon"] > 0
    ended = cli(*target, "--correlation", "0.5")
    assert "A correlation of distances of at least 0.5" in ended.text
    assert cli(*target, "--kept", "0.5", "--inversion", "0.1").code == 2
    assert cli("calibrate", "--inversion", "0.1").code == 2
    assert cli(*target).code == 2


def test_calibrate_for_lambda(cli: Cli, folder: Path, lexicon_file: Path) -> None:
    base = ("calibrate", "-l", lexicon_file, "-m", "mahalanobis", "--epsilon", "2")
    ended = cli(*base, "--lambda-grid", "0,0.5", "--kept", "0.9", "--json", "-")
    assert ended.code == 0
    found = json.loads(ended.text)
    assert found["lambda"] in (0.0, 0.5)
    assert [row["regularization"] for row in found["grid"]] == [0.0, 0.5]
    assert "ε, Euclidean" in cli(*base, "--lambda-grid", "0,0.5", "--kept", "0.9").text
    assert cli(*base, "--kept", "0.9").code == 2
    assert cli(*base, "--lambda-grid", "x", "--kept", "0.9").code == 2

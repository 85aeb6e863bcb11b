"""Runs over files of vectors: what stays on disk, and what the report says."""

import json
import os
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.files.vector_files import ROWS, WRITE, write_parquet

from malaprop import (
    Gaussian,
    Kind,
    Laplace,
    Mahalanobis,
    OutputError,
    ParameterError,
    release_files,
    seeded_rng,
)
from malaprop.privacy.errors import InputChangedError


def test_an_output_is_replaced_only_by_force_and_is_as_private_as_the_input(tmp_path: Path) -> None:
    source, target, report = (tmp_path / name for name in ("x.npy", "y.npy", "r.json"))
    np.save(source, ROWS)
    source.chmod(0o640)
    target.write_bytes(b"old")
    with pytest.raises(OutputError, match="exists already"):
        release_files(source, target, epsilon=1.0)
    assert target.read_bytes() == b"old"
    target.chmod(0o666)
    release_files(source, target, epsilon=1.0, force=True, report=report)
    assert stat.S_IMODE(target.stat().st_mode) & ~0o640 == 0
    assert stat.S_IMODE(report.stat().st_mode) == 0o600
    assert sorted(os.listdir(tmp_path)) == [".y.npy.malaprop", "r.json", "x.npy", "y.npy"]


def test_an_input_that_changes_meanwhile_is_noticed(tmp_path: Path) -> None:
    source = tmp_path / "x.npy"
    np.save(source, ROWS)

    def meddle(progress: Any) -> None:
        if progress.stage == "drawing" and progress.done:
            np.save(source, ROWS + 1)

    with pytest.raises(InputChangedError, match="changed while it was read"):
        release_files(source, tmp_path / "y.npy", epsilon=1.0, progress=meddle)
    assert os.listdir(tmp_path) == ["x.npy"]


@pytest.mark.parametrize("name", ["x.npz", "x.parquet", "x.npy"])
def test_a_run_that_is_stopped_in_its_only_block_leaves_nothing(tmp_path: Path, name: str) -> None:
    WRITE[name](tmp_path / name)

    def stop(progress: Any) -> None:
        if progress.stage == "drawing" and progress.done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        release_files(tmp_path / name, tmp_path / f"y-{name}", epsilon=1.0, progress=stop)
    assert "no output file was written" in caught.value.__notes__
    assert os.listdir(tmp_path) == [name]


@pytest.mark.parametrize("ending", ["json", "md", "html"])
def test_the_report_tells_what_was_done(tmp_path: Path, ending: str) -> None:
    write_parquet(tmp_path / "x.parquet")
    np.save(tmp_path / "public.npy", ROWS[:100])
    report = tmp_path / f"r.{ending}"
    done = release_files(
        tmp_path / "x.parquet",
        tmp_path / "y.parquet",
        mechanism=Mahalanobis(epsilon=2.0),
        public=tmp_path / "public.npy",
        report=report,
        command="malaprop release <x>",
    )
    text = report.read_text("utf-8")
    for part in ("any two vectors", "the column id", "public sample", "secure"):
        assert part in text
    assert done.scale is not None
    assert done.scale.figures is not None
    if ending == "json":
        value = json.loads(text)
        assert value == done.to_dict()
        assert value["not_protected"] == ["the column id"]
        assert len(value["input_digest"]) == len(value["output_digest"]) == 32
    if ending == "html":
        assert "<x>" not in text
        assert "http:" not in text


def test_warnings_at_both_ends_and_without_a_scale(tmp_path: Path) -> None:
    units = seeded_rng(2).normal(size=(400, 300))
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    np.save(tmp_path / "units.npy", units)

    def warned(epsilon: float, **options: Any) -> tuple[str, ...]:
        made = Laplace(epsilon=epsilon)
        target = tmp_path / "out.npy"
        return release_files(
            tmp_path / "units.npy", target, mechanism=made, force=True, **options
        ).warnings

    assert "hardly anything is left" in warned(10.0, scale=2**0.5)[0]
    assert "hardly anything is left" in warned(10.0, public=units[:200])[0]
    assert warned(60.0, scale=2**0.5) == ()
    assert "hardly anything is protected" in warned(1000.0, scale=2**0.5)[0]
    assert "hardly anything is protected" in warned(1000.0, public=units[:200])[0]
    assert "nobody said" in warned(10.0)[0]


def test_a_seed_repeats_and_is_not_private(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", ROWS)
    for name in ("a.npy", "b.npy"):
        done = release_files(tmp_path / "x.npy", tmp_path / name, epsilon=1.0, seed=3, scale=1.0)
    assert (tmp_path / "a.npy").read_bytes() == (tmp_path / "b.npy").read_bytes()
    assert "NOT PRIVATE" in done.warnings[0]
    assert done.randomness == "seeded: not private"


def test_bounded_guarantees_are_stated(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", ROWS)
    made = Gaussian(epsilon=1.0, sensitivity=2.0)
    done = release_files(tmp_path / "x.npy", tmp_path / "y.npy", mechanism=made, scale=1.0)
    assert (done.guarantee.kind, done.guarantee.radius) == (Kind.BOUNDED, 2.0)
    with pytest.raises(ParameterError, match="'sensitivity'"):
        release_files(tmp_path / "x.npy", tmp_path / "z.npy", mechanism="gaussian", epsilon=1.0)

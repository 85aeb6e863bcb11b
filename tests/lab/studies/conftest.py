"""A tiny lexicon for all studies: words on a plane, in pairs and alone."""

from pathlib import Path

import numpy as np
import pytest

from malaprop import Lexicon, seeded_rng
from malaprop.lab.studies.reproduction import Cells, Run

WORDS = [f"w{a}{b}" for a in "abcdef" for b in "klmnopqrst"]


@pytest.fixture
def tiny() -> Lexicon:
    rng = seeded_rng(5)
    centres = np.repeat(rng.normal(size=(20, 8)) * 9.0, 3, axis=0)
    return Lexicon(WORDS, 0.15 * (centres + rng.normal(size=(60, 8))))


@pytest.fixture
def run(tiny: Lexicon) -> Run:
    return Run(quick=True, seed=3, lexicons={"english": tiny})


@pytest.fixture
def cells(tmp_path: Path) -> Cells:
    return Cells(tmp_path / "cells")

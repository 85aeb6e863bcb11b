"""A short run of each fuzzing target; `make fuzz` runs longer ones."""

import os
import secrets

import pytest
from tests.fuzz import TARGETS


@pytest.mark.parametrize("name", TARGETS)
def test_a_short_run_finds_no_fault(name: str) -> None:
    fuzz, usual = TARGETS[name]
    # As for hypothesis, a build has the same cases each time.
    seed = 1 if os.environ.get("CI") else secrets.randbelow(2**32)
    print(f"make fuzz FUZZ='--seed {seed} \"{name}\"'")  # shown if it fails
    figures = fuzz(max(1, usual // 200), seed)
    assert sum(figures.values()) > 0

"""A short run of each fuzzing target; `make fuzz` runs longer ones."""

import secrets

import pytest
from tests.fuzz import TARGETS


@pytest.mark.parametrize("name", TARGETS)
def test_a_short_run_finds_no_fault(name: str) -> None:
    fuzz, usual = TARGETS[name]
    seed = secrets.randbelow(2**32)
    print(f"make fuzz FUZZ='--seed {seed} \"{name}\"'")  # shown if it fails
    figures = fuzz(max(1, usual // 200), seed)
    assert sum(figures.values()) > 0

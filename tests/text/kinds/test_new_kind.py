"""A new kind of values is one file: grammar, policy, draws, counts and guarantee find it."""

import subprocess
import sys

KIND = """
from dataclasses import dataclass

from malaprop.text.kinds import Kind, Read, ValueForm
from malaprop.text.kinds.grids import Step, even_grid

Step("temperature", 7, "a degree", {"degree": 1.0}, 1.0, 50.0, "1 and 50 degrees", "2 degrees")
DEGREES = even_grid("DEGREES", "temperature", range(100), "temperature")


@dataclass(frozen=True)
class DegreeForm(ValueForm):
    tag, grid = "temperatures", DEGREES

    def write(self, index):
        return f"{index}°"


Kind(
    "temperature",
    65,
    lambda token, order: Read(DegreeForm(), DEGREES.index(int(token[:-1]))),
    lambda classes: r"\\d{1,2}°",
    tags=("temperatures",),
)
"""
USE = """
import re
from malaprop import Privatizer, seeded_rng

privatizer = Privatizer(epsilon=1.0, rng=seeded_rng(1), steps={"temperature": "3 degrees"})
texts, counts = privatizer.batch(["It was 20° today, not 25°."] * 200)
drawn = [list(map(int, re.findall(r"(\\d+)°", text))) for text in texts]
assert all(len(values) == 2 for values in drawn)
assert 15 < sum(values[0] for values in drawn) / 200 < 25
assert len({values[0] for values in drawn}) > 3
assert counts["temperatures"] == 400
assert "temperatures (3 degrees)" in str(privatizer.guarantee)
"""


def test_a_new_kind_is_one_file() -> None:
    subprocess.run([sys.executable, "-c", KIND + USE], check=True)

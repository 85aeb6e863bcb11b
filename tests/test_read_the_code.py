"""The tour through the code: its files exist, and are short enough to be read."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MOST_FILES, MOST_LINES = 8, 2200


def test_the_tour_is_short() -> None:
    tour = (ROOT / "docs" / "explanation" / "read-the-code.md").read_text("utf-8")
    files = re.findall(r"^\| `(\S+\.py)` \|", tour, re.MULTILINE)
    assert 6 <= len(files) <= MOST_FILES
    lines = [
        len((ROOT / "src" / "malaprop" / file).read_text("utf-8").splitlines()) for file in files
    ]
    assert sum(lines) <= MOST_LINES
